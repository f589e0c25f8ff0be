#include "routh/lcp/pivot.h"

namespace routh::lcp {

PivotKernel pivot_kernel_baseline();
#ifdef ROUTH_X86
PivotKernel pivot_kernel_avx2();
PivotKernel pivot_kernel_avx512();
#endif

PivotKernel pivot_kernel() {
#ifdef ROUTH_X86
  if (__builtin_cpu_supports("avx512f")) return pivot_kernel_avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return pivot_kernel_avx2();
#endif
  return pivot_kernel_baseline();
}

}  // namespace routh::lcp
