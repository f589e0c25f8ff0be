#pragma once

#include <vector>

#include "routh/model/masses.h"
#include "routh/mujoco/system.h"

namespace routh::mujoco {

/// Of each body that moves and has mass, in the model's order.
std::vector<MassSlope> mass_slopes(const System& system, const Eigen::VectorXd& q);

}  // namespace routh::mujoco
