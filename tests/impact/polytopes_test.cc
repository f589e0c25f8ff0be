#include "routh/impact/polytopes.h"

#include <gtest/gtest.h>

#include <random>

namespace routh {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

Polytope polytope(int dimension, const std::vector<VectorXd>& corners) {
  return {.dimension = dimension, .corners = corners, .modes = {}};
}

TEST(MinNorm, FindsCornersEdgesAndInsides) {
  const std::vector<VectorXd> triangle{Vector2d(1, -1), Vector2d(1, 1), Vector2d(3, 0)};
  EXPECT_LT((min_norm_weights(triangle) - Eigen::Vector3d(0.5, 0.5, 0)).norm(), 1e-12);
  const std::vector<VectorXd> around{Vector2d(1, 0), Vector2d(-1, 1), Vector2d(-1, -1)};
  EXPECT_LT((min_norm_weights(around) - Eigen::Vector3d(0.5, 0.25, 0.25)).norm(), 1e-12);
  EXPECT_EQ(min_norm_weights({Vector2d(2, 3)})[0], 1);
}

// The nearest point x of a hull satisfies x·p ≥ x·x for every corner p.
TEST(MinNorm, SatisfiesItsOptimalityCondition) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 500; ++k) {
    std::vector<VectorXd> points;
    const int dimension = 1 + k % 6;
    for (int i = 0; i < 2 + k % 11; ++i)
      points.push_back(VectorXd::NullaryExpr(dimension, [&] { return normal(random); }) +
                       VectorXd::Constant(dimension, k % 3));
    const VectorXd weights = min_norm_weights(points);
    EXPECT_GE(weights.minCoeff(), 0);
    EXPECT_NEAR(weights.sum(), 1, 1e-12);
    VectorXd x = VectorXd::Zero(dimension);
    for (std::size_t i = 0; i < points.size(); ++i) x += weights[i] * points[i];
    for (const VectorXd& p : points) EXPECT_GE(p.dot(x), x.squaredNorm() - 1e-9) << "problem " << k;
  }
}

TEST(NearestPoint, OfAUnionIsThatOfItsNearestPiece) {
  const std::vector<Polytope> pieces{polytope(1, {Vector2d(0, 0), Vector2d(1, 0)}),
                                     polytope(0, {Vector2d(5, 5)})};
  EXPECT_NEAR(nearest_point(pieces, Vector2d(0.4, 2)).distance, 2, 1e-14);
  EXPECT_NEAR(nearest_point(pieces, Vector2d(5, 4)).distance, 1, 1e-14);
  EXPECT_TRUE(std::isinf(nearest_point({}, Vector2d(5, 4)).distance));
}

TEST(Coverage, MeasuresBothWays) {
  const std::vector<Polytope> segment{polytope(1, {Vector2d(0, 0), Vector2d(1, 0)})};
  const Coverage c = coverage(segment, {Vector2d(0, 0), Vector2d(0.5, 0.2)});
  EXPECT_NEAR(c.outside, 0.2, 1e-12);
  EXPECT_NEAR(c.missed, std::hypot(0.5, 0.2), 1e-9);
  EXPECT_DOUBLE_EQ(c.hausdorff(), c.missed);
}

TEST(Fill, CoversAPolygon) {
  const std::vector<Polytope> square{
      polytope(2, {Vector2d(0, 0), Vector2d(1, 1), Vector2d(1, 0), Vector2d(0, 1)})};
  const std::vector<VectorXd> points = fill(square, 0.05);
  for (const Vector2d& probe : {Vector2d(0.31, 0.77), Vector2d(0.9, 0.1), Vector2d(0.03, 0.99)}) {
    double nearest = 1;
    for (const VectorXd& p : points) nearest = std::min(nearest, (p - probe).norm());
    EXPECT_LT(nearest, 0.05);
  }
}

}  // namespace
}  // namespace routh
