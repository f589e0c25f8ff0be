#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routh/impact/set_valued.h"
#include "routh/io/results.h"

/// Figures of impacts.
namespace routh::io {

/// The impact process projected on contact velocities, as P1 Figs 9, 10, 11, 13, 14: intermediate
/// velocities light, outcomes dark, simultaneous and sequential paths in colour, and the mechanism
/// or model before and after. In space three panels show what varies most. Any part may be empty.
/// Writes <folder>/<name>.png and .svg and returns their paths.
struct ImpactFigure {
  std::string name, title;
  std::vector<OutcomeRow> laws = {};  ///< outcomes with paths
  const SetResult* set = nullptr;     ///< kept outcomes and paths of the set law
  std::vector<Polytope> exact = {};   ///< the exact set
  bool bracket = false;               ///< or one that contains it
  /// What another simulator makes of the impact, as a contact velocity, and its name.
  std::optional<Eigen::VectorXd> other = {};
  std::string other_name = "";
};
std::vector<std::string> draw(const ImpactCase& impact, const ImpactFigure& figure,
                              const std::string& folder);

}  // namespace routh::io
