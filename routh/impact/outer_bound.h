#pragma once

#include "routh/impact/rational_impact.h"
#include "routh/impact/witness.h"

namespace routh {

/// What no outcome exceeds: a bound of q · c⁺, or of the energy that the impact adds (from below
/// for kLeastEnergy). Outcomes y = y⁻ + D α, α ≥ 0, have no more energy than before, yᵀG⁻¹y ≤ E,
/// and end with some contact i that just pushed, cn_i = 0, the others not approaching. For each i
///
///   q · y ≤ r · y⁻ + √(E uᵀ G u),   u = q + Nᵀν - r,   r · d ≤ 0 for all edges d,   ν ≥ 0 but ν_i
///
/// holds whatever the multipliers r, ν; those of the best such bound come from a second-order cone
/// program in floating point, and the bound is evaluated from them in rational arithmetic.
double outer_bound(const RationalImpact& exact, const WitnessTarget& target);

}  // namespace routh
