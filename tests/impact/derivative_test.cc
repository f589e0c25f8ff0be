#include "routh/impact/derivative.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "random_problem.h"
#include "routh/impact/simultaneous.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::random_impact;

/// The outcome of a neighbouring problem that belongs to this one.
VectorXd followed(const ImpactProblem& problem, const VectorXd& c_plus) {
  const SimultaneousResult all = simultaneous(problem);
  VectorXd nearest = VectorXd::Constant(c_plus.size(), NAN);
  for (const Outcome& o : all.outcomes) {
    if (!((o.c_plus - c_plus).norm() >= (nearest - c_plus).norm())) nearest = o.c_plus;
  }
  return nearest;
}

struct Direction {
  VectorXd dc, dmu;
  MatrixXd dG;
};

ImpactProblem moved(ImpactProblem p, const Direction& d, double by) {
  p.c += by * d.dc, p.G += by * d.dG, p.mu += by * d.dmu;
  return p;
}

/// Derivatives of every smooth outcome against central differences along a random direction.
int checked(std::mt19937& random, int contacts, int velocities, int tangents, int edges) {
  std::normal_distribution<double> normal;
  const test::RandomImpact impact = random_impact(random, contacts, velocities, tangents, edges);
  const ImpactProblem& p = impact.problem;
  const auto noise = [&](Eigen::Index rows, Eigen::Index columns) {
    return MatrixXd(MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); }));
  };
  const MatrixXd dG = noise(p.c.size(), p.c.size());
  Direction d{.dc = noise(p.c.size(), 1), .dmu = noise(contacts, 1), .dG = dG + dG.transpose()};
  d.dmu = (p.mu.array() == 0).select(0, d.dmu);
  int smooth = 0;
  for (const Outcome& o : simultaneous(p).outcomes) {
    const OutcomeDerivative derivative(p, o);
    if (!derivative.smooth()) continue;
    const OutcomeChange change = derivative(d.dc, d.dG, d.dmu);
    EXPECT_LT(change.broken, 1e-9);
    const double h = 1e-6 * p.c.norm() / (1 + change.c_plus.norm());
    const VectorXd ahead = followed(moved(p, d, h), o.c_plus + h * change.c_plus),
                   behind = followed(moved(p, d, -h), o.c_plus - h * change.c_plus);
    const VectorXd slope = (ahead - behind) / (2 * h);
    EXPECT_LT((slope - change.c_plus).norm(), 1e-5 * (1 + change.c_plus.norm()))
        << contacts << " contacts, " << tangents << " tangents, " << edges << " edges";
    ++smooth;
  }
  return smooth;
}

TEST(OutcomeDerivative, AgreesWithDifferencesInThePlane) {
  std::mt19937 random(1);
  int smooth = 0;
  for (int i = 0; i < 200; ++i) smooth += checked(random, 1 + i % 3, 7, 1, 0);
  EXPECT_GT(smooth, 150);
}

TEST(OutcomeDerivative, AgreesWithDifferencesWithCircularConesAndPolygons) {
  std::mt19937 random(2);
  int smooth = 0;
  for (const int edges : {0, 4, 8}) {
    for (int i = 0; i < 40; ++i) smooth += checked(random, 1 + i % 2, 8, 2, edges);
  }
  EXPECT_GT(smooth, 90);
}

TEST(OutcomeDerivative, ABlockThatSlidesStopsByItsFriction) {
  // one contact, mass 1: Λ = 2 normal, c_t⁺ = 3 - μ 2
  const ImpactProblem p{.G = MatrixXd::Identity(2, 2),
                        .c = Eigen::Vector2d(-2, 3),
                        .mu = VectorXd::Constant(1, 0.5),
                        .tangents = 1};
  const Outcome o{.impulse = Eigen::Vector2d(2, -1), .c_plus = Eigen::Vector2d(0, 2)};
  const OutcomeDerivative d(p, o);
  EXPECT_TRUE(d.smooth());
  EXPECT_NEAR(d({}, {}, VectorXd::Ones(1)).c_plus[1], -2, 1e-14);
  EXPECT_NEAR(d(Eigen::Vector2d(1, 0)).c_plus[1], 0.5, 1e-14);  // slower down, less friction
  EXPECT_NEAR(d(Eigen::Vector2d(1, 0)).c_plus[0], 0, 1e-14);
}

TEST(OutcomeDerivative, BordersOfModesAreNamed) {
  // friction just stops the slip: a little more sticks, a little less slides
  const ImpactProblem p{.G = MatrixXd::Identity(2, 2),
                        .c = Eigen::Vector2d(-2, 1),
                        .mu = VectorXd::Constant(1, 0.5),
                        .tangents = 1};
  const OutcomeDerivative d(p,
                            {.impulse = Eigen::Vector2d(2, -1), .c_plus = Eigen::Vector2d::Zero()});
  EXPECT_EQ(d.corners(), std::vector<int>{0});
  EXPECT_FALSE(d.smooth());
}

TEST(OutcomeDerivative, RedundantContactsShareTheirImpulsesAndTheOutcomeIsSmooth) {
  // a block that cannot turn falls on two corners: how they share the impulse is not determined
  MatrixXd J(4, 2);
  J << 0, 1, 0, 1, 1, 0, 1, 0;
  const ImpactProblem p{.G = J * J.transpose(),
                        .c = Eigen::Vector4d(-1, -1, 0, 0),
                        .mu = Eigen::Vector2d::Zero(),
                        .tangents = 1};
  const Outcome o{.impulse = Eigen::Vector4d(0.3, 0.7, 0, 0), .c_plus = Eigen::Vector4d::Zero()};
  const OutcomeDerivative d(p, o);
  EXPECT_TRUE(d.determined());
  EXPECT_LT(d(Eigen::Vector4d(1, 1, 0, 0)).broken, 1e-12);
  EXPECT_GT(d(Eigen::Vector4d(1, -1, 0, 0)).broken, 0.1);  // no rigid motion changes c so
}

TEST(OutcomeDerivative, ABlockOnTwoCornersIsSmoothThoughItsImpulsesAreAtABorder) {
  // the corners may press against each other along the floor as far as friction lets them
  const ImpactProblem p = test::rocking_block();
  const OutcomeDerivative d(
      p, {.impulse = 0.4429 / 2 * Eigen::Vector4d(1, 1, 1, -1), .c_plus = Eigen::Vector4d::Zero()});
  EXPECT_TRUE(d.smooth());
}

TEST(OutcomeDerivative, UnitsDoNotMatter) {
  std::mt19937 random(5);
  const ImpactProblem p = random_impact(random, 2, 6, 2, 0).problem;
  for (const double unit : {1e-9, 1e9}) {
    ImpactProblem q = p;
    q.G /= unit;  // masses
    for (const Outcome& o : simultaneous(p).outcomes) {
      const OutcomeDerivative one(p, o), other(q, {unit * o.impulse, o.c_plus});
      const VectorXd dc = VectorXd::Ones(p.c.size());
      EXPECT_LT((one(dc).c_plus - other(dc).c_plus).norm(), 1e-9 * one(dc).c_plus.norm());
      EXPECT_LT((unit * one(dc).impulse - other(dc).impulse).norm(),
                1e-9 * other(dc).impulse.norm());
    }
  }
}

TEST(OutcomeDerivative, RefusesWhatIsNoOutcome) {
  ImpactProblem p = test::rocking_block();
  EXPECT_THROW(OutcomeDerivative(p, {.impulse = VectorXd::Zero(4), .c_plus = p.c}),
               std::invalid_argument);
  EXPECT_THROW(OutcomeDerivative(p, {.impulse = VectorXd::Zero(3), .c_plus = p.c}),
               std::invalid_argument);
  const Outcome o = simultaneous(p).outcomes.front();
  p.e = Eigen::Vector2d(0.5, 0.5);
  EXPECT_THROW(OutcomeDerivative(p, o), std::invalid_argument);
}

}  // namespace
}  // namespace routh
