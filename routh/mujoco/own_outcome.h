#pragma once

#include <optional>

#include "routh/mujoco/system.h"

namespace routh::mujoco {

/// Of the library that is linked: "2.2.2".
std::string version();

struct OwnOutcomeOptions {
  double step = 1e-5;       ///< of MuJoCo's integrator [s]
  double limit = 0.1;       ///< on the duration [s]
  bool forces = false;      ///< do gravity, springs, damping and actuators act as well?
  double touching = 1e-6;   ///< gaps up to this collide at once [m]
  double tolerance = 1e-6;  ///< an approach slower than this, relative to the fastest, is over
  /// Replaces the time constants of all soft constraints (solref) [s]; none: those of the model.
  std::optional<double> time_constant = {};
};

struct [[nodiscard]] OwnOutcome {
  bool reached = false;    ///< no touching contact approaches any more
  Eigen::VectorXd v_stop;  ///< when for the first time none approached; v_plus when never
  Eigen::VectorXd q_stop;  ///< then
  Eigen::VectorXd v_plus;  ///< when the contacts had stopped pushing, or at the limit
  Eigen::VectorXd q_plus;  ///< then
  double stop_time = 0;    ///< of v_stop after the start [s]
  double duration = 0;     ///< of v_plus after the start [s]
  double penetration = 0;  ///< deepest on the way [m]
  long steps = 0;
};

/// The one outcome of an impact that MuJoCo itself computes: its own solver, friction cone and soft
/// contacts step through the impact with a small step, without other forces unless asked for. Soft
/// contacts first stop the approach (v_stop) and then push the bodies out again (v_plus): with
/// MuJoCo's default parameters by an eighth to a quarter of the speed of approach, over some
/// 0.04 s in which the bodies move. With other forces contacts may push on: v_plus is then that at
/// the limit. Bodies at rest relative to each other have no impact: v_plus is v. Throws
/// std::runtime_error when MuJoCo's simulation breaks down.
OwnOutcome own_outcome(const System& system, const State& state,
                       const OwnOutcomeOptions& options = {});

}  // namespace routh::mujoco
