#include "routh/lcp/lemke.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_problem.h"

namespace routh::lcp {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

TEST(Lemke, SolvesAHandExample) {
  // z = (4/3, 7/3): both basic, 2 z1 + z2 = 5, z1 + 2 z2 = 6
  const Problem p{(Matrix2d() << 2, 1, 1, 2).finished(), Vector2d(-5, -6)};
  const LemkeResult r = lemke(p);
  ASSERT_EQ(r.status, Status::kSolved);
  EXPECT_NEAR(r.z[0], 4.0 / 3, 1e-14);
  EXPECT_NEAR(r.z[1], 7.0 / 3, 1e-14);
  EXPECT_LT(r.residual, 1e-14);
}

TEST(Lemke, ReturnsZeroWhenNothingPushes) {
  const LemkeResult r = lemke({MatrixXd::Identity(3, 3), VectorXd::Ones(3)});
  EXPECT_EQ(r.status, Status::kSolved);
  EXPECT_EQ(r.z, VectorXd::Zero(3));
  EXPECT_EQ(r.pivots, 0);
}

TEST(Lemke, AnEmptyProblemIsSolved) {
  EXPECT_EQ(lemke({MatrixXd(0, 0), VectorXd(0)}).status, Status::kSolved);
}

TEST(Lemke, ReportsARayWhenThereIsNoSolution) {
  // -z1 - 1 >= 0 has no solution with z1 >= 0
  const LemkeResult r = lemke({-MatrixXd::Identity(1, 1), VectorXd::Constant(1, -1)});
  EXPECT_EQ(r.status, Status::kRay);
  EXPECT_GT(r.residual, 0.1);
}

TEST(Lemke, ReportsSpentPivotsWithTheIterate) {
  const Problem p{(Matrix2d() << 2, 1, 1, 2).finished(), Vector2d(-5, -6)};
  const LemkeResult r = lemke(p, {.max_pivots = 1});
  EXPECT_EQ(r.status, Status::kPivotLimit);
  EXPECT_EQ(r.z.size(), 2);
  EXPECT_GT(r.residual, 0);
}

TEST(Lemke, RefusesBadInputByName) {
  const auto message = [](const Problem& p, const LemkeOptions& o = {}) -> std::string {
    try {
      (void)lemke(p, o);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({MatrixXd(2, 3), VectorXd(2)}).find("W is 2 x 3"), std::string::npos);
  EXPECT_NE(message({MatrixXd::Zero(2, 2), VectorXd(3)}).find("w has 3"), std::string::npos);
  EXPECT_NE(message({MatrixXd::Constant(1, 1, NAN), VectorXd::Zero(1)}).find("W has"),
            std::string::npos);
  EXPECT_NE(message({MatrixXd::Zero(1, 1), VectorXd::Constant(1, INFINITY)}).find("w has"),
            std::string::npos);
  EXPECT_NE(message({MatrixXd::Zero(1, 1), VectorXd::Constant(1, -1)}, {.cover = VectorXd::Zero(1)})
                .find("cover"),
            std::string::npos);
}

TEST(Lemke, DoesNotCycleOnTies) {
  // every row ties in every ratio test: W of ones, all w equal
  for (const int n : {2, 5, 12}) {
    const LemkeResult r = lemke({MatrixXd::Ones(n, n), VectorXd::Constant(n, -1)});
    EXPECT_EQ(r.status, Status::kSolved) << n;
  }
}

TEST(Residual, IsZeroAtSolutionsAndInfiniteForNan) {
  const Problem p{MatrixXd::Identity(2, 2), Vector2d(-1, 1)};
  EXPECT_EQ(residual(p, Vector2d(1, 0)), 0);
  EXPECT_DOUBLE_EQ(residual(p, Vector2d(1.5, 0)), 0.5);
  EXPECT_TRUE(std::isinf(residual(p, Vector2d(NAN, 0))));
}

// P1 Theorem 6: the step problem has a solution and Lemke finds it, whatever the ranks and zeros.
TEST(Lemke, SolvesEveryStepProblemOfRandomImpacts) {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform(0, 1);
  double worst = 0;
  for (int k = 0; k < 20000; ++k) {
    const int m = 1 + k % 5, nv = 1 + k / 5 % 7;
    const ImpactProblem p = test::random_impact(random, m, nv).problem;
    const VectorXd bound =
        VectorXd::NullaryExpr(m, [&] { return uniform(random) < 0.1 ? 0 : uniform(random); });
    const LemkeResult r = lemke(step_lcp(p, bound));
    ASSERT_EQ(r.status, Status::kSolved)
        << "problem " << k << ", " << m << " contacts: " << to_string(r.status) << " "
        << r.residual;
    worst = std::max(worst, r.residual);
  }
  EXPECT_LT(worst, 1e-10);
}

}  // namespace
}  // namespace routh::lcp
