#include "routh/lcp/double_description.h"

#include <gtest/gtest.h>

#include <random>

namespace routh::lcp {
namespace {

const Pause kNever = [] {};

IntegerRow row(const std::vector<long>& x) { return IntegerRow({x.begin(), x.end()}); }
std::vector<IntegerRow> cube(int dimension, long from = 0, long to = 1) {
  std::vector<IntegerRow> corners;
  for (int k = 0; k < 1 << dimension; ++k) {
    std::vector<long> x{1};
    for (int d = 0; d < dimension; ++d) x.push_back(k >> d & 1 ? to : from);
    corners.push_back(row(x));
  }
  return corners;
}

TEST(DoubleDescription, ACubeHasTwoFacetsAnAxis) {
  for (int dimension = 1; dimension <= 6; ++dimension) {
    std::vector<IntegerRow> points = cube(dimension);
    points.push_back(points[0]);                                    // twice
    points.push_back(row(std::vector<long>(dimension + 1, 1)));     // a corner again
    points.push_back(combination(1, points[0], 1, points.back()));  // the centre
    const Cone c = hull(points, kNever);
    EXPECT_EQ(c.facets.size(), 2u * dimension);
    EXPECT_EQ(c.rays().size(), 1u << dimension);
    EXPECT_EQ(c.dimension(), dimension);
    EXPECT_TRUE(c.contains(points));
    EXPECT_FALSE(c.contains(row([&] {
      std::vector<long> beyond(dimension + 1, 0);
      beyond[0] = 1, beyond[1] = 2;
      return beyond;
    }())));
  }
}

TEST(DoubleDescription, ACutLeavesWhatBothHave) {
  // the corner x + y + z <= 1 of the unit cube, then its face z = 0, then nothing
  Cone c = hull(cube(3), kNever);
  c.cut(row({1, -1, -1, -1}), false, kNever);
  EXPECT_EQ(c.rays().size(), 4u);
  c.cut(row({0, 0, 0, 1}), true, kNever);
  EXPECT_EQ(c.rays().size(), 3u);
  c.cut(row({-2, 1, 1, 0}), false, kNever);
  EXPECT_TRUE(c.empty());
}

// The moment curve: every two of 40 points share an edge, and there are more than 64 facets.
TEST(DoubleDescription, ManyFacetsAreKept) {
  std::vector<IntegerRow> points;
  for (long t = 1; t <= 40; ++t) points.push_back(row({1, t, t * t, t * t * t, t * t * t * t}));
  const Cone c = hull(points, kNever);
  EXPECT_EQ(c.rays().size(), 40u);
  EXPECT_EQ(c.facets.size(), 40u * 37 / 2);  // cyclic polytopes, n (n - 3) / 2
}

TEST(DoubleDescription, SignsAreThoseOfTheProduct) {
  // long numbers that cancel but for the last digit
  std::mt19937 random(521);
  gmp_randclass numbers(gmp_randinit_default);
  numbers.seed(522);
  int zero = 0, positive = 0, negative = 0;
  for (int k = 0; k < 2000; ++k) {
    const int digits = 1 + static_cast<int>(random() % 3000);
    std::vector<mpz_class> a(3), b(3);
    for (int i = 0; i < 2; ++i)
      a[i] = numbers.get_z_bits(digits), b[i] = numbers.get_z_bits(digits);
    a[2] = a[0] * b[0] + a[1] * b[1];
    b[2] = -1;
    a[2] += static_cast<int>(random() % 3) - 1;
    const mpz_class exact = a[0] * b[0] + a[1] * b[1] - a[2];
    EXPECT_EQ(product_sign(IntegerRow(a), IntegerRow(b)), sgn(exact));
    zero += exact == 0, positive += exact > 0, negative += exact < 0;
  }
  EXPECT_GT(std::min({zero, positive, negative}), 300);
}

TEST(DoubleDescription, UnionsCoverWhatNoneOfThemDoes) {
  const Cone square = hull(cube(2, 0, 4), kNever), corner = hull(cube(2, 0, 3), kNever);
  const Cone left = hull({row({1, 0, 0}), row({1, 2, 0}), row({1, 0, 4}), row({1, 2, 4})}, kNever);
  const Cone right = hull({row({1, 1, 0}), row({1, 4, 0}), row({1, 1, 4}), row({1, 4, 4})}, kNever);
  const Cone gap = hull({row({1, 3, 0}), row({1, 4, 0}), row({1, 3, 4}), row({1, 4, 4})}, kNever);
  const Cone edge = hull({row({1, 2, 0}), row({1, 2, 4})}, kNever);
  EXPECT_TRUE(covered(square, {left, right}, 100, kNever));
  EXPECT_TRUE(covered(square, {edge, corner, left, right}, 100, kNever));
  EXPECT_FALSE(covered(square, {left, gap}, 100, kNever));
  EXPECT_FALSE(covered(square, {left, gap, edge}, 100, kNever));
  EXPECT_TRUE(covered(edge, {left}, 100, kNever));
  EXPECT_FALSE(covered(square, {}, 100, kNever));
  ASSERT_TRUE(convex_union(left, right, kNever));
  EXPECT_TRUE(convex_union(left, right, kNever)->contains(square.rows()));
  EXPECT_FALSE(convex_union(left, gap, kNever));
}

TEST(DoubleDescription, WorkCanBeAbandoned) {
  int left = 30;
  const Pause soon = [&] {
    if (--left < 0) throw std::runtime_error("enough");
  };
  EXPECT_THROW((void)hull(cube(6), soon), std::runtime_error);
}

}  // namespace
}  // namespace routh::lcp
