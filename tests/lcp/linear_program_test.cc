#include "routh/lcp/linear_program.h"

#include <gtest/gtest.h>

#include <random>

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(LinearProgram, HandAnswer) {
  // largest x + 2y with x + y ≤ 4, y ≤ 3: at (1, 3)
  LinearProgram p{
      .A = MatrixXd(2, 4), .b = Eigen::Vector2d(4, 3), .q = Eigen::Vector4d(1, 2, 0, 0)};
  p.A << 1, 1, 1, 0, 0, 1, 0, 1;
  const LinearSolution s = solve(p);
  ASSERT_EQ(s.status, LinearStatus::kOptimal);
  EXPECT_NEAR(s.value, 7, 1e-12);
  EXPECT_NEAR(s.x[0], 1, 1e-12);
}

TEST(LinearProgram, InfeasibleAndUnboundedOnesAreNamed) {
  LinearProgram p{.A = MatrixXd::Ones(1, 2), .b = VectorXd::Constant(1, -1), .q = {}};
  const LinearSolution none = solve(p);
  ASSERT_EQ(none.status, LinearStatus::kInfeasible);
  EXPECT_GE((p.A.transpose() * none.y).minCoeff(), 0);
  EXPECT_LT(none.y.dot(p.b), 0);
  p.A << 1, -1;
  p.b << 1;
  p.q = VectorXd::Ones(2);
  EXPECT_EQ(solve(p).status, LinearStatus::kUnbounded);
}

// Strong duality on programs with a known feasible point, degenerate ones among them: every corner
// that another pivoting order could reach is no better.
TEST(LinearProgram, NoFeasiblePointIsBetterThanTheOptimum) {
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  int optimal = 0;
  for (int k = 0; k < 2000; ++k) {
    const int rows = 1 + k % 6, columns = rows + 1 + k % 5;
    LinearProgram p{.A = MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); }),
                    .b = {},
                    .q = VectorXd::NullaryExpr(columns, [&] { return normal(random); })};
    p.A.row(0).setOnes();  // bounded
    VectorXd inside =
        VectorXd::NullaryExpr(columns, [&] { return std::max(0.0, uniform(random) - 0.4); });
    if (k % 3 == 0 && rows > 2) p.A.row(rows - 1) = p.A.row(1);  // a row too many
    p.b = p.A * inside;
    const LinearSolution s = solve(p);
    ASSERT_EQ(s.status, LinearStatus::kOptimal) << k;
    EXPECT_LT((p.A * s.x - p.b).norm(), 1e-9) << k;
    EXPECT_GE(s.value, p.q.dot(inside) - 1e-9) << k;
    ++optimal;
    // a row that contradicts the others
    LinearProgram q = p;
    q.A.conservativeResize(rows + 1, columns);
    q.A.row(rows) = p.A.row(0);
    q.b.conservativeResize(rows + 1);
    q.b[rows] = p.b[0] + 0.1;
    EXPECT_EQ(solve(q).status, LinearStatus::kInfeasible) << k;
  }
  EXPECT_EQ(optimal, 2000);
}

TEST(LinearProgram, WithoutVariablesIsDecidedByItsRightSide) {
  LinearProgram p{.A = Eigen::MatrixXd(2, 0), .b = Eigen::Vector2d(1, 0), .q = {}};
  EXPECT_EQ(solve(p).status, LinearStatus::kInfeasible);
  p.b.setZero();
  EXPECT_EQ(solve(p).status, LinearStatus::kOptimal);
}

}  // namespace
}  // namespace routh::lcp
