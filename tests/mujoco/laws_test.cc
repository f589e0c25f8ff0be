// Laws of impact through time, in space: impacts are found inside the step and resolved as asked.
#include <gtest/gtest.h>

#include <cmath>

#include "mujoco/worlds.h"
#include "routh/simulate/ensemble.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/time_stepping.h"

namespace routh::mujoco {
namespace {

constexpr double kGravity = 9.81;

const std::string kFloor = "<geom name='floor' type='plane' size='5 5 1'/>";

std::string ball(double height) {
  return kFloor + "<body pos='0 0 " + std::to_string(height) +
         "'><freejoint/><geom name='ball' type='sphere' size='.1' mass='2'/></body>";
}

/// Normal velocities turn round, nothing else happens.
ChosenOutcome bounce(const ImpactProblem& p, std::uint64_t) {
  const int m = p.contacts();
  Outcome outcome{Eigen::VectorXd::Zero(p.c.size()), p.c, 0};
  for (int i = 0; i < m; ++i) outcome.impulse[i] = std::max(0.0, -2 * p.c[i] / p.G(i, i));
  outcome.c_plus = p.c + p.G * outcome.impulse;
  return {outcome, 1};
}

// Falls for sqrt(2 d/g), bounces back as high, again and again; first order in h.
TEST(SpaceLaws, ABallBouncesByTheUsersOwnLaw) {
  const System system = world(ball(0.6));
  const double fall = std::sqrt(2 * 0.5 / kGravity);
  double last = HUGE_VAL;
  for (const double h : {1e-3, 2.5e-4}) {
    const Trajectory t = simulate(system, system.home(),
                                  TimeSteppingOptions{.h = h, .end = 3.5 * fall, .law = bounce});
    ASSERT_EQ(t.events.size(), 2u);
    const double error =
        std::max(std::abs(t.events[0].time - fall), std::abs(t.events[1].time - 3 * fall));
    EXPECT_LT(error, 3 * h);
    EXPECT_LT(error, last);
    last = error;
    EXPECT_NEAR(t.events[0].v_plus[2], -t.events[0].v_minus[2], 1e-12);
    EXPECT_NEAR(t.events[0].impulse[0], 2 * 2 * std::sqrt(2 * kGravity * 0.5), 0.1);
    EXPECT_LT(t.max_penetration, 1e-8);
    EXPECT_EQ(t.stepping()->inaccurate, 0);
  }
}

// Whatever the law, impacts do not gain energy and the motion ends at rest on the floor.
TEST(SpaceLaws, EveryLawBringsABoxToRest) {
  const System system = world(kFloor +
                              "<body pos='0 0 .4' euler='.35 .17 0'><freejoint/>"
                              "<geom name='box' type='box' size='.2 .15 .1' mass='2'/></body>");
  for (const std::string& law : impact_law_names()) {
    const Trajectory t = simulate(
        system, system.home(), TimeSteppingOptions{.h = 1e-3, .end = 2, .law = impact_law(law, 3)});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << law << " " << t.message;
    EXPECT_GE(t.events.size(), 2u) << law;
    for (const Event& e : t.events) {
      if (e.kind != EventKind::kImpact) continue;
      const Terms terms = system.terms(e.q, e.v_minus);
      EXPECT_LE(kinetic_energy(terms, e.v_plus), kinetic_energy(terms, e.v_minus) * (1 + 1e-9));
      EXPECT_EQ(e.impulse.size(), 3 * static_cast<Eigen::Index>(e.contacts.size()));
    }
    for (std::size_t k = 1; k < t.energy.size(); ++k)
      EXPECT_LE(t.energy[k], t.energy[k - 1] + 1e-6) << law << " at " << t.time[k];
    EXPECT_LT(t.final.v.norm(), 1e-6) << law;
    EXPECT_LT(t.max_penetration, 1e-7) << law;
  }
}

TEST(SpaceLaws, AnEnsembleDoesNotDependOnThreads) {
  const System system(std::string(ROUTH_SCENARIOS) + "/quadruped.xml");
  const State start = system.keyframe("land");
  const TimeSteppingOptions stepping{.h = 1e-3, .end = 0.05, .every = 0.05};
  const EnsembleResult one = ensemble(system, start, stepping, {.runs = 16, .threads = 1});
  const EnsembleResult three = ensemble(system, start, stepping, {.runs = 16, .threads = 3});
  ASSERT_EQ(one.runs.size(), 16u);
  int different = 0;
  for (std::size_t k = 0; k < one.runs.size(); ++k) {
    EXPECT_EQ(one.runs[k].status, SimulationStatus::kDone) << one.runs[k].message;
    EXPECT_EQ(one.runs[k].final.q, three.runs[k].final.q);
    EXPECT_EQ(one.runs[k].word, three.runs[k].word);
    EXPECT_GT(one.runs[k].impacts, 0);
    EXPECT_LT(one.runs[k].largest_gain, 1e-9);
    different += one.runs[k].final.q != one.runs[0].final.q;
  }
  EXPECT_GT(different, 8);
}

// A block that falls flat rests or turns about either side of its base: more than one way.
TEST(SpaceLaws, BranchesFollowEveryExtremeOutcome) {
  const System system =
      world(kFloor +
            "<body pos='0 0 1.05'><freejoint/>"
            "<geom name='box' type='box' size='.25 .25 1' mass='1' friction='1'/></body>");
  const BranchTree tree =
      branch(system, system.home(), TimeSteppingOptions{.h = 1e-3, .end = 0.12, .every = 0.05}, 1);
  EXPECT_GT(tree.branches.size(), 2u);
  for (const Branch& b : tree.branches) EXPECT_EQ(b.depth, b.parent < 0 ? 0 : 1);
}

}  // namespace
}  // namespace routh::mujoco
