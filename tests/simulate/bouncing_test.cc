// Restitution through time: bouncing to rest, and energy that never grows.

#include <gtest/gtest.h>

#include <cmath>

#include "routh/io/scenario.h"
#include "routh/simulate/ensemble.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/time_stepping.h"

namespace routh {
namespace {

constexpr double kG = 9.81;

TEST(Bouncing, ABallComesToRestAfterInfinitelyManyBouncesInTheTimeOfTheClosedForm) {
  // falls for t = sqrt(2 h/g), then flies for 2 t e, 2 t e², ..: t (1 + e)/(1 - e) in all
  for (const double e : {0.3, 0.5, 0.8}) {
    const io::Scenario s = io::load_scenario("bouncing-ball", {{"restitution", e}});
    const double end = std::sqrt(2 / kG) * (1 + e) / (1 - e);
    const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = end + 0.5});
    ASSERT_EQ(t.status, SimulationStatus::kDone) << t.message;
    ASSERT_EQ(t.hybrid()->zeno.size(), 1u) << e;
    const auto& zeno = t.hybrid()->zeno[0];
    EXPECT_NEAR(zeno.state.time, end, 1e-7);
    EXPECT_NEAR(zeno.ratio, e, 1e-6);
    // it stays there
    EXPECT_NEAR(t.final.q[1], 0.1, 1e-9);
    EXPECT_NEAR(t.final.v.norm(), 0, 1e-9);
    // heights of the bounces: h e², h e⁴, ..
    for (std::size_t i = 1; i < 6; ++i)
      EXPECT_NEAR(t.events[i].v_plus[1], std::sqrt(2 * kG) * std::pow(e, i + 1.0), 1e-6);
  }
}

TEST(Bouncing, TimeSteppingFollowsTheSameBouncesAndEnergyNeverGrows) {
  const io::Scenario s = io::load_scenario("bouncing-ball");
  for (const double alpha : {0.5, 1.0}) {
    const Trajectory t =
        simulate(*s.mechanism(), {0, s.q, s.v},
                 TimeSteppingOptions{.h = 1e-4, .alpha = alpha, .gamma = 0.5, .end = 1.6});
    int impacts = 0;
    double expected = std::sqrt(2 / kG), speed = std::sqrt(2 * kG);
    for (const Event& event : t.events) {
      if (event.kind != EventKind::kImpact || impacts == 5) continue;
      EXPECT_NEAR(event.time, expected, 2e-3);
      EXPECT_NEAR(event.v_plus[1], 0.5 * speed, 5e-3 * speed);
      speed *= 0.5, ++impacts;
      expected += 2 * speed / kG;
    }
    EXPECT_EQ(impacts, 5);
    EXPECT_NEAR(t.final.q[1], 0.1, 1e-4);
    EXPECT_NEAR(t.final.v[1], 0, 1e-2);
    for (std::size_t i = 1; i < t.energy.size(); ++i)
      EXPECT_LE(t.energy[i], t.energy[0] * (1 + 1e-6));
  }
}

TEST(Bouncing, ADroppedBoxLosesEnergyInEveryImpactWhateverTheLaw) {
  const io::Scenario s = io::load_scenario("dropped-box");
  for (const char* law : {"simultaneous", "sequential", "set"}) {
    const EnsembleResult r =
        ensemble(*s.mechanism(), {0, s.q, s.v}, TimeSteppingOptions{.h = 2e-3, .end = 0.6},
                 {.runs = 4, .law = law, .threads = 1});
    ASSERT_EQ(r.runs.size(), 4u);
    for (const EnsembleRun& run : r.runs) {
      EXPECT_TRUE(run.status == SimulationStatus::kDone) << law << " " << run.message;
      EXPECT_LE(run.largest_gain, 1e-9) << law;
      EXPECT_GT(run.impacts, 0);
    }
  }
}

TEST(Bouncing, WithoutDetectionItIsRefused) {
  const io::Scenario s = io::load_scenario("bouncing-ball");
  EXPECT_THROW((void)simulate(*s.mechanism(), {0, s.q, s.v},
                              TimeSteppingOptions{.end = 1, .detection = false}),
               std::invalid_argument);
}

}  // namespace
}  // namespace routh
