#include "routh/io/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "routh/io/drawing.h"
#include "routh/io/gnuplot.h"
#include "routh/io/model_sketches.h"
#include "routh/io/planar_sketches.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr const char* kTeal = "#35b0a0";
constexpr std::size_t kMostPaths = 12;  // drawn of one law
constexpr const char* kPink = "#d6006c";
constexpr double kStretch = 1.7;         // of a panel's range, for another simulator's outcome
constexpr double kPanel[] = {330, 300};  // what is left of a panel for its axes, in pixels

/// One coordinate of contact space with its label.
struct Axis {
  int index;
  std::string label;
  double per = 1;  ///< of the unit that is drawn, in one m/s
};
struct Panel {
  Axis x, y;
};

Axis normal_axis(const ImpactCase& impact, int i) {
  return {i, fmt::format("normal velocity of {}", short_names(impact)[i])};
}
Axis tangent_axis(const ImpactCase& impact, int i) {
  return {impact.problem().tangent(i), fmt::format("tangential velocity of {}", impact.names[i])};
}

/// Two contacts: A, the normals, B, as in P1's figures. More: pairs of normals, then single
/// contacts.
std::vector<Panel> panels_of(const ImpactCase& impact) {
  const int m = impact.problem().contacts();
  const auto own = [&](int i) { return Panel{tangent_axis(impact, i), normal_axis(impact, i)}; };
  const auto pair = [&](int i, int j) {
    return Panel{normal_axis(impact, i), normal_axis(impact, j)};
  };
  if (m == 1) return {own(0)};
  if (m == 2) return {own(0), pair(0, 1), own(1)};
  std::vector<Panel> panels;
  for (int i = 0; i + 1 < m && i < 4; i += 2) panels.push_back(pair(i, i + 1));
  for (int i = 0; i < m && panels.size() < 6; i += i + 1 < m ? 2 : 1) panels.push_back(own(i));
  return panels;
}

/// How much each contact velocity varies over everything that can come out.
VectorXd spread_of(const ImpactCase& impact, const ImpactFigure& figure) {
  VectorXd low = impact.problem().c, high = low;
  bool first = true;
  const auto include = [&](const VectorXd& c) {
    low = first ? c : VectorXd(low.cwiseMin(c)), high = first ? c : VectorXd(high.cwiseMax(c));
    first = false;
  };
  for (const OutcomeRow& row : figure.laws) include(row.outcome.c_plus);
  for (std::size_t k = 0; figure.set && k < figure.set->kept.size(); ++k) {
    if (figure.set->kept[k].terminated) include(figure.set->kept[k].outcome.c_plus);
  }
  for (const Polytope& piece : figure.exact) {
    for (const VectorXd& c : piece.corners) include(c);
  }
  // one outcome alone: how it differs from what was before
  const VectorXd spread = high - low;
  const bool single = spread.maxCoeff() <= 1e-9 * impact.problem().c.lpNorm<Eigen::Infinity>();
  return single ? VectorXd((high - impact.problem().c).cwiseAbs()) : spread;
}

/// In space: the normals of the two contacts that vary most, and how the two that vary most slip.
std::vector<Panel> panels_in_space(const ImpactCase& impact, const VectorXd& spread) {
  const ImpactProblem& p = impact.problem();
  const auto slip = [&](int i) {
    const auto axis = [&](int k) {
      return Axis{p.tangent(i) + k,
                  fmt::format("slip of {}, tangent {}", short_names(impact)[i], k + 1)};
    };
    return Panel{axis(0), axis(1)};
  };
  std::vector<int> order(p.contacts());
  std::iota(order.begin(), order.end(), 0);
  const auto first_two = [&](auto size) {
    std::vector<int> sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int a, int b) { return size(a) > size(b) * (1 + 1e-6); });
    // the second rather between other bodies
    const auto pair = [&](int i) {
      return impact.scenario.terms.contacts[impact.reduced.contacts[i]].pair;
    };
    const auto other = std::find_if(sorted.begin(), sorted.end(), [&](int i) {
      return pair(i) != pair(sorted[0]) && size(i) > 0.2 * size(sorted[0]);
    });
    if (other != sorted.end()) std::swap(sorted[1], *other);
    if (sorted.size() > 2) sorted.resize(2);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  std::vector<Panel> panels;
  const std::vector<int> normals = first_two([&](int i) { return spread[i]; });
  const std::vector<int> slips =
      first_two([&](int i) { return spread.segment(p.tangent(i), 2).norm(); });
  if (normals.size() == 2)
    panels.push_back({normal_axis(impact, normals[0]), normal_axis(impact, normals[1])});
  else
    panels.push_back({{p.tangent(0), slip(0).x.label}, normal_axis(impact, 0)});
  for (const int i : slips) panels.push_back(slip(i));
  return panels;
}

/// A named gnuplot data block: polylines or points of contact velocities, projected.
std::string block(const std::string& name, const std::vector<std::vector<VectorXd>>& lines,
                  const Panel& panel) {
  std::string text = fmt::format("${} << EOD\n", name);
  for (const auto& line : lines) {
    for (const VectorXd& c : line) {
      // adding zero turns a negative zero into zero
      text += fmt::format("{:.6g} {:.6g}\n", panel.x.per * c[panel.x.index] + 0.0,
                          panel.y.per * c[panel.y.index] + 0.0);
    }
    text += '\n';
  }
  return text + "EOD\n";
}

/// What the panels show, chosen once for all of them.
struct Content {
  std::vector<std::vector<VectorXd>> light;  ///< sampled paths
  std::vector<VectorXd> dark;                ///< sampled outcomes
  std::vector<Polytope> exact;
  bool bracket = false;
  struct Law {
    std::string colour, label;
    std::vector<std::vector<VectorXd>> paths;
  };
  std::vector<Law> laws;
  std::vector<Marked> marks;      ///< outcomes with letters, of models
  std::optional<VectorXd> other;  ///< of another simulator
  std::string other_name;
};

Content content_of(const ImpactCase& impact, const ImpactFigure& figure, std::size_t most) {
  Content content;
  content.exact = figure.exact;
  content.bracket = figure.bracket;
  content.other = figure.other;
  content.other_name = figure.other_name;
  if (impact.scenario.model()) content.marks = marked_outcomes(impact, figure);
  if (figure.set) {
    std::size_t points = 0;
    for (const auto& path : figure.set->paths) {
      if (content.light.size() >= most / (impact.scenario.model() ? 64 : 4) || points > 10 * most)
        break;
      content.light.push_back(path);
      points += path.size();
    }
    for (const SetSample& sample : figure.set->kept) {
      if (sample.terminated && content.dark.size() < most)
        content.dark.push_back(sample.outcome.c_plus);
    }
  }
  Colours colours;
  for (const OutcomeRow& row : figure.laws) {
    if (row.path.empty()) continue;
    // orders of many contacts with long names: one entry for all, as of a law without orders
    std::string title = row.laws.front();
    if (row.order && !impact.scenario.model()) {
      std::string order = order_text(impact, *row.order);
      if (row.order->size() > 8)
        order = fmt::format("{} .. ({} impacts)", order.substr(0, 11), row.order->size());
      title += " " + order;
    }
    const auto known = std::find_if(content.laws.begin(), content.laws.end(),
                                    [&](const Content::Law& law) { return law.label == title; });
    if (known != content.laws.end()) {
      known->paths.push_back(row.path);
    } else if (colours.left(row)) {
      content.laws.push_back({colours.next(row), title, {row.path}});
    }
  }
  return content;
}

/// Range of one coordinate over everything shown, with a margin; where a model has several outcomes
/// over these alone, which are near to each other compared with where they come from. A coordinate
/// that never changes gets a tenth of the speed, so that rounding does not fill its panel. Another
/// simulator's outcome is in it unless it would squash the rest.
std::pair<double, double> range_of(const ImpactCase& impact, const Content& content, int index) {
  const bool near = content.marks.size() > 1;
  double low = near ? 0 : std::min(0.0, impact.problem().c[index]);
  double high = near ? 0 : std::max(0.0, impact.problem().c[index]);
  const auto include = [&](const std::vector<VectorXd>& list) {
    for (const VectorXd& c : list) low = std::min(low, c[index]), high = std::max(high, c[index]);
  };
  for (const auto& path : content.light) include(near ? std::vector{path.back()} : path);
  for (const Content::Law& law : content.laws) {
    for (const auto& path : law.paths) include(near ? std::vector{path.back()} : path);
  }
  include(content.dark);
  for (const Polytope& piece : content.exact) include(piece.corners);
  const double speed = impact.problem().c.lpNorm<Eigen::Infinity>();
  if (content.other) {
    const double x = (*content.other)[index];
    const double own = std::max(high - low, 1e-6 * speed);
    if (std::max(high, x) - std::min(low, x) <= kStretch * own) include({*content.other});
  }
  const double margin = high - low > 1e-6 * speed ? 0.06 * (high - low) : 0.05 * speed;
  return {low - margin, high + margin};
}

/// Drawn in thousandths where numbers are so small that their labels would be long.
void choose_units(const ImpactCase& impact, const Content& content, std::vector<Panel>& panels) {
  for (Panel& panel : panels) {
    for (Axis* axis : {&panel.x, &panel.y}) {
      const auto [low, high] = range_of(impact, content, axis->index);
      const double most = std::max(std::abs(low), std::abs(high));
      constexpr const char* kUnits[] = {"m/s", "mm/s", "\xC2\xB5m/s"};
      int unit = 0;
      for (; unit < 2 && most * axis->per < 0.01; ++unit) axis->per *= 1e3;
      axis->label += fmt::format(" [{}]", kUnits[unit]);
    }
  }
}

/// Corners of the convex hull of a projected piece, counter-clockwise.
std::vector<Vector2d> projected_hull(const Polytope& piece, const Panel& panel) {
  std::vector<Vector2d> points;
  for (const VectorXd& c : piece.corners) points.emplace_back(c[panel.x.index], c[panel.y.index]);
  return convex_hull(std::move(points));
}

/// The exact set as filled outlines; $points: the corners of pieces that are so small in this panel
/// that markers would hide them.
std::string exact_block(const Content& content, const Panel& panel, const Vector2d& size) {
  std::string text = "$exact << EOD\n", points = "$points << EOD\n";
  for (const Polytope& piece : content.exact) {
    const std::vector<Vector2d> hull = projected_hull(piece, panel);
    Vector2d low = hull.front(), high = low;
    for (const Vector2d& p : hull) low = low.cwiseMin(p), high = high.cwiseMax(p);
    const Vector2d per(panel.x.per, panel.y.per);
    const auto row = [&](const Vector2d& p) {
      return fmt::format("{:.7g} {:.7g}\n", per.x() * p.x() + 0.0, per.y() * p.y() + 0.0);
    };
    if (((high - low).array() < 0.05 * size.array()).all()) {
      for (const Vector2d& p : hull) points += row(p);
    }
    for (std::size_t k = 0; k <= hull.size(); ++k) text += row(hull[k % hull.size()]);
    text += '\n';
  }
  return text + "EOD\n" + points + "EOD\n";
}

/// Another simulator's outcome: a star, or at the border an arrow towards it with its value.
void mark_other(const Content& content, const Panel& panel, const Vector2d& low,
                const Vector2d& high, std::string& data, std::string& plot) {
  const Vector2d at(panel.x.per * (*content.other)[panel.x.index],
                    panel.y.per * (*content.other)[panel.y.index]);
  const Vector2d part = (at - low).cwiseQuotient(high - low);
  if ((part.array() >= 0).all() && (part.array() <= 1).all()) {
    data += fmt::format("$other << EOD\n{:.6g} {:.6g}\nEOD\n", at.x(), at.y());
    plot += fmt::format(", $other w p pt 3 ps 1.8 lw 2.5 lc rgb '{}' notitle", kPink);
    return;
  }
  const Vector2d tip = part.cwiseMax(0.02).cwiseMin(0.98);
  Vector2d way(part.x() < 0 ? -1 : part.x() > 1 ? 1 : 0, part.y() < 0 ? -1 : part.y() > 1 ? 1 : 0);
  way *= 0.12 / way.norm();
  const Vector2d from = tip - way;
  data += fmt::format(
      "set arrow 90 from graph {:.4f},graph {:.4f} to graph {:.4f},graph {:.4f} front lw 2.5 lc "
      "rgb "
      "'{}'\nset label 90 {} at graph 1,graph 1.03 right front tc rgb '{}' font ',10'\n",
      from.x(), from.y(), tip.x(), tip.y(), kPink,
      gnuplot_text(fmt::format("{} at {:.3g}, {:.3g}", content.other_name, at.x(), at.y())), kPink);
}

std::string velocity_panel(const ImpactCase& impact, const Content& content, const Panel& panel) {
  const auto x = range_of(impact, content, panel.x.index);
  const auto y = range_of(impact, content, panel.y.index);
  std::string data = "unset arrow 90\nunset label 90\n" + block("light", content.light, panel) +
                     block("dark", {content.dark}, panel) +
                     block("before", {{impact.problem().c}}, panel);
  std::string plot = "plot ";
  if (!content.light.empty()) plot += "$light w l lw 0.6 lc rgb '#d5d5d5' notitle, ";
  if (!content.exact.empty()) {
    data += exact_block(content, panel, {x.second - x.first, y.second - y.first});
    plot += fmt::format(
        "$exact w filledcurves closed fc rgb '{0}' fs transparent solid 0.35 noborder notitle, "
        "$exact w l lw 7 lc rgb '{0}' notitle, $points w p pt 7 ps 2.4 lc rgb '{0}' notitle, ",
        kTeal);
  }
  for (std::size_t k = 0; k < content.laws.size(); ++k) {
    const Content::Law& law = content.laws[k];
    std::vector<VectorXd> ends;
    for (const auto& path : law.paths) ends.push_back(path.back());
    data += block(fmt::format("law{}", k), law.paths, panel) +
            block(fmt::format("end{}", k), {ends}, panel);
    // later laws are thinner, so that what they cover shows
    // of very many the ends alone
    const bool lines = law.paths.size() <= kMostPaths;
    if (lines) {
      plot += fmt::format("$law{0} w l lw {2} lc rgb '{1}' notitle, ", k, law.colour,
                          k == 0 ? 3.5 : 2.0);
    }
    plot +=
        fmt::format("$end{} w p pt 7 ps {} lc rgb '{}' notitle, ", k,
                    lines ? std::max(0.7, 1.5 - 0.3 * static_cast<double>(k)) : 0.6, law.colour);
  }
  // above what laws say, so that single outcomes show
  if (!content.dark.empty()) plot += "$dark w p pt 7 ps 0.25 lc rgb '#4a4a4a' notitle, ";
  plot += "$before w p pt 6 ps 1.5 lw 2 lc rgb 'black' notitle";
  const Vector2d low(panel.x.per * x.first, panel.y.per * y.first);
  const Vector2d high(panel.x.per * x.second, panel.y.per * y.second);
  if (content.other) mark_other(content, panel, low, high, data, plot);
  // letters in different directions, because outcomes often coincide in a panel
  constexpr const char* kOffsets[] = {"0.9,0.7", "-0.9,0.7", "0.9,-0.7"};
  for (std::size_t k = 0; k < content.marks.size(); ++k) {
    data += block(fmt::format("mark{}", k), {{content.marks[k].c_plus}}, panel);
    plot += fmt::format(", $mark{} u 1:2:({}) w labels font ',15' offset {} notitle", k,
                        gnuplot_text(content.marks[k].letter), kOffsets[k % 3]);
  }
  plot += '\n';
  // long names in smaller letters
  const auto label = [](const std::string& text) {
    return fmt::format("{} font ',{}'", gnuplot_text(text),
                       text.size() <= 40   ? 12
                       : text.size() <= 48 ? 10
                                           : 8);
  };
  return fmt::format(
      "{}set xlabel {}\nset ylabel {}\nset xrange [{}:{}]\nset yrange [{}:{}]\n"
      "set xtics nomirror {}\nset ytics nomirror {}\n{}unset arrow 90\nunset label 90\n",
      data, label(panel.x.label), label(panel.y.label), low.x(), high.x(), low.y(), high.y(),
      tick(low.x(), high.x(), kPanel[0], true), tick(low.y(), high.y(), kPanel[1], false), plot);
}

/// What a legend explains.
struct Entry {
  std::string style, title;
};

/// Of what can be seen in the panels.
std::vector<Entry> entries_of(const ImpactCase& impact, const ImpactFigure& figure,
                              const Content& content, const std::vector<Panel>& panels) {
  std::vector<Entry> entries;
  // panels near the outcomes may leave out where they come from
  const bool before = std::any_of(panels.begin(), panels.end(), [&](const Panel& panel) {
    const auto inside = [&](int index) {
      const auto [low, high] = range_of(impact, content, index);
      return low <= impact.problem().c[index] && impact.problem().c[index] <= high;
    };
    return inside(panel.x.index) && inside(panel.y.index);
  });
  if (before) entries.push_back({"p pt 6 ps 1.5 lw 2 lc rgb 'black'", "before"});
  if (impact.scenario.mechanism())
    entries.push_back({"l lw 1.2 lc rgb '#b5b5b5'", "at the impact"});
  if (!content.light.empty()) entries.push_back({"l lw 4 lc rgb '#d5d5d5'", "during"});
  if (!content.exact.empty())
    entries.push_back({fmt::format("l lw 6 lc rgb '{}'", kTeal),
                       content.bracket ? "contains the set" : "exact set"});
  if (!content.dark.empty())
    entries.push_back({"p pt 7 ps 1.2 lc rgb '#4a4a4a'", "outcomes (set)"});
  for (const Content::Law& law : content.laws)
    entries.push_back({fmt::format("lp pt 7 lw 2.2 lc rgb '{}'", law.colour), law.label});
  if (content.other)
    entries.push_back({fmt::format("p pt 3 ps 1.8 lw 2.5 lc rgb '{}'", kPink), figure.other_name});
  return entries;
}

/// How high a legend is in pixels: as many entries side by side as fit, all as wide as the longest.
/// gnuplot gives each letter the width of a digit, and leaves out what does not fit.
double legend_height(const std::vector<Entry>& entries, double width) {
  constexpr double kLetter = 10.2, kSample = 70, kRow = 17;
  std::size_t longest = 0;
  for (const Entry& entry : entries) longest = std::max(longest, entry.title.size());
  const double each = kLetter * static_cast<double>(longest) + kSample;
  const double columns = std::max(1.0, std::floor(width / each));
  return 12 + kRow * std::ceil(static_cast<double>(entries.size()) / columns);
}

/// The whole figure: sketches above, velocities below, one legend at the foot.
std::string script(const ImpactCase& impact, const ImpactFigure& figure, const Content& content,
                   const std::optional<ModelSketches>& in_space, const std::string& terminal) {
  const bool model = impact.scenario.model() != nullptr;
  std::vector<Panel> panels = impact.problem().tangents == 2
                                  ? panels_in_space(impact, spread_of(impact, figure))
                                  : panels_of(impact);
  choose_units(impact, content, panels);
  const int columns = panels.size() <= 3 ? static_cast<int>(panels.size()) : 3;
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;
  const double width = std::max(700, 440 * columns);
  const bool planar = impact.scenario.mechanism() != nullptr;
  const PlanarSketches sketches =
      planar ? planar_sketches(impact, figure) : PlanarSketches{.all = {}, .low = {}, .high = {}};
  // as high as they are drawn
  const auto height_of = [&](double aspect, std::size_t count, double least, double most) {
    return std::clamp(width / static_cast<double>(count) / aspect + 26, least, most);
  };
  const double sketch_height = planar  ? height_of(sketches.aspect(), sketches.all.size(), 80, 210)
                               : model ? height_of(in_space->aspect(), in_space->q.size(), 100, 380)
                                       : 0;
  const std::vector<Entry> entries = entries_of(impact, figure, content, panels);
  const double panel_height = 380, legend = legend_height(entries, width), heading = 40;
  const double height = sketch_height + rows * panel_height + legend + heading;

  std::string text = fmt::format(
      "set terminal {} size {:.0f},{:.0f} font 'Helvetica,12' noenhanced\nset encoding utf8\n"
      "set clip one\nset clip two\nset multiplot title {} font ',15'\nset border lw 1.2\n"
      "set tics nomirror\n",
      terminal, width, height, gnuplot_text(figure.title.substr(0, figure.title.find(" ("))));

  if (planar) text += sketch_row(impact, sketches, {width, height}, heading, sketch_height);
  if (in_space)
    text += sketch_row(impact, *in_space, {height, heading, sketch_height, segments_of(terminal)});

  // contact velocities
  text +=
      "unset key\nset border 3\nset xzeroaxis lw 1 lc rgb '#bbbbbb' dt 2\nset yzeroaxis lw 1 lc "
      "rgb '#bbbbbb' dt 2\n";
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const int row = static_cast<int>(k) / columns, column = static_cast<int>(k) % columns;
    text += fmt::format("set origin {},{}\nset size {},{}\n", column / static_cast<double>(columns),
                        (legend + (rows - 1 - row) * panel_height) / height, 1.0 / columns,
                        panel_height / height);
    text += velocity_panel(impact, content, panels[k]);
  }

  // legend
  text += fmt::format(
      "set origin 0,0\nset size 1,{}\nunset border\nunset tics\nunset xlabel\nunset ylabel\n"
      "unset xzeroaxis\nunset yzeroaxis\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin "
      "0\n"
      "set key center center horizontal Left reverse samplen 2 width 1\nset xrange [0:1]\nset "
      "yrange [0:1]\nplot NaN notitle",
      legend / height);
  for (const Entry& entry : entries)
    text += fmt::format(", NaN w {} title {}", entry.style, gnuplot_text(entry.title));
  return text + "\nunset multiplot\n";
}

}  // namespace

std::vector<std::string> draw(const ImpactCase& impact, const ImpactFigure& figure,
                              const std::string& folder) {
  std::optional<ModelSketches> in_space;
  // SVG and PDF keep every line: fewer of them
  return render(folder, figure.name, [&](const std::string& terminal) {
    const std::size_t most = terminal != "pngcairo" ? 3000 : 20000;
    const Content content = content_of(impact, figure, most);
    if (impact.scenario.model() && !in_space) in_space = sketch(impact, content.marks);
    return script(impact, figure, content, in_space, terminal);
  });
}

}  // namespace routh::io
