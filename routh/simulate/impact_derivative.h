#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "routh/impact/derivative.h"
#include "routh/model/masses.h"
#include "routh/simulate/reduce.h"

/// How the velocity after an impact depends on what went into it, for an outcome of the
/// simultaneous law. With λ and its change from routh/impact/derivative.h
///
///   v⁺ = v + W λ,   W = M† Jᵀ,   c = J v,   G = J W,
///
///   of v        dc = J dv
///   of μ        dμ
///   of a mass   dM is that of affine terms, exact;   dM† = -M† dM M†
///   of q        M, J by central differences of the mechanism's terms, the same contacts taking
///               part, touching or not, and v held
///
/// Contacts without an inequality at its border make this exact; others are named.
namespace routh {

struct [[nodiscard]] ImpactDerivative {
  std::vector<int> corners;  ///< touching contacts at the border of two modes: not smooth there
  bool determined = true;    ///< false: the mode's equations do not determine v⁺
  Eigen::MatrixXd v;         ///< nv x nv
  Eigen::MatrixXd friction;  ///< nv x touching contacts
  Eigen::MatrixXd mass;      ///< nv x bodies with mass, in the order of `bodies`
  std::vector<std::string> bodies;
  /// nv x nv: along the motions that unit velocities make of q; none of matrices, nor where a
  /// contact that takes part is not found at neighbouring configurations.
  std::optional<Eigen::MatrixXd> q;

  bool smooth() const { return corners.empty() && determined; }
};

/// Of matrices: without masses and q.
ImpactDerivative derivative(const ReducedImpact& reduced, const Outcome& outcome);
/// Of a mechanism or model whose impact at (q, v) this is, and its masses.
ImpactDerivative derivative(const System& system, const Eigen::VectorXd& q,
                            const Eigen::VectorXd& v, const ReducedImpact& reduced,
                            const Outcome& outcome, const Masses& masses);

}  // namespace routh
