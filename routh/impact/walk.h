#pragma once

#include <cstdint>

/// The sampler's inner loop, P1 Algorithm 1, over plain arrays: one walk from the incoming velocity
/// to an outcome. It is compiled once per instruction set (walk_kernel.inc) and chosen at run time,
/// so this header and the kernel use nothing but plain data; step_table.h builds what they read.
namespace routh {

inline constexpr int kMaxWalkContacts = 5;  ///< 7^5 = 16807 modes
inline constexpr int kLanes = 8;            ///< modes tested at once

enum class Draws {
  kUniform,  ///< λmax uniform in the box [0, h]^m at every step, as in P1
  kCorners,  ///< rates 0, 1 or uniform with equal odds, half of the walks keep theirs: extreme
             ///< orders come early
};

/// A solved step: impulse and velocity. Used by the fallback below.
struct StepSolution {
  double lambda[2 * kMaxWalkContacts];
  double c[2 * kMaxWalkContacts];
  double residual;
};

/// What all walks share. Velocities and impulses are divided by the incoming speed, so that
/// tolerances are absolute.
struct WalkTask {
  int contacts = 0;
  const double* c0 = nullptr;  ///< 2m
  const double* G = nullptr;   ///< 2m x 2m
  const double* mu = nullptr;  ///< m

  // the modes of the step problem, see step_table.h
  int blocks = 0;
  const double* first_row = nullptr;     ///< [block][3m][kLanes]: the inequality that rejects most
  const int* other_rows = nullptr;       ///< how many more each block has, an even number
  const double* rows = nullptr;          ///< [block][inequality][3m][kLanes]
  const std::int64_t* offset = nullptr;  ///< where the rows of a block begin
  const std::int32_t* mode = nullptr;    ///< [block][kLanes]
  unsigned last_lanes = 0;               ///< bits of the lanes in use in the last block
  const double* impulse = nullptr;       ///< [mode][3m][2m]: λ = impulseᵀ x
  const std::uint32_t* zeros = nullptr;  ///< [mode]: bits of the velocities that vanish

  double h = 0;           ///< box width
  double final_step = 0;  ///< bound of the last step of a walk that reached the limit; 0: none
  int limit = 0;          ///< steps, P1's N
  Draws draws = Draws::kUniform;
  std::uint64_t seed = 0;
  double slack = 0;     ///< inequalities may be violated by this much before the residual decides
  double accepted = 0;  ///< largest residual of a solution
  double same = 0;      ///< velocities closer than this are one solution
  double zero = 0;      ///< normal velocities above -zero do not approach

  /// Called when no regular mode solves a step; returns the number of solutions written (at most
  /// `room`).
  int (*fallback)(const void* context, const double* c, const double* lambda_max,
                  StepSolution* solutions, int room) = nullptr;
  const void* context = nullptr;
};

struct Walk {
  double c[2 * kMaxWalkContacts];        ///< velocity at the end
  double impulse[2 * kMaxWalkContacts];  ///< total
  double residual;                       ///< worst step
  int steps;
  int ambiguous;  ///< steps with more than one solution
  int fallbacks;  ///< steps that no regular mode solved
  bool terminated;
  bool unsolved;  ///< a step had no solution within the tolerance; the walk stopped there
};

/// Walks first .. first + count - 1. `paths`, when given, receives for each walk limit + 2
/// velocities of 2m numbers: start and the end of every step; only the first walks[i].steps + 1 are
/// written.
using WalkFunction = void (*)(const WalkTask& task, std::uint64_t first, int count, Walk* walks,
                              double* paths);

/// The fastest version this machine runs; `name`, when given, receives its instruction set.
WalkFunction walk_function(const char** name = nullptr);
/// A particular one ("baseline", "avx2", "avx512"), or nullptr where the machine lacks it. For
/// tests and benchmarks.
WalkFunction walk_function_for(const char* name);

}  // namespace routh
