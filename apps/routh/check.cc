#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <memory>

#include "commands.h"
#include "output.h"
#include "routh/impact/ambiguity.h"
#include "routh/impact/cone.h"
#include "routh/io/document.h"
#include "routh/io/text.h"
#include "terminal.h"

namespace routh::app {
namespace {

struct CheckArguments {
  ScenarioArguments scenario;
  Places places;
};

/// The termination bound of P1 Theorem 8, or null where the theorem does not speak.
io::Json termination(const io::ImpactCase& impact, const FrictionCone& cone) {
  const io::Scenario& s = impact.scenario;
  const double sigma =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(s.terms.M, Eigen::EigenvaluesOnly)
          .eigenvalues()
          .minCoeff();
  if (!cone.pointed || sigma <= 1e-14 * s.terms.M.cwiseAbs().maxCoeff()) return nullptr;
  const int m = impact.problem().contacts();
  const double c = termination_constant(cone, m, s.run.impact.step, sigma);
  const double speed = std::sqrt(2 * kinetic_energy(s.terms, s.v));
  return {{"step", s.run.impact.step},
          {"r_norm", cone.r.norm()},
          {"sigma", sigma},
          {"c", c},
          {"speed", speed},
          {"bound", c * std::ceil(speed)}};
}

std::string searched_text(const Ambiguity& known) {
  return fmt::format("{} contact modes, {} orders, {} samples{}", known.all_modes ? "all" : "some",
                     known.all_orders ? "all" : "some", known.set.samples,
                     interrupted() ? "; stopped early: incomplete" : "");
}

/// One line that a person can act on.
std::string verdict(const io::ImpactCase& impact, const Ambiguity& known) {
  const std::string& name = impact.scenario.name;
  if (!known.colliding) return fmt::format("{}: unique, no contact approaches", name);
  if (!known.unique()) {
    return fmt::format("{}: perhaps unique: {} found, but {} searched ({})", name,
                       known.outcomes.size() == 1 ? "one outcome was" : "no outcome was",
                       known.ended() ? "not everything was" : "not all searches ended that were",
                       searched_text(known));
  }
  if (*known.unique()) return fmt::format("{}: unique: one outcome", name);

  // the contacts that differ most, by what they do
  std::vector<std::string> does;
  for (const ContactSpread& c : known.contacts) {
    std::vector<std::string> states;
    for (const ContactState state : c.states) states.emplace_back(to_string(state));
    if (does.size() < 2 && states.size() > 1)
      does.push_back(impact.names[c.contact] + " " + fmt::format("{}", fmt::join(states, " or ")));
  }
  return fmt::format(
      "{}: NOT unique: {}{}{}; velocities spread over {:.2g} m/s", name,
      known.outcomes.size() > 1
          ? fmt::format("{} outcomes and what lies between them", known.outcomes.size())
          : "outcomes depend on how impulses build up",
      does.empty() ? "" : "; ", fmt::join(does, ", "), known.spread);
}

int run_check(const CheckArguments& a) {
  a.places.check();
  io::Scenario scenario = a.scenario.load();
  const int edges = scenario.run.edges.value_or(0);
  scenario.run.edges = edges;
  const io::ImpactCase impact = io::impact_case(std::move(scenario));
  const ImpactProblem& p = impact.problem();
  AmbiguityOptions options{.step = impact.scenario.run.impact.step, .stop = interrupted};
  if (edges > 0) options.edges = edges;
  const Ambiguity known = ambiguity(p, options);
  const bool unique = known.unique().value_or(false), several = !known.unique().value_or(true);
  const FrictionCone cone = friction_cone(impact.reduced.Mdag, impact.reduced.J, p);
  const Redundancy redundant = redundancy(p);

  io::Json json;
  json["options"] = {{"step", options.step},
                     {"samples", options.samples},
                     {"seconds", options.seconds},
                     {"touching", impact.scenario.run.touching}};
  if (p.tangents == 2) {
    json["options"]["cone"] = p.circular() ? "circular" : "polygon";
    json["options"]["edges"] = options.edges;
  }
  json["scenario"] = impact.scenario.name;
  json["contacts"] = impact.names;
  json["colliding"] = known.colliding;
  json["unique"] = unique || several ? io::Json(unique) : io::Json();  // null: not known
  json["verdict"] = verdict(impact, known);
  json["searched"] = {{"all_modes", known.all_modes},
                      {"all_orders", known.all_orders},
                      {"samples", known.set.samples},
                      {"complete", known.searched()}};
  json["incomplete"] = interrupted();
  json["outcomes"] = known.outcomes.size();
  json["simultaneous_outcomes"] = known.simultaneous;
  json["sequential_outcomes"] = known.sequential;
  json["unfinished_orders"] = known.unfinished;
  json["ambiguous_steps"] = known.set.ambiguous_steps;
  json["spread"] = std::isnan(known.spread) ? io::Json() : io::Json(known.spread);
  json["ambiguous_contacts"] = io::Json::array();
  for (const ContactSpread& c : known.contacts)
    json["ambiguous_contacts"].push_back({{"name", impact.names[c.contact]}, {"spread", c.by}});
  if (p.tangents == 2) {
    json["cone"] = {
        {"kind", p.circular() ? "circular" : "polygon"},
        {"edges", options.edges},
        {"polygon_apart",
         std::isfinite(known.polygon_apart) ? io::Json(known.polygon_apart) : io::Json()}};
  }
  json["pointed"] = cone.pointed;
  json["redundant_contacts"] = io::Json::array();
  for (const int i : redundant.contacts) json["redundant_contacts"].push_back(impact.names[i]);
  json["redundant_rows"] = redundant.rows;
  const io::Json bound = termination(impact, cone);
  json["termination"] = bound;

  finishing();
  const Tone tone = unique ? Tone::kGood : several ? Tone::kBad : Tone::kWarning;
  std::string text =
      fmt::format("{}\n\n{}\n", toned(tone, verdict(impact, known)), describe_before(impact));
  const auto line = [&](const std::string& question, const std::string& answer) {
    text += fmt::format("{:<32} {}\n", question, answer);
  };
  line("is the outcome unique?",
       !known.colliding ? "yes: no contact approaches, there is no impact"
       : unique         ? "yes"
       : several        ? std::isnan(known.spread)
                              ? "no"
                              : fmt::format("no: outcomes spread over {:.4g} m/s", known.spread)
              : !known.ended() ? "not known: some orders or samples did not end"
                        : "not known: one outcome was found, but not everything was searched");
  line("what was searched", searched_text(known));
  line("distinct outcomes",
       fmt::format("{} ({} simultaneous, {} sequential), and every mixture the set law finds",
                   known.outcomes.size(), known.simultaneous, known.sequential));
  if (known.unfinished > 0) line("orders that do not end", std::to_string(known.unfinished));
  for (std::size_t k = 0; k < known.contacts.size() && !unique; ++k) {
    const ContactSpread& c = known.contacts[k];
    line(k == 0 ? "  by contact" : "",
         fmt::format("{} by {:.4g} m/s", impact.names[c.contact], c.by));
  }
  line(
      "is a step ambiguous?",
      !known.set.enumerated ? "not known: too many contacts, each step took one solution"
      : known.set.ambiguous_steps
          ? fmt::format("yes: {:.0f} % of the steps have several solutions (P1 Assumption 6 fails)",
                        100.0 * static_cast<double>(known.set.ambiguous_steps) /
                            static_cast<double>(known.set.steps))
          : "none was met");
  if (std::isfinite(known.polygon_apart))
    line("circular cone or polygon?",
         fmt::format("circular; {} edges instead of it change outcomes by up to {:.2g} m/s",
                     options.edges, known.polygon_apart));
  line("is the friction cone pointed?", cone.pointed ? "yes" : "no: the contacts can jam");
  if (!cone.pointed && cone.jam.size()) {
    std::string jam;
    for (int i = 0; i < p.contacts(); ++i)
      jam += fmt::format(" {} {:.3g}", impact.names[i], cone.jam[i]);
    line("  impulses that cancel", jam);
  }
  std::vector<std::string> names;
  for (const int i : redundant.contacts) names.push_back(impact.names[i]);
  line("redundant contacts?",
       names.empty()
           ? "no"
           : fmt::format("yes: {} ({} row{} too many); many impulses give the same velocity",
                         io::join(names), redundant.rows, redundant.rows > 1 ? "s" : ""));
  if (!bound.is_null())
    line("termination (P1 Theorem 8)",
         fmt::format("c = {:.0f} at h = {:.4g} N s: more than {:.0f} + k steps have probability at "
                     "most exp(-k/{})",
                     bound["c"].get<double>(), impact.scenario.run.impact.step,
                     bound["bound"].get<double>(), (p.contacts() + 1) * (p.contacts() + 1)));
  a.places.show(text, json, 2);
  return interrupted() ? kUnfinished : kDone;
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App* c = app.add_subcommand("check", "is the outcome of an impact well defined?");
  a->scenario.add_to(*c);
  a->scenario.add_contact_options(*c);
  a->places.add_to(*c, session, {{"--json", "write the answers as JSON; - is standard output"}});
  c->callback([a, &session] { session.code = run_check(*a); });
}

}  // namespace routh::app
