#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// One outcome chosen among those of a law.
struct ChosenOutcome {
  Outcome outcome;
  int outcomes = 1;  ///< how many the law found
};

/// How a simulation resolves its impacts: any function of the problem and the running number of the
/// impact. Throws std::runtime_error when there is no outcome.
using ImpactLaw = std::function<ChosenOutcome(const ImpactProblem&, std::uint64_t impact)>;

/// The laws of the engine by name: simultaneous (the first outcome), sequential (the first order),
/// set (one sample, drawn by seed and impact number). Throws std::invalid_argument for other names.
ImpactLaw impact_law(const std::string& name, std::uint64_t seed = 0);
std::vector<std::string> impact_law_names();

}  // namespace routh
