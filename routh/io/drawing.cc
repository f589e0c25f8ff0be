#include "routh/io/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace routh::io {

using Eigen::Vector2d;
using Eigen::VectorXd;

std::vector<Polyline> outline(const Shape& shape) {
  std::vector<Polyline> lines;
  if (shape.radius > 0) {
    Polyline circle;
    for (int k = 0; k <= 48; ++k) {
      const double angle = 2 * std::numbers::pi * k / 48;
      circle.push_back(shape.vertices[0] +
                       shape.radius * Vector2d(std::cos(angle), std::sin(angle)));
    }
    lines.push_back(std::move(circle));
    // a spoke shows how the disc turns
    if (shape.radius > 0.1)
      lines.push_back({shape.vertices[0], shape.vertices[0] + Vector2d(0, shape.radius)});
  } else if (shape.vertices.size() > 1) {
    lines.push_back(shape.vertices);
    if (shape.vertices.size() > 2) lines.back().push_back(shape.vertices[0]);
  }
  return lines;
}

namespace {

bool moves(const Body& body) { return body.joint != Joint::kFixed || body.parent != kWorld; }

}  // namespace

std::vector<Polyline> outlines(const PlanarMechanism& mechanism, const VectorXd& q) {
  std::vector<Polyline> lines;
  const std::vector<Frame> frames = mechanism.frames(q, VectorXd::Zero(mechanism.nv()));
  for (std::size_t b = 0; b < frames.size(); ++b) {
    if (!moves(mechanism.bodies()[b])) continue;
    for (const Shape& shape : mechanism.bodies()[b].shapes) {
      for (Polyline line : outline(shape)) {
        for (Vector2d& p : line) p = frames[b].place(p);
        lines.push_back(std::move(line));
      }
    }
  }
  for (const Spring& spring : mechanism.springs()) {
    const auto end = [&](int body, const Vector2d& at) {
      return body == kWorld ? at : frames[body].place(at);
    };
    lines.push_back({end(spring.body, spring.at), end(spring.other, spring.at_other)});
  }
  return lines;
}

std::vector<Polyline> planes(const PlanarMechanism& mechanism, const Vector2d& low,
                             const Vector2d& high) {
  std::vector<Polyline> lines;
  const double reach = 2 * (high - low).norm();
  for (const ContactPair& pair : mechanism.contacts()) {
    const Edge* edge = std::get_if<Edge>(&pair.second);
    if (!edge || edge->body != kWorld) continue;
    // from the point of the plane that is nearest to the middle of the window
    const Vector2d along(-edge->normal.y(), edge->normal.x());
    const Vector2d foot = edge->at + along * along.dot(0.5 * (low + high) - edge->at);
    lines.push_back({foot - reach * along, foot + reach * along});
  }
  for (const Body& body : mechanism.bodies()) {
    if (moves(body)) continue;
    Frame frame;
    frame.position = body.at;
    frame.cosine = std::cos(body.angle), frame.sine = std::sin(body.angle);
    for (const Shape& shape : body.shapes) {
      for (Polyline line : outline(shape)) {
        for (Vector2d& p : line) p = frame.place(p);
        lines.push_back(std::move(line));
      }
    }
  }
  return lines;
}

void extent(const PlanarMechanism& mechanism, const VectorXd& q, Vector2d& low, Vector2d& high) {
  const std::vector<Frame> frames = mechanism.frames(q, VectorXd::Zero(mechanism.nv()));
  for (std::size_t b = 0; b < frames.size(); ++b) {
    const Body& body = mechanism.bodies()[b];
    if (!moves(body)) continue;
    for (const Shape& shape : body.shapes) {
      for (const Vector2d& v : shape.vertices) {
        const Vector2d p = frames[b].place(v);
        low = low.cwiseMin(p - Vector2d::Constant(shape.radius));
        high = high.cwiseMax(p + Vector2d::Constant(shape.radius));
      }
    }
  }
}

std::vector<Vector2d> convex_hull(std::vector<Vector2d> points) {
  std::sort(points.begin(), points.end(), [](const Vector2d& a, const Vector2d& b) {
    return std::pair(a.x(), a.y()) < std::pair(b.x(), b.y());
  });
  // lower hull, then upper hull
  std::vector<Vector2d> hull;
  for (int side = 0; side < 2; ++side) {
    const std::size_t base = hull.size();
    for (const Vector2d& p : points) {
      while (hull.size() >= base + 2) {
        const Vector2d a = hull.back() - hull[hull.size() - 2], b = p - hull.back();
        if (a.x() * b.y() - a.y() * b.x() > 1e-14) break;
        hull.pop_back();
      }
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull.empty() ? std::vector<Vector2d>{points.front()} : hull;
}

std::string polylines(const std::vector<Polyline>& lines) {
  std::string text;
  for (const Polyline& line : lines) {
    for (const Vector2d& p : line) text += fmt::format("{:.5g} {:.5g}\n", p.x(), p.y());
    text += '\n';
  }
  return text;
}

}  // namespace routh::io
