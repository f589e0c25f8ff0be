#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "routh/model/planar.h"

namespace routh {

/// Bodies by whose mass motions and impacts are differentiated. The inertia of a body about its own
/// centre of mass stays: then M, forces and their derivatives are affine in its mass, and what
/// `by` more makes of them is their derivative, with no error but rounding.
struct Masses {
  std::vector<std::string> bodies;  ///< those that move and have mass, in order
  double by = 1;                    ///< [kg] of all of them together: nothing drowns beside it
  /// The system with one of them heavier by that much; until the next call, and for one thread.
  std::function<const System&(std::size_t body)> heavier;
};

/// How the inertia of a mechanism depends on the mass of a body.
struct MassSlope {
  std::string body;
  Eigen::MatrixXd dM;  ///< nv x nv
};
std::vector<MassSlope> mass_slopes(const System& system, const Eigen::VectorXd& q,
                                   const Eigen::VectorXd& v, const Masses& masses);

/// Of models of MuJoCo: routh/mujoco/masses.h.
Masses masses(const PlanarMechanism& mechanism);

}  // namespace routh
