#include "routh/simulate/time_stepping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "routh/io/scenario.h"
#include "routh/model/planar.h"
#include "routh/simulate/stick_slip.h"
#include "slope.h"

namespace routh {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

Trajectory run(const std::string& name, TimeSteppingOptions options,
               const std::vector<io::Override>& set = {}) {
  const io::Scenario s = io::load_scenario(name, set);
  return simulate(*s.mechanism(), {0, s.q, s.v}, options);
}

TEST(ExactStickSlip, SolvesItsEquationAndHoldsWhereItMay) {
  const ExactStickSlip::Parameters p;
  const ExactStickSlip exact(p, 10);
  const double held = p.friction * p.mass * p.gravity, d = 1e-4;
  ASSERT_GE(exact.switches().size(), 8u);
  for (double t = 0.013; t < 9.9; t += 0.0371) {
    const double v = exact.velocity(t);
    EXPECT_NEAR((exact.position(t + d) - exact.position(t - d)) / (2 * d), v, 1e-3);
    const auto next = std::upper_bound(exact.switches().begin(), exact.switches().end(), t);
    if (next == exact.switches().end() || *next - t < 2 * d || t - *(next - 1) < 2 * d) continue;
    const double push = p.amplitude * std::cos(t);
    if (v == 0) {
      EXPECT_LE(std::abs(push), held + 1e-12);
    } else {
      const double acceleration = (exact.velocity(t + d) - exact.velocity(t - d)) / (2 * d);
      EXPECT_NEAR(p.mass * acceleration, push - std::copysign(held, v), 1e-6);
    }
  }
}

TEST(TimeStepping, StickSlipConvergesWithOrderTwoAtOneHalfAndOneAtOne) {
  const ExactStickSlip exact({}, 10);
  for (const auto& [alpha, order] : {std::pair{0.5, 2.0}, {1.0, 1.0}}) {
    std::vector<double> steps, errors;
    for (const double h : {0.02, 0.01, 0.005, 0.0025, 0.00125}) {
      const Trajectory t = run("stick-slip", {.h = h, .alpha = alpha, .end = 10});
      double worst = 0;  // over the whole motion, not only at its end
      for (std::size_t k = 0; k < t.time.size(); ++k)
        worst = std::max(worst, std::abs(t.q[k][0] - exact.position(t.time[k])));
      steps.push_back(h);
      errors.push_back(worst);
    }
    EXPECT_NEAR(slope(steps, errors), order, 0.2)
        << "alpha " << alpha << " error " << errors.front() << " to " << errors.back();
  }
}

TEST(TimeStepping, WhileStickingOnlyTheWeightedVelocityIsZero) {
  const Trajectory t = run("stick-slip", {.h = 0.01, .end = 2});
  // sticking from about 0.35 on: v^h changes sign at every step, P3 Example 9.2
  for (std::size_t k = 50; k < t.time.size(); ++k) {
    EXPECT_NEAR(t.v[k][0], 0, 1e-12);
    EXPECT_LT(t.stepping()->v_raw[k][0] * t.stepping()->v_raw[k - 1][0], 0);
  }
}

TEST(TimeStepping, AnErrorInTheJointsVelocityStaysOutOfTheWeightedOne) {
  // P3 Example 9.1: v^l = (-1)^l eps, total variation 2 eps T / h; that of v^alpha is eps
  const double eps = 0.01, h = 0.1, T = 2;
  const Trajectory t = run("joint-error", {.h = h, .end = T}, {{"eps", eps}});
  double variation = 0, raw = 0;
  for (std::size_t k = 1; k < t.time.size(); ++k) {
    EXPECT_NEAR(t.stepping()->v_raw[k][0], k % 2 ? -eps : eps, 1e-15);
    EXPECT_NEAR(t.q[k][0], 0, 1e-15);
    raw += std::abs(t.stepping()->v_raw[k][0] - t.stepping()->v_raw[k - 1][0]);
    variation += std::abs(t.v[k][0] - t.v[k - 1][0]);
  }
  EXPECT_NEAR(raw, 2 * eps * T / h, 1e-12);
  EXPECT_NEAR(variation, eps, 1e-15);
}

/// Two uniform rods in relative angles: minimal coordinates with inertia that depends on q.
PlanarMechanism minimal_double_pendulum(double wall) {
  PlanarMechanism p;
  const Body rod{.name = "upper",
                 .joint = Joint::kRevolute,
                 .mass = 1,
                 .inertia = rod_inertia(1, 1),
                 .centre = {0, -0.5}};
  p.add(rod);
  Body lower = rod;
  lower.name = "lower", lower.parent = 0, lower.at = {0, -1};
  p.add(lower);
  p.add(ContactPair{"tip", {1, {0, -1}}, Edge{kWorld, {wall, 0}, {-1, 0}}, 0});
  return p;
}

/// Where the tip is every 0.02 s: the same for both kinds of coordinates.
using Tips = std::vector<Vector2d>;
Tips maximal_tips(double h, Jacobians jacobians, bool stabilise) {
  Tips tips;
  for (const VectorXd& q :
       run("double-pendulum-wall",
           {.h = h, .end = 1.4, .every = 0.02, .jacobians = jacobians, .stabilise = stabilise})
           .q)
    tips.emplace_back(q[3] + 0.5 * std::sin(q[5]), q[4] - 0.5 * std::cos(q[5]));
  return tips;
}
Tips minimal_tips(double h) {
  const State start{0, Vector2d(-std::numbers::pi / 6, 0), Vector2d::Zero()};
  Tips tips;
  for (const VectorXd& q :
       simulate(minimal_double_pendulum(0.4), start, {.h = h, .end = 1.4, .every = 0.02}).q)
    tips.emplace_back(std::sin(q[0]) + std::sin(q[0] + q[1]),
                      -std::cos(q[0]) - std::cos(q[0] + q[1]));
  return tips;
}
double distance(const Tips& a, const Tips& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, (a[k] - b[k]).norm());
  return worst;
}
const std::vector<double> kPendulumSteps{1e-2, 5e-3, 4e-3, 2.5e-3, 2e-3, 1e-3, 5e-4};

/// The reference of each kind of coordinates is a fine run of the other.
TEST(TimeStepping, TheDoublePendulumWithTheWallIsSecondOrderOnlyWithMidpointJacobians) {
  const Tips reference = minimal_tips(2e-5);
  for (const bool stabilise : {false, true}) {
    std::vector<double> midpoint, start;
    for (const double h : kPendulumSteps) {
      midpoint.push_back(distance(maximal_tips(h, Jacobians::kMidpoint, stabilise), reference));
      start.push_back(distance(maximal_tips(h, Jacobians::kStart, stabilise), reference));
    }
    EXPECT_NEAR(slope(kPendulumSteps, midpoint), 2, 0.1) << stabilise;
    EXPECT_LT(midpoint.back(), 1e-6);
    if (!stabilise) {
      EXPECT_NEAR(slope(kPendulumSteps, start), 1, 0.1);
    }
  }
}

TEST(TimeStepping, MinimalCoordinatesAreSecondOrderToo) {
  const Tips reference = maximal_tips(2e-5, Jacobians::kMidpoint, false);
  std::vector<double> errors;
  for (const double h : kPendulumSteps) errors.push_back(distance(minimal_tips(h), reference));
  EXPECT_NEAR(slope(kPendulumSteps, errors), 2, 0.1);
  EXPECT_LT(errors.back(), 1e-6);
}

TEST(TimeStepping, AFallingPointLandsWhenAndWhereItShould) {
  // lands at sqrt(2 H / g), then slides: friction takes mu of the normal impulse at landing
  const double H = 1, u = 2, mu = 0.3, g = 9.81;
  const double landing = std::sqrt(2 * H / g), fall = g * landing;
  for (const double alpha : {0.5, 0.75, 1.0}) {
    const Trajectory t = run("point-drop", {.h = 1e-3, .alpha = alpha, .end = 0.6},
                             {{"height", H}, {"speed", u}, {"friction", mu}});
    ASSERT_EQ(t.events.size(), 1u);
    const Event& e = t.events[0];
    // α = ½ is exact in a parabola; α > ½ is first order
    const double tolerance = alpha == 0.5 ? 1e-12 : 2e-3;
    EXPECT_NEAR(e.time, landing, tolerance);
    EXPECT_NEAR(e.v_minus[1], -fall, 10 * tolerance);
    EXPECT_NEAR(e.v_plus[0], u - mu * fall, 10 * tolerance);
    EXPECT_NEAR(e.impulse[0], fall, 10 * tolerance);
    EXPECT_NEAR(e.impulse[1], -mu * fall, 10 * tolerance);
    EXPECT_LT(t.max_penetration, 1e-12);
  }
}

TEST(TimeStepping, WithoutDetectionTheTrapezoidalRuleBounces) {
  // the trap of P3's scheme: the compression phase is what makes it inelastic
  const Trajectory t =
      run("point-drop", {.h = 1e-3, .end = 0.8, .detection = false, .stabilise = false});
  double rebound = 0;
  for (std::size_t k = 0; k < t.time.size(); ++k) {
    if (t.time[k] > 0.46) rebound = std::max(rebound, t.q[k][1]);
  }
  EXPECT_GT(rebound, 0.2);
  const Trajectory one = run("point-drop", {.h = 1e-3, .alpha = 1, .end = 0.8, .detection = false});
  EXPECT_NEAR(one.final.q[1], 0, 1e-9);
}

TEST(TimeStepping, TheLadderLeavesTheWallAtTwoThirdsOfItsHeight) {
  // frictionless uniform ladder: the wall's force vanishes when sin(angle) is 2/3 of the start's
  const Trajectory t = run("sliding-ladder", {.h = 1e-4, .end = 0.9});
  const auto left = std::find_if(t.events.begin(), t.events.end(),
                                 [](const Event& e) { return e.kind == EventKind::kLiftOff; });
  ASSERT_NE(left, t.events.end());
  const auto at = std::lower_bound(t.time.begin(), t.time.end(), left->time) - t.time.begin();
  EXPECT_NEAR(std::sin(-t.q[at][2]), 2.0 / 3 * std::sin(70 * std::numbers::pi / 180), 1e-3);
}

TEST(TimeStepping, TheTiltedBoxLandsOnOneCornerThenOnTheOther) {
  const Trajectory t = run("tilted-box", {.h = 1e-3, .end = 0.6});
  ASSERT_EQ(t.events.size(), 2u);
  EXPECT_NEAR(t.events[0].time, std::sqrt(2 * 0.015 / 9.81), 1e-12);
  EXPECT_EQ(t.events[0].contacts, std::vector<int>{0});
  EXPECT_EQ(t.events[1].contacts, (std::vector<int>{0, 1}));
  EXPECT_NEAR(t.final.q[1], 0.1, 1e-12);
  EXPECT_NEAR(t.final.q[2], 0, 1e-12);
  EXPECT_LT(t.final.v.norm(), 1e-12);
}

/// While a corner pivots, the pendulum of the box about it has constant energy.
TEST(TimeStepping, APivotingCornerIsHitOnce) {
  for (const double h : {4e-3, 1e-3, 2.5e-4}) {
    const Trajectory t = run("tilted-box", {.h = h, .end = 0.13, .stabilise = false});
    EXPECT_EQ(t.events.size(), 1u) << h;
  }
}

TEST(TimeStepping, EnergyNeverGrowsWithoutInput) {
  // constant inertia and linear forces: the discrete bound of the proof of P3 Theorem 5.1
  for (const char* name : {"point-drop", "tilted-box", "double-pendulum-wall", "sliding-ladder"}) {
    for (const double alpha : {0.5, 0.75, 1.0}) {
      for (const bool stabilise : {false, true}) {
        const Trajectory t =
            run(name, {.h = 2e-3, .alpha = alpha, .end = 1.2, .stabilise = stabilise});
        const double size = std::abs(t.energy.front()) + 1;
        for (std::size_t k = 1; k < t.energy.size(); ++k) {
          EXPECT_LE(t.energy[k], t.energy[k - 1] + 1e-13 * size)
              << name << " alpha " << alpha << " at " << t.time[k];
        }
      }
    }
  }
}

TEST(TimeStepping, StiffSpringsStayBounded) {
  for (const double k : {1e2, 1e5, 1e8}) {
    for (const double alpha : {0.5, 1.0}) {
      PlanarMechanism p;
      p.gravity.setZero();
      p.add(Body{.name = "a", .mass = 1, .inertia = 1});
      p.add(Body{.name = "b", .mass = 2, .inertia = 1});
      p.add(Spring{.name = "s", .body = 0, .other = 1, .stiffness = k});
      p.add(Spring{.name = "w", .body = 0, .stiffness = k / 3});
      VectorXd q = VectorXd::Zero(6), v = VectorXd::Zero(6);
      q << 0.3, -0.1, 0, -0.2, 0.4, 0;
      v << 1, 0, 0, 0, 2, 0;
      const Trajectory t = simulate(p, {0, q, v}, {.h = 0.01, .alpha = alpha, .end = 2});
      for (std::size_t i = 1; i < t.energy.size(); ++i)
        ASSERT_LE(t.energy[i], t.energy[i - 1] * (1 + 1e-12)) << k << " " << alpha;
      if (alpha == 0.5) {
        EXPECT_NEAR(t.energy.back() / t.energy.front(), 1, 1e-10);
      }
    }
  }
}

TEST(TimeStepping, LongRunsKeepJointsAndContactsClosed) {
  const io::Scenario s = io::load_scenario("double-pendulum-wall", {{"wall", 10}});
  VectorXd v = VectorXd::Zero(6);
  const Trajectory free = simulate(*s.mechanism(), {0, s.q, v}, {.h = 2e-3, .end = 60, .every = 1});
  EXPECT_LT(free.max_joint_error, 1e-9);
  EXPECT_NEAR(free.energy.back(), free.energy.front(), 1e-6);
  const Trajectory stack = run("box-stack", {.h = 1e-3, .end = 5, .every = 1}, {{"n", 6}});
  EXPECT_LT(stack.max_penetration, 1e-9);
  EXPECT_NEAR(stack.final.q[3 * 5 + 1], 5.5 * 0.2, 1e-9);
  EXPECT_LT(stack.final.v.norm(), 1e-9);
}

TEST(TimeStepping, EveryLawOfTheEngineResolvesItsImpacts) {
  for (const std::string& law : impact_law_names()) {
    const Trajectory t = run("tilted-box", {.h = 1e-3, .end = 0.6, .law = impact_law(law, 3)});
    EXPECT_LT(t.energy.back(), t.energy.front()) << law;
    EXPECT_LT(t.max_penetration, 1e-9) << law;
    EXPECT_NEAR(t.final.q[1], 0.1, 1e-6) << law;
  }
}

TEST(TimeStepping, MoreauAndBackwardEulerConvergeToTheSameMotion) {
  const Trajectory fine = run("tilted-box", {.h = 1e-5, .end = 0.12, .every = 1});
  for (const auto& [alpha, gamma] : {std::pair{1.0, 1.0}, {1.0, 0.5}}) {
    std::vector<double> steps, errors;
    for (const double h : {2e-3, 1e-3, 5e-4}) {
      const Trajectory t = run("tilted-box", {.h = h, .alpha = alpha, .gamma = gamma, .end = 0.12});
      steps.push_back(h);
      errors.push_back((t.final.q - fine.final.q).norm());
    }
    EXPECT_GT(slope(steps, errors), 0.8) << gamma;
  }
}

TEST(TimeStepping, UserForcesAreSecondOrderWithoutJacobians) {
  // x'' = -x: a plain function of the state, no derivative given
  PlanarMechanism p;
  p.gravity.setZero();
  p.add(Body{.name = "a", .joint = Joint::kPrismatic, .mass = 1});
  p.add(Force{"spring", [](double, const VectorXd& q, const VectorXd&, VectorXd& forces) {
                forces[0] -= q[0];
              }});
  std::vector<double> steps, errors;
  for (const double h : {0.02, 0.01, 0.005}) {
    const Trajectory t = simulate(p, {0, VectorXd::Ones(1), VectorXd::Zero(1)}, {.h = h, .end = 3});
    steps.push_back(h);
    errors.push_back(std::abs(t.final.q[0] - std::cos(3.0)));
  }
  EXPECT_NEAR(slope(steps, errors), 2, 0.1);
}

TEST(TimeStepping, RecordsOnlyWhatIsAskedFor) {
  const Trajectory t = run("point-drop", {.h = 1e-3, .end = 1, .every = 0.1});
  ASSERT_EQ(t.time.size(), 11u);
  for (std::size_t k = 0; k < t.time.size(); ++k) EXPECT_NEAR(t.time[k], 0.1 * k, 1e-12);
  EXPECT_EQ(t.steps, 1000);
}

TEST(TimeStepping, StopsWhenTheCallerSaysSo) {
  const Trajectory t =
      run("point-drop", {.h = 1e-3, .end = 1, .progress = [](double time) { return time < 0.2; }});
  EXPECT_EQ(t.status, SimulationStatus::kInterrupted);
  EXPECT_NEAR(t.final.time, 0.2, 2e-3);
}

// Grams and millimetres, tonnes and kilometres: with gravity in the same units of length the motion
// is the same, scaled.
TEST(TimeStepping, UnitsOfMassAndLengthDoNotMatter) {
  struct Case {
    const char* name;
    std::vector<io::Override> lengths, masses, forces;
    double h, end;
  };
  const std::vector<Case> cases{
      {"domino-row",
       {{"height", 0.24}, {"thickness", 0.04}, {"distance", 0.12}, {"g", 9.81}},
       {{"mass", 0.5}},
       {},
       1e-3,
       0.6},
      {"box-stack",
       {{"width", 0.5}, {"taper", 0.01}, {"height", 0.2}, {"drop", 0.001}, {"g", 9.81}},
       {{"mass", 1}},
       {},
       1e-3,
       0.1},
      {"point-drop", {{"height", 1}, {"speed", 1}, {"g", 9.81}}, {{"mass", 1}}, {}, 1e-3, 1},
      {"stick-slip", {{"x0", 3}, {"g", 9.81}}, {{"mass", 1}}, {{"amplitude", 8}}, 0.01, 10}};
  for (const Case& c : cases) {
    VectorXd plain;
    std::size_t events = 0;
    for (const auto& [m, length] : std::vector<std::pair<double, double>>{{1, 1},
                                                                          {1e-6, 1},
                                                                          {1e6, 1},
                                                                          {1e-12, 1},
                                                                          {1e12, 1},
                                                                          {1, 1e-3},
                                                                          {1, 1e3},
                                                                          {1e6, 1e-3}}) {
      std::vector<io::Override> set;
      for (const io::Override& o : c.lengths) set.push_back({o.name, o.value * length});
      for (const io::Override& o : c.masses) set.push_back({o.name, o.value * m});
      for (const io::Override& o : c.forces) set.push_back({o.name, o.value * m * length});
      const io::Scenario s = io::load_scenario(c.name, set);
      const Trajectory t = simulate(
          *s.mechanism(), {0, s.q, s.v},
          TimeSteppingOptions{.h = c.h, .end = c.end, .every = c.end, .touching = 1e-6 * length});
      VectorXd q = t.final.q;
      for (std::size_t i = 0; i < s.coordinates.size(); ++i) {
        if (s.coordinates[i].find("angle") == std::string::npos) q[i] /= length;
      }
      if (plain.size() == 0) plain = q, events = t.events.size();
      EXPECT_EQ(t.status, SimulationStatus::kDone) << c.name << " " << m << " " << length;
      EXPECT_EQ(t.events.size(), events) << c.name << " " << m << " " << length;
      EXPECT_LT((q - plain).cwiseAbs().maxCoeff(), 1e-8) << c.name << " " << m << " " << length;
    }
  }
}

TEST(TimeStepping, BadInputIsRefusedWithWhatToChange) {
  const auto message = [](const std::string& name, const TimeSteppingOptions& options,
                          const std::vector<io::Override>& set = {}) -> std::string {
    try {
      (void)run(name, options, set);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message("point-drop", {.h = 0}).find("step h"), std::string::npos);
  EXPECT_NE(message("point-drop", {.alpha = 0}).find("alpha"), std::string::npos);
  EXPECT_NE(message("point-drop", {.gamma = 2}).find("gamma"), std::string::npos);
  EXPECT_NE(message("point-drop", {.end = -1}).find("end"), std::string::npos);
  EXPECT_NE(message("point-drop", {}, {{"height", -0.1}}).find("penetrates by 0.1"),
            std::string::npos);

  PlanarMechanism p;
  p.add(Body{.name = "a", .mass = 1, .inertia = 1});
  p.add(Pin{.name = "pin", .body = 0});
  try {
    (void)simulate(p, {0, Vector3d(0.25, 0, 0), Vector3d::Zero()}, TimeSteppingOptions{});
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("open by 0.25"), std::string::npos) << e.what();
  }
  const State closed = project_joints(p, {0, Vector3d(0.25, 0, 0), Vector3d(1, 0, 2)});
  EXPECT_LT(closed.q.head<2>().norm(), 1e-12);
  EXPECT_LT((closed.v - Vector3d(0, 0, 2)).norm(), 1e-12);

  p.add(Force{"wind", [](double t, const VectorXd&, const VectorXd&, VectorXd& forces) {
                forces[0] = t > 0.5 ? NAN : 0;
              }});
  const Trajectory blown = simulate(p, closed, {.h = 0.01});
  EXPECT_EQ(blown.status, SimulationStatus::kInvalid);
  EXPECT_NE(blown.message.find("'wind' is not a finite number at t = 0.5"), std::string::npos)
      << blown.message;
}

}  // namespace
}  // namespace routh
