#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "routh/io/map.h"
#include "routh/io/text.h"
#include "routh/simulate/laws.h"

namespace routh::io {

std::vector<MapSummary> summary(const MapResult& result) {
  std::vector<MapSummary> all(result.map->plan().measures.size(), {HUGE_VAL, -HUGE_VAL, 0});
  for (std::size_t k = 0; k < all.size(); ++k) {
    MapSummary& one = all[k];
    double sum = 0;
    for (std::uint64_t cell = 0; cell < result.cells.size(); ++cell) {
      const std::vector<double>& values = result.cells[cell].values;
      if (values.empty() || !std::isfinite(values[k])) continue;
      if (values[k] < one.low) one.low = values[k], one.at_low = cell;
      if (values[k] > one.high) one.high = values[k], one.at_high = cell;
      sum += values[k];
      ++one.values;
    }
    one.mean = sum / static_cast<double>(one.values);
  }
  return all;
}

Json to_json(const MapResult& result) {
  const Map& map = *result.map;
  const MapPlan& plan = map.plan();
  const Scenario& scenario = map.scenario();
  Json j;
  j["scenario"] = scenario.name;
  j["law"] = plan.batch.law;
  Json& options = j["options"];
  options = {{"law", plan.batch.law}, {"seed", plan.batch.seed}, {"measure", plan.measures}};
  if (plan.runs > 0) {
    options["runs"] = plan.runs;
  } else if (plan.batch.law == "set" || plan.batch.law == "all") {
    options["samples"] = plan.batch.samples;
    options["draws"] = plan.batch.draws == Draws::kCorners ? "corners" : "uniform";
  }
  if (!plan.draw.empty()) options["points"] = plan.points;

  j["parameters"] = Json::array();
  for (const MapRange& range : plan.vary)
    j["parameters"].push_back(
        {{"name", range.name}, {"from", range.from}, {"to", range.to}, {"count", range.count}});
  for (const MapDraw& draw : plan.draw)
    j["parameters"].push_back({{"name", draw.name}, {"draw", draw.text()}});
  j["complete"] = result.complete();
  j["incomplete"] = !result.complete();

  // cells as columns
  Json& cells = j["cells"];
  cells["cell"] = cells["status"] = Json::array();
  const std::vector<std::string> names = plan.names();
  std::vector<Json> parameters(names.size(), Json::array());
  std::vector<Json> values(plan.measures.size(), Json::array());
  std::map<std::string, std::uint64_t> reasons;
  for (std::uint64_t k = 0; k < result.cells.size(); ++k) {
    const MapCell& cell = result.cells[k];
    if (cell.status == CellStatus::kNotDone) continue;
    cells["cell"].push_back(k);
    cells["status"].push_back(to_string(cell.status));
    const std::vector<double> at = map.parameters(k);
    for (std::size_t i = 0; i < at.size(); ++i) parameters[i].push_back(at[i]);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i].push_back(number_or_null(cell.values[i]));
    if (!cell.why.empty()) ++reasons[cell.why];
  }
  cells["parameters"] = cells["measures"] = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i)
    cells["parameters"][names[i]] = std::move(parameters[i]);
  for (std::size_t i = 0; i < values.size(); ++i)
    cells["measures"][plan.measures[i]] = std::move(values[i]);

  constexpr std::size_t kReasons = 20;
  j["reasons"] = Json::array();
  std::vector<std::pair<std::string, std::uint64_t>> sorted(reasons.begin(), reasons.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t k = 0; k < std::min(kReasons, sorted.size()); ++k)
    j["reasons"].push_back({{"why", sorted[k].first}, {"count", sorted[k].second}});

  Json& s = j["summary"];
  s["cells"] = result.cells.size();
  for (const CellStatus status :
       {CellStatus::kNotDone, CellStatus::kDecided, CellStatus::kUndecided, CellStatus::kNoImpact,
        CellStatus::kRefused}) {
    std::string key = to_string(status);
    std::replace(key.begin(), key.end(), ' ', '_');
    s[key] = result.count(status);
  }
  s["measures"] = Json::object();
  const std::vector<MapSummary> summaries = summary(result);
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const MapSummary& m = summaries[i];
    Json& to = s["measures"][plan.measures[i]];
    to = {{"values", m.values}};
    if (m.values == 0) continue;
    to.update({{"min", m.low},
               {"min_at", m.at_low},
               {"max", m.high},
               {"max_at", m.at_high},
               {"mean", m.mean}});
  }
  s["seconds"] = result.seconds;
  return j;
}

std::string csv_head(const Map& map) {
  std::string text = "cell";
  for (const std::string& name : map.plan().names()) text += "," + csv_cell(name);
  for (const std::string& name : map.plan().measures) text += "," + csv_cell(name);
  return text + ",status,why\n";
}

std::string csv_row(const Map& map, std::uint64_t cell, const MapCell& of) {
  std::string text = std::to_string(cell);
  for (const double x : map.parameters(cell)) text += fmt::format(",{}", x);
  // no number: an empty cell, which all readers take for one that is missing
  for (const double x : of.values) text += std::isnan(x) ? "," : fmt::format(",{}", x);
  return text + fmt::format(",{},{}\n", to_string(of.status), csv_cell(of.why));
}

std::string to_csv(const MapResult& result) {
  std::string text = csv_head(*result.map);
  for (std::uint64_t k = 0; k < result.cells.size(); ++k) {
    if (result.cells[k].status != CellStatus::kNotDone)
      text += csv_row(*result.map, k, result.cells[k]);
  }
  return text;
}

}  // namespace routh::io
