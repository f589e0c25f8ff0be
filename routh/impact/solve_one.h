#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <vector>

#include "routh/impact/problem.h"
#include "routh/impact/step_solver.h"

namespace routh {

/// One solution of the step problem P1 (72)-(74) in contact space, in the plane or in space,
/// however many contacts there are: StepSolver on G itself, in units of the problem. Where a step
/// has several solutions, the impulse it begins with chooses one.
class OneSolver {
 public:
  /// For this G, μ and cone.
  explicit OneSolver(const ImpactProblem& problem);

  /// At the contact velocity c with the bound λmax (empty: none, P1 (31)), beginning with the
  /// impulse `from` and what it shows: who is open, who sticks, who slides and where to. Nothing
  /// when no solution within the tolerance was found.
  std::optional<Outcome> solve(const Eigen::VectorXd& c, const Eigen::VectorXd& bound,
                               const Eigen::VectorXd& from, double tolerance);
  /// An impulse to begin with: each contact does something at random, pressing with up to `size`
  /// [N s] or its bound. `random` gives numbers in (0, 1).
  Eigen::VectorXd start(double size, const Eigen::VectorXd& bound,
                        const std::function<double()>& random) const;
  /// The impulse of the last solve, solution or not.
  const Eigen::VectorXd& impulse() const { return impulse_; }

 private:
  void search_by_lemke(const Eigen::VectorXd& bound, double tolerance, Outcome& outcome);

  Normalised units_;
  ImpactProblem at_;  ///< as given, at the velocity of the last solve
  StepSolver solver_;
  std::vector<Eigen::Vector3d> velocities_, start_;  ///< normal, then tangents
  Eigen::VectorXd impulse_;
};

}  // namespace routh
