#include "routh/impact/cone.h"

#include <gtest/gtest.h>

#include "random_problem.h"

namespace routh {
namespace {

ImpactProblem two_contacts(double mu_a, double mu_b) {
  return {.G = {}, .c = Eigen::Vector4d::Zero(), .mu = Eigen::Vector2d(mu_a, mu_b)};
}

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(FrictionCone, RProvesThatTheConeIsPointed) {
  std::mt19937 random(61);
  int pointed = 0;
  for (int k = 0; k < 500; ++k) {
    const int m = 1 + k % 4;
    const test::RandomImpact impact = test::random_impact(random, m, 1 + k % 8);
    const MatrixXd Mdag = impact.M.inverse();
    const FrictionCone cone = friction_cone(Mdag, impact.J, impact.problem);
    if (!cone.pointed) continue;
    ++pointed;
    // P1 (77) at the edges, and so on the whole cone
    for (int i = 0; i < m; ++i) {
      for (const double side : {-1.0, 1.0}) {
        VectorXd edge = VectorXd::Zero(2 * m);
        edge[i] = 1;
        edge[m + i] = side * impact.problem.mu[i];
        EXPECT_GE(cone.r.dot(Mdag * impact.J.transpose() * edge), 1 - 1e-6);
      }
    }
  }
  EXPECT_GT(pointed, 100);
}

TEST(FrictionCone, APointBetweenTwoWallsCanJam) {
  // a point mass between floor and ceiling: the two normals cancel
  MatrixXd J(4, 2);
  J << 0, 1, 0, -1, 1, 0, -1, 0;
  const FrictionCone cone = friction_cone(MatrixXd::Identity(2, 2), J, two_contacts(0.5, 0.5));
  EXPECT_FALSE(cone.pointed);
  ASSERT_EQ(cone.jam.size(), 4);
  EXPECT_GT(cone.jam.head(2).minCoeff(), 0);
  EXPECT_LT((J.transpose() * cone.jam).norm(), 1e-9);
}

TEST(FrictionCone, AWedgeJamsOnlyWithEnoughFriction) {
  // a point in a V of half-angle 30 degrees jams when friction reaches across: mu > tan 60
  const double s = 0.5, c = std::sqrt(0.75);
  MatrixXd J(4, 2);
  J << c, s, -c, s, s, -c, s, c;
  const auto pointed = [&](double mu) {
    return friction_cone(MatrixXd::Identity(2, 2), J, two_contacts(mu, mu)).pointed;
  };
  EXPECT_TRUE(pointed(0.5));
  EXPECT_FALSE(pointed(2));
}

TEST(FrictionCone, HugeFrictionOnFlatGroundStaysPointed) {
  const ImpactProblem p = test::rocking_block();
  MatrixXd J(4, 3);
  J << 0, 1, -0.5, 0, 1, 0.5, 1, 0, 1, 1, 0, 1;
  EXPECT_TRUE(
      friction_cone(Eigen::Vector3d(1, 1, 2.4).asDiagonal(), J, two_contacts(1e5, 1e5)).pointed);
}

TEST(Redundancy, TheBlockHasOneRowTooMany) {
  const Redundancy r = redundancy(test::rocking_block());
  EXPECT_EQ(r.rows, 1);
  EXPECT_EQ(r.contacts, (std::vector<int>{0, 1}));
}

TEST(Redundancy, IndependentContactsHaveNone) {
  std::mt19937 random(62);
  EXPECT_EQ(redundancy(test::random_impact(random, 2, 6).problem).rows, 0);
}

}  // namespace
}  // namespace routh
