#include "routh/impact/witness.h"

#include <gtest/gtest.h>

#include <limits>

#include "random_problem.h"
#include "routh/impact/cone.h"
#include "routh/impact/order_symmetry.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// Every contact velocity both ways.
std::vector<WitnessTarget> both_ways(const ImpactProblem& p) {
  std::vector<WitnessTarget> targets;
  for (Eigen::Index i = 0; i < p.c.size(); ++i) {
    for (const double sign : {1.0, -1.0})
      targets.push_back({WitnessTarget::kLinear, sign * VectorXd::Unit(p.c.size(), i)});
  }
  return targets;
}

const WitnessOptions kQuick{.patience = 6, .threads = 1};

TEST(Witness, TheBlockLiftsACornerByHittingTheOtherFirst) {
  // P1 Fig. 9: 0.0930 m/s, the sequential outcome
  const ImpactProblem p = test::rocking_block();
  const WitnessResult r = witnesses(p, {{WitnessTarget::kLinear, VectorXd::Unit(4, 0)}});
  ASSERT_EQ(r.status, WitnessStatus::kFound);
  EXPECT_NEAR(r.best[0].value, 0.093009, 1e-6);
  ASSERT_EQ(r.best[0].phases.size(), 2u);
  EXPECT_GE(r.at_most[0], r.best[0].value);
}

TEST(Witness, EveryWitnessIsReplayedConfirmedAndBounded) {
  std::mt19937 random(191);
  int found = 0;
  for (int k = 0; k < 8; ++k) {
    const int contacts = 2 + k % 3, tangents = k % 4 == 3 ? 2 : 1;
    const ImpactProblem p = test::random_impact(random, contacts, 3 + k % 4, tangents, 4).problem;
    if (!colliding(p, p.c) || !pointed(p)) continue;
    const WitnessResult r = witnesses(p, both_ways(p), {.max_programs = 2000, .patience = 1});
    for (std::size_t t = 0; t < r.best.size(); ++t) {
      const Witness& w = r.best[t];
      if (w.phases.empty()) continue;
      ++found;
      EXPECT_LT(replay(p, w.phases), 1e-8) << "problem " << k;
      const Confirmation again = confirm(p, w.certificate);
      EXPECT_TRUE(again.holds) << again.why;
      EXPECT_GE(r.at_most[t], w.value - 1e-9 * p.c.norm()) << "problem " << k << ", target " << t;
      EXPECT_FALSE(colliding(p, w.outcome.c_plus));
      EXPECT_LT(test::energy_change(p, w.outcome.impulse), 1e-9 * p.c.squaredNorm());
    }
  }
  EXPECT_GT(found, 20);
}

// Whenever it is told: between two programs, or long before the first round has ended.
TEST(Witness, EndsWhenToldWithThePathsThatItCanConfirm) {
  std::mt19937 random(192);
  const ImpactProblem p = test::random_impact(random, 4, 7).problem;
  ASSERT_TRUE(colliding(p, p.c) && pointed(p));
  const std::vector<WitnessTarget> targets = both_ways(p);
  std::int64_t before = 0;
  for (const int patience : {0, 100, 10'000, std::numeric_limits<int>::max()}) {
    int asked = 0;
    const WitnessResult r = witnesses(
        p, targets, {.patience = 2, .threads = 1, .stop = [&] { return ++asked > patience; }});
    const bool told = asked > patience;
    EXPECT_EQ(r.stopped, told);
    EXPECT_TRUE(told || r.status == WitnessStatus::kFound);
    EXPECT_GE(r.programs, before) << patience;
    before = r.programs;
    ASSERT_EQ(r.best.size(), targets.size());
    ASSERT_EQ(r.at_most.size(), targets.size());
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const Witness& w = r.best[t];
      if (w.phases.empty()) continue;
      EXPECT_TRUE(confirm(p, w.certificate).holds) << patience;
      EXPECT_GE(r.at_most[t], w.value - 1e-9 * p.c.norm()) << patience;
    }
  }
}

// The block on both corners is its own mirror image; moved sideways it is none.
TEST(Witness, SymmetriesOfAnImpactAreFoundAndUsed) {
  const ImpactProblem p = test::rocking_block();
  const OrderSpace space{RationalImpact(p)};
  const std::vector<OrderSymmetry> found = symmetries(space, p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].contact, (std::vector<int>{1, 0}));
  EXPECT_EQ(found[0].turned, (std::vector<char>{1, 1}));
  // a form and its image are reached alike, for the image is tried
  const WitnessResult r = witnesses(p, both_ways(p), kQuick);
  EXPECT_NEAR(r.best[0].value, r.best[2].value, 1e-12);
  EXPECT_NEAR(r.best[4].value, r.best[7].value, 1e-12);

  ImpactProblem moving = p;
  moving.c.tail(2).setConstant(0.1);
  EXPECT_TRUE(symmetries(space, moving).empty());
  ImpactProblem rough = p;
  rough.mu[0] = 0.5;
  EXPECT_TRUE(symmetries(space, rough).empty());
}

TEST(Witness, ACorruptedCertificateIsRefused) {
  const ImpactProblem p = test::rocking_block();
  const WitnessResult r = witnesses(p, {{WitnessTarget::kLinear, VectorXd::Unit(4, 0)}});
  const WitnessCertificate good = r.best[0].certificate;
  ASSERT_TRUE(confirm(p, good).holds);
  const auto refused = [&](const auto& spoil) {
    WitnessCertificate bad = good;
    spoil(bad);
    const Confirmation c = confirm(p, bad);
    EXPECT_FALSE(c.holds);
    EXPECT_FALSE(c.why.empty());
  };
  refused([](auto& c) { c.locations[0][0] = 0; });  // an approaching contact called open
  refused([](auto& c) { c.locations[0][0] = 99; });
  refused([](auto& c) { c.locations.pop_back(); });
  refused([](auto& c) { c.locations.clear(); });
  refused([](auto& c) { c.corners.clear(); });
  refused([](auto& c) { c.corners[0].pushes.pop_back(); });
  refused([](auto& c) { c.corners[0].pushes[0].second = 1000; });
  refused([](auto& c) { c.corners[0].tight[0].first = -1; });
  refused([](auto& c) { c.corners[0].weight = -1; });
  // another problem's certificate is none of this one
  ImpactProblem other = test::rocking_block(1, 0.2);
  EXPECT_FALSE(confirm(other, good).holds);
  // nor does the replay take a path with an impulse changed
  std::vector<WitnessPhase> phases = r.best[0].phases;
  phases[0].impulse *= 1.001;
  EXPECT_GT(replay(p, phases), 1e-6);
  phases.pop_back();
  EXPECT_GT(replay(p, phases), 1e-6);
}

TEST(Witness, ThreadsDoNotMatter) {
  std::mt19937 random(192);
  const ImpactProblem p = test::random_impact(random, 3, 5).problem;
  const auto run = [&](int threads) {
    return witnesses(p, both_ways(p), {.max_programs = 5000, .seed = 3, .threads = threads});
  };
  const WitnessResult one = run(1), three = run(3);
  ASSERT_EQ(one.best.size(), three.best.size());
  for (std::size_t t = 0; t < one.best.size(); ++t)
    EXPECT_EQ(one.best[t].value, three.best[t].value);
  EXPECT_EQ(one.programs, three.programs);
}

TEST(Witness, ExtremesAreTheSameInAnyUnitsInTheMirrorAndInAnyOrder) {
  const ImpactProblem p = test::rocking_block(1, 1.3, 2, 0.6);
  const auto extremes = [&](const ImpactProblem& q) {
    VectorXd values(2 * q.c.size());
    const WitnessResult r = witnesses(q, both_ways(q), kQuick);
    for (Eigen::Index t = 0; t < values.size(); ++t) values[t] = r.best[t].value;
    return values;
  };
  const VectorXd own = extremes(p);
  const double close = 1e-9 * p.c.norm();
  for (const double mass : {1e-9, 1e9}) {
    for (const double speed : {1e-9, 1e9})
      EXPECT_LT((extremes(test::in_units(p, mass, speed)) / speed - own).norm(), close)
          << mass << " " << speed;
  }
  const VectorXd mirror = extremes(test::mirrored(p));
  EXPECT_LT((mirror.head(4) - own.head(4)).norm(), close);
  for (const int t : {4, 5, 6, 7}) EXPECT_NEAR(mirror[t], own[t ^ 1], close);
  const VectorXd swapped = extremes(test::permuted(p, {1, 0}));
  for (const int t : {0, 1, 4, 5}) EXPECT_NEAR(swapped[t], own[t + 2], close);
}

TEST(Witness, FormsMayHaveFactorsOfAnySize) {
  const ImpactProblem p = test::rocking_block();
  const auto most = [&](double factor) {
    return witnesses(p, {{WitnessTarget::kLinear, factor * VectorXd::Unit(4, 0)}}, kQuick);
  };
  const WitnessResult own = most(1);
  for (const double factor : {1e-300, 1e-9, 1e9, 1e300}) {
    const WitnessResult r = most(factor);
    EXPECT_NEAR(r.best[0].value / factor, own.best[0].value, 1e-12) << factor;
    EXPECT_NEAR(r.at_most[0] / factor, own.at_most[0], 1e-6) << factor;
    EXPECT_GE(r.at_most[0], r.best[0].value) << factor;
  }
  // a form that is nothing
  const WitnessResult none = most(0);
  EXPECT_EQ(none.best[0].value, 0);
  EXPECT_EQ(none.at_most[0], 0);
}

TEST(Witness, WhatDoesNotApproachStaysAndWhatJamsIsRefused) {
  ImpactProblem apart = test::rocking_block();
  apart.c = -apart.c;
  const WitnessResult r = witnesses(apart, {{WitnessTarget::kLinear, VectorXd::Unit(4, 0)}});
  EXPECT_EQ(r.best[0].value, apart.c[0]);
  EXPECT_EQ(r.at_most[0], apart.c[0]);
  EXPECT_THROW((void)witnesses(apart, {{WitnessTarget::kLinear, VectorXd::Ones(3)}}),
               std::invalid_argument);
  // a block wedged between two walls
  ImpactProblem jam{.G = Eigen::MatrixXd::Identity(4, 4),
                    .c = VectorXd::Constant(4, -1),
                    .mu = Eigen::Vector2d(1, 1)};
  jam.G << 1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1;
  EXPECT_EQ(witnesses(jam, {{WitnessTarget::kMostEnergy}}).status, WitnessStatus::kJammed);
}

}  // namespace
}  // namespace routh
