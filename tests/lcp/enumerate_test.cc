#include "routh/lcp/enumerate.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/lcp/lemke.h"
#include "soak.h"

namespace routh::lcp {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

TEST(Enumerate, FindsBothSolutionsOfAHandExample) {
  // W = [[1, 2], [2, 1]], w = (-1, -1): (1/3, 1/3), and each variable alone: (1, 0), (0, 1)
  const Problem p{(Matrix2d() << 1, 2, 2, 1).finished(), Vector2d(-1, -1)};
  const Solutions s = enumerate(p);
  ASSERT_EQ(s.all.size(), 3u);
  EXPECT_TRUE(s.continua.empty());
  for (const Solution& solution : s.all) EXPECT_LT(solution.residual, 1e-14);
}

TEST(Enumerate, RecognisesAContinuum) {
  // z1 + z2 = 1 is a whole segment of solutions
  const Problem p{MatrixXd::Ones(2, 2), Vector2d(-1, -1)};
  const Solutions s = enumerate(p);
  ASSERT_EQ(s.continua.size(), 1u);
  EXPECT_EQ(s.continua[0].corners.size(), 2u);
  EXPECT_TRUE(s.continua[0].rays.empty());
  EXPECT_EQ(s.all.size(), 2u);  // its corners (1, 0) and (0, 1)
  EXPECT_TRUE(s.impulse_not_unique);
}

TEST(Enumerate, RecognisesAnUnboundedContinuum) {
  // W = 0, w = 0: every z >= 0 solves
  const Solutions s = enumerate({MatrixXd::Zero(1, 1), VectorXd::Zero(1)});
  ASSERT_EQ(s.continua.size(), 1u);
  EXPECT_EQ(s.continua[0].rays.size(), 1u);
}

TEST(Enumerate, DeduplicatesThroughTheImage) {
  // the segment of solutions above has a single image z1 + z2
  const Problem p{MatrixXd::Ones(2, 2), Vector2d(-1, -1)};
  const Solutions s =
      enumerate(p, {.image = [](const VectorXd& z) { return VectorXd::Constant(1, z.sum()); }});
  EXPECT_EQ(s.all.size(), 1u);
  EXPECT_TRUE(s.continua.empty());
  EXPECT_TRUE(s.impulse_not_unique);
}

TEST(Enumerate, FindsNoneWhereThereIsNone) {
  EXPECT_TRUE(enumerate({-MatrixXd::Identity(1, 1), VectorXd::Constant(1, -1)}).all.empty());
}

TEST(Enumerate, RefusesProblemsThatWouldTakeForever) {
  EXPECT_THROW((void)enumerate({MatrixXd::Identity(40, 40), VectorXd::Ones(40)}),
               std::invalid_argument);
}

TEST(Enumerate, ContainsWhatLemkeFinds) {
  std::mt19937 random(7);
  for (int k = 0; k < test::trials(300); ++k) {
    const int m = 1 + k % 2;
    const ImpactProblem p = test::random_impact(random, m, 1 + k % 4).problem;
    const Problem lcp = step_lcp(p, VectorXd::Constant(m, 0.3));
    const auto velocity = [&](const VectorXd& z) {
      return VectorXd(p.c + p.G * impulse_from_lcp(p, z));
    };
    const Solutions s = enumerate(lcp, {.image = velocity});
    const LemkeResult r = lemke(lcp);
    ASSERT_EQ(r.status, Status::kSolved);
    const VectorXd found = velocity(r.z);
    bool contained = !s.continua.empty();
    for (const Solution& solution : s.all) contained |= (solution.image - found).norm() < 1e-7;
    EXPECT_TRUE(contained) << "problem " << k;
  }
}

}  // namespace
// diag(1, .., 1) z - 1 has one solution, that of the last support of all
TEST(Enumerate, StopsWithWhatItHas) {
  const Problem problem{Eigen::MatrixXd::Identity(4, 4), Eigen::VectorXd::Constant(4, -1)};
  int asked = 0;
  const Solutions part = enumerate(problem, {.stop = [&] { return ++asked == 10; }});
  EXPECT_FALSE(part.complete);
  EXPECT_TRUE(part.all.empty());
  EXPECT_EQ(asked, 10);
  const Solutions whole = enumerate(problem, {.stop = [] { return false; }});
  EXPECT_TRUE(whole.complete);
  EXPECT_EQ(whole.all.size(), 1);
}

TEST(Enumerate, RefusesMoreVariablesThanSupportsCanBeCounted) {
  const Problem problem{Eigen::MatrixXd::Identity(33, 33), Eigen::VectorXd::Constant(33, -1)};
  EXPECT_THROW((void)enumerate(problem, {.max_size = 100}), std::invalid_argument);
}

}  // namespace routh::lcp
