#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "routh/impact/path_derivative.h"
#include "routh/model/masses.h"
#include "routh/simulate/reduce.h"

/// How the end of a witness moves with what went into its impact: the velocity before, the friction
/// of each contact, the mass of each body,
///
///   of v        dc = J dv
///   of μ        dμ
///   of a mass   dM = m' JcᵀJc;   dG = -Wᵀ dM W,   dW = -M† dM W
///
/// and v⁺ = v + W λ. Columns are not numbers where the path is not smooth along them.
namespace routh {

struct [[nodiscard]] PathSensitivity {
  struct Moves {
    Eigen::MatrixXd c_plus;    ///< contact velocities x parameters
    Eigen::MatrixXd velocity;  ///< nv x parameters
    Eigen::MatrixXd impulse;   ///< total, as contact velocities
  };
  Moves v, friction, mass;
  std::vector<std::string> bodies;  ///< of the columns of `mass`
  /// The path mixes corners: energy moves as these say, the velocities themselves do not.
  bool mixed = false;

  bool smooth() const {
    return v.c_plus.allFinite() && friction.c_plus.allFinite() && mass.c_plus.allFinite();
  }
};

/// Of a path with this total impulse; none of `masses` where they are not known.
PathSensitivity sensitivity(const ReducedImpact& reduced, const PathDerivative& path,
                            const Eigen::VectorXd& impulse,
                            const std::vector<MassSlope>& masses = {});

}  // namespace routh
