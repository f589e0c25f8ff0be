#include "routh/io/check.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "commands.h"
#include "describe.h"
#include "output.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "terminal.h"

namespace routh::app {
namespace {

struct CheckArguments {
  ScenarioArguments scenario;
  Places places;
};

/// One question and its answer a line, below the verdict.
std::string describe_check(const io::ImpactCase& impact, const io::CheckReport& report) {
  const ImpactProblem& p = impact.problem();
  const Ambiguity& known = report.known;
  std::string text;
  const auto line = [&](const std::string& question, const std::string& answer) {
    text += fmt::format("{:<32} {}\n", question, answer);
  };
  const std::optional<bool> unique = known.unique();
  line("is the outcome unique?",
       !unique   ? "not known"
       : *unique ? "yes"
                 : fmt::format("no: outcomes spread over {:.4g} m/s", known.spread));
  line("what was searched", io::searched_text(known));
  std::size_t sampled = 0;
  for (const FoundOutcome& o : known.outcomes) sampled += o.sample.has_value();
  line("distinct outcomes",
       fmt::format("{} ({} simultaneous, {} sequential{}){}", known.outcomes.size(),
                   known.simultaneous->outcomes.size(), known.sequential->outcomes.size(),
                   sampled ? fmt::format(", {} sampled", sampled) : "",
                   known.mixtures ? ", and mixtures of them" : ""));
  if (!known.sequential->unfinished.empty())
    line("orders that do not end", std::to_string(known.sequential->unfinished.size()));
  for (std::size_t k = 0; k < known.contacts.size(); ++k) {
    const ContactSpread& c = known.contacts[k];
    line(k == 0 ? "  by contact" : "",
         fmt::format("{} by {:.4g} m/s", impact.names[c.contact], c.by));
  }
  bool touches = false;
  for (const io::Worst& w : report.worst) {
    if (w.base) {
      line("worst for the base",
           fmt::format("{} {:.3g} m/s from {}; {}", w.body, w.away,
                       known.outcomes.front().simultaneous ? "all at once" : "the first outcome",
                       w.by));
      continue;
    }
    if (w.slides == 0 && w.lifts == 0) continue;  // stays whatever comes out
    line(touches ? "" : "worst where it touches",
         fmt::format("{} slides at up to {:.3g}, lifts at up to {:.3g} m/s; {}", w.body, w.slides,
                     w.lifts, w.by));
    touches = true;
  }
  line(
      "is a step ambiguous?",
      p.bounces() ? "not known: contacts at rest may have several answers, of which one is drawn"
      : !known.set->enumerated ? "not known: too many contacts, each step took one solution"
      : known.set->ambiguous_steps
          ? fmt::format("yes: {:.0f} % of the steps have several solutions (P1 Assumption 6 fails)",
                        100.0 * static_cast<double>(known.set->ambiguous_steps) /
                            static_cast<double>(known.set->steps))
          : "none was met");
  if (std::isfinite(report.polygon_apart))
    line("circular cone or polygon?",
         fmt::format("circular; {} edges instead of it change outcomes by {}", report.edges,
                     report.polygon_apart > same_velocity(p)
                         ? fmt::format("up to {:.2g} m/s", report.polygon_apart)
                         : "nothing"));
  if (p.bounces())
    line("what is restitution a ratio of?",
         p.restitution == Restitution::kByLaw
             ? "all at once: of impulses (poisson); else of works (stronge), which may differ; "
               "--restitution poisson: both alike"
             : std::string(to_string(p.restitution)));
  line("is the friction cone pointed?", report.cone.pointed ? "yes" : "no: the contacts can jam");
  if (!report.cone.pointed && report.cone.jam.size()) {
    std::string impulses;
    for (int i = 0; i < p.contacts(); ++i)
      impulses += fmt::format(" {} {:.3g}", impact.names[i], report.cone.jam[i]);
    line("  impulses that cancel", impulses);
  }
  std::vector<std::string> names;
  for (const int i : report.redundant.contacts) names.push_back(impact.names[i]);
  line("redundant contacts?",
       names.empty() ? "no"
                     : fmt::format("yes: {} ({} row{} too many); many impulses give one velocity",
                                   io::join(names), report.redundant.rows,
                                   report.redundant.rows > 1 ? "s" : ""));
  if (const std::optional<io::Termination>& t = report.termination)
    line("termination (P1 Theorem 8)",
         fmt::format("c = {:.0f} at h = {:.4g} N s: more than {:.0f} + k steps have probability at "
                     "most exp(-k/{})",
                     t->c, t->step, t->bound, (p.contacts() + 1) * (p.contacts() + 1)));
  return text;
}

int run_check(const CheckArguments& a) {
  a.places.check();
  io::Scenario scenario = a.scenario.load();
  scenario.run.edges = scenario.run.edges.value_or(0);
  io::check_restitution(scenario, "all");
  io::ImpactCase impact;
  try {
    impact = io::impact_case(scenario);
  } catch (const io::NoImpact& none) {
    const std::string verdict = fmt::format("unique: {}", none.what());
    finishing();
    a.places.show(toned(Tone::kGood, verdict) + "\n", io::no_impact_json(scenario, verdict), 2);
    return kDone;
  }
  AmbiguityOptions options = io::check_options(impact);
  options.stop = interrupted;
  const io::CheckReport report = io::check(impact, options);
  io::Json json = io::to_json(impact, report);
  json["options"] = io::options_json(impact, options, report.known);
  finishing();
  a.places.show(
      fmt::format("{}\n\n{}\n{}", describe_verdict(io::verdict(impact, report.known), report.known),
                  describe_before(impact), describe_check(impact, report)),
      std::move(json), 2);
  const bool none = report.known.outcomes.empty();
  if (none && !interrupted()) warn("routh: no outcome was found\n");
  return interrupted() || none ? kUnfinished : kDone;
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App* c = app.add_subcommand("check", "is the outcome of an impact well defined?");
  a->scenario.add_to(*c);
  a->scenario.add_restitution(*c);
  a->scenario.add_contact_options(*c);
  a->places.add_to(*c, session,
                   {{"--json", "write the answers as JSON; without FILE to standard output"}});
  c->callback([a, &session] { session.code = run_check(*a); });
}

}  // namespace routh::app
