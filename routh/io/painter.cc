#include "routh/io/painter.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kCrease = 0.77;      // cosine of the angle from which an edge is sharp
constexpr double kFlat = 0.9998;      // and up to which it is none
constexpr std::size_t kPlanes = 100;  // most faces that cut others
const Vector3d kPaper(1, 1, 1), kInk(0.08, 0.09, 0.12);

/// A half-space n x >= offset.
struct Plane {
  Vector3d normal;
  double offset = 0;
  double height(const Vector3d& p) const { return normal.dot(p) - offset; }
};

/// A convex face, or what is left of one.
struct Shard {
  std::vector<Vector3d> points;
  std::vector<char> edge;  ///< is the side from this point to the next one drawn?
  Vector3d normal;
  int surface = 0;
  bool flat = false;  ///< cuts others
};

/// The part of a piece where the plane's height is at least zero.
Shard cut(const Shard& piece, const Plane& plane) {
  Shard kept = piece;
  kept.points.clear(), kept.edge.clear();
  const std::size_t n = piece.points.size();
  for (std::size_t k = 0; k < n; ++k) {
    const Vector3d &a = piece.points[k], &b = piece.points[(k + 1) % n];
    const double ha = plane.height(a), hb = plane.height(b);
    if (ha >= 0) {
      kept.points.push_back(a);
      kept.edge.push_back(piece.edge[k]);
    }
    if ((ha >= 0) != (hb >= 0)) {
      kept.points.push_back(a + ha / (ha - hb) * (b - a));
      // the side on the plane is new
      kept.edge.push_back(ha >= 0 ? 0 : piece.edge[k]);
    }
  }
  if (kept.points.size() < 3) kept.points.clear(), kept.edge.clear();
  return kept;
}

Vector3d normal_of(const std::vector<Vector3d>& points) {
  Vector3d sum = Vector3d::Zero();
  for (std::size_t k = 1; k + 1 < points.size(); ++k)
    sum += (points[k] - points[0]).cross(points[k + 1] - points[0]);
  return sum;
}

/// Two directions in a plane.
std::pair<Vector3d, Vector3d> axes(const Vector3d& normal) {
  const Vector3d first =
      (std::abs(normal.z()) < 0.9 ? Vector3d::UnitZ() : Vector3d::UnitX()).cross(normal);
  return {first.normalized(), normal.cross(first).normalized()};
}

/// Cuts a surface off at a plane and closes the hole.
Surface cut(const Surface& surface, const Plane& plane) {
  Surface kept = surface;
  kept.vertices.clear(), kept.faces.clear();
  const double eps = 1e-9;
  const auto add = [&](const std::vector<Vector3d>& points) {
    std::vector<int> face;
    for (const Vector3d& p : points) {
      const auto same = std::find_if(kept.vertices.begin(), kept.vertices.end(),
                                     [&](const Vector3d& v) { return (v - p).norm() < eps; });
      const int at = static_cast<int>(same - kept.vertices.begin());
      if (same == kept.vertices.end()) kept.vertices.push_back(p);
      if (face.empty() || (face.back() != at && face.front() != at)) face.push_back(at);
    }
    if (face.size() > 2) kept.faces.push_back(std::move(face));
  };
  for (const std::vector<int>& face : surface.faces) {
    Shard piece;
    for (const int k : face) piece.points.push_back(surface.vertices[k]);
    piece.edge.assign(face.size(), 0);
    add(cut(piece, plane).points);
  }
  if (surface.ground) return kept;
  std::vector<Vector3d> rim;
  for (const Vector3d& p : kept.vertices) {
    if (std::abs(plane.height(p)) < eps) rim.push_back(p);
  }
  if (rim.size() < 3) return kept;
  const Vector3d centre =
      std::accumulate(rim.begin(), rim.end(), Vector3d(0, 0, 0)) / static_cast<double>(rim.size());
  const auto [x, y] = axes(-plane.normal);
  const auto angle = [&, x = x, y = y](const Vector3d& p) {
    return std::atan2(y.dot(p - centre), x.dot(p - centre));
  };
  std::sort(rim.begin(), rim.end(),
            [&](const Vector3d& a, const Vector3d& b) { return angle(a) < angle(b); });
  add(rim);
  return kept;
}

bool inside(const Surface& surface, const Plane& plane) {
  return std::all_of(surface.vertices.begin(), surface.vertices.end(),
                     [&](const Vector3d& p) { return plane.height(p) >= 0; });
}

/// The faces of a surface that look at the viewer.
void add_pieces(const Surface& surface, int index, const Camera& camera,
                std::vector<Shard>& pieces) {
  std::vector<Vector3d> normals;
  std::map<std::pair<int, int>, int> owner;  // of each directed side
  for (std::size_t f = 0; f < surface.faces.size(); ++f) {
    const std::vector<int>& face = surface.faces[f];
    std::vector<Vector3d> points;
    for (const int k : face) points.push_back(surface.vertices[k]);
    normals.push_back(normal_of(points).normalized());
    for (std::size_t k = 0; k < face.size(); ++k)
      owner[{face[k], face[(k + 1) % face.size()]}] = static_cast<int>(f);
  }
  for (std::size_t f = 0; f < surface.faces.size(); ++f) {
    if (!(normals[f].dot(camera.back) > 1e-9)) continue;
    const std::vector<int>& face = surface.faces[f];
    Shard piece{.normal = normals[f], .surface = index, .flat = true};
    for (std::size_t k = 0; k < face.size(); ++k) {
      piece.points.push_back(surface.vertices[face[k]]);
      const auto other = owner.find({face[(k + 1) % face.size()], face[k]});
      const bool open = other == owner.end();
      const double bend = open ? -1 : normals[f].dot(normals[other->second]);
      const bool outline = open || !(normals[other->second].dot(camera.back) > 1e-9);
      piece.edge.push_back(outline || bend < kCrease);
      if (bend >= kCrease && bend < kFlat) piece.flat = false;
    }
    pieces.push_back(std::move(piece));
  }
}

/// Paints from the farthest to the nearest.
class Painter {
 public:
  Painter(const std::vector<Surface>& surfaces, const Camera& camera, const Stage& stage)
      : surfaces_(surfaces), camera_(camera), stage_(stage), eps_(1e-6 * size()) {}

  std::vector<Stroke> strokes;

  /// A binary tree of space: what is behind the plane of a flat face, the face, what is before it.
  void order(std::vector<Shard> pieces) {
    auto widest = pieces.end();
    double area = 0;
    for (auto it = pieces.begin(); it != pieces.end(); ++it) {
      if (!it->flat) continue;
      const double own = normal_of(it->points).norm();
      if (own > area) widest = it, area = own;
    }
    if (widest == pieces.end()) {
      std::stable_sort(pieces.begin(), pieces.end(),
                       [&](const Shard& a, const Shard& b) { return depth(a) < depth(b); });
      for (const Shard& piece : pieces) draw(piece);
      return;
    }
    const Plane plane{widest->normal, widest->normal.dot(widest->points[0])};
    std::vector<Shard> behind, on, before;
    for (Shard& piece : pieces) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (const Vector3d& p : piece.points)
        low = std::min(low, plane.height(p)), high = std::max(high, plane.height(p));
      if (low > -eps_ && high < eps_) {
        on.push_back(std::move(piece));
      } else if (low > -eps_) {
        before.push_back(std::move(piece));
      } else if (high < eps_) {
        behind.push_back(std::move(piece));
      } else {
        before.push_back(cut(piece, plane));
        behind.push_back(cut(piece, {-plane.normal, -plane.offset}));
        if (before.back().points.empty()) before.pop_back();
        if (behind.back().points.empty()) behind.pop_back();
      }
    }
    if (!behind.empty()) order(std::move(behind));
    for (const Shard& piece : on) draw(piece);
    if (!before.empty()) order(std::move(before));
  }

 private:
  double size() const { return (stage_.high - stage_.low).norm(); }

  double depth(const Shard& piece) const {
    double sum = 0;
    for (const Vector3d& p : piece.points) sum += camera_.depth(p);
    return sum / static_cast<double>(piece.points.size());
  }

  Polyline flatten(const std::vector<Vector3d>& points) const {
    Polyline line;
    for (const Vector3d& p : points) line.push_back(camera_.project(p));
    return line;
  }

  void draw(const Shard& piece) {
    const Vector3d colour = shade(surfaces_[piece.surface], piece.normal, camera_);
    strokes.push_back({flatten(piece.points), colour, true, 1, piece.surface});
    if (piece.flat) draw_grid(piece, colour), draw_shadows(piece, colour);
    const bool ground = surfaces_[piece.surface].ground;
    const Vector3d ink = ground ? Vector3d(0.8 * colour) : Vector3d(0.35 * colour + 0.65 * kInk);
    for (std::size_t k = 0; k < piece.points.size(); ++k) {
      if (!piece.edge[k]) continue;
      const Vector3d &a = piece.points[k], &b = piece.points[(k + 1) % piece.points.size()];
      strokes.push_back({flatten({a, b}), ink, false, ground ? 0.8 : 1, piece.surface});
    }
  }

  void draw_grid(const Shard& piece, const Vector3d& colour) {
    if (!surfaces_[piece.surface].ground || !(stage_.cell > 0)) return;
    for (int axis = 0; axis < 2; ++axis) {
      const double from = std::ceil(stage_.low[axis] / stage_.cell) * stage_.cell;
      for (double at = from; at <= stage_.high[axis]; at += stage_.cell) {
        const Plane plane{Vector3d::Unit(axis), at};
        // where the sides pass through the plane
        std::vector<Vector3d> ends;
        for (std::size_t k = 0; k < piece.points.size(); ++k) {
          const Vector3d &a = piece.points[k], &b = piece.points[(k + 1) % piece.points.size()];
          const double ha = plane.height(a), hb = plane.height(b);
          if (ha * hb < 0) ends.emplace_back(a + ha / (ha - hb) * (b - a));
        }
        if (ends.size() == 2)
          strokes.push_back({flatten(ends), 0.93 * colour, false, 0.6, piece.surface});
      }
    }
  }

  /// Every shape but the piece's own throws its convex hull.
  void draw_shadows(const Shard& piece, const Vector3d& colour) {
    const double facing = piece.normal.dot(camera_.light);
    if (facing < 0.05) return;
    const Vector3d origin = piece.points[0];
    const auto [x, y] = axes(piece.normal);
    const Plane plane{piece.normal, piece.normal.dot(origin) + eps_};
    for (std::size_t s = 0; s < surfaces_.size(); ++s) {
      const Surface& caster = surfaces_[s];
      if (static_cast<int>(s) == piece.surface || caster.ground) continue;
      std::vector<Vector2d> spots;
      const auto throw_point = [&, x = x, y = y](const Vector3d& p) {
        const Vector3d d = p - plane.height(p) / facing * camera_.light - origin;
        spots.emplace_back(x.dot(d), y.dot(d));
      };
      if (inside(caster, plane)) {
        for (const Vector3d& p : caster.vertices) throw_point(p);
      } else {
        for (const std::vector<int>& face : caster.faces) {
          Shard part;
          for (const int k : face) part.points.push_back(caster.vertices[k]);
          part.edge.assign(face.size(), 0);
          for (const Vector3d& p : cut(part, plane).points) throw_point(p);
        }
      }
      if (spots.size() < 3) continue;
      Shard shadow{.normal = piece.normal, .surface = piece.surface};
      for (const Vector2d& p : convex_hull(std::move(spots)))
        shadow.points.emplace_back(origin + p.x() * x + p.y() * y);
      if (shadow.points.size() < 3) continue;
      shadow.edge.assign(shadow.points.size(), 0);
      for (std::size_t k = 0; k < piece.points.size() && !shadow.points.empty(); ++k) {
        const Vector3d side = piece.points[(k + 1) % piece.points.size()] - piece.points[k];
        const Vector3d inward = piece.normal.cross(side).normalized();
        shadow = cut(shadow, {inward, inward.dot(piece.points[k])});
      }
      if (!shadow.points.empty())
        strokes.push_back({flatten(shadow.points), 0.8 * colour, true, 1, piece.surface});
    }
  }

  const std::vector<Surface>& surfaces_;
  const Camera& camera_;
  const Stage& stage_;
  double eps_;
};

}  // namespace

Camera::Camera(double azimuth, double elevation) {
  const double a = azimuth * std::numbers::pi / 180, e = elevation * std::numbers::pi / 180;
  back = Vector3d(std::cos(a) * std::cos(e), std::sin(a) * std::cos(e), std::sin(e));
  right = Vector3d(-std::sin(a), std::cos(a), 0);
  up = back.cross(right);
  light = (Vector3d::UnitZ() - 0.5 * right + 0.25 * back).normalized();
}

Vector3d shade(const Surface& surface, const Vector3d& normal, const Camera& camera) {
  if (surface.ground) return 0.25 * surface.colour + 0.75 * Vector3d(0.975, 0.975, 0.98);
  // light from everywhere and from the lamp
  const double lamp = std::max(0.0, normal.dot(camera.light));
  const double sky = 0.5 + 0.5 * normal.z();
  const double bright = 0.42 + 0.24 * sky + 0.5 * lamp;
  return (bright * (0.88 * surface.colour + 0.12 * kPaper)).cwiseMin(1);
}

std::vector<Stroke> paint(std::vector<Surface> surfaces, const Camera& camera, const Stage& stage) {
  // the world ends at the stage, but not below: walls stand on the ground
  for (Surface& s : surfaces) {
    for (int axis = 0; s.fixed && axis < 3; ++axis) {
      const Vector3d unit = Vector3d::Unit(axis);
      for (const Plane& side : {Plane{unit, stage.low[axis]}, Plane{-unit, -stage.high[axis]}}) {
        if (!inside(s, side)) s = cut(s, side);
      }
    }
  }
  std::vector<Shard> pieces;
  for (std::size_t k = 0; k < surfaces.size(); ++k)
    add_pieces(surfaces[k], static_cast<int>(k), camera, pieces);

  // of very many flat faces only the widest cut
  std::vector<double> areas;
  for (const Shard& piece : pieces) {
    if (piece.flat) areas.push_back(normal_of(piece.points).norm());
  }
  if (areas.size() > kPlanes) {
    std::nth_element(areas.begin(), areas.begin() + kPlanes, areas.end(), std::greater<>());
    for (Shard& piece : pieces) piece.flat &= normal_of(piece.points).norm() > areas[kPlanes];
  }
  Painter painter(surfaces, camera, stage);
  painter.order(std::move(pieces));
  return std::move(painter.strokes);
}

}  // namespace routh::io
