#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <optional>

#include "routh/io/document.h"
#include "routh/io/drawing.h"
#include "routh/io/files.h"
#include "routh/io/frames.h"
#include "routh/io/gnuplot.h"
#include "routh/io/motion.h"
#include "routh/io/program.h"
#include "routh/io/text.h"

namespace routh::io {

using Eigen::Vector2d;
using Eigen::VectorXd;

std::string short_title(const Motion& motion) {
  return motion.scenario.title.substr(0, motion.scenario.title.find(" (P"));
}

std::string unit_of(const std::string& name, bool velocity) {
  for (const char* length : {".x", ".y", ".z", ".slide", ".vx", ".vy", ".vz"}) {
    if (name.ends_with(length)) return velocity ? "m/s" : "m";
  }
  for (const char* angle : {".angle", ".wx", ".wy", ".wz"}) {
    if (name.ends_with(angle)) return velocity ? "rad/s" : "rad";
  }
  return "";
}

std::string with_unit(const std::string& name, bool velocity) {
  const std::string unit = unit_of(name, velocity);
  return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

VectorXd at_time(const Trajectory& t, double time) {
  const auto after = std::lower_bound(t.time.begin(), t.time.end(), time);
  if (after == t.time.begin()) return t.q.front();
  if (after == t.time.end()) return t.q.back();
  const std::size_t k = after - t.time.begin();
  const double span = t.time[k] - t.time[k - 1];
  const double s = span > 0 ? (time - t.time[k - 1]) / span : 1;
  return (1 - s) * t.q[k - 1] + s * t.q[k];
}

double frame_time(const Trajectory& t, int k, int frames) {
  return t.time.front() + (t.time.back() - t.time.front()) * k / (frames - 1.0);
}

Timing timing(const Trajectory& t, double per_second, int most) {
  const double length = t.time.back() - t.time.front();
  const double seconds = std::clamp(length, 3.0, 60.0);
  return {seconds, std::clamp(static_cast<int>(per_second * seconds), 2, most)};
}

namespace {

constexpr const char* kColours[] = {"#1f5fbf", "#c8281e", "#2a8c4a", "#e8a200",
                                    "#7b3fa0", "#00838f", "#d96ba8", "#6b4a2b"};
constexpr std::size_t kCurves = 8;  // of one panel

/// A velocity over time, with both values at every impact.
Series velocity_series(const Trajectory& t, int coordinate) {
  Series series;
  std::size_t next = 0;
  for (std::size_t k = 0; k < t.time.size(); ++k) {
    for (; next < t.events.size() && t.events[next].time <= t.time[k]; ++next) {
      const Event& e = t.events[next];
      if (e.kind != EventKind::kImpact && e.kind != EventKind::kCrossing) continue;
      series.emplace_back(e.time, e.v_minus[coordinate]);
      series.emplace_back(e.time, e.v_plus[coordinate]);
    }
    series.emplace_back(t.time[k], t.v[k][coordinate]);
  }
  return series;
}

/// One of the four numbers of a quaternion?
bool turns(const std::string& name) {
  return name.ends_with(".qw") || name.ends_with(".qx") || name.ends_with(".qy") ||
         name.ends_with(".qz");
}

/// What is rounding beside the largest of these values.
double rounding_of(const std::vector<VectorXd>& values) {
  double most = 0;
  for (const VectorXd& v : values) most = std::max(most, v.lpNorm<Eigen::Infinity>());
  return 1e-12 * most;
}

/// The coordinates that change most, in their own order, or the first where nothing does;
/// quaternions are left out.
std::vector<int> chosen(const std::vector<VectorXd>& values,
                        const std::vector<std::string>& names) {
  const auto n = static_cast<int>(values.front().size());
  VectorXd low = values.front(), high = values.front();
  for (const VectorXd& v : values) low = low.cwiseMin(v), high = high.cwiseMax(v);
  VectorXd range = high - low;
  for (int i = 0; i < n; ++i) {
    if (turns(names[i])) range[i] = 0;
  }
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return range[a] > range[b]; });
  const double floor = 1e-9 * std::max(1e-9, range.maxCoeff());
  const bool rests = range.maxCoeff() <= rounding_of(values);
  if (rests) std::iota(order.begin(), order.end(), 0);
  while (order.size() > 1 && (order.size() > kCurves || (!rests && range[order.back()] <= floor)))
    order.pop_back();
  std::sort(order.begin(), order.end());
  return order;
}

std::string plots_script(const Motion& motion, const std::string& terminal) {
  const Trajectory& t = motion.trajectory;
  const bool has_energy = !t.energy.empty();
  // room for the longest name
  std::size_t longest = 17;
  for (const auto* names : {&motion.scenario.coordinates, &motion.scenario.velocities}) {
    for (const std::string& name : *names) longest = std::max(longest, name.size());
  }
  std::string text = fmt::format(
      "set terminal {} size 900,{} font 'Helvetica,12' noenhanced\nset encoding utf8\n"
      "set multiplot layout {},1 title {} font ',15'\nset border 3 lw 1.2\nset tics nomirror\n"
      "set key outside right top Left reverse samplen 2\nset xrange [{}:{}]\n"
      "set lmargin 13\nset rmargin {}\nset grid ytics lc rgb '#e4e4e4'\n",
      terminal, has_energy ? 960 : 640, has_energy ? 3 : 2, gnuplot_text(short_title(motion)),
      t.time.front(), t.time.back(), 7 + std::min<std::size_t>(longest, 32));

  // impacts as lines through all panels; many of them would hide the curves
  const auto impacts = std::count_if(t.events.begin(), t.events.end(),
                                     [](const Event& e) { return e.kind == EventKind::kImpact; });
  int arrow = 1;
  bool lines = false, dotted = false;
  for (const Event& e : t.events) {
    const bool impact = e.kind == EventKind::kImpact;
    if (impact ? impacts > 200 : t.events.size() > 60) continue;
    (impact ? lines : dotted) = true;
    text += fmt::format("set arrow {} from {:.8g}, graph 0 to {:.8g}, graph 1 nohead back {}\n",
                        arrow++, e.time, e.time,
                        impact ? "lw 1 lc rgb '#b0b0b0'" : "lw 1 lc rgb '#a0a0a0' dt 3");
  }
  const std::string time = lines && dotted ? "time [s]    (lines: impacts; dotted: lift-off, slip, "
                                             "stick)"
                           : lines         ? "time [s]    (lines: impacts)"
                           : dotted        ? "time [s]    (dotted: lift-off, slip, stick)"
                                           : "time [s]";

  // curves on one another show, the first ones being wider
  const auto width_of = [](std::size_t k, std::size_t count) {
    return count < 2 ? 2 : 3.2 - 2.0 * static_cast<double>(k) / static_cast<double>(count - 1);
  };
  const auto panel = [&](const std::string& label, const std::vector<std::string>& names,
                         const std::vector<int>& which, auto series_of, bool last) {
    std::string plot;
    for (std::size_t k = 0; k < which.size(); ++k) {
      const std::string name = fmt::format("d{}", k);
      text += curve_block(name, series_of(which[k]));
      plot += fmt::format("{}${} w l lw {:.3g} lc rgb '{}' {}", k ? ", " : "plot ", name,
                          width_of(k, which.size()), kColours[k],
                          names.empty() ? "notitle" : "title " + gnuplot_text(names[which[k]]));
    }
    // what is left out is said
    const auto others = std::count_if(names.begin(), names.end(),
                                      [](const std::string& name) { return !turns(name); }) -
                        static_cast<std::ptrdiff_t>(which.size());
    if (others > 0)
      plot += fmt::format(", NaN w d lc rgb 'white' title {}",
                          gnuplot_text(fmt::format("({} that vary less)", others)));
    text += fmt::format("set ylabel '{}'\nset xlabel '{}'\n{}\n", label, last ? time : "", plot);
  };
  // the unit of all that is shown, where it is one
  const auto labelled = [](const char* what, const std::vector<std::string>& names,
                           const std::vector<int>& which, bool velocity) {
    std::string unit = unit_of(names[which.front()], velocity);
    for (const int i : which) {
      if (unit_of(names[i], velocity) != unit) unit.clear();
    }
    if (unit.empty()) unit = velocity ? "m/s, rad/s" : "m, rad";
    return fmt::format("{} [{}]", what, unit);
  };
  const auto positions = [&, rounding = rounding_of(t.q)](int i) {
    Series series;
    for (std::size_t k = 0; k < t.time.size(); ++k)
      series.emplace_back(t.time[k], std::abs(t.q[k][i]) <= rounding ? 0 : t.q[k][i]);
    return series;
  };
  const auto energy = [&](int) {
    Series series;
    for (std::size_t k = 0; k < t.time.size(); ++k) series.emplace_back(t.time[k], t.energy[k]);
    return series;
  };
  const Scenario& scenario = motion.scenario;
  const std::vector<int> moving = chosen(t.q, scenario.coordinates),
                         changing = chosen(t.v, scenario.velocities);
  panel(labelled("position", scenario.coordinates, moving, false), scenario.coordinates, moving,
        positions, false);
  panel(
      labelled("velocity", scenario.velocities, changing, true), scenario.velocities, changing,
      [&](int i) { return velocity_series(t, i); }, !has_energy);
  if (!has_energy) return text + "unset multiplot\n";
  // a constant energy keeps a visible scale
  const auto [least, most] = std::minmax_element(t.energy.begin(), t.energy.end());
  if (*most - *least < 1e-9 * std::max(1.0, std::abs(*most)))
    text += fmt::format("set yrange [{}:{}]\n", *least - 1, *most + 1);
  panel("kinetic + potential energy [J]", {}, {-1}, energy, true);
  return text + "unset multiplot\n";
}

/// A window that holds the whole motion.
void window(const Motion& motion, Vector2d& low, Vector2d& high) {
  const Trajectory& t = motion.trajectory;
  low = Vector2d::Constant(HUGE_VAL), high = -low;
  for (int k = 0; k <= 60; ++k) {
    const double time = frame_time(t, k, 61);
    extent(*motion.scenario.picture(), at_time(t, time), low, high);
  }
  // planes nearby belong to the picture
  for (const ContactPair& pair : motion.scenario.picture()->contacts()) {
    const Edge* edge = std::get_if<Edge>(&pair.second);
    if (!edge || edge->body != kWorld) continue;
    for (int axis = 0; axis < 2; ++axis) {
      if (std::abs(edge->normal[axis]) < 0.99) continue;
      if (low[axis] - edge->at[axis] > 0 && low[axis] - edge->at[axis] < (high - low).maxCoeff())
        low[axis] = edge->at[axis];
      if (edge->at[axis] - high[axis] > 0 && edge->at[axis] - high[axis] < (high - low).maxCoeff())
        high[axis] = edge->at[axis];
    }
  }
  const double margin = 0.05 * std::max(1e-6, (high - low).maxCoeff());
  low -= Vector2d::Constant(margin), high += Vector2d::Constant(margin);
  // never a sliver
  for (int axis = 0; axis < 2; ++axis) {
    const double missing = 0.2 * (high - low).maxCoeff() - (high - low)[axis];
    if (missing > 0) low[axis] -= missing / 2, high[axis] += missing / 2;
  }
}

std::string strip_script(const Motion& motion, const std::string& terminal) {
  const Trajectory& t = motion.trajectory;
  const PlanarMechanism& mechanism = *motion.scenario.picture();
  Vector2d low, high;
  window(motion, low, high);
  const double aspect = (high - low).x() / (high - low).y();
  const int columns = aspect > 2.2 ? 2 : aspect < 0.5 ? kFrames : 4;
  const int rows = kFrames / columns;
  const double panel = 1000.0 / columns;
  std::string text = fmt::format(
      "set terminal {} size 1000,{:.0f} font 'Helvetica,12' noenhanced\nset encoding utf8\n"
      "set clip one\nset clip two\nset multiplot layout {},{} title {} font ',15'\nunset "
      "key\nunset tics\nset border 31 lc "
      "rgb '#dddddd'\nset size ratio -1\nset lmargin 0.5\nset rmargin 0.5\nset tmargin 1.8\nset "
      "bmargin 0.3\nset xrange [{}:{}]\nset yrange [{}:{}]\n",
      terminal, rows * (panel / aspect + 34) + 46, rows, columns, gnuplot_text(short_title(motion)),
      low.x(), high.x(), low.y(), high.y());
  text += fmt::format("$planes << EOD\n{}EOD\n", polylines(planes(mechanism, low, high)));
  for (int k = 0; k < kFrames; ++k) {
    const double time = frame_time(t, k, kFrames);
    text += fmt::format(
        "$now << EOD\n{}EOD\nset title '{:.3g} s' offset 0,-0.7\nplot $planes w l lw 3 lc rgb "
        "'#9a9a9a', $now w l lw 2 lc rgb '{}'\n",
        polylines(outlines(mechanism, at_time(t, time))), time, kColours[0]);
  }
  return text + "unset multiplot\n";
}

std::string animated_gif_script(const Motion& motion) {
  const Trajectory& t = motion.trajectory;
  const PlanarMechanism& mechanism = *motion.scenario.picture();
  Vector2d low, high;
  window(motion, low, high);
  const double aspect = std::clamp((high - low).x() / (high - low).y(), 0.3, 4.0);
  const double width = aspect > 1 ? 800 : 800 * aspect, height = width / aspect + 30;
  const Timing time = timing(t, 25, 400);
  std::string text = fmt::format(
      "set terminal gif animate loop 0 delay {} optimize size {:.0f},{:.0f}\n"
      "set clip one\nset clip two\nunset key\nunset tics\nunset border\nset size ratio -1\nset "
      "lmargin 0.5\nset rmargin 0.5\n"
      "set tmargin 1.8\nset bmargin 0.3\nset xrange [{}:{}]\nset yrange [{}:{}]\n"
      "$planes << EOD\n{}EOD\n",
      std::max(2, static_cast<int>(std::lround(100 * time.seconds / time.frames))), width, height,
      low.x(), high.x(), low.y(), high.y(), polylines(planes(mechanism, low, high)));
  for (int k = 0; k < time.frames; ++k) {
    const double at = frame_time(t, k, time.frames);
    text += fmt::format(
        "$now << EOD\n{}EOD\nset title '{:.2f} s' offset 0,-0.7\nplot $planes w l lw 3 lc rgb "
        "'#9a9a9a', $now w l lw 2 lc rgb '{}'\n",
        polylines(outlines(mechanism, at_time(t, at))), at, kColours[0]);
  }
  return text;
}

/// Scalable and small: every body is drawn once and moved by its pose over time.
std::string animated_svg(const Motion& motion) {
  const Trajectory& t = motion.trajectory;
  const PlanarMechanism& mechanism = *motion.scenario.picture();
  Vector2d low, high;
  window(motion, low, high);
  const double width = 800, scale = width / (high - low).x(), height = scale * (high - low).y();
  const Timing time = timing(t, 30, 600);
  std::vector<std::vector<Frame>> poses;
  for (int k = 0; k < time.frames; ++k) {
    const double at = frame_time(t, k, time.frames);
    poses.push_back(mechanism.frames(at_time(t, at), VectorXd::Zero(mechanism.nv())));
  }
  const auto timed = [&](const std::string& what, const std::string& values) {
    return fmt::format("<{} dur=\"{}s\" repeatCount=\"indefinite\" values=\"{}\"/>", what,
                       time.seconds, values);
  };
  const auto path = [](const std::vector<Polyline>& lines) {
    std::string d;
    for (const Polyline& line : lines) {
      for (std::size_t k = 0; k < line.size(); ++k)
        d += fmt::format("{}{:.5g},{:.5g} ", k ? "L" : "M", line[k].x(), line[k].y());
    }
    return d;
  };

  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.1f} {:.1f}\" width=\"{:.0f}\" "
      "height=\"{:.0f}\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n<g transform=\"scale({:.6g},{:.6g}) translate({:.6g},{:.6g})\" "
      "fill=\"none\" stroke-width=\"{:.4g}\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n"
      "<path stroke=\"#9a9a9a\" d=\"{}\"/>\n",
      width, height, width, height, xml_text(short_title(motion)), scale, -scale, -low.x(),
      -high.y(), 2 / scale, path(planes(mechanism, low, high)));
  for (std::size_t b = 0; b < mechanism.bodies().size(); ++b) {
    const Body& body = mechanism.bodies()[b];
    if (body.joint == Joint::kFixed && body.parent == kWorld) continue;  // drawn with the planes
    std::vector<Polyline> lines;
    bool filled = false;
    for (const Shape& shape : body.shapes) {
      for (Polyline& line : outline(shape)) lines.push_back(std::move(line));
      filled = filled || shape.vertices.size() > 2 || shape.radius > 0;
    }
    if (lines.empty()) continue;
    std::string positions, angles;
    for (const auto& pose : poses) {
      positions += fmt::format("{:.5g},{:.5g};", pose[b].position.x(), pose[b].position.y());
      angles += fmt::format("{:.5g};", pose[b].angle * 180 / std::numbers::pi);
    }
    positions.pop_back(), angles.pop_back();
    text += fmt::format(
        "<g stroke=\"{}\" fill=\"{}\">{}<g>{}<path d=\"{}\"/></g></g>\n", kColours[0],
        filled ? "#1f5fbf22" : "none",
        timed("animateTransform attributeName=\"transform\" type=\"translate\"", positions),
        timed("animateTransform attributeName=\"transform\" type=\"rotate\"", angles), path(lines));
  }
  for (const Spring& spring : mechanism.springs()) {
    std::string ends[4];
    for (const auto& pose : poses) {
      const auto place = [&](int body, const Vector2d& at) {
        return body == kWorld ? at : pose[body].place(at);
      };
      const Vector2d a = place(spring.body, spring.at), b = place(spring.other, spring.at_other);
      const double values[] = {a.x(), a.y(), b.x(), b.y()};
      for (int k = 0; k < 4; ++k) ends[k] += fmt::format("{:.5g};", values[k]);
    }
    text += fmt::format("<line stroke=\"{}\">", kColours[3]);
    const char* names[] = {"x1", "y1", "x2", "y2"};
    for (int k = 0; k < 4; ++k) {
      ends[k].pop_back();
      text += timed(fmt::format("animate attributeName=\"{}\"", names[k]), ends[k]);
    }
    text += "</line>\n";
  }
  return text + "</g>\n</svg>\n";
}

}  // namespace

void check_animation(const std::string& path, bool in_space) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const bool film = ending == ".mp4" || ending == ".webm";
  if (ending != ".svg" && ending != ".gif" && !film)
    throw InputError(
        fmt::format("--animate {}: the name must end in .svg, .gif, .mp4 or .webm", path));
  if (film) require_program("ffmpeg", fmt::format("animations in {}", ending), "ffmpeg");
  if (ending != ".svg" && !in_space) require_gnuplot();
}

void animate(const Motion& motion, const std::string& path) {
  if (!motion.scenario.picture() && !motion.scenario.model())
    throw InputError("--animate: this system has no picture");
  check_animation(path, motion.scenario.model() != nullptr);
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".svg") {
    write_file(path, motion.scenario.model() ? model_animated_svg(motion) : animated_svg(motion));
    return;
  }
  const std::string gif =
      motion.scenario.model() ? model_gif(motion) : run_gnuplot(animated_gif_script(motion));
  if (ending == ".gif") {
    write_file(path, gif);
    return;
  }
  // pixels in pairs, as films store colours; what goes into a pipe cannot be written twice
  std::vector<std::string> words{
      "-v",     "error",    "-f",      "gif", "-i",
      "pipe:0", "-pix_fmt", "yuv420p", "-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2"};
  if (ending == ".mp4") words.insert(words.end(), {"-movflags", "frag_keyframe+empty_moov"});
  words.insert(words.end(), {"-f", ending.substr(1), "pipe:1"});
  write_file(path, run_program("ffmpeg", std::move(words), gif));
}

std::vector<std::string> draw(const Motion& motion, const std::string& name,
                              const std::string& folder) {
  std::vector<std::string> written = render(
      folder, name, [&](const std::string& terminal) { return plots_script(motion, terminal); });
  if (!motion.scenario.picture() && !motion.scenario.model()) return written;
  std::optional<ModelStrip> in_space;
  if (motion.scenario.model()) in_space = model_strip(motion);
  for (std::string& path : render(folder, name + "-strip", [&](const std::string& terminal) {
         return in_space ? script(motion, *in_space, terminal) : strip_script(motion, terminal);
       }))
    written.push_back(std::move(path));
  written.push_back((std::filesystem::path(folder) / (name + "-animation.svg")).string());
  animate(motion, written.back());
  return written;
}

}  // namespace routh::io
