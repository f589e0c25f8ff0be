#pragma once

#include "stack.h"

/// Siconos as a peer: Moreau-Jean time-stepping with θ = ½, three coordinates to a box, one
/// relation to each lower corner (on the floor, or on the top edge of the box below), inelastic
/// Newton impact with Coulomb friction, one linearised problem a step, solver and tolerance by
/// default. From ten boxes on the default is too few iterations for most steps; ten boxes with
/// enough take several times as long and rest the same.
namespace routh::bench {

std::unique_ptr<StackCode> siconos_stack(const Stack& stack, double h);

/// Integrator, solver and its tolerance.
std::string siconos_settings();

}  // namespace routh::bench
