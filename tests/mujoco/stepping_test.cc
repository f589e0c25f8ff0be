// Time-stepping of models: closed forms, energy, penetration.
#include <gtest/gtest.h>

#include <cmath>

#include "mujoco/worlds.h"
#include "routh/mujoco/system.h"
#include "routh/simulate/inclusion.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/time_stepping.h"

namespace routh::mujoco {
namespace {

using Eigen::VectorXd;

System model(const std::string& bodies, const std::string& gravity = "0 0 -9.81") {
  return System::from_text("<mujoco><option gravity='" + gravity +
                           "'/><default><geom friction='0.5'/></default><worldbody><geom "
                           "name='floor' type='plane' size='5 5 1'/>" +
                           bodies + "</worldbody></mujoco>");
}

const std::string kBox =
    "<body pos='0 0 0.1'><freejoint/><geom name='box' type='box' size='0.2 0.15 0.1' "
    "mass='2'/></body>";

double energy(const System& system, const State& s) {
  return kinetic_energy(system.terms(s.q, s.v), s.v) + system.potential_energy(s.q);
}

// A box slides along an edge of the friction cone: it brakes by μ g and stops after v²/(2 μ g).
TEST(SpaceStepping, ASlidingBoxBrakesByCoulombsLaw) {
  const System system = model(kBox);
  State start = system.home();
  const double v = 1, mu = 0.5, g = 9.81;
  for (const bool along_y : {false, true}) {
    start.v.setZero();
    start.v[along_y ? 1 : 0] = v;
    TimeStepper stepper(system, start, {.h = 1e-3, .alpha = 1});
    for (int k = 0; k < 100; ++k) stepper.step();
    EXPECT_NEAR(stepper.v()[along_y ? 1 : 0], v - mu * g * 0.1, 1e-5);
    for (int k = 0; k < 150; ++k) stepper.step();
    EXPECT_LT(stepper.v().norm(), 1e-6);
    EXPECT_NEAR(stepper.q()[along_y ? 1 : 0], v * v / (2 * mu * g), 1e-3);  // first order in h
    EXPECT_LT(stepper.log().max_penetration, 1e-8);
  }
}

// Across edges the linearised cone pulls a little aside; with more edges less.
TEST(SpaceStepping, MoreEdgesBringTheCircularCone) {
  const System system = model(kBox);
  State start = system.home();
  start.v.head(2) << std::cos(0.3), std::sin(0.3);
  double last = HUGE_VAL;
  for (const int edges : {4, 16, 64}) {
    TimeStepper stepper(system, start, {.h = 1e-3, .alpha = 1, .edges = edges});
    for (int k = 0; k < 100; ++k) stepper.step();
    const double error =
        (stepper.v().head<2>() - (1 - 0.5 * 9.81 * 0.1) * start.v.head<2>()).norm();
    EXPECT_LT(error, 0.7 * last) << edges;
    last = error;
  }
}

TEST(SpaceStepping, ABoxOnASlopeSticksOrSlidesByItsAngle) {
  for (const double slope : {0.4, 0.6}) {  // tan, against 0.5
    const double norm = std::hypot(1, slope), g = 9.81;
    const System system =
        model(kBox, std::to_string(g * slope / norm) + " 0 " + std::to_string(-g / norm));
    TimeStepper stepper(system, system.home(), {.h = 1e-3, .alpha = 1});
    for (int k = 0; k < 200; ++k) stepper.step();
    const double expected = slope > 0.5 ? 0.2 * g * (slope - 0.5) / norm : 0;
    EXPECT_NEAR(stepper.v()[0], expected, 1e-5) << slope;
  }
}

// P3 Theorem 5.1: impacts and friction only take energy away; bodies that tumble to rest.
TEST(SpaceStepping, EnergyNeverGrowsAndNothingPenetrates) {
  for (const char* shape : {"type='box' size='0.1 0.15 0.05'", "type='capsule' size='0.05 0.1'",
                            "type='cylinder' size='0.08 0.1'", "type='sphere' size='0.1'"}) {
    const System system =
        model("<body pos='0 0 0.5'><freejoint/><geom " + std::string(shape) + " mass='1'/></body>");
    State start = system.home();
    start.v << 0.5, -0.3, 0, 2, 3, -1;
    const Trajectory t = simulate(system, start, {.h = 1e-3, .alpha = 1, .end = 1.5});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << shape;
    EXPECT_LT(t.max_penetration, 2e-8) << shape;
    ASSERT_GT(t.energy.size(), 1000u);
    for (std::size_t k = 1; k < t.energy.size(); ++k) {
      // free flight is symplectic: it swings by its first-order error
      EXPECT_LE(t.energy[k], t.energy[k - 1] + 1e-4 * t.energy[0]) << shape << " at " << t.time[k];
    }
    EXPECT_LT(t.energy.back(), t.energy.front()) << shape;
    EXPECT_FALSE(t.events.empty()) << shape;
    const std::string& name = t.contact_names.at(t.events.front().contacts.at(0));
    EXPECT_NE(name.find("floor"), std::string::npos) << name;
  }
}

// The unit of a quaternion stays, and torque-free rotation keeps energy and momentum.
TEST(SpaceStepping, FreeRotationStaysOnTheManifold) {
  const System system =
      model("<body pos='0 0 2'><freejoint/><geom type='box' size='0.1 0.2 0.3' mass='1'/></body>",
            "0 0 0");
  State start = system.home();
  start.v.tail(3) << 1, 0.1, 2;
  const Trajectory t = simulate(system, start, {.h = 1e-4, .alpha = 1, .end = 1});
  EXPECT_NEAR(t.final.q.segment(3, 4).norm(), 1, 1e-12);
  EXPECT_NEAR(energy(system, t.final), energy(system, start), 1e-3 * energy(system, start));
}

TEST(SpaceStepping, EqualityConstraintsStayClosed) {
  const System system = System::from_text(
      "<mujoco><worldbody><body name='a' pos='0 0 1'><joint type='hinge' axis='0 1 0'/><geom "
      "type='capsule' fromto='0 0 0 0.5 0 0' size='0.02' mass='1'/></body><body name='b' pos='1 0 "
      "1'><joint type='hinge' axis='0 1 0'/><joint type='slide' axis='1 0 0'/><geom type='capsule' "
      "fromto='0 0 0 -0.5 0 0' size='0.02' mass='1'/></body></worldbody><equality><connect "
      "body1='a' body2='b' anchor='0.5 0 0'/></equality><contact><exclude body1='a' "
      "body2='b'/></contact></mujoco>");
  const Trajectory t = simulate(system, system.home(), {.h = 1e-3, .alpha = 1, .end = 1});
  EXPECT_LT(t.max_joint_error, 1e-7);
}

TEST(SpaceStepping, RefusesDeepPenetration) {
  const System system = model(kBox);
  State start = system.home();
  start.q[2] = 0.05;
  EXPECT_THROW((void)simulate(system, start, {.alpha = 1}), std::invalid_argument);
}

TEST(SpaceStepping, ALawNeedsTheInstantsOfImpacts) {
  const System system = model(kBox);
  const TimeSteppingOptions both{.detection = false, .law = impact_law("simultaneous")};
  EXPECT_NE(message([&] { (void)simulate(system, system.home(), both); }).find("law"),
            std::string::npos);
}

// The impulses between two records change the momentum as gravity does not.
TEST(SpaceStepping, ImpulsesBetweenRecordsAreThoseOfTheContacts) {
  const System system = model(kBox);
  State start = system.home();
  start.q[2] = 0.15;
  start.v << 1, 0.5, 0, 0, 0, 0.3;
  for (const double alpha : {0.5, 1.0}) {
    const Trajectory t =
        simulate(system, start,
                 TimeSteppingOptions{
                     .h = 1e-3, .alpha = alpha, .end = 0.3, .every = 0.01, .impulses = true});
    ASSERT_EQ(t.impulse.size() + 1, t.time.size());
    double pressed = 0;
    for (const VectorXd& impulse : t.impulse) {
      ASSERT_EQ(impulse.size() % 3, 0);
      for (Eigen::Index i = 0; i < impulse.size(); i += 3) pressed += impulse[i];
    }
    for (const Event& e : t.events) {
      if (alpha < 1 && e.kind == EventKind::kImpact)
        for (Eigen::Index i = 0; i < e.impulse.size(); i += 3) pressed += e.impulse[i];
    }
    EXPECT_NEAR(pressed, 2 * 9.81 * 0.3, 1e-6) << alpha;
    EXPECT_EQ(t.contact_names.size(), 4u);
  }
}

// A path over impulses needs contacts that stay and coordinates that are integrals of v.
TEST(SpaceStepping, ATrajectoryInSpaceIsNotReadAsAnInclusion) {
  const System system = model(kBox);
  Trajectory t = simulate(system, system.home(), TimeSteppingOptions{.end = 0.01});
  t.impulse.assign(t.time.size() - 1, VectorXd(0));
  EXPECT_THROW((void)inclusion(system, t), std::invalid_argument);
}

// Free joints have four numbers for their orientation and three for its rate.
TEST(SpaceStepping, JointsAreClosedOnTheManifoldOfQuaternions) {
  const std::string box =
      "<body name='box' pos='0 0 .5'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "<body name='arm' pos='0 0 1'><joint axis='0 1 0'/><geom type='capsule' size='.02' "
      "fromto='0 0 0 0 0 -.3' mass='.3' contype='0' conaffinity='0'/></body>";
  for (const char* equality : {"<connect body1='box' anchor='0 0 .3'/>", "<weld body1='box'/>"}) {
    const System system = world(box, "<equality>" + std::string(equality) + "</equality>");
    std::mt19937 random(11);
    for (int k = 0; k < 20; ++k) {
      State s = system.home();
      system.integrate(s.q, random_vector(random, system.nv(), 0.1), 1);
      s.v = random_vector(random, system.nv());
      const State closed = project_joints(system, s);
      const Terms terms = system.terms(closed.q, closed.v);
      EXPECT_LT(terms.joint_gap.cwiseAbs().maxCoeff(), 1e-12) << equality;
      EXPECT_LT((terms.A * closed.v).cwiseAbs().maxCoeff(), 1e-12) << equality;
      EXPECT_NEAR(closed.q.segment(3, 4).norm(), 1, 1e-12) << equality;
      EXPECT_NEAR(closed.q[7], s.q[7], 1e-12) << equality;  // what no joint asks to move stays
    }
  }
}

}  // namespace
}  // namespace routh::mujoco
