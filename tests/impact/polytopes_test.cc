#include "routh/impact/polytopes.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
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

std::vector<VectorXd> random_hull(std::mt19937& random, int dimension, int corners) {
  std::normal_distribution<double> normal;
  std::vector<VectorXd> points;
  for (int i = 0; i < corners; ++i)
    points.push_back(VectorXd::NullaryExpr(dimension, [&] { return normal(random); }));
  return points;
}
VectorXd mixture(const std::vector<VectorXd>& points, const VectorXd& weights) {
  VectorXd x = VectorXd::Zero(points[0].size());
  for (std::size_t i = 0; i < points.size(); ++i)
    x += weights[static_cast<Eigen::Index>(i)] * points[i];
  return x;
}

/// The nearest point x of a hull satisfies (x - c)·(p - x) ≥ 0 for every corner p: the largest
/// violation, relative.
double violation(const std::vector<VectorXd>& points, const VectorXd& c, const HullPoint& nearest) {
  double worst = 0;
  const VectorXd& out = nearest.offset;
  for (const VectorXd& p : points) {
    const VectorXd away = p - c - out;
    if (out.norm() > 0 && away.norm() > 0)
      worst = std::max(worst, -out.dot(away) / (out.norm() * std::max(away.norm(), out.norm())));
  }
  return worst;
}
double largest(const std::vector<VectorXd>& points) {
  double size = 0;
  for (const VectorXd& p : points) size = std::max(size, p.norm());
  return size;
}

TEST(MinNorm, SatisfiesItsOptimalityConditionInAnyUnits) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 5000; ++k) {
    const int dimension = 1 + k % 9;
    std::vector<VectorXd> points = random_hull(random, dimension, 1 + k % 17);
    const double unit = std::pow(10, -9 + 18 * uniform(random));
    for (VectorXd& p : points) p = unit * (p + VectorXd::Constant(dimension, k % 3));
    if (k % 4 == 0) points.push_back(points[random() % points.size()]);  // a corner twice
    if (k % 5 == 0) points.push_back(0.5 * (points.front() + points.back()));
    if (k % 7 == 0) points.push_back((1 + 1e-13) * points.front());  // corners nearly coincide
    const HullPoint nearest = nearest_in_hull(points, VectorXd::Zero(dimension));
    EXPECT_GE(nearest.weights.minCoeff(), 0);
    EXPECT_NEAR(nearest.weights.sum(), 1, 1e-14);
    const double rounding = 1e-14 * largest(points);
    EXPECT_LT((mixture(points, nearest.weights) - nearest.offset).norm(), rounding) << k;
    if (nearest.offset.norm() > 10 * rounding) {
      EXPECT_LT(violation(points, VectorXd::Zero(dimension), nearest), 1e-13) << k;
    }

    // neither the order of the corners nor the unit matters, bit for bit where it is a power of two
    std::vector<VectorXd> shuffled = points, larger = points;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (VectorXd& p : larger) p *= 0x1p60;
    const VectorXd origin = VectorXd::Zero(dimension);
    EXPECT_LT((nearest_in_hull(shuffled, origin).offset - nearest.offset).norm(), 10 * rounding);
    EXPECT_EQ(nearest_in_hull(larger, origin).offset, 0x1p60 * nearest.offset) << k;
  }
}

// Corners that nearly cancel: two points at distance one on both sides of the origin, which lies
// `gap` away from their segment, and others behind them.
TEST(MinNorm, AShortDistanceIsRightRelativeToItself) {
  std::mt19937 random(2);
  for (int k = 0; k < 2000; ++k) {
    const int dimension = 2 + k % 8;
    const double gap = std::pow(10, -1 - k % 11), unit = std::pow(10, k % 19 - 9);
    const Eigen::MatrixXd turn =
        Eigen::HouseholderQR<Eigen::MatrixXd>(
            Eigen::MatrixXd::NullaryExpr(
                dimension, dimension, [&] { return std::normal_distribution<double>()(random); }))
            .householderQ();
    std::vector<VectorXd> points;
    for (int i = 0; i < 2 + k % 9; ++i) {
      // the first coordinate is at least the gap, and the gap itself at two opposite points
      VectorXd p = random_hull(random, dimension, 1)[0];
      p[0] = gap * (1 + std::abs(p[0]));
      if (i < 2)
        p = gap * VectorXd::Unit(dimension, 0) + (i ? 1 : -1) * VectorXd::Unit(dimension, 1);
      points.push_back(unit * (turn * p));
    }
    const HullPoint nearest = nearest_in_hull(points, VectorXd::Zero(dimension));
    EXPECT_NEAR(nearest.offset.norm() / unit, gap, 1e-14) << k;
    EXPECT_LT(violation(points, VectorXd::Zero(dimension), nearest), 1e-13) << k;
    // every corner lies on the far side, which proves that no mixture vanishes
    for (const VectorXd& p : points) EXPECT_GT(p.dot(nearest.offset), 0) << k;
  }
}

// As the edges of a friction cone of bodies whose masses differ by many decades.
TEST(MinNorm, CornersMayDifferInSizeByManyDecades) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 2000; ++k) {
    const int dimension = 1 + k % 6;
    std::vector<VectorXd> points = random_hull(random, dimension, 2 + k % 9);
    for (VectorXd& p : points) {
      p[0] = std::abs(p[0]) + 0.1;  // a pointed cone
      p *= std::pow(10, 12 * uniform(random) - 6);
    }
    const HullPoint nearest = nearest_in_hull(points, VectorXd::Zero(dimension));
    EXPECT_LT(violation(points, VectorXd::Zero(dimension), nearest), 1e-12) << k;
    for (const VectorXd& p : points) EXPECT_GT(p.dot(nearest.offset), 0) << k;
  }
}

TEST(MinNorm, RefusesAnEmptyHull) {
  EXPECT_THROW((void)min_norm_weights({}), std::invalid_argument);
}

TEST(NearestPoint, MixturesOfAPiecesCornersLieInItInAnyUnits) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 3000; ++k) {
    const int dimension = 1 + k % 9;
    Polytope piece = polytope(dimension, random_hull(random, dimension, 1 + k % 13));
    const double unit = std::pow(10, k % 19 - 9), flat = k % 2 ? 1e-7 : 1;
    for (VectorXd& p : piece.corners) p[0] *= flat, p *= unit;
    VectorXd weights = VectorXd::NullaryExpr(static_cast<Eigen::Index>(piece.corners.size()),
                                             [&] { return uniform(random); });
    if (k % 3 == 0) weights.setOnes();  // the centroid
    const VectorXd inside = mixture(piece.corners, weights / weights.sum());
    EXPECT_LT(nearest_point({piece}, inside).distance, 1e-13 * largest(piece.corners)) << k;
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

TEST(Coverage, ScalesWithTheUnit) {
  const std::vector<VectorXd> corners{Vector2d(0, 0), Vector2d(1, 0), Vector2d(0.3, 0.8)};
  const std::vector<VectorXd> samples{Vector2d(0.1, 0.1), Vector2d(0.5, -0.2), Vector2d(0.3, 0.5)};
  const auto at = [&](double unit) {
    std::vector<VectorXd> piece = corners, seen = samples;
    for (VectorXd& x : piece) x *= unit;
    for (VectorXd& x : seen) x *= unit;
    return coverage({polytope(2, piece)}, seen);
  };
  const Coverage one = at(1);
  EXPECT_NEAR(one.outside, 0.2, 1e-14);
  for (const double unit : {1e-9, 1e-5, 1e5, 1e9}) {
    EXPECT_NEAR(at(unit).outside / unit, one.outside, 1e-13);
    EXPECT_NEAR(at(unit).missed / unit, one.missed, 1e-13);
    EXPECT_NEAR(at(unit).resolution / unit, one.resolution, 1e-13);
  }
}

TEST(Coverage, StopsWhenToldTo) {
  const std::vector<Polytope> segment{polytope(1, {Vector2d(0, 0), Vector2d(1, 0)})};
  EXPECT_TRUE(coverage(segment, {Vector2d(0, 0)}, [] { return true; }).stopped);
  EXPECT_FALSE(coverage(segment, {Vector2d(0, 0)}, [] { return false; }).stopped);
}

TEST(Coverage, OfAPointIsADistance) {
  const Coverage c = coverage({polytope(0, {Vector2d(1, 1)})}, {Vector2d(1, 1.5)});
  EXPECT_DOUBLE_EQ(c.outside, 0.5);
  EXPECT_DOUBLE_EQ(c.missed, 0.5);
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
