#include <algorithm>
#include <cmath>

#include "routh/impact/corner_witness.h"
#include "routh/impact/same_outcome.h"
#include "routh/io/results.h"

namespace routh::io {

using Eigen::VectorXd;

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

namespace {

/// How the value of an objective moves where an end does: a · dc⁺ + b · dv⁺, of energy
/// v⁺ᵀM dv⁺ + v⁺ᵀdM v⁺/2, of impulses load · dλ.
VectorXd value_slopes(const ImpactCase& impact, const Objective& objective, const VectorXd& c_plus,
                      const PathSensitivity::Moves& moves,
                      const std::vector<MassSlope>* masses = nullptr) {
  if (objective.load.size() > 0) return moves.impulse.transpose() * objective.load;
  if (objective.q.size() > 0)
    return moves.c_plus.transpose() * objective.of_contacts +
           moves.velocity.transpose() * objective.of_velocity;
  const VectorXd v = lift_velocity(impact, c_plus);
  VectorXd slopes = moves.velocity.transpose() * (impact.scenario.terms.M * v);
  for (std::size_t b = 0; masses && b < masses->size(); ++b)
    slopes[static_cast<Eigen::Index>(b)] += 0.5 * v.dot((*masses)[b].dM * v);
  return slopes;
}

}  // namespace

void add_sensitivities(const ImpactCase& impact, ImpactReport& report,
                       const WitnessOptions& options) {
  const Scenario& scenario = impact.scenario;
  const std::vector<MassSlope> masses =
      scenario.moving()
          ? mass_slopes(*scenario.moving(), scenario.q, scenario.v, masses_of(scenario))
          : std::vector<MassSlope>{};
  const ImpactProblem& p = impact.problem();
  const auto of_path = [&](const WitnessTarget& target, const Witness& witness) {
    return sensitivity(impact.reduced, PathDerivative(p, target, witness.certificate),
                       witness.outcome.impulse, masses);
  };
  const auto extremes = [&](std::vector<Extreme>& list, bool most) {
    for (Extreme& extreme : list) {
      if (!extreme.witness || extreme.witness->phases.empty()) continue;
      const Objective objective = parse_objective(impact, "--sensitivity", extreme.name);
      Sensitivity& s = extreme.sensitivity.emplace();
      s.path = of_path(witness_target(objective, most), *extreme.witness);
      s.velocity = value_slopes(impact, objective, extreme.c, s.path.v);
      s.friction = value_slopes(impact, objective, extreme.c, s.path.friction);
      s.mass = value_slopes(impact, objective, extreme.c, s.path.mass, &masses);
    }
  };
  extremes(report.answers.maximize, true);
  extremes(report.answers.minimize, false);
  if (!report.known.exact || report.known.exact->status != ExactStatus::kExact) return;
  const std::vector<Polytope>& pieces = report.known.exact->pieces;
  for (const CornerWitness& corner : corner_witnesses(p, pieces, options)) {
    report.corners.push_back({corner.c});
    if (corner.witness) report.corners.back().moves = of_path(corner.target, *corner.witness);
  }
}

const PathSensitivity* moves_of(const ImpactCase& impact, const ImpactReport& report,
                                const VectorXd& c) {
  for (const MovingCorner& corner : report.corners) {
    if (corner.moves && same_outcome(impact.problem(), corner.c, c)) return &*corner.moves;
  }
  return nullptr;
}

}  // namespace routh::io
