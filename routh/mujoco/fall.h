#pragma once

#include "routh/mujoco/system.h"

namespace routh::mujoco {

struct FallOptions {
  std::string body = "";  ///< on a free joint; empty: the first such body of the model
  /// Hold all joints below the body and everything beside it still? If not, all moves freely.
  bool hold = true;
  double step = 5e-4;  ///< of the integration [s]
  double limit = 10;   ///< on the time of flight [s]
};

/// Drops a body on a free joint and all that hangs on it: it is moved along gravity to where it
/// would just touch the static world, lifted by `height` [m], and let go with its velocity in
/// `start`. Returns the state when it touches the world for the first time, with the smallest gap
/// within 1e-12 m of zero. Contacts and limits of joints do not act during the flight. Throws
/// std::invalid_argument without such a body, without gravity, for a negative height, and when
/// nothing is touched within the limit.
State fall(const System& system, State start, double height, const FallOptions& options = {});

}  // namespace routh::mujoco
