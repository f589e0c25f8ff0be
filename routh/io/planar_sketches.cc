#include "routh/io/planar_sketches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "routh/impact/same_outcome.h"
#include "routh/io/drawing.h"
#include "routh/io/gnuplot.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr const char* kPlain = "#555555";  // of a law that has no colour
constexpr const char* kArrowRed = "#d81b3c";
constexpr std::size_t kShownOutcomes = 3;
constexpr double kPart = 0.94;       // of its column, for each sketch
constexpr double kTitle = 22;        // pixels
constexpr double kArrowPart = 0.15;  // the longest arrow, as a part of the picture
constexpr double kHalfLetter[] = {4, 7};

std::string title_of(const ImpactCase& impact, const OutcomeRow& row) {
  if (impact.names.size() > 3) return "after: " + row.laws.front();
  std::string title;
  for (std::size_t i = 0; i < impact.names.size(); ++i)
    title += fmt::format("{}{} {}", i ? ", " : "", impact.names[i], to_string(row.modes[i]));
  return title;
}

/// How far a line is from a box around a point; 0: it goes through.
double clear_of(const Vector2d& a, const Vector2d& b, const Vector2d& centre,
                const Vector2d& half) {
  // the part of it between the sides
  const Vector2d along = b - a;
  double from = 0, to = 1;
  for (int axis = 0; axis < 2; ++axis) {
    const double low = (centre - half - a)[axis], high = (centre + half - a)[axis];
    if (along[axis] == 0) {
      if (low > 0 || high < 0) to = -1;
      continue;
    }
    const double one = low / along[axis], other = high / along[axis];
    from = std::max(from, std::min(one, other)), to = std::min(to, std::max(one, other));
  }
  if (from <= to) return 0;
  const auto from_box = [&](const Vector2d& p) {
    return ((p - centre).cwiseAbs() - half).cwiseMax(0).norm();
  };
  double least = std::min(from_box(a), from_box(b));
  for (int corner = 0; corner < 4 && along.squaredNorm() > 0; ++corner) {
    const Vector2d p =
        centre + half.cwiseProduct(Vector2d(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1));
    const double part = std::clamp(along.dot(p - a) / along.squaredNorm(), 0.0, 1.0);
    least = std::min(least, (a + part * along - p).norm());
  }
  return least;
}

/// Where names stand, near their points and away from lines and from each other. In pixels.
std::vector<Vector2d> places_of(const std::vector<std::string>& names,
                                const std::vector<Vector2d>& points,
                                const std::vector<Polyline>& lines, const Vector2d& low,
                                const Vector2d& high) {
  std::vector<Vector2d> places;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto half_of = [&](std::size_t k) {
      return Vector2d(kHalfLetter[0] * static_cast<double>(names[k].size()), kHalfLetter[1]);
    };
    const Vector2d half = half_of(i);
    Vector2d best = points[i];
    double most = -HUGE_VAL;
    for (const double reach : {4.0, 9.0, 16.0}) {
      for (int k = 0; k < 24; ++k) {
        const double angle = 2 * std::numbers::pi * k / 24;
        const Vector2d way(std::cos(angle), std::sin(angle));
        const Vector2d at = points[i] + (half + Vector2d::Constant(reach)).cwiseProduct(way);
        if (((at - half).array() < low.array()).any() || ((at + half).array() > high.array()).any())
          continue;
        double clear = 6;  // more is no better
        for (const Polyline& line : lines) {
          for (std::size_t j = 0; j + 1 < line.size() && clear > 0; ++j)
            clear = std::min(clear, clear_of(line[j], line[j + 1], at, half));
        }
        for (std::size_t j = 0; j < places.size(); ++j) {
          const Vector2d gap = (places[j] - at).cwiseAbs() - half - half_of(j);
          clear = std::min(clear, std::max(0.0, gap.maxCoeff()));
        }
        const double worth = clear - 0.15 * reach;
        if (worth > most) most = worth, best = at;
      }
    }
    places.push_back(best);
  }
  return places;
}

std::string panel(const ImpactCase& impact, const PlanarSketches& sketches,
                  const PlanarSketch& sketch, double longest, const Vector2d& pixels) {
  const Scenario& s = impact.scenario;
  const Vector2d low = sketches.low, high = sketches.high;
  const double scale = std::min(pixels.x() / (high - low).x(), pixels.y() / (high - low).y());
  const std::vector<Polyline> fixed = planes(*s.mechanism(), low, high),
                              now = outlines(*s.mechanism(), s.q),
                              then = outlines(*s.mechanism(), sketch.q);
  std::vector<Polyline> lines;
  for (const auto* some : {&fixed, &now, &then})
    lines.insert(lines.end(), some->begin(), some->end());

  // how the bodies move against each other: towards the contact before, away from it afterwards
  std::string arrows;
  std::vector<std::string> names;
  std::vector<Vector2d> points;
  const bool before = &sketch == sketches.all.data();
  for (const int i : impact.reduced.contacts) {
    const Contact& c = s.terms.contacts[i];
    const Vector2d at = c.point.head<2>(), normal = c.normal.head<2>();
    names.push_back(c.name);
    points.push_back(at);
    const Vector2d way =
        c.Jn.dot(sketch.v) * normal + c.Jt.row(0).dot(sketch.v) * Vector2d(normal.y(), -normal.x());
    if (!(way.norm() > 0.04 * longest)) continue;
    const Vector2d by = kArrowPart * (high - low).maxCoeff() / longest * way;
    const Vector2d from = before ? Vector2d(at - by) : at, to = before ? at : Vector2d(at + by);
    lines.push_back({from, to});
    arrows += fmt::format(
        "set arrow from {:.5g},{:.5g} to {:.5g},{:.5g} front head filled size screen 0.006,22 lw "
        "1.8 lc rgb '{}'\n",
        from.x(), from.y(), to.x(), to.y(), kArrowRed);
  }
  for (Polyline& line : lines) {
    for (Vector2d& p : line) p *= scale;
  }
  for (Vector2d& p : points) p *= scale;
  const std::vector<Vector2d> places = places_of(names, points, lines, scale * low, scale * high);
  std::string labels;
  for (std::size_t i = 0; i < names.size(); ++i)
    labels += fmt::format("set label {} at {:.5g},{:.5g} center font ',10' front\n",
                          gnuplot_text(names[i]), places[i].x() / scale, places[i].y() / scale);
  return fmt::format(
      "$planes << EOD\n{}EOD\n$now << EOD\n{}EOD\n$moved << EOD\n{}EOD\n"
      "set title {} offset 0,-0.7\nset xrange [{}:{}]\nset yrange [{}:{}]\n{}{}"
      "plot $planes w l lw 3 lc rgb '#9a9a9a' notitle, $now w l lw 1.2 lc rgb '#b5b5b5' notitle, "
      "$moved w l lw 2 lc rgb '{}' notitle\nunset label\nunset arrow\n",
      polylines(fixed), polylines(now), polylines(then), gnuplot_text(sketch.title), low.x(),
      high.x(), low.y(), high.y(), labels, arrows, sketch.colour);
}

}  // namespace

std::string Colours::next(const OutcomeRow& row) {
  const std::vector<std::string>& all = of(row);
  return all[std::min(taken_[row.laws.front()]++, all.size() - 1)];
}

const std::vector<std::string>& Colours::of(const OutcomeRow& row) {
  static const std::vector<std::string> plain{kPlain};
  const std::vector<std::string>& own = law_named(row.laws.front()).colours;
  return own.empty() ? plain : own;
}

PlanarSketches planar_sketches(const ImpactCase& impact, const ImpactFigure& figure) {
  const Scenario& s = impact.scenario;
  PlanarSketches sketches;
  Vector2d low = Vector2d::Constant(HUGE_VAL), high = -low;
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
  sketches.all.push_back({"before", "black", moved(s.v, -1), s.v});
  std::vector<const OutcomeRow*> shown;
  Colours colours;
  for (const OutcomeRow& row : figure.laws) {
    const std::string colour = colours.next(row);
    const bool known = std::any_of(shown.begin(), shown.end(), [&](const OutcomeRow* other) {
      return same_outcome(impact.problem(), other->outcome.c_plus, row.outcome.c_plus);
    });
    if (known || shown.size() == kShownOutcomes) continue;
    shown.push_back(&row);
    sketches.all.push_back({title_of(impact, row), colour, moved(row.velocity, 1), row.velocity});
  }
  for (const PlanarSketch& sketch : sketches.all) extent(*s.mechanism(), sketch.q, low, high);
  // below and beside it there is room for names
  const Vector2d margin = Vector2d::Constant(0.12 * (high - low).maxCoeff());
  sketches.low = low - margin, sketches.high = high + margin;
  return sketches;
}

std::string sketch_row(const ImpactCase& impact, const PlanarSketches& sketches,
                       const Vector2d& figure, double top, double height) {
  // those afterwards on one scale, those before on their own
  double longest[2] = {0, 0};
  for (std::size_t k = 0; k < sketches.all.size(); ++k) {
    for (const int i : impact.reduced.contacts) {
      const Contact& c = impact.scenario.terms.contacts[i];
      const VectorXd& v = sketches.all[k].v;
      longest[k > 0] = std::max(longest[k > 0], std::hypot(c.Jn.dot(v), c.Jt.row(0).dot(v)));
    }
  }
  if (longest[1] <= 1e-3 * longest[0]) longest[1] = HUGE_VAL;  // rest
  std::string text =
      "unset key\nunset border\nunset tics\nset size ratio -1\nset lmargin 0\nset rmargin 0\n"
      "set tmargin 0\nset bmargin 0\n";
  const double columns = static_cast<double>(sketches.all.size());
  for (std::size_t k = 0; k < sketches.all.size(); ++k) {
    const Vector2d pixels(kPart * figure.x() / columns, height - kTitle);
    text += fmt::format("set origin {},{}\nset size {},{}\n",
                        (static_cast<double>(k) + 0.5 * (1 - kPart)) / columns,
                        (figure.y() - top - height) / figure.y(), kPart / columns,
                        pixels.y() / figure.y());
    text += panel(impact, sketches, sketches.all[k], longest[k > 0], pixels);
  }
  return text +
         "set border 3\nset tics nomirror\nset size noratio\nset autoscale\nunset title\n"
         "unset lmargin\nunset rmargin\nunset tmargin\nunset bmargin\n";
}

}  // namespace routh::io
