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
/// q(s), v(s) and t(s) are absolutely continuous: the jumps of v become straight lines. Joints, of
/// which P1 has none, hold along the whole path: M† of P4 (8) takes the place of M⁻¹.
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

/// From a trajectory with the impulses of its contact forces (`impulses` of the options of
/// time-stepping and of compliant contacts), or of the hybrid method, which knows its modes. Throws
/// std::invalid_argument for any other.
///
/// In an impact the velocity moves along the path of the law where it has one; else along the
/// solution of (39) that presses in proportion, where that leads to the outcome; else along the
/// straight line of the total impulse. Impacts behind an accumulation point are summed by their
/// geometric tail. Time-stepping moves by its own velocity v^h, whose mean over a step is what the
/// contacts see at α = ½.
InclusionPath inclusion(const System& system, const Trajectory& trajectory);

/// What counts as touching and as rest.
struct InclusionTolerance {
  double gap = 1e-8;    ///< gaps up to this touch [m]
  double still = 1e-6;  ///< contact velocities up to this times the largest velocity are zero
  double slow = 1e-9;   ///< and those up to this [m/s]
};

struct [[nodiscard]] InclusionResidual {
  double largest = 0;  ///< over all pieces
  double mean = 0;     ///< over s; a path with a small one is near a solution (Filippov)
  double at = 0;       ///< s of the largest
};

/// How far the path is from solving (53): the distance of the difference quotient (q̇, v̇, ṫ) of each
/// piece from D, relative to the size of D. In an impact D is taken at the middle of the piece. In
/// a piece that takes time it is the hull of D over the piece: a slip that ends within it may push
/// both ways, a contact that begins or stops to press may do either. Pieces that end in an
/// accumulation point are left out, and jumps below 1e-7 of the fastest velocity, which laws know
/// to 1e-9 of it. Throws std::invalid_argument for limbs without mass.
InclusionResidual inclusion_residual(const System& system, const InclusionPath& path,
                                     const InclusionTolerance& tolerance = {});

}  // namespace routh
