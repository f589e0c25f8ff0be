#include "routh/impact/walk.h"

#include <cstring>
#include <initializer_list>

namespace routh {

void walk_baseline(const WalkTask&, std::uint64_t, int, Walk*, double*);
#ifdef ROUTH_X86
void walk_avx2(const WalkTask&, std::uint64_t, int, Walk*, double*);
void walk_avx512(const WalkTask&, std::uint64_t, int, Walk*, double*);
#endif

WalkFunction walk_function_for(const char* name) {
  if (std::strcmp(name, "baseline") == 0) return walk_baseline;
#ifdef ROUTH_X86
  if (std::strcmp(name, "avx2") == 0 && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma"))
    return walk_avx2;
  if (std::strcmp(name, "avx512") == 0 && __builtin_cpu_supports("avx512f")) return walk_avx512;
#endif
  return nullptr;
}

WalkFunction walk_function(const char** name) {
  for (const char* candidate : {"avx512", "avx2", "baseline"}) {
    if (const WalkFunction f = walk_function_for(candidate)) {
      if (name) *name = candidate;
      return f;
    }
  }
  return walk_baseline;
}

}  // namespace routh
