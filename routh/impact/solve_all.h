#pragma once

#include <functional>
#include <vector>

#include "routh/impact/policy.h"
#include "routh/impact/problem.h"

namespace routh {

struct SolveAllOptions {
  double tolerance = 1e-10;  ///< largest residual of an outcome, relative
  /// Linear programs before the search is given up; those of more than eight contacts in space
  /// count for more.
  int max_programs = 3 * policy::kPrograms;
  std::function<bool()> stop = {};
};

struct [[nodiscard]] SolveAllResult {
  std::vector<Outcome>
      outcomes;  ///< distinct in velocity; of a continuum its corners, of a large one some
  std::vector<std::vector<int>> continua;
  std::vector<Outcome> borderline;  ///< rounding of the data decides whether they are outcomes
  bool complete = false;            ///< every branch was followed to its end or proven to have none
  int left = 0;      ///< branches given up, undecided by rounding or for want of time
  int programs = 0;  ///< linear programs solved
};

/// Every outcome of the simultaneous law P1 (31) of more contacts than all combinations of their
/// modes can be tried for: a depth-first search that decides one contact after the other (first
/// open or closed; then sticking or slipping, to ever narrower sides) and leaves a branch
///
///   - when what is decided so far, with the cones of the others, has no solution: a linear
///     program says so and proves it;
///   - when it leaves one velocity only: at a given velocity the impulses of the law form a convex
///     set, so that one more program tells whether that velocity is an outcome, however redundant
///     the contacts.
SolveAllResult solve_all(const ImpactProblem& problem, const SolveAllOptions& options = {});
/// With circular cones, which solve_all() hands on.
SolveAllResult solve_all_circular(const ImpactProblem& problem, const SolveAllOptions& options);

}  // namespace routh
