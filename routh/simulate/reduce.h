#pragma once

#include <string>
#include <vector>

#include "routh/impact/problem.h"
#include "routh/model/kkt.h"
#include "routh/model/system.h"

namespace routh {

/// The bridge between a mechanism and its impact: contact space and the way back.
struct ReducedImpact {
  ImpactProblem problem;
  Eigen::MatrixXd J;          ///< contact rows, normals first, P1 (26)
  Eigen::MatrixXd Mdag;       ///< P4 (8)
  Eigen::MatrixXd W;          ///< M† Jᵀ: velocity per impulse
  std::vector<int> contacts;  ///< which of Terms::contacts take part, in order

  /// v⁺ = v + M† Jᵀ Λ.
  Eigen::VectorXd lift(const Eigen::VectorXd& v, const Eigen::VectorXd& impulse) const {
    return v + W * impulse;
  }
};

/// Contacts with a gap of at most `touching` [m] take part. G = J M† Jᵀ and c = J v; values of c
/// that are rounding are set to zero, so that a foot at rest is exactly at rest; rows that the
/// joints immobilise are exactly zero in G. Joints may be redundant. Throws std::invalid_argument
/// when M is not symmetric or not positive semi-definite, when a contact penetrates by more than
/// `touching`, when contacts differ in the number of their tangents, or when the KKT matrix is
/// singular. Without touching contacts the problem is empty.
ReducedImpact reduce(const Terms& terms, const Eigen::VectorXd& v, double touching = 1e-6);
std::vector<int> touching_contacts(const Terms& terms, double touching);

/// ImpactProblem::e of these contacts: empty where none bounces.
Eigen::VectorXd restitutions(const Terms& terms, const std::vector<int>& contacts);

/// The same for the contacts listed, touching or not.
ReducedImpact reduce(const Terms& terms, const Eigen::VectorXd& v, std::vector<int> contacts);

/// Of contacts between the same two shapes, in one plane and with one normal, those at the corners
/// of their convex hull; all others stay. Normal impulses between the corners carry as much as all
/// contacts together; friction does so exactly where the patch slides without turning.
std::vector<int> extreme_points(const Terms& terms, const std::vector<int>& contacts);

/// Impulses ordered as events have them: of each contact in turn the normal one and the first
/// `tangents` tangential ones.
Eigen::VectorXd in_turn(const ImpactProblem& problem, const Eigen::VectorXd& impulse, int tangents);

/// Throws std::invalid_argument when a contact with friction has not one tangent: `method` would
/// have to drop the others.
void require_one_tangent(const Terms& terms, const std::string& method);

double kinetic_energy(const Terms& terms, const Eigen::VectorXd& v);

}  // namespace routh
