#include "routh/io/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "routh/impact/draws.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/measures.h"
#include "routh/io/text.h"
#include "routh/simulate/laws.h"
#include "routh/simulate/parallel.h"

namespace routh::io {
namespace {

constexpr double kCountable = 0x1p53;
constexpr double kMostAtATime = 2e7;  // numbers of the samples of one cell

/// A number or an expression such as pi/4.
double number(const std::string& option, const std::string& text, const std::string& one) {
  try {
    const double value = evaluate(one);
    if (!std::isfinite(value)) throw InputError("'" + one + "' is not finite");
    return value;
  } catch (const InputError& e) {
    throw InputError(fmt::format("{} {}: {}", option, text, e.what()));
  }
}

/// "name=rest"
std::pair<std::string, std::string> named(const std::string& option, const std::string& text,
                                          const char* form) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw InputError(fmt::format("{} {}: write {}", option, text, form));
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

MapRange parse_range(const std::string& text) {
  constexpr const char* kForm = "name=from:to:count, such as friction=0.2:5:64";
  const auto [name, rest] = named("--vary", text, kForm);
  const std::size_t first = rest.find(':');
  const std::size_t second = first == std::string::npos ? first : rest.find(':', first + 1);
  if (second == std::string::npos || rest.find(':', second + 1) != std::string::npos)
    throw InputError(fmt::format("--vary {}: write {}", text, kForm));
  MapRange range{.name = name,
                 .from = number("--vary", text, rest.substr(0, first)),
                 .to = number("--vary", text, rest.substr(first + 1, second - first - 1))};
  const double count = number("--vary", text, rest.substr(second + 1));
  if (!(count >= 1) || count != std::floor(count) || count > kCountable)
    throw InputError(fmt::format(
        "--vary {}: the range is empty; its count must be a whole number of at least 1", text));
  range.count = static_cast<std::uint64_t>(count);
  const std::string one_value = fmt::format("{0}={1}:{1}:1", name, rest.substr(0, first));
  if (range.count > 1 && range.from == range.to)
    throw InputError(
        fmt::format("--vary {}: the range is empty; write {} for one value", text, one_value));
  if (range.count == 1 && range.from != range.to)
    throw InputError(fmt::format("--vary {}: one value cannot be both ends; write {} or take more",
                                 text, one_value));
  return range;
}

double MapRange::at(std::uint64_t i) const {
  if (i == 0) return from;
  if (i + 1 == count) return to;
  return from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
}

MapDraw parse_draw(const std::string& text) {
  constexpr const char* kForm =
      "name=uniform(from,to), name=log(from,to) or name=normal(mean,deviation)";
  const auto [name, rest] = named("--draw", text, kForm);
  const std::size_t open = rest.find('('), comma = rest.find(',');
  const std::string kind = rest.substr(0, open);
  MapDraw draw{.name = name};
  if (open == std::string::npos || comma == std::string::npos || comma < open ||
      !rest.ends_with(")") || (kind != "uniform" && kind != "normal" && kind != "log"))
    throw InputError(fmt::format("--draw {}: write {}", text, kForm));
  draw.kind = kind == "uniform" ? MapDraw::kUniform
              : kind == "log"   ? MapDraw::kLog
                                : MapDraw::kNormal;
  draw.a = number("--draw", text, rest.substr(open + 1, comma - open - 1));
  draw.b = number("--draw", text, rest.substr(comma + 1, rest.size() - comma - 2));
  if (draw.kind == MapDraw::kNormal ? !(draw.b > 0) : !(draw.a < draw.b))
    throw InputError(fmt::format("--draw {}: {}", text,
                                 draw.kind == MapDraw::kNormal
                                     ? "the deviation must be above zero"
                                     : "the range is empty: its end must be above its beginning"));
  if (draw.kind == MapDraw::kLog && !(draw.a > 0))
    throw InputError(fmt::format("--draw {}: a logarithm begins above zero", text));
  return draw;
}

double MapDraw::at(double first, double second) const {
  if (kind == kUniform) return a + (b - a) * first;
  if (kind == kLog) return a * std::pow(b / a, first);
  return a + b * std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second);
}

std::string MapDraw::text() const {
  constexpr const char* kNames[] = {"uniform", "normal", "log"};
  return fmt::format("{}({},{})", kNames[kind], a, b);
}

std::vector<std::string> MapPlan::names() const {
  std::vector<std::string> names;
  for (const MapRange& range : vary) names.push_back(range.name);
  for (const MapDraw& one : draw) names.push_back(one.name);
  return names;
}

double MapPlan::cells() const {
  double cells = static_cast<double>(points);
  for (const MapRange& range : vary) cells *= static_cast<double>(range.count);
  return cells;
}

const char* to_string(CellStatus status) {
  constexpr const char* kNames[] = {"not done", "decided", "undecided", "no impact", "refused"};
  return kNames[static_cast<int>(status)];
}

struct Map::Measures : MeasureList {};

Map::~Map() = default;

Map::Map(Family family, MapPlan plan) : family_(std::move(family)), plan_(std::move(plan)) {
  if (plan_.vary.empty() && plan_.draw.empty())
    throw InputError("--vary: name a parameter and its range, or draw one by --draw");
  if (plan_.points < 1) throw InputError("--points 0: there must be at least one");
  if (plan_.points > 1 && plan_.draw.empty())
    throw InputError("--points belongs to --draw; without it all points of a place are the same");
  if (!(plan_.cells() < kCountable))
    throw InputError(
        fmt::format("--vary: {:g} cells cannot be counted; take fewer", plan_.cells()));
  size_ = static_cast<std::uint64_t>(plan_.cells());

  const Scenario& base = family_.base();
  if (base.selected())
    throw InputError(fmt::format("{}: an event-selected system has no impacts to map", base.name));
  measures_ = std::make_unique<Measures>(Measures{measures_of(plan_, base)});
  if (plan_.runs > 0) {
    if (!base.moving()) throw InputError(fmt::format("--runs: {} does not move", base.name));
    if (!law_named(plan_.batch.law).through_time())
      throw InputError(fmt::format("--law {}: motions are by the laws {}", plan_.batch.law,
                                   join(impact_law_names())));
    check_restitution(base, plan_.batch.law);
    const Moves moves = moves_of(base, {0, base.q, base.v}, plan_.course);
    check_budget(moves.end, moves.step, moves.every, static_cast<double>(base.q.size() + 4));
    return;
  }

  // impacts
  const std::vector<std::string> known = batch_laws();
  if (index_of(known, plan_.batch.law) < 0)
    throw InputError(
        fmt::format("--law {}: maps are of the laws {}", plan_.batch.law, join(known)));
  check_restitution(base, plan_.batch.law);
  const bool sampled = plan_.batch.law == "set" || plan_.batch.law == "all";
  plan_.batch.device = plan_.device.walks;
  *device_trouble_ = plan_.device.trouble;
  plan_.batch.device_trouble = [trouble = device_trouble_](const std::string& why) {
    *trouble = why;
  };
  plan_.batch.words = plan_.batch.simultaneous = false;
  for (const Measure& measure : measures_->measures) {
    if (measure.samples && !sampled)
      throw InputError(fmt::format("--measure {}: is of samples; this is --law {}, take set or all",
                                   measure.name, plan_.batch.law));
    plan_.batch.words = plan_.batch.words || measure.words;
    // a law that lists its outcomes counts them itself
    plan_.batch.simultaneous = plan_.batch.simultaneous || measure.name == "simultaneous" ||
                               (measure.simultaneous && plan_.batch.law == "set");
  }
  // what is wrong with a form shows at the start, where there is an impact; contacts that do not
  // touch there may do so elsewhere
  try {
    const ImpactCase impact = impact_case(base);
    const double each = static_cast<double>(2 * impact.problem().c.size());
    if (static_cast<double>(plan_.batch.samples) * each > kMostAtATime)
      throw InputError(fmt::format("--samples {}: a cell may have at most {:.0f}",
                                   plan_.batch.samples, std::floor(kMostAtATime / each)));
    for (const std::string& form : measures_->forms) {
      const bool elsewhere =
          base.model() ||
          std::any_of(impact.apart.begin(), impact.apart.end(), [&](const std::string& name) {
            return form.find(name) != std::string::npos;
          });
      try {
        (void)parse_objective(impact, "--measure", form);
      } catch (const InputError&) {
        if (!elsewhere) throw;
      }
    }
  } catch (const NoImpact&) {
  }
}

std::vector<std::string> Map::about() const {
  std::vector<std::string> list;
  for (const Measure& measure : measures_->measures) list.push_back(measure.about);
  return list;
}

std::vector<double> Map::parameters(std::uint64_t cell) const {
  std::vector<double> values(plan_.vary.size());
  std::uint64_t rest = cell / plan_.points;
  for (std::size_t k = plan_.vary.size(); k-- > 0;) {
    values[k] = plan_.vary[k].at(rest % plan_.vary[k].count);
    rest /= plan_.vary[k].count;
  }
  for (std::size_t k = 0; k < plan_.draw.size(); ++k) {
    WalkRandom random(plan_.batch.seed, cell);
    random.begin_step(static_cast<int>(k), 1u << 10);  // no walk draws there
    const double first = random(), second = random();
    values.push_back(plan_.draw[k].at(first, second));
  }
  return values;
}

namespace {

/// What a cell is before the law has seen it.
struct Prepared {
  ImpactCase impact;
  std::vector<Objective> forms;
  std::vector<int> rows;
};

MapCell without(CellStatus status, std::string why, std::size_t measures) {
  return {status, std::vector<double>(measures, std::numeric_limits<double>::quiet_NaN()),
          std::move(why)};
}

}  // namespace

void Map::impacts(std::uint64_t first, std::vector<MapCell>& cells, int threads,
                  const std::function<bool(std::uint64_t)>& progress,
                  const std::function<bool()>& stop) const {
  const std::size_t count = cells.size(), measures = measures_->measures.size();
  std::vector<Prepared> prepared(count);
  std::vector<BatchProblem> all(count);
  const auto prepare = [&](std::uint64_t k) {
    if (stop && stop()) return;
    Prepared& one = prepared[k];
    try {
      Scenario scenario = family_.at(parameters(first + k));
      prepare_cone(scenario, plan_.batch.law);
      one.impact = impact_case(std::move(scenario));
      if (!one.impact.approaching()) {
        cells[k] = without(CellStatus::kNoImpact, "no contact approaches", measures);
        return;
      }
    } catch (const NoImpact& e) {
      // what is nearest is for a person with one impact
      const std::string why = e.what();
      const bool apart = why.find("no contact touches") != std::string::npos;
      cells[k] = without(CellStatus::kNoImpact,
                         apart ? "no contact touches" : "no contact approaches", measures);
      return;
    } catch (const std::invalid_argument& e) {
      cells[k] = without(CellStatus::kRefused, e.what(), measures);
      return;
    } catch (const InputError& e) {
      cells[k] = without(CellStatus::kRefused, e.what(), measures);
      return;
    }
    const ImpactDefaults& defaults = one.impact.scenario.run.impact;
    BatchProblem& problem = all[k];
    problem.impact = one.impact.problem();
    problem.step = plan_.step > 0 ? plan_.step : defaults.step;
    problem.limit = plan_.limit > 0 ? plan_.limit : defaults.limit;
    std::vector<Eigen::VectorXd> forms;
    for (const std::string& form : measures_->forms) {
      Objective objective{form};
      int row = -1;
      if (form != "energy") {
        row = static_cast<int>(forms.size());
        try {
          objective = parse_objective(one.impact, "--measure", form);
        } catch (const InputError&) {  // a contact that does not touch here
          objective.q = Eigen::VectorXd::Constant(problem.impact.c.size(),
                                                  std::numeric_limits<double>::quiet_NaN());
        }
        forms.push_back(objective.q);
      }
      one.forms.push_back(std::move(objective));
      one.rows.push_back(row);
    }
    problem.forms.resize(static_cast<Eigen::Index>(forms.size()), problem.impact.c.size());
    for (std::size_t f = 0; f < forms.size(); ++f)
      problem.forms.row(static_cast<Eigen::Index>(f)) = forms[f].transpose();
    cells[k].status = CellStatus::kDecided;
  };
  in_parallel(count, threads, prepare, [&](std::uint64_t) { return !progress || progress(0); });

  // those with an impact, all together
  std::vector<std::size_t> where;
  std::vector<BatchProblem> problems;
  for (std::size_t k = 0; k < count; ++k) {
    if (cells[k].status != CellStatus::kDecided) continue;
    where.push_back(k);
    problems.push_back(std::move(all[k]));
  }
  BatchOptions options = plan_.batch;
  options.threads = threads;
  options.progress = progress;
  options.stop = stop;
  const std::vector<BatchResult> results = solve_batch(problems, options);
  for (std::size_t i = 0; i < where.size(); ++i) {
    MapCell& cell = cells[where[i]];
    if (!results[i].done) {
      cell.status = CellStatus::kNotDone;
      continue;
    }
    const Prepared& one = prepared[where[i]];
    const ImpactMeasured measured{one.impact, results[i], one.forms, one.rows};
    for (const Measure& measure : measures_->measures)
      cell.values.push_back(measure.of_impact(measured));
    cell.why = results[i].trouble;
    if (!cell.why.empty()) cell.status = CellStatus::kUndecided;
  }
}

MapCell Map::runs(std::uint64_t k, const std::function<bool()>& stop) const {
  const std::size_t measures = measures_->measures.size();
  try {
    const Scenario scenario = family_.at(parameters(k));
    const State start{0, scenario.q, scenario.v};
    const Moves moves = moves_of(scenario, start, plan_.course);
    const EnsembleResult result =
        ensemble(*scenario.moving(), start, moves.motion,
                 {.runs = plan_.runs,
                  .seed = plan_.batch.seed,
                  .law = plan_.batch.law,
                  .restitution = scenario.run.restitution,
                  .threads = 1,
                  .keep = plan_.runs,
                  .progress = [&](std::uint64_t) { return !(stop && stop()); }});
    if (result.stopped) return {};
    MapCell cell{.status = CellStatus::kDecided};
    for (const Measure& measure : measures_->measures)
      cell.values.push_back(measure.of_runs({scenario, result}));
    if (result.early > 0) {
      cell.status = CellStatus::kUndecided;
      cell.why = fmt::format("{} of {} runs stopped before their end: {}", result.early,
                             result.runs.size(), result.reasons.front().name);
    }
    return cell;
  } catch (const InputError& e) {
    return without(CellStatus::kRefused, e.what(), measures);
  } catch (const std::invalid_argument& e) {
    return without(CellStatus::kRefused, e.what(), measures);
  } catch (const std::runtime_error& e) {
    return without(CellStatus::kUndecided, e.what(), measures);
  }
}

std::vector<MapCell> Map::cells(std::uint64_t first, std::uint64_t count, int threads,
                                const std::function<bool(std::uint64_t)>& progress,
                                const std::function<bool()>& stop) const {
  std::vector<MapCell> cells(count);
  if (plan_.runs > 0) {
    in_parallel(
        count, threads, [&](std::uint64_t k) { cells[k] = runs(first + k, stop); }, progress);
  } else {
    impacts(first, cells, threads, progress, stop);
  }
  for (MapCell& cell : cells) cell.why = without_controls(cell.why);
  return cells;
}

void MapTotals::add(std::uint64_t index, const MapCell& cell) {
  Group& group = groups[static_cast<std::size_t>(cell.status)];
  if (group.cells++ == 0) group.first = index, group.why = cell.why;
  for (std::size_t k = 0; k < std::min(measures.size(), cell.values.size()); ++k) {
    const double x = cell.values[k];
    if (!std::isfinite(x)) continue;
    MapSummary& one = measures[k];
    if (x < one.low) one.low = x, one.at_low = index;
    if (x > one.high) one.high = x, one.at_high = index;
    one.sum += x;
    ++one.values;
  }
}

std::uint64_t MapResult::count(CellStatus status) const {
  if (status != CellStatus::kNotDone) return totals.of(status).cells;
  std::uint64_t done = 0;
  for (std::size_t k = 1; k < totals.groups.size(); ++k) done += totals.groups[k].cells;
  return map->size() - done;
}

namespace {

/// Cells as bytes, and back; nothing where they are no such cells.
std::string packed(const std::vector<MapCell>& cells) {
  PieceWriter bytes;
  for (const MapCell& cell : cells) (bytes << cell.status).list(cell.values) << cell.why;
  return std::move(bytes).bytes();
}

std::optional<std::vector<MapCell>> unpacked(const std::string& text, std::uint64_t count) {
  PieceReader bytes(text);
  std::vector<MapCell> cells(count);
  for (MapCell& cell : cells) (bytes >> cell.status).list(cell.values) >> cell.why;
  return bytes.whole() ? std::optional(std::move(cells)) : std::nullopt;
}

}  // namespace

MapResult compute(std::shared_ptr<const Map> map, const MapRun& run) {
  const auto began = std::chrono::steady_clock::now();
  MapResult result{.map = std::move(map)};
  const std::uint64_t size = result.map->size();
  if (!run.each) result.cells.resize(size);
  result.totals.measures.resize(result.map->plan().measures.size());
  const auto count_of = [&](std::uint64_t piece) {
    return std::min(kPiece, size - piece * kPiece);
  };
  std::uint64_t done = 0;
  bool stopped = false;
  const auto stops = [&] { return stopped || (run.stop && run.stop()); };
  const auto work = [&](std::uint64_t piece) -> Piece {
    std::vector<MapCell> cells(count_of(piece));
    if (!stops()) {
      const auto tell = [&](std::uint64_t more) {
        if (run.progress && !run.progress(done + more)) stopped = true;
        return !stopped;
      };
      cells = result.map->cells(piece * kPiece, count_of(piece), run.threads, tell, run.stop);
    }
    const bool whole = std::all_of(cells.begin(), cells.end(), [](const MapCell& cell) {
      return cell.status != CellStatus::kNotDone;
    });
    return {packed(cells), whole};
  };
  const auto take = [&](std::uint64_t piece, const Piece& made) {
    std::optional<std::vector<MapCell>> cells = unpacked(made.bytes, count_of(piece));
    if (!cells) return false;
    const std::uint64_t first = piece * kPiece;
    for (std::size_t k = 0; k < cells->size(); ++k) result.totals.add(first + k, (*cells)[k]);
    done += cells->size();
    if (run.each)
      run.each(first, *cells);
    else
      std::move(cells->begin(), cells->end(),
                result.cells.begin() + static_cast<std::ptrdiff_t>(first));
    if (run.pieces.share && run.progress && !run.progress(done)) stopped = true;
    return true;
  };
  in_pieces((size + kPiece - 1) / kPiece, run.pieces, work, take, stops);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh::io
