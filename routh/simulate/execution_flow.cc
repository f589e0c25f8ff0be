#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "routh/simulate/execution.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/shared_forces.h"

namespace routh::hybrid {

using Eigen::VectorXd;

namespace {

constexpr double kGuardZero = 1e-9;  // forces below this, relative, are neither up nor down
constexpr double kDrift = 1e-11;     // of constraints before they are closed again [m], [m/s]
constexpr int kLandings = 4;         // steps to where a gap closes
constexpr double kLate = 0.1;        // of a step: a gap that closes later than this only grazes
constexpr double kSlightly = 1e-7;   // of a step: along a straight line
constexpr double kKink = 1e-5;       // of the velocities: a constraint that turned within a step

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
  const Mode along = beside(mode, kernel.last());
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
      const double value = spare_force(kernel.terms(), s.x, mode, beside(mode, s), scale);
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

void Execution::advance() {
  if (stormy) {
    if (o.strict || !weather()) storm();
    return;
  }
  if (hop()) return;
  begins = false;
  trouble.clear();
  bends.resize(0);
  elsewhere = false;
  glimpsed = HUGE_VAL;
  const ode::StepStatus status = solver.step(watched_field(), o.end);
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
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const double at = first_crossing(guards[i], ends[i], gap_rates[i], rates[i]);
    if (at < first) first = at, which = static_cast<int>(i);
  }
  if (which < 0) {
    accept(ends, rates);
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

void Execution::accept(const std::vector<double>& ends, const std::vector<double>& rates) {
  record_between(solver.t());
  measure_between(solver.t());
  since_impact += solver.t() - t;
  if (solver.t() - t > stride) stride = 0;
  t = solver.t();
  q = solver.x().head(q.size()), v = solver.x().tail(v.size());
  if (elsewhere) {
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
  const bool moved = at > solver.t_old();
  const double before = t;
  if (moved)
    land(g, at);
  else
    t = solver.t_old(), q = solver.x_old().head(q.size()), v = solver.x_old().tail(v.size());
  record_between(t);
  if (moved) measure_between(t);
  kernel.move_limbs(layout, t, q, v);
  kernel.evaluate(t, q, v);
  since_impact += t - before;
  if (moved && g.kind != Guard::kGap && turns(o.simultaneous)) return;
  Mode touching = mode;
  if (g.kind == Guard::kGap) touching[g.contact] = Grip::kSlide;
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

void Execution::land(const Guard& g, double at) {
  const double begin = solver.t_old(), end = solver.t();
  double later = 0;
  for (int attempt = 0; attempt < kLandings; ++attempt) {
    if (!solver.shorten(field(), at)) {
      // towards a singular pose: what dense output says there
      solver.dense(at, x);
      q = x.head(q.size()), v = x.tail(v.size());
      break;
    }
    q = solver.x().head(q.size()), v = solver.x().tail(v.size());
    if (g.kind != Guard::kGap) break;
    // the state of full order touches a little earlier or later than dense output said
    kernel.move_limbs(layout, at, q, v);
    kernel.evaluate(at, q, v);
    later = -kernel.terms().contacts[g.contact].phi / kernel.normal_velocity(g.contact);
    if (!(std::abs(later) <= kLate * (end - begin))) later = 0;  // it grazes: close() does the rest
    const double next = std::clamp(at + later, begin, end);
    const bool near = !(next > begin) || std::abs(next - at) <= kSlightly * (at - begin);
    if (near || attempt + 1 == kLandings) break;
    at = next;
  }
  t = std::clamp(at + later, begin, end);
  if (t == at) return;
  q += (t - at) * v;
  v += (t - at) * solver.dxdt().tail(v.size());
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
