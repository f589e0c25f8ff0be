#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.h"
#include "describe.h"
#include "device.h"
#include "exact_law.h"
#include "options.h"
#include "output.h"
#include "ranks.h"
#include "routh/impact/cone.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/model.h"
#include "routh/io/set_pieces.h"
#include "rows.h"
#include "terminal.h"

namespace routh::app {
namespace {

struct ImpactArguments {
  ScenarioArguments scenario;
  std::string law = "all";
  std::string samples, seed = "0", keep = "1000", draws, single = "routh";
  double step = 0, final_step = 0, epsilon = 0, delta = 0;
  int limit = 0, threads = 0;
  std::vector<std::string> order;
  std::string contact;
  std::vector<double> stiffness;
  double exponent = LzbOptions{}.exponent;
  ExactArguments exact;
  bool coverage = false, derivative = false, sensitivity = false;
  std::string compare, device = "cpu";
  Sharing sharing;
  TablePlaces tables;
  Places places;
};

/// Thrown out of the work of a process that helped the first with it.
struct Helped {};

/// What the command line asks, in numbers.
io::Asked asked(const io::ImpactCase& impact, ImpactArguments& a) {
  io::Asked asked{.law = a.law,
                  .seed = parse_count("--seed", a.seed),
                  .keep = parse_count("--keep", a.keep),
                  .draws = a.draws,
                  .step = a.step,
                  .final_step = a.final_step,
                  .epsilon = a.epsilon,
                  .delta = a.delta,
                  .limit = a.limit,
                  .threads = Sharing::threads(a.threads),
                  .order = a.order,
                  .single = a.single,
                  .contact = a.contact,
                  .stiffness = a.stiffness,
                  .exponent = a.exponent,
                  .exact = exact_options(a.exact),
                  .questions = questions(impact, a.exact),
                  .coverage = a.coverage,
                  .derivative = a.derivative,
                  .sensitivity = a.sensitivity,
                  .device = device_named(a.device),
                  .stop = interrupted};
  if (!a.samples.empty()) asked.samples = parse_count("--samples", a.samples, 0x1p40);
  if (!a.compare.empty()) asked.least_kept = io::kComparedOutcomes;
  asked.figure = !a.places.plot.empty();
  asked.tell = show_progress;
  asked.progress = [shown = std::function<bool(std::uint64_t)>(),
                    lines = processes() > 1 && !a.places.quiet()](std::uint64_t done,
                                                                  std::uint64_t total) mutable {
    if (!shown) shown = progress(total, "sampling", lines);
    return shown(done);
  };
  return asked;
}

/// "all: every outcome ..; simultaneous: .."
std::string about_laws() {
  std::string text;
  for (const Law& law : laws())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", law.name, law.about);
  return text;
}

std::vector<std::string> law_names() {
  std::vector<std::string> names;
  for (const Law& law : laws()) names.push_back(law.name);
  return names;
}

/// For the person who gets exit code 3.
std::string why_unfinished(const io::ImpactCase& impact, const io::ImpactReport& report) {
  if (interrupted()) return "stopped before all was tried: others may exist";
  if (report.law == "witnesses")
    return report.found->status == WitnessStatus::kJammed
               ? "the friction cone is not pointed: the impact need not end"
               : fmt::format("no path that can be confirmed was found for some extremes; {}",
                             report.found->stopped ? "raise --max-seconds" : "try another --seed");
  if (report.law == "exact")
    return report.known.exact->status == ExactStatus::kJammed
               ? "the friction cone is not pointed: impulses of the contacts can cancel, the "
                 "impact need not end and has no bounded set of outcomes ('routh check' shows "
                 "which)"
               : "the budget was spent before even a bracket of the set was complete; raise "
                 "--max-seconds "
                 "or --max-polyhedra";
  if (report.law == "set" && report.set()->unsolved > 0)
    return fmt::format("{} samples met a step without a solution, or one that rounding hides",
                       report.set()->unsolved);
  if (report.law == "set" && report.set()->terminated > 0)
    return "there is no exact set to compare with";
  if (report.law == "set") return "no sample ended; raise --limit or --step";
  std::string text = io::nothing_text(impact, report);
  if (!report.unfinished.empty())
    text += fmt::format("; {} {} did not end", report.unfinished.size(),
                        report.law == "single" ? "contacts" : "orders that were followed");
  return text;
}

/// Samples in pieces: by several processes, into a checkpoint, into tables.
io::SetLaw sampler(const io::ImpactCase& impact, ImpactArguments& a, std::optional<Rows>& rows) {
  return [&, outcomes = std::uint64_t{0}](const ImpactProblem& problem,
                                          const SetOptions& options) mutable {
    std::vector<SetSample> kept;
    const bool held = io::memory_holds(impact, options);
    SetResult set = io::set_in_pieces(
        problem, options, a.sharing.begin(a.scenario.name), [&](const PackedSamples& some) {
          if (interrupted()) finishing();  // what is under way is written
          if (rows) {
            const io::Table table = io::table_of(impact, outcomes, some);
            outcomes += io::row_count(table);
            rows->add(table);
          }
          for (SetSample& one : held ? io::unpacked(some) : std::vector<SetSample>())
            kept.push_back(std::move(one));
        });
    if (Sharing::helps()) throw Helped();
    set.kept = std::move(kept);
    return set;
  };
}

int run_impact(ImpactArguments& a) {
  if (processes() > 1 && a.law != "set")
    throw io::InputError(fmt::format(
        "--law {} is not for several processes: each would do all of it; --law set shares samples",
        a.law));
  // everything that can be wrong is found before the work begins
  if (!a.compare.empty() && !io::is_model(a.scenario.name)) {
    throw io::InputError(fmt::format("--compare {}: {} is not a model of MuJoCo (.xml, .urdf)",
                                     a.compare, a.scenario.name));
  }
  refuse_foreign(*a.scenario.command, "--law",
                 {a.law, a.coverage ? "set --coverage" : std::string()});
  if (a.law == "exact" && a.exact.maximize.empty() && a.exact.minimize.empty() && !a.sensitivity) {
    for (const char* option : {"--seed", "--threads"}) {
      if (a.scenario.command->count(option) > 0)
        throw io::InputError(fmt::format(
            "{} belongs to --law set, all, witnesses, and to exact with --maximize, --minimize or "
            "--sensitivity; leave it out",
            option));
    }
  }
  a.places.check();
  a.tables.check(a.places);
  io::Scenario scenario = a.scenario.load();
  io::prepare_cone(scenario, a.law);
  const io::ImpactCase impact = io::impact_case(std::move(scenario));
  io::Asked asking = asked(impact, a);
  // the set law's outcomes go into tables as they come, and into memory where it holds them
  std::optional<Rows> rows;
  const bool tables = a.law == "set" && a.tables.wanted(a.places);
  if (tables && a.places.json.empty() && a.places.plot.empty() && !a.coverage && a.compare.empty())
    asking.streamed = true;
  io::check(impact, asking);
  if (tables && !Sharing::helps())
    rows.emplace(a.places, a.tables, io::table_of(impact, 0, {}),
                 static_cast<double>(std::min(
                     asking.keep, asking.samples.value_or(impact.scenario.run.impact.samples))));
  if (tables || a.sharing.wanted()) asking.sampler = sampler(impact, a, rows);
  if (!friction_cone(impact.reduced.J, impact.reduced.W, impact.problem()).pointed)
    warn(
        "routh: warning: the friction cone is not pointed: the contacts can jam and laws may not "
        "end\n");

  io::ImpactReport report = io::ask(impact, asking);
  clear_progress();
  if (const SetResult* set = report.set()) warn_of_device(a.device, set->device_trouble);
  if (!impact.approaching() && report.known.unique() != false)
    warn("routh: no contact approaches: there is no impact, the velocity stays as it is\n");
  for (const io::OutcomeRow& row : report.outcomes) {
    if (row.gained <= 0) continue;
    warn(
        fmt::format("routh: warning: an outcome of {} adds {:.3g} J of energy: the meaning of its "
                    "coefficients of restitution allows it\n",
                    row.law(), row.gained));
    break;
  }
  if (!a.compare.empty() && !interrupted())
    report.comparison = io::compare_with_mujoco(impact, report);
  report.incomplete = report.incomplete || interrupted();

  // what was asked for; Ctrl-C is heard until it is in words
  const Places& places = a.places;
  const std::string json = places.json.empty()
                               ? ""
                               : places.with_top(io::options_json(impact, report, asking),
                                                 io::json_text(impact, report, interrupted)) +
                                     "\n";
  const std::string csv = places.csv.empty() || rows ? "" : io::to_csv(impact, report, interrupted);
  if (interrupted()) report.complete = false;
  finishing();
  if (!places.quiet())
    fmt::print("{}\n\n{}{}", describe_verdict(io::verdict(impact, report), report.known),
               describe_before(impact), describe_report(impact, report));
  if (!json.empty()) places.write(places.json, json);
  if (!csv.empty()) places.write(places.csv, csv);
  if (rows) rows->finish(!report.incomplete);
  if (!report.complete) warn(fmt::format("routh: {}\n", why_unfinished(impact, report)));
  drawing();
  if (!places.plot.empty() && !interrupted()) {
    places.make_folder();
    places.announce(
        io::draw(impact, report, asking, figure_name(a.scenario.name) + "-" + a.law, places.plot));
    clear_progress();
  }
  return interrupted() || !report.complete ? kUnfinished : kDone;
}

}  // namespace

void add_impact(CLI::App& app, Session& session) {
  auto a = std::make_shared<ImpactArguments>();
  CLI::App* c = app.add_subcommand("impact", "resolve an impact and show its outcomes");
  a->scenario.add_to(*c);
  a->scenario.add_contact_options(*c);
  a->scenario.add_restitution(*c);
  c->add_option("--law", a->law, about_laws())
      ->check(CLI::IsMember(law_names()))
      ->capture_default_str();
  c->add_option("--samples", a->samples,
                "number of samples, such as 2^20 (default: the scenario's; of all, by the number "
                "of contacts)");
  c->add_option("--seed", a->seed, "the same seed gives the same samples")->capture_default_str();
  c->add_option("--threads", a->threads,
                "threads (default: all cores); results do not depend on it")
      ->check(CLI::Range(1, 1024));
  add_device(*c, a->device);
  c->add_option("--step", a->step, "step h [N s] (default: the scenario's)")
      ->check(positive("a number of N s"));
  c->add_option("--limit", a->limit, "most steps N of a sample (default: the scenario's)")
      ->check(CLI::Range(1, 1000000));
  c->add_option(
       "--final-step", a->final_step,
       "bound [N s] of the last step of Algorithm 2 for samples that reach the limit; 0: none")
      ->check(not_negative("a number of N s"))
      ->capture_default_str();
  c->add_option("--epsilon", a->epsilon,
                "certify the samples by P1 Theorem 9: no outcome farther than this [m/s] from one; "
                "computes the limit, the last step and how many samples that takes")
      ->check(positive("a number of m/s"));
  c->add_option("--delta", a->delta,
                "how likely the certificate of --epsilon may fail (default: 0.05)")
      ->check(positive("a probability"));
  c->add_option("--draws", a->draws,
                "uniform as in P1 (default of set), or corners to reach extreme orders early "
                "(default of all), or extremes: paths through orders that reach far, without a "
                "step h")
      ->check(CLI::IsMember({"uniform", "corners", "extremes"}));
  c->add_option("--keep", a->keep, "outcomes to write, those of the first samples")
      ->capture_default_str();
  c->add_option("--order", a->order,
                "contacts in the order they are hit, repeated: A,B (default: every order)")
      ->delimiter(',');
  c->add_option("--single", a->single, "resolve each contact by Routh's law or by (31)")
      ->check(CLI::IsMember({"routh", "algebraic"}))
      ->capture_default_str();
  c->add_option("--contact", a->contact, "the contact (default: each approaching one in turn)");
  c->add_option("--stiffness", a->stiffness,
                "of each contact, K in forces K times depth to the exponent; only ratios matter "
                "(default: equal)")
      ->delimiter(',')
      ->type_name("K,..");
  c->add_option("--exponent", a->exponent, "of these forces: 3/2 after Hertz, 1 for linear springs")
      ->capture_default_str();
  c->add_option("--compare", a->compare,
                "let this simulator step through the impact and show its one outcome beside "
                "ours")
      ->check(CLI::IsMember({"mujoco"}))
      ->group(kModels);
  c->add_flag("--derivative", a->derivative,
              "how outcomes of the simultaneous law depend on velocities, configuration, friction "
              "and masses, within their contact modes");
  c->add_flag("--coverage", a->coverage, "how far the samples are from the exact set");
  c->add_flag("--sensitivity", a->sensitivity,
              "how extremes, and corners of the exact set, move with velocities, friction and "
              "masses");
  c->add_option(
       "--maximize", a->exact.maximize,
       "the largest energy, normal.NAME, tangential.NAME, v[K] or sum of these with "
       "factors of an outcome, or the most impulse, impulse.NAME, with a path that reaches "
       "it")
      ->type_name("WHAT");
  c->add_option("--minimize", a->exact.minimize, "the smallest")->type_name("WHAT");
  c->add_option("--contains", a->exact.contains,
                "can the impact end with these contact velocities? normals, then tangentials")
      ->type_name("N,..,T,..");
  c->add_option("--max-polyhedra", a->exact.max_polyhedra,
                "budget before a set that contains it is given instead");
  c->add_option(
       "--max-seconds", a->exact.max_seconds,
       "budget in seconds of the exact set and, where it is not enough, of one that contains it "
       "that takes its place (default: 60)")
      ->check(positive("a number of seconds"));
  a->sharing.add_to(*c, session);
  a->tables.add_to(*c, session);
  a->places.add_to(
      *c, session,
      {{"--json", "write the result as JSON; without FILE to standard output"},
       {"--csv", "write the outcomes as a table; - is standard output"},
       {"--plot", "draw figures (PNG, SVG, PDF, data for pgfplots) into this folder"}});
  group_by_scopes(*c);
  c->callback([a, &session] {
    try {
      session.code = run_impact(*a);
    } catch (const Helped&) {
      session.code = kDone;
    }
  });
}

}  // namespace routh::app
