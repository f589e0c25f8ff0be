#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "commands.h"
#include "describe.h"
#include "exact_law.h"
#include "options.h"
#include "output.h"
#include "routh/impact/cone.h"
#include "routh/io/document.h"
#include "routh/io/figures.h"
#include "routh/io/model.h"
#include "terminal.h"

namespace routh::app {
namespace {

constexpr double kMostNumbers = 2e7;          // of outcomes that are kept
constexpr std::size_t kHastyOutcomes = 2000;  // that are written within the time Ctrl-C leaves
constexpr std::uint64_t kFigureOutcomes = 20'000, kFigurePaths = 5'000, kCoverageOutcomes = 1 << 17;

struct ImpactArguments {
  ScenarioArguments scenario;
  std::string law = "all";
  std::string samples, seed = "0", keep = "1000", draws, single = "routh";
  double step = 0, final_step = 0;
  int limit = 0, threads = 0;
  std::vector<std::string> order;
  std::string contact;
  ExactArguments exact;
  bool coverage = false;
  std::string compare;
  Places places;
};

int contact_index(const io::ImpactCase& impact, const std::string& option,
                  const std::string& name) {
  const auto found = std::find(impact.names.begin(), impact.names.end(), name);
  if (found == impact.names.end())
    throw io::InputError(
        fmt::format("{} {}: there is no touching contact of that name; known are {}", option, name,
                    io::join(impact.names)));
  return static_cast<int>(found - impact.names.begin());
}

SequentialOptions sequential_options(const io::ImpactCase& impact, const ImpactArguments& a) {
  SequentialOptions options;
  for (const std::string& name : a.order)
    options.order.push_back(contact_index(impact, "--order", name));
  options.stop = interrupted;
  options.single = a.single == "routh" ? SingleLaw::kRouth : SingleLaw::kAlgebraic;
  return options;
}

SetOptions set_options(const io::ImpactCase& impact, const ImpactArguments& a) {
  const io::ImpactDefaults& defaults = impact.scenario.run.impact;
  SetOptions options;
  options.samples =
      a.samples.empty() ? defaults.samples : parse_count("--samples", a.samples, 0x1p40);
  if (options.samples == 0) throw io::InputError("--samples 0: there must be at least one");
  options.step = a.step != 0 ? a.step : defaults.step;
  options.limit = a.limit != 0 ? a.limit : defaults.limit;
  options.final_step = a.final_step;
  options.draws = a.draws == "corners" ? Draws::kCorners : Draws::kUniform;
  options.seed = parse_count("--seed", a.seed);
  options.threads = a.threads;
  options.keep = parse_count("--keep", a.keep);
  const double each = static_cast<double>(2 * impact.problem().c.size() + impact.scenario.v.size());
  if (static_cast<double>(std::min(options.keep, options.samples)) * each > kMostNumbers)
    throw io::InputError(
        fmt::format("--keep {}: at most {:.0f} outcomes of this impact can be kept", a.keep,
                    std::floor(kMostNumbers / each)));
  return options;
}

/// What the law was applied with, defaults and the scenario's choices included.
io::Json options_json(const io::ImpactCase& impact, const io::ImpactReport& report,
                      const ImpactArguments& a) {
  const ImpactProblem& p = impact.problem();
  const std::vector<std::string>& taken = law_named(a.law).options;
  const auto takes = [&](const char* option) {
    return std::find(taken.begin(), taken.end(), option) != taken.end();
  };
  io::Json json{{"law", a.law}, {"touching", impact.scenario.run.touching}};
  if (p.tangents == 2) json["cone"] = p.circular() ? "circular" : "polygon";
  if (p.tangents == 2 && !p.circular()) json["edges"] = p.edges;
  if (a.law == "all" || a.law == "simultaneous")
    json["tolerance"] = SimultaneousOptions{}.tolerance;
  if (takes("order")) {
    json["order"] = a.order.empty() ? io::Json("every") : io::Json(a.order);
    json["single"] = a.single;
  }
  if (a.law == "set") {
    const SetOptions o = set_options(impact, a);
    json.update({{"samples", o.samples},
                 {"seed", o.seed},
                 {"step", o.step},
                 {"limit", o.limit},
                 {"final_step", o.final_step},
                 {"draws", a.draws.empty() ? "uniform" : a.draws},
                 {"keep", o.keep}});
  }
  if (a.law == "all") {
    json.update({{"samples", report.set()->samples},
                 {"seed", parse_count("--seed", a.seed)},
                 {"step", impact.scenario.run.impact.step},
                 {"draws", a.draws.empty() ? "corners" : a.draws}});
  }
  if (a.law == "witnesses" || (a.law == "exact" && a.exact.asks()))
    json["seed"] = parse_count("--seed", a.seed);
  if (a.law == "exact" || a.law == "witnesses" || a.coverage) {
    const ExactOptions o = exact_options(a.exact);
    json.update({{"max_polyhedra", o.max_polyhedra},
                 {"max_seconds", o.max_seconds},
                 {"precision", o.precision}});
  }
  return json;
}

/// The set law; held against the exact set where that was asked for.
io::ImpactReport apply_set(const io::ImpactCase& impact, const ImpactArguments& a) {
  SetOptions options = set_options(impact, a);
  const std::uint64_t keep = options.keep;
  ExactResult exact;
  if (a.coverage) exact = exact_set(impact, a.exact);
  if (a.coverage || !a.compare.empty()) options.keep = std::min(options.samples, kCoverageOutcomes);
  if (!a.places.plot.empty()) {
    options.keep = std::max(options.keep, kFigureOutcomes);
    options.paths = kFigurePaths;
  }
  options.progress = progress(options.samples, "sampling");
  SetResult set = set_valued(impact.problem(), options);
  clear_progress();
  if (interrupted() && set.kept.size() > kHastyOutcomes) set.kept.resize(kHastyOutcomes);
  io::ImpactReport report = io::report_set(impact, std::move(set), keep);
  report.covers = a.coverage;
  if (a.coverage && report.set()->terminated > 0 && !exact.pieces.empty() && !interrupted()) {
    std::vector<Eigen::VectorXd> samples;
    for (const SetSample& s : report.set()->kept) {
      if (s.terminated) samples.push_back(s.outcome.c_plus);
    }
    const Coverage covered = coverage(exact.pieces, samples, interrupted);
    if (!covered.stopped) report.coverage = covered;
    report.covered = std::move(exact.pieces);
  } else if (a.coverage) {
    report.complete = false;
  }
  return report;
}

AmbiguityOptions all_options(const io::ImpactCase& impact, const ImpactArguments& a) {
  AmbiguityOptions options{.seed = parse_count("--seed", a.seed),
                           .step = impact.scenario.run.impact.step,
                           .threads = a.threads,
                           .sequential = sequential_options(impact, a)};
  if (!a.samples.empty()) {
    options.samples = set_options(impact, a).samples;
    options.progress = progress(options.samples, "sampling");
  }
  if (a.draws == "uniform") options.draws = Draws::kUniform;
  if (impact.problem().tangents == 2 && !impact.problem().circular())
    options.edges = impact.problem().edges;
  options.stop = interrupted;
  return options;
}

io::ImpactReport apply_all(const io::ImpactCase& impact, const ImpactArguments& a) {
  io::ImpactReport report = io::report_all(impact, all_options(impact, a));
  clear_progress();
  return report;
}

WitnessOptions search_options(const ImpactArguments& a, const ExactOptions& exact) {
  return {.seed = parse_count("--seed", a.seed),
          .threads = a.threads,
          .max_seconds = exact.max_seconds};
}

/// The exact set, and witnesses of what is asked about it: half of the time is theirs.
io::ImpactReport apply_exact(const io::ImpactCase& impact, const ImpactArguments& a) {
  const io::Questions asked = questions(impact, a.exact);
  if (asked.maximize.empty() && asked.minimize.empty())
    return io::report_exact(impact, exact_set(impact, a.exact), asked);
  ExactArguments rest = a.exact;
  WitnessOptions options = search_options(a, exact_options(a.exact));
  options.max_seconds /= 2;
  WitnessResult found = search(impact, asked, options);
  rest.max_seconds = std::max(0.01, exact_options(a.exact).max_seconds - found.seconds);
  ExactResult set{.status = ExactStatus::kIncomplete};
  const bool possible =
      has_exact() && (impact.problem().tangents == 1 || impact.problem().contacts() <= 2);
  if (possible && !interrupted()) set = exact_set(impact, rest);
  return io::report_exact(impact, std::move(set), asked, std::move(found));
}

/// Every contact velocity both ways, and energy.
io::ImpactReport apply_witnesses(const io::ImpactCase& impact, const ImpactArguments& a) {
  const std::vector<io::Objective> all = io::every_objective(impact);
  const io::Questions asked{.maximize = all, .minimize = all};
  return io::report_witnesses(impact, asked,
                              search(impact, asked, search_options(a, exact_options(a.exact))));
}

io::ImpactReport apply_single(const io::ImpactCase& impact, const ImpactArguments& a) {
  std::optional<int> contact;
  if (!a.contact.empty()) contact = contact_index(impact, "--contact", a.contact);
  return io::report_single(impact, contact);
}

io::ImpactReport apply_simultaneous(const io::ImpactCase& impact, const ImpactArguments&) {
  return io::report_simultaneous(impact, {.stop = interrupted});
}

io::ImpactReport apply_sequential(const io::ImpactCase& impact, const ImpactArguments& a) {
  return io::report_sequential(impact, sequential_options(impact, a));
}

/// Laws that have options, or results beyond their outcomes.
const std::map<std::string, io::ImpactReport (*)(const io::ImpactCase&, const ImpactArguments&)>
    kApply{{"all", apply_all},
           {"simultaneous", apply_simultaneous},
           {"sequential", apply_sequential},
           {"set", apply_set},
           {"exact", apply_exact},
           {"witnesses", apply_witnesses},
           {"single", apply_single}};

io::ImpactReport apply_law(const io::ImpactCase& impact, const ImpactArguments& a) {
  const auto own = kApply.find(a.law);
  return own != kApply.end() ? own->second(impact, a) : io::report_law(impact, law_named(a.law));
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

/// Draws what a law found, over samples where it is a set, with the paths of the finite laws.
std::vector<std::string> draw_figure(const io::ImpactCase& impact, const io::ImpactReport& report,
                                     const ImpactArguments& a) {
  io::ImpactFigure figure{.name = figure_name(a.scenario.name) + "-" + a.law,
                          .title = impact.scenario.title,
                          .laws = report.paths,
                          .set = report.set(),
                          .exact = report.covered};
  if (law_named(a.law).polygon) figure.laws = io::law_paths(impact);
  std::optional<SetResult> samples;
  if (a.law == "witnesses")
    figure.laws.insert(figure.laws.end(), report.outcomes.begin(), report.outcomes.end());
  if (a.law == "exact" || a.law == "witnesses") {
    if (report.known.exact) figure.exact = report.known.exact->pieces;
    SetOptions options = set_options(impact, a);
    options.samples = options.keep = kFigureOutcomes;
    options.paths = kFigurePaths;
    options.progress = progress(options.samples, "sampling");
    samples = set_valued(impact.problem(), options);
    clear_progress();
    figure.set = &*samples;
  }
  if (report.comparison) {
    figure.other = report.comparison->soft.own.contact;
    figure.other_name = "MuJoCo";
  }
  return io::draw(impact, figure, a.places.plot);
}

/// For the person who gets exit code 3.
std::string why_unfinished(const io::ImpactCase& impact, const io::ImpactReport& report) {
  if (interrupted()) return "stopped before all was tried: others may exist";
  if (report.law == "witnesses")
    return report.found->status == WitnessStatus::kJammed
               ? "the friction cone is not pointed: the impact need not end"
               : "no path was found for some extremes; raise --max-seconds";
  if (report.law == "exact")
    return report.known.exact->status == ExactStatus::kJammed
               ? "the friction cone is not pointed: impulses of the contacts can cancel, the "
                 "impact need not end and has no bounded set of outcomes ('routh check' shows "
                 "which)"
               : "the budget was spent before even an outer set was complete; raise --max-seconds "
                 "or --max-polyhedra";
  if (report.law == "set" && report.set()->unsolved > 0)
    return fmt::format("{} samples met a step without a solution", report.set()->unsolved);
  if (report.law == "set" && report.set()->terminated > 0)
    return "there is no exact set to compare with";
  if (report.law == "set") return "no sample ended; raise --limit or --step";
  std::string text = io::nothing_text(impact, report);
  if (!report.unfinished.empty())
    text += fmt::format("; {} {} did not end", report.unfinished.size(),
                        report.law == "single" ? "contacts" : "orders that were followed");
  return text;
}

int run_impact(const ImpactArguments& a) {
  // everything that can be wrong is found before the work begins
  if (!a.compare.empty() && !io::is_model(a.scenario.name)) {
    throw io::InputError(fmt::format("--compare {}: {} is not a model of MuJoCo (.xml, .urdf)",
                                     a.compare, a.scenario.name));
  }
  refuse_foreign(*a.scenario.command, "--law",
                 {a.law, a.coverage ? "set --coverage" : std::string()});
  a.places.check();
  io::Scenario scenario = a.scenario.load();
  if (law_named(a.law).polygon) {
    if (scenario.run.edges == 0)
      throw io::InputError(fmt::format(
          "--cone circular: the law {} needs a polygon; --edges says of how many edges", a.law));
    if (!scenario.run.edges) scenario.run.edges = kEdges;
  }
  const io::ImpactCase impact = io::impact_case(std::move(scenario));
  (void)sequential_options(impact, a);
  (void)set_options(impact, a);
  (void)questions(impact, a.exact);
  if (!a.contact.empty()) (void)contact_index(impact, "--contact", a.contact);
  if (!impact.approaching())
    warn("routh: no contact approaches: there is no impact, the velocity stays as it is\n");
  const bool pointed =
      friction_cone(impact.reduced.Mdag, impact.reduced.J, impact.problem()).pointed;
  if (!pointed)
    warn(
        "routh: warning: the friction cone is not pointed: the contacts can jam and laws may not "
        "end\n");

  io::ImpactReport report = apply_law(impact, a);
  report.pointed = pointed;
  if (!a.compare.empty() && !interrupted())
    report.comparison = io::compare_with_mujoco(impact, report);
  report.incomplete = report.incomplete || interrupted();

  // what was asked for; Ctrl-C is heard until it is in words
  const Places& places = a.places;
  const std::string json = places.json.empty()
                               ? ""
                               : places.with_top(options_json(impact, report, a),
                                                 io::json_text(impact, report, interrupted)) +
                                     "\n";
  const std::string csv = places.csv.empty() ? "" : io::to_csv(impact, report, interrupted);
  if (interrupted()) report.complete = false;
  finishing();
  if (!places.quiet())
    fmt::print("{}\n\n{}{}", describe_verdict(io::verdict(impact, report), report.known),
               describe_before(impact), describe_report(impact, report));
  if (!json.empty()) places.write(places.json, json);
  if (!csv.empty()) places.write(places.csv, csv);
  if (!report.complete) warn(fmt::format("routh: {}\n", why_unfinished(impact, report)));
  drawing();
  if (!places.plot.empty() && !interrupted()) {
    places.make_folder();
    places.announce(draw_figure(impact, report, a));
  }
  return interrupted() || !report.complete ? kUnfinished : kDone;
}

}  // namespace

void add_impact(CLI::App& app, Session& session) {
  auto a = std::make_shared<ImpactArguments>();
  CLI::App* c = app.add_subcommand("impact", "resolve an impact and show its outcomes");
  a->scenario.add_to(*c);
  a->scenario.add_contact_options(*c);
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
  c->add_option("--step", a->step, "step h [N s] (default: the scenario's)")
      ->check(positive("a number of N s"));
  c->add_option("--limit", a->limit, "most steps N of a sample (default: the scenario's)")
      ->check(CLI::Range(1, 1000000));
  c->add_option(
       "--final-step", a->final_step,
       "bound [N s] of the last step of Algorithm 2 for samples that reach the limit; 0: none")
      ->check(not_negative("a number of N s"))
      ->capture_default_str();
  c->add_option("--draws", a->draws,
                "uniform as in P1 (default of set), or corners to reach extreme orders early "
                "(default of all)")
      ->check(CLI::IsMember({"uniform", "corners"}));
  c->add_option("--keep", a->keep, "outcomes to write, those of the first samples")
      ->capture_default_str();
  c->add_option("--order", a->order,
                "contacts in the order they are hit, repeated: A,B (default: every order)")
      ->delimiter(',');
  c->add_option("--single", a->single, "resolve each contact by Routh's law or by (31)")
      ->check(CLI::IsMember({"routh", "algebraic"}))
      ->capture_default_str();
  c->add_option("--contact", a->contact, "the contact (default: each approaching one in turn)");
  c->add_option("--compare", a->compare,
                "let this simulator step through the impact and show its one outcome beside "
                "ours")
      ->check(CLI::IsMember({"mujoco"}))
      ->group(kModels);
  c->add_flag("--coverage", a->coverage, "how far the samples are from the exact set");
  c->add_option("--maximize", a->exact.maximize,
                "the largest energy, normal.NAME, tangential.NAME, v[K] or sum of these with "
                "factors of an outcome, with a path that reaches it")
      ->type_name("WHAT");
  c->add_option("--minimize", a->exact.minimize, "the smallest")->type_name("WHAT");
  c->add_option("--contains", a->exact.contains,
                "can the impact end with these contact velocities? normals, then tangentials")
      ->type_name("N,..,T,..");
  c->add_option("--max-polyhedra", a->exact.max_polyhedra, "budget before an outer set is given");
  c->add_option("--max-seconds", a->exact.max_seconds,
                "budget in seconds of the exact set and, where it is not enough, of the outer set "
                "that takes its place (default: 60)")
      ->check(positive("a number of seconds"));
  a->places.add_to(*c, session,
                   {{"--json", "write the result as JSON; - is standard output"},
                    {"--csv", "write the outcomes as a table; - is standard output"},
                    {"--plot", "draw figures (PNG and SVG) into this folder"}});
  group_by_scopes(*c);
  c->callback([a, &session] { session.code = run_impact(*a); });
}

}  // namespace routh::app
