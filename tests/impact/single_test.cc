#include "routh/impact/single.h"

#include <gtest/gtest.h>

#include "random_problem.h"

namespace routh {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

ImpactProblem one_contact(double Gnn, double Gnt, double Gtt, double cn, double ct, double mu) {
  return {.G = (Matrix2d() << Gnn, Gnt, Gnt, Gtt).finished(),
          .c = Vector2d(cn, ct),
          .mu = VectorXd::Constant(1, mu),
          .tangents = 1};
}

TEST(Single, APointMassStopsAndLosesTangentialSpeedByFriction) {
  // unit mass: normal impulse 1, friction 0.3, from (−1, 2) to (0, 1.7)
  const SingleResult r = single(one_contact(1, 0, 1, -1, 2, 0.3), 0);
  ASSERT_TRUE(r.finished);
  EXPECT_DOUBLE_EQ(r.c_plus[0], 0);
  EXPECT_DOUBLE_EQ(r.c_plus[1], 1.7);
  ASSERT_EQ(r.path.size(), 1u);
  EXPECT_EQ(r.path[0].state, ContactState::kSlidingPositive);
  EXPECT_DOUBLE_EQ(r.path[0].normal_impulse, 1);
}

TEST(Single, SlipEndsInStickAndThePathSaysWhere) {
  // slip ends after 0.4 N s of normal impulse (2 friction 0.5 per unit), then it sticks until the
  // end
  const SingleResult r = single(one_contact(1, 0, 1, -1, 0.2, 0.5), 0);
  ASSERT_TRUE(r.finished);
  ASSERT_EQ(r.path.size(), 2u);
  EXPECT_DOUBLE_EQ(r.path[0].normal_impulse, 0.4);
  EXPECT_EQ(r.path[1].state, ContactState::kSticking);
  EXPECT_DOUBLE_EQ(r.path[1].normal_impulse, 0.6);
  EXPECT_EQ(r.c_plus[1], 0);
}

TEST(Single, SlipReversesWhenFrictionCannotHold) {
  // Gnt = 0.5, Gtt = 1, mu = 0.2: |Gnt| > mu Gtt, sticking is impossible and the contact slides on
  // towards + first piece: sigma = -1, dct = 0.7, dcn = 1.1; from ct = -0.14 zero after 0.2, cn =
  // -0.78 second piece: sigma = +1, dct = 0.3, dcn = 0.9; ends after 0.78/0.9
  const SingleResult r = single(one_contact(1, 0.5, 1, -1, -0.14, 0.2), 0);
  ASSERT_TRUE(r.finished);
  ASSERT_EQ(r.path.size(), 2u);
  EXPECT_EQ(r.path[0].state, ContactState::kSlidingNegative);
  EXPECT_NEAR(r.path[0].normal_impulse, 0.2, 1e-15);
  EXPECT_EQ(r.path[1].state, ContactState::kSlidingPositive);
  EXPECT_NEAR(r.c_plus[1], 0.3 * 0.78 / 0.9, 1e-15);
}

TEST(Single, LeavesASeparatingContactAlone) {
  const SingleResult r = single(one_contact(1, 0, 1, 0.5, 1, 0.5), 0);
  EXPECT_TRUE(r.finished);
  EXPECT_TRUE(r.path.empty());
  EXPECT_EQ(r.impulse, VectorXd::Zero(2));
}

TEST(Single, SaysWhenTheContactCannotMove) {
  EXPECT_FALSE(single(one_contact(0, 0, 1, -1, 0, 0.5), 0).finished);
}

TEST(Single, AContactThatJointsHoldFastIsNotMovedInSpaceEither) {
  for (const double mu : {0.0, 1.0}) {
    const ImpactProblem p{.G = Eigen::Matrix3d::Zero(),
                          .c = Eigen::Vector3d(-8, 0, 4),
                          .mu = Eigen::VectorXd::Constant(1, mu),
                          .tangents = 2,
                          .edges = 0};
    const SingleResult r = single(p, 0);
    EXPECT_FALSE(r.finished);
    EXPECT_TRUE(r.impulse.isZero());
  }
}

TEST(Single, RefusesAContactThatIsNotThere) {
  EXPECT_THROW((void)single(one_contact(1, 0, 1, -1, 0, 0.5), 1), std::invalid_argument);
}

// The differential law followed in very small explicit steps is the yardstick.
TEST(Single, AgreesWithSmallStepsAlongThePath) {
  std::mt19937 random(21);
  int checked = 0;
  for (int k = 0; k < 200; ++k) {
    ImpactProblem p = test::random_impact(random, 1, 2 + k % 3).problem;
    p.c[0] = -std::abs(p.c[0]) - 0.1;
    const SingleResult r = single(p, 0);
    if (!r.finished) continue;
    ++checked;
    Vector2d c = p.c;
    const double total = r.impulse[0], ds = total / 20000;
    double tangential = 0;
    for (int step = 0; step < 20000; ++step) {
      // friction opposes the slip, or holds the contact where it can
      double ratio = c[1] > 0 ? -p.mu[0] : p.mu[0];
      const double hold = p.G(1, 1) > 0 ? -(c[1] / ds + p.G(1, 0)) / p.G(1, 1) : 0;
      if (std::abs(hold) <= p.mu[0]) ratio = hold;
      tangential += ratio * ds;
      c += ds * p.G * Vector2d(1, ratio);
    }
    EXPECT_NEAR(c[0], r.c_plus[0], 2e-3 * p.c.norm()) << "problem " << k;
    EXPECT_NEAR(c[1], r.c_plus[1], 2e-3 * p.c.norm()) << "problem " << k;
    EXPECT_NEAR(tangential, r.impulse[1], 2e-3 * (1 + p.mu[0]) * r.impulse[0]) << "problem " << k;
    EXPECT_LE(test::energy_change(p, r.impulse), 1e-12);
  }
  EXPECT_GT(checked, 150);
}

// Slip settles on a direction so slowly stopped that no explicit integration reaches its end; the
// rest of the path is straight.
TEST(Single, SlipThatHardlyBrakesIsNoJam) {
  ImpactProblem p{
      .G = Eigen::Matrix3d::Zero(),
      .c = Eigen::Vector3d(-2.2697233848985814, -1.294632427809535, -0.2812127769584983),
      .mu = Eigen::VectorXd::Constant(1, 1.4032329134306123),
      .tangents = 2};
  p.G << 376513.87941242626, 1258004.631181127, 469889.8116203153, 1258004.631181127,
      4206059.031662456, 1571124.0401335428, 469889.8116203153, 1571124.0401335428,
      586879.8892057678;
  const SingleResult r = single(p, 0);
  ASSERT_TRUE(r.finished);
  EXPECT_EQ(r.c_plus[0], 0);
  EXPECT_LT(r.residual, 1e-9);
  EXPECT_LT(r.impulse.dot(p.c + r.c_plus), 0);
}

}  // namespace
}  // namespace routh
