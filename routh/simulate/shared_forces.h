#pragma once

#include <Eigen/Core>

#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

namespace routh {

/// Contacts that depend on each other share their forces: of a ladder of boxes that lean on each
/// other the motion is known, but not what each contact bears. A mode holds there when *some*
/// forces within the friction cones cause its motion. They are sought by a linear program,
///
///   maximise s   subject to   Bᵀ f + Aᵀ ν = M v̇ - forces,   f ≥ s,
///
/// where f pushes along the edges of the cones. Not negative: the mode holds; it depends on the
/// state as continuously as the forces do, so that its zero is an event.
///
/// `beside`: contacts that are open in the mode, but touch and move along: they may push as well,
/// with the grips given. Returns s, at most the largest force around, and that in `scale`; NaN
/// where no forces of these contacts cause the motion or the program was not solved.
double spare_force(const Terms& terms, const Eigen::VectorXd& acceleration, const Mode& mode,
                   const Mode& beside, double& scale);

}  // namespace routh
