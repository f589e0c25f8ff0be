#pragma once

#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// A piece of an impact's path: what the contact does and how much normal impulse it takes.
struct SingleSegment {
  ContactState state = ContactState::kSticking;  ///< sticking or sliding
  double normal_impulse = 0;                     ///< [N s]
  bool restitution = false;                      ///< or compression
};

struct [[nodiscard]] SingleResult {
  bool finished = false;    ///< false when no impulse at this contact can stop it (it is jammed)
  Eigen::VectorXd impulse;  ///< total impulse [N s], ordered as c; zero at the other contacts
  Eigen::VectorXd c_plus;   ///< contact velocities of all contacts afterwards
  /// How far cn⁺ is from where the path ends, and the excess over the friction cone; relative.
  double residual = 0;
  std::vector<SingleSegment> path;
  /// Velocities of all contacts where the path bends, without its ends; in space along the curve.
  std::vector<Eigen::VectorXd> bends = {};
};

/// Routh's impact at one contact, P1 section 2.2.2 (36): normal impulse s grows at rate 1, the
/// tangential one follows Coulomb's law at the *current* velocity, until the normal velocity
/// vanishes and, with restitution, beyond.
///
///   dcn/ds = Gnn - μ Gnt e,             dct/ds = Gtn - μ Gtt e     sliding with e = ct/|ct|
///   dcn/ds = Gnn - Gnt Gtt⁻¹ Gtn,       dct/ds = 0                 sticking, if |Gtt⁻¹ Gtn| ≤ μ
///
/// With e > 0 compression ends where cn = 0, with the impulse s_c and the work W_c = ∫ cn ds < 0;
/// restitution follows along the same path (Wang, Mason, *Two-dimensional rigid-body collisions
/// with friction*, 1992; Stronge, *Impact Mechanics*, 2000) until
///
///   Newton   cn⁺ = -e cn⁻,        Poisson   s = (1 + e) s_c,        Stronge   ∫ cn ds = (1 - e²)
///   W_c.
///
/// The three agree where the slip neither stops nor turns. Stronge's never adds energy; Newton's
/// may, with friction (Kane, Levinson, *Dynamics*, 1985): see energy_gain().
///
/// In the plane compression has at most two straight pieces: slip, then stick or slip reversed. In
/// space friction keeps to the circular cone and the direction of sliding turns (Routh; Keller,
/// *Impact with friction*, 1986): an ordinary differential equation, to a relative 1e-10. A contact
/// that does not approach is left alone.
SingleResult single(const ImpactProblem& problem, int contact);

}  // namespace routh
