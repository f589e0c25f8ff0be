#include "routh/io/scene.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "routh/io/gnuplot.h"
#include "routh/io/model.h"

namespace routh::io {
namespace {

using Eigen::AlignedBox2d;
using Eigen::AlignedBox3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kAzimuths[] = {-50, -130, 50, 130};  // the first is preferred [degrees]
constexpr int kRough = 8;                             // segments of shapes that are only measured

AlignedBox3d box_of(const Surface& surface) {
  AlignedBox3d box;
  for (const Vector3d& p : surface.vertices) box.extend(p);
  return box;
}

/// Does the way from p to the viewer pass through a face?
bool blocked(const Vector3d& p, const Vector3d& back, const Surface& surface) {
  for (const std::vector<int>& face : surface.faces) {
    const Vector3d& corner = surface.vertices[face[0]];
    const Vector3d normal =
        (surface.vertices[face[1]] - corner).cross(surface.vertices[face[2]] - corner);
    const double rate = normal.dot(back);
    if (std::abs(rate) < 1e-12) continue;
    const double way = normal.dot(corner - p) / rate;
    if (way < 1e-6) continue;
    const Vector3d hit = p + way * back;
    bool in = true;
    for (std::size_t k = 0; k < face.size() && in; ++k) {
      const Vector3d& a = surface.vertices[face[k]];
      const Vector3d& b = surface.vertices[face[(k + 1) % face.size()]];
      in = (b - a).cross(hit - a).dot(normal) >= 0;
    }
    if (in) return true;
  }
  return false;
}

/// From 0 to 1: how much of the moving bodies is not behind another one, and how many show at all.
double visible_part(const std::vector<Surface>& all, const Camera& camera) {
  double sum = 0;
  int bodies = 0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (all[s].fixed) continue;
    int points = 0, visible = 0;
    for (std::size_t k = 0; k < all[s].vertices.size(); k += 3) {
      bool hidden = false;
      for (std::size_t other = 0; other < all.size() && !hidden; ++other)
        hidden = other != s && !all[other].ground &&
                 blocked(all[s].vertices[k], camera.back, all[other]);
      ++points, visible += !hidden;
    }
    const double part = visible / static_cast<double>(points);
    sum += 0.5 * part + (part > 0.1 ? 0.5 : 0);
    ++bodies;
  }
  return bodies ? sum / bodies : 1;
}

std::string hex(const Vector3d& colour) {
  // few enough shades for the palette of an animation
  const auto level = [](double x) {
    return std::min(255, 4 * static_cast<int>(std::lround(std::clamp(x, 0.0, 1.0) * 64)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", level(colour[0]), level(colour[1]), level(colour[2]));
}

}  // namespace

Scene scene_of(const Scenario& scenario, const std::vector<VectorXd>& configurations) {
  AlignedBox3d moving;
  std::vector<Surface> fixed;
  for (const VectorXd& q : configurations) {
    fixed.clear();
    for (Surface& s : surfaces(scenario, q, kRough)) {
      if (s.fixed)
        fixed.push_back(std::move(s));
      else
        moving.extend(box_of(s));
    }
  }
  if (moving.isEmpty())
    moving.extend(Vector3d(-0.5, -0.5, 0)), moving.extend(Vector3d(0.5, 0.5, 1));

  // what does not move belongs to the picture where it is small or near
  const double size = moving.sizes().norm();
  AlignedBox3d shown = moving;
  for (const Surface& s : fixed) {
    const AlignedBox3d box = box_of(s);
    if (!s.ground && box.sizes().norm() < 2.5 * size && box.exteriorDistance(moving) < 0.5 * size)
      shown.extend(box);
  }
  const double margin = 0.12 * size;
  shown.extend(Vector3d(shown.min() - Vector3d(margin, margin, 0)));
  shown.extend(Vector3d(shown.max() + Vector3d(margin, margin, margin)));
  double floor = shown.min().z();
  for (const Surface& s : fixed) {
    const double top = box_of(s).max().z();
    if (s.ground && top < floor && floor - top < 1.5 * size) floor = top;
  }
  Scene scene;
  scene.stage = {shown.min(), shown.max(), 0};
  scene.stage.low.z() = floor - 0.01 * size;
  scene.stage.cell = tick(0, shown.sizes().head<2>().maxCoeff());

  // the camera that sees most; a little more does not outweigh the preferred one
  double most = -1;
  for (const double azimuth : kAzimuths) {
    const Camera camera(azimuth);
    double visible = azimuth == kAzimuths[0] ? 0.05 : 0;
    for (std::size_t k = 0; k <= 4; ++k) {
      const VectorXd& q = configurations[k * (configurations.size() - 1) / 4];
      visible += visible_part(surfaces(scenario, q, kRough), camera) / 5;
    }
    if (visible > most) scene.camera = camera, most = visible;
  }

  AlignedBox2d window;
  for (const VectorXd& q : configurations) {
    for (const Stroke& stroke : picture(scenario, scene, q, kRough)) {
      for (const Vector2d& p : stroke.points) window.extend(p);
    }
  }
  const Vector2d edge = Vector2d::Constant(0.02 * window.sizes().maxCoeff());
  scene.low = window.min() - edge, scene.high = window.max() + edge;
  return scene;
}

std::vector<Stroke> picture(const Scenario& scenario, const Scene& scene, const VectorXd& q,
                            int segments) {
  return paint(surfaces(scenario, q, segments), scene.camera, scene.stage);
}

std::vector<char> visible(const Scenario& scenario, const Scene& scene, const VectorXd& q,
                          const std::vector<Vector3d>& points) {
  const std::vector<Surface> all = surfaces(scenario, q, kRough);
  // points on a surface count as outside of it
  const Vector3d off = 0.01 * (scene.stage.high - scene.stage.low).norm() * scene.camera.back;
  std::vector<char> answers;
  for (const Vector3d& p : points) {
    answers.push_back(std::none_of(all.begin(), all.end(), [&](const Surface& s) {
      return !s.ground && blocked(p + off, scene.camera.back, s);
    }));
  }
  return answers;
}

std::string gnuplot_objects(const std::vector<Stroke>& strokes) {
  std::string text = "unset object\n";
  for (const Stroke& s : strokes) {
    text += "set object polygon from ";
    for (std::size_t k = 0; k <= s.points.size(); ++k) {
      const Vector2d& p = s.points[k % s.points.size()];
      text += fmt::format("{}{:.5g},{:.5g}", k ? " to " : "", p.x(), p.y());
    }
    // a thin border of the same colour hides the seams between faces
    text += s.filled
                ? fmt::format(" fc rgb '{0}' fs solid 1 border lc rgb '{0}' lw 1\n", hex(s.colour))
                : fmt::format(" fc rgb '{}' fs empty border lw {}\n", hex(s.colour), s.width);
  }
  return text;
}

std::string svg_paths(const std::vector<Stroke>& strokes, const Scene& scene, double scale) {
  std::string text, style;
  for (const Stroke& s : strokes) {
    const std::string colour = hex(s.colour);
    const std::string own = s.filled ? fmt::format("fill=\"{0}\" stroke=\"{0}\"", colour)
                                     : fmt::format("fill=\"none\" stroke=\"{}\"", colour);
    if (own != style) {
      if (!style.empty()) text += "\"/>\n";
      text += fmt::format("<path {} stroke-width=\"{:.2g}\" d=\"", own, s.filled ? 0.8 : s.width);
      style = own;
    }
    for (std::size_t k = 0; k < s.points.size(); ++k) {
      text +=
          fmt::format("{}{:.1f},{:.1f}", k ? "L" : "M", scale * (s.points[k].x() - scene.low.x()),
                      scale * (scene.high.y() - s.points[k].y()));
    }
    if (s.filled) text += "Z";
  }
  return text.empty() ? text : text + "\"/>\n";
}

}  // namespace routh::io
