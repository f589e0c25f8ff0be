#pragma once

#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// A straight piece of an impact's path: what the contact does and how much normal impulse it
/// takes.
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
};

/// Routh's impact at one contact of a planar problem, P1 section 2.2.2 (36): normal impulse grows
/// at rate 1, the tangential one follows Coulomb's law at the *current* velocity, until the normal
/// velocity vanishes.
///
///   dcn/ds = Gnn - μ σ Gnt,   dct/ds = Gnt - μ σ Gtt     while slipping with σ = sign(ct)
///   dcn/ds = Gnn - Gnt²/Gtt,  dct/ds = 0                 while sticking, possible when |Gnt| ≤ μ
///   Gtt
///
/// The path is piecewise linear with at most two pieces: slip, then stick or slip reversed. A
/// contact that does not approach is left alone.
SingleResult single(const ImpactProblem& problem, int contact);

}  // namespace routh
