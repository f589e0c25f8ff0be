#include "routh/io/model_sketches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "routh/impact/same_outcome.h"
#include "routh/io/gnuplot.h"
#include "routh/io/model.h"
#include "routh/io/scene.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr std::size_t kOutcomes = 3;
constexpr std::size_t kCandidates = 4000;  // of a set
constexpr std::size_t kNamed = 2;          // most contacts whose names fit into a title
constexpr std::size_t kLongestName = 44;   // letters of a title
constexpr double kWay = 0.13;              // of the fastest point, as a part of the model's size
constexpr double kArrow = 0.16;            // the longest, as a part of the picture's width
constexpr const char* kRed = "#d81b3c";
constexpr const char* kPale = "#e9929f";

/// "sticks" of several contacts: "4 stick".
std::string title_of(const ImpactCase& impact, const VectorXd& c) {
  const std::vector<ContactState> states = contact_states(impact.problem(), c);
  std::string title;
  if (states.size() <= kNamed) {
    const std::vector<std::string> names = short_names(impact);
    for (std::size_t i = 0; i < states.size(); ++i)
      title += fmt::format("{}{} {}", i ? ", " : "", names[i], to_string(states[i]));
    if (title.size() <= kLongestName) return title;
    title.clear();
  }
  std::map<ContactState, int> counts;
  for (const ContactState state : states) ++counts[state];
  for (const auto& [state, count] : counts) {
    std::string word(to_string(state));
    if (count > 1) word.pop_back();
    if (word == "approache") word = "approach";
    title += fmt::format("{}{} {}", title.empty() ? "" : ", ", count, word);
  }
  return title;
}

/// The configuration a moment before or after the impact.
VectorXd moved(const Scenario& scenario, const VectorXd& v, double sign) {
  const auto place = [&](double dt) {
    VectorXd q = scenario.q;
    scenario.model()->integrate(q, v, sign * dt);
    return q;
  };
  const double dt = 1e-4;
  const std::vector<Surface> now = surfaces(scenario, scenario.q, 8),
                             then = surfaces(scenario, place(dt), 8);
  double fastest = 0;
  Vector3d low = Vector3d::Constant(HUGE_VAL), high = -low;
  for (std::size_t s = 0; s < now.size(); ++s) {
    if (now[s].fixed) continue;
    for (std::size_t k = 0; k < now[s].vertices.size(); ++k) {
      const Vector3d& p = now[s].vertices[k];
      fastest = std::max(fastest, (then[s].vertices[k] - p).norm() / dt);
      low = low.cwiseMin(p), high = high.cwiseMax(p);
    }
  }
  return place(fastest > 1e-9 ? kWay * (high - low).norm() / fastest : 0);
}

}  // namespace

std::vector<Marked> marked_outcomes(const ImpactCase& impact, const ImpactFigure& figure) {
  std::vector<Marked> candidates, chosen;
  for (const OutcomeRow& row : figure.laws)
    candidates.push_back({"", "", "", row.velocity, row.outcome.c_plus});
  for (std::size_t k = 0; figure.set && k < figure.set->kept.size(); ++k) {
    const SetSample& sample = figure.set->kept[k];
    if (!sample.terminated || candidates.size() >= kCandidates) continue;
    candidates.push_back({"", "", "", {}, sample.outcome.c_plus});
  }
  std::vector<VectorXd> velocities;
  for (const Marked& candidate : candidates) velocities.push_back(candidate.c_plus);
  for (const std::size_t k : most_different(impact.problem(), velocities, kOutcomes))
    chosen.push_back(candidates[k]);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    chosen[k].letter = std::string(1, static_cast<char>('a' + k));
    chosen[k].title = fmt::format("{}: {}", chosen[k].letter, title_of(impact, chosen[k].c_plus));
    if (chosen[k].velocity.size() == 0)
      chosen[k].velocity = lift_velocity(impact, chosen[k].c_plus);
  }
  return chosen;
}

std::vector<std::string> short_names(const ImpactCase& impact) {
  // "foot/floor:2" is "foot:2" where everything touches the floor
  const auto second = [](const std::string& name) {
    const std::size_t from = std::min(name.find('/'), name.size());
    return name.substr(from, name.find(':', from) - from);
  };
  std::vector<std::string> names = impact.names;
  const std::string common = second(names.front());
  const bool all = std::all_of(names.begin(), names.end(),
                               [&](const std::string& name) { return second(name) == common; });
  for (std::string& name : names) {
    if (all && !common.empty()) name.erase(name.find(common), common.size());
  }
  return names;
}

ModelSketches sketch(const ImpactCase& impact, const std::vector<Marked>& outcomes) {
  const Scenario& s = impact.scenario;
  ModelSketches sketches;
  sketches.titles = {"before"}, sketches.q = {moved(s, s.v, -1)}, sketches.v = {s.v};
  for (const Marked& outcome : outcomes) {
    sketches.titles.push_back(outcome.title);
    sketches.q.push_back(moved(s, outcome.velocity, 1));
    sketches.v.push_back(outcome.velocity);
  }
  sketches.scene = scene_of(s, sketches.q);
  sketches.images = images(s, sketches.scene, sketches.q);
  return sketches;
}

std::string sketch_row(const ImpactCase& impact, const ModelSketches& sketches,
                       const SketchRow& place) {
  const Scenario& s = impact.scenario;
  const Scene& scene = sketches.scene;
  std::vector<const Contact*> contacts;
  std::vector<Vector3d> points;
  for (const int i : impact.reduced.contacts) {
    if (s.terms.contacts[i].pair < 0) continue;  // limits of joints are nowhere
    contacts.push_back(&s.terms.contacts[i]);
    points.push_back(contacts.back()->point);
  }
  // velocities of the contacts: those afterwards on one scale, those before on their own
  std::vector<std::vector<Vector3d>> slips(sketches.v.size());
  double longest[2] = {0, 0};
  for (std::size_t k = 0; k < slips.size(); ++k) {
    for (const Contact* c : contacts) {
      slips[k].push_back(relative_velocity(s, *c, sketches.v[k]));
      longest[k > 0] = std::max(longest[k > 0], slips[k].back().norm());
    }
  }

  std::string text = fmt::format(
      "unset key\nunset border\nunset tics\nset lmargin 0\nset rmargin 0\nset tmargin 0\n"
      "set bmargin 0\nset xrange [{}:{}]\nset yrange [{}:{}]\nset size ratio -1\n",
      scene.low.x(), scene.high.x(), scene.low.y(), scene.high.y());
  const double label = 26, columns = static_cast<double>(slips.size());
  for (std::size_t k = 0; k < slips.size(); ++k) {
    const GnuplotPicture drawn = scene.meshes
                                     ? gnuplot_picture(scene, sketches.images[k])
                                     : gnuplot_picture(s, scene, sketches.q[k], place.segments);
    text += fmt::format(
        "unset arrow\n{}set origin {},{}\nset size {},{}\n"
        "set label 1 {} at graph 0.5, screen {} center\n",
        drawn.objects, static_cast<double>(k) / columns,
        (place.figure - place.top - place.height) / place.figure, 1 / columns,
        (place.height - label) / place.figure, gnuplot_text(sketches.titles[k]),
        1 - (place.top + 10) / place.figure);
    // what is behind a body is pale
    const std::vector<char> seen = visible(s, scene, sketches.q[k], points);
    std::string dots[2];
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Vector2d at = scene.camera.project(points[i]);
      dots[seen[i] ? 0 : 1] += fmt::format("{:.5g} {:.5g}\n", at.x(), at.y());
      if (slips[k][i].norm() <= std::max(0.04 * longest[k > 0], 1e-3 * longest[0])) continue;
      const Vector3d way = kArrow * (scene.high - scene.low).x() / longest[k > 0] * slips[k][i];
      // before the impact towards the contact, afterwards away from it
      const Vector2d from = k ? at : scene.camera.project(points[i] - way);
      const Vector2d to = k ? scene.camera.project(points[i] + way) : at;
      text += fmt::format(
          "set arrow from {:.5g},{:.5g} to {:.5g},{:.5g} front head filled size screen 0.006,22 lw "
          "{} lc rgb '{}'\n",
          from.x(), from.y(), to.x(), to.y(), seen[i] ? 1.8 : 1.2, seen[i] ? kRed : kPale);
    }
    text += fmt::format("$seen << EOD\n{}EOD\n$hidden << EOD\n{}EOD\nplot {}", dots[0], dots[1],
                        drawn.plot);
    if (!dots[1].empty()) text += fmt::format(", $hidden w p pt 7 ps 0.45 lc rgb '{}'", kPale);
    if (!dots[0].empty())
      text += fmt::format(
          ", $seen w p pt 7 ps 0.9 lc rgb 'white', $seen w p pt 7 ps 0.65 lc rgb '{}'", kRed);
    text += '\n' + drawn.data;
  }
  return text +
         "unset object\nunset arrow\nunset label 1\nset tics nomirror\nset size noratio\n"
         "set autoscale\nunset lmargin\nunset rmargin\nunset tmargin\nunset bmargin\n";
}

}  // namespace routh::io
