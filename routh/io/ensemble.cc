#include "routh/io/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "routh/io/frames.h"
#include "routh/io/gnuplot.h"
#include "routh/io/results.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

using Eigen::VectorXd;

Json groups_json(const std::vector<EnsembleGroup>& groups) {
  Json j = Json::array();
  for (const EnsembleGroup& g : groups)
    j.push_back({{"name", g.name}, {"count", g.count}, {"first", g.first}});
  return j;
}

}  // namespace

Json to_json(const Scenario& scenario, const std::string& method, const Json& method_options,
             const EnsembleOptions& options, const EnsembleResult& result) {
  Json j;
  j["scenario"] = scenario.name;
  j["method"] = method;
  j["parameters"] = Json::object();
  for (const Parameter& p : scenario.parameters) j["parameters"][p.name] = p.value;
  j["options"] = {{"law", options.law},
                  {"runs", options.runs},
                  {"seed", options.seed},
                  {"threads", options.threads}};
  j["options"].update(method_options);
  add_notes(scenario, j);
  j["complete"] = !result.stopped;
  j["incomplete"] = result.stopped;
  j["coordinates"] = scenario.coordinates;
  j["words"] = groups_json(result.words);
  j["final_modes"] = groups_json(result.modes);
  if (!result.reasons.empty()) j["reasons"] = groups_json(result.reasons);
  j["runs"] = Json::array();
  double gain = 0;
  for (const EnsembleRun& run : result.runs) {
    gain = std::max(gain, run.largest_gain);
    j["runs"].push_back(
        {{"index", run.index},
         {"status", to_string(run.status)},
         {"word", run.word},
         {"impacts", run.impacts},
         {"final", {{"time", run.final.time}, {"q", list(run.final.q)}, {"v", list(run.final.v)}}},
         {"energy_start", run.energy_start},
         {"energy_end", run.energy_end}});
    if (!run.message.empty()) j["runs"].back()["message"] = run.message;
  }
  j["summary"] = {{"runs", result.runs.size()},
                  {"stopped", result.early},
                  {"words", result.words.size()},
                  {"max_energy_gain", gain},
                  {"seconds", result.seconds}};
  return j;
}

Json to_json(const Scenario& scenario, const BranchTree& tree) {
  Json j;
  j["scenario"] = scenario.name;
  add_notes(scenario, j);
  j["complete"] = tree.complete;
  j["incomplete"] = !tree.complete;
  j["branches"] = Json::array();
  for (const Branch& b : tree.branches) {
    j["branches"].push_back(
        {{"parent", b.parent},
         {"depth", b.depth},
         {"choice", b.choice},
         {"way", b.way},
         {"ways", b.ways},
         {"outcomes", b.outcomes},
         {"state", {{"time", b.state.time}, {"q", list(b.state.q)}, {"v", list(b.state.v)}}},
         {"final", {{"time", b.final.time}, {"q", list(b.final.q)}, {"v", list(b.final.v)}}},
         {"word", b.word}});
    if (!b.message.empty()) j["branches"].back()["message"] = b.message;
  }
  return j;
}

Table table_of(const Scenario& scenario, const EnsembleResult& result) {
  Counts run, impacts;
  Codes status;
  // all there are, by their numbers
  for (int k = 0; k <= static_cast<int>(SimulationStatus::kEventStorm); ++k)
    status.labels.emplace_back(to_string(static_cast<SimulationStatus>(k)));
  Numbers time, energy;
  Words word, message;
  const std::vector<std::string>& names = scenario.coordinates;
  std::vector<std::string> rates;
  // orientations have more numbers than velocities
  const bool alike = scenario.q.size() == scenario.v.size();
  for (const std::string& name : alike ? names : scenario.velocities)
    rates.push_back((alike ? "d/dt " : "v.") + name);
  std::vector<Numbers> q(names.size()), v(rates.size());
  for (const EnsembleRun& one : result.runs) {
    run.push_back(static_cast<std::int64_t>(one.index));
    status.values.push_back(static_cast<std::uint8_t>(one.status));
    impacts.push_back(one.impacts);
    time.push_back(one.final.time);
    for (std::size_t i = 0; i < q.size(); ++i)
      q[i].push_back(one.final.q[static_cast<Eigen::Index>(i)]);
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i].push_back(one.final.v[static_cast<Eigen::Index>(i)]);
    energy.push_back(one.energy_end);
    word.push_back(one.word), message.push_back(one.message);
  }
  Table table{{"run", std::move(run)},
              {"status", std::move(status)},
              {"impacts", std::move(impacts)},
              {"time", std::move(time)}};
  for (std::size_t i = 0; i < names.size(); ++i) table.push_back({names[i], std::move(q[i])});
  for (std::size_t i = 0; i < rates.size(); ++i) table.push_back({rates[i], std::move(v[i])});
  table.push_back({"energy", std::move(energy)});
  table.push_back({"word", std::move(word)});
  table.push_back({"message", std::move(message)});
  return table;
}

std::string to_csv(const Scenario& scenario, const EnsembleResult& result) {
  const Table table = table_of(scenario, result);
  return csv_head(table) + csv_rows(table);
}

std::vector<std::string> draw(const Scenario& scenario, const EnsembleResult& result,
                              const std::string& name, const std::string& folder) {
  // the coordinate that moves most, and that whose ends differ most besides it
  const auto n = static_cast<int>(scenario.coordinates.size());
  const VectorXd none = VectorXd::Constant(n, HUGE_VAL);
  VectorXd low = none, high = -none, least = none, most_end = -none;
  double end = 0;
  for (const Trajectory& t : result.kept) {
    for (const VectorXd& q : t.q) low = low.cwiseMin(q), high = high.cwiseMax(q);
    if (!t.time.empty()) end = std::max(end, t.time.back());
  }
  for (const EnsembleRun& run : result.runs)
    least = least.cwiseMin(run.final.q), most_end = most_end.cwiseMax(run.final.q);
  const auto largest = [&](const VectorXd& from, const VectorXd& to, int but) {
    int best = but == 0 && n > 1 ? 1 : 0;
    for (int i = 0; i < n; ++i) {
      if (i != but && to[i] - from[i] > to[best] - from[best]) best = i;
    }
    return best;
  };
  const int first = largest(low, high, -1), second = largest(least, most_end, first);
  const char* colours[] = {"#1f5fbf", "#c8281e", "#2a8c4a", "#e8a200", "#7b3fa0", "#00838f"};
  constexpr std::size_t kColours = 6;
  const auto colour_of = [&](const std::string& mode) {
    for (std::size_t k = 0; k < result.modes.size(); ++k) {
      if (result.modes[k].name == mode) return std::min(k, kColours - 1);
    }
    return kColours - 1;
  };

  const auto at_the_end = [&](int i) {
    const std::string unit = unit_of(scenario.coordinates[i], false);
    return scenario.coordinates[i] + " at the end" + (unit.empty() ? "" : " [" + unit + "]");
  };

  return render(folder, name, [&](const std::string& terminal) {
    const std::size_t most = terminal != "pngcairo" ? 60 : result.kept.size();
    std::string text = fmt::format(
        "set terminal {} size 1180,470 font 'Helvetica,12' noenhanced\nset encoding utf8\n",
        terminal);
    // blocks by final mode: the fan, and the ends
    for (std::size_t c = 0; c < kColours; ++c) {
      text += fmt::format("$fan{} << EOD\n", c);
      for (std::size_t k = 0; k < result.kept.size() && k < most; ++k) {
        const Trajectory& t = result.kept[k];
        if (t.time.empty() || colour_of(result.runs[k].final_mode) != c) continue;
        for (std::size_t i = 0; i < t.time.size(); ++i)
          text += fmt::format("{:.6g} {:.6g}\n", t.time[i], t.q[i][first]);
        text += "\n";
      }
      text += fmt::format("EOD\n$ends{} << EOD\n", c);
      for (const EnsembleRun& run : result.runs) {
        if (colour_of(run.final_mode) == c)
          text += fmt::format("{:.6g} {:.6g}\n", run.final.q[first], run.final.q[second]);
      }
      text += "EOD\n";
    }
    text += fmt::format(
        "set multiplot layout 1,2 title {} font ',15'\nset border 3 lw 1.2\nset tics nomirror\n"
        "set tmargin 5\nset key at graph 0, graph 1.02 bottom left Left reverse samplen 1.5\n"
        "set xlabel 'time [s]'\nset ylabel {}\nset xrange [0:{:.6g}]\nplot ",
        gnuplot_text(scenario.title.substr(0, scenario.title.find(" (P"))),
        gnuplot_text(with_unit(scenario.coordinates[first], false)), end > 0 ? end : 1);
    const std::size_t shown = std::min(kColours, result.modes.size());
    for (std::size_t c = 0; c < shown; ++c)
      text += fmt::format("{}$fan{} w l lw 0.8 lc rgb '{}' notitle", c ? ", " : "", c, colours[c]);
    text += fmt::format("\nset xlabel {}\nset ylabel {}\n", gnuplot_text(at_the_end(first)),
                        gnuplot_text(at_the_end(second)));
    // ends that agree keep a visible scale
    const auto scale = [&](const char* axis, int i, double pixels) {
      const double width =
          std::max(1.1 * (most_end[i] - least[i]), 0.05 * (high[i] - low[i]) + 1e-6);
      const double from = 0.5 * (least[i] + most_end[i] - width), to = from + width;
      text += fmt::format("set {0}range [{1:.6g}:{2:.6g}]\nset {0}tics {3:.6g}\n", axis, from, to,
                          tick(from, to, pixels, *axis == 'x'));
    };
    scale("x", first, 440);
    scale("y", second, 330);
    text += "plot ";
    for (std::size_t c = 0; c < shown; ++c)
      text += fmt::format(
          "{}$ends{} w p pt 7 ps 0.6 lc rgb '{}' title {}", c ? ", " : "", c, colours[c],
          gnuplot_text(fmt::format("{}: {} runs", result.modes[c].name, result.modes[c].count)));
    return text + "\nunset multiplot\n";
  });
}

}  // namespace routh::io
