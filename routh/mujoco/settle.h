#pragma once

#include <string>
#include <vector>

#include "routh/mujoco/system.h"

namespace routh::mujoco {

struct SettleOptions {
  double tolerance = 1e-9;  ///< on overlaps, limits [m, rad] and open joints that remain
  int iterations = 60;      ///< of Newton's method, most
};

struct [[nodiscard]] Settled {
  State state;                      ///< the start, moved
  bool moved = false;               ///< was anything to be done?
  bool reached = false;             ///< is all within the tolerance?
  double deepest = 0;               ///< overlap before, of contacts and limits, in their unit
  std::string where = {};           ///< its contact
  double open = 0;                  ///< widest gap of a joint before
  double left_open = 0;             ///< widest gap after of a contact that overlapped before [m]
  std::vector<Contact> stuck = {};  ///< within one tree of bodies: no motion opened them
  double joint_move = 0;            ///< largest change of a coordinate that is not of a free joint
};

/// Moves a start of soft contacts to one of rigid contacts by the least motion: at each step
///
///   min δᵀ D δ / 2   with   φ + Jn δ ≥ 0,   gap + A δ = 0,      D the diagonal of M,
///
/// q moved by as much of δ as makes the violation smaller. Bodies on free joints are lifted first,
/// with all other joints held, so that a posture stays what it was where that is enough; what then
/// remains (limits, self-contacts, open loops, fixed bases) is left to all joints. D in place of M
/// moves only what a limit or contact acts on. Velocities stay.
Settled settle(const System& system, State start, const SettleOptions& options = {});

}  // namespace routh::mujoco
