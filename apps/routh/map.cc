#include "routh/io/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.h"
#include "describe.h"
#include "device.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "ranks.h"
#include "routh/io/document.h"
#include "routh/io/file_writer.h"
#include "routh/io/measures.h"
#include "routh/simulate/laws.h"
#include "routh/simulate/parallel.h"
#include "rows.h"
#include "terminal.h"

namespace routh::app {
namespace {

constexpr double kMostNumbers = 2e8;  // of all cells, in memory
constexpr double kTrial = 0.3;        // [s] to find out how long a cell takes

struct MapArguments {
  ScenarioArguments scenario;
  std::vector<std::string> vary, draw, measures;
  std::string law = "set", samples = "1024", seed = "0", points = "1", runs = "0", draws, method,
              device = "cpu";
  double step = 0, end = 0;
  int limit = 0, threads = 0;
  Sharing sharing;
  TablePlaces tables;
  Places places;
};

/// "a, b, ..": what can be measured, for the help.
std::string about_measures() {
  std::string text = "what to measure, several joined by commas (default: outcomes,spread)";
  for (const bool runs : {false, true}) {
    text += runs ? "; of runs" : "; of impacts";
    std::string joint = ": ";
    for (const io::MeasureKind& kind : io::measure_kinds(runs)) {
      text += joint + kind.name + " (" + kind.about + ")";
      joint = ", ";
    }
  }
  return text;
}

io::MapPlan plan_of(const MapArguments& a) {
  io::MapPlan plan;
  for (const std::string& text : a.vary) plan.vary.push_back(io::parse_range(text));
  for (const std::string& text : a.draw) plan.draw.push_back(io::parse_draw(text));
  plan.points = parse_count("--points", a.points, 0x1p53);
  plan.runs = parse_count("--runs", a.runs, 1e7);
  plan.measures = a.measures;
  if (plan.measures.empty())
    plan.measures = plan.runs > 0 ? std::vector<std::string>{"rests", "words"}
                                  : std::vector<std::string>{"outcomes", "spread"};
  plan.batch.law = a.law;
  plan.batch.samples = parse_count("--samples", a.samples, 0x1p40);
  if (plan.batch.samples == 0) throw io::InputError("--samples 0: there must be at least one");
  plan.batch.seed = parse_count("--seed", a.seed);
  plan.batch.draws = a.draws.empty() ? (a.law == "all" ? Draws::kCorners : Draws::kUniform)
                                     : (a.draws == "corners" ? Draws::kCorners : Draws::kUniform);
  plan.step = a.step;
  plan.limit = a.limit;
  plan.course.method = a.method;
  plan.course.end = a.end;
  return plan;
}

/// Must its cells go into files as they come, because memory does not hold them? Refuses what
/// cannot, and files that their disks cannot hold, with how long it would take and how much.
bool goes_by(const io::Map& map, int threads, const Places& places, const TablePlaces& tables) {
  const auto cells = static_cast<double>(map.size());
  const auto numbers =
      static_cast<double>(map.plan().names().size() + map.plan().measures.size() + 2);
  if (cells * numbers <= kMostNumbers) return false;
  const double size = cells * io::csv_row_bytes(io::table_of(map, 0, {}));
  const bool streamed = tables.wanted(places) && places.json.empty() && places.plot.empty();
  double room = HUGE_VAL;
  for (const std::string& path : {places.csv, tables.hdf5}) {
    if (!path.empty()) room = std::min(room, io::room_for(path));
  }
  if (streamed && size <= room) return true;
  // cells from all over the map, as many as a moment allows
  const auto began = std::chrono::steady_clock::now();
  double seconds = 0;
  std::uint64_t tried = 0;
  for (; tried < 64 && seconds < kTrial && !interrupted(); ++tried) {
    (void)map.cells(tried * (map.size() / 64), 1, 1);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  const double all = seconds / static_cast<double>(std::max<std::uint64_t>(1, tried)) * cells /
                     threads_of(threads);
  throw io::InputError(fmt::format(
      "{:.3g} cells: would take about {} here and {} of tables; {}: take fewer values in --vary or "
      "fewer --points",
      cells, duration(all), bytes(size),
      streamed ? fmt::format("the disk has room for {}", bytes(room))
               : fmt::format("at most {} are possible, more go into --csv or --hdf5 alone, without "
                             "--json and --plot",
                             amount(std::floor(kMostNumbers / numbers)))));
}

std::string place_text(const io::Map& map, std::uint64_t cell) {
  const std::vector<std::string> names = map.plan().names();
  const std::vector<double> at = map.parameters(cell);
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += fmt::format("{}{} {:.4g}", k ? ", " : "", names[k], at[k]);
  return text;
}

std::string describe(const io::MapResult& r) {
  const io::Map& map = *r.map;
  const std::uint64_t done = r.done();
  std::string text = fmt::format("{}\n{} cells in {}, {} a second{}\n", map.scenario().title, done,
                                 duration(r.seconds),
                                 amount(static_cast<double>(done) / std::max(1e-9, r.seconds)),
                                 r.complete() ? "" : " (stopped early: incomplete)");
  text += describe_notes(map.scenario());
  for (const io::CellStatus status :
       {io::CellStatus::kUndecided, io::CellStatus::kNoImpact, io::CellStatus::kRefused}) {
    const io::MapTotals::Group& group = r.totals.of(status);
    if (group.cells == 0) continue;
    text += fmt::format("{} {}, such as {}: {}\n", group.cells, io::to_string(status),
                        place_text(map, group.first), group.why);
  }
  std::size_t width = 8;
  for (const std::string& name : map.plan().measures) width = std::max(width, name.size());
  text += fmt::format("\n    {:<{}}  {:>10}  {:>10}  {:>10}  largest at\n", "", width, "smallest",
                      "mean", "largest");
  const std::vector<io::MapSummary>& all = r.totals.measures;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const io::MapSummary& m = all[k];
    text += m.values == 0
                ? fmt::format("    {:<{}}  nowhere has it a value\n", map.plan().measures[k], width)
                : fmt::format("    {:<{}}  {:>10.4g}  {:>10.4g}  {:>10.4g}  {}\n",
                              map.plan().measures[k], width, m.low, m.mean(), m.high,
                              place_text(map, m.at_high));
  }
  text += "\n";
  const std::vector<std::string> about = map.about();
  for (std::size_t k = 0; k < about.size(); ++k)
    text += fmt::format("    {}: {}\n", map.plan().measures[k], about[k]);
  return text;
}

int run_map(MapArguments& a) {
  const Places& places = a.places;
  io::MapPlan plan = plan_of(a);
  refuse_foreign(
      *a.scenario.command, "way",
      {plan.runs > 0 ? "maps of motions, with --runs" : "maps of impacts, without --runs"});
  refuse_foreign(*a.scenario.command, "--law", {a.law});
  plan.device = device_named(a.device);
  places.check();
  a.tables.check(places);
  const auto map = std::make_shared<const io::Map>(
      a.scenario.family(a.vary.empty() ? "--draw" : "--vary", plan.names()), plan);
  std::optional<Rows> rows;
  const bool streamed = goes_by(*map, a.threads, places, a.tables);
  if (a.tables.wanted(places) && !Sharing::helps())
    rows.emplace(places, a.tables, io::table_of(*map, 0, {}), static_cast<double>(map->size()));
  const auto each = [&](std::uint64_t first, const std::vector<io::MapCell>& cells) {
    if (interrupted()) finishing();
    if (rows) rows->add(io::table_of(*map, first, cells));
  };
  const io::MapResult result = io::compute(
      map, {.threads = Sharing::threads(a.threads),
            .pieces = a.sharing.begin(a.scenario.name),
            .each = streamed ? each : decltype(io::MapRun::each)(),
            .progress = progress(map->size(), "map", processes() > 1 && !places.quiet()),
            .stop = [] { return interrupted(); }});
  if (Sharing::helps()) return kDone;
  clear_progress();
  warn_of_device(a.device, map->device_trouble());
  finishing();
  places.show(describe(result), io::to_json(result));
  if (rows && !streamed) rows->add(io::table_of(*map, 0, result.cells));
  if (rows) rows->finish(result.complete());
  drawing();
  if (!places.plot.empty() && !interrupted()) {
    places.make_folder();
    places.announce(io::draw(result, figure_name(a.scenario.name) + "-map", places.plot));
  }
  const std::uint64_t none = result.count(io::CellStatus::kRefused);
  if (none == map->size())
    warn(fmt::format("routh: no cell has an impact: {}\n",
                     result.totals.of(io::CellStatus::kRefused).why));
  return !result.complete() || interrupted() || none == map->size() ? kUnfinished : kDone;
}

}  // namespace

void add_map(CLI::App& app, Session& session) {
  auto a = std::make_shared<MapArguments>();
  CLI::App* c = app.add_subcommand(
      "map", "the outcomes of an impact, or of many motions, over parameters and states");
  a->scenario.add_to(*c);
  a->scenario.add_contact_options(*c);
  a->scenario.add_restitution(*c);
  c->add_option("--vary", a->vary,
                "a parameter, coordinate or velocity over a range, may be repeated: "
                "friction=0.2:5:64, 'qpos[2]=0.3:0.4:8', torso.pitch=-0.3:0.3:32, keyframe=0:1:9")
      ->type_name("NAME=FROM:TO:COUNT")
      ->allow_extra_args(false);
  c->add_option("--draw", a->draw,
                "the same drawn anew for every cell: uniform(from,to), log(from,to) or "
                "normal(mean,deviation)")
      ->type_name("NAME=HOW(A,B)")
      ->allow_extra_args(false);
  c->add_option("--points", a->points, "cells at each place of --vary, for --draw")
      ->capture_default_str();
  c->add_option("--measure", a->measures, about_measures())->delimiter(',')->type_name("WHAT,..");
  std::vector<std::string> names = batch_laws();
  for (const std::string& name : impact_law_names()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  c->add_option("--law", a->law, "how impacts are resolved")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  c->add_option("--samples", a->samples, "samples of each cell, such as 2^10")
      ->capture_default_str();
  c->add_option("--seed", a->seed, "the same seed gives the same map")->capture_default_str();
  c->add_option("--threads", a->threads,
                "threads (default: all cores); results do not depend on it")
      ->check(CLI::Range(1, 1024));
  add_device(*c, a->device);
  c->add_option("--step", a->step, "step h [N s] (default: the scenario's)")
      ->check(positive("a number of N s"));
  c->add_option("--limit", a->limit, "most steps N of a sample (default: the scenario's)")
      ->check(CLI::Range(1, 1000000));
  c->add_option("--draws", a->draws, "bounds of the samples, as of routh impact")
      ->check(CLI::IsMember({"uniform", "corners"}));
  c->add_option("--runs", a->runs,
                "motions of each cell, every impact drawn by the law: a map of ensembles")
      ->capture_default_str();
  c->add_option("--method", a->method, "how they move (default: as of routh ensemble)")
      ->check(CLI::IsMember({"hybrid", "time-stepping"}));
  c->add_option("--end", a->end, "until this time [s] (default: the scenario's)")
      ->check(positive("a number of seconds"));
  a->sharing.add_to(*c, session);
  a->tables.add_to(*c, session);
  a->places.add_to(*c, session,
                   {{"--json", "write the result as JSON; without FILE to standard output"},
                    {"--csv", "write one row per cell; - is standard output"},
                    {"--plot", "draw curves, heat maps or histograms into this folder"}});
  group_by_scopes(*c);
  c->callback([a, &session] { session.code = run_map(*a); });
}

}  // namespace routh::app
