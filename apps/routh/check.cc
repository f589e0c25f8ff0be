#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <memory>

#include "commands.h"
#include "output.h"
#include "routh/impact/cone.h"
#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/text.h"
#include "terminal.h"

namespace routh::app {
namespace {

struct CheckArguments {
  ScenarioArguments scenario;
  std::string json;
};

constexpr double kSeconds = 2;  // for each of the three searches below

/// The termination bound of P1 Theorem 8, or null where the theorem does not speak.
io::Json termination(const io::ImpactCase& impact, const FrictionCone& cone) {
  const io::Scenario& s = impact.scenario;
  const double sigma =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(s.terms.M, Eigen::EigenvaluesOnly)
          .eigenvalues()
          .minCoeff();
  if (!cone.pointed || sigma <= 1e-14 * s.terms.M.cwiseAbs().maxCoeff()) return nullptr;
  const int m = impact.problem().contacts();
  const double c = termination_constant(cone, m, s.impact.step, sigma);
  const double speed = std::sqrt(2 * kinetic_energy(s.terms, s.v));
  return {{"step", s.impact.step}, {"r_norm", cone.r.norm()},      {"sigma", sigma}, {"c", c},
          {"speed", speed},        {"bound", c * std::ceil(speed)}};
}

/// Contacts whose velocity differs from outcome to outcome and by how much, the largest first.
std::vector<std::pair<int, double>> differing_contacts(const ImpactProblem& p,
                                                       const SetResult& set) {
  std::vector<std::pair<int, double>> contacts;
  for (int i = 0; i < p.contacts() && set.terminated > 0; ++i) {
    const Eigen::VectorXd range = set.c_max - set.c_min;
    const double by =
        std::max(range[i], range.segment(p.tangent(i), p.tangents).lpNorm<Eigen::Infinity>());
    if (by > 1000 * velocity_tolerance(p)) contacts.emplace_back(i, by);
  }
  std::sort(contacts.begin(), contacts.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  return contacts;
}

int run_check(const CheckArguments& a) {
  if (a.json != "-" && !a.json.empty()) io::check_writable(a.json);
  io::Scenario scenario = a.scenario.load();
  const std::optional<int> edges = scenario.edges;
  if (edges.value_or(0) == 0) scenario.edges = kEdges;
  io::ImpactCase with_edges = io::impact_case(scenario);
  scenario.edges = edges.value_or(0);
  const io::ImpactCase impact = io::impact_case(std::move(scenario));
  const ImpactProblem& p = impact.problem();

  // every outcome of the finite laws, and how far a small set that favours extreme orders spreads;
  // of many contacts what can be searched in a few seconds
  const io::ImpactReport at_once = io::report_simultaneous(impact, {.stop = after(kSeconds)});
  const io::ImpactReport in_turn = io::report_sequential(impact, {.stop = after(kSeconds)});
  const io::ImpactReport all = io::report_all(impact, at_once, in_turn);
  SetOptions options;
  options.progress = [stop = after(kSeconds)](std::uint64_t) { return !stop(); };
  options.samples = 4096;
  options.step = impact.scenario.impact.step;
  options.draws = Draws::kCorners;
  const SetResult set = set_valued(with_edges.problem(), options);
  // how far the polygon that stands for the circular cone leads away from it
  double apart = std::nan("");
  if (p.circular() && !at_once.outcomes.empty()) {
    const SimultaneousResult polygon =
        simultaneous(with_edges.problem(), {.stop = after(kSeconds)});
    apart = 0;
    for (const io::OutcomeRow& row : at_once.outcomes) {
      double nearest = HUGE_VAL;
      for (const Outcome& o : polygon.outcomes)
        nearest = std::min(nearest, (o.c_plus - row.outcome.c_plus).lpNorm<Eigen::Infinity>());
      apart = std::max(apart, nearest);
    }
  }
  const double spread =
      set.terminated ? (set.c_max - set.c_min).lpNorm<Eigen::Infinity>() : std::nan("");
  const bool every_mode = at_once.summary["enumerated"],
             every_order = in_turn.summary["all_orders"];
  const bool searched = every_mode && every_order && !set.stopped && !interrupted();
  const bool several = all.outcomes.size() > 1 || spread > 1000 * velocity_tolerance(p);
  const bool ended = all.outcomes.size() == 1 && all.unfinished.empty() &&
                     set.terminated == set.samples && set.samples > 0;
  const bool unique = ended && searched && !several;
  const std::vector<std::pair<int, double>> differing = differing_contacts(p, set);
  const FrictionCone cone = friction_cone(impact.reduced.Mdag, impact.reduced.J, p);
  const Redundancy redundant = redundancy(p);

  io::Json json;
  json["scenario"] = impact.scenario.name;
  json["contacts"] = impact.names;
  json["colliding"] = impact.approaching();
  json["unique"] = unique || several ? io::Json(unique) : io::Json();  // null: not known
  json["searched"] = {{"all_modes", every_mode},
                      {"all_orders", every_order},
                      {"samples", set.samples},
                      {"complete", searched}};
  json["incomplete"] = interrupted();
  json["outcomes"] = all.outcomes.size();
  json["simultaneous_outcomes"] = at_once.outcomes.size();
  json["sequential_outcomes"] = in_turn.outcomes.size();
  json["unfinished_orders"] = in_turn.unfinished.size();
  json["ambiguous_steps"] = set.ambiguous_steps;
  json["spread"] = std::isnan(spread) ? io::Json() : io::Json(spread);
  json["ambiguous_contacts"] = io::Json::array();
  for (const auto& [contact, by] : differing)
    json["ambiguous_contacts"].push_back({{"name", impact.names[contact]}, {"spread", by}});
  if (p.tangents == 2) {
    json["cone"] = {{"kind", p.circular() ? "circular" : "polygon"},
                    {"edges", with_edges.problem().edges},
                    {"polygon_apart", std::isfinite(apart) ? io::Json(apart) : io::Json()}};
  }
  json["pointed"] = cone.pointed;
  json["redundant_contacts"] = io::Json::array();
  for (const int i : redundant.contacts) json["redundant_contacts"].push_back(impact.names[i]);
  json["redundant_rows"] = redundant.rows;
  const io::Json bound = termination(impact, cone);
  json["termination"] = bound;

  finishing();
  if (a.json == "-") {
    fmt::print("{}\n", io::json_text(json, 2));
    return interrupted() ? kUnfinished : kDone;
  }
  fmt::print("{}\n", describe_before(impact));
  const auto line = [](const std::string& question, const std::string& answer) {
    fmt::print("{:<32} {}\n", question, answer);
  };
  line("is the outcome unique?",
       !impact.approaching() ? "yes: no contact approaches, there is no impact"
       : unique              ? "yes"
       : several
           ? std::isnan(spread) ? "no" : fmt::format("no: outcomes spread over {:.4g} m/s", spread)
       : !ended ? "not known: some orders or samples did not end"
                : "not known: one outcome was found, but not everything was searched");
  line("what was searched",
       fmt::format("{} contact modes, {} orders, {} samples{}", every_mode ? "all" : "some",
                   every_order ? "all" : "some", set.samples,
                   interrupted() ? "; stopped early: incomplete" : ""));
  line("distinct outcomes",
       fmt::format("{} ({} simultaneous, {} sequential), and every mixture the set law finds",
                   all.outcomes.size(), at_once.outcomes.size(), in_turn.outcomes.size()));
  if (!in_turn.unfinished.empty())
    line("orders that do not end", std::to_string(in_turn.unfinished.size()));
  for (std::size_t k = 0; k < differing.size() && !unique; ++k) {
    line(k == 0 ? "  by contact" : "",
         fmt::format("{} by {:.4g} m/s", impact.names[differing[k].first], differing[k].second));
  }
  line("is a step ambiguous?",
       !set.enumerated ? "not known: too many contacts, each step took one solution"
       : set.ambiguous_steps
           ? fmt::format(
                 "yes: {:.0f} % of the steps have several solutions (P1 Assumption 6 fails)",
                 100.0 * static_cast<double>(set.ambiguous_steps) / static_cast<double>(set.steps))
           : "none was met");
  if (std::isfinite(apart))
    line("circular cone or polygon?",
         fmt::format("circular; {} edges instead of it change outcomes by up to {:.2g} m/s",
                     with_edges.problem().edges, apart));
  line("is the friction cone pointed?", cone.pointed ? "yes" : "no: the contacts can jam");
  if (!cone.pointed && cone.jam.size()) {
    std::string text;
    for (int i = 0; i < p.contacts(); ++i)
      text += fmt::format(" {} {:.3g}", impact.names[i], cone.jam[i]);
    line("  impulses that cancel", text);
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
                     bound["c"].get<double>(), impact.scenario.impact.step,
                     bound["bound"].get<double>(), (p.contacts() + 1) * (p.contacts() + 1)));
  if (!a.json.empty()) Places{}.write(a.json, io::json_text(json, 2) + "\n");
  return interrupted() ? kUnfinished : kDone;
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App* c = app.add_subcommand("check", "is the outcome of an impact well defined?");
  a->scenario.add_to(*c);
  a->scenario.add_contact_options(*c);
  c->add_option("--json", a->json,
                "write the answers as JSON to a file, or to standard output with -");
  c->callback([a, &code] { code = run_check(*a); });
}

}  // namespace routh::app
