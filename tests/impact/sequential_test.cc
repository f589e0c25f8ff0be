#include "routh/impact/sequential.h"

#include <gtest/gtest.h>

#include "random_problem.h"

namespace routh {
namespace {

using Eigen::VectorXd;

TEST(Sequential, TheRockingBlockPivotsAboutEitherCorner) {
  const SequentialResult r = sequential(test::rocking_block());
  ASSERT_EQ(r.outcomes.size(), 2u);
  EXPECT_TRUE(r.complete);
  // mirror images: A then B lifts A, B then A lifts B, by the known 0.0930 m/s
  EXPECT_EQ(r.outcomes[0].order, (std::vector<int>{0, 1}));
  EXPECT_EQ(r.outcomes[1].order, (std::vector<int>{1, 0}));
  EXPECT_NEAR(r.outcomes[0].outcome.c_plus[0], 0.0930, 5e-5);
  EXPECT_NEAR(r.outcomes[1].outcome.c_plus[1], 0.0930, 5e-5);
  EXPECT_NEAR(r.outcomes[0].outcome.c_plus[0], r.outcomes[1].outcome.c_plus[1], 1e-15);
}

TEST(Sequential, AGivenOrderIsRepeatedAndPassesOverContactsThatDoNotApproach) {
  const SequentialResult r = sequential(test::rocking_block(), {.order = {1}});
  // B alone leaves A approaching: the order has no answer to that
  EXPECT_TRUE(r.outcomes.empty());
  ASSERT_EQ(r.unfinished.size(), 1u);
  EXPECT_FALSE(r.unfinished[0].finished);
  const SequentialResult both = sequential(test::rocking_block(), {.order = {1, 0}});
  ASSERT_EQ(both.outcomes.size(), 1u);
  EXPECT_EQ(both.outcomes[0].order, (std::vector<int>{1, 0}));
}

TEST(Sequential, EndlessOrdersAreReportedNotLoopedOn) {
  // two frictionless contacts that push each other: each hit restores half of the other's speed
  ImpactProblem p{.G = Eigen::MatrixXd::Identity(4, 4),
                  .c = Eigen::Vector4d(-1, 0, 0, 0),
                  .mu = Eigen::Vector2d::Zero(),
                  .tangents = 1};
  p.G(0, 1) = p.G(1, 0) = -0.999;
  const SequentialResult r = sequential(p, {.max_impacts = 50});
  EXPECT_TRUE(r.outcomes.empty());
  ASSERT_EQ(r.unfinished.size(), 1u);
  EXPECT_EQ(r.unfinished[0].order.size(), 50u);
  // with patience it converges to rest of both normals
  const SequentialResult patient = sequential(p, {.max_impacts = 100'000});
  ASSERT_EQ(patient.outcomes.size(), 1u);
  EXPECT_LT(patient.outcomes[0].outcome.c_plus.head(2).norm(), 1e-8);
}

TEST(Sequential, EveryOrderContainsEveryGivenOrder) {
  std::mt19937 random(41);
  for (int k = 0; k < 100; ++k) {
    const ImpactProblem p = test::random_impact(random, 3, 4 + k % 3).problem;
    const SequentialResult all = sequential(p, {.max_impacts = 200, .max_states = 3000});
    if (!all.complete) continue;
    for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 0}}) {
      const SequentialResult given = sequential(p, {.order = order, .max_impacts = 200});
      for (const SequentialOutcome& o : given.outcomes) {
        bool found = false;
        for (const SequentialOutcome& other : all.outcomes)
          found |= (other.outcome.c_plus - o.outcome.c_plus).norm() < 1e-6 * p.c.norm();
        EXPECT_TRUE(found) << "problem " << k;
      }
    }
  }
}

TEST(Sequential, NoOutcomePenetratesOrGainsEnergy) {
  std::mt19937 random(42);
  for (int k = 0; k < 300; ++k) {
    const ImpactProblem p = test::random_impact(random, 1 + k % 3, 3 + k % 4).problem;
    for (const SingleLaw law : {SingleLaw::kRouth, SingleLaw::kAlgebraic}) {
      const SequentialResult r =
          sequential(p, {.single = law, .max_impacts = 100, .max_states = 500});
      for (const SequentialOutcome& o : r.outcomes) {
        EXPECT_FALSE(colliding(p, o.outcome.c_plus));
        EXPECT_LE(test::energy_change(p, o.outcome.impulse), 1e-9);
        EXPECT_EQ(o.path.front(), p.c);
        EXPECT_EQ(o.path.back(), o.outcome.c_plus);
      }
    }
  }
}

TEST(Sequential, RefusesAContactThatIsNotThere) {
  EXPECT_THROW((void)sequential(test::rocking_block(), {.order = {0, 2}}), std::invalid_argument);
}

// Contacts that nearly jam hit each other for ever: the law says so instead of nothing.
TEST(Sequential, OrdersThatRunInCirclesAreUnfinished) {
  ImpactProblem p{.G = Eigen::Matrix4d::Zero(),
                  .c = Eigen::Vector4d(3.4760336008657537, -3.47603219285867, -1.0706754902238054,
                                       1.0706762354482569),
                  .mu = Eigen::Vector2d(41.640645788285816, 24.029856086031028)};
  p.G << 4.062394682246653, -4.062392689842694, -0.9546067297938493, 0.954606763882768,
      -4.062392689842694, 4.062390697440738, 0.9546056240457075, -0.9546056581347925,
      -0.9546067297938493, 0.9546056240457075, 1.241460955409023, -1.2414612979322515,
      0.954606763882768, -0.9546056581347925, -1.2414612979322515, 1.2414616404561154;
  const SequentialResult r = sequential(p);
  EXPECT_TRUE(!r.outcomes.empty() || !r.unfinished.empty());
}

}  // namespace
}  // namespace routh
