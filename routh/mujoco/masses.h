#pragma once

#include "routh/model/masses.h"
#include "routh/mujoco/system.h"

namespace routh::mujoco {

/// Of each body that moves and has mass, in the model's order.
Masses masses(const System& system);

}  // namespace routh::mujoco
