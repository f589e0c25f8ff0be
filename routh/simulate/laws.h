#pragma once

#include <functional>
#include <string>
#include <vector>

#include "routh/simulate/impact_law.h"

namespace routh {

/// The outcomes of a law.
struct Listed {
  std::vector<Outcome> outcomes;
  bool all = true;  ///< false: there may be more
};

/// A law of impact as a value. All of them stand in one list, from which commands, their help,
/// simulations, ensembles and figures take theirs, by name. A new law is a file of its own and a
/// line of the list (impact_law.cc).
struct Law {
  std::string name;                       ///< in commands, results and figures
  std::string about;                      ///< in a few words
  std::vector<std::string> options = {};  ///< of `routh impact` that are for this law
  /// Every outcome, of a law that has finitely many; none: results of the law have a form of their
  /// own. `stop`, where given, is asked now and then; true ends the work with what was found.
  std::function<Listed(const ImpactProblem&, const std::function<bool()>& stop)> outcomes = {};
  /// For simulations, which take one outcome of each impact; none: the first of `outcomes`.
  std::function<ImpactLaw(std::uint64_t seed)> drawn = {};
  bool polygon = false;  ///< friction cones in space must have edges
  /// What coefficients of restitution may be ratios of.
  std::vector<Restitution> restitution = {Restitution::kNewton, Restitution::kPoisson,
                                          Restitution::kStronge};
  std::vector<std::string> colours = {};  ///< of its outcomes in figures, one after the other

  bool through_time() const { return outcomes || drawn; }
};

/// The list; `all` comes first.
const std::vector<Law>& laws();
/// Throws std::invalid_argument with the names that are known.
const Law& law_named(const std::string& name);
/// The law as simulations take it. Throws std::invalid_argument where it is not for them.
ImpactLaw impact_law(const Law& law, std::uint64_t seed = 0);

}  // namespace routh
