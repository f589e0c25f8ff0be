// The painter's order: what is nearer comes later, wherever shapes pass through each other.

#include "routh/io/painter.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

Surface box(const Vector3d& centre, const Vector3d& half) {
  Surface s;
  for (int k = 0; k < 8; ++k)
    s.vertices.push_back(
        centre + Vector3d(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).cwiseProduct(half));
  s.faces = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  return s;
}

Surface ground() {
  Surface s;
  s.vertices = {{-9, -9, 0}, {9, -9, 0}, {9, 9, 0}, {-9, 9, 0}};
  s.faces = {{0, 1, 2, 3}};
  s.fixed = s.ground = true;
  return s;
}

const Stage kStage{Vector3d(-2, -2, -1), Vector3d(2, 2, 2), 0.5};

bool holds(const Polyline& polygon, const Vector2d& p) {
  int sign = 0;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Vector2d a = polygon[k], b = polygon[(k + 1) % polygon.size()];
    const double side = (b - a).x() * (p - a).y() - (b - a).y() * (p - a).x();
    if (side != 0 && sign * side < 0) return false;
    if (side != 0) sign = side > 0 ? 1 : -1;
  }
  return true;
}

/// What a viewer sees at the picture of p: the last polygon there.
int seen_at(const std::vector<Stroke>& strokes, const Vector2d& p) {
  int surface = -1;
  for (const Stroke& s : strokes) {
    if (s.filled && holds(s.points, p)) surface = s.surface;
  }
  return surface;
}

TEST(Painter, ANearerFaceIsPaintedLater) {
  const Camera camera;
  const Vector3d size = Vector3d::Constant(0.2);
  const Vector3d far(0, 0, 0.5), near = far + camera.back;
  for (const bool swapped : {false, true}) {
    std::vector<Surface> both{box(far, size), box(near, size)};
    if (swapped) std::swap(both[0], both[1]);
    EXPECT_EQ(seen_at(paint(both, camera, kStage), camera.project(far)), swapped ? 0 : 1);
  }
}

TEST(Painter, BoxesThatPassThroughEachOtherAreSeenWhereTheyAreOutside) {
  const Camera camera;
  const std::vector<Surface> cross{box({0, 0, 1}, {1, 0.1, 0.1}), box({0, 0, 1}, {0.1, 1, 0.1}),
                                   box({0, 0, 1}, {0.05, 0.05, 1})};
  const std::vector<Stroke> strokes = paint(cross, camera, kStage);
  // the ends of the three bars
  EXPECT_EQ(seen_at(strokes, camera.project({1, 0.02, 1.02})), 0);
  EXPECT_EQ(seen_at(strokes, camera.project({0.02, -1, 1.02})), 1);
  EXPECT_EQ(seen_at(strokes, camera.project({0.01, 0.02, 2})), 2);
}

TEST(Painter, TheGroundLiesUnderEverythingAndEndsAtTheStage) {
  const Camera camera;
  const std::vector<Stroke> strokes =
      paint({box({0, 0, 0.3}, {0.3, 0.3, 0.3}), ground()}, camera, kStage);
  EXPECT_EQ(seen_at(strokes, camera.project({0, 0, 0.6})), 0);
  EXPECT_EQ(seen_at(strokes, camera.project({-1.8, -1.8, 0})), 1);
  EXPECT_EQ(seen_at(strokes, camera.project({-2.1, -2.1, 0})), -1);
}

TEST(Painter, ABoxThrowsAShadowOnTheGroundAlone) {
  const Camera camera;
  const auto darkest = [&](std::vector<Surface> surfaces) {
    double least = 1;
    const std::vector<Stroke> strokes = paint(std::move(surfaces), camera, kStage);
    for (const Stroke& s : strokes) {
      if (s.filled && s.surface == 0) least = std::min(least, s.colour.sum() / 3);
    }
    return least;
  };
  EXPECT_LT(darkest({ground(), box({0, 0, 0.5}, {0.3, 0.3, 0.3})}), 0.9 * darkest({ground()}));
}

}  // namespace
}  // namespace routh::io
