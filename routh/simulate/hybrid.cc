#include "routh/simulate/hybrid.h"

#include <cmath>
#include <stdexcept>

#include "routh/simulate/execution.h"

namespace routh {
namespace {

using hybrid::require;

void validate(const System& system, const State& start, const HybridOptions& o) {
  require(system.nq() == system.nv(),
          "hybrid simulation needs coordinates whose rates are the velocities");
  require(start.q.size() == system.nq() && start.v.size() == system.nv(),
          "start: q and v must have " + std::to_string(system.nv()) + " entries");
  require(start.q.allFinite() && start.v.allFinite(), "start: q and v must be finite");
  require(o.end > start.time && std::isfinite(o.end), "end must be later than the start");
  require(o.every >= 0 && std::isfinite(o.every), "every must not be negative");
  require(o.dt_pseudo >= 0 && std::isfinite(o.dt_pseudo), "dt_pseudo must not be negative");
  require(o.rtol > 0 && o.atol > 0, "rtol and atol must be positive");
  require(o.max_step > 0, "max_step must be positive");
  require(o.touching >= 0, "touching must not be negative");
  require(o.trend_step > 0, "trend_step must be positive");
  require(o.max_steps > 0, "max_steps must be positive");
  require(o.storm_events > 1 && o.storm_time > 0, "the limits of an event storm must be positive");
}

}  // namespace

Trajectory simulate(const System& system, const State& start, const HybridOptions& options) {
  validate(system, start, options);
  return hybrid::Execution(system, start, options).run();
}

Instant instant(const System& system, const State& state, const HybridOptions& options) {
  HybridOptions o = options;
  o.end = state.time + 1;
  validate(system, state, o);
  hybrid::Execution execution(system, state, o);
  execution.begin();
  if (!o.mode)
    execution.settle(o.touching);
  else
    execution.start_flow();
  if (execution.recorder.stopped()) throw std::runtime_error(execution.log.message);
  const ModeKernel::Response& s = execution.kernel.last();
  return {execution.mode, s.x, s.normal, s.tangential};
}

}  // namespace routh
