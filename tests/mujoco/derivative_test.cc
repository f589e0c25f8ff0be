// Derivatives of steps of models against differences of the steps.
#include <gtest/gtest.h>

#include "mujoco/worlds.h"
#include "routh/mujoco/masses.h"
#include "routh/simulate/motion_derivative.h"

namespace routh::mujoco {
namespace {

/// A ball of radius 0.1 whose mass is off its centre, with a flap on a sprung hinge.
System rolling(double mass = 2, double friction = 0.4) {
  return world(
      "<geom name='floor' type='plane' size='5 5 1'/><body pos='0 0 .1'><freejoint/><inertial "
      "pos='.02 .01 -.01' mass='" +
      std::to_string(mass) +
      "' diaginertia='.02 .03 .025'/><geom name='ball' type='sphere' size='.1' "
      "friction='" +
      std::to_string(friction) +
      "' priority='1'/><body pos='0 0 .12'><joint name='flap' axis='0 1 0' "
      "stiffness='2' damping='.01'/><geom type='box' size='.02 .02 .05' "
      "contype='0' conaffinity='0' mass='.3'/></body></body>");
}

State at_height(double height, double down, double forward) {
  State state = rolling().home();
  state.q[2] = 0.1 + height, state.q[7] = 0.3;
  state.v << forward, 0.2, -down, 0.5, forward / 0.1 - 2, 0.7, -0.4;
  return state;
}

/// Along every direction of the state and by both masses and friction, to second order.
void compare_steps(const State& start, const TimeSteppingOptions& options, double width) {
  const System system = rolling();
  const Eigen::Index nv = system.nv();
  const MotionDerivative d = derivative(system, start, options, masses(system));
  ASSERT_TRUE(d.differentiable) << d.message;
  const auto end_of = [&](const System& of, const State& from) {
    const Trajectory t = simulate(of, from, options);
    return State{t.final.time, t.final.q, t.stepping()->v_raw.back()};
  };
  const State end = end_of(system, start);
  const auto follows = [&](const State& there, const VectorXd& by, const std::string& along) {
    const VectorXd change = width * by;
    VectorXd q = end.q;
    system.integrate(q, change.head(nv), 1);
    const double size = width * (1 + by.norm());
    EXPECT_LT((there.q - q).norm(), 1e-4 * size) << along;
    EXPECT_LT((there.v - end.v - change.tail(nv)).norm(), 1e-4 * size) << along;
  };
  for (Eigen::Index j = 0; j < nv; ++j) {
    State moved = start, faster = start;
    system.integrate(moved.q, VectorXd::Unit(nv, j), width);
    faster.v[j] += width;
    // to press a contact that lies closed costs energy, which the velocity pays: not in the mode
    const bool presses = start.q[2] == 0.1 && j == 2;
    if (!presses) follows(end_of(system, moved), d.D.col(j), "q " + std::to_string(j));
    follows(end_of(system, faster), d.D.col(nv + j), "v " + std::to_string(j));
  }
  const double coarse = 1e-3;  // what is printed into the model
  ASSERT_EQ(d.bodies.size(), 2u);
  const auto slope = [&](const System& more, const System& less) {
    return VectorXd((end_of(more, start).v - end_of(less, start).v) / (2 * coarse));
  };
  const VectorXd by_mass = slope(rolling(2 + coarse), rolling(2 - coarse));
  EXPECT_LT((d.mass.col(0).tail(nv) - by_mass).norm(), 1e-5 * (1e-3 + by_mass.norm()));
  if (d.contacts.empty()) return;
  ASSERT_EQ(d.contacts, std::vector<std::string>{"ball/floor"});
  const VectorXd by_mu = slope(rolling(2, 0.4 + coarse), rolling(2, 0.4 - coarse));
  EXPECT_LT((d.friction.col(0).tail(nv) - by_mu).norm(), 1e-4 * (1 + by_mu.norm()));
}

TEST(ModelSteps, HaveTheDerivativeThatDifferencesSay) {
  const double h = 1e-3;
  for (const double alpha : {1.0, 0.5}) {
    const TimeSteppingOptions one{.h = h, .alpha = alpha, .end = h};
    compare_steps(at_height(0.05, 1, 1), one, 1e-6);  // flies
  }
  const TimeSteppingOptions taken{.h = h, .end = h};
  compare_steps(at_height(4e-4, 1, 1), taken, 1e-7);  // lands and slides
  const TimeSteppingOptions half{.h = h, .alpha = 0.5, .end = 4 * h};
  compare_steps(at_height(0, 0, 1), half, 1e-7);  // slides on the floor
}

TEST(ModelSteps, MassesAreChangedOneAtATimeAndTheModelStaysAsItIs) {
  const System system = rolling();
  const Masses all = masses(system);
  EXPECT_NEAR(all.by, 2.3, 1e-12);
  const State state = at_height(0.05, 1, 1);
  const Terms before = system.terms(state.q, state.v);
  const Terms other = rolling(2 + all.by).terms(state.q, state.v);
  (void)all.heavier(1).terms(state.q, state.v);
  const Terms heavier = all.heavier(0).terms(state.q, state.v);
  EXPECT_LT((heavier.M - other.M).norm(), 1e-9);  // the mass above was printed with six digits
  EXPECT_LT((heavier.forces - other.forces).norm(), 1e-9);
  EXPECT_EQ(system.terms(state.q, state.v).M, before.M);
}

}  // namespace
}  // namespace routh::mujoco
