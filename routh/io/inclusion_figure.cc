#include <fmt/format.h>

#include <algorithm>

#include "routh/io/frames.h"
#include "routh/io/gnuplot.h"
#include "routh/io/motion.h"

namespace routh::io {
namespace {

/// The coordinate that moves most; angles first among those that move much.
int most_moved(const InclusionPath& path, const std::vector<std::string>& names) {
  int best = 0;
  double most = 0;
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const Eigen::VectorXd& q : path.q) low = std::min(low, q[i]), high = std::max(high, q[i]);
    const bool angle = names[i].ends_with(".angle");
    const double range = (high - low) * (angle ? 3 : 1);
    if (range > most) most = range, best = i;
  }
  return best;
}

}  // namespace

Json to_json(const InclusionPath& path) {
  const auto lists = [](const std::vector<Eigen::VectorXd>& vs) {
    Json j = Json::array();
    for (const Eigen::VectorXd& v : vs) j.push_back(list(v));
    return j;
  };
  Json j{{"s", path.s},        {"t", path.t},       {"q", lists(path.q)},
         {"v", lists(path.v)}, {"rate", path.rate}, {"normal_rate", lists(path.normal_rate)}};
  if (path.zeno >= 0) j["zeno"] = path.zeno;
  return j;
}

std::vector<std::string> draw(const Scenario& scenario, const InclusionPath& path,
                              const std::string& name, const std::string& folder) {
  const int i = most_moved(path, scenario.coordinates);
  const std::string& coordinate = scenario.coordinates[i];
  Series q_of_t, v_of_t, q_of_s, v_of_s, rate;
  std::vector<Series> normal(scenario.terms.contacts.size());
  for (std::size_t k = 0; k < path.s.size(); ++k) {
    q_of_t.emplace_back(path.t[k], path.q[k][i]), v_of_t.emplace_back(path.t[k], path.v[k][i]);
    q_of_s.emplace_back(path.s[k], path.q[k][i]), v_of_s.emplace_back(path.s[k], path.v[k][i]);
    if (k + 1 == path.s.size()) break;
    // rates are constant on a piece
    for (const double s : {path.s[k], path.s[k + 1]}) {
      rate.emplace_back(s, path.rate[k]);
      for (std::size_t c = 0; c < normal.size(); ++c)
        normal[c].emplace_back(s, path.normal_rate[k][c]);
    }
  }
  const char* colours[] = {"#1f5fbf", "#c8281e", "#2a8c4a", "#e8a200", "#7b3fa0", "#00838f"};
  return render(folder, name, [&](const std::string& terminal) {
    std::string text = fmt::format(
        "set terminal {} size 1380,470 font 'Helvetica,12' noenhanced\nset encoding utf8\n",
        terminal);
    text += curve_block("qt", q_of_t) + curve_block("vt", v_of_t) + curve_block("qs", q_of_s) +
            curve_block("vs", v_of_s) + curve_block("rate", rate);
    for (std::size_t c = 0; c < normal.size(); ++c)
      text += curve_block(fmt::format("n{}", c), normal[c]);
    text += fmt::format(
        "set multiplot layout 1,3 title {} font ',15'\nset border 3 lw 1.2\nset tics nomirror\n"
        "set tmargin 5.5\nset lmargin 9\nset rmargin 3\nset grid lc rgb '#e8e8e8'\n"
        "set key at graph 0, graph 1.03 bottom left vertical maxrows 2 Left reverse samplen 2\n",
        gnuplot_text(scenario.title.substr(0, scenario.title.find(" (P"))));
    const std::string unit = unit_of(coordinate, false), speed = unit_of(coordinate, true);
    const std::string axis =
        unit.empty() ? "" : fmt::format("set ylabel '[{}], [{}]' offset 1\n", unit, speed);
    const auto panel = [&](const char* label, const char* q, const char* v, double end) {
      text += fmt::format(
          "{}set xlabel '{}'\nset xrange [0:{}]\nplot ${} w l lw 2 lc rgb '{}' title {}, ${} w l "
          "lw 2 lc rgb '{}' title {}\n",
          axis, label, end, q, colours[0], gnuplot_text(with_unit(coordinate, false)), v,
          colours[1], gnuplot_text("d/dt " + with_unit(coordinate, true)));
    };
    panel("time t(s) [s]", "qt", "vt", path.t.back());
    panel("s [s + N s]", "qs", "vs", path.s.back());
    text +=
        "set xlabel 's [s + N s]'\nset ylabel 'rates over s [1]' offset 1\nset yrange [0:1.05]\n"
        "plot $rate w l lw 1.6 lc rgb '#555555' title 'time'";
    for (std::size_t c = 0; c < normal.size() && c < 5; ++c)
      text += fmt::format(", $n{} w l lw 1.6 lc rgb '{}' title {}", c, colours[c],
                          gnuplot_text("impulse of " + scenario.terms.contacts[c].name));
    return text + "\nunset multiplot\n";
  });
}

}  // namespace routh::io
