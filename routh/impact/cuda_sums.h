#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "routh/impact/walk_device.h"
#include "routh/impact/walk_lane.h"

/// Totals of the walks of a kernel. For the CUDA component alone.
namespace routh::cuda {

/// Numbers as integers in the same order, for atomic minima.
__device__ __forceinline__ unsigned long long ordered(double a) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(a));
  return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}
inline double from_ordered(std::uint64_t bits) {
  bits = bits >> 63 ? bits & 0x7fffffffffffffffull : ~bits;
  double a;
  std::memcpy(&a, &bits, sizeof(a));
  return a;
}

/// WalkTotals while they are summed.
template <int M>
struct Sums {
  unsigned long long terminated, steps, ambiguous_steps, ambiguous_walks;
  unsigned long long most_steps, residual;  // ordered
  unsigned long long c_min[2 * M], c_max[2 * M];
  unsigned int elsewhere;  ///< walks that are left to the CPU
  unsigned int next;       ///< walk that nobody has taken yet
};

__device__ __forceinline__ unsigned warp_sum(unsigned a) {
  for (int d = 16; d; d /= 2) a += __shfl_xor_sync(~0u, a, d);
  return a;
}
template <class T>
__device__ __forceinline__ T warp_max(T a) {
  for (int d = 16; d; d /= 2) {
    const T other = __shfl_xor_sync(~0u, a, d);
    a = other > a ? other : a;
  }
  return a;
}

/// What one thread has seen.
template <int M>
struct Seen {
  unsigned terminated, steps, ambiguous_steps, ambiguous_walks;
  int most_steps;
  double residual, c_min[2 * M], c_max[2 * M];

  __device__ __forceinline__ Seen()
      : terminated(0),
        steps(0),
        ambiguous_steps(0),
        ambiguous_walks(0),
        most_steps(0),
        residual(0) {
    for (int i = 0; i < 2 * M; ++i) c_min[i] = HUGE_VAL, c_max[i] = -HUGE_VAL;
  }
  __device__ __forceinline__ void take(const lane::State<M>& w, bool ended) {
    steps += w.steps;
    ambiguous_steps += w.ambiguous;
    ambiguous_walks += w.ambiguous > 0;
    most_steps = max(most_steps, w.steps);
    residual = w.residual > residual ? w.residual : residual;
    if (!ended) return;
    ++terminated;
    for (int i = 0; i < 2 * M; ++i) {
      c_min[i] = w.x[i] < c_min[i] ? w.x[i] : c_min[i];
      c_max[i] = w.x[i] > c_max[i] ? w.x[i] : c_max[i];
    }
  }
  /// All threads of a block together, to sums in its shared memory.
  __device__ void add_to(Sums<M>& block) const {
    const bool first = threadIdx.x % 32 == 0;
    const unsigned t = warp_sum(terminated), s = warp_sum(steps), a = warp_sum(ambiguous_steps),
                   b = warp_sum(ambiguous_walks);
    const int most = warp_max(most_steps);
    const double r = warp_max(residual);
    if (first) {
      atomicAdd(&block.terminated, t), atomicAdd(&block.steps, s);
      atomicAdd(&block.ambiguous_steps, a), atomicAdd(&block.ambiguous_walks, b);
      atomicMax(&block.most_steps, static_cast<unsigned long long>(most));
      atomicMax(&block.residual, ordered(r));
    }
    for (int i = 0; i < 2 * M; ++i) {
      const double low = -warp_max(-c_min[i]), high = warp_max(c_max[i]);
      if (first)
        atomicMin(&block.c_min[i], ordered(low)), atomicMax(&block.c_max[i], ordered(high));
    }
    __syncthreads();
  }
};

/// Sums of a block to those of all.
template <int M>
__device__ void add(const Sums<M>& block, Sums<M>& sums) {
  if (threadIdx.x == 0) {
    atomicAdd(&sums.terminated, block.terminated), atomicAdd(&sums.steps, block.steps);
    atomicAdd(&sums.ambiguous_steps, block.ambiguous_steps);
    atomicAdd(&sums.ambiguous_walks, block.ambiguous_walks);
    atomicMax(&sums.most_steps, block.most_steps), atomicMax(&sums.residual, block.residual);
  }
  for (int i = threadIdx.x; i < 2 * M; i += static_cast<int>(blockDim.x)) {
    atomicMin(&sums.c_min[i], block.c_min[i]), atomicMax(&sums.c_max[i], block.c_max[i]);
  }
}

template <int M>
__device__ void clear(Sums<M>& sums) {
  sums.terminated = sums.steps = sums.ambiguous_steps = sums.ambiguous_walks = 0;
  sums.most_steps = sums.residual = 0;
  for (int i = 0; i < 2 * M; ++i) sums.c_min[i] = ~0ull, sums.c_max[i] = 0;
  sums.elsewhere = sums.next = 0;
}

template <class T>
__device__ __forceinline__ T* copy_to(char*& shared, const T* from, int count) {
  T* to = reinterpret_cast<T*>(shared);
  for (int i = threadIdx.x; i < count; i += static_cast<int>(blockDim.x)) to[i] = from[i];
  shared += (count * sizeof(T) + 15) / 16 * 16;
  return to;
}

/// What the host makes of them.
template <int M>
WalkTotals totals_of(const Sums<M>& all, std::uint64_t walks) {
  WalkTotals totals;
  totals.walks = walks;
  totals.terminated = all.terminated, totals.steps = all.steps;
  totals.ambiguous_steps = all.ambiguous_steps, totals.ambiguous_walks = all.ambiguous_walks;
  totals.most_steps = static_cast<int>(all.most_steps);
  totals.residual = std::max(0.0, from_ordered(all.residual));
  for (int i = 0; i < 2 * M; ++i) {
    totals.c_min[i] = from_ordered(all.c_min[i]);
    totals.c_max[i] = from_ordered(all.c_max[i]);
  }
  return totals;
}

}  // namespace routh::cuda
