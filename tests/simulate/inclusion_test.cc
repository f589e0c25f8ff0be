// Motions as solutions of P1 (53).

#include "routh/simulate/inclusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "routh/io/scenario.h"
#include "routh/simulate/compliant.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/time_stepping.h"

namespace routh {
namespace {

using Eigen::VectorXd;

Trajectory zeno_block(double every) {
  const io::Scenario s = io::load_scenario("zeno-block");
  return simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 3, .every = every});
}

TEST(Inclusion, TheZenoBlockMeetsThePrintedNumbers) {
  // P1 section 4.3: apex 0.22 rad, t(s*) = 2.67, s* = 28.4; and s* = (1 + g) t* - 1/2 exactly
  const io::Scenario s = io::load_scenario("zeno-block");
  const Trajectory t = zeno_block(1e-3);
  const InclusionPath path = inclusion(*s.mechanism(), t);
  double apex = 0;
  for (const VectorXd& q : t.q) apex = std::max(apex, q[2]);
  EXPECT_NEAR(apex, 0.22, 0.005);
  ASSERT_EQ(t.hybrid()->zeno.size(), 1u);
  const double time = t.hybrid()->zeno[0].state.time;
  EXPECT_NEAR(time, 2.67, 0.005);
  EXPECT_NEAR(path.zeno, 28.4, 0.05);
  EXPECT_NEAR(path.zeno, (1 + 9.81) * time - 0.5, 1e-4);
  // it goes on at rest, where time passes at 1 / (1 + m g)
  EXPECT_EQ(path.t.back(), 3);
  EXPECT_NEAR(path.rate[path.rate.size() - 2], 1 / (1 + 9.81), 1e-6);
  EXPECT_LT(t.final.v.norm(), 1e-9);
}

TEST(Inclusion, TimeAndImpulseAddUpToS) {
  const io::Scenario s = io::load_scenario("zeno-block");
  const InclusionPath path = inclusion(*s.mechanism(), zeno_block(0.01));
  for (std::size_t k = 0; k + 1 < path.s.size(); ++k) {
    EXPECT_GE(path.s[k + 1], path.s[k]);
    EXPECT_GE(path.t[k + 1], path.t[k]);
    EXPECT_NEAR(path.rate[k] + path.normal_rate[k].sum(), 1, 1e-12);
    // t(s) is the integral of its rate: the way back to time
    EXPECT_NEAR(path.t[k + 1] - path.t[k], path.rate[k] * (path.s[k + 1] - path.s[k]), 1e-12);
  }
}

TEST(Inclusion, ThePathSolvesTheInclusionAndAForgedOneDoesNot) {
  for (const char* name : {"zeno-block", "hill", "rocking-block-p4"}) {
    const io::Scenario s = io::load_scenario(name);
    const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                  HybridOptions{.end = s.run.simulation.end, .every = 2e-3});
    InclusionPath path = inclusion(*s.mechanism(), t);
    EXPECT_LT(inclusion_residual(*s.mechanism(), path).largest, 1e-6) << name;
    // a velocity that no force explains
    path.v[path.v.size() / 2][0] += 0.05;
    EXPECT_GT(inclusion_residual(*s.mechanism(), path).largest, 2e-2) << name;
  }
}

TEST(Inclusion, AnImpactThatSlipsAndSticksBends) {
  // a point that lands at 1 m/s on friction that stops it: slip, then stick, within the impact
  const io::Scenario s = io::load_scenario("point-drop");
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v},
               HybridOptions{.end = 0.5, .every = 1e-3, .law = impact_law("sequential")});
  EXPECT_LT(inclusion_residual(*s.mechanism(), inclusion(*s.mechanism(), t)).largest, 1e-6);
}

TEST(Inclusion, ATrajectoryWithoutForcesIsRefused) {
  const io::Scenario s = io::load_scenario("zeno-block");
  Trajectory t = zeno_block(0.1);
  t.extras = {};
  EXPECT_THROW((void)inclusion(*s.mechanism(), t), std::invalid_argument);
  const Trajectory plain = simulate(*s.mechanism(), {0, s.q, s.v}, TimeSteppingOptions{.end = 0.1});
  EXPECT_TRUE(plain.impulse.empty());
  EXPECT_THROW((void)inclusion(*s.mechanism(), plain), std::invalid_argument);
}

/// Residual of a run of time-stepping. At the instant of a collision the other contacts are closed
/// and at rest to the order of the scheme.
InclusionResidual stepped(const io::Scenario& s, double h, double alpha, double end) {
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v},
               TimeSteppingOptions{.h = h, .alpha = alpha, .end = end, .impulses = true});
  EXPECT_EQ(t.impulse.size() + 1, t.time.size());
  const InclusionPath path = inclusion(*s.mechanism(), t);
  EXPECT_EQ(path.t.back(), end);
  return inclusion_residual(
      *s.mechanism(), path,
      {.gap = std::max(1e-6, 4 * h * h), .slow = alpha == 1 ? h : 10 * h * h});
}

TEST(Inclusion, TimeSteppingSolvesItInTheLimit) {
  // sticking, sliding, rocking and impacts; the mean shrinks with the order of the scheme
  struct Case {
    const char* name;
    double end, second, first;  // at h = 1e-3: largest mean for alpha = 1/2 and for alpha = 1
  };
  for (const Case& c : {Case{"stick-slip", 1, 1e-14, 2e-6}, Case{"hill", 0.5, 1e-14, 2e-4},
                        Case{"point-drop", 1, 1e-14, 1e-4}, Case{"zeno-block", 1, 2e-8, 5e-5},
                        Case{"tilted-box", 0.6, 5e-8, 3e-4}, Case{"sliding-ladder", 1, 5e-9, 2e-5},
                        Case{"circle-track", 1, 1e-8, 5e-4}}) {
    const io::Scenario s = io::load_scenario(c.name);
    EXPECT_LT(stepped(s, 1e-3, 0.5, c.end).mean, c.second) << c.name;
    EXPECT_LT(stepped(s, 1e-3, 1, c.end).mean, c.first) << c.name;
  }
}

TEST(Inclusion, ItsResidualHasTheOrderOfTheScheme) {
  // while nothing collides every piece counts, not only their mean
  for (const auto& [name, end] : {std::pair{"circle-track", 0.4}, std::pair{"sliding-ladder", 0.55},
                                  std::pair{"double-pendulum-wall", 0.4}}) {
    const io::Scenario s = io::load_scenario(name);
    for (const auto& [alpha, order] : {std::pair{0.5, 2.0}, std::pair{1.0, 1.0}}) {
      const double coarse = stepped(s, 4e-3, alpha, end).largest;
      const double fine = stepped(s, 1e-3, alpha, end).largest;
      EXPECT_NEAR(std::log2(coarse / fine) / 2, order, 0.15) << name << " " << alpha;
    }
  }
}

TEST(Inclusion, JointsHoldAlongThePath) {
  // after an impact the joints' velocity alternates from step to step at alpha = 1/2
  const io::Scenario s = io::load_scenario("double-pendulum-wall");
  const double coarse = stepped(s, 8e-3, 0.5, 1).mean, fine = stepped(s, 1e-3, 0.5, 1).mean;
  EXPECT_LT(fine, 5e-4);
  EXPECT_LT(fine, 0.25 * coarse);
}

TEST(Inclusion, AForgedRunOfTimeSteppingIsFound) {
  const io::Scenario s = io::load_scenario("tilted-box");
  const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                TimeSteppingOptions{.h = 1e-3, .end = 0.6, .impulses = true});
  InclusionPath path = inclusion(*s.mechanism(), t);
  const InclusionTolerance tolerance{.gap = 1e-6, .slow = 1e-5};
  EXPECT_LT(inclusion_residual(*s.mechanism(), path, tolerance).largest, 2e-4);
  path.v[path.v.size() - 10][1] += 0.05;
  EXPECT_GT(inclusion_residual(*s.mechanism(), path, tolerance).largest, 0.1);
}

TEST(Inclusion, SequencesOfImpactsMoveAlongTheirOwnPath) {
  // a flat block: one corner after the other, back and forth; the straight line is not a solution
  const io::Scenario s = io::load_scenario("rocking-block");
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v},
               HybridOptions{.end = 0.1, .every = 1e-3, .law = impact_law("sequential")});
  ASSERT_FALSE(t.events.empty());
  ASSERT_GT(t.events[0].path.size(), 1u);
  EXPECT_LT((t.events[0].path.back() - t.events[0].impulse).norm(), 1e-9);
  EXPECT_LT(inclusion_residual(*s.mechanism(), inclusion(*s.mechanism(), t)).largest, 1e-6);
}

/// The largest residual of a hybrid execution at the recording interval of the command.
double executed(const char* name, double end, const ImpactLaw& law) {
  const io::Scenario s = io::load_scenario(name);
  const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                HybridOptions{.end = end, .every = end / 1000, .law = law});
  EXPECT_FALSE(t.stopped()) << name << ": " << t.message;
  double fastest = 0;
  for (const VectorXd& v : t.v) fastest = std::max(fastest, v.lpNorm<Eigen::Infinity>());
  return inclusion_residual(*s.mechanism(), inclusion(*s.mechanism(), t), {.slow = 1e-7 * fastest})
      .largest;
}

TEST(Inclusion, SamplesOfTheSetKeepPathsThatSolveIt) {
  // each step of a sample is split where a contact starts or stops slipping or closing
  for (const auto& [name, end] :
       {std::pair{"compass-gait", 0.2}, std::pair{"box-and-wall", 0.5},
        std::pair{"rocking-block", 0.1}, std::pair{"pushing", 0.1}, std::pair{"tilted-box", 0.3}}) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5})
      EXPECT_LT(executed(name, end, impact_law("set", seed)), 1e-2) << name << " " << seed;
    EXPECT_LT(executed(name, end, impact_law("sequential")), 1e-2) << name;
  }
}

TEST(Inclusion, ASampleEndsWhereItsImpulsesSay) {
  const io::Scenario s = io::load_scenario("compass-gait");
  const ReducedImpact reduced = reduce(s.terms, s.v);
  for (std::uint64_t impact = 0; impact < 200; ++impact) {
    const ChosenOutcome sample = impact_law("set", 7)(reduced.problem, impact);
    ASSERT_FALSE(sample.path.empty());
    EXPECT_EQ(sample.path.back(), sample.outcome.impulse);
    const VectorXd c = reduced.problem.c + reduced.problem.G * sample.outcome.impulse;
    EXPECT_LT((c - sample.outcome.c_plus).norm(), 1e-9);
    EXPECT_FALSE(colliding(reduced.problem, sample.outcome.c_plus));
    EXPECT_LE(energy_gain(reduced.problem, sample.outcome), 1e-12);
    // impulses press and stay in their cones on the whole way
    VectorXd from = VectorXd::Zero(c.size());
    for (const VectorXd& to : sample.path) {
      for (int i = 0; i < reduced.problem.contacts(); ++i) {
        const double n = to[i] - from[i],
                     t = to[reduced.problem.tangent(i)] - from[reduced.problem.tangent(i)];
        EXPECT_GE(n, -1e-12);
        EXPECT_LE(std::abs(t), reduced.problem.mu[i] * n + 1e-9);
      }
      from = to;
    }
  }
}

/// Residual of a run with springs. They are pressed in, and with a damping ratio of 5 they throw
/// back 1/(4 ζ²) = 1 % of the velocity.
double sprung(const io::Scenario& s, double stiffness, double end) {
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v},
               CompliantOptions{.stiffness = {stiffness}, .end = end, .impulses = true});
  double fastest = 0;
  for (const VectorXd& v : t.v) fastest = std::max(fastest, v.lpNorm<Eigen::Infinity>());
  return inclusion_residual(*s.mechanism(), inclusion(*s.mechanism(), t),
                            {.gap = t.max_penetration, .slow = 0.01 * fastest})
      .mean;
}

TEST(Inclusion, CompliantContactsSolveItAsTheyStiffen) {
  // through an impact: the time it takes shrinks with the root of the stiffness
  const io::Scenario box = io::load_scenario("tilted-box");
  const double soft = sprung(box, 1e4, 0.3), stiff = sprung(box, 1e6, 0.3);
  EXPECT_LT(stiff, 2e-4);
  EXPECT_NEAR(std::log10(soft / stiff), 1, 0.3);
  // in sustained contact
  EXPECT_LT(sprung(io::load_scenario("zeno-block"), 1e6, 0.3), 1e-7);
  EXPECT_LT(sprung(io::load_scenario("sliding-ladder"), 1e6, 0.3), 1e-7);
}

}  // namespace
}  // namespace routh
