#pragma once

#include "stack.h"

/// MuJoCo as a peer: boxes as deep as they are wide on planar joints, the floor a plane. All but
/// the step and the friction is MuJoCo's default. MuJoCo knows contacts in space only: four to a
/// pair of boxes where the plane has two. Between boxes it calls half their overlap the distance.
namespace routh::bench {

std::unique_ptr<StackCode> mujoco_stack(const Stack& stack, double h);

/// Version, cone, solver and integrator of such a model.
std::string mujoco_settings(double h);

}  // namespace routh::bench
