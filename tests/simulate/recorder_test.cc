#include "routh/simulate/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "routh/model/planar.h"
#include "routh/simulate/compliant.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/spring_contacts.h"
#include "routh/simulate/time_stepping.h"

// What all methods keep of a motion, and that none loses it.
namespace routh {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kG = 9.81;

struct Asked {
  double end = 1, every = 0;
  std::function<bool(double)> progress = {};
};
struct Method {
  const char* name;
  std::function<Trajectory(const System&, const State&, const Asked&)> run;
};
std::ostream& operator<<(std::ostream& out, const Method& method) { return out << method.name; }

const std::vector<Method>& methods() {
  static const std::vector<Method> all{
      {"TimeStepping",
       [](const System& system, const State& start, const Asked& a) {
         return simulate(system, start,
                         TimeSteppingOptions{
                             .h = 1e-3, .end = a.end, .every = a.every, .progress = a.progress});
       }},
      {"Hybrid",
       [](const System& system, const State& start, const Asked& a) {
         return simulate(system, start,
                         HybridOptions{.end = a.end, .every = a.every, .progress = a.progress});
       }},
      {"Compliant",
       [](const System& system, const State& start, const Asked& a) {
         return simulate(
             system, start,
             CompliantOptions{
                 .stiffness = {1e4}, .end = a.end, .every = a.every, .progress = a.progress});
       }},
      {"EventSelected", [](const System& system, const State& start, const Asked& a) {
         event_selected::Options o{.t_end = a.end, .sample_every = a.every};
         o.exact = true;
         return simulate(system, start, SpringContactOptions{.integration = o});
       }}};
  return all;
}

/// A point that falls from 1 m for 0.4515 s.
PlanarMechanism falling() {
  PlanarMechanism p;
  p.add(Body{.name = "a", .mass = 2, .inertia = 1});
  p.add(ContactPair{"floor", {0}, Edge{}, 0});
  p.gravity = Eigen::Vector2d(0, -kG);
  return p;
}
const State kStart{0, Vector3d(0, 1, 0), Vector3d(0.3, 0, 0)};

/// On a line above a floor far away; what acts on it and its inertia are given.
struct OnALine : System {
  std::function<double(double t, double v)> force = [](double, double) { return 0.0; };
  std::function<double(double t)> mass = [](double) { return 1.0; };

  int nq() const override { return 1; }
  int nv() const override { return 1; }
  void evaluate(double t, const VectorXd& q, const VectorXd& v, Terms& terms,
                const Wanted&) const override {
    terms = {};
    terms.M.setConstant(1, 1, mass(t));
    terms.forces.setConstant(1, force(t, v[0]));
    terms.A.resize(0, 1);
    terms.joint_gap.resize(0), terms.joint_bias.resize(0);
    Contact floor{.name = "floor", .phi = q[0] + 1e3};
    floor.Jn.setOnes(1), floor.Jt.setZero(1, 1);
    terms.contacts = {floor};
  }
};
const State kAtRest{0, VectorXd::Zero(1), VectorXd::Zero(1)};

/// It stopped near `time`, with all that came before and the reason.
void expect_stopped(const Trajectory& t, SimulationStatus status, double time, const char* why) {
  EXPECT_EQ(t.status, status) << t.message;
  EXPECT_TRUE(t.stopped());
  EXPECT_NE(t.message.find(why), std::string::npos) << t.message;
  EXPECT_NE(t.message.find("t = "), std::string::npos) << t.message;
  EXPECT_NEAR(t.final.time, time, 0.02) << t.message;
  ASSERT_FALSE(t.time.empty());
  EXPECT_EQ(t.time.front(), 0);
  EXPECT_EQ(t.time.back(), t.final.time);
  EXPECT_EQ(t.q.back(), t.final.q);
  EXPECT_TRUE(t.final.q.allFinite() && t.final.v.allFinite());
  EXPECT_EQ(t.q.size(), t.time.size());
  EXPECT_EQ(t.v.size(), t.time.size());
  EXPECT_EQ(t.energy.size(), t.time.size());
}

/// Velocities that have the energy and the momentum.
const std::vector<VectorXd>& moving_at(const Trajectory& t) {
  return t.stepping() ? t.stepping()->v_raw : t.v;
}

class EveryMethod : public ::testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Recorder, EveryMethod, ::testing::ValuesIn(methods()),
                         [](const auto& method) { return std::string(method.param.name); });

TEST_P(EveryMethod, KeepsTheStartTheGridJumpsAndTheEnd) {
  const PlanarMechanism p = falling();
  const Trajectory t = GetParam().run(p, kStart, {.end = 0.95, .every = 0.1});
  EXPECT_EQ(t.status, SimulationStatus::kDone);
  EXPECT_EQ(t.time.front(), 0);
  EXPECT_EQ(t.time.back(), 0.95);
  EXPECT_EQ(t.final.time, 0.95);
  EXPECT_TRUE(std::is_sorted(t.time.begin(), t.time.end()));
  const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9; };
  for (int k = 0; k <= 9; ++k) {
    EXPECT_EQ(std::count_if(t.time.begin(), t.time.end(),
                            [&](double time) { return near(time, 0.1 * k); }),
              1)
        << k;
  }
  for (std::size_t i = 0; i + 1 < t.time.size(); ++i) {
    const bool grid = near(t.time[i], 0.1 * std::round(10 * t.time[i]));
    EXPECT_TRUE(grid || std::any_of(t.events.begin(), t.events.end(),
                                    [&](const Event& e) { return e.time == t.time[i]; }))
        << t.time[i];
  }
  // where the velocity jumps, both sides are kept, unless the side before is only interpolated
  if (std::string(GetParam().name) == "TimeStepping") return;
  for (const Event& e : t.events) {
    if ((e.v_plus - e.v_minus).norm() < 1e-9) continue;
    const auto side = [&](const VectorXd& v) {
      for (std::size_t i = 0; i < t.time.size(); ++i)
        if (t.time[i] == e.time && (t.v[i] - v).norm() < 1e-12) return true;
      return false;
    };
    EXPECT_TRUE(side(e.v_minus) && side(e.v_plus));
  }
}

TEST_P(EveryMethod, KeepsTheEnergyOfEveryState) {
  const PlanarMechanism p = falling();
  const Trajectory t = GetParam().run(p, kStart, {.end = 0.9, .every = 0.05});
  ASSERT_EQ(t.energy.size(), t.time.size());
  for (std::size_t i = 0; i < t.time.size() && t.time[i] < 0.45; ++i) {
    const double kinetic = 0.5 * 2 * moving_at(t)[i].head<2>().squaredNorm();
    EXPECT_NEAR(t.energy[i], kinetic + 2 * kG * t.q[i][1], 1e-6) << t.time[i];
    EXPECT_NEAR(t.energy[i], 0.09 + 2 * kG, 1e-6) << t.time[i];
  }
}

TEST_P(EveryMethod, KeepsTheMotionBeforeAForceThatIsNotFinite) {
  PlanarMechanism p = falling();
  p.add(Force{"wind", [](double t, const VectorXd&, const VectorXd&, VectorXd& forces) {
                forces[0] = t > 0.6 ? NAN : 0;
              }});
  for (const double every : {0.0, 0.1}) {
    const Trajectory t = GetParam().run(p, kStart, {.every = every});
    expect_stopped(t, SimulationStatus::kInvalid, 0.6, "'wind'");
    ASSERT_FALSE(t.events.empty());
    EXPECT_NEAR(t.events[0].time, std::sqrt(2 / kG), 1e-3);
    EXPECT_GE(t.time.size(), every > 0 ? 7u : 3u);
  }
  OnALine line;
  line.force = [](double t, double) { return t > 0.6 ? HUGE_VAL : 1; };
  expect_stopped(GetParam().run(line, kAtRest, {}), SimulationStatus::kInvalid, 0.6,
                 "forces are not finite: that on 'q0' is inf");
}

TEST_P(EveryMethod, KeepsTheMotionBeforeAnInertiaThatIsNotPositive) {
  OnALine line;
  line.mass = [](double t) { return t > 0.4 ? -1 : 1; };
  expect_stopped(GetParam().run(line, kAtRest, {}), SimulationStatus::kInvalid, 0.4,
                 "M is not positive definite");
}

TEST_P(EveryMethod, KeepsAMotionThatRunsAway) {
  // v̇ = v² from 2: infinite at 1/2
  OnALine line;
  line.force = [](double, double v) { return v * v; };
  const Trajectory t = GetParam().run(line, {0, VectorXd::Zero(1), VectorXd::Constant(1, 2)}, {});
  EXPECT_TRUE(t.stopped());
  EXPECT_NE(t.message.find("t = 0.5"), std::string::npos) << t.message;
  EXPECT_NEAR(t.final.time, 0.5, 0.03);
  EXPECT_EQ(t.time.back(), t.final.time);
}

TEST_P(EveryMethod, RefusesAStartFromWhichNothingMoves) {
  OnALine line;
  line.force = [](double, double) { return NAN; };
  EXPECT_THROW((void)GetParam().run(line, kAtRest, {}), std::invalid_argument);
  line.force = [](double, double) { return 1.0; };
  line.mass = [](double) { return -1.0; };
  EXPECT_THROW((void)GetParam().run(line, kAtRest, {}), std::invalid_argument);
}

TEST_P(EveryMethod, KeepsTheLastStateWhenTheCallerEndsIt) {
  if (std::string(GetParam().name) == "EventSelected") GTEST_SKIP() << "has no caller to ask";
  const PlanarMechanism p = falling();
  const Trajectory t =
      GetParam().run(p, kStart, {.every = 0.2, .progress = [](double time) { return time < 0.3; }});
  EXPECT_EQ(t.status, SimulationStatus::kInterrupted);
  EXPECT_LT(t.final.time, 0.95);
  EXPECT_EQ(t.time.back(), t.final.time);
  EXPECT_EQ(t.q.back(), t.final.q);
}

TEST(Recorder, ImpulsesAreThoseOfTheMomentum) {
  // from each state to the next: m Δv = -m g Δt + impulse, and impacts besides
  const PlanarMechanism p = falling();
  const Trajectory stepped =
      simulate(p, kStart, TimeSteppingOptions{.h = 1e-3, .every = 0.1, .impulses = true});
  const Trajectory pressed =
      simulate(p, kStart, CompliantOptions{.stiffness = {1e4}, .every = 0.1, .impulses = true});
  for (const Trajectory* t : {&stepped, &pressed}) {
    ASSERT_EQ(t->impulse.size() + 1, t->time.size());
    for (std::size_t i = 0; i < t->impulse.size(); ++i) {
      double got = t->impulse[i][0];
      for (const Event& e : t->events) {
        const bool between = t->time[i] == t->time[i + 1]
                                 ? e.time == t->time[i]
                                 : t == &stepped && t->time[i] < e.time && e.time <= t->time[i + 1];
        if (between) got += e.impulse[0];
      }
      const double expected = 2 * (moving_at(*t)[i + 1][1] - moving_at(*t)[i][1]) +
                              2 * kG * (t->time[i + 1] - t->time[i]);
      EXPECT_NEAR(got, expected, 1e-6) << t->time[i];
    }
  }
}

TEST(Recorder, LimitsOfStepsKeepWhatWasDone) {
  const PlanarMechanism p = falling();
  const Trajectory hybrid = simulate(p, kStart, HybridOptions{.max_steps = 6});
  expect_stopped(hybrid, SimulationStatus::kTooStiff, hybrid.final.time, "limit of steps");
  EXPECT_GT(hybrid.final.time, 0);
  event_selected::Options o;
  o.max_steps = 4;
  const Trajectory springs = simulate(p, kStart, SpringContactOptions{.integration = o});
  expect_stopped(springs, SimulationStatus::kTooStiff, springs.final.time, "max_steps");
  EXPECT_GT(springs.final.time, 0);
}

TEST(Recorder, EventsAreInTheOrderOfTime) {
  Recorder recorder(0, {});
  recorder.log.events = {{.time = 2}, {.time = 1, .kind = EventKind::kSlip}, {.time = 1}};
  const Trajectory t = recorder.finish({});
  EXPECT_EQ(t.events[0].kind, EventKind::kSlip);
  EXPECT_EQ(t.events[2].time, 2);
}

}  // namespace
}  // namespace routh
