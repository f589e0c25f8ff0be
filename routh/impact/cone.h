#pragma once

#include <optional>

#include "routh/impact/problem.h"

/// Facts about an impact that hold before any law is chosen: can its contacts jam, are some of them
/// redundant, how many steps can it take.
namespace routh {

struct [[nodiscard]] FrictionCone {
  /// P1 Assumption 2: no combination of contact impulses cancels. Otherwise the contacts can jam.
  bool pointed = false;
  /// Shortest r with r · M†Jᵀλ ≥ ‖λn‖₁ for all λ in the cone, P1 Lemma 6; empty when not pointed.
  Eigen::VectorXd r;
  /// When not pointed: an impulse in the cone that moves nothing, normals then tangents.
  Eigen::VectorXd jam;
};

/// P1 Lemma 6. The rows B = edgesᵀ J M† of the linearised cone give the quadratic program min ‖r‖²,
/// B r ≥ 1, whose dual is the LCP 0 ≤ y ⊥ B Bᵀ y - 1 ≥ 0 with r = Bᵀ y. The shortest r makes the
/// bound (78) as small as it can be; the program is infeasible exactly when the cone is not
/// pointed. Planar problems.
FrictionCone friction_cone(const Eigen::MatrixXd& Mdag, const Eigen::MatrixXd& J,
                           const Eigen::VectorXd& mu);

/// c of P1 (78) with the step h [N s]; `sigma` is the smallest eigenvalue of M.
double termination_constant(const FrictionCone& cone, int contacts, double h, double sigma);

/// Contacts with a row of J that depends on the other rows, in G's rank-revealing sense, and how
/// many rows too many.
struct Redundancy {
  int rows = 0;
  std::vector<int> contacts;
};
Redundancy redundancy(const ImpactProblem& problem);

}  // namespace routh
