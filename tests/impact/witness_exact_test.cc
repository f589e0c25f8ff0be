// Witnesses held against exact sets.

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/impact/cone.h"
#include "routh/impact/exact.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/witness.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// Every contact velocity both ways, and a few mixtures.
std::vector<WitnessTarget> directions(const ImpactProblem& p, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<WitnessTarget> targets;
  for (Eigen::Index i = 0; i < p.c.size(); ++i) {
    for (const double sign : {1.0, -1.0})
      targets.push_back({WitnessTarget::kLinear, sign * VectorXd::Unit(p.c.size(), i)});
  }
  for (int k = 0; k < 4; ++k)
    targets.push_back({WitnessTarget::kLinear,
                       VectorXd::NullaryExpr(p.c.size(), [&] { return normal(random); })});
  return targets;
}

double support(const ExactResult& set, const VectorXd& q) {
  double most = -HUGE_VAL;
  for (const Polytope& piece : set.pieces) {
    for (const VectorXd& corner : piece.corners) most = std::max(most, q.dot(corner));
  }
  return most;
}

/// Problems of a kind whose exact sets are reached; how many there were.
int expect_support(int contacts, int velocities, int tangents, int edges, unsigned seed,
                   int problems) {
  std::mt19937 random(seed);
  int checked = 0;
  for (int k = 0; k < problems; ++k) {
    const ImpactProblem p =
        test::random_impact(random, contacts, velocities, tangents, edges).problem;
    if (!colliding(p, p.c) || !pointed(p)) continue;
    const ExactResult r = exact(p, {.max_polyhedra = 400, .max_seconds = 60});
    if (r.status != ExactStatus::kExact) continue;
    ++checked;
    const std::vector<WitnessTarget> targets = directions(p, random);
    const WitnessResult found = witnesses(p, targets);
    EXPECT_EQ(found.status, WitnessStatus::kFound) << "problem " << k;
    const double close = 1e-9 * p.c.norm();
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (found.best[t].phases.empty()) continue;
      const double size = std::max(1.0, targets[t].q.norm());
      EXPECT_NEAR(found.best[t].value, support(r, targets[t].q), size * close)
          << "problem " << k << ", target " << t;
      EXPECT_GE(found.at_most[t], support(r, targets[t].q) - size * close)
          << "problem " << k << ", target " << t;
      EXPECT_LT(nearest_point(r.pieces, found.best[t].outcome.c_plus).distance, close)
          << "problem " << k << ", target " << t;
    }
    for (const Witness& other : found.others)
      EXPECT_LT(nearest_point(r.pieces, other.outcome.c_plus).distance, close) << "problem " << k;
  }
  return checked;
}

TEST(WitnessExact, TwoContactsReachTheSupportFunction) {
  EXPECT_GT(expect_support(2, 3, 1, 2, 301, 12), 5);
  EXPECT_GT(expect_support(2, 4, 1, 2, 302, 12), 5);
}

TEST(WitnessExact, ThreeContactsReachTheSupportFunction) {
  EXPECT_GT(expect_support(3, 3, 1, 2, 303, 8), 3);
}

TEST(WitnessExact, InSpaceTheyReachTheSupportFunction) {
  EXPECT_GT(expect_support(1, 3, 2, 8, 304, 30), 3);
  EXPECT_GT(expect_support(2, 3, 2, 4, 305, 6), 1);
}

/// Farthest point of a set from samples, and farthest sample from the set.
Coverage covered(const ImpactProblem& p, const ExactResult& set, Draws draws,
                 std::uint64_t samples) {
  const SetResult r = set_valued(p, {.samples = samples,
                                     .step = 0.1,
                                     .limit = 10'000,
                                     .draws = draws,
                                     .threads = 1,
                                     .keep = samples});
  EXPECT_EQ(r.terminated, samples);
  std::vector<VectorXd> ends;
  for (const SetSample& s : r.kept) ends.push_back(s.outcome.c_plus);
  return coverage(set.pieces, ends);
}

TEST(ExtremeDraws, FillTheSetFromFewSamples) {
  // the ends of the two segments are the sequential outcomes, which uniform draws never meet
  const ImpactProblem p = test::rocking_block();
  const ExactResult set = exact(p);
  const Coverage extremes = covered(p, set, Draws::kExtremes, 2000);
  const Coverage uniform = covered(p, set, Draws::kUniform, 20'000);
  EXPECT_LT(extremes.outside, 1e-9);
  EXPECT_LT(extremes.missed, 0.1 * uniform.missed);
}

TEST(ExtremeDraws, StayInSetsOfAnyKind) {
  std::mt19937 random(306);
  int checked = 0;
  for (int k = 0; k < 12; ++k) {
    const int tangents = k % 4 == 3 ? 2 : 1;
    const ImpactProblem p = test::random_impact(random, 2, 3, tangents, 4).problem;
    if (!colliding(p, p.c) || !pointed(p)) continue;
    const ExactResult set = exact(p, {.max_polyhedra = 300, .max_seconds = 60});
    if (set.status != ExactStatus::kExact) continue;
    ++checked;
    const SetResult r =
        set_valued(p, {.samples = 300, .draws = Draws::kExtremes, .threads = 2, .keep = 300});
    EXPECT_EQ(r.unsolved, 0u) << "problem " << k;
    for (const SetSample& s : r.kept) {
      EXPECT_LT(nearest_point(set.pieces, s.outcome.c_plus).distance, 1e-8 * p.c.norm())
          << "problem " << k << ", sample " << s.index;
      EXPECT_LT(test::energy_change(p, s.outcome.impulse), 1e-9 * p.c.squaredNorm());
    }
    // the same whatever the number of threads
    const SetResult again =
        set_valued(p, {.samples = 300, .draws = Draws::kExtremes, .threads = 1, .keep = 300});
    for (std::size_t i = 0; i < r.kept.size(); ++i)
      EXPECT_EQ(r.kept[i].outcome.c_plus, again.kept[i].outcome.c_plus) << "problem " << k;
  }
  EXPECT_GT(checked, 4);
}

TEST(ExtremeDraws, AnImpactThatIsNoneStays) {
  ImpactProblem apart = test::rocking_block();
  apart.c = -apart.c;
  const SetResult r = set_valued(apart, {.samples = 3, .draws = Draws::kExtremes});
  EXPECT_EQ(r.terminated, 3u);
  EXPECT_EQ(r.kept[0].outcome.c_plus, apart.c);
  ImpactProblem bouncing = test::rocking_block();
  bouncing.e = Eigen::Vector2d(0.5, 0.5);
  EXPECT_THROW((void)set_valued(bouncing, {.draws = Draws::kExtremes}), std::invalid_argument);
}

}  // namespace
}  // namespace routh
