#include <algorithm>
#include <cmath>
#include <limits>

#include "routh/model/planar_kinematics.h"

namespace routh::planar {
namespace {

using Eigen::Vector2d;

/// Nearer than this to a corner, relative to the length of the edge, its direction is rounding: the
/// edge decides.
constexpr double kCorner = 4e-6;

Touch touch_around(const Vector2d& centre, double radius, const Vector2d& point,
                   double point_radius) {
  const double distance = (centre - point).norm();
  const Vector2d normal = distance > 0 ? Vector2d((centre - point) / distance) : Vector2d::UnitY();
  return {distance - radius - point_radius, normal, point + point_radius * normal, point};
}

Touch touch_face(const Vector2d& centre, double radius, const Vector2d& on_line,
                 const Vector2d& normal) {
  const double distance = normal.dot(centre - on_line);
  return {distance - radius, normal, centre - distance * normal, {}};
}

struct ToSecond {
  const Frame& first;
  Vector2d centre;
  double radius;
  const Frame& frame;

  Touch operator()(const Round& round) const {
    return touch_around(centre, radius, frame.place(round.at), round.radius);
  }

  Touch operator()(const Edge& edge) const {
    const Vector2d normal = frame.turn(edge.normal).normalized(), start = frame.place(edge.at);
    // beyond the ends of an edge its corners are nearest
    if (edge.length > 0) {
      const double along = turned(normal).dot(centre - start), close = kCorner * edge.length;
      const Vector2d end = start + edge.length * turned(normal);
      if (along < 0 && (centre - start).norm() > close)
        return touch_around(centre, radius, start, 0);
      if (along > edge.length && (centre - end).norm() > close)
        return touch_around(centre, radius, end, 0);
    }
    return touch_face(centre, radius, start, normal);
  }

  Touch operator()(const Track& track) const {
    // the nearest point of the curve: (x - cx) + (y - cy) y' = 0 by Newton's method
    double x = centre.x(), y = 0, slope = 0, bend = 0;
    for (int iteration = 0; iteration < 50; ++iteration) {
      y = slope = bend = 0;
      for (std::size_t i = track.coefficients.size(); i-- > 0;) {
        bend = bend * x + 2 * slope;
        slope = slope * x + y;
        y = y * x + track.coefficients[i];
      }
      const double along = (x - centre.x()) + (y - centre.y()) * slope;
      const double change = along / (1 + slope * slope + (y - centre.y()) * bend);
      x -= change;
      if (std::abs(change) <= 1e-15 * (1 + std::abs(x))) break;
    }
    Touch touch = touch_face(centre, radius, {x, y}, Vector2d(-slope, 1).normalized());
    touch.on_second = {x, y};
    const double length = std::sqrt(1 + slope * slope);
    const double curvature = bend / (length * length * length);
    if (std::abs(curvature) > 1e-12) touch.around = touch.on_second + touch.normal / curvature;
    return touch;
  }

  Touch operator()(const Polygon& polygon) const {
    // inside: the edge that is left soonest; outside: the edge or the corner that is nearest
    const std::size_t n = polygon.vertices.size();
    const Vector2d x = local(centre);
    double deepest = -std::numeric_limits<double>::infinity(), nearest = -deepest;
    std::size_t face = 0, corner = 0;
    bool beside = false;  // an outside point above an edge
    for (std::size_t i = 0; i < n; ++i) {
      const Vector2d &from = polygon.vertices[i], along = polygon.vertices[(i + 1) % n] - from;
      const Vector2d normal = Vector2d(along.y(), -along.x()).normalized();
      const double height = normal.dot(x - from), place = along.dot(x - from);
      const bool above = height > 0 && place >= 0 && place <= along.squaredNorm();
      if (above || (!beside && height > deepest)) deepest = height, face = i;
      beside = beside || above;
      const double distance = (x - from).squaredNorm();
      if (distance < nearest) nearest = distance, corner = i;
    }
    const double close = kCorner * (polygon.vertices[1] - polygon.vertices[0]).norm();
    if (deepest <= close && !polygon.other.empty()) {
      face = separating_face(polygon);
    } else if (deepest > 0 && !beside && nearest > close * close) {
      return touch_around(centre, radius, frame.place(polygon.vertices[corner]), 0);
    }
    const Vector2d &from = polygon.vertices[face], along = polygon.vertices[(face + 1) % n] - from;
    return touch_face(centre, radius, frame.place(from),
                      frame.turn(Vector2d(along.y(), -along.x())).normalized());
  }

  /// The edge above which the other polygon's lowest corner is highest.
  std::size_t separating_face(const Polygon& polygon) const {
    const std::size_t n = polygon.vertices.size();
    double best = -std::numeric_limits<double>::infinity();
    std::size_t face = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Vector2d &from = polygon.vertices[i], along = polygon.vertices[(i + 1) % n] - from;
      const Vector2d normal = Vector2d(along.y(), -along.x()).normalized();
      double lowest = std::numeric_limits<double>::infinity();
      for (const Vector2d& corner : polygon.other)
        lowest = std::min(lowest, normal.dot(local(first.place(corner)) - from));
      if (lowest > best) best = lowest, face = i;
    }
    return face;
  }

  Vector2d local(const Vector2d& world) const {
    const Vector2d d = world - frame.position;
    return {frame.cosine * d.x() + frame.sine * d.y(), -frame.sine * d.x() + frame.cosine * d.y()};
  }
};

}  // namespace

Touch touch(const ContactPair& pair, const Frame& first, const Frame& second) {
  return std::visit(ToSecond{first, first.place(pair.first.at), pair.first.radius, second},
                    pair.second);
}

}  // namespace routh::planar
