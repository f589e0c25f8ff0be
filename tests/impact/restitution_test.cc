#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "impact/cradle.h"
#include "random_problem.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/single.h"

namespace routh {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
using test::balls_after;
using test::cradle;

constexpr Restitution kAll[] = {Restitution::kNewton, Restitution::kPoisson, Restitution::kStronge};

ImpactProblem bouncing(ImpactProblem p, double e, Restitution means = Restitution::kByLaw) {
  p.e = VectorXd::Constant(p.contacts(), e);
  p.restitution = means;
  return p;
}

double gain(const ImpactProblem& p, const VectorXd& impulse) {
  return test::energy_change(p, impulse) / (p.c.squaredNorm() / p.G.diagonal().maxCoeff());
}

/// The path by many small steps: explicit, with nothing in common with single.cc.
VectorXd by_small_steps(const ImpactProblem& p, Restitution means, int steps) {
  const int k = p.tangents;
  const double ds = -p.c[0] / p.G(0, 0) / steps, e = p.e[0];
  VectorXd c = p.c, impulse = VectorXd::Zero(1 + k);
  double compression = 0, stored = 0, given = 0;
  bool turned = false;
  for (int i = 0; i < 40 * steps; ++i) {
    VectorXd push = VectorXd::Unit(1 + k, 0);
    // friction that stops the slip within the step, or as much as there is
    VectorXd stop = -p.G.bottomRightCorner(k, k).ldlt().solve(c.tail(k) / ds +
                                                              p.G.bottomLeftCorner(k, 1).col(0));
    if (stop.norm() > p.mu[0]) {
      // towards the slip at the end of the step, by iteration
      VectorXd direction =
          c.tail(k).norm() > 0 ? VectorXd(-c.tail(k).normalized()) : stop.normalized();
      for (int n = 0; n < 50; ++n) {
        const VectorXd after = c.tail(k) + ds * (p.G.bottomLeftCorner(k, 1).col(0) +
                                                 p.mu[0] * p.G.bottomRightCorner(k, k) * direction);
        const VectorXd turned_by = direction - 0.3 * after / std::max(1e-12, after.norm());
        if (turned_by.norm() > 1e-6) direction = turned_by.normalized();
      }
      stop = p.mu[0] * direction;
    }
    push.tail(k) = stop;
    const VectorXd next = c + ds * p.G * push;
    if (!turned)
      compression += ds, stored -= ds * 0.5 * (c[0] + next[0]);
    else
      given += means == Restitution::kPoisson ? ds : ds * 0.5 * (c[0] + next[0]);
    c = next, impulse += ds * push;
    turned = turned || c[0] >= 0;
    if (!turned) continue;
    if (means == Restitution::kNewton    ? c[0] >= -e * p.c[0]
        : means == Restitution::kPoisson ? given >= e * compression
                                         : given >= e * e * stored)
      break;
  }
  return c;
}

TEST(Restitution, TheThreeMeaningsAgreeWhereSlipNeitherStopsNorTurns) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  int seen = 0;
  for (int k = 0; k < 200; ++k) {
    ImpactProblem p = test::random_impact(random, 1, 3).problem;
    if (p.c[0] >= 0) continue;
    p.c[1] = 1e4 * p.c[0];
    const double e = uniform(random);
    std::vector<SingleResult> results;
    for (const Restitution means : kAll) results.push_back(single(bouncing(p, e, means), 0));
    if (!results[0].finished || results[0].path.front().state != results[0].path.back().state)
      continue;
    ++seen;
    for (const SingleResult& r : results) {
      EXPECT_NEAR(r.c_plus[0], -e * p.c[0], 1e-9 * std::abs(p.c[0]));
      EXPECT_LE((r.c_plus - results[0].c_plus).lpNorm<Eigen::Infinity>(), 1e-12 * std::abs(p.c[1]));
    }
  }
  EXPECT_GT(seen, 30);
}

TEST(Restitution, PathsInPlaneAndSpaceEndWhereSmallStepsDo) {
  std::mt19937 random(2);
  for (int k = 0; k < 24; ++k) {
    const int tangents = 1 + k % 2;
    ImpactProblem p = test::random_impact(random, 1, 5, tangents).problem;
    if (p.c[0] >= 0) p.c[0] = -p.c[0];
    if (p.c[0] > -1e-3) continue;
    p.mu[0] = std::clamp(p.mu[0], 0.05, 0.9);
    for (const Restitution means : kAll) {
      const ImpactProblem q = bouncing(p, 0.6, means);
      const SingleResult r = single(q, 0);
      if (!r.finished) continue;
      EXPECT_LE((r.c_plus - by_small_steps(q, means, 1000)).norm(), 1e-2 * p.c.norm())
          << k << " " << to_string(means);
      EXPECT_LE(r.residual, 1e-9);
    }
  }
}

TEST(Restitution, APlanarImpactIsTheSameInSpace) {
  std::mt19937 random(3);
  for (int k = 0; k < 60; ++k) {
    ImpactProblem p = test::random_impact(random, 1, 4).problem;
    if (p.c[0] >= 0) continue;
    for (const Restitution means : kAll) {
      const SingleResult plane = single(bouncing(p, 0.7, means), 0);
      const SingleResult space = single(bouncing(test::in_space(p), 0.7, means), 0);
      ASSERT_EQ(plane.finished, space.finished);
      if (!plane.finished) continue;
      EXPECT_LE((test::in_plane(space.c_plus) - plane.c_plus).lpNorm<Eigen::Infinity>(),
                1e-8 * plane.c_plus.lpNorm<Eigen::Infinity>() + 1e-8 * p.c.norm())
          << k << " " << to_string(means);
    }
  }
}

TEST(Restitution, WithNewtonsMeaningKanesPendulumGainsEnergyAndWithTheOthersItDoesNot) {
  // two rods of 1 m and 1 kg at 20 and 30 degrees, turning with -0.1 and -0.2 rad/s; the tip hits
  // the floor with friction 0.7 and e = 0.5 (after Kane, A dynamics puzzle, 1984)
  const double a = 20 * M_PI / 180, b = 30 * M_PI / 180;
  Matrix2d M, J;
  M << 4. / 3, 0.5 * std::cos(a - b), 0.5 * std::cos(a - b), 1. / 3;
  J << std::sin(a), std::sin(b), std::cos(a), std::cos(b);
  const ImpactProblem p{.G = J * M.inverse() * J.transpose(),
                        .c = J * Vector2d(-0.1, -0.2),
                        .mu = VectorXd::Constant(1, 0.7)};
  const auto after = [&](Restitution means) {
    const SingleResult r = single(bouncing(p, 0.5, means), 0);
    EXPECT_TRUE(r.finished);
    return Outcome{r.impulse, r.c_plus, r.residual};
  };
  EXPECT_GT(energy_gain(p, after(Restitution::kNewton)), 1e-3);
  EXPECT_EQ(energy_gain(p, after(Restitution::kPoisson)), 0);
  EXPECT_EQ(energy_gain(p, after(Restitution::kStronge)), 0);
  EXPECT_NEAR(after(Restitution::kNewton).c_plus[0], -0.5 * p.c[0], 1e-12);
}

TEST(Restitution, StrongesMeaningNeverAddsEnergy) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 90; ++k) {
    const int tangents = 1 + k % 2, m = 1 + k % 3;
    const ImpactProblem p =
        bouncing(test::random_impact(random, m, 2 * m + 1 + k % 3, tangents).problem,
                 uniform(random), Restitution::kStronge);
    if (!colliding(p, p.c)) continue;
    for (int i = 0; i < m; ++i) {
      const SingleResult r = single(p, i);
      if (r.finished) {
        EXPECT_LE(gain(p, r.impulse), 1e-9);
      }
    }
    for (const SequentialOutcome& s :
         sequential(p, {.max_impacts = 50, .max_states = 200}).outcomes)
      EXPECT_LE(gain(p, s.outcome.impulse), 1e-8);
    const SetResult set =
        set_valued(p, {.samples = 10,
                       .step = 0.3 * -p.normal().minCoeff() / p.G.diagonal().head(m).mean(),
                       .limit = 100,
                       .draws = k % 4 ? Draws::kUniform : Draws::kCorners,
                       .threads = 1});
    for (const SetSample& s : set.kept) {
      EXPECT_LE(gain(p, s.outcome.impulse), 1e-9);
      EXPECT_LE(s.outcome.residual, 1e-9);
    }
  }
}

TEST(Restitution, WithoutFrictionAndWithUnitCoefficientEnergyStays) {
  std::mt19937 random(5);
  for (int k = 0; k < 40; ++k) {
    const int m = 1 + k % 3;
    ImpactProblem p = bouncing(test::random_impact(random, m, 3 + m, 1 + k % 2).problem, 1);
    p.mu.setZero();
    if (!colliding(p, p.c)) continue;
    const auto kept = [&](const VectorXd& impulse) { return std::abs(gain(p, impulse)) <= 1e-9; };
    // two phases lose some where contacts that had opened are hit again by the others
    for (const Outcome& o : simultaneous(p).outcomes)
      EXPECT_TRUE(kept(o.impulse) || (m > 1 && gain(p, o.impulse) < 0));
    for (const SequentialOutcome& s : sequential(p).outcomes) EXPECT_TRUE(kept(s.outcome.impulse));
    const SetResult set =
        set_valued(p, {.samples = 50,
                       .step = 0.2 * -p.normal().minCoeff() / p.G.diagonal().head(m).mean(),
                       .threads = 1});
    EXPECT_GT(set.terminated, 0u);
    for (const SetSample& s : set.kept) {
      if (s.terminated) {
        EXPECT_TRUE(kept(s.outcome.impulse));
      }
    }
  }
}

TEST(Restitution, CoefficientsOfZeroAreNone) {
  std::mt19937 random(6);
  for (int k = 0; k < 20; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 3 + k % 3, 1 + k % 2).problem;
    const ImpactProblem q = bouncing(p, 0, kAll[k % 3]);
    const auto a = simultaneous(p).outcomes, b = simultaneous(q).outcomes;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].impulse, b[i].impulse);
    const auto c = sequential(p).outcomes, d = sequential(q).outcomes;
    ASSERT_EQ(c.size(), d.size());
    for (std::size_t i = 0; i < c.size(); ++i)
      EXPECT_EQ(c[i].outcome.impulse, d[i].outcome.impulse);
    const auto e = set_valued(p, {.samples = 20}), f = set_valued(q, {.samples = 20});
    for (std::size_t i = 0; i < e.kept.size(); ++i)
      EXPECT_EQ(e.kept[i].outcome.impulse, f.kept[i].outcome.impulse);
  }
}

TEST(Restitution, SmallCoefficientsChangeOutcomesOfAllLawsLittle) {
  std::mt19937 random(7);
  for (int k = 0; k < 40; ++k) {
    const ImpactProblem p = test::random_impact(random, 1, 3 + k % 3, 1 + k % 2, 0).problem;
    if (p.c[0] >= 0) continue;
    const SingleResult plastic = single(p, 0);
    if (!plastic.finished) continue;
    const double near = 1e-4 * (1 + p.G.cwiseAbs().sum() / p.G(0, 0)) * p.c.norm();
    for (const Restitution means : kAll) {
      // Stronge's rebound is e where those of the others are e
      const SingleResult r = single(bouncing(p, 1e-5, means), 0);
      EXPECT_LE((r.c_plus - plastic.c_plus).norm(), near) << k << " " << to_string(means);
    }
    const SetResult set =
        set_valued(bouncing(p, 1e-5), {.samples = 1, .step = -p.c[0] / p.G(0, 0), .keep = 1});
    if (set.terminated) {
      EXPECT_LE((set.kept[0].outcome.c_plus - plastic.c_plus).norm(),
                10 * near + 1e-2 * p.c.norm());
    }
  }
}

TEST(Restitution, TheSetOfOneContactIsRouthsPath) {
  std::mt19937 random(8);
  for (int k = 0; k < 60; ++k) {
    ImpactProblem p = test::random_impact(random, 1, 3 + k % 3, 1 + k % 2, 0).problem;
    if (p.c[0] >= 0) continue;
    for (const Restitution means : {Restitution::kPoisson, Restitution::kStronge}) {
      const ImpactProblem q = bouncing(p, 0.6, means);
      const SingleResult r = single(q, 0);
      if (!r.finished) continue;
      const SetResult set =
          set_valued(q, {.samples = 2, .step = 0.4 * -p.c[0] / p.G(0, 0), .threads = 1});
      for (const SetSample& s : set.kept) {
        ASSERT_TRUE(s.terminated) << k;
        // straight pieces of 0.02 rad stand for the curve in space
        const double near = p.tangents == 1 ? 1e-8 : 0.05;
        EXPECT_LE((s.outcome.c_plus - r.c_plus).norm(), near * p.c.norm())
            << k << " " << to_string(means);
      }
    }
  }
}

TEST(Restitution, NewtonsCradleThrowsTheLastBallInTurnAndSharesAtOnce) {
  const ImpactProblem p = bouncing(cradle(3), 1);
  // in turn: the textbook
  const SequentialResult in_turn = sequential(p);
  ASSERT_EQ(in_turn.outcomes.size(), 1u);
  EXPECT_LE((balls_after(p, in_turn.outcomes[0].outcome.impulse) - Eigen::Vector3d(0, 0, 1)).norm(),
            1e-12);
  // at once, by both phases and by Newton's equations alike: (-1/3, 2/3, 2/3)
  for (const Restitution means : {Restitution::kPoisson, Restitution::kNewton}) {
    const SimultaneousResult at_once = simultaneous(bouncing(cradle(3), 1, means));
    ASSERT_EQ(at_once.outcomes.size(), 1u);
    EXPECT_LE((balls_after(p, at_once.outcomes[0].impulse) - Eigen::Vector3d(-1, 2, 2) / 3).norm(),
              1e-12);
  }
  // every interleaving keeps momentum and energy; both are among them, or as near as samples come
  const SetResult set = set_valued(
      p, {.samples = 500, .step = 0.1, .draws = Draws::kCorners, .threads = 1, .keep = 500});
  EXPECT_EQ(set.terminated, 500u);
  double last_alone = 1, shared = 1;
  for (const SetSample& s : set.kept) {
    const VectorXd v = balls_after(p, s.outcome.impulse);
    EXPECT_NEAR(v.sum(), 1, 1e-12);
    EXPECT_NEAR(v.squaredNorm(), 1, 1e-8);
    last_alone = std::min(last_alone, (v - Eigen::Vector3d(0, 0, 1)).norm());
    shared = std::min(shared, (v - Eigen::Vector3d(-1, 2, 2) / 3).norm());
  }
  EXPECT_LE(last_alone, 1e-9);
  EXPECT_LE(shared, 1e-2);
}

TEST(Restitution, TwoBallsOnOneSplitAsSymmetryAsksAtOnceAndAsOrderSaysInTurn) {
  // a ball hits two that touch each other not, at 30 degrees to either side, all of unit mass:
  // billiards' break. At once with e = 1: v = 1 - 6/5 cos.. by momentum and energy along both lines
  const double s = std::sqrt(0.75);
  MatrixXd J = MatrixXd::Zero(4, 6);
  for (int i = 0; i < 2; ++i) {
    const Vector2d n(s, i ? -0.5 : 0.5);
    J.row(i).head(2) = -n.transpose();
    J.row(i).segment(2 + 2 * i, 2) = n.transpose();
  }
  ImpactProblem p = bouncing({.G = J * J.transpose(), .c = J.col(0), .mu = VectorXd::Zero(2)}, 1);
  const auto first_ball = [&](const VectorXd& impulse) {
    return Vector2d(Vector2d(1, 0) + J.leftCols(2).transpose() * impulse);
  };
  // v0 = 1 - 2 λ s, each of the two λ; energy 1 = v0² + 2 λ²: λ = 2 s/(1 + 2 s²) = 4 s/5
  const SimultaneousResult at_once = simultaneous(p);
  ASSERT_EQ(at_once.outcomes.size(), 1u);
  EXPECT_NEAR(at_once.outcomes[0].impulse[0], 0.8 * s, 1e-12);
  EXPECT_NEAR(at_once.outcomes[0].impulse[1], 0.8 * s, 1e-12);
  EXPECT_NEAR(first_ball(at_once.outcomes[0].impulse).x(), -0.2, 1e-12);
  // in turn: two mirrored outcomes, the ball hit first goes off with s
  const SequentialResult in_turn = sequential(p);
  ASSERT_EQ(in_turn.outcomes.size(), 2u);
  EXPECT_NEAR(in_turn.outcomes[0].outcome.impulse[in_turn.outcomes[0].order[0]], s, 1e-12);
}

TEST(Restitution, ABallBetweenTwoWallsComesToRestInInfinitelyManyBouncesThatAreSummed) {
  // speed 1 towards A, e = 1/2: impulses 1.5, 0.75, .. alternate; A gets 1.5/(1 - 1/4) = 2, B 1
  ImpactProblem p{.G = MatrixXd::Zero(4, 4), .c = VectorXd::Zero(4), .mu = VectorXd::Zero(2)};
  p.G.topLeftCorner(2, 2) << 1, -1, -1, 1;
  p.c.head(2) << -1, 1;
  const SequentialResult r = sequential(bouncing(p, 0.5));
  ASSERT_EQ(r.outcomes.size(), 1u);
  EXPECT_NEAR(r.outcomes[0].zeno, 0.25, 1e-9);
  EXPECT_NEAR(r.outcomes[0].outcome.impulse[0], 2, 1e-9);
  EXPECT_NEAR(r.outcomes[0].outcome.impulse[1], 1, 1e-9);
  EXPECT_LT(r.outcomes[0].order.size(), 20u);
  // without loss it never ends, and says so
  const SequentialResult ever = sequential(bouncing(p, 1));
  EXPECT_TRUE(ever.outcomes.empty());
  EXPECT_EQ(ever.unfinished.size(), 1u);
  // at once: A's impulse 1.5 of two phases would drive the ball into B, which holds it
  for (const Outcome& o : simultaneous(bouncing(p, 0.5)).outcomes)
    EXPECT_LE(o.c_plus.norm(), 1e-12);
}

TEST(Restitution, OutcomesOfTwoPhasesDoNotApproachAndGiveBackTheirShare) {
  std::mt19937 random(9);
  for (int k = 0; k < 60; ++k) {
    const int m = 1 + k % 3, tangents = 1 + k % 2;
    const ImpactProblem p =
        bouncing(test::random_impact(random, m, 2 + k % 6, tangents, k % 3 ? 8 : 0).problem, 0.5);
    ImpactProblem plastic = p;
    plastic.e = {};
    const SimultaneousResult found = simultaneous(p);
    const SimultaneousResult compressed = simultaneous(plastic);
    if (!compressed.outcomes.empty()) {
      EXPECT_FALSE(found.outcomes.empty()) << k;
    }
    for (const Outcome& o : found.outcomes) {
      EXPECT_FALSE(colliding(p, o.c_plus));
      EXPECT_LE(o.residual, 1e-9);
      EXPECT_LE((p.c + p.G * o.impulse - o.c_plus).norm(), 1e-9 * p.c.norm());
      const bool shares = std::any_of(
          compressed.outcomes.begin(), compressed.outcomes.end(), [&](const Outcome& c) {
            return (o.impulse.head(m) - 1.5 * c.impulse.head(m)).minCoeff() >=
                   -1e-8 * o.impulse.norm();
          });
      // where contacts share an impulse, other compressions are followed as well
      EXPECT_TRUE(shares || !compressed.enumerated || !found.enumerated);
    }
  }
}

TEST(Restitution, OneContactAtOnceIsPoissonsPathWhereSlipNeitherStopsNorTurns) {
  std::mt19937 random(10);
  for (int k = 0; k < 60; ++k) {
    ImpactProblem p = test::random_impact(random, 1, 3).problem;
    if (p.c[0] >= 0) continue;
    p.c[1] = 1e4 * p.c[0];
    const SingleResult path = single(bouncing(p, 0.4, Restitution::kPoisson), 0);
    if (!path.finished || path.path.front().state != path.path.back().state) continue;
    const SimultaneousResult at_once = simultaneous(bouncing(p, 0.4));
    EXPECT_TRUE(test::among(at_once.outcomes, path.c_plus, 1e-8 * p.c.norm())) << k;
  }
}

TEST(Restitution, BinaryCollisionsKeepNewtonsRatioFrictionInItsConeAndAddNoEnergy) {
  std::mt19937 random(12);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 300; ++k) {
    ImpactProblem p =
        bouncing(test::random_impact(random, 1, 3 + k % 3, 1 + k % 2).problem, uniform(random));
    if (p.c[0] >= 0) continue;
    const double scale = std::pow(10, 18 * uniform(random) - 9);  // masses
    p.G *= scale;
    const auto outcomes = sequential(p, {.single = SingleLaw::kImpulseSpace}).outcomes;
    ASSERT_EQ(outcomes.size(), 1u) << k;
    const Outcome& o = outcomes[0].outcome;
    EXPECT_NEAR(o.c_plus[0], -p.e[0] * p.c[0], 1e-9 * p.c.norm());
    EXPECT_LE(o.impulse.tail(p.tangents).norm(), p.mu[0] * o.impulse[0] + 1e-9 * o.impulse.norm());
    EXPECT_LE(0.5 * o.impulse.dot(p.c + o.c_plus), 1e-9 * p.c.squaredNorm() / p.G(0, 0)) << k;
    // within the cone nothing but PII - PI acts across: the slip that PI leaves is stopped
    if (o.impulse.tail(p.tangents).norm() < 0.99 * p.mu[0] * o.impulse[0]) {
      const VectorXd left =
          o.c_plus.tail(p.tangents) - p.e[0] * (-p.c[0] / p.G(0, 0)) * p.G.col(0).tail(p.tangents);
      EXPECT_LE(left.norm(), 1e-7 * p.c.norm()) << k;
    }
  }
}

// Chatterjee and Ruina 1998: P = (1 + e) PI + κ (PII - PI), PI without friction, PII what sticks; κ
// = 1 where that is in the cone, else what puts it on its edge.
TEST(Restitution, BinaryCollisionsAreThePublishedFormula) {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> uniform(0, 1);
  int sticks = 0, slides = 0;
  for (int k = 0; k < 200; ++k) {
    const ImpactProblem p =
        bouncing(test::random_impact(random, 1, 3 + k % 3, 1 + k % 2).problem, uniform(random));
    if (p.c[0] >= 0) continue;
    const double mu = p.mu[0], e = p.e[0];
    const VectorXd one = -p.c[0] / p.G(0, 0) * VectorXd::Unit(p.c.size(), 0),
                   two = -p.G.ldlt().solve(p.c), across = two - one;
    VectorXd P = (1 + e) * one + across;
    if (P.tail(p.tangents).norm() > mu * P[0]) {
      const double kappa =
          mu * (1 + e) * one[0] / (two.tail(p.tangents).norm() - mu * (two[0] - one[0]));
      P = (1 + e) * one + kappa * across;
      ++slides;
    } else {
      ++sticks;
    }
    const auto outcomes = sequential(p, {.single = SingleLaw::kImpulseSpace}).outcomes;
    ASSERT_EQ(outcomes.size(), 1u) << k;
    // its normal velocity is -e times that before: PII - PI leaves it alone
    EXPECT_LE((p.G * (outcomes[0].outcome.impulse - P)).norm(), 1e-8 * p.c.norm()) << k;
  }
  EXPECT_GT(sticks, 10);
  EXPECT_GT(slides, 10);
}

TEST(Restitution, BinaryCollisionsOfTheCradleAreTheTextbooks) {
  const ImpactProblem p = bouncing(cradle(4), 1);
  const auto outcomes = sequential(p, {.single = SingleLaw::kImpulseSpace}).outcomes;
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_LE((balls_after(p, outcomes[0].outcome.impulse) - VectorXd::Unit(4, 3)).norm(), 1e-12);
  EXPECT_THROW((void)sequential(bouncing(cradle(3), 1, Restitution::kStronge),
                                {.single = SingleLaw::kImpulseSpace}),
               std::invalid_argument);
}

TEST(Restitution, UnitsDoNotMatter) {
  std::mt19937 random(11);
  for (int k = 0; k < 30; ++k) {
    const ImpactProblem p =
        bouncing(test::random_impact(random, 2, 4 + k % 3, 1 + k % 2).problem, 0.3 + 0.02 * k);
    if (!colliding(p, p.c)) continue;
    for (const double mass : {0x1p-30, 0x1p30}) {
      const ImpactProblem q = test::in_units(p, mass, 0x1p-20);
      const auto a = simultaneous(p).outcomes, b = simultaneous(q).outcomes;
      ASSERT_EQ(a.size(), b.size());
      for (const Outcome& o : a)
        EXPECT_TRUE(test::among(b, 0x1p-20 * o.c_plus, 1e-13 * p.c.norm()));
      const double step = 0.3 * -p.normal().minCoeff() / p.G.diagonal().head(2).mean();
      const SetResult c = set_valued(p, {.samples = 5, .step = step}),
                      d = set_valued(q, {.samples = 5, .step = mass * 0x1p-20 * step});
      for (int i = 0; i < 5; ++i)
        EXPECT_LE((0x1p-20 * c.kept[i].outcome.c_plus - d.kept[i].outcome.c_plus).norm(),
                  1e-12 * p.c.norm());
    }
  }
}

TEST(Restitution, ACoefficientOutsideZeroToOneIsRefusedByItsPlace) {
  for (const double e : {-0.1, 1.5, std::nan(""), HUGE_VAL}) {
    ImpactProblem p = test::rocking_block();
    p.e = Vector2d(0.5, e);
    try {
      validate(p);
      FAIL();
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("e[1]"), std::string::npos);
    }
  }
  ImpactProblem p = test::rocking_block();
  p.e = VectorXd::Zero(3);
  EXPECT_THROW(validate(p), std::invalid_argument);
  EXPECT_THROW((void)simultaneous(bouncing(test::rocking_block(), 0.5, Restitution::kStronge)),
               std::invalid_argument);
  EXPECT_THROW((void)set_valued(bouncing(test::rocking_block(), 0.5, Restitution::kNewton)),
               std::invalid_argument);
}

}  // namespace
}  // namespace routh
