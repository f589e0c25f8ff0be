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

/// P1 Lemma 6 by the point x nearest to the origin in the hull of the edges' velocities: every edge
/// moves by at least ‖x‖² along x, so r = x/‖x‖², and no shorter r exists, which makes the bound
/// (78) as small as it can be. x = 0 means that the cone is not pointed; that is decided in the
/// metric of kinetic energy, which knows no units. Friction, edges and the order of the rows of J
/// are those of `problem`; W is M†Jᵀ.
FrictionCone friction_cone(const Eigen::MatrixXd& J, const Eigen::MatrixXd& W,
                           const ImpactProblem& problem);
/// The same decision from G alone.
bool pointed(const ImpactProblem& problem);

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
