#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "routh/simulate/execution.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/root.h"
#include "routh/simulate/shared_forces.h"

namespace routh::hybrid {

using Eigen::VectorXd;

namespace {

constexpr double kThrough = 1e-9;    // gaps below this are an event in any case [m]
constexpr double kGuardZero = 1e-9;  // forces below this, relative, are neither up nor down
constexpr double kShared = 1e-6;     // forces that are shared and fail by this, relative
constexpr double kDrift = 1e-11;     // of constraints before they are closed again [m], [m/s]
constexpr double kKink = 1e-5;       // of the velocities: a constraint that turned within a step

/// Where f changes its sign, to 1e-13 s: the last instant before and the first after it.
template <typename F>
std::pair<double, double> root(const F& f, double a, double b, double fa, double fb) {
  return bracketed_root(f, a, b, fa, fb,
                        [](double t) { return std::max(1e-13, 4e-16 * std::abs(t)); });
}

}  // namespace

void Execution::explain() const {
  if (!trouble.empty()) throw std::invalid_argument(trouble);
  kernel.explain_singular(layout);
}

void Execution::start_flow() {
  trouble.clear();
  x.resize(q.size() + v.size());
  x << q, v;
  VectorXd dxdt(x.size());
  if (!flow(t, x, dxdt)) {
    if (recorder.stopped()) return;
    explain();
  }
  solver.start(t, x, dxdt);
  read_guards();
  share_forces();
  for (Guard& g : guards) g.armed = g.value > zero_of(g);
  begins = true;
}

void Execution::share_forces() {
  const auto of_one = [](const Guard& g) {
    return g.kind == Guard::kNormal || g.kind == Guard::kConePositive ||
           g.kind == Guard::kConeNegative;
  };
  const bool shared = std::any_of(guards.begin(), guards.end(),
                                  [](const Guard& g) { return g.kind == Guard::kShared; });
  const bool fails = std::any_of(guards.begin(), guards.end(), [&](const Guard& g) {
    return of_one(g) && g.value < -zero_of(g);
  });
  if (shared || !fails || !kernel.limbs().empty()) return;
  const Mode along = beside(mode, kernel.last().x);
  if (layout.dropped.empty() && std::none_of(along.begin(), along.end(), closed)) return;
  Guard all{Guard::kShared, -1};
  all.value = guard_value(all);
  if (!(all.value >= -zero_of(all))) return;
  std::erase_if(guards, of_one);
  guards.push_back(all);
  read_guards();
}

double Execution::guard_value(const Guard& g) {
  const ModeKernel::Response& s = kernel.last();
  switch (g.kind) {
    case Guard::kGap:
      return kernel.terms().contacts[g.contact].phi;
    case Guard::kNormal:
      return s.normal[g.contact];
    case Guard::kConePositive:
      return s.grip[g.contact] - s.tangential[g.contact];
    case Guard::kConeNegative:
      return s.grip[g.contact] + s.tangential[g.contact];
    case Guard::kRest:
      return kernel.tangential_velocity(g.contact) *
             (mode[g.contact] == Grip::kSlidePositive ? 1 : -1);
    case Guard::kPressed:
      return kernel.sliding_inertia(layout, g.contact);
    case Guard::kShared: {
      double scale = 0;
      const double value = spare_force(kernel.terms(), s.x, mode, beside(mode, s.x), scale);
      return std::isfinite(value) ? value / scale : -1;
    }
  }
  return 0;
}

double Execution::zero_of(const Guard& g) const {
  // limbs that give way stay where they touch, to the accuracy of a step
  if (g.kind == Guard::kGap) return !g.armed && kernel.on_limb(g.contact) ? 1e-7 : 1e-12;
  if (g.kind == Guard::kRest) return 1e-11;
  if (g.kind == Guard::kPressed) return 1e-12;
  if (g.kind == Guard::kShared) return kGuardZero;
  return kGuardZero * kernel.last().scale;
}

void Execution::read_guards() {
  gap_rates.assign(guards.size(), 0);
  for (std::size_t i = 0; i < guards.size(); ++i) {
    guards[i].value = guard_value(guards[i]);
    if (guards[i].kind == Guard::kGap) gap_rates[i] = kernel.normal_velocity(guards[i].contact);
  }
}

double Execution::guard_at(const Guard& g, double at, VectorXd& state, VectorXd& rate) {
  solver.dense(at, state);
  if (g.kind == Guard::kGap) {
    system.gaps(state.head(q.size()), phi, joint_gap);
    if (phi.size() != contacts()) kernel.evaluate(at, state.head(q.size()), state.tail(v.size()));
    return phi[g.contact];
  }
  if (!flow(at, state, rate)) return 0;
  return guard_value(g);
}

void Execution::advance() {
  if (stormy) {
    if (o.strict || !weather()) storm();
    return;
  }
  if (hop()) return;
  begins = false;
  trouble.clear();
  const ode::StepStatus status = solver.step(field(), o.end);
  if (status != ode::StepStatus::kAccepted) {
    const std::string why = trouble;
    kernel.evaluate(solver.t_old(), solver.x_old().head(q.size()), solver.x_old().tail(v.size()));
    if (!why.empty()) throw std::invalid_argument(why);
    if (jams()) return;
    if (status == ode::StepStatus::kStepTooSmall)
      return recorder.stop(SimulationStatus::kTooStiff,
                           "the tolerances cannot be met" + Recorder::at(solver.t_old()));
    layout = kernel.layout(mode);
    kernel.explain_singular(layout);
  }
  if (++log.steps > o.max_steps)
    return recorder.stop(SimulationStatus::kTooStiff,
                         "the limit of steps is spent" + Recorder::at(solver.t_old()));
  // the last evaluation of the step was at its end
  std::vector<double> ends(guards.size()), rates(guards.size(), 0);
  for (std::size_t i = 0; i < guards.size(); ++i) {
    ends[i] = guard_value(guards[i]);
    if (guards[i].kind == Guard::kGap) rates[i] = kernel.normal_velocity(guards[i].contact);
  }
  double first = HUGE_VAL;
  int which = -1;
  bool looked = false;
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const double at = first_crossing(guards[i], ends[i], gap_rates[i], rates[i], looked);
    if (at < first) first = at, which = static_cast<int>(i);
  }
  if (which < 0) {
    accept(ends, rates, looked);
    return;
  }
  take_event(guards[which], first);
}

bool Execution::jams() {
  std::vector<int> scope;
  for (int k = 0; k < contacts(); ++k) {
    if (closed(mode[k])) scope.push_back(k);
  }
  if (std::none_of(mode.begin(), mode.end(), slides)) return false;
  t = kernel.t(), q = kernel.q(), v = kernel.v();
  if (!without_collision(scope)) return false;
  solver = ode::DormandPrince<VectorXd>({.rtol = o.rtol, .atol = o.atol, .max_step = o.max_step});
  settle(o.simultaneous);
  return true;
}

double Execution::first_crossing(const Guard& g, double end, double rate0, double rate1,
                                 bool& looked) {
  const double t0 = solver.t_old(), t1 = solver.t(), h = t1 - t0;
  const double zero = zero_of(g);
  VectorXd state(x.size()), rate(x.size());
  double from = t0, value = g.value;
  if (g.kind == Guard::kPressed && !g.armed)
    return HUGE_VAL;  // it has been so since the last event
  if (g.muted && !g.armed) {
    // it touches without an event; but nothing passes through
    const bool shared = g.kind == Guard::kShared;
    const double through = shared ? kShared : kThrough;
    const bool enters =
        end < -through && g.value > -through &&
        (shared || (g.kind == Guard::kGap && !kernel.on_limb(g.contact) && rate1 < 0));
    if (!enters) return HUGE_VAL;
    looked = true;
    return root([&](double at) { return guard_at(g, at, state, rate) + through; }, t0, t1,
                g.value + through, end + through)
        .second;
  }
  if (end >= -zero) {
    // a gap that closes and opens again within the step
    if (g.kind != Guard::kGap || !(rate0 < 0 && rate1 > 0) || !g.armed) return HUGE_VAL;
    const double dip = g.value + 0.25 * h * rate0, other = end - 0.25 * h * rate1;
    if (std::min(dip, other) > 0) return HUGE_VAL;
    looked = true;
    const auto gap_rate = [&](double at) {
      solver.dense(at, state);
      (void)flow(at, state, rate);
      return kernel.normal_velocity(g.contact);
    };
    const double lowest = root(gap_rate, t0, t1, rate0, rate1).second;
    const double least = guard_at(g, lowest, state, rate);
    if (least >= -zero) return HUGE_VAL;
    return root([&](double at) { return guard_at(g, at, state, rate); }, t0, lowest, g.value, least)
        .second;
  }
  looked = true;
  if (!(value > zero)) {
    // it began at zero: find where it was above, if it ever was
    for (int part = 1; part <= 24 && !(value > 0); ++part) {
      from = t0 + h * std::ldexp(1.0, -part);
      value = guard_at(g, from, state, rate);
    }
    if (!(value > 0)) return t0;
  }
  return root([&](double at) { return guard_at(g, at, state, rate); }, from, t1, value, end).second;
}

void Execution::accept(const std::vector<double>& ends, const std::vector<double>& rates,
                       bool looked) {
  record_between(solver.t());
  since_impact += solver.t() - t;
  if (solver.t() - t > stride) stride = 0;
  t = solver.t();
  q = solver.x().head(q.size()), v = solver.x().tail(v.size());
  if (looked) {
    VectorXd rate(x.size());
    flow(t, solver.x(), rate);
  }
  measure_drift();
  if (turns(o.touching)) return;
  if (!layout.in_air.empty() && lift_limbs()) return settle(o.simultaneous);
  if (drift > kDrift) {
    kernel.project(layout, t, q, v);
    x << q, v;
    VectorXd dxdt(x.size());
    trouble.clear();
    if (!flow(t, x, dxdt)) explain();
    solver.start(t, x, dxdt);
  }
  for (std::size_t i = 0; i < guards.size(); ++i) {
    guards[i].value = ends[i];
    gap_rates[i] = rates[i];
    guards[i].armed = guards[i].armed || ends[i] > zero_of(guards[i]);
  }
  record(false);
}

bool Execution::lift_limbs() {
  kernel.move_limbs(layout, t, q, v);
  std::vector<int> scope;
  for (const ModeKernel::Layout::Skim& skim : layout.skims) {
    const Contact& c = kernel.terms().contacts[skim.contact];
    const int k = kernel.limbs()[skim.limb].coordinate;
    q[k] -= c.phi / c.Jn[k];
    scope.push_back(skim.contact);
  }
  kernel.evaluate(t, q, v);
  const std::vector<ModeKernel::Layout::Skim> now = kernel.skims(layout);
  if (now == layout.skims && now.empty()) return false;
  drift = HUGE_VAL;
  if (now != layout.skims) layout.skims = now;
  for (int k = 0; k < contacts(); ++k) {
    if (closed(mode[k])) scope.push_back(k);
  }
  return !logic.persists(mode, scope);
}

bool Execution::turns(double near) {
  Mode freed = mode;
  for (const int k : layout.normals) {
    const Contact& c = kernel.terms().contacts[k];
    const double size = c.Jn.cwiseAbs().dot(kernel.v().cwiseAbs());
    if (std::abs(kernel.normal_velocity(k)) > std::max(kKink, 1e3 * o.rtol) * size + 1e4 * o.atol)
      freed[k] = Grip::kOpen;
  }
  if (freed == mode) return false;
  change_to(freed, {freed}, 0);
  settle(near);
  return true;
}

void Execution::measure_drift() {
  const Terms& terms = kernel.terms();
  double gap = terms.joint_gap.size() > 0 ? terms.joint_gap.cwiseAbs().maxCoeff() : 0;
  log.max_joint_error = std::max(log.max_joint_error, gap);
  double speed = terms.A.rows() > 0 ? (terms.A * kernel.v()).cwiseAbs().maxCoeff() : 0;
  for (const int k : layout.normals) {
    gap = std::max(gap, std::abs(terms.contacts[k].phi));
    speed = std::max(speed, std::abs(kernel.normal_velocity(k)));
  }
  for (const int k : layout.tangents)
    speed = std::max(speed, std::abs(kernel.tangential_velocity(k)));
  for (const Contact& c : terms.contacts)
    log.max_penetration = std::max(log.max_penetration, -c.phi);
  drift = std::max(gap, speed);
}

void Execution::take_event(const Guard& g, double at) {
  record_between(at);
  const bool moved = at > solver.t_old();
  const double before = t;
  if (moved) {
    solver.shorten(field(), at);
    t = at;
    q = solver.x().head(q.size()), v = solver.x().tail(v.size());
  } else {
    t = solver.t_old();
    q = solver.x_old().head(q.size()), v = solver.x_old().tail(v.size());
  }
  kernel.move_limbs(layout, t, q, v);
  kernel.evaluate(t, q, v);
  if (moved && g.kind != Guard::kGap && turns(o.simultaneous)) return;
  Mode touching = mode;
  if (g.kind == Guard::kGap) {
    // the state of full order touches a little earlier or later
    const double gap = kernel.terms().contacts[g.contact].phi;
    const double cn = kernel.normal_velocity(g.contact);
    if (moved && std::abs(cn) > 1e-3) {
      const double later = -gap / cn;
      t += later;
      q += later * v;
      v += later * solver.dxdt().tail(v.size());
    }
    touching[g.contact] = Grip::kSlide;
  }
  since_impact += t - before;
  if (g.kind == Guard::kRest) touching[g.contact] = Grip::kStick;
  const Guard::Kind kind = g.kind;
  const int contact = g.contact;
  const std::size_t events = log.events.size();
  close(touching, g);
  settle(o.simultaneous);
  // a guard that fires again and again without an event is watched once it has been positive
  futile = events == log.events.size() && !moved ? futile + 1 : 0;
  if (futile < 3) return;
  for (Guard& again : guards)
    again.muted = again.muted || (again.kind == kind && again.contact == contact);
}

void Execution::close(const Mode& touching, const Guard& g) {
  kernel.evaluate(t, q, v);
  VectorXd unchanged = v;
  const ModeKernel::Layout reached = kernel.layout(touching);
  if (g.kind == Guard::kRest) {
    if (reached.regular()) kernel.project(reached, t, q, v);
    return;
  }
  kernel.project(layout, t, q, v);
  if (g.kind == Guard::kGap && reached.regular()) kernel.project(reached, t, q, unchanged);
}

void Execution::record(bool event) {
  if (!event && o.every > 0) return;
  push(t, q, v);
  if (!event) recorder.goes_on(t);
}

void Execution::record_between(double until) {
  if (!(o.every > 0)) return;
  VectorXd state(x.size());
  for (double at = recorder.due(); at <= until; at = recorder.due()) {
    solver.dense(at, state);
    VectorXd velocity = state.tail(v.size());
    kernel.move_limbs(layout, at, state.head(q.size()), velocity);
    push(at, state.head(q.size()), velocity);
  }
  recorder.goes_on(until);
}

void Execution::push(double time, const VectorXd& at, const VectorXd& velocity) {
  recorder.keep(time, at, velocity, energy(time, at, velocity));
  extras.mode_at.push_back(static_cast<int>(extras.modes.size()) - 1);
}

Trajectory Execution::run() {
  begin();
  extras.modes.push_back(mode);
  record(true);
  bool on = recorder.moves(t, [&] { settle(o.touching); });
  while (on && o.end - t > 1e-14 * std::max(1.0, std::abs(o.end)))
    on = recorder.moves(t, [&] { advance(); });
  if (!recorder.kept(t)) push(t, q, v);
  extras.lcps = logic.problems();
  return recorder.finish({t, q, v});
}

}  // namespace routh::hybrid
