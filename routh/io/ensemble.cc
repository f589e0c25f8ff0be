#include "routh/io/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

std::string to_csv(const Scenario& scenario, const EnsembleResult& result) {
  std::string text = "run,status,impacts,time";
  for (const std::string& name : scenario.coordinates) text += fmt::format(",{}", csv_cell(name));
  for (const std::string& name : scenario.coordinates)
    text += fmt::format(",{}", csv_cell("d/dt " + name));
  text += ",energy,word,message\n";
  for (const EnsembleRun& run : result.runs) {
    text +=
        fmt::format("{},{},{},{}", run.index, to_string(run.status), run.impacts, run.final.time);
    for (const double x : run.final.q) text += fmt::format(",{}", x);
    for (const double x : run.final.v) text += fmt::format(",{}", x);
    text += fmt::format(",{},{},{}\n", run.energy_end, csv_cell(run.word), csv_cell(run.message));
  }
  return text;
}

std::vector<std::string> draw(const Scenario& scenario, const EnsembleResult& result,
                              const std::string& name, const std::string& folder) {
  // the two coordinates that end most differently
  const auto n = static_cast<int>(scenario.coordinates.size());
  VectorXd low = VectorXd::Constant(n, HUGE_VAL), high = -low;
  for (const Trajectory& t : result.kept) {
    for (const VectorXd& q : t.q) low = low.cwiseMin(q), high = high.cwiseMax(q);
  }
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return high[a] - low[a] > high[b] - low[b]; });
  const int first = order[0], second = order[std::min(1, n - 1)];
  const char* colours[] = {"#1f5fbf", "#c8281e", "#2a8c4a", "#e8a200", "#7b3fa0", "#00838f"};
  constexpr std::size_t kColours = 6;
  const auto colour_of = [&](const std::string& mode) {
    for (std::size_t k = 0; k < result.modes.size(); ++k) {
      if (result.modes[k].name == mode) return std::min(k, kColours - 1);
    }
    return kColours - 1;
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
        "set key top left Left reverse samplen 1.5\nset xlabel 'time [s]'\nset ylabel {}\nplot ",
        gnuplot_text(scenario.title.substr(0, scenario.title.find(" (P"))),
        gnuplot_text(scenario.coordinates[first]));
    const std::size_t shown = std::min(kColours, result.modes.size());
    for (std::size_t c = 0; c < shown; ++c)
      text += fmt::format("{}$fan{} w l lw 0.8 lc rgb '{}' notitle", c ? ", " : "", c, colours[c]);
    text += fmt::format("\nset xlabel {}\nset ylabel {}\n",
                        gnuplot_text(scenario.coordinates[first] + " at the end"),
                        gnuplot_text(scenario.coordinates[second] + " at the end"));
    // ends that agree keep a visible scale
    const auto scale = [&](const char* axis, int i) {
      double least = HUGE_VAL, greatest = -HUGE_VAL;
      for (const EnsembleRun& run : result.runs)
        least = std::min(least, run.final.q[i]), greatest = std::max(greatest, run.final.q[i]);
      const double width = std::max(1.1 * (greatest - least), 0.05 * (high[i] - low[i]) + 1e-6);
      const double middle = 0.5 * (least + greatest);
      text += fmt::format("set {}range [{:.6g}:{:.6g}]\n", axis, middle - width / 2,
                          middle + width / 2);
    };
    scale("x", first);
    scale("y", second);
    text += "plot ";
    for (std::size_t c = 0; c < shown; ++c)
      text += fmt::format(
          "{}$ends{} w p pt 7 ps 0.6 lc rgb '{}' title {}", c ? ", " : "", c, colours[c],
          gnuplot_text(fmt::format("{}: {} runs", result.modes[c].name, result.modes[c].count)));
    return text + "\nunset multiplot\n";
  });
}

}  // namespace routh::io
