#include <benchmark/benchmark.h>

#include "routh/io/scenario.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/time_stepping.h"

namespace {

using namespace routh;

/// A walker with five velocities whose stiff feet tap the ground again and again: two legs with
/// mass on springs, dropped. Counts events and the time for each.
void execution(benchmark::State& state, const std::string& name, HybridOptions options,
               const std::vector<io::Override>& set = {}) {
  const io::Scenario s = io::load_scenario(name, set);
  options.limbs = s.limbs;
  std::size_t events = 0;
  for (auto _ : state) {
    const Trajectory t = simulate(*s.mechanism, {0, s.q, s.v}, options);
    events = t.events.size();
    benchmark::DoNotOptimize(t.final.q.data());
  }
  state.counters["events"] = static_cast<double>(events);
  state.counters["us/event"] = benchmark::Counter(
      static_cast<double>(events) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void hybrid_rocking_block(benchmark::State& state) {
  execution(state, "rocking-block-p4", {.end = 0.434, .every = 1, .zeno_error = 1e-15});
}
void hybrid_leap(benchmark::State& state) {
  execution(state, "rhex-leap", {.end = 0.5, .every = 1, .dt_pseudo = 0.03});
}
void hybrid_hopping_leap(benchmark::State& state) {
  // the tail hits the ground again and again: a robot with five velocities and 100 events
  execution(state, "rhex-vertical-leap",
            {.end = 4, .every = 4, .dt_pseudo = 0, .rtol = 1e-6, .atol = 1e-8});
}

/// Position error at the end against the hybrid execution, time-stepping at step h.
void time_stepping_rocking_block(benchmark::State& state) {
  const io::Scenario s = io::load_scenario("rocking-block-p4");
  const double end = 0.25, h = 1.0 / static_cast<double>(state.range(0));
  const Trajectory exact = simulate(*s.mechanism, {0, s.q, s.v},
                                    HybridOptions{.end = end, .rtol = 1e-11, .atol = 1e-13});
  double error = 0;
  for (auto _ : state) {
    const Trajectory t = simulate(*s.mechanism, {0, s.q, s.v},
                                  TimeSteppingOptions{.h = h, .end = end, .every = end});
    error = (t.final.q - exact.final.q).norm();
  }
  state.counters["error"] = error;
}
void hybrid_rocking_block_accuracy(benchmark::State& state) {
  const io::Scenario s = io::load_scenario("rocking-block-p4");
  const double end = 0.25, rtol = std::pow(10.0, -static_cast<double>(state.range(0)));
  const Trajectory exact = simulate(*s.mechanism, {0, s.q, s.v},
                                    HybridOptions{.end = end, .rtol = 1e-11, .atol = 1e-13});
  double error = 0;
  for (auto _ : state) {
    const Trajectory t =
        simulate(*s.mechanism, {0, s.q, s.v},
                 HybridOptions{.end = end, .every = end, .rtol = rtol, .atol = 1e-2 * rtol});
    error = (t.final.q - exact.final.q).norm();
  }
  state.counters["error"] = error;
}

BENCHMARK(hybrid_rocking_block)->Unit(benchmark::kMicrosecond);
BENCHMARK(hybrid_leap)->Unit(benchmark::kMicrosecond);
BENCHMARK(hybrid_hopping_leap)->Unit(benchmark::kMicrosecond);
BENCHMARK(time_stepping_rocking_block)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(hybrid_rocking_block_accuracy)->Arg(4)->Arg(6)->Arg(9)->Unit(benchmark::kMicrosecond);

}  // namespace
