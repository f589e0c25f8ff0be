#include <algorithm>

#include "routh/io/results.h"

namespace routh::io {

Masses masses_of(const Scenario& scenario) {
  if (scenario.mechanism()) return masses(*scenario.mechanism());
  return scenario.model() ? model_masses(scenario) : Masses{};
}

void add_derivatives(const ImpactCase& impact, ImpactReport& report) {
  const Scenario& s = impact.scenario;
  const Masses masses = masses_of(s);
  for (OutcomeRow& row : report.outcomes) {
    if (std::find(row.laws.begin(), row.laws.end(), "simultaneous") == row.laws.end()) continue;
    row.derivative = s.moving()
                         ? derivative(*s.moving(), s.q, s.v, impact.reduced, row.outcome, masses)
                         : derivative(impact.reduced, row.outcome);
  }
}

}  // namespace routh::io
