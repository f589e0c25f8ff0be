#pragma once

#include <optional>
#include <vector>

#include "routh/impact/modes.h"

namespace routh {

/// The outcome of a regular mode whose equations double precision cannot solve (contacts that
/// nearly jam, masses that differ by many orders), computed with 113 bits from G, c and μ as they
/// are given and only then rounded. `x` = [c; λmax] of the normalised problem; `lambda_max` is
/// empty where there is no bound. Nothing where the mode is singular.
std::optional<Outcome> precise_outcome(const ImpactProblem& problem, const ModeSystem& s,
                                       const Eigen::VectorXd& x, const Eigen::VectorXd& lambda_max);

/// The same for a corner of the solutions of a singular mode, where these of its inequalities are
/// tight; its residual counts what is left of the velocities that vanish. Nothing where the mode
/// has no solution there.
std::optional<Outcome> precise_corner(const ImpactProblem& problem, const ModeSystem& s,
                                      const Eigen::VectorXd& x, const std::vector<int>& tight,
                                      const Eigen::VectorXd& lambda_max);

/// The same for some pushes (columns, impulses as c is ordered) whose amounts are about `start`, so
/// that the velocities of the rows `zero` vanish.
Outcome precise_mixture(const ImpactProblem& problem, const Eigen::MatrixXd& pushes,
                        const Eigen::VectorXd& start, const Eigen::MatrixXd& zero);

}  // namespace routh
