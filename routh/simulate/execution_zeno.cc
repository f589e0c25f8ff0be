#include <algorithm>
#include <cmath>

#include "routh/simulate/execution.h"

/// Impacts that accumulate: hops too low for the integrator, and what follows after all of them.
namespace routh::hybrid {

using Eigen::VectorXd;

namespace {

constexpr double kZenoTail = 1e-12;  // a tail shorter than this is passed over in any case [s]
constexpr double kLowHop = 1e-11;    // hops up to this height are parabolas [m]
constexpr double kAtRest = 1e-3;     // of the velocity that is left: contacts of the limit rest

}  // namespace

/// A contact that leaves by so little that its flight is lost in the zero of its guard: along the
/// parabola of its acceleration, whose duration is known as well as its velocity.
bool Execution::hop() {
  if (!begins || !layout.in_air.empty()) return false;
  const VectorXd& a = kernel.last().x;
  const auto acceleration = [&](int k) {
    const Contact& c = kernel.terms().contacts[k];
    return c.Jn.dot(a) + c.bias_n;
  };
  double flight = HUGE_VAL;
  const Guard* lands = nullptr;
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const Guard& g = guards[i];
    if (g.kind != Guard::kGap || std::abs(g.value) > o.simultaneous) continue;
    const double rate = gap_rates[i], pull = -acceleration(g.contact);
    if (!(rate > logic.still(g.contact)) || !(pull > 0) || rate * rate > 2 * pull * kLowHop)
      continue;
    if (2 * rate / pull < flight) flight = 2 * rate / pull, lands = &g;
  }
  if (!lands || t + flight > o.end) return false;

  // nothing else may happen meanwhile
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const Guard& g = guards[i];
    if (g.kind == Guard::kGap && std::abs(g.value) > o.simultaneous) {
      const double way =
          flight * (std::abs(gap_rates[i]) + flight * std::abs(acceleration(g.contact)));
      if (g.value <= 2 * way) return false;
    }
    if (g.kind == Guard::kRest) {
      const Contact& c = kernel.terms().contacts[g.contact];
      if (g.value <= 2 * flight * std::abs(c.Jt.row(0).dot(a) + c.bias_t)) return false;
    }
  }
  begins = false;
  t += flight;
  since_impact += flight;
  q += flight * (v + 0.5 * flight * a);
  v += flight * a;
  Mode touching = mode;
  touching[lands->contact] = Grip::kSlide;
  const Guard reached = *lands;
  close(touching, reached);
  settle(o.simultaneous);
  return true;
}

void Execution::pass_zeno(double span, const Mode& touched) {
  const auto found = zeno.impact(span, {t, q, v}, touched);
  if (!found) return;
  const double tail = found->state.time - t;
  if (found->error > o.zeno_error && tail > kZenoTail) return;
  if (!(tail >= 0) || found->state.time > o.end) return;

  // all constraints of the tail together, corollary 1; what others hold already stays open
  Mode limit(mode.size(), Grip::kOpen);
  for (const Mode& m : found->modes) {
    for (int k = 0; k < contacts(); ++k) {
      if (!closed(m[k]) || closed(limit[k])) continue;
      limit[k] = m[k];
      if (!kernel.layout(limit).regular()) limit[k] = Grip::kOpen;
    }
  }
  const double fastest = v.cwiseAbs().maxCoeff() + found->state.v.cwiseAbs().maxCoeff();
  kernel.evaluate(found->state.time, found->state.q, found->state.v);
  for (int k = 0; k < contacts(); ++k) {
    if (closed(limit[k]) && (std::abs(kernel.terms().contacts[k].phi) > 1e-6 ||
                             std::abs(kernel.normal_velocity(k)) > kAtRest * fastest)) {
      kernel.evaluate(t, q, v);
      return;
    }
  }
  Event event{.time = found->state.time,
              .kind = EventKind::kZeno,
              .v_minus = v,
              .mode_before = mode,
              .mode_after = limit};
  for (int k = 0; k < contacts(); ++k) {
    if (closed(limit[k])) event.contacts.push_back(k);
  }
  event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(event.contacts.size()));
  t = found->state.time, q = found->state.q, v = found->state.v;
  enter(limit);
  event.v_plus = v;
  extras.zeno.push_back({.state = {t, q, v},
                         .ratio = std::pow(std::abs(found->ratio), 1.0 / found->period),
                         .period = found->period,
                         .error = found->error + o.rtol * t,
                         .event = static_cast<int>(log.events.size())});
  zeno.clear();
  recent.clear();
  note(std::move(event));
}

}  // namespace routh::hybrid
