#define ROUTH_KERNEL pivot_kernel_avx512
#include "routh/lcp/pivot_kernel.inc"
