#include "routh/io/scene.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "routh/io/gnuplot.h"
#include "routh/io/model.h"
#include "routh/io/raster.h"

namespace routh::io {
namespace {

using Eigen::AlignedBox2d;
using Eigen::AlignedBox3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kAzimuths[] = {-50, -130, 50, 130};  // the first is preferred [degrees]
constexpr int kRound = 24;                            // segments of shapes in pixels
constexpr int kRough = 8;                             // segments of shapes that are only measured
constexpr int kMeasured = 240;  // pixels from left to right of pictures that are only measured
constexpr int kPixels = 900;    // of those that are seen, in figures
constexpr std::size_t kPainted = 4000;  // most faces that are painted one by one

AlignedBox3d box_of(const Surface& surface) {
  AlignedBox3d box;
  for (const Vector3d& p : surface.vertices) box.extend(p);
  return box;
}

/// From 0 to 1: how much of the moving bodies is not behind another one, and how many show at all.
double visible_part(const std::vector<Surface>& all, const Camera& camera, const Stage& stage,
                    const AlignedBox2d& window) {
  std::vector<Surface> solid = all;
  std::erase_if(solid, [](const Surface& s) { return s.ground; });
  const DepthBuffer seen = seen_by(solid, camera, stage, {window.min(), window.max(), kMeasured});
  double sum = 0;
  int bodies = 0;
  for (std::size_t s = 0; s < solid.size(); ++s) {
    if (solid[s].fixed || seen.covered[s] == 0) continue;
    const double part = static_cast<double>(seen.shown[s]) / static_cast<double>(seen.covered[s]);
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
  std::vector<Camera> cameras;
  for (const double azimuth : kAzimuths) cameras.emplace_back(azimuth);
  AlignedBox3d moving;
  std::vector<AlignedBox2d> windows(cameras.size());
  std::vector<Surface> fixed;
  std::vector<std::vector<Surface>> some;  // configurations from the first to the last
  std::size_t faces = 0;
  for (std::size_t k = 0; k < configurations.size(); ++k) {
    std::vector<Surface> all = surfaces(scenario, configurations[k], kRough);
    fixed.clear(), faces = 0;
    for (const Surface& s : all) {
      faces += s.faces.size();
      if (s.fixed) {
        fixed.push_back(s);
        continue;
      }
      moving.extend(box_of(s));
      for (std::size_t c = 0; c < cameras.size(); ++c) {
        for (const Vector3d& p : s.vertices) windows[c].extend(cameras[c].project(p));
      }
    }
    const std::size_t last = configurations.size() - 1;
    if (k == some.size() * last / 4) some.push_back(std::move(all));
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
  scene.meshes = faces > kPainted;

  // the fixed world as far as the stage goes
  for (const Surface& s : fixed) {
    AlignedBox3d part = box_of(s).intersection(
        AlignedBox3d(scene.stage.low, Vector3d(scene.stage.high.x(), scene.stage.high.y(), 1e9)));
    if (part.isEmpty()) continue;
    for (int corner = 0; corner < 8; ++corner) {
      const Vector3d p = part.corner(static_cast<AlignedBox3d::CornerType>(corner));
      for (std::size_t c = 0; c < cameras.size(); ++c) windows[c].extend(cameras[c].project(p));
    }
  }

  // the camera that sees most; a little more does not outweigh the preferred one
  double most = -1;
  for (std::size_t c = 0; c < cameras.size(); ++c) {
    if (windows[c].isEmpty())
      windows[c].extend(Vector2d(-1, -1)), windows[c].extend(Vector2d(1, 1));
    double sees = c == 0 ? 0.05 : 0;
    for (const std::vector<Surface>& all : some)
      sees +=
          visible_part(all, cameras[c], scene.stage, windows[c]) / static_cast<double>(some.size());
    if (sees <= most) continue;
    scene.camera = cameras[c], most = sees;
    const Vector2d edge = Vector2d::Constant(0.02 * windows[c].sizes().maxCoeff());
    scene.low = windows[c].min() - edge, scene.high = windows[c].max() + edge;
  }
  return scene;
}

std::vector<Stroke> picture(const Scenario& scenario, const Scene& scene, const VectorXd& q,
                            int segments) {
  return paint(surfaces(scenario, q, segments), scene.camera, scene.stage);
}

Image pixels(const Scenario& scenario, const Scene& scene, const VectorXd& q, int width) {
  return rendered(surfaces(scenario, q, kRound), scene.camera, scene.stage,
                  {scene.low, scene.high, width});
}

std::vector<char> visible(const Scenario& scenario, const Scene& scene, const VectorXd& q,
                          const std::vector<Vector3d>& points) {
  std::vector<Surface> solid = surfaces(scenario, q, kRound);
  std::erase_if(solid, [](const Surface& s) { return s.ground; });
  const DepthBuffer seen =
      seen_by(solid, scene.camera, scene.stage, {scene.low, scene.high, kPixels});
  // points on a surface count as outside of it
  const double off = 0.01 * (scene.stage.high - scene.stage.low).norm();
  std::vector<char> answers;
  for (const Vector3d& p : points) answers.push_back(!seen.hides(scene.camera, p, off));
  return answers;
}

namespace {

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

}  // namespace

GnuplotPicture gnuplot_picture(const Scenario& scenario, const Scene& scene, const VectorXd& q,
                               int segments) {
  return {gnuplot_objects(picture(scenario, scene, q, segments)), "NaN", ""};
}

GnuplotPicture gnuplot_picture(const Scene& scene, const Image& image) {
  const double cell = (scene.high - scene.low).x() / image.width;
  return {"unset object\n",
          fmt::format("'-' binary array=({},{}) format='%uchar' flipy dx={:.10g} dy={:.10g} "
                      "origin=({:.10g},{:.10g}) with rgbimage",
                      image.width, image.height, cell, cell, scene.low.x() + cell / 2,
                      scene.high.y() - (image.height - 0.5) * cell),
          std::string(image.rgb.begin(), image.rgb.end()) + "\n"};
}

std::vector<Image> images(const Scenario& scenario, const Scene& scene,
                          const std::vector<VectorXd>& configurations) {
  std::vector<Image> made;
  for (std::size_t k = 0; scene.meshes && k < configurations.size(); ++k)
    made.push_back(pixels(scenario, scene, configurations[k], kPixels));
  return made;
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
