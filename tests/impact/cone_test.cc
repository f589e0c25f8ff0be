#include "routh/impact/cone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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
    const FrictionCone cone = friction_cone(impact.J, Mdag * impact.J.transpose(), impact.problem);
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

// Two impacts that know nothing of each other, their contacts in turn.
TEST(FrictionCone, ImpactsSideBySideAreWhatEachIsAlone) {
  std::mt19937 random(67);
  int pointed = 0, redundant = 0;
  for (int k = 0; k < 200; ++k) {
    const int m = 1 + k % 3, nv[] = {1 + k % 5, 2 + k % 7};
    const test::RandomImpact one = test::random_impact(random, m, nv[0]);
    const test::RandomImpact other = test::random_impact(random, m, nv[1]);
    const test::RandomImpact* both[] = {&one, &other};
    MatrixXd Mdag = MatrixXd::Zero(nv[0] + nv[1], nv[0] + nv[1]);
    MatrixXd J = MatrixXd::Zero(4 * m, nv[0] + nv[1]);
    ImpactProblem problem = one.problem;
    problem.c = VectorXd::Zero(4 * m), problem.mu = VectorXd::Zero(2 * m);
    for (int b = 0; b < 2; ++b) {
      const int at = b * nv[0];
      Mdag.block(at, at, nv[b], nv[b]) = both[b]->M.inverse();
      for (int i = 0; i < m; ++i) {
        const int to = 2 * i + b;
        problem.mu[to] = both[b]->problem.mu[i];
        J.row(to).segment(at, nv[b]) = both[b]->J.row(i);
        J.row(2 * m + to).segment(at, nv[b]) = both[b]->J.row(m + i);
      }
    }
    problem.G = J * Mdag * J.transpose();
    const FrictionCone cone = friction_cone(J, Mdag * J.transpose(), problem);
    FrictionCone alone[2];
    Redundancy each[2];
    for (int b = 0; b < 2; ++b) {
      alone[b] = friction_cone(both[b]->J, both[b]->M.inverse() * both[b]->J.transpose(),
                               both[b]->problem);
      each[b] = redundancy(both[b]->problem);
    }
    EXPECT_EQ(cone.pointed, alone[0].pointed && alone[1].pointed);
    EXPECT_EQ(routh::pointed(problem), cone.pointed);
    const Redundancy all = redundancy(problem);
    EXPECT_EQ(all.rows, each[0].rows + each[1].rows);
    EXPECT_EQ(all.contacts.size(), each[0].contacts.size() + each[1].contacts.size());
    for (const int i : all.contacts)
      EXPECT_EQ(std::count(each[i % 2].contacts.begin(), each[i % 2].contacts.end(), i / 2), 1);
    redundant += all.rows > 0;
    if (!cone.pointed) {
      ASSERT_EQ(cone.jam.size(), 4 * m);
      EXPECT_GT(cone.jam.head(2 * m).sum(), 0);
      EXPECT_LT((J.transpose() * cone.jam).norm(), 1e-6 * cone.jam.norm());
      continue;
    }
    ++pointed;
    VectorXd r(nv[0] + nv[1]);
    r << alone[0].r, alone[1].r;
    EXPECT_LT((cone.r - r).norm(), 1e-8 * r.norm());  // products in another order
    // no shorter one: r / |r|^2 is a mixture of velocities of edges, so r moves one of them by no
    // more than one
    double least = HUGE_VAL;
    for (int i = 0; i < 2 * m; ++i) {
      for (const double side : {-1.0, 1.0}) {
        VectorXd edge = VectorXd::Zero(4 * m);
        edge[i] = 1, edge[2 * m + i] = side * problem.mu[i];
        least = std::min(least, cone.r.dot(Mdag * J.transpose() * edge));
      }
    }
    EXPECT_NEAR(least, 1, 1e-6);
  }
  EXPECT_GT(pointed, 20);
  EXPECT_GT(redundant, 20);
}

TEST(FrictionCone, APointBetweenTwoWallsCanJam) {
  // a point mass between floor and ceiling: the two normals cancel
  MatrixXd J(4, 2);
  J << 0, 1, 0, -1, 1, 0, -1, 0;
  const FrictionCone cone = friction_cone(J, J.transpose(), two_contacts(0.5, 0.5));
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
    return friction_cone(J, J.transpose(), two_contacts(mu, mu)).pointed;
  };
  EXPECT_TRUE(pointed(0.5));
  EXPECT_FALSE(pointed(2));
}

TEST(FrictionCone, HugeFrictionOnFlatGroundStaysPointed) {
  const ImpactProblem p = test::rocking_block();
  MatrixXd J(4, 3);
  J << 0, 1, -0.5, 0, 1, 0.5, 1, 0, 1, 1, 0, 1;
  EXPECT_TRUE(friction_cone(J, Eigen::Vector3d(1, 1, 2.4).asDiagonal() * J.transpose(),
                            two_contacts(1e5, 1e5))
                  .pointed);
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
