#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "routh/impact/walk.h"

/// One walk as one thread of a device takes it: walk_step.inc with plain numbers, and the search
/// for the solutions of a step as it suits threads that share an instruction. nvcc compiles it for
/// GPUs (walk_cuda.cu), any compiler for tests (tests/impact/walk_lane_test.cc).
///
/// Modes are ruled out in single precision, with a margin that covers its rounding: what slips
/// through is judged by its residual in double precision like everything else.
namespace routh::lane {

#if defined(__CUDACC__)
#define ROUTH_WALK __device__ __forceinline__
#define ROUTH_BOTH __host__ __device__ inline
#define ROUTH_CALL __device__ __noinline__
#define ROUTH_UNROLL _Pragma("unroll")
#else
#define ROUTH_WALK inline
#define ROUTH_BOTH inline
#define ROUTH_CALL inline
#define ROUTH_UNROLL
#endif

typedef double Real;
typedef int Integer;  ///< yes or no
typedef std::uint64_t Word;

ROUTH_WALK Real everywhere(double a) { return a; }
ROUTH_WALK Real larger(Real a, Real b) { return a > b ? a : b; }
ROUTH_WALK Real smaller(Real a, Real b) { return a < b ? a : b; }
ROUTH_WALK Real magnitude(Real a) { return fabs(a); }
ROUTH_WALK Word product(Word a, Word b) {
  return static_cast<Word>(static_cast<std::uint32_t>(a)) * static_cast<std::uint32_t>(b);
}
ROUTH_WALK Real number(Word w) {
#if defined(__CUDA_ARCH__)
  return __hiloint2double(0x43300000, static_cast<int>(w)) - 0x1p52;
#else
  return static_cast<double>(static_cast<std::uint32_t>(w));
#endif
}

#include "routh/impact/walk_step.inc"

inline constexpr int kSolutions = 8;  ///< of one step; walks that meet more are the CPU's

/// A hyperplane: a unit row over x, and the modes of its block that stay where x lies below or
/// above it.
template <int M>
struct alignas(16) Plane {
  float r[3 * M];
  std::uint32_t below[2], above[2];
};

/// WalkTask as a device holds it: numbers by value, tables where it put them.
template <int M>
struct Task {
  struct Last {
    double bound[M];
    bool given;
    ROUTH_WALK explicit operator bool() const { return given; }
    ROUTH_WALK double operator[](int i) const { return bound[i]; }
  };
  double c0[2 * M], G[4 * M * M], mu[M], h[M];
  Last final_step;
  double accepted, same, zero;
  std::uint64_t seed;
  Draws draws;
  int limit, last;  ///< last: the number of the last step that there may be
  float slack;
  // tables
  int blocks, stride;  ///< stride: numbers between the impulses of two modes
  const std::uint64_t* members;
  const int* begin;
  const Plane<M>* planes;
  const double* impulse;
  const std::uint32_t* zeros;
};

/// Room between the impulses of modes: neighbours in different banks of memory, pairs aligned.
template <int M>
constexpr int kStride = 6 * M* M + 2;

/// The tables of a task in these forms.
template <int M>
struct Tables {
  std::vector<Plane<M>> planes;
  std::vector<double> impulse;
  int modes = 0;

  explicit Tables(const WalkTask& task) {
    // up to the last that is there
    modes = 64 * (task.blocks - 1);
    for (std::uint64_t rest = task.members[task.blocks - 1]; rest; rest >>= 1) ++modes;
    planes.resize(static_cast<std::size_t>(task.begin[task.blocks]));
    for (std::size_t p = 0; p < planes.size(); ++p) {
      for (std::size_t k = 0; k < 3 * M; ++k)
        planes[p].r[k] = static_cast<float>(task.planes[p * 3 * M + k]);
      for (int half = 0; half < 2; ++half) {
        planes[p].below[half] = ~static_cast<std::uint32_t>(task.below[p] >> 32 * half);
        planes[p].above[half] = ~static_cast<std::uint32_t>(task.above[p] >> 32 * half);
      }
    }
    impulse.resize(static_cast<std::size_t>(modes) * kStride<M>);
    for (int mode = 0; mode < modes; ++mode)
      std::memcpy(&impulse[static_cast<std::size_t>(mode) * kStride<M>],
                  task.impulse + static_cast<std::ptrdiff_t>(mode) * 6 * M * M,
                  sizeof(double) * 6 * M * M);
  }
};

/// The task without its tables, which the caller adds.
template <int M>
Task<M> task_of(const WalkTask& from) {
  Task<M> task{};
  std::memcpy(task.c0, from.c0, sizeof(task.c0));
  std::memcpy(task.G, from.G, sizeof(task.G));
  std::memcpy(task.mu, from.mu, sizeof(task.mu));
  std::memcpy(task.h, from.h, sizeof(task.h));
  task.final_step.given = from.final_step != nullptr;
  if (from.final_step)
    std::memcpy(task.final_step.bound, from.final_step, sizeof(task.final_step.bound));
  task.accepted = from.accepted, task.same = from.same, task.zero = from.zero;
  task.seed = from.seed, task.draws = from.draws;
  task.limit = from.limit, task.last = from.final_step ? from.limit : from.limit - 1;
  task.slack = static_cast<float>(1.001 * from.slack);
  task.stride = kStride<M>;
  return task;
}
template <int M>
Task<M> task_of(const WalkTask& from, const Tables<M>& tables) {
  Task<M> task = task_of<M>(from);
  task.blocks = from.blocks, task.members = from.members, task.begin = from.begin;
  task.planes = tables.planes.data(), task.impulse = tables.impulse.data();
  task.zeros = from.zeros;
  return task;
}

/// A walk under way.
template <int M>
struct State {
  double x[3 * M];  ///< velocity and bounds
  double impulse[2 * M], residual;
  int steps, ambiguous;
};

template <int M>
ROUTH_WALK void begin(const Task<M>& task, State<M>& w) {
  for (int i = 0; i < 2 * M; ++i) w.x[i] = task.c0[i], w.impulse[i] = 0;
  w.residual = 0, w.steps = 0, w.ambiguous = 0;
}

/// The solutions of a step, distinct in velocity: one as a rule, which stays in registers.
template <int M>
struct Solutions {
  int count;
  double first[2 * M], residual;
  int mode;
  double c[kSolutions][2 * M], residuals[kSolutions];  ///< when they are several
  int modes[kSolutions];
};

template <int M>
ROUTH_WALK bool same(double most, const double* a, const double* b) {
  double difference = 0;
  for (int i = 0; i < 2 * M; ++i) difference = larger(difference, magnitude(a[i] - b[i]));
  return difference <= most;
}

/// Takes the mode in if it solves the step at x. False: there is no room.
template <int M>
ROUTH_WALK bool judge(const Task<M>& task, int mode, const double* x, Solutions<M>& found) {
  double lambda[2 * M], c[2 * M];
  impulse_of<M>(task.impulse + static_cast<std::int64_t>(mode) * task.stride, x, lambda);
  velocity_after<M>(task.G, x, lambda, c);
  const double residual = step_residual<M>(task.mu, lambda, c, x + 2 * M);
  if (!(residual <= task.accepted)) return true;
  // velocities that the mode makes zero are exactly zero
  const std::uint32_t zeros = task.zeros[mode];
  for (int i = 0; i < 2 * M; ++i) c[i] = zeros >> i & 1 ? 0 : c[i];
  if (found.count == 0) {
    for (int i = 0; i < 2 * M; ++i) found.first[i] = c[i];
    found.residual = residual, found.mode = mode, found.count = 1;
    return true;
  }
  if (same<M>(task.same, c, found.first)) return true;
  for (int s = 1; s < found.count; ++s) {
    if (same<M>(task.same, c, found.c[s])) return true;
  }
  if (found.count == kSolutions) return false;
  for (int i = 0; i < 2 * M; ++i) found.c[found.count][i] = c[i];
  found.residuals[found.count] = residual;
  found.modes[found.count++] = mode;
  return true;
}

/// The hyperplanes of a task rule out its modes.
template <int M>
struct ByPlanes {
  const Task<M>& task;

  ROUTH_WALK int blocks() const { return task.blocks; }
  /// Modes of the block that may solve the step.
  ROUTH_WALK std::uint64_t alive(int block, const float* x, float size) const {
    constexpr int kTogether = M <= 2 ? 1 << 20 : 8;  // planes between looks whether a mode is left
    // a sum of 3M products of rounded numbers errs by less than (3M + 4) 2^-24 of their sizes, of
    // which those of a unit row are at most one
    const float margin = task.slack + (3 * M + 5) * 0x1p-24f * size;
    std::uint32_t low = static_cast<std::uint32_t>(task.members[block]);
    std::uint32_t high = static_cast<std::uint32_t>(task.members[block] >> 32);
    const int end = task.begin[block + 1];
    for (int p = task.begin[block]; p < end;) {
      const int stop = end - p < kTogether ? end : p + kTogether;
      for (; p < stop; ++p) {
        const Plane<M> plane = task.planes[p];
        float side = plane.r[0] * x[0];
        for (int k = 1; k < 3 * M; ++k) side += plane.r[k] * x[k];
        if (side < -margin) low &= plane.below[0], high &= plane.below[1];
        if (side > margin) low &= plane.above[0], high &= plane.above[1];
      }
      if (M > 2 && !(low | high)) break;
    }
    return low | static_cast<std::uint64_t>(high) << 32;
  }
};

/// All solutions of the step at x, by a sieve that rules modes out.
template <int M, class Sieve>
ROUTH_WALK bool solve_step(const Task<M>& task, const Sieve& sieve, const double* x,
                           Solutions<M>& found) {
  found.count = 0;
  float at[3 * M], size = 0;
  for (int k = 0; k < 3 * M; ++k) {
    at[k] = static_cast<float>(x[k]);
    size += at[k] < 0 ? -at[k] : at[k];
  }
  for (int b = 0; b < sieve.blocks(); ++b) {
    for (std::uint64_t left = sieve.alive(b, at, size); left; left &= left - 1) {
#if defined(__CUDA_ARCH__)
      const int bit = __ffsll(static_cast<long long>(left)) - 1;
#else
      const int bit = __builtin_ctzll(left);
#endif
      if (!judge<M>(task, 64 * b + bit, x, found)) return false;
    }
  }
  return found.count > 0;
}

/// A step of walk number `walk`. False: the walk is the CPU's.
template <int M, class Sieve>
ROUTH_WALK bool take_step(const Task<M>& task, const Sieve& sieve, std::uint64_t walk,
                          State<M>& w) {
  const Word branch = draw_bounds<M>(task, walk, static_cast<Word>(w.steps), w.x);
  Solutions<M> found;
  if (!solve_step<M>(task, sieve, w.x, found)) return false;
  // one of them, all with equal odds, in the order of their keys
  if (found.count > 1) {
    const int pick = static_cast<int>(branch * static_cast<Word>(found.count) >> 32);
    double key[kSolutions];
    key[0] = key_of<M>(found.first);
    for (int s = 1; s < found.count; ++s) key[s] = key_of<M>(found.c[s]);
    int taken = 0;
    for (int s = 1; s < found.count; ++s) {
      int rank = 0;
      for (int o = 0; o < found.count; ++o) rank += o < s ? key[o] <= key[s] : key[o] < key[s];
      if (rank == pick) taken = s;
    }
    if (taken > 0) {
      for (int i = 0; i < 2 * M; ++i) found.first[i] = found.c[taken][i];
      found.residual = found.residuals[taken], found.mode = found.modes[taken];
    }
    ++w.ambiguous;
  }
  double lambda[2 * M];
  impulse_of<M>(task.impulse + static_cast<std::int64_t>(found.mode) * task.stride, w.x, lambda);
  for (int i = 0; i < 2 * M; ++i) w.impulse[i] += lambda[i], w.x[i] = found.first[i];
  w.residual = larger(w.residual, found.residual);
  ++w.steps;
  return true;
}

/// Is the walk over?
template <int M>
ROUTH_WALK bool over(const Task<M>& task, const State<M>& w) {
  return !approaching<M>(task.zero, w.x) || w.steps > task.last;
}

template <int M>
ROUTH_WALK void hand_over(const Task<M>& task, const State<M>& w, Walk& walk) {
  for (int i = 0; i < 2 * M; ++i) walk.c[i] = w.x[i], walk.impulse[i] = w.impulse[i];
  walk.residual = w.residual;
  walk.steps = w.steps, walk.ambiguous = w.ambiguous, walk.fallbacks = 0;
  walk.terminated = !approaching<M>(task.zero, w.x);
  walk.unsolved = false;
}

}  // namespace routh::lane
