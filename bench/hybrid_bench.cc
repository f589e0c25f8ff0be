#include <benchmark/benchmark.h>

#include <cmath>

#include "routh/io/scenario.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/time_stepping.h"

namespace {

using namespace routh;

void count_events(benchmark::State& state, std::size_t events) {
  state.counters["events"] = static_cast<double>(events);
  state.counters["time/event"] = benchmark::Counter(
      static_cast<double>(events),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// A trunk with two swinging arms rocks from foot to foot: five velocities, about 100 events.
void hybrid_robot(benchmark::State& state) {
  const double width = 0.1, height = 0.4, tilt = 0.1;
  PlanarMechanism m;
  const int trunk =
      m.add(Body{.name = "trunk", .mass = 5, .inertia = box_inertia(5, width, height)});
  for (const double side : {-1.0, 1.0}) {
    m.add(Body{.name = side < 0 ? "left arm" : "right arm",
               .parent = trunk,
               .joint = Joint::kRevolute,
               .at = {0.03 * side, 0.1},
               .mass = 0.3,
               .inertia = 0.001,
               .centre = {0, -0.1}});
    m.add(
        ContactPair{side < 0 ? "l" : "r", {trunk, {side * width / 2, -height / 2}, 0}, Edge{}, 1});
  }
  Eigen::VectorXd q = Eigen::VectorXd::Zero(5);
  q[1] = width / 2 * std::sin(tilt) + height / 2 * std::cos(tilt), q[2] = tilt;
  const double rtol = std::pow(10.0, -static_cast<double>(state.range(0)));
  std::size_t events = 0;
  for (auto _ : state) {
    const Trajectory t =
        simulate(m, {0, q, Eigen::VectorXd::Zero(5)},
                 HybridOptions{.end = 20, .every = 20, .rtol = rtol, .atol = 1e-2 * rtol});
    events = t.events.size();
  }
  count_events(state, events);
}

void hybrid_leap(benchmark::State& state) {
  const io::Scenario s = io::load_scenario("rhex-leap");
  std::size_t events = 0;
  for (auto _ : state) {
    const Trajectory t =
        simulate(*s.mechanism(), {0, s.q, s.v},
                 HybridOptions{.end = 0.5, .every = 1, .dt_pseudo = 0.03, .limbs = s.limbs()});
    events = t.events.size();
  }
  count_events(state, events);
}

/// Position error at the end against the hybrid execution, time-stepping at step h.
void time_stepping_rocking_block(benchmark::State& state) {
  const io::Scenario s = io::load_scenario("rocking-block-p4");
  const double end = 0.25, h = 1.0 / static_cast<double>(state.range(0));
  const Trajectory exact = simulate(*s.mechanism(), {0, s.q, s.v},
                                    HybridOptions{.end = end, .rtol = 1e-11, .atol = 1e-13});
  double error = 0;
  for (auto _ : state) {
    const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                  TimeSteppingOptions{.h = h, .end = end, .every = end});
    error = (t.final.q - exact.final.q).norm();
  }
  state.counters["error"] = error;
}
void hybrid_rocking_block_accuracy(benchmark::State& state) {
  const io::Scenario s = io::load_scenario("rocking-block-p4");
  const double end = 0.25, rtol = std::pow(10.0, -static_cast<double>(state.range(0)));
  const Trajectory exact = simulate(*s.mechanism(), {0, s.q, s.v},
                                    HybridOptions{.end = end, .rtol = 1e-11, .atol = 1e-13});
  double error = 0;
  for (auto _ : state) {
    const Trajectory t =
        simulate(*s.mechanism(), {0, s.q, s.v},
                 HybridOptions{.end = end, .every = end, .rtol = rtol, .atol = 1e-2 * rtol});
    error = (t.final.q - exact.final.q).norm();
  }
  state.counters["error"] = error;
}

BENCHMARK(hybrid_robot)->Arg(4)->Arg(6)->Arg(9)->Unit(benchmark::kMicrosecond);
BENCHMARK(hybrid_leap)->Unit(benchmark::kMicrosecond);
BENCHMARK(time_stepping_rocking_block)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(hybrid_rocking_block_accuracy)->Arg(4)->Arg(6)->Arg(9)->Unit(benchmark::kMicrosecond);

}  // namespace
