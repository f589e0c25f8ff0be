// Motions in space against closed forms and accurate references: the order of the scheme.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "mujoco/worlds.h"
#include "routh/model/planar.h"
#include "routh/ode/dormand_prince.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/time_stepping.h"
#include "slope.h"

namespace routh::mujoco {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kG = 9.81;

/// A body that turns about a point, P of mass m at r from it, with inertia I about the point, both
/// in the frame of the body: I ω̇ = I ω × ω + r × m Rᵀ g, and q̇ = q ω/2. Returns (q, ω) at t.
VectorXd turned(const Matrix3d& inertia, const Vector3d& arm, double mass, const VectorXd& start,
                double t) {
  const auto rates = [&](double, const VectorXd& x, VectorXd& dx) {
    const Eigen::Quaterniond turn(x[0], x[1], x[2], x[3]);
    const Vector3d w = x.tail<3>();
    const Vector3d pull = turn.conjugate() * Vector3d(0, 0, -kG * mass);
    const Eigen::Quaterniond half = turn * Eigen::Quaterniond(0, w.x(), w.y(), w.z());
    dx.resize(7);
    dx << 0.5 * half.w(), 0.5 * half.x(), 0.5 * half.y(), 0.5 * half.z(),
        inertia.inverse() * ((inertia * w).cross(w) + arm.cross(pull));
  };
  ode::DormandPrince<VectorXd> solver({.rtol = 1e-13, .atol = 1e-13});
  solver.start(rates, 0, start);
  while (solver.t() < t && solver.step(rates, t) == ode::StepStatus::kAccepted) {
  }
  return solver.x();
}

const std::vector<double> kSteps{4e-3, 2e-3, 1e-3, 5e-4};

/// The order at which the end of a motion (with P3's v⁺) tends to where it should be.
double order(const System& system, const State& start, double end, double alpha,
             const std::vector<double>& steps, const std::function<double(const State&)>& error) {
  std::vector<double> errors;
  for (const double h : steps) {
    const Trajectory t = simulate(
        system, start, TimeSteppingOptions{.h = h, .alpha = alpha, .end = end, .every = end});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << t.message;
    errors.push_back(error({t.time.back(), t.q.back(), t.stepping()->v_raw.back()}));
  }
  return slope(steps, errors);
}

TEST(SpaceMotion, AnAsymmetricBodyTumblesWithSecondOrder) {
  const System system = world(
      "<body pos='0 0 5'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='.1 .2 "
      ".25'/></body>",
      "<option gravity='0 0 0'/>");
  State start = system.home();
  start.v.tail(3) << 1, 4, 0.3;  // about the middle axis: it turns over
  VectorXd x(7);
  x << 1, 0, 0, 0, start.v.tail(3);
  const VectorXd exact = turned(Vector3d(.1, .2, .25).asDiagonal(), Vector3d::Zero(), 1, x, 2);
  const auto error = [&](const State& s) {
    return (s.q.tail(4) - exact.head(4)).norm() + (s.v.tail(3) - exact.tail(3)).norm();
  };
  EXPECT_NEAR(order(system, start, 2, 0.5, kSteps, error), 2, 0.1);
  EXPECT_NEAR(order(system, start, 2, 1, kSteps, error), 1, 0.2);
}

TEST(SpaceMotion, AHeavyTopPrecessesWithSecondOrder) {
  const double mass = 0.5, arm = 0.2;
  const std::string inertial = "<inertial pos='0 0 .2' mass='.5' diaginertia='.004 .004 .002'/>";
  const Matrix3d about_tip =
      Vector3d(.004 + mass * arm * arm, .004 + mass * arm * arm, .002).asDiagonal();
  const System ball = world("<body><joint type='ball'/>" + inertial + "</body>");
  const System tied = world("<body name='top'><freejoint/>" + inertial + "</body>",
                            "<equality><connect body1='top' anchor='0 0 0'/></equality>");
  for (const System* system : {&ball, &tied}) {
    State start = system->home();
    const Eigen::Quaterniond tilt(Eigen::AngleAxisd(0.5, Vector3d::UnitX()));
    start.q.tail(4) << tilt.w(), tilt.x(), tilt.y(), tilt.z();
    start.v.tail(3) << 0.2, 0, 60;
    VectorXd x(7);
    x << start.q.tail(4), start.v.tail(3);
    const VectorXd exact = turned(about_tip, {0, 0, arm}, mass, x, 1);
    EXPECT_NEAR(order(*system, start, 1, 0.5, {2e-3, 1e-3, 5e-4, 2.5e-4},
                      [&](const State& s) {
                        return (s.q.tail(4) - exact.head(4)).norm() +
                               0.01 * (s.v.tail(3) - exact.tail(3)).norm();
                      }),
                2, 0.2);
  }
}

// Thrown with backspin it lands, slides back and rolls. The impact is a slip throughout: it takes
// μ times the fall from the speed and 5/2 of that from the spin; then the same by μ g, until
// v = ω r.
TEST(SpaceMotion, ASphereWithBackspinLandsSlidesAndRolls) {
  const double r = 0.1, mu = 0.3, height = 0.2, w0 = -30, end = 0.896;
  const System system = world(
      "<geom type='plane' size='5 5 1' friction='.3'/><body pos='0 0 .3'><freejoint/>"
      "<geom type='sphere' size='.1' mass='2' friction='.3'/></body>");
  const double fall = std::sqrt(2 * height * kG), landing = fall / kG;
  const std::vector<double> steps{8e-3, 4e-3, 2e-3, 1e-3, 5e-4};
  std::vector<double> errors(steps.size(), 0);
  // the slip ends anywhere in a step: many throws show the order
  for (double v0 = 1; v0 < 1.2; v0 += 0.013) {
    const double v1 = v0 - mu * fall, w1 = w0 + 2.5 * mu * fall / r;
    const double sliding = (v1 - r * w1) * 2 / (7 * mu * kG);
    const double rolling = v1 - mu * kG * sliding;
    ASSERT_GT(v1 - r * w1, 0);
    ASSERT_LT(landing + sliding, end);
    const double x =
        v0 * landing + 0.5 * (v1 + rolling) * sliding + rolling * (end - landing - sliding);
    State start = system.home();
    start.v << v0, 0, 0, 0, w0, 0;  // it turns about y: rolling along x has ω = v/r
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const double h = steps[k];
      const Trajectory t =
          simulate(system, start, TimeSteppingOptions{.h = h, .alpha = 0.5, .end = end});
      errors[k] += std::abs(t.final.q[0] - x);
      EXPECT_NEAR(t.final.v[0], rolling, 1e-9);
      EXPECT_NEAR(t.final.v[4] * r, rolling, 1e-9);
      ASSERT_EQ(t.events.size(), 2u);
      EXPECT_EQ(t.events[0].kind, EventKind::kImpact);
      EXPECT_NEAR(t.events[0].time, landing, 1e-12);
      EXPECT_NEAR(t.events[0].impulse[0], 2 * fall, 1e-9);
      EXPECT_EQ(t.events[1].kind, EventKind::kStick);
      EXPECT_NEAR(t.events[1].time, landing + sliding, 2 * h);
    }
  }
  EXPECT_NEAR(slope(steps, errors), 2, 0.2);
}

// It lands on an edge, turns about it and lands on a face: as the box of the plane does, step by
// step, with located collisions or without.
TEST(SpaceMotion, ABoxThatLandsOnAnEdgeMovesAsInThePlane) {
  const double width = 0.4, height = 0.2, tilt = 0.2, clearance = 0.015;
  const double z = clearance + 0.5 * (width * std::sin(tilt) + height * std::cos(tilt));
  PlanarMechanism plane;
  plane.add(Body{.name = "box", .mass = 1, .inertia = box_inertia(1, width, height)});
  for (const double side : {-0.5, 0.5})
    plane.add(ContactPair{.name = side < 0 ? "left" : "right",
                          .first = Round{.body = 0, .at = {side * width, -0.5 * height}},
                          .second = Edge{},
                          .mu = 0.8});
  const System space =
      world("<geom type='plane' size='5 5 1' friction='.8'/><body pos='0 0 " + std::to_string(z) +
            "'><freejoint/><geom type='box' size='.2 .3 .1' mass='1' friction='.8'/></body>");
  State flat{0, Vector3d(0, z, tilt), Vector3d::Zero()};
  State deep = space.home();
  deep.q[2] = z;
  const Eigen::Quaterniond turn(Eigen::AngleAxisd(-tilt, Vector3d::UnitY()));
  deep.q.tail(4) << turn.w(), turn.x(), turn.y(), turn.z();
  // without detection MuJoCo's points of contact lie halfway across the gap that is closed
  for (const auto& [alpha, detection, near] :
       {std::tuple{0.5, true, 5e-8}, {1.0, true, 5e-8}, {1.0, false, 1e-5}}) {
    const TimeSteppingOptions options{
        .h = 1e-3, .alpha = alpha, .end = 0.6, .every = 0.05, .detection = detection};
    const Trajectory a = simulate(plane, flat, options), b = simulate(space, deep, options);
    ASSERT_EQ(a.time.size(), b.time.size());
    for (std::size_t k = 0; k < a.time.size(); ++k) {
      const auto q = b.q[k].tail(4);
      EXPECT_NEAR(a.q[k][0], b.q[k][0], near) << a.time[k] << " " << alpha;
      EXPECT_NEAR(a.q[k][1], b.q[k][2], near) << a.time[k] << " " << alpha;
      EXPECT_NEAR(a.q[k][2], -2 * std::atan2(q[2], q[0]), near) << a.time[k] << " " << alpha;
      EXPECT_NEAR(b.q[k][1], 0, 1e-9);
    }
    EXPECT_LT(b.max_penetration, 1e-9);
    EXPECT_EQ(b.stepping()->inaccurate, 0);
  }
}

// The gyroscopic torque is implicit: a free body that spins fast does not gain energy.
TEST(SpaceMotion, ASpinningBodyDoesNotGainEnergyAtFirstOrder) {
  const System system =
      world("<body pos='0 0 5'><freejoint/><geom type='box' size='.1 .07 .05' mass='1'/></body>",
            "<option gravity='0 0 0'/>");
  for (const double spin : {5.0, 20.0, 100.0}) {
    State start = system.home();
    start.v.tail(3).setConstant(spin);
    const Trajectory t =
        simulate(system, start, TimeSteppingOptions{.h = 1e-3, .alpha = 1, .end = 2});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << spin;
    for (std::size_t k = 1; k < t.energy.size(); ++k)
      ASSERT_LE(t.energy[k], t.energy[k - 1] * (1 + 1e-9)) << spin << " at " << t.time[k];
    const Terms part = system.terms(start.q, start.v);
    Terms whole;
    system.evaluate(0, start.q, start.v, whole, {.whole_Kv = true});
    EXPECT_LT((part.Kv - whole.Kv).norm(), 1e-9 * whole.Kv.norm());
  }
}

// However short the step or the fall: an impact, and no bounce.
TEST(SpaceMotion, ABallLandsWithoutABounceAtAnyStepAndHeight) {
  const System system = world(
      "<geom type='plane' size='5 5 1'/><body pos='0 0 .1'><freejoint/>"
      "<geom type='sphere' size='.1' mass='1'/></body>");
  for (const double height : {4e-4, 1e-2, 0.4}) {
    for (const double h : {1e-5, 1e-4, 1e-3, 1e-2}) {
      State start = system.home();
      start.q[2] += height;
      const double fall = std::sqrt(2 * height / kG);
      const Trajectory t =
          simulate(system, start, TimeSteppingOptions{.h = h, .alpha = 0.5, .end = fall + 50 * h});
      ASSERT_GE(t.events.size(), 1u) << height << " " << h;
      EXPECT_EQ(t.events[0].kind, EventKind::kImpact) << height << " " << h;
      EXPECT_NEAR(t.events[0].time, fall, 1e-6 * fall + 1e-9) << height << " " << h;
      EXPECT_NEAR(t.final.q[2], 0.1, 1e-8) << height << " " << h;
    }
  }
}

// MuJoCo finds them half a box deep in each other; they hardly touch.
TEST(SpaceMotion, CrossedEdgesOfBoxesDoNotThrowThemApart) {
  std::mt19937 random(5);
  for (int k = 0; k < 30; ++k) {
    const System system = world(
        "<geom type='plane' size='5 5 1'/><body pos='0 0 .15'><freejoint/><geom type='box' "
        "size='.1 .07 .05' mass='1'/></body><body pos='.03 0 .42'><freejoint/><geom type='box' "
        "size='.1 .07 .05' mass='1'/></body><body pos='-.04 .05 .69'><freejoint/><geom type='box' "
        "size='.1 .07 .05' mass='1'/></body>");
    State start = system.home();
    for (int body = 0; body < 3; ++body) {
      const VectorXd turn = random_vector(random, 3, 1);
      VectorXd move = VectorXd::Zero(18);
      move.segment(6 * body + 3, 3) = turn;
      system.integrate(start.q, move, 1);
    }
    const Trajectory t =
        simulate(system, start, TimeSteppingOptions{.h = 1e-3, .alpha = 1, .end = 0.6});
    for (std::size_t i = 1; i < t.time.size(); ++i) {
      for (int body = 0; body < 3; ++body) {
        const double moved = (t.q[i] - t.q[i - 1]).segment(7 * body, 3).norm();
        const double speed =
            std::max(t.v[i].segment(6 * body, 3).norm(), t.v[i - 1].segment(6 * body, 3).norm());
        ASSERT_LE(moved, 1.5 * speed * (t.time[i] - t.time[i - 1]) + 1e-3) << k << " " << t.time[i];
      }
    }
  }
}

// Energy is kept between impacts and lost in them; what pushes bodies apart does not add any.
TEST(SpaceMotion, SecondOrderStepsDoNotGainEnergy) {
  for (const char* shape :
       {"type='box' size='.1 .15 .05'", "type='capsule' size='.05 .1'",
        "type='cylinder' size='.08 .1'", "type='ellipsoid' size='.1 .15 .05'"}) {
    const System system =
        world("<geom type='plane' size='5 5 1'/><body pos='0 0 .5'><freejoint/><geom " +
              std::string(shape) + " mass='1'/></body>");
    State start = system.home();
    start.v << 0.5, -0.3, 0, 2, 3, -1;
    const Trajectory t =
        simulate(system, start, TimeSteppingOptions{.h = 1e-3, .alpha = 0.5, .end = 1.5});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << shape;
    // no two contacts have one name, and events come in their order
    EXPECT_EQ(std::set<std::string>(t.contact_names.begin(), t.contact_names.end()).size(),
              t.contact_names.size());
    EXPECT_TRUE(std::is_sorted(t.events.begin(), t.events.end(),
                               [](const Event& a, const Event& b) { return a.time < b.time; }));
    EXPECT_LT(t.max_penetration, 2e-8) << shape;
    for (std::size_t k = 1; k < t.energy.size(); ++k)
      EXPECT_LE(t.energy[k], t.energy[k - 1] + 1e-5 * t.energy[0]) << shape << " at " << t.time[k];
    EXPECT_LT(t.energy.back(), t.energy.front()) << shape;
  }
}

}  // namespace
}  // namespace routh::mujoco
