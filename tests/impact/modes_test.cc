#include "routh/impact/modes.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/impact/simultaneous.h"
#include "routh/lcp/enumerate.h"
#include "routh/lcp/lemke.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ImpactProblem with_friction(const VectorXd& mu, int tangents = 1, int edges = 8) {
  return {.G = {}, .c = {}, .mu = mu, .tangents = tangents, .edges = edges};
}

TEST(Modes, AreSevenPerRoughContactAndThreePerSmoothOne) {
  EXPECT_EQ(all_modes(with_friction(Eigen::Vector2d(1, 1)), true).size(), 49u);
  EXPECT_EQ(all_modes(with_friction(Eigen::Vector2d(1, 0)), true).size(), 21u);
  EXPECT_EQ(all_modes(with_friction(Eigen::Vector2d(1, 1)), false).size(), 16u);
  EXPECT_EQ(count_modes(with_friction(Eigen::Vector3d(1, 1, 0)), true), 147);
  EXPECT_EQ(count_modes(with_friction(Eigen::Vector2d(1, 0), 2, 8), true), 35 * 3);
  EXPECT_EQ(count_modes(with_friction(Eigen::Vector2d(1, 1), 2, 8), false), 18 * 18);
}

// Two independent ways to all solutions of a step: contact modes and complementary supports of P1
// (75).
TEST(Modes, AgreeWithTheSupportsOfTheLcp) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < test::trials(200); ++k) {
    const int m = 1 + k % 2, nv = 1 + k / 2 % 5;
    const ImpactProblem p = test::random_impact(random, m, nv).problem;
    const VectorXd bound = VectorXd::NullaryExpr(m, [&] { return 0.05 + uniform(random); });
    const StepOutcomes by_mode = enumerate_modes(p, bound);
    const auto velocity = [&](const VectorXd& z) {
      return VectorXd(p.c + p.G * impulse_from_lcp(p, z));
    };
    const lcp::Solutions by_support = lcp::enumerate(step_lcp(p, bound), {.image = velocity});
    EXPECT_EQ(by_mode.outcomes.size(), by_support.all.size()) << "problem " << k;
    for (const lcp::Solution& s : by_support.all)
      EXPECT_TRUE(test::among(by_mode.outcomes, s.image, 1e-7)) << "problem " << k;
  }
}

TEST(Modes, ContainWhatLemkeFindsForThreeContacts) {
  std::mt19937 random(12);
  for (int k = 0; k < test::trials(300); ++k) {
    const ImpactProblem p = test::random_impact(random, 3, 1 + k % 6).problem;
    const VectorXd bound = VectorXd::Constant(3, 0.4);
    const lcp::LemkeResult r = lcp::lemke(step_lcp(p, bound));
    ASSERT_EQ(r.status, lcp::Status::kSolved);
    const StepOutcomes all = enumerate_modes(p, bound);
    const VectorXd c = p.c + p.G * impulse_from_lcp(p, r.z);
    EXPECT_TRUE(test::among(all.outcomes, c, 1e-7) || !all.continua.empty()) << "problem " << k;
  }
}

// P1 Theorem 7 in contact space.
TEST(Modes, NoSolutionOfAStepGainsEnergy) {
  std::mt19937 random(13);
  for (int k = 0; k < test::trials(1000); ++k) {
    const int m = 1 + k % 3;
    const ImpactProblem p = test::random_impact(random, m, 1 + k % 5).problem;
    const StepOutcomes all = enumerate_modes(p, VectorXd::Constant(m, 0.2));
    ASSERT_FALSE(all.outcomes.empty()) << "problem " << k;
    for (const Outcome& o : all.outcomes) EXPECT_LE(test::energy_change(p, o.impulse), 1e-9);
  }
}

// Two contacts that squeeze a body which is heavy in one direction: small impulses beside large
// ones decide whether friction holds.
TEST(Modes, OutcomesOfBodiesHeavyInOneDirectionAreAllFound) {
  Eigen::MatrixXd J(4, 3);
  J << 2, 0, 1, -2, 0, -1, 0, 2, -1, -2, 0, 0;
  for (const double mass : {1e3, 0x1p20, 0x1p24, 0x1p30}) {
    const Eigen::Vector3d inverse(1, 1, 1 / mass);
    const ImpactProblem p{.G = J * inverse.asDiagonal() * J.transpose(),
                          .c = J * Eigen::Vector3d(0, 2, 1),
                          .mu = Eigen::Vector2d(326, 1)};
    const StepOutcomes all = enumerate_modes(p);
    EXPECT_EQ(all.outcomes.size(), 2u) << mass;
    EXPECT_TRUE(test::among(all.outcomes, Eigen::Vector4d(0, 0, 0, 0), 1e-9)) << mass;
    EXPECT_TRUE(test::among(all.outcomes, Eigen::Vector4d(0, 0, 4, 0), 1e-9)) << mass;
  }
}

// Edges that mirror each other do so exactly, so that what two have in common cancels.
TEST(Modes, PolygonsAreExactlySymmetric) {
  for (int edges = 3; edges <= 64; ++edges) {
    const MatrixXd D = friction_edges({.G = {}, .c = {}, .mu = {}, .tangents = 2, .edges = edges});
    const auto has = [&](double x, double y) {
      for (int e = 0; e < edges; ++e) {
        if (D(0, e) == x && D(1, e) == y) return true;
      }
      return false;
    };
    for (int e = 0; e < edges; ++e) {
      const long double angle = 2 * std::acos(-1.0L) * e / edges;
      EXPECT_NEAR(D(0, e), static_cast<double>(std::cos(angle)), 3e-16);
      EXPECT_NEAR(D(1, e), static_cast<double>(std::sin(angle)), 3e-16);
      EXPECT_TRUE(has(D(0, e), -D(1, e))) << edges << " " << e;
      if (edges % 2 == 0) {
        EXPECT_TRUE(has(-D(0, e), D(1, e))) << edges << " " << e;
      }
      if (edges % 4 == 0) {
        EXPECT_TRUE(has(D(1, e), D(0, e))) << edges << " " << e;
      }
    }
  }
}

// A contact that moves along one line only, midway between two edges of a hexagon: these brake
// alike always. All mixtures of pushing nothing and of stopping are outcomes, as no contact has a
// normal velocity.
TEST(Modes, AContactMayMoveMidwayBetweenTwoEdges) {
  ImpactProblem p{.G = MatrixXd::Zero(6, 6),
                  .c = (VectorXd(6) << 0, 0, 6, 4, 0, 4).finished(),
                  .mu = Eigen::Vector2d(100, 1),
                  .tangents = 2,
                  .edges = 6};
  p.G(2, 2) = 3, p.G(3, 3) = p.G(3, 5) = p.G(5, 3) = p.G(5, 5) = 1.5;
  p.G(2, 3) = p.G(3, 2) = p.G(2, 5) = p.G(5, 2) = 1;
  for (const auto& outcomes : {simultaneous(p).outcomes, enumerate_modes(p).outcomes}) {
    EXPECT_TRUE(test::among(outcomes, p.c, 1e-9));
    EXPECT_TRUE(test::among(outcomes, VectorXd::Zero(6), 1e-9));
    EXPECT_TRUE(test::among(outcomes, (VectorXd(6) << 0, 0, 10. / 3, 0, 0, 0).finished(), 1e-9));
  }
}

}  // namespace
}  // namespace routh
