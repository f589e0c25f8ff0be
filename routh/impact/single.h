#pragma once

#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// A piece of an impact's path: what the contact does and how much normal impulse it takes.
struct SingleSegment {
  ContactState state = ContactState::kSticking;  ///< sticking or sliding
  double normal_impulse = 0;                     ///< [N s]
};

struct [[nodiscard]] SingleResult {
  bool finished = false;    ///< false when no impulse at this contact can stop it (it is jammed)
  Eigen::VectorXd impulse;  ///< total impulse [N s], ordered as c; zero at the other contacts
  Eigen::VectorXd c_plus;   ///< contact velocities of all contacts afterwards
  double residual = 0;      ///< |cn⁺| and the excess over the friction cone, relative
  std::vector<SingleSegment> path;
  /// Velocities of all contacts where the path bends, without its ends; in space along the curve.
  std::vector<Eigen::VectorXd> bends = {};
};

/// Routh's impact at one contact, P1 section 2.2.2 (36): normal impulse s grows at rate 1, the
/// tangential one follows Coulomb's law at the *current* velocity, until the normal velocity
/// vanishes.
///
///   dcn/ds = Gnn - μ Gnt e,             dct/ds = Gtn - μ Gtt e     sliding with e = ct/|ct|
///   dcn/ds = Gnn - Gnt Gtt⁻¹ Gtn,       dct/ds = 0                 sticking, if |Gtt⁻¹ Gtn| ≤ μ
///
/// In the plane the path has at most two straight pieces: slip, then stick or slip reversed. In
/// space friction keeps to the circular cone and the direction of sliding turns (Routh; Keller,
/// *Impact with friction*, 1986): an ordinary differential equation, to a relative 1e-10. A contact
/// that does not approach is left alone.
SingleResult single(const ImpactProblem& problem, int contact);

}  // namespace routh
