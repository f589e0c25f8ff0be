// P1 Theorem 9 in numbers, Assumption 6, and how long impacts last.

#include "routh/impact/certificate.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/impact/cone.h"
#include "routh/impact/longest.h"
#include "routh/impact/modes.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/witness.h"

namespace routh {
namespace {

using Eigen::VectorXd;

VectorXd all_normals(const ImpactProblem& p) {
  VectorXd load = VectorXd::Zero(p.c.size());
  load.head(p.contacts()).setOnes();
  return load;
}

TEST(Uniqueness, WithoutFrictionItIsAConvexProgramAndCertified) {
  std::mt19937 random(71);
  for (int k = 0; k < 10; ++k) {
    ImpactProblem p = test::random_impact(random, 1 + k % 4, 3 + k % 3).problem;
    p.mu.setZero();
    EXPECT_EQ(step_uniqueness(p).status, StepUniqueness::kUnique) << k;
  }
}

TEST(Uniqueness, OfOneContactItIsLostWhereFrictionTurnsTheNormalVelocity) {
  // G_nt between normal and tangent, by hand: sliding pushes the contact in where μ |G_nt| > G_nn
  ImpactProblem p{.G = Eigen::MatrixXd(2, 2), .c = Eigen::Vector2d(-1, 1), .mu = VectorXd(1)};
  p.G << 1, 0.9, 0.9, 1;
  p.mu[0] = 1;
  EXPECT_EQ(step_uniqueness(p).status, StepUniqueness::kUnique);
  p.mu[0] = 1.3;
  const UniquenessResult lost = step_uniqueness(p);
  ASSERT_EQ(lost.status, StepUniqueness::kAmbiguous);
  EXPECT_GT((lost.example->first.c_plus - lost.example->second.c_plus).norm(), 0);
}

// Random steps of random problems, all their solutions enumerated.
TEST(Uniqueness, WhatIsCertifiedHasOneSolutionAndExamplesAreConfirmedByEnumeration) {
  std::mt19937 random(72);
  std::normal_distribution<double> normal;
  int certified = 0, refuted = 0;
  for (int k = 0; k < 60; ++k) {
    const test::RandomImpact impact = test::random_impact(random, 1 + k % 2, 3 + k % 2);
    ImpactProblem p = impact.problem;
    const UniquenessResult r = step_uniqueness(p);
    if (r.status == StepUniqueness::kUnique) {
      ++certified;
      for (int step = 0; step < 20; ++step) {
        p.c = impact.J *
              VectorXd(VectorXd::NullaryExpr(impact.v.size(), [&] { return normal(random); }));
        const VectorXd most =
            VectorXd(VectorXd::NullaryExpr(p.contacts(), [&] { return std::abs(normal(random)); }));
        EXPECT_LE(enumerate_modes(p, most).outcomes.size(), 1u) << "problem " << k;
      }
    } else if (r.status == StepUniqueness::kAmbiguous) {
      ++refuted;
      p.c = r.example->c;
      EXPECT_GE(enumerate_modes(p, r.example->lambda_max).outcomes.size(), 2u) << "problem " << k;
      EXPECT_LT(violation(p, r.example->first.impulse, r.example->lambda_max).size, 1e-8);
      EXPECT_LT(violation(p, r.example->second.impulse, r.example->lambda_max).size, 1e-8);
    }
  }
  EXPECT_GT(certified, 5);
  EXPECT_GT(refuted, 5);
}

TEST(Uniqueness, DoesNotDependOnUnitsOrTheOrderOfContacts) {
  std::mt19937 random(73);
  for (int k = 0; k < 20; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 4).problem;
    const StepUniqueness own = step_uniqueness(p).status;
    EXPECT_EQ(step_uniqueness(test::permuted(p, {1, 0})).status, own) << k;
    EXPECT_EQ(step_uniqueness(test::mirrored(p)).status, own) << k;
    EXPECT_EQ(step_uniqueness(test::in_units(p, 1e-9, 1e9)).status, own) << k;
    EXPECT_EQ(step_uniqueness(test::in_units(p, 1e9, 1e-9)).status, own) << k;
  }
}

TEST(Certificate, OfAPointThatFallsIsCountedByHand) {
  // m = 2 kg, no friction: ρ = √m, |z| = v √m, S = 2 m v; one step stretches nothing
  const ImpactProblem p{.G = Eigen::Vector2d(0.5, 0.5).asDiagonal(),
                        .c = Eigen::Vector2d(-3, 0),
                        .mu = VectorXd::Zero(1)};
  const SamplerCertificate c = certificate(p, {.epsilon = 0.3, .delta = 0.1, .step = 5});
  EXPECT_EQ(c.uniqueness.status, StepUniqueness::kUnique);
  EXPECT_NEAR(c.most_impulse, 12, 1e-6);
  EXPECT_NEAR(c.impulse_per_speed, 2 * std::sqrt(2.0), 1e-6);
  EXPECT_EQ(c.steps, 2 * std::ceil(12 * 2 / 5.0) + std::ceil(4 * std::log(20.0)));
  EXPECT_NEAR(c.final_step, 0.3 / (3 * 0.5), 1e-6);
  EXPECT_NEAR(c.lipschitz, 1, 1e-8);
  EXPECT_GT(c.log10_samples, 0);
  EXPECT_FALSE(c.holds(1e6));
  EXPECT_TRUE(c.holds(1e300) == (c.log10_samples <= 300));
}

TEST(Certificate, TighterMeansMoreAndUnitsDoNotMatter) {
  ImpactProblem p = test::rocking_block(1, 2, 1, 0.1);
  const SamplerCertificate own = certificate(p, {.epsilon = 0.1, .step = 0.1});
  const SamplerCertificate finer = certificate(p, {.epsilon = 0.01, .step = 0.1});
  EXPECT_GT(finer.log10_samples, own.log10_samples);
  EXPECT_LT(finer.final_step, own.final_step);
  const SamplerCertificate other =
      certificate(test::in_units(p, 1e-6, 1e6), {.epsilon = 0.1 * 1e6, .step = 0.1});
  EXPECT_EQ(other.steps, own.steps);
  EXPECT_NEAR(other.log10_samples, own.log10_samples, 1e-6 * own.log10_samples);
}

TEST(Certificate, NoSampleNeedsMoreStepsOrImpulseThanItSays) {
  const ImpactProblem p = test::rocking_block();
  const SamplerCertificate c = certificate(p, {.epsilon = 0.01, .delta = 0.01, .step = 0.05});
  const SetResult set = set_valued(
      p, {.samples = 4000, .step = 0.05, .limit = static_cast<int>(c.steps), .keep = 4000});
  EXPECT_EQ(set.terminated, set.samples);
  for (const SetSample& s : set.kept) EXPECT_LE(s.outcome.impulse.head(2).sum(), c.most_impulse);
}

TEST(Certificate, RefusesWhatIsNone) {
  const ImpactProblem p = test::rocking_block();
  EXPECT_THROW((void)certificate(p, {.epsilon = 0, .step = 1}), std::invalid_argument);
  EXPECT_THROW((void)certificate(p, {.epsilon = 1, .delta = 1, .step = 1}), std::invalid_argument);
  EXPECT_THROW((void)certificate(p, {.epsilon = 1, .step = 0}), std::invalid_argument);
  ImpactProblem bounces = p;
  bounces.e = Eigen::Vector2d(0.5, 0.5);
  EXPECT_THROW((void)certificate(bounces, {.epsilon = 1, .step = 1}), std::invalid_argument);
}

// The automaton, the witness and the bound of cone and energy are three ways to the same number.
TEST(ImpulseRange, IsReachedByWitnessesAndBelowTheBound) {
  std::mt19937 random(74);
  int checked = 0;
  for (int k = 0; k < 16; ++k) {
    const ImpactProblem p =
        k == 0 ? test::rocking_block() : test::random_impact(random, 2, 3 + k % 2).problem;
    if (!colliding(p, p.c) || !pointed(p)) continue;
    const VectorXd load = all_normals(p);
    const std::optional<ImpulseRange> range =
        impulse_range(p, load, {.max_polyhedra = 400, .max_seconds = 10});
    if (!range) continue;
    const VectorXd none = VectorXd::Zero(p.c.size());
    const WitnessResult r =
        witnesses(p, {{WitnessTarget::kLinear, none, load}, {WitnessTarget::kLinear, none, -load}},
                  {.patience = 60, .seed = 1, .threads = 1});
    ASSERT_EQ(r.status, WitnessStatus::kFound) << k;
    ++checked;
    const double size = range->most;
    EXPECT_NEAR(r.best[0].value, range->most, 1e-9 * size) << k;
    EXPECT_NEAR(-r.best[1].value, range->least, 1e-9 * size) << k;
    EXPECT_GE(r.at_most[0], range->most - 1e-9 * size) << k;
    EXPECT_GE(r.at_most[1], -range->least - 1e-9 * size) << k;
    EXPECT_LE(range->most, certificate(p, {.epsilon = 1, .step = 1}).most_impulse * (1 + 1e-9));
  }
  EXPECT_GT(checked, 6);
}

// One contact, no friction: it pushes until it stops.
TEST(ImpulseRange, OfOneContactIsThatWhichStopsIt) {
  const ImpactProblem p{.G = Eigen::Vector2d(0.5, 0.5).asDiagonal(),
                        .c = Eigen::Vector2d(-3, 1),
                        .mu = VectorXd::Zero(1)};
  const auto range = impulse_range(p, Eigen::Vector2d(1, 0));
  ASSERT_TRUE(range);
  EXPECT_NEAR(range->least, 6, 1e-9);
  EXPECT_NEAR(range->most, 6, 1e-9);
}

}  // namespace
}  // namespace routh
