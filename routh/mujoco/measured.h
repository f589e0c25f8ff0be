#pragma once

#include <memory>

#include "routh/mujoco/system.h"
#include "routh/simulate/measured.h"

namespace routh::mujoco {

/// MuJoCo beside the laws of measured impacts: its solver, elliptic friction cones and soft
/// contacts step through the impact, without other forces, until no contact has pushed for kQuiet.
/// The measured body carries spheres at its corners and meets a plane (MeasuredImpact::pose); with
/// a system its model starts from MeasuredImpact::q. The parameters are those that a user of MuJoCo
/// sets for contacts:
///
///   friction       sliding, of all geometries
///   timeconst [s], dampratio    solref
///   1 - impedance  of solimp, the same at all depths: 0 is a rigid constraint
///   impratio       of friction to normal impedance
///
/// The step is a twentieth of what a contact takes to give way, so that it is no parameter. For use
/// by one thread.
MeasuredPeer measured_peer(std::shared_ptr<const System> system = {});

inline constexpr double kQuiet = 7e-3;      ///< contacts this far apart are one impact [s]
inline constexpr double kImpactEnds = 0.1;  ///< what pushes for longer is not waited for [s]

}  // namespace routh::mujoco
