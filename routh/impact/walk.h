#pragma once

#include <cstdint>

/// The sampler's inner loop, P1 Algorithm 1, over plain arrays: one walk from the incoming velocity
/// to an outcome. It is compiled once per instruction set (walk_kernel.inc) and chosen at run time,
/// so this header and the kernel use nothing but plain data; step_table.h builds what they read.
namespace routh {

inline constexpr int kMaxWalkContacts = 5;  ///< 7^5 = 16807 modes

enum class Draws {
  kUniform,   ///< λmax uniform in the box [0, h]^m at every step, as in P1
  kCorners,   ///< rates 0, 1 or uniform with equal odds, half of the walks keep theirs: extreme
              ///< orders come early
  kExtremes,  ///< mixtures of the paths of orders that reach far: extreme_draws.h
};

/// A solved step: impulse and velocity. Used by the fallback below.
struct StepSolution {
  double lambda[2 * kMaxWalkContacts];
  double c[2 * kMaxWalkContacts];
  double residual;
};

/// What all walks share, of a normalised problem (problem.h), so that tolerances are absolute.
struct WalkTask {
  int contacts = 0;
  const double* c0 = nullptr;  ///< 2m
  const double* G = nullptr;   ///< 2m x 2m
  const double* mu = nullptr;  ///< m

  // the modes of the step problem in blocks of 64, one bit of a word each, see step_table.h
  int blocks = 0;
  const std::uint64_t* members = nullptr;  ///< [block]: bits of its modes
  const int* begin = nullptr;              ///< [block]: its first hyperplane; one more: the end
  const double* planes = nullptr;          ///< [hyperplane][3m]: unit rows r
  const std::uint64_t* below = nullptr;    ///< [hyperplane]: modes ruled out where r x < -slack
  const std::uint64_t* above = nullptr;    ///< [hyperplane]: modes ruled out where r x > slack
  const double* impulse = nullptr;         ///< [mode][3m][2m]: λ = impulseᵀ x
  const std::uint32_t* zeros = nullptr;    ///< [mode]: bits of the velocities that vanish

  const double* h = nullptr;           ///< m, width of the box
  const double* final_step = nullptr;  ///< m, bounds of one more step at the limit; null: none
  int limit = 0;                       ///< steps, P1's N
  Draws draws = Draws::kUniform;
  std::uint64_t seed = 0;
  double slack = 0;     ///< this far from a hyperplane both sides are kept: the residual decides
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
