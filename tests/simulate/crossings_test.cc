// What happens between two steps of the integrator is not passed over: in free flight steps are as
// long as they may be.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "routh/io/scenario.h"
#include "routh/model/planar.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/time_stepping.h"

namespace routh {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

Trajectory move(const PlanarMechanism& m, const VectorXd& q, const VectorXd& v, double end,
                double max_step = 0.05) {
  return simulate(m, {0, q, v}, HybridOptions{.end = end, .max_step = max_step});
}

// A rod spins above the floor without gravity; its tip dips below for a part of each turn. At
// 1e4 rad/s a step of 0.05 s is 80 turns.
TEST(Crossings, OfASpinningTipAreFoundHoweverFastItSpins) {
  const double length = 0.5, height = 0.45;
  for (const double rate : {3.0, 40.0, 60.0, 125.7, 1e3, 1e4}) {
    for (const double from : {0.6, 1.7, 2.9}) {  // ahead of the lowest point [rad]
      PlanarMechanism m;
      m.gravity.setZero();
      const int b = m.add(Body{.name = "rod", .mass = 1, .inertia = 0.1});
      m.add(ContactPair{"tip", {b, {0, -length}, 0}, Edge{}, 0});
      const Trajectory t =
          move(m, Eigen::Vector3d(0, height, -from), Eigen::Vector3d(0, 0, rate), 8 / rate);
      ASSERT_FALSE(t.events.empty()) << rate << " " << from;
      const double hit = (from - std::acos(height / length)) / rate;
      EXPECT_NEAR(t.events[0].time, hit, 1e-9 / rate + 1e-13) << rate << " " << from;
      EXPECT_LT(t.max_penetration, 1e-9) << rate << " " << from;
    }
  }
}

// The same against a thin wall, which the point leaves on its other side.
TEST(Crossings, OfAThinWallAreFoundHoweverFastAPointFlies) {
  for (const double speed : {2.0, 30.0, 1e3}) {
    for (const double thick : {1e-2, 1e-4}) {
      PlanarMechanism m;
      m.gravity.setZero();
      const int b = m.add(Body{.name = "ball", .mass = 1, .inertia = 1});
      m.add(ContactPair{
          "wall", {b, {0, 0}, 0}, Polygon{kWorld, {{0, -1}, {thick, -1}, {thick, 1}, {0, 1}}}, 0});
      const Trajectory t =
          move(m, Eigen::Vector3d(-0.3, 0.1, 0), Eigen::Vector3d(speed, 0, 0), 1.0);
      ASSERT_FALSE(t.events.empty()) << speed << " " << thick;
      EXPECT_NEAR(t.events[0].time, 0.3 / speed, 1e-12);
      EXPECT_NEAR(t.final.q[0], 0, 1e-9);
      EXPECT_LT(t.max_penetration, 1e-9);
    }
  }
}

// Two boxes tumble towards each other: whatever the length of the steps the same corner hits the
// same edge first. Short steps are the referee.
TEST(Crossings, OfTumblingBoxesDoNotDependOnTheLengthOfSteps) {
  std::mt19937_64 random(7);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
  };
  int hits = 0;
  for (int k = 0; k < 40; ++k) {
    PlanarMechanism m;
    m.gravity.setZero();
    VectorXd q(6), v(6);
    std::vector<std::vector<Vector2d>> corners;
    for (int i = 0; i < 2; ++i) {
      const double w = uniform(0.01, 0.1), h = uniform(0.1, 0.3);
      corners.push_back({{-w, -h}, {w, -h}, {w, h}, {-w, h}});
      m.add(Body{.name = i == 0 ? "a" : "b", .mass = 1, .inertia = 0.02});
      q.segment<3>(3 * i) << (i == 0 ? -0.4 : 0.4), uniform(-0.2, 0.2), uniform(-3, 3);
      v.segment<3>(3 * i) << (i == 0 ? 1 : -1) * uniform(0.5, 10), uniform(-1, 1), uniform(-40, 40);
    }
    for (int i = 0; i < 2; ++i) {
      for (int c = 0; c < 4; ++c)
        m.add(ContactPair{std::to_string(i) + std::to_string(c),
                          {i, corners[i][c], 0},
                          Polygon{1 - i, corners[1 - i], corners[i]},
                          0});
    }
    const Trajectory fast = move(m, q, v, 0.5), slow = move(m, q, v, 0.5, 5e-4);
    ASSERT_EQ(fast.events.empty(), slow.events.empty()) << k;
    // corners that slide off the ends of edges turn their normal within a step
    EXPECT_LT(fast.max_penetration, 1e-5) << k;
    if (fast.events.empty()) continue;
    ++hits;
    EXPECT_NEAR(fast.events[0].time, slow.events[0].time, 1e-9) << k;
    EXPECT_EQ(fast.events[0].contacts, slow.events[0].contacts) << k;
  }
  EXPECT_GT(hits, 15);
}

/// A block on a floor, pushed sideways and lifted by given forces.
Trajectory pushed(const std::function<Vector2d(double)>& force, double mu, double speed) {
  PlanarMechanism m;
  m.gravity = {0, -10};
  const int b = m.add(Body{.name = "block", .mass = 1, .inertia = 1});
  m.add(Lock{"upright", 2, 0});
  m.add(ContactPair{"foot", {b, {0, 0}, 0}, Edge{}, mu});
  m.add(PointForce{.name = "push", .body = b, .force = force});
  return move(m, VectorXd::Zero(3), Eigen::Vector3d(speed, 0, 0), 1);
}

// v = (t - t1)² - e: at rest for an instant within a step, where the floor holds it up to t1.
TEST(Crossings, OfASlipThatComesToRestAndGoesOnWithinAStepAreFound) {
  const double mu = 0.5;
  for (const double e : {1e-6, 1e-5, 1e-4}) {
    for (const double t1 : {0.31, 0.325, 0.34}) {
      const Trajectory t =
          pushed([&](double at) { return Vector2d(10 * mu + 2 * (at - t1), 0); }, mu, t1 * t1 - e);
      ASSERT_GE(t.events.size(), 2u) << e << " " << t1;
      EXPECT_EQ(t.events[0].kind, EventKind::kStick);
      EXPECT_NEAR(t.events[0].time, t1 - std::sqrt(e), 1e-8);
      EXPECT_EQ(t.events[1].kind, EventKind::kSlip);
      EXPECT_NEAR(t.events[1].time, t1, 1e-8);
    }
  }
}

// λn = c (t - t1)² - e: the foot is lifted for an instant.
TEST(Crossings, OfAForceThatFailsForAnInstantAreFound) {
  for (const double e : {1e-4, 1e-3, 1e-2}) {
    for (const double t1 : {0.31, 0.325, 0.34}) {
      const double c = 50;
      const Trajectory t =
          pushed([&](double at) { return Vector2d(0, 10 + e - c * (at - t1) * (at - t1)); }, 0, 0);
      ASSERT_FALSE(t.events.empty()) << e << " " << t1;
      EXPECT_EQ(t.events[0].kind, EventKind::kLiftOff);
      EXPECT_NEAR(t.events[0].time, t1 - std::sqrt(e / c), 1e-8);
    }
  }
}

TEST(Crossings, DominoesHitTheNext) {
  for (const double push : {10.0, 17.0, 30.0}) {
    const io::Scenario s = io::load_scenario("domino-row", {{"n", 2}, {"push", push}});
    const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.3});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << t.message;
    EXPECT_LT(t.max_penetration, 1e-7) << push;
    // it is the next one that stops it
    EXPECT_GT(t.final.v.tail(3).norm() + (t.final.q - s.q).tail(3).norm(), 1e-2) << push;
    for (std::size_t i = 1; i < t.time.size(); ++i) EXPECT_GE(t.time[i], t.time[i - 1]);
  }
}

// Loose tolerances: where dense output and step disagree about a touch the event lies within the
// step all the same, and time does not run backward.
TEST(Crossings, TimeRunsForwardAtLooseTolerances) {
  for (const char* name :
       {"domino-row", "dropped-box", "rocking-block-p4", "double-pendulum-wall"}) {
    for (const double rtol : {1e-2, 1e-3, 1e-5}) {
      const io::Scenario s = io::load_scenario(name);
      const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                    HybridOptions{.end = 0.3, .rtol = rtol, .atol = 1e-2 * rtol});
      for (std::size_t i = 1; i < t.time.size(); ++i)
        ASSERT_GE(t.time[i], t.time[i - 1]) << name << " " << rtol;
    }
  }
}

}  // namespace
}  // namespace routh
