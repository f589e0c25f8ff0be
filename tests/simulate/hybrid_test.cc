#include "routh/simulate/hybrid.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <numbers>
#include <random>

#include "routh/io/scenario.h"
#include "routh/simulate/time_stepping.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

struct Executed {
  io::Scenario scenario;
  Trajectory trajectory;

  /// "{l} {r}"
  std::string word() const {
    std::string text;
    for (const Mode& m : trajectory.hybrid()->modes)
      text.append(text.empty() ? "" : " ").append(to_string(m, scenario.terms.contacts));
    return text;
  }
};

Executed run(const std::string& name, HybridOptions options,
             const std::vector<io::Override>& set = {}) {
  Executed r{io::load_scenario(name, set), {}};
  options.limbs = r.scenario.limbs();
  r.trajectory = simulate(*r.scenario.mechanism(), {0, r.scenario.q, r.scenario.v}, options);
  return r;
}

std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

/// The rocking block of P4 Figs 8 and 9 by hand. About a corner it is a pendulum: with R from the
/// corner to the centre, α = atan(w/h) and the tilt θ, energy gives
///
///   θ'² = 2 m g R / (I + m R²) (cos(α - θ_top) - cos(α - θ)),
///
/// and an impact keeps 1 - (3/2) sin²α of the angular velocity, 0.7 of it in the paper.
struct RockingBlock {
  double w = 0.05, h = 0.1, g = 9.81;
  double R = std::hypot(w, h) / 2, alpha = std::atan2(w, h);
  double k = 2 * g * R / ((w * w + h * h) / 12 + R * R);
  double kept = 1 - 1.5 * std::pow(std::sin(alpha), 2);

  /// Time to fall from rest at a tilt; θ = top (1 - u²) takes the root out of the integrand.
  double fall(double top) const {
    const auto integrand = [&](double u) {
      // cos(α - top) - cos(α - θ) as a product, without cancellation
      const double theta = top * (1 - u * u);
      const double drop = 2 * std::sin(alpha - (top + theta) / 2) * std::sin((top - theta) / 2);
      return 2 * top * u / std::sqrt(k * drop);
    };
    return boost::math::quadrature::gauss_kronrod<double, 61>::integrate(integrand, 0, 1, 12,
                                                                         1e-14);
  }
  /// The tilt reached after an impact with what is kept of the speed of a fall from `top`.
  double next(double top) const {
    // cos(α - θ) - cos α = 2 sin(α - θ/2) sin(θ/2), solved for θ by iteration
    const double height = kept * kept * std::sin(alpha - top / 2) * std::sin(top / 2);
    double theta = kept * kept * top;
    for (int i = 0; i < 100; ++i) theta = 2 * std::asin(height / std::sin(alpha - theta / 2));
    return theta;
  }
  std::vector<double> impacts(int count) const {
    double top = 10 * std::numbers::pi / 180, t = fall(top);
    std::vector<double> times{t};
    while (static_cast<int>(times.size()) < count && top > 1e-30) {
      top = next(top);
      times.push_back(t += 2 * fall(top));
    }
    return times;
  }
};

TEST(Hybrid, RockingBlockHitsTheGroundWhenThePendulumArcsSay) {
  const Executed r = run("rocking-block-p4", {.end = 0.6});
  const std::vector<double> times = RockingBlock().impacts(20);
  ASSERT_GE(r.trajectory.events.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Event& e = r.trajectory.events[i];
    EXPECT_EQ(e.kind, EventKind::kImpact);
    EXPECT_NEAR(e.time, times[i], 1e-9) << i;
    EXPECT_NEAR(e.v_plus[2] / e.v_minus[2], 0.7, 1e-9);
  }
}

TEST(Hybrid, RockingBlockPassesItsZenoLimitAndRests) {
  const Executed r = run("rocking-block-p4", {.end = 0.6});
  ASSERT_EQ(r.trajectory.hybrid()->zeno.size(), 1u);
  const ZenoPoint& z = r.trajectory.hybrid()->zeno[0];
  const double limit = RockingBlock().impacts(90).back();
  EXPECT_NEAR(z.state.time, limit, z.error);
  EXPECT_NEAR(z.ratio, 0.7, 1e-3);
  EXPECT_LE(z.error, 1e-9);
  EXPECT_LT(r.trajectory.events.size(), 40u);
  EXPECT_EQ(to_string(r.trajectory.hybrid()->modes.back(), r.scenario.terms.contacts), "{l, r}");
  EXPECT_NEAR(r.trajectory.final.q[2], 0, 1e-12);
  EXPECT_NEAR(r.trajectory.final.q[1], 0.05, 1e-12);
  EXPECT_LT(r.trajectory.final.v.norm(), 1e-12);
  EXPECT_DOUBLE_EQ(r.trajectory.final.time, 0.6);
}

// Low blocks lose nearly all of their speed in an impact: after five the hops are below 1e-12 m.
TEST(Hybrid, LowBlocksPassTheirZenoLimitWhenTheArcsSay) {
  for (const double slender : {0.72, 0.75, 0.8, 0.85, 0.92, 1.2, 1.7}) {
    RockingBlock block{.w = 0.1, .h = 0.1 * slender};
    const Executed r = run("rocking-block-p4", {.end = 3, .rtol = 1e-11, .atol = 1e-13},
                           {{"width", block.w}, {"height", block.h}, {"friction", 2}});
    ASSERT_EQ(r.trajectory.status, SimulationStatus::kDone) << slender << r.trajectory.message;
    ASSERT_EQ(r.trajectory.hybrid()->zeno.size(), 1u) << slender;
    const ZenoPoint& z = r.trajectory.hybrid()->zeno[0];
    EXPECT_NEAR(z.state.time, block.impacts(200).back(), 1e-9) << slender;
    EXPECT_NEAR(z.ratio, block.kept, 0.01 * block.kept) << slender;
    EXPECT_LT(r.trajectory.events.size(), 120u) << slender;
    EXPECT_LT(r.trajectory.final.v.norm(), 1e-12) << slender;
  }
}

// From blocks that keep nearly all of their speed to such that keep nearly nothing, of any size.
TEST(Hybrid, BlocksOfAnyShapePassTheirZenoLimitWhenTheArcsSay) {
  std::mt19937_64 random(5);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
  };
  for (int k = 0; k < test::trials(40); ++k) {
    const double kept = uniform(0.02, 0.93), size = std::pow(10, uniform(-2, 1));
    const double alpha = std::asin(std::sqrt((1 - kept) / 1.5));
    RockingBlock block{.w = size * std::sin(alpha), .h = size * std::cos(alpha)};
    const double limit = block.impacts(600).back();
    const Executed r = run("rocking-block-p4", {.end = 2 * limit, .rtol = 1e-11, .atol = 1e-13},
                           {{"width", block.w}, {"height", block.h}, {"friction", 3}});
    ASSERT_EQ(r.trajectory.status, SimulationStatus::kDone) << kept << r.trajectory.message;
    ASSERT_EQ(r.trajectory.hybrid()->zeno.size(), 1u) << kept << " " << size;
    const ZenoPoint& z = r.trajectory.hybrid()->zeno[0];
    EXPECT_NEAR(z.state.time, limit, 1e-8 * limit + 2 * z.error) << kept << " " << size;
    EXPECT_LT(r.trajectory.final.v.norm(), 1e-9) << kept << " " << size;
  }
}

// A ball from rest at height H bounces until sqrt(2 H / g) (1 + e) / (1 - e).
TEST(Hybrid, BallsOfAnyRestitutionComeToRestInTime) {
  for (const double e : {0.01, 0.03, 0.1, 0.3, 0.7, 0.9, 0.97}) {
    const Executed r = run("bouncing-ball", {.end = 40}, {{"restitution", e}});
    ASSERT_EQ(r.trajectory.hybrid()->zeno.size(), 1u) << e;
    const double limit = std::sqrt(2 / 9.81) * (1 + e) / (1 - e);
    EXPECT_NEAR(r.trajectory.hybrid()->zeno[0].state.time, limit, 1e-9 * limit) << e;
    EXPECT_EQ(r.trajectory.status, SimulationStatus::kDone) << e;
  }
}

// P4 Figs 8 and 9: with δt = 0.03 the block rests at t = 0.27 s.
TEST(Hybrid, PseudoImpulseTruncatesTheRockingBlock) {
  const Executed r = run("rocking-block-p4", {.end = 0.6, .dt_pseudo = 0.03});
  EXPECT_EQ(r.word(), "{l} {r} {l} {l, r}");
  EXPECT_NEAR(r.trajectory.events.back().time, 0.27, 0.005);
  EXPECT_TRUE(r.trajectory.hybrid()->zeno.empty());
}

// Right signs in P4 (102): U_l = ż (m (w² - h²)/2 - 2 I)/w² + δt m g/2 vanishes at 6.3 cm/s.
TEST(Hybrid, BlockComesToRestBelowSixCentimetresPerSecond) {
  const io::Scenario s = io::load_scenario("rocking-block-p4", {{"tilt_deg", 0}});
  const double w = 0.05, h = 0.1, inertia = (w * w + h * h) / 12;
  const double threshold = 0.03 * 9.81 / 2 * w * w / (2 * inertia - (w * w - h * h) / 2);
  EXPECT_NEAR(threshold, 0.063, 1e-4);
  for (const double speed : {0.99 * threshold, 1.01 * threshold}) {
    // turning about l, the centre falls with the given speed
    const double omega = -speed / (w / 2);
    VectorXd v(3);
    v << -omega * h / 2, omega * w / 2, omega;
    const Trajectory t =
        simulate(*s.mechanism(), {0, s.q, v}, HybridOptions{.end = 1e-3, .dt_pseudo = 0.03});
    ASSERT_FALSE(t.events.empty());
    EXPECT_EQ(to_string(t.events[0].mode_after, s.terms.contacts),
              speed < threshold ? "{l, r}" : "{r}");
  }
}

TEST(Hybrid, HillStopsThePointUpToTheSpeedOfThePseudoImpulse) {
  for (const double slope : {10.0, 30.0, 60.0}) {
    const double limit = 9.81 * 0.03 * std::tan(slope * std::numbers::pi / 180);
    for (const double factor : {0.2, 0.999, 1.001, 5.0}) {
      const Executed r = run("hill", {.end = 0.02 / (factor * limit) + 1e-3, .dt_pseudo = 0.03},
                             {{"slope_deg", slope}, {"speed", factor * limit}});
      ASSERT_EQ(r.trajectory.events.size(), 1u);
      EXPECT_EQ(r.word(), factor < 1 ? "{ground} {ground, hill}" : "{ground} {hill}")
          << slope << " deg, " << factor;
    }
  }
}

TEST(Hybrid, CeilingTakesTwoTransitionsAtOneInstant) {
  const Executed r = run("ceiling", {.end = 0.5});
  ASSERT_EQ(r.trajectory.events.size(), 2u);
  EXPECT_EQ(r.word(), "{} {ceiling} {}");
  EXPECT_EQ(r.trajectory.events[0].time, r.trajectory.events[1].time);
  // 1 = 5 t - g t²/2
  EXPECT_NEAR(r.trajectory.events[0].time, (5 - std::sqrt(25 - 2 * 9.81)) / 9.81, 1e-12);
  EXPECT_NEAR(r.trajectory.final.q[1],
              1 - 9.81 / 2 * std::pow(0.5 - r.trajectory.events[0].time, 2), 1e-9);
}

// P4 Fig. 2: no force and no approach at the start, only derivatives tell.
TEST(Hybrid, TrackIsLeftOrFollowedAsItsDerivativesTrend) {
  struct Case {
    double bend, twist;
    bool follows;
  };
  for (const Case& c :
       {Case{-0.25, 0, false}, {0.25, 0, true}, {0, -0.125, false}, {0, 0.125, true}}) {
    for (const Grip grip : {Grip::kSlide, Grip::kOpen}) {
      // the answer does not depend on the mode it is asked in (theorem 9)
      const Executed r = run("circle-track", {.end = 1, .mode = Mode{grip}},
                             {{"bend", c.bend}, {"twist", c.twist}});
      EXPECT_EQ(r.trajectory.hybrid()->modes.back()[0], c.follows ? Grip::kSlide : Grip::kOpen);
      EXPECT_LE(r.trajectory.events.size(), 1u);
      const double x = r.trajectory.final.q[0], y = r.trajectory.final.q[1];
      EXPECT_NEAR(y, c.follows ? c.bend * x * x + c.twist * x * x * x : 0, 1e-10);
      EXPECT_NEAR(r.trajectory.final.v.norm(), 1, 1e-9);
    }
  }
}

// P4 after (36): sliding to the inflection, the force vanishes there and turns negative.
TEST(Hybrid, ParticleLeavesTheTrackAtItsInflection) {
  const Executed r =
      run("circle-track", {.end = 1}, {{"bend", 0}, {"twist", -0.125}, {"start", -0.5}});
  ASSERT_EQ(r.trajectory.events.size(), 1u);
  EXPECT_EQ(r.trajectory.events[0].kind, EventKind::kLiftOff);
  // arc length of y = -x³/8 from -1/2 to 0 at unit speed
  const double length = boost::math::quadrature::gauss_kronrod<double, 61>::integrate(
      [](double x) { return std::sqrt(1 + std::pow(3 * x * x / 8, 2)); }, -0.5, 0, 12, 1e-14);
  EXPECT_NEAR(r.trajectory.events[0].time, length, 1e-8);
}

/// Acceleration of the body and force on the foot of the massless leg from Newton's and Euler's
/// laws: the leg is in equilibrium under the torque and the force at its foot.
VectorXd one_leg_by_hand() {
  const double m = 8, I = 0.25, L = 0.18, hip = -0.15, pitch = 0.1, leg = 0.3, torque = 3,
               pitch_rate = 0.5, leg_rate = -2;
  const double psi = pitch + leg, psi_rate = pitch_rate + leg_rate;
  const Vector2d r = hip * Vector2d(std::cos(pitch), std::sin(pitch));
  const Vector2d d = L * Vector2d(std::sin(psi), -std::cos(psi));
  // unknowns: ax, ay, pitch'', psi'', Fx, Fy
  Eigen::Matrix<double, 6, 6> A = Eigen::Matrix<double, 6, 6>::Zero();
  Eigen::Matrix<double, 6, 1> b;
  A.row(0) << m, 0, 0, 0, -1, 0;
  A.row(1) << 0, m, 0, 0, 0, -1;
  A.row(2) << 0, 0, I, 0, r.y(), -r.x();
  A.row(3) << 0, 0, 0, 0, -d.y(), d.x();
  A.row(4) << 1, 0, -r.y(), -d.y(), 0, 0;  // the foot does not accelerate
  A.row(5) << 0, 1, r.x(), d.x(), 0, 0;
  b << 0, -m * 9.81, -torque, -torque,
      pitch_rate * pitch_rate * r.x() + psi_rate * psi_rate * d.x(),
      pitch_rate * pitch_rate * r.y() + psi_rate * psi_rate * d.y();
  return A.partialPivLu().solve(b);
}

TEST(Hybrid, MasslessLegMovesTheBodyAsNewtonAndEulerSay) {
  const io::Scenario s = io::load_scenario("massless-leg");
  const Instant now = instant(*s.mechanism(), {0, s.q, s.v}, {.limbs = s.limbs()});
  const VectorXd hand = one_leg_by_hand();
  EXPECT_EQ(now.mode[0], Grip::kStick);
  EXPECT_LT((now.acceleration.head(3) - hand.head(3)).norm(), 1e-9 * hand.norm());
  EXPECT_NEAR(now.acceleration[3], hand[3] - hand[2], 1e-9 * hand.norm());
  EXPECT_NEAR(now.tangential[0], hand[4], 1e-9 * hand.norm());
  EXPECT_NEAR(now.normal[0], hand[5], 1e-9 * hand.norm());
}

TEST(Hybrid, SmallLegMassesTendToTheMasslessLeg) {
  const auto at_start = [](double mass) {
    const io::Scenario s = io::load_scenario("massless-leg", {{"leg_mass", mass}});
    return instant(*s.mechanism(), {0, s.q, s.v}, {.limbs = s.limbs()});
  };
  const Instant limit = at_start(0);
  for (const double mass : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
    const Instant now = at_start(mass);
    EXPECT_LT((now.acceleration - limit.acceleration).norm(), 100 * mass + 1e-10);
    EXPECT_LT((now.normal - limit.normal).norm(), 100 * mass + 1e-10);
  }
}

// Between events nothing but the hip motor works: energy grows by ∫ torque dθ.
TEST(Hybrid, EnergyBalancesBetweenEvents) {
  const Executed leg = run("massless-leg", {.end = 0.1});
  const Trajectory& t = leg.trajectory;
  ASSERT_TRUE(t.events.empty());
  for (std::size_t i = 0; i < t.time.size(); ++i) {
    const double work = 3 * (t.q[i][3] - t.q[0][3]);
    EXPECT_NEAR(t.energy[i] - t.energy[0], work, 1e-9 * t.energy[0]);
  }
  const Executed block = run("rocking-block-p4", {.end = 0.6});
  const Trajectory& b = block.trajectory;
  for (std::size_t i = 1; i < b.time.size(); ++i) {
    if (b.hybrid()->mode_at[i] == b.hybrid()->mode_at[i - 1]) {
      EXPECT_NEAR(b.energy[i], b.energy[i - 1], 1e-9);
    }
  }
}

TEST(Hybrid, EventsNeverFireTwiceNorMoreThanTwiceAtAnInstant) {
  for (const std::string name :
       {"rocking-block-p4", "hill", "ceiling", "stick-slip", "double-pendulum-wall", "four-bar",
        "tilted-box", "sliding-ladder"}) {
    const Executed r = run(name, {.end = 1.5});
    EXPECT_EQ(r.trajectory.status, SimulationStatus::kDone) << name << r.trajectory.message;
    const std::vector<Event>& events = r.trajectory.events;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind != EventKind::kImpact) {
        EXPECT_NE(events[i].mode_before, events[i].mode_after) << name;
      }
      if (i >= 2) {
        EXPECT_GT(events[i].time, events[i - 2].time) << name << " event " << i;
      }
    }
    // at the ends of steps 1e-9; within them that of their interpolation is added
    EXPECT_LT(r.trajectory.max_penetration, 2e-9) << name;
  }
}

// P3 Example 9.2: m x'' = a cos t ∓ μ m g while sliding.
TEST(Hybrid, BlockSticksAndSlipsWhenFrictionSays) {
  const Executed r = run("stick-slip", {.end = 7});
  const double angle = std::acos(0.8 * 9.81 / 8), pi = std::numbers::pi;
  std::vector<double> slips;
  for (const Event& e : r.trajectory.events) {
    if (e.kind == EventKind::kSlip) slips.push_back(e.time);
  }
  ASSERT_GE(slips.size(), 3u);
  EXPECT_NEAR(slips[1], pi - angle, 1e-9);
  EXPECT_NEAR(slips[2], 2 * pi - angle, 1e-9);
  // it comes to rest when 8 (sin t - sin t0) = 0.8 · 9.81 (t - t0)
  for (std::size_t i = 0; i + 1 < r.trajectory.events.size(); i += 2) {
    const double t0 = r.trajectory.events[i].time, t1 = r.trajectory.events[i + 1].time;
    EXPECT_EQ(r.trajectory.events[i + 1].kind, EventKind::kStick);
    EXPECT_NEAR(std::abs(8 * (std::sin(t1) - std::sin(t0))), 0.8 * 9.81 * (t1 - t0), 1e-9);
  }
}

// P4 A12: once it slips there is no friction left and it never sticks.
TEST(Hybrid, FrictionOfThePaperEndsWithSlip) {
  const Executed r = run("stick-slip", {.end = 7, .friction = FrictionModel::kPaper});
  ASSERT_EQ(r.trajectory.events.size(), 1u);
  EXPECT_EQ(r.trajectory.hybrid()->modes.back()[0], Grip::kSlide);
  EXPECT_NEAR(r.trajectory.final.q[0], 3 + 8 * (1 - std::cos(7.0)), 1e-8);
}

// A block on two feet slips on a slope at tan = μ, although one tangent row is redundant.
TEST(Hybrid, RedundantTangentsShareTheirFriction) {
  const auto push = [](double force) {
    PlanarMechanism m;
    const int b = m.add(Body{.name = "block", .mass = 2, .inertia = 0.01});
    m.add(Force{
        .name = "push",
        .apply = [=](double, const VectorXd&, const VectorXd&, VectorXd& f) { f[0] += force; }});
    m.add(ContactPair{"l", {b, {-0.1, -0.05}, 0}, Edge{}, 0.5});
    m.add(ContactPair{"r", {b, {0.1, -0.05}, 0}, Edge{}, 0.5});
    VectorXd q(3);
    q << 0, 0.05, 0;
    return instant(m, {0, q, VectorXd::Zero(3)}, {});
  };
  const double limit = 0.5 * 2 * 9.81;
  EXPECT_EQ(push(0.99 * limit).mode, Mode(2, Grip::kStick));
  EXPECT_EQ(push(1.01 * limit).mode, Mode(2, Grip::kSlidePositive));
  EXPECT_EQ(push(-1.01 * limit).mode, Mode(2, Grip::kSlideNegative));
}

TEST(Hybrid, TimeSteppingConvergesToTheExecution) {
  struct Case {
    const char* name;
    double end;
  };
  for (const Case& c :
       {Case{"rocking-block-p4", 0.25}, {"double-pendulum-wall", 1.0}, {"sliding-ladder", 0.8}}) {
    const Executed exact = run(c.name, {.end = c.end});
    std::vector<double> errors;
    for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
      const Trajectory t =
          simulate(*exact.scenario.mechanism(), {0, exact.scenario.q, exact.scenario.v},
                   TimeSteppingOptions{.h = h, .end = c.end});
      errors.push_back((t.final.q - exact.trajectory.final.q).norm());
    }
    EXPECT_LT(errors.back(), 2e-5) << c.name;
    EXPECT_LT(errors.back(), 0.3 * errors.front()) << c.name;
  }
}

TEST(Hybrid, LawsOfTheEngineResolveImpacts) {
  // the simultaneous law agrees with the plastic map where the outcome is unique
  const Executed plastic = run("tilted-box", {.end = 0.6});
  const Executed law = run("tilted-box", {.end = 0.6, .law = impact_law("simultaneous")});
  EXPECT_EQ(law.word(), plastic.word());
  EXPECT_LT((law.trajectory.final.q - plastic.trajectory.final.q).norm(), 1e-9);
  // where it is not, grips persist and the event says so; strict logic stops, and a law decides
  const Executed open = run("compass-gait", {.end = 0.01});
  EXPECT_EQ(open.trajectory.status, SimulationStatus::kDone) << open.trajectory.message;
  EXPECT_EQ(open.trajectory.events[0].outcomes, 3);
  EXPECT_EQ(open.trajectory.events[0].continuations.size(), 3u);
  EXPECT_EQ(open.trajectory.events[0].continuations[0].mode, open.trajectory.events[0].mode_after);
  const Executed strict = run("compass-gait", {.end = 0.01, .strict = true});
  EXPECT_EQ(strict.trajectory.status, SimulationStatus::kAmbiguous);
  EXPECT_NE(strict.trajectory.message.find("{A, B:slip}"), std::string::npos)
      << strict.trajectory.message;
  const Executed decided = run("compass-gait", {.end = 0.1, .law = impact_law("simultaneous")});
  EXPECT_EQ(decided.trajectory.events[0].outcomes, 3);
}

// P4 A6: limbs in the air move by their own laws and leave the body alone.
TEST(Hybrid, LimbsInTheAirFollowTheirLaws) {
  PlanarMechanism m;
  const int body = m.add(Body{.name = "body", .mass = 2, .inertia = 0.1});
  for (const char* name : {"held", "retracted", "following"})
    m.add(Body{.name = name, .parent = body, .joint = Joint::kRevolute});
  VectorXd q(6), v(6);
  q << 0, 10, 0, 0.1, 0.2, 0.3;
  v << 1, 0, 3, 7, 7, 0;
  const Trajectory t = simulate(
      m, {0, q, v},
      HybridOptions{
          .end = 0.4,
          .limbs = {{.name = "held", .coordinate = 3},
                    {.name = "retracted", .coordinate = 4, .rate = retract(-2)},
                    {.name = "following", .coordinate = 5, .acceleration = follow(1, 10)}}});
  const VectorXd& end = t.final.q;
  EXPECT_NEAR(end[0], 0.4, 1e-9);
  EXPECT_NEAR(end[1], 10 - 9.81 / 2 * 0.16, 1e-9);
  EXPECT_NEAR(end[2], 1.2, 1e-9);
  EXPECT_NEAR(end[3], 0.1, 1e-12);
  EXPECT_NEAR(end[4], 0.2 - 0.8, 1e-9);
  EXPECT_NEAR(end[5], 1 - 0.7 * (1 + 4) * std::exp(-4.0), 1e-8);  // critically damped
}

// P4 Figs 3 and 4: the touchdown of the second leg tears the first off, unless forces of δt hold
// it.
TEST(Hybrid, PseudoImpulseKeepsTheFirstLegWhenTheSecondTouchesDown) {
  const Executed torn = run("two-leg-touchdown", {.end = 0.03});
  const Executed held = run("two-leg-touchdown", {.end = 0.03, .dt_pseudo = 0.03});
  ASSERT_FALSE(torn.trajectory.events.empty());
  ASSERT_FALSE(held.trajectory.events.empty());
  EXPECT_EQ(torn.trajectory.events[0].time, held.trajectory.events[0].time);
  EXPECT_EQ(to_string(torn.trajectory.hybrid()->modes[1], torn.scenario.terms.contacts),
            "{second}");
  EXPECT_EQ(to_string(held.trajectory.hybrid()->modes[1], held.scenario.terms.contacts),
            "{first, second}");
  EXPECT_LT(held.trajectory.events[0].impulse[0], 0);  // what would have torn it off
}

TEST(Hybrid, LeapsAreMirroredWithTheirTiming) {
  const Executed a = run("rhex-vertical-leap", {.end = 0.25, .dt_pseudo = 0.03},
                         {{"front_deg", 60}, {"rear_deg", 60}, {"t2", 0.004}});
  const Executed b = run("rhex-vertical-leap", {.end = 0.25, .dt_pseudo = 0.03},
                         {{"front_deg", 60}, {"rear_deg", 60}, {"t2", -0.004}});
  EXPECT_NEAR(a.trajectory.final.q[1], b.trajectory.final.q[1], 1e-6);
  EXPECT_NEAR(a.trajectory.final.q[2], -b.trajectory.final.q[2], 1e-6);
  EXPECT_GT(a.trajectory.final.q[1], 0.25);  // in the air: legs are 0.175 m long
}

// With the timing and the friction of P4 Fig. 5, which prints 37 cm.
TEST(Hybrid, HexapodLeapsStraightUp) {
  const Executed r = run("rhex-vertical-leap", {.end = 0.3, .every = 1e-3, .dt_pseudo = 0.03});
  EXPECT_EQ(r.trajectory.status, SimulationStatus::kDone) << r.trajectory.message;
  double top = 0;
  for (const VectorXd& q : r.trajectory.q) top = std::max(top, q[1]);
  EXPECT_NEAR(top, 0.37, 0.03);
}

TEST(Hybrid, HexapodReachesTheLedge) {
  const Executed r = run("rhex-ledge", {.end = 1, .dt_pseudo = 0.03});
  EXPECT_EQ(r.trajectory.status, SimulationStatus::kDone) << r.trajectory.message;
  EXPECT_NEAR(r.trajectory.final.q[1], 0.25, 1e-6);
  EXPECT_NEAR(r.trajectory.final.q[2], 0, 1e-6);
  EXPECT_GT(r.trajectory.final.q[0], 0.35);
}

TEST(Hybrid, BadInputIsNamed) {
  const io::Scenario s = io::load_scenario("rocking-block-p4");
  const auto with = [&](HybridOptions o, VectorXd q) {
    return complaint([&] { (void)simulate(*s.mechanism(), {0, q, s.v}, o); });
  };
  EXPECT_NE(with({.end = -1}, s.q).find("end"), std::string::npos);
  EXPECT_NE(with({.dt_pseudo = -1}, s.q).find("dt_pseudo"), std::string::npos);
  VectorXd low = s.q;
  low[1] -= 0.01;
  EXPECT_NE(with({}, low).find("contact l penetrates"), std::string::npos);
  EXPECT_NE(with({.mode = Mode{Grip::kStick, Grip::kStick}}, s.q).find("contact r is"),
            std::string::npos);
  EXPECT_NE(with({.mode = Mode{Grip::kStick}}, s.q).find("one entry for each"), std::string::npos);
  EXPECT_NE(with({.limbs = {{.name = "tail", .coordinate = 7}}}, s.q).find("tail"),
            std::string::npos);
}

TEST(Hybrid, LawsOfTheEngineNeedMass) {
  const std::string text =
      complaint([] { (void)run("massless-leg", {.end = 0.1, .law = impact_law("simultaneous")}); });
  EXPECT_NE(text.find("limbs without mass"), std::string::npos) << text;
}

TEST(Hybrid, StrictLogicStopsWhereModesAreAmbiguous) {
  const std::vector<io::Override> set{{"middle_deg", 50}, {"rear_deg", 20}, {"t2", -0.06}};
  const Executed lenient = run("rhex-leap", {.end = 0.2, .dt_pseudo = 0.03}, set);
  const Executed strict = run("rhex-leap", {.end = 0.2, .dt_pseudo = 0.03, .strict = true}, set);
  EXPECT_EQ(lenient.trajectory.status, SimulationStatus::kDone);
  EXPECT_EQ(strict.trajectory.status, SimulationStatus::kAmbiguous);
  const bool told = std::any_of(lenient.trajectory.events.begin(), lenient.trajectory.events.end(),
                                [](const Event& e) { return e.outcomes > 1; });
  EXPECT_TRUE(told);
}

TEST(Hybrid, APlankRestsOnFeetThatDependOnEachOther) {
  // three collinear feet: the middle one depends on the others (A2); it falls, lands and stays
  PlanarMechanism m;
  const int b = m.add(Body{.name = "plank", .mass = 1, .inertia = 0.1});
  m.gravity = Vector2d(0, -10);
  for (const double x : {-0.5, 0.5, 0.0})
    m.add(ContactPair{x < 0 ? "left" : x > 0 ? "right" : "middle", {b, {x, 0}, 0}, Edge{}, 0});
  for (const double height : {0.0, 0.2}) {
    const Trajectory t = simulate(m, {0, Eigen::Vector3d(0, height, 0), Eigen::Vector3d(1, 0, 0)},
                                  HybridOptions{.end = 1});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << t.message;
    EXPECT_LT((t.final.q - Eigen::Vector3d(1, 0, 0)).norm(), 1e-9);
    EXPECT_LT((t.final.v - Eigen::Vector3d(1, 0, 0)).norm(), 1e-9);
  }
}

TEST(Hybrid, AnExecutionThatReachesASingularPoseKeepsTheWay) {
  // legs in line in the air: point masses do not determine how the walker folds
  const Executed r = run("compass-gait", {.end = 0.3, .every = 0.01, .law = impact_law("set", 1)},
                         {{"friction", 2}});
  const Trajectory& t = r.trajectory;
  EXPECT_TRUE(t.stopped());
  EXPECT_NE(t.message.find("neither mass nor a constraint"), std::string::npos) << t.message;
  EXPECT_NE(t.message.find("t = 0.1"), std::string::npos) << t.message;
  EXPECT_EQ(t.time.back(), t.final.time);
  EXPECT_GE(t.time.size(), 10u);
}

/// Variants of scenarios that had no mode, or one whose constraints depend on each other.
TEST(Hybrid, ExecutionsGoOnWhereNoModeCanBeNamed) {
  const struct {
    const char* name;
    std::vector<io::Override> set;
    double end;
  } cases[] = {
      {"box-and-wall", {{"mass", 0.73383}, {"friction", 0.817}}, 0.2},
      {"disk-stack", {{"speed", 1.0917}}, 0.2},
      {"three-point-landing", {{"width", 1.2296}, {"drop", 0.17356}, {"height", 0.95494}}, 0.2},
      {"ball-between-walls", {{"restitution", 0.44841}}, 0.2},
  };
  for (const auto& c : cases) {
    const Executed r = run(c.name, {.end = c.end}, c.set);
    EXPECT_EQ(r.trajectory.status, SimulationStatus::kDone)
        << c.name << ": " << r.trajectory.message;
    EXPECT_LT(r.trajectory.max_penetration, 1e-6) << c.name;
    // contacts add no energy
    for (std::size_t k = 1; k < r.trajectory.energy.size(); ++k)
      EXPECT_LE(r.trajectory.energy[k], r.trajectory.energy[k - 1] + 1e-6) << c.name;
  }
}

TEST(Hybrid, LimbThatNothingDeterminesIsNamed) {
  const io::Scenario s = io::load_scenario("massless-leg");
  VectorXd q = s.q;
  q[1] += 0.1;  // in the air without a law
  const std::string text = complaint([&] {
    (void)simulate(*s.mechanism(), {0, q, s.v}, HybridOptions{});
  });
  EXPECT_NE(text.find("leg.angle"), std::string::npos) << text;
}

TEST(Hybrid, EventStormStopsWithTheLastWord) {
  const Executed r =
      run("rocking-block-p4", {.end = 0.6, .strict = true, .storm_events = 3, .storm_time = 0.2});
  EXPECT_EQ(r.trajectory.status, SimulationStatus::kEventStorm);
  EXPECT_NE(r.trajectory.message.find("{r} {l}"), std::string::npos) << r.trajectory.message;
  EXPECT_LT(r.trajectory.final.time, 0.6);
}

TEST(Hybrid, EventStormsArePassedByShortSteps) {
  // the same, told to go on: it comes to rest as the execution through all its impacts does
  const Executed exact = run("rocking-block-p4", {.end = 0.6});
  const Executed r = run("rocking-block-p4", {.end = 0.6, .storm_events = 3, .storm_time = 0.2});
  EXPECT_EQ(r.trajectory.status, SimulationStatus::kDone) << r.trajectory.message;
  EXPECT_TRUE(std::any_of(r.trajectory.events.begin(), r.trajectory.events.end(),
                          [](const Event& e) { return e.kind == EventKind::kStorm; }));
  EXPECT_LT((r.trajectory.final.q - exact.trajectory.final.q).norm(), 1e-4);
  EXPECT_LT(r.trajectory.final.v.norm(), 1e-9);
}

}  // namespace
}  // namespace routh
