#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// One outcome chosen among those of a law.
struct ChosenOutcome {
  Outcome outcome;
  int outcomes = 1;  ///< how many the law found
  /// Impulses where the law's path bends, the last at its end; empty: a straight line.
  std::vector<Eigen::VectorXd> path = {};
};

/// How a simulation resolves its impacts: any function of the problem and the running number of the
/// impact. Throws std::runtime_error when there is no outcome.
using ImpactLaw = std::function<ChosenOutcome(const ImpactProblem&, std::uint64_t impact)>;

/// The same law where coefficients of restitution have this meaning.
ImpactLaw with_restitution(ImpactLaw law, Restitution means);

/// Painlevé: friction presses a sliding contact on harder than any force can push it out, so an
/// impulse acts though nothing collides (P1 section 4.2). Routh's law from rest in the normal
/// direction: while the contact slips it is pressed on, then it sticks and is pushed out. `sliding`
/// are the contacts that may; none: the motion does not change.
std::optional<ChosenOutcome> impact_without_collision(ImpactProblem problem,
                                                      const std::vector<int>& sliding);

/// The laws of the engine by name: simultaneous (the first outcome), sequential (the first order),
/// set (one sample, drawn by seed and impact number; where the cone is circular, with kEdges
/// edges). Throws std::invalid_argument for other names.
ImpactLaw impact_law(const std::string& name, std::uint64_t seed = 0);
std::vector<std::string> impact_law_names();

}  // namespace routh
