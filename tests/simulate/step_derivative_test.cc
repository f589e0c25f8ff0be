#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "routh/io/scenario.h"
#include "routh/model/planar.h"
#include "routh/simulate/motion_derivative.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct HopperParameters {
  double body = 4, shank = 1, mu = 0.3;
};

/// A body on a sprung leg of two bars, its foot on the floor.
PlanarMechanism hopper(const HopperParameters& p = {}) {
  PlanarMechanism m;
  m.add(Body{.name = "body", .mass = p.body, .inertia = 0.2});
  m.add(Body{.name = "thigh",
             .parent = 0,
             .joint = Joint::kRevolute,
             .mass = 1.5,
             .inertia = 0.03,
             .centre = {0.02, -0.2}});
  m.add(Body{.name = "shank",
             .parent = 1,
             .joint = Joint::kRevolute,
             .at = {0, -0.4},
             .mass = p.shank,
             .inertia = 0.02,
             .centre = {0, -0.2}});
  m.add(CoordinateSpring{"knee", 4, 30, 0.5, -0.8});
  m.add(Spring{.name = "tendon",
               .body = 0,
               .other = 2,
               .at = {0.1, 0},
               .stiffness = 50,
               .damping = 1,
               .length = 0.3});
  m.add(ContactPair{"foot", Round{2, {0, -0.4}, 0.03}, Edge{}, p.mu});
  return m;
}

/// Where the foot is at a height.
VectorXd standing(double height) {
  VectorXd q = (VectorXd(5) << 0, 0.7, 0.1, 0.5, -0.9).finished();
  VectorXd contact, joint;
  hopper().gaps(q, contact, joint);
  q[1] += height - contact[0];
  return q;
}
/// A velocity at which the foot moves like that.
VectorXd with_foot(const VectorXd& q, double forward, double up) {
  VectorXd v = (VectorXd(5) << 0.3, 0, 0.2, 0.4, -0.6).finished();
  const Contact foot = hopper().terms(q, v).contacts[0];
  v[1] += up - foot.Jn.dot(v);
  v[0] += forward - foot.Jt.row(0).dot(v);
  return v;
}

VectorXd end_of(const System& system, const VectorXd& x, const TimeSteppingOptions& options) {
  const Eigen::Index nv = system.nv();
  const Trajectory t = simulate(system, {0, x.head(nv), x.tail(nv)}, options);
  VectorXd end(2 * nv);
  end << t.final.q, t.stepping()->v_raw.back();
  return end;
}

VectorXd stacked(const VectorXd& q, const VectorXd& v) {
  VectorXd x(q.size() + v.size());
  x << q, v;
  return x;
}

void expect_near(const VectorXd& got, const VectorXd& slope, double error, const std::string& of) {
  EXPECT_LT((got - slope).norm(), error * (1 + slope.norm())) << of << "\n"
                                                              << got.transpose() << "\n"
                                                              << slope.transpose();
}

/// Does a contact that touches approach? At the start of a motion that is an impact.
bool strikes(const System& system, const VectorXd& x) {
  const Eigen::Index nv = system.nv();
  const VectorXd v = x.tail(nv);
  for (const Contact& contact : system.terms(x.head(nv), v).contacts) {
    if (contact.phi < 1e-6 && contact.Jn.dot(v) < -1e-15) return true;
  }
  return false;
}

/// D against differences of the steps themselves, to the side on which nothing is struck.
void compare_state(const System& system, const VectorXd& x, const TimeSteppingOptions& options,
                   const MotionDerivative& d) {
  ASSERT_TRUE(d.differentiable) << d.message;
  const VectorXd end = end_of(system, x, options);
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    VectorXd by = 4e-7 * VectorXd::Unit(x.size(), j);
    if (strikes(system, x + by)) by = -by;
    const VectorXd once = end_of(system, x + by, options),
                   twice = end_of(system, x + 2 * by, options);
    expect_near(d.D.col(j), (4 * once - 3 * end - twice) / (2 * by[j]), 1e-6,
                "column " + std::to_string(j));
  }
}

/// All of it, of the hopper.
void compare(const VectorXd& q, const VectorXd& v, TimeSteppingOptions options) {
  const VectorXd x = stacked(q, v);
  const PlanarMechanism m = hopper();
  const MotionDerivative d = derivative(m, {0, q, v}, options, masses(m));
  compare_state(m, x, options, d);
  const double width = 1e-5;
  const auto by = [&](const HopperParameters& more, const HopperParameters& less) {
    return VectorXd((end_of(hopper(more), x, options) - end_of(hopper(less), x, options)) /
                    (2 * width));
  };
  ASSERT_EQ(d.bodies, (std::vector<std::string>{"body", "thigh", "shank"}));
  expect_near(d.mass.col(0), by({.body = 4 + width}, {.body = 4 - width}), 1e-7, "body");
  expect_near(d.mass.col(2), by({.shank = 1 + width}, {.shank = 1 - width}), 1e-7, "shank");
  const VectorXd by_mu = by({.mu = 0.3 + width}, {.mu = 0.3 - width});
  if (d.contacts.empty()) {
    EXPECT_EQ(by_mu.norm(), 0);
  } else {
    ASSERT_EQ(d.contacts, std::vector<std::string>{"foot"});
    expect_near(d.friction.col(0), by_mu, 1e-7, "friction");
  }
}

TEST(StepDerivative, OfOneStepInAnyModeAgreesWithDifferences) {
  const VectorXd down = standing(0), up = standing(0.2);
  for (const double alpha : {0.5, 0.7, 1.0}) {
    const TimeSteppingOptions one{.h = 2e-3, .alpha = alpha, .end = 2e-3};
    compare(up, with_foot(up, 0.5, 0.3), one);      // flies
    compare(down, with_foot(down, 0, 0), one);      // sticks
    compare(down, with_foot(down, 0.5, 0), one);    // slides
    compare(down, with_foot(down, -0.5, 0), one);   // slides back
    compare(down, with_foot(down, 0.5, 0.4), one);  // lifts
  }
}

TEST(StepDerivative, OfManyStepsIsTheirProduct) {
  const VectorXd down = standing(0);
  for (const double alpha : {0.5, 1.0}) {
    const TimeSteppingOptions some{.h = 2e-3, .alpha = alpha, .end = 0.03};
    compare(down, with_foot(down, 0, 0), some);
    compare(down, with_foot(down, 1.5, 0), some);
  }
}

TEST(StepDerivative, AStepThatTakesItsImpactInIsSmoothThroughIt) {
  const VectorXd above = standing(5e-4);
  const TimeSteppingOptions one{.h = 2e-3, .alpha = 1, .end = 2e-3, .detection = false};
  compare(above, with_foot(above, 0.5, -1), one);
  compare(above, with_foot(above, 0, -1), one);
}

TEST(StepDerivative, AnImpactFoundInsideAStepHasNoneAndIsSaid) {
  const VectorXd above = standing(5e-4);
  const MotionDerivative d =
      derivative(hopper(), {0, above, with_foot(above, 0.5, -1)}, {.h = 2e-3, .end = 2e-3});
  EXPECT_FALSE(d.differentiable);
  EXPECT_FALSE(d.D.allFinite());
  EXPECT_NE(d.message.find("an impact lies within a step"), std::string::npos) << d.message;
}

TEST(StepDerivative, AContactAtTheBorderOfTwoModesIsNamed) {
  // a block on a slope at the angle of friction: slides or sticks
  PlanarMechanism m;
  m.add(Body{.name = "disc", .mass = 1, .inertia = 1e9});
  m.add(ContactPair{"rim", Round{0, {0, 0}, 0.1}, Edge{}, 0.5});
  m.gravity = {0.5 * 10, -10};
  const VectorXd q = (VectorXd(3) << 0, 0.1, 0).finished();
  const MotionDerivative d =
      derivative(m, {0, q, VectorXd::Zero(3)}, {.h = 1e-2, .alpha = 1, .end = 1e-2});
  EXPECT_FALSE(d.differentiable);
  EXPECT_TRUE(d.D.allFinite());
  EXPECT_NE(d.message.find("contact rim is at the border of two modes"), std::string::npos)
      << d.message;
}

TEST(StepDerivative, OfAClosedLoopThatStaysClosedAgreesWithDifferences) {
  const io::Scenario s = io::load_scenario("four-bar");
  const System& system = *s.moving();
  const State on = project_joints(system, {0, s.q, s.v});  // in the air
  for (const double alpha : {0.5, 1.0}) {
    const TimeSteppingOptions some{.h = 5e-3, .alpha = alpha, .end = 2e-2};
    const MotionDerivative d = derivative(system, {0, on.q, on.v}, some);
    ASSERT_TRUE(d.differentiable) << d.message;
    const VectorXd x = stacked(on.q, on.v);
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      // to the nearest states whose joints are closed
      constexpr double kWidth = 1e-5;
      VectorXd beside[2], ends[2];
      for (const int side : {0, 1}) {
        const VectorXd by = x + (side ? -kWidth : kWidth) * VectorXd::Unit(x.size(), j);
        const State closed =
            project_joints(system, {0, by.head(system.nv()), by.tail(system.nv())});
        beside[side] = stacked(closed.q, closed.v);
        ends[side] = end_of(system, beside[side], some);
      }
      expect_near(d.D * (beside[0] - beside[1]) / (2 * kWidth), (ends[0] - ends[1]) / (2 * kWidth),
                  1e-6, "along " + std::to_string(j));
    }
  }
}

}  // namespace
}  // namespace routh
