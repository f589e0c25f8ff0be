#include "routh/simulate/compliant.h"

#include <gtest/gtest.h>

#include <cmath>

#include "routh/io/scenario.h"
#include "routh/model/planar.h"

namespace routh {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

TEST(Compliant, APointMassIsADampedOscillatorWhileItTouches) {
  // m ẍ + d ẋ + k x = -m g, ζ = 5: closed form of the overdamped motion while the force pushes
  PlanarMechanism p;
  p.add(Body{.name = "a", .mass = 1, .inertia = 1});
  p.add(ContactPair{"floor", {0}, Edge{}, 0});
  const double k = 1e4, zeta = 5, g = 9.81, v0 = -1;
  const Trajectory t = simulate(p, {0, VectorXd::Zero(3), Vector3d(0, v0, 0)},
                                CompliantOptions{.stiffness = {k}, .end = 5e-3});
  const double w = std::sqrt(k), root = w * std::sqrt(zeta * zeta - 1);
  const double a = -zeta * w + root, b = -zeta * w - root, rest = -g / k;
  const double A = (v0 + b * rest) / (a - b), B = -rest - A;
  for (std::size_t i = 0; i < t.time.size(); ++i) {
    const double x = rest + A * std::exp(a * t.time[i]) + B * std::exp(b * t.time[i]);
    EXPECT_NEAR(t.q[i][1], x, 1e-11);
  }
}

TEST(Compliant, StifferContactsTendToARigidOutcome) {
  // corners of the rocking block with a ratio of 10: gravity and the duration of the impact vanish
  // with 1/√k, what remains is a point of the set between rest and 0.0930 m/s (P1 Fig. 12)
  const io::Scenario s = io::load_scenario("rocking-block");
  const auto separating = [&](double k) {
    const Trajectory t = simulate(
        *s.mechanism(), {0, s.q, s.v},
        CompliantOptions{.stiffness = {10 * k, k}, .end = 1, .every = 1, .resolved = 1e-3 / k});
    EXPECT_LE(t.energy.back(), t.energy.front());
    return s.mechanism()->terms(t.final.q, t.final.v).contacts[0].Jn.dot(t.final.v);
  };
  const double limit = separating(1e10);
  EXPECT_GT(limit, 0.01);
  EXPECT_LT(limit, 0.0930);
  double last = std::abs(separating(1e6) - limit);
  for (const double k : {1e7, 1e8}) {
    const double distance = std::abs(separating(k) - limit);
    EXPECT_LT(distance, 0.5 * last) << k;
    last = distance;
  }
}

// At rest only rounding moves; the block gets there and time goes on.
TEST(Compliant, ABlockRocksToRestAndNothingIsLost) {
  const io::Scenario s = io::load_scenario("rocking-block");
  const double k = 1e6;
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v},
               CompliantOptions{.stiffness = {1e3 * k, k}, .end = 1, .every = 0.01});
  EXPECT_EQ(t.final.time, 1);
  EXPECT_LT(t.max_penetration, 1e-3);
  EXPECT_LT(t.final.v.norm(), 1e-9);
  // half of the weight on either spring
  EXPECT_NEAR(t.final.q[1], 1 - 0.25 * 9.81 * (1 / k + 1e-3 / k), 1e-8);
  EXPECT_EQ(t.time.back(), 1);
}

TEST(Compliant, ItDoesNotMatterWhenAnImpactHappens) {
  // sticking sets in faster than late times are resolved
  const io::Scenario s = io::load_scenario("rocking-block");
  const auto after = [&](double time) {
    const CompliantOptions options{.stiffness = {1e7, 1e6}, .end = time + 0.02, .every = 0.003};
    return simulate(*s.mechanism(), {time, s.q, s.v}, options).final;
  };
  const State early = after(0);
  for (const double time : {1.0, 1e3}) {
    const State late = after(time);
    EXPECT_EQ(late.time, time + 0.02);
    EXPECT_LT((late.v - early.v).norm(), 1e-7) << time;
  }
}

TEST(Compliant, TheStifferCornerGoesFirst) {
  // P1 Fig. 12: a ratio of 1e5 is nearly sequential; the exact set ends at 0.0930 m/s
  const io::Scenario s = io::load_scenario("rocking-block");
  const auto normals = [&](double ka, double kb) {
    const Trajectory t =
        simulate(*s.mechanism(), {0, s.q, s.v},
                 CompliantOptions{.stiffness = {ka, kb}, .end = 1, .every = 1, .resolved = 1e-9});
    const Terms terms = s.mechanism()->terms(t.final.q, t.final.v);
    return Eigen::Vector2d(terms.contacts[0].Jn.dot(t.final.v),
                           terms.contacts[1].Jn.dot(t.final.v));
  };
  const Eigen::Vector2d a = normals(1e11, 1e6), b = normals(1e6, 1e11);
  EXPECT_NEAR(a[0], 0.0919, 3e-4);
  EXPECT_LT(a[0], 0.0930);
  EXPECT_NEAR(a[1], 0, 1e-4);
  EXPECT_NEAR(a[0], b[1], 1e-6);  // mirror images
}

TEST(Compliant, BadInputIsRefused) {
  const io::Scenario s = io::load_scenario("rocking-block");
  const State start{0, s.q, s.v};
  for (const CompliantOptions& bad :
       {CompliantOptions{}, CompliantOptions{.stiffness = {-1}},
        CompliantOptions{.stiffness = {1, 2, 3}}, CompliantOptions{.stiffness = {1}, .eps = 0},
        CompliantOptions{.stiffness = {1}, .end = -1}})
    EXPECT_THROW((void)simulate(*s.mechanism(), start, bad), std::invalid_argument);
}

TEST(Compliant, WhatTouchesAtTheStartDoesNotFallThrough) {
  // at rest on the floor, and a ladder that gravity does not press on its wall, but its foot does
  for (const char* name : {"stick-slip", "sliding-ladder"}) {
    const io::Scenario s = io::load_scenario(name);
    const Trajectory t =
        simulate(*s.mechanism(), {0, s.q, s.v}, CompliantOptions{.stiffness = {1e6}, .end = 0.1});
    EXPECT_LT(t.max_penetration, 1e-3) << name;
  }
}

}  // namespace
}  // namespace routh
