#include "routh/io/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "routh/impact/same_outcome.h"
#include "routh/io/document.h"
#include "routh/io/drawing.h"
#include "routh/io/gnuplot.h"
#include "routh/io/model_sketches.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr const char* kTeal = "#35b0a0";
constexpr const char* kPlain = "#555555";  // of a law that has no colour
constexpr std::size_t kMostPaths = 12;     // drawn of one law
constexpr const char* kOther = "pt 3 ps 1.8 lw 2.5 lc rgb '#d6006c'";

/// One coordinate of contact space with its label.
struct Axis {
  int index;
  std::string label;
};
struct Panel {
  Axis x, y;
};

Axis normal_axis(const ImpactCase& impact, int i) {
  return {i, fmt::format("normal velocity of {} [m/s]", short_names(impact)[i])};
}
Axis tangent_axis(const ImpactCase& impact, int i) {
  return {impact.problem().tangent(i),
          fmt::format("tangential velocity of {} [m/s]", impact.names[i])};
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
                  fmt::format("slip of {}, tangent {} [m/s]", short_names(impact)[i], k + 1)};
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
      text += fmt::format("{:.6g} {:.6g}\n", c[panel.x.index] + 0.0, c[panel.y.index] + 0.0);
    }
    text += '\n';
  }
  return text + "EOD\n";
}

/// What the panels show, chosen once for all of them.
/// Colours of the laws in turn.
class Colours {
 public:
  /// Has the law of the row a colour that is not taken?
  bool left(const OutcomeRow& row) { return taken_[row.laws.front()] < of(row).size(); }
  std::string next(const OutcomeRow& row) {
    const std::vector<std::string>& all = of(row);
    return all[std::min(taken_[row.laws.front()]++, all.size() - 1)];
  }

 private:
  static const std::vector<std::string>& of(const OutcomeRow& row) {
    static const std::vector<std::string> plain{kPlain};
    const std::vector<std::string>& own = law_named(row.laws.front()).colours;
    return own.empty() ? plain : own;
  }
  std::map<std::string, std::size_t> taken_;
};

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
};

Content content_of(const ImpactCase& impact, const ImpactFigure& figure, std::size_t most) {
  Content content;
  content.exact = figure.exact;
  content.bracket = figure.bracket;
  content.other = figure.other;
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
/// that never changes gets a tenth of the speed, so that rounding does not fill its panel.
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
  if (content.other) include({*content.other});
  const double speed = impact.problem().c.lpNorm<Eigen::Infinity>();
  const double margin = high - low > 1e-6 * speed ? 0.06 * (high - low) : 0.05 * speed;
  return {low - margin, high + margin};
}

/// Corners of the convex hull of a projected piece, counter-clockwise.
std::vector<Vector2d> projected_hull(const Polytope& piece, const Panel& panel) {
  std::vector<Vector2d> points;
  for (const VectorXd& c : piece.corners) points.emplace_back(c[panel.x.index], c[panel.y.index]);
  return convex_hull(std::move(points));
}

/// The exact set as filled outlines.
std::string exact_block(const Content& content, const Panel& panel) {
  std::string text = "$exact << EOD\n";
  for (const Polytope& piece : content.exact) {
    const std::vector<Vector2d> hull = projected_hull(piece, panel);
    for (std::size_t k = 0; k <= hull.size(); ++k) {
      const Vector2d& p = hull[k % hull.size()];
      text += fmt::format("{:.7g} {:.7g}\n", p.x() + 0.0, p.y() + 0.0);
    }
    text += '\n';
  }
  return text + "EOD\n";
}

std::string velocity_panel(const ImpactCase& impact, const Content& content, const Panel& panel) {
  std::string data = block("light", content.light, panel) + block("dark", {content.dark}, panel) +
                     block("before", {{impact.problem().c}}, panel);
  std::string plot = "plot ";
  if (!content.light.empty()) plot += "$light w l lw 0.6 lc rgb '#d5d5d5' notitle, ";
  if (!content.exact.empty()) {
    data += exact_block(content, panel);
    plot += fmt::format(
        "$exact w filledcurves closed fc rgb '{0}' fs transparent solid 0.35 noborder notitle, "
        "$exact w l lw 7 lc rgb '{0}' notitle, ",
        kTeal);
  }
  if (!content.dark.empty()) plot += "$dark w p pt 7 ps 0.25 lc rgb '#4a4a4a' notitle, ";
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
  plot += "$before w p pt 6 ps 1.5 lw 2 lc rgb 'black' notitle";
  if (content.other) {
    data += block("other", {{*content.other}}, panel);
    plot += fmt::format(", $other w p {} notitle", kOther);
  }
  // letters in different directions, because outcomes often coincide in a panel
  constexpr const char* kOffsets[] = {"0.9,0.7", "-0.9,0.7", "0.9,-0.7"};
  for (std::size_t k = 0; k < content.marks.size(); ++k) {
    data += block(fmt::format("mark{}", k), {{content.marks[k].c_plus}}, panel);
    plot += fmt::format(", $mark{} u 1:2:({}) w labels font ',15' offset {} notitle", k,
                        gnuplot_text(content.marks[k].letter), kOffsets[k % 3]);
  }
  plot += '\n';
  const auto x = range_of(impact, content, panel.x.index);
  const auto y = range_of(impact, content, panel.y.index);
  return fmt::format(
      "{}set xlabel {}\nset ylabel {}\nset xrange [{}:{}]\nset yrange [{}:{}]\n"
      "set xtics nomirror {}\nset ytics nomirror {}\n{}",
      data, gnuplot_text(panel.x.label), gnuplot_text(panel.y.label), x.first, x.second, y.first,
      y.second,
      tick(x.first, x.second + (impact.scenario.model() ? 0.5 * (x.second - x.first) : 0)),
      tick(y.first, y.second), plot);
}

struct Sketch {
  std::string title, colour;
  VectorXd q;
};

/// A few small drawings of the mechanism: the instant of impact in grey, a moment before or after
/// it in colour.
std::vector<Sketch> sketches_of(const ImpactCase& impact, const ImpactFigure& figure, Vector2d& low,
                                Vector2d& high) {
  const Scenario& s = impact.scenario;
  low = Vector2d::Constant(HUGE_VAL), high = Vector2d::Constant(-HUGE_VAL);
  extent(*s.mechanism(), s.q, low, high);
  const double size = (high - low).maxCoeff();
  const auto moved = [&](const VectorXd& v, double sign) {
    // the time in which the fastest outline point travels an eighth of the mechanism
    double fastest = 0;
    for (const Frame& f : s.mechanism()->frames(s.q, v)) {
      fastest = std::max(fastest, f.velocity.norm() + std::abs(f.omega) * 0.3 * size);
    }
    const double t = fastest > 1e-12 ? size / 8 / fastest : 0;
    return VectorXd(s.q + sign * t * v);
  };
  std::vector<Sketch> sketches{{"before", "black", moved(s.v, -1)}};
  std::vector<const OutcomeRow*> shown;
  Colours colours;
  for (const OutcomeRow& row : figure.laws) {
    const std::string colour = colours.next(row);
    const bool known = std::any_of(shown.begin(), shown.end(), [&](const OutcomeRow* other) {
      return same_outcome(impact.problem(), other->outcome.c_plus, row.outcome.c_plus);
    });
    if (known || shown.size() == 3) continue;
    shown.push_back(&row);
    std::string title;
    for (std::size_t i = 0; i < impact.names.size() && impact.names.size() <= 3; ++i)
      title += fmt::format("{}{} {}", i ? ", " : "", impact.names[i], to_string(row.modes[i]));
    sketches.push_back({title.empty() ? "after" : title, colour, moved(row.velocity, 1)});
  }
  for (const Sketch& sketch : sketches) extent(*s.mechanism(), sketch.q, low, high);
  const Vector2d margin = Vector2d::Constant(0.08 * (high - low).maxCoeff());
  low -= margin, high += margin;
  return sketches;
}

std::string sketch_panel(const ImpactCase& impact, const Sketch& sketch, const Vector2d& low,
                         const Vector2d& high) {
  const Scenario& s = impact.scenario;
  std::string names;
  for (const int i : impact.reduced.contacts) {
    const Contact& c = s.terms.contacts[i];
    names += fmt::format("set label {} at {:.5g},{:.5g} center font ',10' offset 0,0.7\n",
                         gnuplot_text(c.name), c.point.x(), c.point.y());
  }
  return fmt::format(
      "$planes << EOD\n{}EOD\n$now << EOD\n{}EOD\n$moved << EOD\n{}EOD\n"
      "set title {} offset 0,-0.7\nset xrange [{}:{}]\nset yrange [{}:{}]\n{}"
      "plot $planes w l lw 3 lc rgb '#9a9a9a' notitle, $now w l lw 1.2 lc rgb '#b5b5b5' notitle, "
      "$moved w l lw 2 lc rgb '{}' notitle\nunset label\n",
      polylines(planes(*s.mechanism(), low, high)), polylines(outlines(*s.mechanism(), s.q)),
      polylines(outlines(*s.mechanism(), sketch.q)), gnuplot_text(sketch.title), low.x(), high.x(),
      low.y(), high.y(), names, sketch.colour);
}

/// The whole figure: sketches above, velocities below, one legend at the foot.
std::string script(const ImpactCase& impact, const ImpactFigure& figure, const Content& content,
                   const std::optional<ModelSketches>& in_space, const std::string& terminal) {
  const bool model = impact.scenario.model() != nullptr;
  const std::vector<Panel> panels = impact.problem().tangents == 2
                                        ? panels_in_space(impact, spread_of(impact, figure))
                                        : panels_of(impact);
  const int columns = panels.size() <= 3 ? static_cast<int>(panels.size()) : 3;
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;
  const double width = std::max(700, 440 * columns);
  const auto model_height = [&] {
    const double each = width / static_cast<double>(in_space->q.size());
    return std::clamp(each / in_space->aspect() + 26, 180.0, 380.0);
  };
  const double sketch_height = impact.scenario.mechanism() ? 210 : model ? model_height() : 0;
  const double panel_height = 380, legend = 46, heading = 40;
  const double height = sketch_height + rows * panel_height + legend + heading;

  std::string text = fmt::format(
      "set terminal {} size {:.0f},{:.0f} font 'Helvetica,12' noenhanced\nset encoding utf8\n"
      "set clip one\nset clip two\nset multiplot title {} font ',15'\nset border lw 1.2\n"
      "set tics nomirror\n",
      terminal, width, height, gnuplot_text(figure.title.substr(0, figure.title.find(" ("))));

  // the mechanism
  if (impact.scenario.mechanism()) {
    Vector2d low, high;
    const std::vector<Sketch> sketches = sketches_of(impact, figure, low, high);
    text +=
        "unset key\nunset border\nunset tics\nset size ratio -1\nset lmargin 1\nset rmargin 1\nset "
        "tmargin 1.5\nset bmargin 0.5\n";
    for (std::size_t k = 0; k < sketches.size(); ++k) {
      const double w = 1.0 / static_cast<double>(sketches.size());
      text += fmt::format("set origin {},{}\nset size {},{}\n", w * static_cast<double>(k),
                          (height - heading - sketch_height) / height, w, sketch_height / height);
      text += sketch_panel(impact, sketches[k], low, high);
    }
    text +=
        "set border 3\nset tics nomirror\nset size noratio\nset autoscale\nunset title\n"
        "unset lmargin\nunset rmargin\nunset tmargin\nunset bmargin\n";
  }

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
      "yrange [0:1]\n"
      "plot NaN notitle",
      legend / height);
  // panels near the outcomes may leave out where they come from
  const bool before = std::any_of(panels.begin(), panels.end(), [&](const Panel& panel) {
    const auto inside = [&](int index) {
      const auto [low, high] = range_of(impact, content, index);
      return low <= impact.problem().c[index] && impact.problem().c[index] <= high;
    };
    return inside(panel.x.index) && inside(panel.y.index);
  });
  if (before) text += ", NaN w p pt 6 ps 1.5 lw 2 lc rgb 'black' title 'before'";
  if (!content.light.empty()) text += ", NaN w l lw 4 lc rgb '#d5d5d5' title 'during'";
  if (!content.exact.empty())
    text += fmt::format(", NaN w l lw 6 lc rgb '{}' title '{}'", kTeal,
                        content.bracket ? "contains the set" : "exact set");
  if (!content.dark.empty())
    text += ", NaN w p pt 7 ps 1.2 lc rgb '#4a4a4a' title 'outcomes (set)'";
  for (const Content::Law& law : content.laws)
    text += fmt::format(", NaN w lp pt 7 lw 2.2 lc rgb '{}' title {}", law.colour,
                        gnuplot_text(law.label));
  if (content.other)
    text += fmt::format(", NaN w p {} title {}", kOther, gnuplot_text(figure.other_name));
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
