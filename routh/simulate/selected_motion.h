#pragma once

#include <functional>

#include "routh/event_selected/integrate.h"
#include "routh/simulate/recorder.h"

/// Event-selected integrations as motions.
namespace routh {

/// How the state x of an event-selected system is shown.
template <class X>
struct SelectedView {
  std::function<Eigen::VectorXd(const X&)> q;
  std::function<Eigen::VectorXd(const X&, const event_selected::Crossed&)> v;
  std::function<double(const X&)> energy = {};       ///< [J]; none: it has no energy
  std::function<double(const X&)> penetration = {};  ///< [m], negative apart; none: not measured
  int contacts = 0;  ///< guards k and k + contacts belong together; 0: they are guards only
};

inline SimulationStatus status_of(event_selected::Status status) {
  switch (status) {
    case event_selected::Status::kFinished:
      return SimulationStatus::kDone;
    case event_selected::Status::kNotFinite:
      return SimulationStatus::kInvalid;
    case event_selected::Status::kStepTooSmall:
    case event_selected::Status::kStepLimit:
      return SimulationStatus::kTooStiff;
    case event_selected::Status::kEventLimit:
      return SimulationStatus::kEventStorm;
    case event_selected::Status::kNotLive:
      break;
  }
  return SimulationStatus::kStopped;
}

/// Integrates from x0. Throws std::invalid_argument naming the argument.
template <class Selected, class X>
Trajectory simulate_selected(Selected& system, const X& x0, const event_selected::Options& options,
                             const SelectedView<X>& view) {
  Recorder recorder(options.t_start, {.every = options.sample_every});
  Trajectory& t = recorder.log;
  const event_selected::Solution<X> s = event_selected::integrate(system, x0, options);
  if (!s.finished()) recorder.stop(status_of(s.status), event_selected::describe(s, options));

  // the mask changes at events; a sample at an event's time belongs to what follows it
  const event_selected::Crossed* crossed = &s.crossed_start;
  std::size_t next = 0;
  for (std::size_t k = 0; k < s.times.size(); ++k) {
    for (; next < s.events.size() && s.events[next].time <= s.times[k]; ++next)
      crossed = &s.events[next].crossed;
    const X& x = s.states[k];
    recorder.keep(s.times[k], view.q(x), view.v(x, *crossed),
                  view.energy ? std::optional(view.energy(x)) : std::nullopt);
    if (view.penetration) t.max_penetration = std::max(t.max_penetration, view.penetration(x));
  }
  crossed = &s.crossed_start;
  for (const auto& e : s.events) {
    const int m = view.contacts;
    t.events.push_back({.time = e.time,
                        .kind = m == 0        ? EventKind::kCrossing
                                : e.guard < m ? EventKind::kTouchdown
                                              : EventKind::kLiftOff,
                        .contacts = {m == 0 ? e.guard : e.guard % m},
                        .v_minus = view.v(e.x, *crossed),
                        .v_plus = view.v(e.x, e.crossed),
                        .impulse = {}});
    crossed = &e.crossed;
  }
  t.steps = s.counts.steps;
  t.extras = EventSelectedExtras{s.counts};
  return recorder.finish({s.time, view.q(s.x), view.v(s.x, s.crossed)});
}

}  // namespace routh
