#pragma once

#include <functional>
#include <vector>

#include "routh/impact/rational_impact.h"
#include "routh/impact/witness.h"

namespace routh {

/// What no outcome exceeds, one bound a target: of q · c⁺ + load · λ, or of the energy that the
/// impact adds (from below for kLeastEnergy). Outcomes y = y⁻ + D α, α ≥ 0, have no more energy
/// than before, yᵀG⁻¹y ≤ E, and end with some contact i that just pushed, cn_i = 0, the others not
/// approaching. For each i
///
///   q · y + load · λ ≤ r · y⁻ + √(E uᵀ G u),   u = q + Nᵀν - r,   ν ≥ 0 but ν_i,
///   r · d + load · λ_d ≤ 0 for all edges d and their impulses λ_d
///
/// holds whatever the multipliers r, ν. A single velocity q · y, normal or in the plane tangential,
/// has a last time when it is not positive, at a state p with no more energy than before either.
/// From then on its own contact does not push, or only with the edge that brakes it, and
///
///   q · y ≤ r · y⁻ + τ max(0, q · y⁻) + √(E uᵀ G u) + √(E vᵀ G v),   u = q + Nᵀν - s,
///   v = s - τ q - r,   s · d ≤ 0 for the edges that still act,   r · d ≤ 0 for all,   τ ≥ 0
///
/// The multipliers of the best such bounds come from a second-order cone
/// program in floating point, and the bound is evaluated from them in rational arithmetic. `stop`
/// is asked now and then; from then on bounds are those of energy alone, or none (infinite).
std::vector<double> outer_bounds(const RationalImpact& exact,
                                 const std::vector<WitnessTarget>& targets,
                                 const std::function<bool()>& stop = {});

}  // namespace routh
