#pragma once

#include <Eigen/Core>
#include <optional>

#include "routh/impact/exact.h"

namespace routh {

/// The least and the most of a form over the total impulse, load · λ, over all paths of an impact.
/// With the sum of all normal impulses this is how long an impact lasts in P1's s, (37).
struct ImpulseRange {
  double least = 0, most = 0;  ///< [N s]
};

/// Exactly, by the automaton of exact.h with one more coordinate, which grows along each edge by
/// what its impulse adds to the form. Nothing where its fixed point is not reached within the
/// budget, where the contacts jam, or where exact() would refuse the problem.
std::optional<ImpulseRange> impulse_range(const ImpactProblem& problem, const Eigen::VectorXd& load,
                                          const ExactOptions& options = {});

}  // namespace routh
