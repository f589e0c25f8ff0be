#include "routh/simulate/spring_contacts.h"

#include <gtest/gtest.h>

#include "routh/event_selected/systems.h"
#include "routh/model/planar.h"

namespace routh {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

/// A ball of 2 kg that moves along y above the ground.
PlanarMechanism ball() {
  PlanarMechanism m;
  const int body = m.add(Body{.name = "ball",
                              .joint = Joint::kPrismatic,
                              .axis = Vector2d::UnitY(),
                              .mass = 2,
                              .inertia = 1});
  m.add(ContactPair{.name = "A", .first = {.body = body}, .second = Edge{}, .mu = 0});
  return m;
}
/// A board of width 2 whose two ends meet the ground.
PlanarMechanism board() {
  PlanarMechanism m;
  const int body = m.add(Body{.name = "board", .mass = 1, .inertia = 1});
  for (const double side : {-1.0, 1.0})
    m.add(ContactPair{.name = side < 0 ? "A" : "B",
                      .first = {.body = body, .at = Vector2d(side, 0)},
                      .second = Edge{},
                      .mu = 0});
  return m;
}
SpringContactOptions exactly(double stiffness, double damping, double end) {
  return {.stiffness = VectorXd::Constant(1, stiffness),
          .damping = VectorXd::Constant(1, damping),
          .integration = {.exact = true, .t_end = end, .step = {.rtol = 1e-11, .atol = 1e-12}}};
}

TEST(SpringContacts, ABallOnASpringIsTheHopper) {
  // 200 N/m under 2 kg: k/m = 100; the hopper's leg of 1 m is the ball's height
  const event_selected::Hopper hopper;
  SpringContactOptions options = exactly(200, 0, 2);
  options.integration.sample_every = 1e-3;
  const Trajectory t = simulate(ball(), {0, VectorXd::Constant(1, 1), VectorXd::Zero(1)}, options);
  ASSERT_EQ(t.status, SimulationStatus::kDone);
  EXPECT_NEAR(t.final.q[0], hopper.exact(2)[0] - 1, 1e-8);
  EXPECT_NEAR(t.final.v[0], hopper.exact(2)[1], 1e-7);
  ASSERT_EQ(t.events.size(), 3u);
  EXPECT_EQ(t.events[0].kind, EventKind::kTouchdown);
  EXPECT_EQ(t.events[1].kind, EventKind::kLiftOff);
  EXPECT_NEAR(t.events[0].time, std::sqrt(2 / 9.81), 1e-9);
  // deepest: g/ω² + hypot(g/ω², v/ω)
  EXPECT_NEAR(t.max_penetration, 0.0981 + std::hypot(0.0981, std::sqrt(2 * 9.81) / 10), 1e-4);
}

TEST(SpringContacts, EnergyIsKeptWithoutDampingAndLostWithIt) {
  const VectorXd q = (VectorXd(3) << 0, 0.6, 0.1).finished(), v = VectorXd::Zero(3);
  const Trajectory kept = simulate(board(), {0, q, v}, exactly(500, 0, 3));
  ASSERT_EQ(kept.status, SimulationStatus::kDone);
  EXPECT_GT(kept.events.size(), 6u);
  EXPECT_NEAR(kept.energy.back(), kept.energy.front(), 1e-7);
  const Trajectory lost = simulate(board(), {0, q, v}, exactly(500, 10, 3));
  ASSERT_EQ(lost.status, SimulationStatus::kDone);
  EXPECT_LT(lost.energy.back(), 0.5 * lost.energy.front());
}

TEST(SpringContacts, ProjectionsConvergeToExactLocationWithOrderTwo) {
  const VectorXd q = (VectorXd(3) << 0, 0.6, 0.1).finished(), v = VectorXd::Zero(3);
  const Trajectory exact = simulate(board(), {0, q, v}, exactly(500, 5, 0.8));
  double error[2];
  for (int i = 0; i < 2; ++i) {
    SpringContactOptions options = exactly(500, 5, 0.8);
    options.integration.exact = false;
    options.integration.eps = i == 0 ? 1e-3 : 1e-4;
    error[i] = (simulate(board(), {0, q, v}, options).final.q - exact.final.q).norm();
  }
  EXPECT_NEAR(std::log10(error[0] / error[1]), 2, 0.2);
}

TEST(SpringContacts, JointsHoldWhileContactsGive) {
  // a pendulum of 1 m on a pin, whose bob meets the ground below: the pin must not open
  PlanarMechanism m;
  const int rod = m.add(Body{.name = "rod", .mass = 1, .inertia = 0.1});
  m.add(Pin{.name = "pivot", .body = rod, .at = Vector2d(0, 0.5), .at_other = Vector2d(0, 0.9)});
  m.add(ContactPair{
      .name = "A", .first = {.body = rod, .at = Vector2d(0, -0.5)}, .second = Edge{}, .mu = 0});
  const double angle = 1;
  VectorXd q(3);
  q << 0.5 * std::sin(angle), 0.9 - 0.5 * std::cos(angle), angle;
  const Trajectory t = simulate(m, {0, q, VectorXd::Zero(3)}, exactly(300, 0, 1.5));
  ASSERT_EQ(t.status, SimulationStatus::kDone);
  EXPECT_GE(t.events.size(), 2u);
  EXPECT_NEAR(t.energy.back(), t.energy.front(), 1e-7);
  const Terms end = m.terms(t.final.q, t.final.v);
  EXPECT_LT(end.joint_gap.cwiseAbs().maxCoeff(), 1e-8);
  // the same pin once more says nothing new
  m.add(Pin{.name = "again", .body = rod, .at = Vector2d(0, 0.5), .at_other = Vector2d(0, 0.9)});
  const Trajectory again = simulate(m, {0, q, VectorXd::Zero(3)}, exactly(300, 0, 1.5));
  EXPECT_EQ(again.status, SimulationStatus::kDone) << again.message;
  EXPECT_LT((again.final.q - t.final.q).norm(), 1e-8);
}

TEST(SpringContacts, RefusesContactsThatAreNoSprings) {
  const State start{0, VectorXd::Constant(1, 1), VectorXd::Zero(1)};
  EXPECT_THROW((void)simulate(ball(), start, exactly(0, 0, 1)), std::invalid_argument);
  EXPECT_THROW((void)simulate(ball(), start, exactly(1, -1, 1)), std::invalid_argument);
  SpringContactOptions two = exactly(1, 0, 1);
  two.stiffness = VectorXd::Ones(2);
  EXPECT_THROW((void)simulate(ball(), start, two), std::invalid_argument);
}

}  // namespace
}  // namespace routh
