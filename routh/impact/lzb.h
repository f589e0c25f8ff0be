#pragma once

#include <functional>
#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// What is assumed of the bodies between the contacts: normal forces K δ^η, of which only the
/// ratios of the K matter.
struct LzbOptions {
  Eigen::VectorXd stiffness = {};  ///< K of each contact, positive; empty: all equal
  double exponent = 1.5;           ///< η: 3/2 after Hertz, 1 for linear springs
  int steps = 200;                 ///< in the time in which the quickest contact compresses
  /// Steps are halved, a few times at the most, until that changes the outcome by less than this
  /// part of the velocities; infinite: once is enough.
  double tolerance = 1e-3;
  int max_steps = 1'000'000;  ///< then it is given up
  /// Asked now and then; true gives it up as well.
  std::function<bool()> stop = {};
};

struct [[nodiscard]] LzbResult {
  Outcome outcome;
  bool finished = false;              ///< false: it was given up, contacts still push
  double change = 0;                  ///< by the last halving of the steps, relative
  std::vector<Eigen::VectorXd> path;  ///< contact velocities, where they were asked for
};

/// The law of Liu, Zhao and Brogliato, *Frictionless multiple impacts in multibody systems. I.
/// Theoretical framework*, Proc. R. Soc. A 464, 2008, for bi-stiffness contacts. Each contact
/// stores the work E of its compression and gives e² of it back (Stronge's meaning), and impulses
/// grow at ratios that are functions of what is stored, the distributing rule:
///
///   dλn_i : dλn_j = K_i^(1/(η+1)) E_i^(η/(η+1)) : K_j^(1/(η+1)) E_j^(η/(η+1))
///
///   cn < 0:  dE = -cn dλn,      cn ≥ 0:  dE = -cn dλn / e²
///
/// So it is one walk of the set law (bounce_walk.h), with rates that are not drawn. Works are
/// added up exactly, whatever the step: no energy is gained, and none is lost with e = 1 and no
/// friction; the rule is followed to second order in the step. Contacts with a small e that others
/// press on chatter, and need steps much finer than the rest. Friction is Coulomb's at the velocity
/// on the way, with circular cones in space.
LzbResult lzb(const ImpactProblem& problem, const LzbOptions& options = {}, bool with_path = false);

}  // namespace routh
