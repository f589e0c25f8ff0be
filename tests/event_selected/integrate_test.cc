#include "routh/event_selected/integrate.h"

#include <gtest/gtest.h>

#include "routh/event_selected/systems.h"

namespace routh::event_selected {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

VectorXd vector(std::initializer_list<double> values) {
  VectorXd v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

/// One guard at x = 0, met at speed `before`, left at speed `after`.
auto line(double before, double after) {
  return [=](const VectorXd&, const Crossed& crossed) {
    return vector({crossed[0] ? after : before});
  };
}
const auto h_line = [](const VectorXd& x) { return x; };
const auto Dh_line = [](const VectorXd&) { return MatrixXd::Identity(1, 1).eval(); };

TEST(EventSelected, APieceOfConstantSpeedIsExactForAnyEps) {
  // from -1 at speed 2, then at speed 3: zero at t = 1/2, 3/2 at t = 1
  for (const double eps : {1e-6, 0.1, 5.0}) {
    const auto s = integrate(line(2, 3), h_line, Dh_line, vector({-1}), {.eps = eps, .t_end = 1});
    ASSERT_TRUE(s.finished());
    ASSERT_EQ(s.events.size(), 1u);
    EXPECT_NEAR(s.events[0].time, 0.5, 1e-14);
    EXPECT_TRUE(s.events[0].crossed[0]);
    EXPECT_NEAR(s.x[0], 1.5, 1e-13);
    EXPECT_EQ(s.time, 1);
    EXPECT_EQ(s.times.front(), 0);
    EXPECT_EQ(s.times.back(), 1);
  }
}

TEST(EventSelected, AllFormsOfCallablesGiveTheSameAnswer) {
  Hopper hopper;
  const Options options{.eps = 1e-3, .t_end = 3, .reset = Hopper::reset()};
  const auto system = integrate(hopper, hopper.start(), options);

  const auto f = [&](const Vector2d& x, const Crossed& crossed) {
    return Vector2d(x[1], -9.81 + (crossed[0] ? 100 * (1 - x[0]) : 0));
  };
  const auto h = [](const Vector2d& x) { return Vector2d(1 - x[0], x[0] - 1); };
  const auto Dh = [](const Vector2d&) { return (Eigen::Matrix2d() << -1, 0, 1, 0).finished(); };
  const auto returned = integrate(f, h, Dh, hopper.start(), options);

  const auto f_out = [&](const Vector2d& x, const Crossed& crossed, Vector2d& dx) {
    dx = f(x, crossed);
  };
  const auto h_out = [&](const Vector2d& x, VectorXd& values) { values = h(x); };
  const auto Dh_out = [&](const Vector2d& x, MatrixXd& rows) { rows = Dh(x); };
  const auto written = integrate(f_out, h_out, Dh_out, hopper.start(), options);
  const auto product = integrate(
      f_out, h_out,
      [&](const Vector2d& x, const Vector2d& dx, VectorXd& hdot) { hdot = Dh(x) * dx; },
      hopper.start(), options);

  EXPECT_EQ(returned.x, system.x);
  EXPECT_EQ(written.x, system.x);
  EXPECT_EQ(product.x, system.x);
}

TEST(EventSelected, SamplesLieOnTheGridAndAtEventsInOrderOfTime) {
  Hopper hopper;
  for (const bool exact : {false, true}) {
    const auto s = integrate(
        hopper, hopper.start(),
        {.eps = 1e-2, .exact = exact, .t_end = 2, .reset = Hopper::reset(), .sample_every = 0.01});
    EXPECT_EQ(s.times.size(), 201 + s.events.size());
    for (std::size_t i = 1; i < s.times.size(); ++i) EXPECT_GE(s.times[i], s.times[i - 1]);
    for (std::size_t i = 0; i < s.times.size(); ++i)
      EXPECT_LT((s.states[i] - hopper.exact(s.times[i])).norm(), exact ? 1e-5 : 3e-2);
  }
}

// Liveness

TEST(EventSelected, AFieldThatPointsBackIsReportedWithGuardTimeAndValue) {
  for (const bool exact : {false, true}) {
    const Options options{.exact = exact, .t_end = 2};
    const auto s = integrate(line(2, -3), h_line, Dh_line, vector({-1}), options);
    EXPECT_EQ(s.status, Status::kNotLive);
    EXPECT_EQ(s.guard, 0);
    EXPECT_NEAR(s.time, 0.5, 1e-12);
    EXPECT_EQ(s.value, -3);
    EXPECT_NE(describe(s, options).find("guard 0 is not live at t = 0.5: ∇h·f = -3"),
              std::string::npos);
  }
}

TEST(EventSelected, AGuardMetMoreSlowlyThanCIsReported) {
  const auto s =
      integrate(line(0.5, 1), h_line, Dh_line, vector({-1}), {.exact = true, .t_end = 5, .c = 0.6});
  EXPECT_EQ(s.status, Status::kNotLive);
  EXPECT_NEAR(s.time, 2, 1e-9);
  EXPECT_NEAR(s.value, 0.5, 1e-12);
}

/// x = (height, speed) of a stone under g = 10; the guard is at height `top`.
struct Stone {
  double top;
  void field(const Vector2d& x, const Crossed&, Vector2d& dx) const { dx = {x[1], -10}; }
  void guards(const Vector2d& x, VectorXd& h) const { h = VectorXd::Constant(1, x[0] - top); }
  void rates(const Vector2d&, const Vector2d& dx, VectorXd& hdot) const { hdot[0] = dx[0]; }
};

TEST(EventSelected, AStoneThatTurnsBackBelowAGuardNeverMeetsIt) {
  // thrown at 10 it rises to 5; the guard is a little higher, well within eps
  for (const double above : {1e-6, 1e-3, 0.05}) {
    Stone stone{5 + above};
    const auto s = integrate(stone, Vector2d(0, 10), {.eps = 0.1, .t_end = 2});
    ASSERT_TRUE(s.finished());
    EXPECT_TRUE(s.events.empty());
    EXPECT_NEAR(s.x[0], 0, 1e-7);
  }
}

TEST(EventSelected, AGuardJustBelowTheTurningPointIsMetThoughTheStepJumpsOverIt) {
  // 5 - 1e-4: met at speed sqrt(2 g 1e-4); one step of the parabola spans the whole flight
  for (const bool exact : {false, true}) {
    Stone stone{5 - 1e-4};
    const auto s = integrate(stone, Vector2d(0, 10), {.eps = 0.01, .exact = exact, .t_end = 2});
    ASSERT_TRUE(s.finished());
    ASSERT_EQ(s.events.size(), 1u);
    EXPECT_NEAR(s.events[0].time, 1 - std::sqrt(2 * 1e-4 / 10), 1e-6);
  }
}

TEST(EventSelected, AGuardThatIsOnlyApproachedIsNotCrossed) {
  // ẋ = -x from -1 comes within eps of x = 0 and never there
  const auto decay = [](const VectorXd& x, const Crossed& crossed) {
    return VectorXd(crossed[0] ? VectorXd::Ones(1) : VectorXd(-x));
  };
  const auto s = integrate(decay, h_line, Dh_line, vector({-1}), {.eps = 0.01, .t_end = 20});
  ASSERT_TRUE(s.finished());
  EXPECT_TRUE(s.events.empty());
  EXPECT_NEAR(s.x[0], -std::exp(-20), 1e-8);
}

// Order of guards, re-arming, neighbourhoods

/// Both coordinates move at speed 1; crossing either guard doubles the speed of the other.
const auto race = [](const Vector2d&, const Crossed& crossed) {
  return Vector2d(crossed[1] ? 2 : 1, crossed[0] ? 2 : 1);
};
const auto h_race = [](const Vector2d& x) { return x; };
const auto Dh_race = [](const Vector2d&) { return Eigen::Matrix2d::Identity().eval(); };

TEST(EventSelected, AStartInsideSeveralNeighbourhoodsProjectsThroughThemInOrder) {
  // y = 0 at t = 0.1, then x at speed 2: 0.1 / 2 later
  const auto s = integrate(race, h_race, Dh_race, Vector2d(-0.2, -0.1), {.eps = 1, .t_end = 1});
  ASSERT_EQ(s.events.size(), 2u);
  EXPECT_EQ(s.events[0].guard, 1);
  EXPECT_NEAR(s.events[0].time, 0.1, 1e-15);
  EXPECT_EQ(s.events[1].guard, 0);
  EXPECT_NEAR(s.events[1].time, 0.15, 1e-15);
  EXPECT_NEAR(s.x[0], 0.85 * 2, 1e-12);
  EXPECT_EQ(s.counts.projections, 2);
}

TEST(EventSelected, AStartOnGuardsCountsThemAsCrossed) {
  const auto s = integrate(race, h_race, Dh_race, Vector2d(0, 0), {.eps = 1, .t_end = 1});
  EXPECT_TRUE(s.events.empty());
  EXPECT_TRUE(s.crossed_start.all());
  EXPECT_NEAR(s.x[0], 2, 1e-12);
}

TEST(EventSelected, AStartOnAGuardLeftDownwardsDoesNotCountItAsCrossed) {
  // at the spring's length and falling: in stance, and lift-off is armed
  Hopper hopper;
  const auto s =
      integrate(hopper, Vector2d(1, -1), {.exact = true, .t_end = 0.1, .reset = Hopper::reset()});
  EXPECT_TRUE(s.crossed_start[0]);
  EXPECT_FALSE(s.crossed_start[1]);
}

TEST(EventSelected, TooLargeEpsTakesGuardsInTheWrongOrderAndCountsThem) {
  // at unit speeds from (-1, -1): h_0 = exp(2x + 2) - exp(1.8) rises through zero at t = 0.9, h_1 =
  // y at t = 1; but from the start h_0 looks 2.5 away. Overrun, it is crossed where x stands.
  const auto f = [](const Vector2d&, const Crossed&) { return Vector2d(1, 1); };
  const auto h = [](const Vector2d& x) {
    return Vector2d(std::exp(2 * x[0] + 2) - std::exp(1.8), x[1]);
  };
  const auto Dh = [](const Vector2d& x) {
    return Vector2d(2 * std::exp(2 * x[0] + 2), 1).asDiagonal().toDenseMatrix();
  };
  const auto coarse = integrate(f, h, Dh, Vector2d(-1, -1), {.eps = 10, .t_end = 2});
  ASSERT_TRUE(coarse.finished());
  ASSERT_EQ(coarse.events.size(), 2u);
  EXPECT_EQ(coarse.events[0].guard, 1);
  EXPECT_EQ(coarse.counts.out_of_order, 1);
  EXPECT_EQ(coarse.events[1].time, coarse.events[0].time);

  const auto fine = integrate(f, h, Dh, Vector2d(-1, -1), {.eps = 1e-2, .t_end = 2});
  ASSERT_EQ(fine.events.size(), 2u);
  EXPECT_EQ(fine.events[0].guard, 0);
  EXPECT_EQ(fine.counts.out_of_order, 0);
  EXPECT_NEAR(fine.events[0].time, 0.9, 1e-6);
}

TEST(EventSelected, EachGuardHasItsOwnEps) {
  OrderTest system;
  const Options base{.exact = true, .t_end = 0.5, .step = {.rtol = 1e-12, .atol = 1e-13}};
  const Eigen::Vector3d exact = integrate(system, OrderTest::start(), base).x;
  const auto error = [&](std::initializer_list<double> eps) {
    Options options = base;
    options.exact = false;
    options.eps_each = vector(eps);
    return (integrate(system, OrderTest::start(), options).x - exact).norm();
  };
  const double fine = error({1e-5, 1e-5, 1e-5}), one = error({1e-5, 1e-2, 1e-5});
  EXPECT_LT(fine, 1e-3 * one);
  EXPECT_GT(one, 1e-5);
}

TEST(EventSelected, WithoutAResetRuleAGuardIsCrossedOnce) {
  // a harmonic oscillator passes x = 0 upwards once in every period
  const auto f = [](const Vector2d& x, const Crossed&) { return Vector2d(x[1], -x[0]); };
  const auto h = [](const Vector2d& x) { return VectorXd(vector({x[0], -x[0]})); };
  const auto Dh = [](const Vector2d&) { return (Eigen::Matrix2d() << 1, 0, -1, 0).finished(); };
  EXPECT_EQ(integrate(f, h, Dh, Vector2d(-1, 0), {.t_end = 20}).events.size(), 1u);
  const auto s = integrate(f, h, Dh, Vector2d(-1, 0), {.t_end = 20, .reset = alternate(1)});
  ASSERT_EQ(s.events.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(s.events[i].time, M_PI * (i + 0.5), 1e-5);
}

TEST(EventSelected, ExactLocationFindsSimultaneousGuardsTogether) {
  const auto s =
      integrate(race, h_race, Dh_race, Vector2d(-0.3, -0.3), {.exact = true, .t_end = 1});
  ASSERT_EQ(s.events.size(), 2u);
  EXPECT_NEAR(s.events[0].time, 0.3, 1e-14);
  EXPECT_NEAR(s.events[1].time, 0.3, 1e-14);
  EXPECT_NEAR(s.x[0], 1.4, 1e-12);
}

TEST(EventSelected, StopsAtTheLimitOfEvents) {
  // a ball bouncing on a stiff spring for ever
  Hopper hopper;
  const auto s = integrate(hopper, hopper.start(),
                           {.t_end = 1e6, .reset = Hopper::reset(), .max_events = 100});
  EXPECT_EQ(s.status, Status::kEventLimit);
  EXPECT_EQ(s.counts.events, 100);
}

// Bad input

TEST(EventSelected, BadInputIsRefusedByName) {
  const auto refuses = [](const Options& options, const std::string& name) {
    try {
      (void)integrate(line(1, 1), h_line, Dh_line, vector({-1}), options);
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
      return;
    }
    ADD_FAILURE() << name << " was accepted";
  };
  refuses({.eps = 0}, "eps");
  refuses({.eps = -1e-3}, "eps");
  refuses({.eps = NAN}, "eps");
  refuses({.eps_each = VectorXd::Ones(2)}, "eps_each");
  refuses({.eps_each = VectorXd::Zero(1)}, "eps_each");
  refuses({.t_start = 1, .t_end = 0.5}, "t_end");
  refuses({.t_end = INFINITY}, "t_end");
  refuses({.reset = {{0}, {0}}}, "reset");
  refuses({.reset = {{3}}}, "reset");
  refuses({.crossed = Crossed::Constant(2, false)}, "crossed");
  refuses({.c = -1}, "c must");
  refuses({.step = {.rtol = 0, .atol = 0}}, "rtol");
  refuses({.step = {.max_step = 0}}, "max_step");
  refuses({.sample_every = -1}, "sample_every");
}

TEST(EventSelected, SizesThatDisagreeAreRefused) {
  const auto two = [](const VectorXd&) { return vector({-1, -1}); };
  EXPECT_THROW((void)integrate(line(1, 1), two, Dh_line, vector({-1})), std::invalid_argument);
  const auto wide = [](const VectorXd&) { return MatrixXd::Ones(1, 2).eval(); };
  EXPECT_THROW((void)integrate(line(1, 1), h_line, wide, vector({-1})), std::invalid_argument);
  const auto long_f = [](const VectorXd&, const Crossed&) { return vector({1, 1}); };
  EXPECT_THROW((void)integrate(long_f, h_line, Dh_line, vector({-1})), std::invalid_argument);
  EXPECT_THROW((void)integrate(line(1, 1), h_line, Dh_line, vector({NAN})), std::invalid_argument);
}

TEST(EventSelected, AFieldThatIsNotFiniteEndsWithAStatusAndTheTime) {
  const auto at_once = integrate(line(NAN, 1), h_line, Dh_line, vector({-1}), {.t_end = 1});
  EXPECT_EQ(at_once.status, Status::kNotFinite);
  EXPECT_EQ(at_once.time, 0);
  const auto after = integrate(line(2, NAN), h_line, Dh_line, vector({-1}), {.t_end = 1});
  EXPECT_EQ(after.status, Status::kNotFinite);
  EXPECT_NEAR(after.time, 0.5, 1e-12);
}

TEST(EventSelected, AnEndAtTheStartReturnsTheStart) {
  const auto s = integrate(line(1, 1), h_line, Dh_line, vector({-1}), {.t_start = 2, .t_end = 2});
  EXPECT_TRUE(s.finished());
  EXPECT_EQ(s.x[0], -1);
  EXPECT_EQ(s.times.size(), 1u);
}

}  // namespace
}  // namespace routh::event_selected
