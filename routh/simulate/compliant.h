#pragma once

#include <functional>
#include <vector>

#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

/// Contacts as stiff springs with dampers, P1 section 5.4.1: the physical truth that rigid impacts
/// are a limit of.
///
///   λn = max(0, -k φ - 2 ζ √(k m) φ̇) while φ ≤ 0                                          (88)
///   λt = -μ λn ct / max(|ct|, ε)                                                      (89)-(90)
///
/// (88) prints √(k/m), which has not the unit of a damping; for P1's m = 1 kg they agree.
/// These are smooth in pieces. Each piece is integrated by Radau IIA with the derivative of the
/// contact forces (routh/ode/radau.h) up to where it ends: a contact touches or parts, a force
/// vanishes, a slip enters or leaves ±ε.
namespace routh {

struct CompliantOptions {
  std::vector<double> stiffness = {};  ///< k of each contact [N/m]; one value: of all
  double damping_ratio = 5;            ///< ζ; 5 makes impacts inelastic
  double mass = 1;                     ///< m in the damping [kg]
  double eps = 1e-10;                  ///< slip below this sticks [m/s]
  double end = 1;                      ///< [s]
  double every = 0;                    ///< record at these intervals [s]; 0: at every step
  /// Stop when the impact is over: every contact has touched, and none that touches approaches
  /// faster than `resolved` [m/s]. 0: go on to the end.
  double resolved = 0;
  bool impulses = false;  ///< record Trajectory::impulse
  /// Tolerances of a step, well below eps; outcomes of impacts are then right to some 1e-10 m/s.
  /// Those of velocities are not below what rounding of the positions makes of them.
  double relative = 1e-10, absolute = 1e-12;
  std::function<bool(double time)> progress = {};
};

/// Throws std::invalid_argument for options out of range. Joints (A) are not supported: use minimal
/// coordinates.
Trajectory simulate(const System& system, const State& start, const CompliantOptions& options);

}  // namespace routh
