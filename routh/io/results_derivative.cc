#include <algorithm>

#include "routh/io/results.h"

namespace routh::io {

static std::vector<MassSlope> masses_of(const Scenario& scenario) {
  if (scenario.mechanism()) return mass_slopes(*scenario.mechanism(), scenario.q);
  return scenario.model() ? model_masses(scenario) : std::vector<MassSlope>{};
}

void add_derivatives(const ImpactCase& impact, ImpactReport& report) {
  const Scenario& s = impact.scenario;
  const std::vector<MassSlope> masses = masses_of(s);
  for (OutcomeRow& row : report.outcomes) {
    if (std::find(row.laws.begin(), row.laws.end(), "simultaneous") == row.laws.end()) continue;
    row.derivative = s.moving()
                         ? derivative(*s.moving(), s.q, s.v, impact.reduced, row.outcome, masses)
                         : derivative(impact.reduced, row.outcome);
  }
}

}  // namespace routh::io
