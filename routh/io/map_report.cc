#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "routh/io/map.h"
#include "routh/io/text.h"
#include "routh/simulate/laws.h"

namespace routh::io {

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
  if (plan.device.name != "cpu") {
    options["device"] = plan.device.name;
    j["device"] = plan.device.walks ? plan.device.walks->name() : "cpu";
    if (!map.device_trouble().empty()) j["device_trouble"] = map.device_trouble();
  }
  if (!plan.draw.empty()) options["points"] = plan.points;

  j["parameters"] = Json::array();
  for (const MapRange& range : plan.vary)
    j["parameters"].push_back(
        {{"name", range.name}, {"from", range.from}, {"to", range.to}, {"count", range.count}});
  for (const MapDraw& draw : plan.draw)
    j["parameters"].push_back({{"name", draw.name}, {"draw", draw.text()}});
  const std::vector<std::string> about = map.about();
  for (std::size_t i = 0; i < about.size(); ++i) j["about"][plan.measures[i]] = about[i];
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
  s["cells"] = map.size();
  for (const CellStatus status :
       {CellStatus::kNotDone, CellStatus::kDecided, CellStatus::kUndecided, CellStatus::kNoImpact,
        CellStatus::kRefused}) {
    std::string key = to_string(status);
    std::replace(key.begin(), key.end(), ' ', '_');
    s[key] = result.count(status);
  }
  s["measures"] = Json::object();
  for (std::size_t i = 0; i < result.totals.measures.size(); ++i) {
    const MapSummary& m = result.totals.measures[i];
    Json& to = s["measures"][plan.measures[i]];
    to = {{"values", m.values}};
    if (m.values == 0) continue;
    to.update({{"min", m.low},
               {"min_at", m.at_low},
               {"max", m.high},
               {"max_at", m.at_high},
               {"mean", m.mean()}});
  }
  s["seconds"] = result.seconds;
  return j;
}

Table table_of(const Map& map, std::uint64_t first, const std::vector<MapCell>& cells) {
  const std::vector<std::string> names = map.plan().names(), &measures = map.plan().measures;
  Counts numbers;
  Codes status;
  for (int k = 0; k < 5; ++k) status.labels.emplace_back(to_string(static_cast<CellStatus>(k)));
  Words why;
  std::vector<Numbers> values(names.size() + measures.size());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const MapCell& cell = cells[k];
    if (cell.status == CellStatus::kNotDone) continue;
    numbers.push_back(static_cast<std::int64_t>(first + k));
    const std::vector<double> at = map.parameters(first + k);
    for (std::size_t i = 0; i < at.size(); ++i) values[i].push_back(at[i]);
    for (std::size_t i = 0; i < measures.size(); ++i)
      values[names.size() + i].push_back(cell.values[i]);
    status.values.push_back(static_cast<std::uint8_t>(cell.status));
    why.push_back(cell.why);
  }
  Table table{{"cell", std::move(numbers)}};
  for (std::size_t i = 0; i < names.size(); ++i) table.push_back({names[i], std::move(values[i])});
  for (std::size_t i = 0; i < measures.size(); ++i)
    table.push_back({measures[i], std::move(values[names.size() + i])});
  table.push_back({"status", std::move(status)});
  table.push_back({"why", std::move(why)});
  return table;
}

std::string to_csv(const MapResult& result) {
  const Table table = table_of(*result.map, 0, result.cells);
  return csv_head(table) + csv_rows(table);
}

}  // namespace routh::io
