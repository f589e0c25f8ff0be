#define ROUTH_KERNEL pivot_kernel_baseline
#include "routh/lcp/pivot_kernel.inc"
