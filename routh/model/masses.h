#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "routh/model/planar.h"

namespace routh {

/// How M grows with the mass of a body whose inertia about its own centre of mass stays.
struct MassSlope {
  std::string body;
  Eigen::MatrixXd dM;  ///< nv x nv, per kg
};

/// Of each body that moves and has mass, in order. Models of MuJoCo: routh/mujoco/masses.h.
std::vector<MassSlope> mass_slopes(const PlanarMechanism& mechanism, const Eigen::VectorXd& q);

}  // namespace routh
