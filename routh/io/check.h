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

struct CheckReport {
  Ambiguity known;
  FrictionCone cone;
  Redundancy redundant;
  std::optional<Termination> termination;  ///< none where the theorem does not speak
  int edges = kEdges;  ///< of the polygon that the set law takes for a circular cone
  /// How far that polygon leads from outcomes of a circular cone [m/s]; not finite where unknown.
  double polygon_apart = std::numeric_limits<double>::quiet_NaN();
};

CheckReport check(const ImpactCase& impact, const AmbiguityOptions& options = {});
Json to_json(const ImpactCase& impact, const CheckReport& report);

}  // namespace routh::io
