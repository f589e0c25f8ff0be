#define ROUTH_KERNEL pivot_kernel_avx2
#include "routh/lcp/pivot_kernel.inc"
