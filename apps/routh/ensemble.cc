#include "routh/simulate/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "describe.h"
#include "numbers.h"
#include "options.h"
#include "ranks.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/ensemble.h"
#include "routh/io/ensemble_pieces.h"
#include "routh/io/mode_graph.h"
#include "rows.h"
#include "simulate.h"
#include "terminal.h"

namespace routh::app {
namespace {

constexpr std::uint64_t kFan = 200;  // motions of the figure
constexpr double kMostRuns = 1e7;

struct EnsembleArguments : io::Course {
  ScenarioArguments scenario;
  std::string runs_law = "set", runs = "1024", seed_text = "0";
  int threads = 0, branch = 0;
  Sharing sharing;
  TablePlaces tables;
  Places places;
};

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() > most ? fmt::format("{:.{}}..", text, most - 3) : text;
}

std::string describe(const io::Scenario& scenario, const EnsembleResult& r) {
  std::string text = fmt::format(
      "{}\n{} runs in {}, {} a second{}\n", scenario.title, r.runs.size(), duration(r.seconds),
      amount(static_cast<double>(r.runs.size()) / std::max(1e-9, r.seconds)),
      r.stopped ? " (stopped early: incomplete)" : "");
  text += describe_notes(scenario);
  const auto groups = [&](const char* title, const std::vector<EnsembleGroup>& list) {
    text += fmt::format("\n    {:>6}  {}\n", "runs", title);
    constexpr std::size_t kShown = 12;
    for (std::size_t k = 0; k < list.size() && k < kShown; ++k) {
      const std::string& name = list[k].name;
      text += fmt::format("    {:>6}  {}\n", list[k].count, shortened(name, 100));
    }
    if (list.size() > kShown) text += fmt::format("    .. {} more\n", list.size() - kShown);
  };
  groups("contact word", r.words);
  groups("final mode", r.modes);
  if (!r.reasons.empty()) groups("stopped before the end, because", r.reasons);
  double gain = 0;
  for (const EnsembleRun& run : r.runs) gain = std::max(gain, run.largest_gain);
  text +=
      fmt::format("\n    {} runs reached the end; largest gain of energy in an impact {:.1e} J\n",
                  r.runs.size() - r.early, gain);
  if (gain > 0 && scenario.moving()->bounces())
    text += "    an impact adds energy: the meaning of its coefficients of restitution allows it\n";
  return text;
}

std::string describe(const io::Scenario& scenario, const BranchTree& tree) {
  std::string text =
      fmt::format("{}\n{} branches{}\n", scenario.title, tree.branches.size(),
                  tree.complete ? "" : " (incomplete: stopped, or the limit was reached)");
  text += describe_notes(scenario);
  std::size_t widest = 3;
  const auto way = [](const Branch& b) {
    return shortened(
        std::string(2 * static_cast<std::size_t>(b.depth), ' ') + (b.depth == 0 ? "start" : b.way),
        60);
  };
  for (const Branch& b : tree.branches) widest = std::max(widest, way(b).size());
  text += fmt::format("\n    time [s]   ways  outcomes  {:<{}}  word\n", "way", widest);
  for (const Branch& b : tree.branches) {
    text += fmt::format("    {:<9.6f} {:>5} {:>8}   {:<{}}  {}{}\n", b.state.time, b.ways,
                        b.outcomes, way(b), widest, shortened(b.word, 60),
                        b.message.empty() ? "" : " (stopped: " + b.message + ")");
  }
  return text;
}

int run_ensemble(EnsembleArguments& a) {
  const Places& places = a.places;
  refuse_foreign(*a.scenario.command, "way", {a.branch > 0 ? "" : "ensembles without --branch"});
  places.check();
  a.tables.check(places);
  const io::Scenario scenario = a.scenario.load();
  refuse_foreign(*a.scenario.command, "--law",
                 {a.runs_law, io::has_inputs(scenario) ? kInputs : ""});
  io::check_restitution(scenario, a.branch > 0 ? "all" : a.runs_law);
  const State start{0, scenario.q, scenario.v};
  const io::Moves moves = io::moves_of(scenario, start, a);
  const std::string& method = moves.method;
  refuse_foreign(*a.scenario.command, "--method", {method});
  const auto numbers = static_cast<double>(scenario.q.size() + scenario.v.size() + 4);
  io::check_budget(moves.end, moves.step, moves.every, numbers * (places.plot.empty() ? 1 : kFan));

  if (a.branch > 0) {
    if (processes() > 1)
      throw io::InputError(
          "--branch is not for several processes: each would follow all of the tree; runs are "
          "shared");
    const BranchTree tree =
        branch(*scenario.moving(), start, moves.motion, a.branch, 10'000, interrupted);
    io::Json json = io::to_json(scenario, tree);
    json["options"] = moves.options;
    json["options"]["branch"] = a.branch;
    places.show(describe(scenario, tree), std::move(json));
    return tree.complete ? kDone : kUnfinished;
  }

  EnsembleOptions options{.runs = parse_count("--runs", a.runs, kMostRuns),
                          .seed = parse_count("--seed", a.seed_text),
                          .law = a.runs_law,
                          .restitution = scenario.run.restitution,
                          .threads = Sharing::threads(a.threads)};
  if (options.runs == 0) throw io::InputError("--runs 0: there must be at least one");
  if (!places.plot.empty()) options.keep = kFan;
  options.graph = !places.modes.empty();
  options.progress = progress(options.runs, "ensemble", processes() > 1 && !places.quiet());
  const EnsembleResult result = io::ensemble_in_pieces(*scenario.moving(), start, moves.motion,
                                                       options, a.sharing.begin(a.scenario.name));
  if (Sharing::helps()) return kDone;
  clear_progress();
  finishing();
  io::Json json = io::to_json(scenario, method, moves.options, options, result);
  if (options.graph) json["mode_graph"] = io::to_json(result.graph);
  places.show(describe(scenario, result), std::move(json));
  if (options.graph) places.write(places.modes, io::to_svg(result.graph, scenario.title));
  if (a.tables.wanted(places)) {
    const io::Table table = io::table_of(scenario, result);
    Rows rows(places, a.tables, io::table_of(scenario, {}),
              static_cast<double>(result.runs.size()));
    rows.add(table);
    rows.finish(!result.stopped);
  }
  drawing();
  if (!places.plot.empty() && !interrupted()) {
    places.make_folder();
    const std::string name = figure_name(a.scenario.name) + "-ensemble";
    places.announce(io::draw(scenario, result, name, places.plot));
  }
  const bool none = result.early > 0 && result.early == result.runs.size();
  if (result.early > 0) {
    const auto first = std::find_if(result.runs.begin(), result.runs.end(),
                                    [](const EnsembleRun& run) { return ends_early(run.status); });
    warn(none ? fmt::format("routh: no run reached the end: {}\n", first->message)
              : fmt::format("routh: warning: {} of {} runs stopped before the end, such as run {}: "
                            "{}\n",
                            result.early, result.runs.size(), first->index, first->message));
  }
  return result.stopped || none || interrupted() ? kUnfinished : kDone;
}

}  // namespace

void add_ensemble(CLI::App& app, Session& session) {
  auto a = std::make_shared<EnsembleArguments>();
  CLI::App* c = app.add_subcommand(
      "ensemble", "many motions from one start, each impact drawn from its set of outcomes");
  a->scenario.add_to(*c);
  a->scenario.add_restitution(*c);
  c->add_option(
       "--method", a->method,
       "how the runs move between impacts (default: hybrid; models, and mechanisms with more "
       "than a dozen contacts, time-stepping)")
      ->check(CLI::IsMember({"hybrid", "time-stepping"}));
  c->add_option("--step", a->step, "step h [s] (default: the scenario's)")
      ->check(positive("a number of seconds"));
  c->add_option("--law", a->runs_law, "how impacts are resolved")
      ->check(CLI::IsMember(impact_law_names()))
      ->capture_default_str();
  c->add_option("--runs", a->runs, "number of runs, such as 4096 or 2^12")->capture_default_str();
  c->add_option("--seed", a->seed_text, "the same seed gives the same runs")->capture_default_str();
  c->add_option("--threads", a->threads,
                "threads (default: all cores); results do not depend on it")
      ->check(CLI::Range(1, 1024));
  c->add_option("--end", a->end, "simulate until this time [s] (default: the scenario's)")
      ->check(positive("a number of seconds"));
  c->add_option("--every", a->every, "record at these intervals [s] (default: end/200)")
      ->check(positive("a number of seconds"));
  add_hybrid_options(*c, *a);
  c->add_option("--branch", a->branch,
                "follow every extreme outcome of impacts, and every continuation where "
                "forces allow several, through this many of them, as a tree instead")
      ->check(CLI::Range(1, 30));
  a->sharing.add_to(*c, session);
  a->tables.add_to(*c, session);
  a->places.add_to(*c, session,
                   {{"--json", "write the result as JSON; without FILE to standard output"},
                    {"--csv", "write one row per run; - is standard output"},
                    {"--modes", "draw the modes visited and their transitions, .svg"},
                    {"--plot", "draw the fan of motions and the ends into this folder"}});
  group_by_scopes(*c);
  c->callback([a, &session] { session.code = run_ensemble(*a); });
}

}  // namespace routh::app
