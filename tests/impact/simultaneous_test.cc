#include "routh/impact/simultaneous.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::VectorXd;

TEST(Simultaneous, TheRockingBlockComesToRest) {
  const SimultaneousResult r = simultaneous(test::rocking_block());
  ASSERT_EQ(r.outcomes.size(), 1u);
  EXPECT_LT(r.outcomes[0].c_plus.norm(), 1e-15);
  EXPECT_NEAR(r.outcomes[0].impulse.head(2).sum(), 0.4429, 1e-12);  // m v0
  EXPECT_TRUE(r.enumerated);
}

TEST(Simultaneous, PermutingTheContactsPermutesTheOutcomes) {
  std::mt19937 random(31);
  for (int k = 0; k < 200; ++k) {
    const ImpactProblem p = test::random_impact(random, 3, 2 + k % 5).problem;
    const std::vector<int> order{2, 0, 1};
    const SimultaneousResult a = simultaneous(p), b = simultaneous(test::permuted(p, order));
    ASSERT_EQ(a.outcomes.size(), b.outcomes.size()) << "problem " << k;
    for (const Outcome& o : a.outcomes)
      EXPECT_TRUE(test::among(b.outcomes, test::permuted(o.c_plus, order), 1e-7))
          << "problem " << k;
  }
}

TEST(Simultaneous, ScalingTheVelocityScalesTheOutcomes) {
  std::mt19937 random(32);
  for (int k = 0; k < 200; ++k) {
    ImpactProblem p = test::random_impact(random, 2, 1 + k % 5).problem;
    const SimultaneousResult a = simultaneous(p);
    for (const double scale : {1e-6, 1e6}) {
      ImpactProblem scaled = p;
      scaled.c *= scale;
      const SimultaneousResult b = simultaneous(scaled);
      ASSERT_EQ(a.outcomes.size(), b.outcomes.size()) << "problem " << k;
      for (const Outcome& o : a.outcomes)
        EXPECT_TRUE(test::among(b.outcomes, scale * o.c_plus, 1e-7 * scale)) << "problem " << k;
    }
  }
}

TEST(Simultaneous, NoOutcomePenetratesOrGainsEnergy) {
  std::mt19937 random(33);
  for (int k = 0; k < test::trials(2000); ++k) {
    const ImpactProblem p = test::random_impact(random, 1 + k % 4, 1 + k % 7).problem;
    for (const Outcome& o : simultaneous(p).outcomes) {
      EXPECT_FALSE(colliding(p, o.c_plus));
      EXPECT_LE(test::energy_change(p, o.impulse), 1e-9);
      EXPECT_LE(o.residual, 1e-10);
    }
  }
}

TEST(Simultaneous, SearchesOpenlyWhenThereAreTooManyModes) {
  const SimultaneousResult all = simultaneous(test::rocking_block(), {.max_modes = 10});
  EXPECT_TRUE(all.enumerated);
  EXPECT_EQ(all.outcomes.size(), 1u);
  const SimultaneousResult r =
      simultaneous(test::rocking_block(), {.max_modes = 10, .max_programs = 3});
  EXPECT_FALSE(r.enumerated);
  ASSERT_EQ(r.outcomes.size(), 1u);
  EXPECT_LT(r.outcomes[0].c_plus.norm(), 1e-12);
}

TEST(Simultaneous, NamesTheFieldThatIsWrong) {
  const auto message = [](ImpactProblem p) -> std::string {
    try {
      (void)simultaneous(p);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  ImpactProblem p = test::rocking_block();
  p.mu[1] = -1;
  EXPECT_NE(message(p).find("mu"), std::string::npos);
  p = test::rocking_block();
  p.c[0] = NAN;
  EXPECT_NE(message(p).find("c has"), std::string::npos);
  p = test::rocking_block();
  p.G(0, 1) += 1;
  EXPECT_NE(message(p).find("symmetric"), std::string::npos);
  p = test::rocking_block();
  p.c.conservativeResize(3);
  EXPECT_NE(message(p).find("c has 3"), std::string::npos);
  EXPECT_NE(message({}).find("at least one contact"), std::string::npos);
}

// Masses of 1e-4 and 1e4 kg and much friction: impulses that hold each other are so large that the
// rounding of c + Gλ exceeds the distance at which outcomes count as two. There is one.
TEST(Simultaneous, RoundingDoesNotMultiplyOutcomes) {
  Eigen::MatrixXd J(6, 2);
  J << -5, -1, 2, 2, 4, -4, 3, -5, 5, 2, -5, -1;
  const Eigen::Matrix2d inverse = Eigen::Vector2d(1e4, 1e-4).asDiagonal();
  const ImpactProblem p{.G = J * inverse * J.transpose(),
                        .c = J * Eigen::Vector2d(-2, -3),
                        .mu = Eigen::Vector2d(1, 1000),
                        .tangents = 2,
                        .edges = 4};
  EXPECT_EQ(simultaneous(p).outcomes.size(), 1u);
}

// Rows of rank three and a little more: velocities of 1e-8 beside others of one. None of the ways
// to search may say that it has seen everything and has found nothing.
TEST(Simultaneous, ContactsThatNearlyDependOnEachOtherHaveAnOutcome) {
  std::mt19937 random(34);
  std::normal_distribution<double> normal;
  for (int k = 0; k < test::trials(60); ++k) {
    const int m = 6 + k % 7, n = m + 4;
    const double little = std::pow(10, -2 - k % 8);
    Eigen::MatrixXd J(2 * m, n);
    for (double& x : J.reshaped()) x = little * normal(random);
    J.topLeftCorner(m, 1).array() += 1;
    for (int i = 0; i < 2 * m; ++i) {
      for (int j = 1; j < n; ++j) J(i, j) += std::sin((i < m ? 13 : 17) * i + 41 * j);
    }
    Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(n, [&] { return normal(random); });
    v[0] = -3;
    const ImpactProblem p{J * J.transpose(), J * v, Eigen::VectorXd::Constant(m, 0.5)};
    const SimultaneousResult r = simultaneous(p);
    EXPECT_FALSE(r.outcomes.empty()) << k;
    EXPECT_FALSE(r.outcomes.empty() && r.enumerated) << k;
  }
}

TEST(Simultaneous, NumbersWhoseProductsAreNoneAreRefused) {
  const ImpactProblem fine{Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1, 1),
                           Eigen::VectorXd::Constant(1, 0.5)};
  EXPECT_EQ(simultaneous(fine).outcomes.size(), 1u);
  ImpactProblem fast = fine, light = fine, heavy = fine, rough = fine;
  fast.c *= 1e200, light.G *= 1e200, heavy.G *= 1e-200, rough.mu *= 1e300;
  for (const ImpactProblem& p : {fast, light, heavy, rough})
    EXPECT_THROW((void)simultaneous(p), std::invalid_argument);
}

ImpactProblem of_rows(const Eigen::VectorXd& masses, const Eigen::MatrixXd& J,
                      const Eigen::VectorXd& mu, const Eigen::VectorXd& v) {
  return {J * masses.cwiseInverse().asDiagonal() * J.transpose(), J * v, mu};
}

// Masses of 2 kg beside 524 tons and friction of 1e5: one row of the all-sticking mode has small
// terms, and the rounding of the others is no reason to drop it. Rational arithmetic counts two.
TEST(Simultaneous, LightAndHeavyBodiesKeepTheirOutcomes) {
  Eigen::MatrixXd J(6, 4);
  J << 1, -1, 1, 0, 2, -1, 1, 2, -2, 2, 2, -2, 0, 1, 2, 0, 1, -2, 1, -1, 1, -2, -2, -2;
  const SimultaneousResult r =
      simultaneous(of_rows(Eigen::Vector4d(4096, 524288, 16384, 2), J,
                           Eigen::Vector3d(1e5, 0.5, 0.25), Eigen::Vector4d(1, 2, -3, -1)));
  EXPECT_EQ(r.outcomes.size(), 2u);
}

// The second candidate slips the wrong way by 4e-11 of the speed, which is 1e4 times the rounding:
// it is no outcome, and stands where doubtful ones do.
TEST(Simultaneous, WhatViolatesTheLawByALittleIsNoOutcome) {
  const double e = std::exp2(-17);
  Eigen::MatrixXd J(4, 5);
  J << 2 - 3 * e, -2 - 2 * e, -2, 2 - 3 * e, -2 + e,  //
      -1 + 2 * e, 3 + e, 1 + e, -2 + e, 3 - 3 * e,    //
      2, 2 + 2 * e, -2 + 2 * e, 0, 2 - 2 * e,         //
      1 - 2 * e, 3 - 3 * e, -1 + 2 * e, -1 - 3 * e, 3 - 2 * e;
  Eigen::VectorXd v(5);
  v << 3, 3, -3, 0, 3;
  const SimultaneousResult r =
      simultaneous(of_rows(Eigen::VectorXd::Ones(5), J, Eigen::Vector2d(2, 0.25), v));
  EXPECT_EQ(r.outcomes.size(), 1u);
  EXPECT_EQ(r.borderline.size(), 1u);
}

// A mass point brakes against its slip, whatever the direction; of eight edges that is true for
// eight directions alone.
TEST(Simultaneous, CircularConesBrakeStraight) {
  for (int k = 0; k < 20; ++k) {
    const double angle = 0.1 + 0.31 * k;
    const Eigen::Vector3d c(-1, 2 * std::cos(angle), 2 * std::sin(angle));
    const ImpactProblem p{.G = Eigen::Matrix3d::Identity(),
                          .c = c,
                          .mu = Eigen::VectorXd::Constant(1, 0.5),
                          .tangents = 2,
                          .edges = 0};
    const SimultaneousResult r = simultaneous(p);
    ASSERT_EQ(r.outcomes.size(), 1u);
    EXPECT_LT((r.outcomes[0].c_plus - Eigen::Vector3d(0, 0.75 * c[1], 0.75 * c[2])).norm(), 1e-12);
    EXPECT_TRUE(r.enumerated);
  }
}

// Several contacts: the law itself, not the residual's idea of it, and what polygons tend to.
TEST(Simultaneous, CircularConesAreTheLimitOfPolygons) {
  std::mt19937 random(35);
  for (int k = 0; k < 40; ++k) {
    ImpactProblem p = test::random_impact(random, 1 + k % 3, 8, 2).problem;
    p.mu = p.mu.cwiseMin(1);
    p.edges = 0;
    const SimultaneousResult circular = simultaneous(p);
    ASSERT_FALSE(circular.outcomes.empty()) << k;
    for (const Outcome& o : circular.outcomes) {
      EXPECT_LE(o.residual, 1e-10);
      EXPECT_LE(test::energy_change(p, o.impulse), 1e-9);
      for (int i = 0; i < p.contacts(); ++i) {
        const Eigen::Vector2d friction = o.impulse.segment<2>(p.tangent(i));
        const Eigen::Vector2d slip = o.c_plus.segment<2>(p.tangent(i));
        const double limit = p.mu[i] * o.impulse[i];
        EXPECT_GE(o.c_plus[i], -1e-9) << k;
        EXPECT_LE(friction.norm(), limit + 1e-9) << k;
        EXPECT_LT((slip.norm() * friction + limit * slip).norm(), 1e-8) << k;
      }
    }
    p.edges = 64;
    if (p.contacts() == 1 && circular.outcomes.size() == 1) {
      const SimultaneousResult polygon = simultaneous(p);
      ASSERT_EQ(polygon.outcomes.size(), 1u) << k;
      EXPECT_LT((polygon.outcomes[0].c_plus - circular.outcomes[0].c_plus).norm(),
                0.02 * p.c.norm())
          << k;
    }
  }
}

}  // namespace
}  // namespace routh
