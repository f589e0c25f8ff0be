#include "routh/impact/ambiguity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_problem.h"
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
    // no search proves that a circular cone has no other
    EXPECT_EQ(a.unique(), tangents == 1 ? std::optional(true) : std::nullopt);
    EXPECT_EQ(a.searched(), tangents == 1);
    EXPECT_EQ(a.outcomes.size(), 1u);
    EXPECT_LT(a.spread, 1e-9);
    EXPECT_TRUE(a.contacts.empty());
  }
  ImpactProblem polygon = point(2, 2);
  polygon.edges = 8;
  EXPECT_EQ(ambiguity(polygon).unique(), true);
  // the polygon has a corner along the slip
  EXPECT_LT(ambiguity(point(2, 2)).polygon_apart, 1e-9);
}

TEST(Ambiguity, WhatDoesNotApproachIsNoImpact) {
  ImpactProblem p = point(1);
  p.c[0] = 1;
  const Ambiguity a = ambiguity(p);
  EXPECT_FALSE(a.colliding);
  EXPECT_EQ(a.unique(), true);
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
