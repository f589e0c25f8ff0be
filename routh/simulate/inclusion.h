#pragma once

#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

/// Motions through impacts as solutions of P1's differential inclusion (53), where time is a state
/// and impulse is what passes:
///
///   free     dt/ds = 1
///   contact  dt/ds = 1 / (1 + ‖λn‖₁), forces λ                                         (52)
///   impact   dt/ds = 0, q stands still, v moves with one unit of normal impulse per s   (49)
///
/// q(s), v(s) and t(s) are absolutely continuous: the jumps of v become straight lines.
namespace routh {

struct InclusionPath {
  std::vector<double> s, t;
  std::vector<Eigen::VectorXd> q, v;
  /// Of the piece that begins at each point: dt/ds and normal impulse per s of every contact. The
  /// two sum to one.
  std::vector<double> rate;
  std::vector<Eigen::VectorXd> normal_rate;
  double zeno = -1;  ///< s at which impacts accumulate; -1 where they do not
};

/// From a trajectory of the hybrid method, which knows its modes. In an impact the velocity moves
/// along the straight line of the total impulse; where one contact slips first and then sticks,
/// along Routh's two pieces. Impacts behind an accumulation point are summed by their geometric
/// tail.
InclusionPath inclusion(const System& system, const Trajectory& trajectory);

/// How far the path is from solving (53): over all its pieces the largest distance of the
/// difference quotient (q̇, v̇, ṫ) from the set D at the middle of the piece, relative to the size of
/// D. It shrinks with the square of the pieces' length for a solution, and stays for anything else.
/// Pieces that end in an accumulation point are left out.
double inclusion_residual(const System& system, const InclusionPath& path);

}  // namespace routh
