#include "routh/simulate/hybrid.h"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <chrono>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "routh/ode/dormand_prince.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/zeno.h"

namespace routh {

using Eigen::VectorXd;

namespace {

constexpr double kRootTime = 1e-13;  // roots of guards [s]
constexpr double kGuardZero = 1e-9;  // forces below this, relative, are neither up nor down
constexpr double kDrift = 1e-11;     // of constraints before they are closed again [m], [m/s]
constexpr double kZenoTail = 1e-12;  // a tail shorter than this is passed over in any case [s]

bool closed(Grip grip) { return grip != Grip::kOpen; }
bool slides(Grip grip) { return grip == Grip::kSlidePositive || grip == Grip::kSlideNegative; }

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

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

/// The limbs that have no mass indeed; the others are ordinary bodies and need no law in the air.
std::vector<Limb> massless(const System& system, const State& start, std::vector<Limb> limbs) {
  const Terms terms = system.terms(start.q, start.v, start.time);
  std::erase_if(limbs, [&](const Limb& limb) {
    if (limb.rate && limb.acceleration) {
      throw std::invalid_argument("limb '" + limb.name +
                                  "': give it a rate or an acceleration, not both");
    }
    return limb.coordinate >= 0 && limb.coordinate < system.nv() &&
           terms.M(limb.coordinate, limb.coordinate) > 0;
  });
  return limbs;
}

/// What is watched in a mode: its value crosses zero downwards at an event.
struct Guard {
  enum Kind { kGap, kNormal, kConePositive, kConeNegative, kRest } kind;
  int contact;
  double value = 0;    // at the beginning of the step
  bool armed = false;  // has it been clearly positive since the last event?
  bool muted = false;  // until then
};

}  // namespace

/// One execution, from event to event.
struct Execution {
  const System& system;
  const HybridOptions& o;
  ModeKernel kernel;
  ContactLogic logic;
  ode::DormandPrince<VectorXd> solver;
  ZenoWatch zeno;
  Trajectory log;

  double t;
  VectorXd q, v, x;
  Mode mode;
  ModeKernel::Layout layout;
  std::vector<Guard> guards;
  std::vector<double> gap_rates;  // of the guards that are gaps
  std::deque<double> recent;      // times of the last events
  double next_record;
  bool stopped = false;
  int futile = 0;  // guards that fired at the beginning of a step without an event

  Execution(const System& s, const State& start, const HybridOptions& options)
      : system(s),
        o(options),
        kernel(s, massless(s, start, options.limbs)),
        logic(kernel, options.friction, options.trend_step),
        solver({.rtol = options.rtol, .atol = options.atol, .max_step = options.max_step}),
        t(start.time),
        q(start.q),
        v(start.v),
        next_record(start.time) {}

  int contacts() const { return static_cast<int>(mode.size()); }
  bool flow(double at, const VectorXd& state, VectorXd& dxdt) {
    dxdt.resize(state.size());
    const bool solved = kernel.flow(layout, at, state, dxdt);
    if (!solved) dxdt.setConstant(NAN);
    return solved;
  }
  auto field() {
    return [this](double at, const VectorXd& state, VectorXd& dxdt) { flow(at, state, dxdt); };
  }
  std::string name(const Mode& m) const { return to_string(m, kernel.terms().contacts); }

  // ---------------------------------------------------------------- the start

  /// Closed is what touches and does not separate; the first instant is settled by run().
  void begin() {
    kernel.evaluate(t, q, v);
    const Terms& terms = kernel.terms();
    mode.assign(terms.contacts.size(), Grip::kOpen);
    require(terms.forces.allFinite(), "the forces are not finite at the start");
    for (Eigen::Index i = 0; i < terms.joint_gap.size(); ++i) {
      require(std::abs(terms.joint_gap[i]) <= o.touching,
              "joint row " + std::to_string(i) + " is open by " +
                  std::to_string(terms.joint_gap[i]) + " m at the start; close it");
    }
    for (int k = 0; k < contacts(); ++k) {
      const Contact& c = terms.contacts[k];
      require(c.phi >= -o.touching,
              "contact " + c.name + " penetrates by " + std::to_string(-c.phi) + " m at the start");
    }
    if (o.mode) {
      check_mode(*o.mode);
      mode = *o.mode;
    } else {
      for (int k = 0; k < contacts(); ++k) {
        const double cn = kernel.normal_velocity(k);
        if (terms.contacts[k].phi > o.touching || std::abs(cn) > 1e-6) continue;
        mode[k] = start_grip(k);
      }
    }
    enter(mode);
  }

  /// Contacts at rest grip, others slide.
  Grip start_grip(int k) const {
    const double ct = kernel.tangential_velocity(k);
    if (kernel.terms().contacts[k].mu == 0) return Grip::kSlide;
    if (std::abs(ct) <= std::max(logic.still(k), 1e-9)) return Grip::kStick;
    if (logic.paper_friction(k)) return Grip::kSlide;
    return ct > 0 ? Grip::kSlidePositive : Grip::kSlideNegative;
  }

  void check_mode(const Mode& wanted) const {
    require(wanted.size() == mode.size(),
            "mode must have one entry for each of the " + std::to_string(contacts()) + " contacts");
    for (int k = 0; k < contacts(); ++k) {
      if (!closed(wanted[k])) continue;
      const Contact& c = kernel.terms().contacts[k];
      require(c.phi <= o.touching, "contact " + c.name + " is " + std::to_string(c.phi) +
                                       " m apart at the start, but its mode is closed");
      require(std::abs(kernel.normal_velocity(k)) <= 1e-6,
              "contact " + c.name + " moves at " + std::to_string(kernel.normal_velocity(k)) +
                  " m/s at the start, but its mode is closed");
      require(wanted[k] != Grip::kStick || std::abs(kernel.tangential_velocity(k)) <= 1e-6,
              "contact " + c.name + " slides at " + std::to_string(kernel.tangential_velocity(k)) +
                  " m/s at the start, but its mode is sticking");
    }
  }

  // ---------------------------------------------------------------- events

  /// Takes a mode: its rows, its guards, the state on its constraints.
  void enter(const Mode& next) {
    mode = next;
    kernel.evaluate(t, q, v);
    layout = kernel.layout(mode);
    if (!layout.regular()) kernel.explain_singular(layout);
    kernel.project(layout, t, q, v);
    if (!layout.in_air.empty()) kernel.give_way(layout, t, q, v);
    guards.clear();
    for (int k = 0; k < contacts(); ++k) {
      if (!closed(mode[k])) {
        guards.push_back({Guard::kGap, k});
        continue;
      }
      guards.push_back({Guard::kNormal, k});
      const bool dropped =
          std::any_of(layout.dropped.begin(), layout.dropped.end(),
                      [&](const ModeKernel::Layout::Dropped& d) { return d.contact == k; });
      if (mode[k] == Grip::kStick && !dropped) {
        guards.push_back({Guard::kConePositive, k});
        guards.push_back({Guard::kConeNegative, k});
      }
      if (slides(mode[k])) guards.push_back({Guard::kRest, k});
    }
  }

  /// All transitions at this instant: an impact, then what the forces ask for (P4 theorem 8).
  /// `near`: gaps up to this are closed.
  void settle(double near) {
    for (int transitions = 0; !stopped; ++transitions) {
      kernel.evaluate(t, q, v);
      std::vector<int> scope, hitting;
      for (int k = 0; k < contacts(); ++k) {
        if (closed(mode[k])) {
          scope.push_back(k);
        } else if (kernel.terms().contacts[k].phi <= near) {
          const double cn = kernel.normal_velocity(k), still = logic.still(k);
          if (cn < -still) hitting.push_back(k);
          if (cn <= still) scope.push_back(k);
        }
      }
      if (!hitting.empty()) {
        impact(scope);
      } else if (scope.empty() || !release(scope)) {
        break;
      }
      if (transitions > 20) storm();
    }
    if (!layout.in_air.empty()) {
      kernel.evaluate(t, q, v);
      layout.skims = kernel.skims(layout);
      kernel.move_limbs(layout, t, q, v);
    }
    start_flow();
  }

  /// A unique solution, or the end of the execution.
  bool unique(const ModeChoice& choice, const char* problem) {
    if (choice.modes.size() == 1) return true;
    std::string modes;
    for (const Mode& m : choice.modes) modes.append(modes.empty() ? "" : " ").append(name(m));
    const std::string at = " at t = " + std::to_string(t) + " s after mode " + name(mode);
    if (choice.modes.empty()) {
      stop(SimulationStatus::kJammed,
           std::string("no mode is consistent with ") + problem + at + "; friction jams");
    } else {
      stop(SimulationStatus::kAmbiguous, std::to_string(choice.modes.size()) +
                                             " modes are consistent with " + problem + at + ": " +
                                             modes + "; choose an impact law that decides");
    }
    return false;
  }

  void stop(SimulationStatus status, std::string message) {
    stopped = true;
    log.status = status;
    log.message = std::move(message);
  }

  void impact(const std::vector<int>& scope) {
    record(true);
    Event event{.time = t,
                .kind = EventKind::kImpact,
                .contacts = scope,
                .v_minus = v,
                .mode_before = mode};
    event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(scope.size()));
    Mode next(mode.size(), Grip::kOpen);
    if (o.law) {
      law_impact(scope, event, next);
    } else {
      const ModeChoice choice = logic.impulse_velocity(mode, scope, o.dt_pseudo);
      if (!unique(choice, o.dt_pseudo > 0 ? "PIV" : "IV")) return;
      next = choice.modes[0];
      v = choice.solutions[0].x;
      for (std::size_t i = 0; i < scope.size(); ++i) {
        event.impulse[2 * i] = choice.solutions[0].normal[scope[i]];
        event.impulse[2 * i + 1] = choice.solutions[0].tangential[scope[i]];
      }
    }
    enter(next);
    event.v_plus = v;
    event.mode_after = next;
    note(std::move(event));
    if (!stopped && o.dt_pseudo == 0) pass_zeno();
  }

  /// Any law of the engine; the mode is read off its outcome.
  void law_impact(const std::vector<int>& scope, Event& event, Mode& next) {
    const ReducedImpact reduced = reduce(kernel.terms(), v, scope);
    const ChosenOutcome chosen = o.law(reduced.problem, log.events.size());
    event.outcomes = chosen.outcomes;
    const double still = velocity_tolerance(reduced.problem);
    v = reduced.lift(v, chosen.outcome.impulse);
    for (std::size_t i = 0; i < scope.size(); ++i) {
      const int k = scope[i], tangent = reduced.problem.tangent(static_cast<int>(i));
      event.impulse[2 * i] = chosen.outcome.impulse[i];
      event.impulse[2 * i + 1] = chosen.outcome.impulse[tangent];
      if (chosen.outcome.c_plus[i] > still) continue;
      const double ct = chosen.outcome.c_plus[tangent];
      if (kernel.terms().contacts[k].mu == 0)
        next[k] = Grip::kSlide;
      else if (std::abs(ct) <= still)
        next[k] = Grip::kStick;
      else
        next[k] = logic.paper_friction(k) ? Grip::kSlide
                  : ct > 0                ? Grip::kSlidePositive
                                          : Grip::kSlideNegative;
    }
  }

  /// A transition without impulse when the forces ask for one.
  bool release(const std::vector<int>& scope) {
    if (logic.persists(mode, scope)) return false;
    ModeChoice choice = logic.force_acceleration(mode, scope);
    const int outcomes = static_cast<int>(choice.modes.size());
    if (outcomes > 1 && !o.strict) {
      const Mode least = logic.least_change(mode, scope);
      if (std::find(choice.modes.begin(), choice.modes.end(), least) != choice.modes.end())
        choice.modes = {least};
    }
    if (!unique(choice, "FA")) return false;
    if (choice.modes[0] == mode) return false;
    Event event{.time = t,
                .v_minus = v,
                .outcomes = outcomes,
                .mode_before = mode,
                .mode_after = choice.modes[0]};
    bool lifts = false, slips = false, sticks = false;
    for (int k = 0; k < contacts(); ++k) {
      const Grip from = mode[k], to = choice.modes[0][k];
      if (from == to) continue;
      event.contacts.push_back(k);
      lifts = lifts || !closed(to);
      slips = slips || (closed(from) && closed(to) && to != Grip::kStick);
      sticks = sticks || (closed(from) && to == Grip::kStick);
    }
    event.kind = lifts    ? EventKind::kLiftOff
                 : slips  ? EventKind::kSlip
                 : sticks ? EventKind::kStick
                          : EventKind::kTouchdown;
    event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(event.contacts.size()));
    record(true);
    enter(choice.modes[0]);
    event.v_plus = v;
    note(std::move(event));
    return true;
  }

  void note(Event event) {
    log.modes.push_back(event.mode_after);
    log.events.push_back(std::move(event));
    record(true);
    recent.push_back(t);
    while (!recent.empty() && recent.front() < t - o.storm_time) recent.pop_front();
    if (static_cast<int>(recent.size()) > o.storm_events) storm();
  }

  void storm() {
    if (stopped) return;
    std::string word;
    const std::size_t count = std::min<std::size_t>(6, log.modes.size());
    for (std::size_t i = log.modes.size() - count; i < log.modes.size(); ++i)
      word.append(" ").append(name(log.modes[i]));
    stop(SimulationStatus::kEventStorm,
         std::to_string(recent.size()) + " events within " + std::to_string(o.storm_time) +
             " s at t = " + std::to_string(t) + " s; the last modes:" + word +
             "; a pseudo-impulse may end it");
  }

  /// Past an accumulation point of impacts, when the last ones show its tail.
  void pass_zeno() {
    const auto found = zeno.impact(t, q, v, mode);
    if (!found) return;
    const double tail = found->state.time - t;
    if (found->error > o.zeno_error && tail > kZenoTail) return;
    if (!(tail >= 0) || found->state.time > o.end) return;

    // all constraints of the tail together, corollary 1
    Mode limit(mode.size(), Grip::kOpen);
    for (const Mode& m : found->modes) {
      for (int k = 0; k < contacts(); ++k) {
        if (closed(m[k]) && !closed(limit[k])) limit[k] = m[k];
      }
    }
    kernel.evaluate(found->state.time, found->state.q, found->state.v);
    for (int k = 0; k < contacts(); ++k) {
      if (closed(limit[k]) && std::abs(kernel.terms().contacts[k].phi) > 1e-6) {
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
    log.zeno.push_back({.state = {t, q, v},
                        .ratio = std::pow(found->ratio, 1.0 / found->period),
                        .period = found->period,
                        .error = found->error + o.rtol * t,
                        .event = static_cast<int>(log.events.size())});
    zeno.clear();
    recent.clear();
    note(std::move(event));
  }

  // ---------------------------------------------------------------- flow

  void start_flow() {
    x.resize(q.size() + v.size());
    x << q, v;
    VectorXd dxdt(x.size());
    if (!flow(t, x, dxdt)) {
      if (stopped) return;
      kernel.explain_singular(layout);
    }
    solver.start(t, x, dxdt);
    read_guards();
    for (Guard& g : guards) g.armed = g.value > zero_of(g);
  }

  double guard_value(const Guard& g) const {
    const ModeKernel::Solution& s = kernel.last();
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
    }
    return 0;
  }
  /// Values of a guard up to this are zero.
  double zero_of(const Guard& g) const {
    // limbs that give way stay where they touch, to the accuracy of a step
    if (g.kind == Guard::kGap) return !g.armed && kernel.on_limb(g.contact) ? 1e-7 : 1e-12;
    if (g.kind == Guard::kRest) return 1e-11;
    return kGuardZero * kernel.last().scale;
  }
  void read_guards() {
    gap_rates.assign(guards.size(), 0);
    for (std::size_t i = 0; i < guards.size(); ++i) {
      guards[i].value = guard_value(guards[i]);
      if (guards[i].kind == Guard::kGap) gap_rates[i] = kernel.normal_velocity(guards[i].contact);
    }
  }
  /// A guard at a time within the last step.
  double guard_at(const Guard& g, double at, VectorXd& state, VectorXd& rate) {
    solver.dense(at, state);
    if (!flow(at, state, rate)) return 0;
    return guard_value(g);
  }

  /// One step of the integrator, cut at the first event in it.
  void advance() {
    const ode::StepStatus status = solver.step(field(), o.end);
    if (status != ode::StepStatus::kAccepted) {
      kernel.evaluate(solver.t_old(), solver.x_old().head(q.size()), solver.x_old().tail(v.size()));
      if (status == ode::StepStatus::kStepTooSmall)
        return stop(SimulationStatus::kTooStiff,
                    "the tolerances cannot be met at t = " + std::to_string(solver.t_old()) + " s");
      layout = kernel.layout(mode);
      kernel.explain_singular(layout);
    }
    if (++log.steps > o.max_steps)
      return stop(SimulationStatus::kTooStiff,
                  "the limit of steps is spent at t = " + std::to_string(solver.t()) + " s");
    // the last evaluation of the step was at its end
    std::vector<double> ends(guards.size()), rates(guards.size(), 0);
    for (std::size_t i = 0; i < guards.size(); ++i) {
      ends[i] = guard_value(guards[i]);
      if (guards[i].kind == Guard::kGap) rates[i] = kernel.normal_velocity(guards[i].contact);
    }
    const double scale = kernel.last().scale;
    double first = HUGE_VAL;
    int which = -1;
    bool looked = false;
    for (std::size_t i = 0; i < guards.size(); ++i) {
      const double at = first_crossing(guards[i], ends[i], gap_rates[i], rates[i], looked);
      if (at < first) first = at, which = static_cast<int>(i);
    }
    if (which < 0) {
      accept(ends, rates, scale, looked);
      return;
    }
    take_event(guards[which], first);
  }

  /// The first instant in the step at which a guard crosses zero downwards, or infinity.
  double first_crossing(const Guard& g, double end, double rate0, double rate1, bool& looked) {
    const double t0 = solver.t_old(), t1 = solver.t(), h = t1 - t0;
    const double zero = zero_of(g);
    VectorXd state(x.size()), rate(x.size());
    double from = t0, value = g.value;
    if (g.muted && !g.armed) return HUGE_VAL;
    if (end >= -zero) {
      // a gap that closes and opens again within the step
      if (g.kind != Guard::kGap || !(rate0 < 0 && rate1 > 0) || !g.armed) return HUGE_VAL;
      const double dip = g.value + 0.25 * h * rate0, other = end - 0.25 * h * rate1;
      if (std::min(dip, other) > 0) return HUGE_VAL;
      looked = true;
      const auto gap_rate = [&](double at) {
        (void)guard_at(g, at, state, rate);
        return kernel.normal_velocity(g.contact);
      };
      const double lowest = root(gap_rate, t0, t1, rate0, rate1).second;
      const double least = guard_at(g, lowest, state, rate);
      if (least >= -zero) return HUGE_VAL;
      return root([&](double at) { return guard_at(g, at, state, rate); }, t0, lowest, g.value,
                  least)
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
    return root([&](double at) { return guard_at(g, at, state, rate); }, from, t1, value, end)
        .second;
  }

  template <typename F>
  std::pair<double, double> root(const F& f, double a, double b, double fa, double fb) const {
    if (fa == 0) return {a, a};
    std::uintmax_t iterations = 100;
    return boost::math::tools::toms748_solve(
        f, a, b, fa, fb,
        [](double low, double high) {
          return high - low <= std::max(kRootTime, 4e-16 * std::abs(high));
        },
        iterations);
  }

  /// No event in the step: its end becomes the state.
  void accept(const std::vector<double>& ends, const std::vector<double>& rates, double scale,
              bool looked) {
    (void)scale;
    record_between(solver.t());
    t = solver.t();
    q = solver.x().head(q.size()), v = solver.x().tail(v.size());
    if (looked) {
      VectorXd rate(x.size());
      flow(t, solver.x(), rate);
    }
    measure_drift();
    if (!layout.in_air.empty() && lift_limbs()) return settle(o.simultaneous);
    if (drift > kDrift) {
      kernel.project(layout, t, q, v);
      x << q, v;
      VectorXd dxdt(x.size());
      if (!flow(t, x, dxdt)) kernel.explain_singular(layout);
      solver.start(t, x, dxdt);
    }
    for (std::size_t i = 0; i < guards.size(); ++i) {
      guards[i].value = ends[i];
      gap_rates[i] = rates[i];
      guards[i].armed = guards[i].armed || ends[i] > zero_of(guards[i]);
    }
    record(false);
  }

  /// Limbs in the air at the end of a step: by their law, and not below what they touch. True when
  /// one touches and forces ask for another mode.
  bool lift_limbs() {
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

  double drift = 0;
  /// How far the kernel's state is from the constraints of the mode.
  void measure_drift() {
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

  void take_event(const Guard& g, double at) {
    record_between(at);
    const bool moved = at > solver.t_old();
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
    Mode touching = mode;
    if (g.kind == Guard::kGap) {
      // the state of full order touches a little earlier or later
      const double phi = kernel.terms().contacts[g.contact].phi;
      const double cn = kernel.normal_velocity(g.contact);
      if (moved && std::abs(cn) > 1e-3) {
        const double later = -phi / cn;
        t += later;
        q += later * v;
        v += later * solver.dxdt().tail(v.size());
      }
      touching[g.contact] = Grip::kSlide;
    }
    if (g.kind == Guard::kRest) touching[g.contact] = Grip::kStick;
    const Guard::Kind kind = g.kind;
    const int contact = g.contact;
    const std::size_t events = log.events.size();
    close(touching, g);
    settle(o.simultaneous);
    // a guard that fires again and again without an event is watched once it has been positive
    futile = events == log.events.size() && !moved ? futile + 1 : 0;
    if (futile < 3) return;
    for (Guard& again : guards) again.muted = again.kind == kind && again.contact == contact;
  }

  /// Puts the state on the constraints of the mode and on that of the guard reached.
  void close(const Mode& touching, const Guard& g) {
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

  // ---------------------------------------------------------------- records

  void record(bool event) {
    if (!event && o.every > 0) return;
    push(t, q, v);
    if (o.progress && !event && !o.progress(t)) stop(SimulationStatus::kInterrupted, "interrupted");
  }
  /// States at multiples of `every` up to a time within the last step.
  void record_between(double until) {
    if (!(o.every > 0)) return;
    VectorXd state(x.size());
    while (next_record <= until) {
      if (next_record > solver.t_old()) {
        solver.dense(next_record, state);
        VectorXd velocity = state.tail(v.size());
        kernel.move_limbs(layout, next_record, state.head(q.size()), velocity);
        push(next_record, state.head(q.size()), velocity);
      }
      next_record += o.every;
    }
    if (o.progress && !o.progress(until)) stop(SimulationStatus::kInterrupted, "interrupted");
  }
  void push(double time, const VectorXd& at, const VectorXd& velocity) {
    Terms& terms = energy_terms;
    system.evaluate(time, at, velocity, terms);
    log.time.push_back(time);
    log.q.push_back(at);
    log.v.push_back(velocity);
    log.energy.push_back(kinetic_energy(terms, velocity) + system.potential_energy(at));
    log.mode_at.push_back(static_cast<int>(log.modes.size()) - 1);
  }
  Terms energy_terms;

  void run() {
    begin();
    log.modes.push_back(mode);
    record(true);
    settle(o.touching);
    while (!stopped && o.end - t > 1e-14 * std::max(1.0, std::abs(o.end))) advance();
    log.final = {t, q, v};
    if (log.time.back() < t) push(t, q, v);
    log.lcps = logic.problems();
  }
};

Trajectory simulate(const System& system, const State& start, const HybridOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  validate(system, start, options);
  Execution execution(system, start, options);
  execution.run();
  execution.log.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return std::move(execution.log);
}

Instant instant(const System& system, const State& state, const HybridOptions& options) {
  HybridOptions o = options;
  o.end = state.time + 1;
  validate(system, state, o);
  Execution execution(system, state, o);
  execution.begin();
  if (!o.mode)
    execution.settle(o.touching);
  else
    execution.start_flow();
  if (execution.stopped) throw std::runtime_error(execution.log.message);
  const ModeKernel::Solution& s = execution.kernel.last();
  return {execution.mode, s.x, s.normal, s.tangential};
}

}  // namespace routh
