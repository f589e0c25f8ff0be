#include "routh/io/check.h"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace routh::io {
namespace {

std::optional<Termination> termination_of(const ImpactCase& impact, const FrictionCone& cone) {
  const Scenario& s = impact.scenario;
  Termination t{.step = s.run.impact.step};
  t.sigma = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(s.terms.M, Eigen::EigenvaluesOnly)
                .eigenvalues()
                .minCoeff();
  if (!cone.pointed || t.sigma <= 1e-14 * s.terms.M.cwiseAbs().maxCoeff()) return {};
  t.r_norm = cone.r.norm();
  t.c = termination_constant(cone, impact.problem().contacts(), t.step, t.sigma);
  t.speed = std::sqrt(2 * kinetic_energy(s.terms, s.v));
  t.bound = t.c * std::ceil(t.speed);
  return t;
}

}  // namespace

CheckReport check(const ImpactCase& impact, const AmbiguityOptions& options) {
  const ImpactProblem& p = impact.problem();
  CheckReport report{.known = ambiguity(p, options),
                     .cone = friction_cone(impact.reduced.Mdag, impact.reduced.J, p),
                     .redundant = redundancy(p),
                     .edges = options.edges};
  report.termination = termination_of(impact, report.cone);
  const std::vector<Outcome>& at_once = report.known.simultaneous->outcomes;
  if (p.circular() && !at_once.empty()) report.polygon_apart = polygon_apart(p, at_once, options);
  return report;
}

Json to_json(const ImpactCase& impact, const CheckReport& report) {
  const ImpactProblem& p = impact.problem();
  const Ambiguity& known = report.known;
  Json j;
  j["scenario"] = impact.scenario.name;
  j["contacts"] = impact.names;
  j["colliding"] = known.colliding;
  j["unique"] = known.unique() ? Json(*known.unique()) : Json();  // null: not known
  j["verdict"] = verdict(impact, known);
  j["searched"] = {{"all_modes", known.all_modes()},
                   {"all_orders", known.all_orders()},
                   {"samples", known.set->samples},
                   {"complete", known.searched()}};
  j["incomplete"] = known.stopped;
  j["outcomes"] = known.outcomes.size();
  j["simultaneous_outcomes"] = known.simultaneous->outcomes.size();
  j["sequential_outcomes"] = known.sequential->outcomes.size();
  j["unfinished_orders"] = known.sequential->unfinished.size();
  j["ambiguous_steps"] = known.set->ambiguous_steps;
  j["spread"] = number_or_null(known.spread);
  j["ambiguous_contacts"] = Json::array();
  for (const ContactSpread& c : known.contacts)
    j["ambiguous_contacts"].push_back({{"name", impact.names[c.contact]}, {"spread", c.by}});
  if (p.tangents == 2) {
    j["cone"] = {{"kind", p.circular() ? "circular" : "polygon"},
                 {"edges", report.edges},
                 {"polygon_apart", number_or_null(report.polygon_apart)}};
  }
  j["pointed"] = report.cone.pointed;
  j["redundant_contacts"] = Json::array();
  for (const int i : report.redundant.contacts) j["redundant_contacts"].push_back(impact.names[i]);
  j["redundant_rows"] = report.redundant.rows;
  j["termination"] = nullptr;
  if (const std::optional<Termination>& t = report.termination) {
    j["termination"] = {{"step", t->step}, {"r_norm", t->r_norm}, {"sigma", t->sigma},
                        {"c", t->c},       {"speed", t->speed},   {"bound", t->bound}};
  }
  return j;
}

}  // namespace routh::io
