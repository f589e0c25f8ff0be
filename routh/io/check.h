#pragma once

#include "routh/impact/cone.h"
#include "routh/io/results.h"

/// Is the outcome of an impact well defined? What `routh check` says.
namespace routh::io {

/// P1 Theorem 8: more than `bound` + k steps of the set law have probability at most
/// exp(-k/(m+1)²).
struct Termination {
  double step = 0;                     ///< h [N s]
  double r_norm = 0, sigma = 0;        ///< of P1 Lemma 6; the smallest eigenvalue of M
  double c = 0, speed = 0, bound = 0;  ///< P1 (78); √(2 energy) before the impact; steps
};

/// What is worst of all that was found after the impact of a model, for one body of it.
struct Worst {
  std::string body;
  bool base = false;  ///< the root of what moves freely, else a body that touches
  /// Of the base how far its velocity lies from what all contacts at once make of it (or else from
  /// the first outcome); of a body that touches how fast it slides and how fast it lifts [m/s].
  double away = 0, slides = 0, lifts = 0;
  std::string by;  ///< how that comes out: the order of impulses where it is known
};

struct CheckReport {
  Ambiguity known;
  std::vector<Worst> worst = {};  ///< of models whose outcome is not unique
  FrictionCone cone;
  Redundancy redundant;
  std::optional<Termination> termination;  ///< none where the theorem does not speak
  int edges = kEdges;  ///< of the polygon that the set law takes for a circular cone
  /// How far that polygon leads from outcomes of a circular cone [m/s]; not finite where unknown.
  double polygon_apart = std::numeric_limits<double>::quiet_NaN();
};

CheckReport check(const ImpactCase& impact, const AmbiguityOptions& options = {});
Json to_json(const ImpactCase& impact, const CheckReport& report);
/// Where nothing is hit.
Json no_impact_json(const Scenario& scenario, const std::string& verdict);

}  // namespace routh::io
