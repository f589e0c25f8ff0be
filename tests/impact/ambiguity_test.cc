#include "routh/impact/ambiguity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_problem.h"
#include "routh/impact/same_outcome.h"
#include "routh/impact/simultaneous.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A point of mass 1 that falls on the floor while it slides.
ImpactProblem point(double slip, int tangents = 1) {
  ImpactProblem p{.G = MatrixXd::Identity(1 + tangents, 1 + tangents),
                  .c = VectorXd::Zero(1 + tangents),
                  .mu = VectorXd::Constant(1, 0.5),
                  .tangents = tangents,
                  .edges = 0};
  p.c[0] = -1, p.c[1] = slip;
  return p;
}

TEST(Ambiguity, AFallingPointHasOneOutcome) {
  for (const int tangents : {1, 2}) {
    const Ambiguity a = ambiguity(point(2, tangents));
    EXPECT_TRUE(a.colliding);
    EXPECT_EQ(a.unique(), true);
    EXPECT_TRUE(a.searched());
    EXPECT_EQ(a.outcomes.size(), 1u);
    EXPECT_LT(a.spread, 1e-9);
    EXPECT_TRUE(a.contacts.empty());
  }
  ImpactProblem polygon = point(2, 2);
  polygon.edges = 8;
  EXPECT_EQ(ambiguity(polygon).unique(), true);
  // the polygon has a corner along the slip
  const ImpactProblem circle = point(2, 2);
  EXPECT_LT(polygon_apart(circle, simultaneous(circle).outcomes), 1e-9);
}

TEST(Ambiguity, WhatDoesNotApproachIsNoImpact) {
  ImpactProblem p = point(1);
  p.c[0] = 1;
  const Ambiguity a = ambiguity(p);
  EXPECT_FALSE(a.colliding);
  EXPECT_EQ(a.unique(), true);
}

/// Contact space of contacts on a body with this inertia.
ImpactProblem impact_of(const VectorXd& inertia, const MatrixXd& Jn, const MatrixXd& Jt,
                        const VectorXd& mu, const VectorXd& v) {
  MatrixXd J(Jn.rows() + Jt.rows(), v.size());
  J << Jn, Jt;
  return {.G = J * inertia.cwiseInverse().asDiagonal() * J.transpose(), .c = J * v, .mu = mu};
}

// Orders of single impacts do not all end here, and need not: the exact set is a point.
TEST(Ambiguity, AnExactSetOfOnePointIsUnique) {
  MatrixXd Jn(3, 5), Jt(3, 5);
  Jn << 1, 2, 1, -2, 2, -1, -1, -2, -2, -2, 2, -2, 2, 2, 2;
  Jt << -2, 2, 2, 1, 0, -2, 2, 2, 1, 0, 0, -2, 2, -2, -2;
  VectorXd inertia(5), v(5);
  inertia << 2, 3, 1, 2, 3;
  v << 1, -1, -2, 1, -3;
  const ImpactProblem p = impact_of(inertia, Jn, Jt, Eigen::Vector3d(1, 2, 1), v);
  const Ambiguity a = ambiguity(p);
  ASSERT_TRUE(a.whole);
  EXPECT_EQ(a.unique(), true);
}

// The exact set is a point. Samples by coarse steps end up to 10 m/s from it.
TEST(Ambiguity, StepsOfFiniteSizeMakeNoOutcomes) {
  MatrixXd Jn(2, 3), Jt(2, 3);
  Jn << -3, 2, 3, -3, -1, -1;
  Jt << -2, 2, 3, 3, 3, 1;
  const ImpactProblem p = impact_of(Eigen::Vector3d::Ones(), Jn, Jt, Eigen::Vector2d(3, 0),
                                    Eigen::Vector3d::Constant(2));
  const Ambiguity a = ambiguity(p);
  EXPECT_EQ(a.outcomes.size(), 1u);
  EXPECT_EQ(a.unique(), true);
  EXPECT_FALSE(a.mixtures);
  EXPECT_LT(a.spread, 1e-9);
}

// The laws may differ at one contact, but there is no order to choose.
TEST(Ambiguity, OneContactHasNoMixtures) {
  const ImpactProblem p = impact_of(Eigen::Vector3d(2, 1, 1), Eigen::RowVector3d(2, -2, -2),
                                    Eigen::RowVector3d(-1, -1, -3), VectorXd::Constant(1, 0.25),
                                    Eigen::Vector3d(-1, 2, 1));
  const Ambiguity a = ambiguity(p);
  EXPECT_EQ(a.outcomes.size(), 2u);
  EXPECT_FALSE(a.mixtures);
  EXPECT_NEAR(a.spread, (a.outcomes[0].c_plus - a.outcomes[1].c_plus).lpNorm<Eigen::Infinity>(),
              1e-12);
}

// Steps follow the problem: units change nothing, and every sample ends.
TEST(Ambiguity, SpreadsDoNotDependOnUnits) {
  ImpactProblem p = test::rocking_block();
  const Ambiguity one = ambiguity(p);
  EXPECT_EQ(one.set->terminated, one.set->samples);
  p.G *= 0x1p-30;
  p.c *= 0x1p10;
  const Ambiguity other = ambiguity(p);
  EXPECT_EQ(other.set->terminated, other.set->samples);
  EXPECT_EQ(other.spread, 0x1p10 * one.spread);
}

// Whatever it calls unique the laws agree on, and the other way round.
TEST(Ambiguity, UniqueMeansThatAllLawsAgree) {
  std::mt19937 random(7);
  int several = 0;
  for (int k = 0; k < test::trials(60); ++k) {
    const ImpactProblem p = test::random_impact(random, 1 + k % 3, 3 + k % 3).problem;
    const Ambiguity a = ambiguity(p, {.samples = 256});
    if (a.unique() == true) {
      for (const Outcome& o : simultaneous(p).outcomes)
        EXPECT_LT((o.c_plus - a.outcomes[0].c_plus).norm(), 1e-6 * p.c.norm()) << k;
      EXPECT_LT(a.spread, 1e-5 * p.c.norm()) << k;
    } else if (a.unique() == false) {
      ++several;
      EXPECT_TRUE(a.outcomes.size() > 1 || !a.contacts.empty()) << k;
      EXPECT_GT(a.spread, 0) << k;
    }
    for (const ContactSpread& c : a.contacts) {
      EXPECT_LE(c.by, a.spread) << k;
      EXPECT_FALSE(c.states.empty()) << k;
    }
  }
  EXPECT_GT(several, 0);
}

// Searches are counted: two calls give the same, to the last bit.
TEST(Ambiguity, DoesNotDependOnTime) {
  std::mt19937 random(9);
  const ImpactProblem p = test::random_impact(random, 6, 5).problem;
  const Ambiguity a = ambiguity(p, {.effort = 0.05}),
                  b = ambiguity(p, {.effort = 0.05, .threads = 1});
  EXPECT_EQ(a.spread, b.spread);
  EXPECT_EQ(a.set->samples, b.set->samples);
  ASSERT_EQ(a.outcomes.size(), b.outcomes.size());
  for (std::size_t k = 0; k < a.outcomes.size(); ++k)
    EXPECT_EQ(a.outcomes[k].c_plus, b.outcomes[k].c_plus) << k;
}

// Where modes or orders are left over, samples that differ stand among the outcomes, each an
// outcome of its own.
TEST(Ambiguity, SamplesJoinWhatCouldNotBeSearched) {
  std::mt19937 random(10);
  int joined = 0;
  for (int k = 0; k < test::trials(12); ++k) {
    const ImpactProblem p = test::random_impact(random, 6, 4).problem;
    const Ambiguity a = ambiguity(p, {.effort = 0.02, .sequential = {.max_states = 20}});
    for (std::size_t i = 0; i < a.outcomes.size(); ++i) {
      joined += a.outcomes[i].sample.has_value();
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_FALSE(same_outcome(p, a.outcomes[i].c_plus, a.outcomes[j].c_plus)) << k;
    }
    if (a.all_modes() && a.all_orders()) {
      for (const FoundOutcome& o : a.outcomes) EXPECT_FALSE(o.sample) << k;
    }
  }
  EXPECT_GT(joined, 0);
}

// The samples of a polygon lie off the one outcome of a circular cone: that is no ambiguity.
TEST(Ambiguity, APolygonIsNoSecondOutcome) {
  ImpactProblem p = point(2, 2);
  p.c[2] = 0.7;
  const Ambiguity a = ambiguity(p);
  EXPECT_EQ(a.outcomes.size(), 1u);
  EXPECT_FALSE(a.mixtures);
  EXPECT_NE(a.unique(), false);
  EXPECT_GT(polygon_apart(p, simultaneous(p).outcomes), 1e-3);
}

TEST(SameOutcome, TheMostDifferentComeFirst) {
  const ImpactProblem p = point(1);
  const auto at = [](double n, double t) { return VectorXd(Eigen::Vector2d(n, t)); };
  const std::vector<VectorXd> list{at(0, 0), at(0, 1e-9), at(3, 0), at(1, 0), at(3, 1e-9)};
  EXPECT_EQ(most_different(p, list, 9), (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(most_different(p, list, 2), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(most_different(p, list, 9, {at(3, 0)}), (std::vector<std::size_t>{0, 3}));
  EXPECT_TRUE(most_different(p, {}, 9).empty());
}

TEST(Ambiguity, StopsWhenToldAndSaysSo) {
  std::mt19937 random(8);
  const ImpactProblem p = test::random_impact(random, 3, 6).problem;
  const Ambiguity a = ambiguity(p, {.stop = [] { return true; }});
  EXPECT_TRUE(a.stopped);
  EXPECT_FALSE(a.searched());
  EXPECT_NE(a.unique(), true);
}

}  // namespace
}  // namespace routh
