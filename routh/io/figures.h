#pragma once

#include <string>
#include <vector>

#include "routh/impact/set_valued.h"
#include "routh/io/results.h"

/// Figures of impacts.
namespace routh::io {

/// The impact process projected on contact velocities, as P1 Figs 9, 10, 11, 13, 14: intermediate
/// velocities light, outcomes dark, simultaneous and sequential paths in colour, and the mechanism
/// before and after. Any part may be empty. Writes <folder>/<name>.png and .svg and returns their
/// paths.
struct ImpactFigure {
  std::string name, title;
  std::vector<OutcomeRow> laws = {};  ///< outcomes with paths
  const SetResult* set = nullptr;     ///< kept outcomes and paths of the set law
  std::vector<Polytope> exact = {};   ///< the exact set
};
std::vector<std::string> draw(const ImpactCase& impact, const ImpactFigure& figure,
                              const std::string& folder);

}  // namespace routh::io
