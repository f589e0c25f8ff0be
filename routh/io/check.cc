#include "routh/io/check.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "routh/linear/decompose.h"
#include "routh/model/coupling.h"

namespace routh::io {
namespace {

std::optional<Termination> termination_of(const ImpactCase& impact, const FrictionCone& cone) {
  if (impact.problem().bounces()) return {};  // the theorem is about inelastic impacts
  const Scenario& s = impact.scenario;
  Termination t{.step = s.run.impact.step};
  t.sigma = HUGE_VAL;
  for (const std::vector<int>& group : uncoupled(s.terms.M, Eigen::MatrixXd())) {
    const Eigen::MatrixXd own = s.terms.M(group, group);
    t.sigma = std::min(t.sigma, linear::symmetric_eigenvalues(own).minCoeff());
  }
  if (!cone.pointed || t.sigma <= 1e-14 * s.terms.M.cwiseAbs().maxCoeff()) return {};
  t.r_norm = cone.r.norm();
  t.c = termination_constant(cone, impact.problem().contacts(), t.step, t.sigma);
  t.speed = std::sqrt(2 * kinetic_energy(s.terms, s.v));
  t.bound = t.c * std::ceil(t.speed);
  return t;
}

constexpr std::size_t kNamedInOrder = 8;

std::string way_of(const ImpactCase& impact, const Ambiguity& known, const FoundOutcome& outcome) {
  if (outcome.simultaneous) return "all at once";
  if (!outcome.sequential) return "mixed order";
  std::vector<int> order = known.sequential->outcomes[*outcome.sequential].order;
  const bool longer = order.size() > kNamedInOrder;
  if (longer) order.resize(kNamedInOrder);
  return fmt::format("order {}{}", order_text(impact, order), longer ? " .." : "");
}

/// "foot" of "foot/floor:2" and of "foot/floor:1"
std::string first_of(const std::string& contact) {
  return contact.substr(0, std::min(contact.find('/'), contact.size()));
}

/// Over the outcomes and the samples that were kept.
std::vector<Worst> worst_of(const ImpactCase& impact, const Ambiguity& known) {
  const ImpactProblem& p = impact.problem();
  std::vector<FoundOutcome> all = known.outcomes;
  for (std::size_t k = 0; known.set && !known.coarse && k < known.set->kept.size(); ++k) {
    if (!known.set->kept[k].terminated) continue;
    all.push_back({known.set->kept[k].outcome});
    all.back().sample = k;
  }
  if (all.size() < 2) return {};
  std::vector<Worst> worst;

  // the root, where it is free
  const std::vector<std::string>& names = impact.scenario.velocities;
  const auto root = std::find_if(names.begin(), names.end(),
                                 [](const std::string& name) { return name.ends_with(".vx"); });
  if (root != names.end()) {
    const auto at = static_cast<Eigen::Index>(root - names.begin());
    worst.push_back({.body = root->substr(0, root->size() - 3), .base = true});
    const Eigen::Vector3d nominal =
        impact.reduced.lift(impact.scenario.v, all.front().impulse).segment<3>(at);
    for (const FoundOutcome& outcome : all) {
      const double away =
          (impact.reduced.lift(impact.scenario.v, outcome.impulse).segment<3>(at) - nominal).norm();
      if (away > worst[0].away) worst[0].away = away, worst[0].by = way_of(impact, known, outcome);
    }
  }

  // what touches: limits of joints are nowhere
  for (int i = 0; i < p.contacts(); ++i) {
    if (impact.scenario.terms.contacts[impact.reduced.contacts[i]].pair < 0) continue;
    const std::string body = first_of(impact.names[i]);
    auto of = std::find_if(worst.begin(), worst.end(),
                           [&](const Worst& w) { return !w.base && w.body == body; });
    if (of == worst.end()) of = worst.insert(worst.end(), {.body = body});
    for (const FoundOutcome& outcome : all) {
      const double slides = outcome.c_plus.segment(p.tangent(i), p.tangents).norm();
      const double lifts = outcome.c_plus[i];
      if (std::max(slides, lifts) > std::max(of->slides, of->lifts) + same_velocity(p))
        of->by = way_of(impact, known, outcome);
      of->slides = std::max(of->slides, slides), of->lifts = std::max(of->lifts, lifts);
    }
  }
  return worst;
}

}  // namespace

CheckReport check(const ImpactCase& impact, const AmbiguityOptions& options) {
  const ImpactProblem& p = impact.problem();
  CheckReport report{.known = ambiguity(p, options),
                     .cone = friction_cone(impact.reduced.J, impact.reduced.W, p),
                     .redundant = redundancy(p),
                     .edges = options.edges};
  report.termination = termination_of(impact, report.cone);
  if (impact.scenario.model() && report.known.unique() == false)
    report.worst = worst_of(impact, report.known);
  const std::vector<Outcome>& at_once = report.known.simultaneous->outcomes;
  if (p.circular() && !at_once.empty()) report.polygon_apart = polygon_apart(p, at_once, options);
  return report;
}

Json no_impact_json(const Scenario& scenario, const std::string& verdict) {
  return {{"scenario", scenario.name}, {"contacts", Json::array()},
          {"colliding", false},        {"unique", true},
          {"verdict", verdict},        {"spread", 0}};
}

Json to_json(const ImpactCase& impact, const CheckReport& report) {
  const ImpactProblem& p = impact.problem();
  const Ambiguity& known = report.known;
  Json j;
  j["scenario"] = impact.scenario.name;
  j["contacts"] = impact.names;
  add_notes(impact.scenario, j);
  j["colliding"] = known.colliding;
  j["unique"] = known.unique() ? Json(*known.unique()) : Json();  // null: not known
  j["verdict"] = verdict(impact, known);
  j["searched"] = {{"all_modes", known.all_modes()},
                   {"exact_set", known.whole.has_value()},
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
  for (const Worst& w : report.worst) {
    Json& of = j["worst"].emplace_back(Json{{"body", w.body}, {"base", w.base}});
    if (w.base)
      of["away"] = w.away;
    else
      of["slides"] = w.slides, of["lifts"] = w.lifts;
    of["by"] = w.by;
  }
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
