#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "routh/impact/draws.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/solve_one.h"
#include "routh/model/kkt.h"
#include "routh/simulate/execution.h"
#include "routh/simulate/shared_forces.h"

/// Where the logic of contacts does not decide: several modes are consistent with the state, or
/// none is that it can name.
namespace routh::hybrid {

using Eigen::VectorXd;

namespace {

constexpr int kAllOutcomes = 6;          // contacts up to which all outcomes are sought
constexpr int kStarts = 20;              // of the search for one outcome where they are more
constexpr double kFirstStride = 1e-7;    // of the short steps [s]; each next one is twice as long
constexpr double kLongestStride = 1e-4;  // [s]
constexpr double kSpeck = 1e-6;          // mass of limbs without any, of the largest there is
constexpr double kSlides = 1e3;          // times what forces do: slips that they do not turn round
constexpr double kSpare = 1e-9;          // forces below this, of the largest, are none
constexpr double kAhead = 1e-5;          // after which forces that nearly fail do so [s]
constexpr double kFails = 1e-8;          // by this, of the largest
constexpr double kJump = 1e3;            // times what forces do in a step: an impact

/// Outcomes of the simultaneous law: all of them where contacts are few, else one.
std::vector<Outcome> outcomes_of(const ImpactProblem& problem) {
  if (problem.contacts() == 0) return {{problem.c, problem.c, 0}};
  if (problem.contacts() > kAllOutcomes) {
    // from rest, then from somewhere
    OneSolver solver(problem);
    const double size = problem.c.cwiseAbs().maxCoeff() / problem.G.diagonal().maxCoeff();
    WalkRandom random(1, 0);
    VectorXd from = VectorXd::Zero(problem.c.size());
    for (int attempt = 0; attempt < kStarts; ++attempt) {
      if (auto one = solver.solve(problem.c, {}, from, 1e-10)) return {*one};
      random.begin_step(attempt);
      from = solver.start(size, {}, [&] { return random(); });
    }
  }
  return simultaneous(problem).outcomes;
}

/// What all impulses together push with.
double pressure(const Outcome& outcome) { return outcome.impulse.cwiseAbs().sum(); }

}  // namespace

std::size_t Execution::choose(const std::vector<Continuation>& among) const {
  return o.choose && among.size() > 1 ? o.choose({mode, among, log.events.size()}) : 0;
}

std::size_t Execution::decide(const std::vector<Mode>& modes) const {
  const std::size_t persists = persisting(modes);
  if (!o.choose) return persists;
  const std::size_t chosen = choose(ways(modes, persists));
  // the persisting one stands first among the ways, the others in their order behind it
  return chosen == 0 ? persists : chosen <= persists ? chosen - 1 : chosen;
}

std::size_t Execution::persisting(const std::vector<Mode>& modes) const {
  std::vector<std::size_t> best;
  long most = -1;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    long kept = 0;
    for (int k = 0; k < contacts(); ++k) kept += closed(mode[k]) && modes[i][k] == mode[k];
    if (kept > most) most = kept, best.clear();
    if (kept == most) best.push_back(i);
  }
  return best[mixed(o.seed, log.events.size()) % best.size()];
}

std::vector<Continuation> Execution::ways(const std::vector<Mode>& modes, std::size_t taken) {
  std::vector<Continuation> all{{modes[taken]}};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    if (i != taken) all.push_back({modes[i]});
  }
  return all;
}

bool Execution::several(const ModeChoice& choice, const char* problem) {
  if (!o.strict || choice.modes.size() < 2) return false;
  std::string modes;
  for (const Mode& m : choice.modes) modes.append(modes.empty() ? "" : " ").append(name(m));
  recorder.stop(SimulationStatus::kAmbiguous,
                std::to_string(choice.modes.size()) + " modes are consistent with " + problem +
                    " after mode " + name(mode) + Recorder::at(t) + ": " + modes +
                    "; choose an impact law that decides");
  return true;
}

Terms Execution::terms_with_mass() const {
  Terms terms = kernel.terms();
  const double largest = terms.M.diagonal().maxCoeff();
  for (const Limb& limb : kernel.limbs()) {
    double& own = terms.M(limb.coordinate, limb.coordinate);
    own = std::max(own, kSpeck * largest);
  }
  return terms;
}

bool Execution::complementary_impact(const std::vector<int>& scope, Event& event, Mode& next) {
  const Terms terms = terms_with_mass();
  const ReducedImpact reduced = reduce(terms, v, scope);
  const std::vector<Outcome> found = outcomes_of(reduced.problem);
  if (found.empty()) return false;
  std::vector<Mode> modes;
  for (const Outcome& outcome : found)
    modes.push_back(independent(mode_after(reduced, outcome), reduced, outcome));
  if (several({modes, {}}, "IV")) return false;
  const std::size_t taken = decide(modes);
  event.outcomes = static_cast<int>(found.size());
  if (found.size() > 1) event.continuations = ways(modes, taken);
  take_outcome(reduced, found[taken], event, next);
  return true;
}

Mode Execution::independent(Mode wanted, const ReducedImpact& reduced,
                            const Outcome& outcome) const {
  // those that press most come first; what they hold needs no others
  std::vector<int> order(reduced.contacts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return outcome.impulse[a] > outcome.impulse[b]; });
  Mode kept(wanted.size(), Grip::kOpen);
  for (const int i : order) {
    const int k = reduced.contacts[i];
    if (!closed(wanted[k])) continue;
    kept[k] = wanted[k];
    if (!kernel.layout(kept).regular()) kept[k] = Grip::kOpen;
  }
  return kept;
}

bool Execution::held_by_others(Mode by, int contact) const {
  by[contact] = Grip::kSlide;
  return !kernel.layout(by).regular();
}

Mode Execution::beside(const Mode& of, const ModeKernel::Response& now) const {
  const VectorXd& acceleration = now.x;
  Mode along(of.size(), Grip::kOpen);
  for (int k = 0; k < contacts(); ++k) {
    const Contact& c = kernel.terms().contacts[k];
    if (closed(of[k]) || c.phi > o.simultaneous) continue;
    const double size = c.Jn.cwiseAbs().dot(acceleration.cwiseAbs()) + std::abs(c.bias_n);
    if (std::abs(kernel.normal_velocity(k)) > logic.still(k) ||
        std::abs(c.Jn.dot(acceleration) + c.bias_n) > kSpare * size + kernel.rounding(now, c.Jn))
      continue;
    const double ct = kernel.tangential_velocity(k), at = c.Jt.row(0).dot(acceleration) + c.bias_t;
    if (!held_by_others(of, k)) continue;
    const bool starts = std::abs(at) > kSpare * size + kernel.rounding(now, c.Jt.row(0));
    const double slip = std::abs(ct) > logic.still(k) ? ct : starts ? at : 0;
    along[k] = c.mu == 0  ? Grip::kSlide
               : slip > 0 ? Grip::kSlidePositive
               : slip < 0 ? Grip::kSlideNegative
                          : Grip::kStick;
  }
  return along;
}

bool Execution::shares_forces(const Mode& wanted, const std::vector<int>& scope) {
  if (!kernel.limbs().empty()) return false;
  const bool paper =
      std::any_of(scope.begin(), scope.end(), [&](int k) { return logic.paper_friction(k); });
  if (paper) return false;
  const ModeKernel::Layout of = kernel.layout(wanted);
  if (!of.regular()) return false;
  ModeKernel::Response now;
  if (!kernel.forces(of, now)) return false;
  // where every force is determined, persists() knows
  const Mode along = beside(wanted, now);
  if (of.dropped.empty() && std::none_of(along.begin(), along.end(), closed)) return false;
  double scale = 0;
  const double spare = spare_force(kernel.terms(), now.x, wanted, along, scale);
  if (!(spare >= -kSpare * scale)) return false;
  if (spare <= kSpare * scale) {
    // about to fail?
    const State here{kernel.t(), kernel.q(), kernel.v()};
    VectorXd next_q = here.q;
    system.integrate(next_q, here.v + 0.5 * kAhead * now.x, kAhead);
    kernel.evaluate(here.time + kAhead, next_q, here.v + kAhead * now.x);
    const bool fails = !kernel.forces(of, now) || !(spare_force(kernel.terms(), now.x, wanted,
                                                                along, scale) >= -kFails * scale);
    kernel.evaluate(here.time, here.q, here.v);
    if (fails) return false;
  }
  return logic.moves_as(wanted, scope);
}

bool Execution::holds(const Mode& wanted, const std::vector<int>& scope) {
  return logic.persists(wanted, scope) || shares_forces(wanted, scope);
}

std::vector<Mode> Execution::force_modes(const std::vector<int>& scope) {
  const Terms terms = terms_with_mass();
  ReducedImpact reduced = reduce(terms, v, scope);
  ImpactProblem& p = reduced.problem;
  const VectorXd a = Mobility(terms.M, terms.A).acceleration(terms.forces, terms.joint_bias);
  VectorXd rates(p.c.size());
  std::vector<int> sliding(scope.size(), 0);
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const Contact& c = terms.contacts[scope[i]];
    const int tangent = p.tangent(static_cast<int>(i));
    rates[static_cast<Eigen::Index>(i)] = c.Jn.dot(a) + c.bias_n;
    rates[tangent] = c.Jt.row(0).dot(a) + c.bias_t;
    if (std::abs(p.c[tangent]) > logic.still(scope[i])) sliding[i] = p.c[tangent] > 0 ? 1 : -1;
  }
  // contacts that slide go on to, whatever forces do
  const double fast = kSlides * rates.lpNorm<Eigen::Infinity>();
  if (!(fast > 0)) return {};
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (sliding[i] != 0) rates[p.tangent(static_cast<int>(i))] = sliding[i] * fast;
  }
  p.c = rates;
  p.e.resize(0);
  std::vector<Mode> found;
  const auto take = [&](const Mode& candidate) {
    if (std::find(found.begin(), found.end(), candidate) == found.end() && holds(candidate, scope))
      found.push_back(candidate);
  };
  for (const Outcome& outcome : outcomes_of(p)) {
    const Mode shown = mode_after(reduced, outcome);
    // a slip that its force stops or turns round jams: an impact
    bool jams = false;
    for (std::size_t i = 0; i < scope.size(); ++i) {
      const Grip grip = shown[scope[i]];
      jams = jams || (sliding[i] != 0 &&
                      (grip == Grip::kStick || (sliding[i] > 0 && grip == Grip::kSlideNegative) ||
                       (sliding[i] < 0 && grip == Grip::kSlidePositive)));
    }
    if (jams) continue;
    take(independent(shown, reduced, outcome));
    // what neither presses nor leaves may be about to leave
    Mode pressing = shown;
    const double most = outcome.impulse.lpNorm<Eigen::Infinity>();
    for (std::size_t i = 0; i < scope.size(); ++i) {
      if (outcome.impulse[static_cast<Eigen::Index>(i)] <= kSpare * most)
        pressing[scope[i]] = Grip::kOpen;
    }
    if (pressing != shown) take(independent(pressing, reduced, outcome));
  }
  return found;
}

std::optional<Execution::ShortStep> Execution::short_step(const std::vector<int>& scope, double h) {
  const Terms terms = terms_with_mass();
  ShortStep step{.near = scope};
  for (int k = 0; k < contacts(); ++k) {
    const bool reached = terms.contacts[k].phi + 2 * h * kernel.normal_velocity(k) <= 0;
    if (reached && std::find(scope.begin(), scope.end(), k) == scope.end()) step.near.push_back(k);
  }
  step.reduced = reduce(terms, v, step.near);
  step.a = Mobility(terms.M, terms.A).acceleration(terms.forces, terms.joint_bias);
  ImpactProblem& p = step.reduced.problem;
  for (std::size_t i = 0; i < step.near.size(); ++i) {
    const Contact& c = terms.contacts[step.near[i]];
    const auto row = static_cast<Eigen::Index>(i);
    p.c[row] += h * (c.Jn.dot(step.a) + c.bias_n) + std::max(0.0, c.phi) / h;
    p.c[p.tangent(static_cast<int>(i))] += h * (c.Jt.row(0).dot(step.a) + c.bias_t);
  }
  p.e.resize(0);
  step.outcomes = outcomes_of(p);
  if (step.outcomes.empty()) return {};
  // forces rather than impulses, where there is a choice
  std::iter_swap(step.outcomes.begin(),
                 std::min_element(step.outcomes.begin(), step.outcomes.end(),
                                  [](const Outcome& one, const Outcome& other) {
                                    return pressure(one) < pressure(other);
                                  }));
  return step;
}

bool Execution::step_over(const std::vector<int>& scope) {
  stride = std::clamp(2 * stride, kFirstStride, kLongestStride);
  const double h = std::min(stride, o.end - t);
  if (!(h > 0)) return false;
  const std::optional<ShortStep> step = short_step(scope, h);
  if (!step) return false;
  const ReducedImpact& reduced = step->reduced;
  const Outcome& taken = step->outcomes.front();
  const VectorXd& a = step->a;
  const Mode next = independent(mode_after(reduced, taken), reduced, taken);

  // a mode that holds needs no step
  if (next != mode && holds(next, scope)) {
    change_to(next, {next}, 0);
    return true;
  }
  const VectorXd push = reduced.W * taken.impulse;
  const bool jump =
      push.cwiseAbs().maxCoeff() > kJump * h * (a.cwiseAbs().maxCoeff() + v.cwiseAbs().maxCoeff());
  record(true);
  Event event{
      .time = t, .contacts = step->near, .v_minus = v, .mode_before = mode, .mode_after = next};
  event.q = q;
  event.outcomes = static_cast<int>(step->outcomes.size());
  v += h * a + push;
  if (!jump) t += h, since_impact += h, q += h * v;
  enter(next);
  event.time = t, event.v_plus = v;
  event.kind = jump ? EventKind::kImpact : kind_of(mode, event.mode_before);
  if (jump) {
    event.impulse = in_turn(reduced.problem, taken.impulse, 1);
  } else {
    event.v_minus = v;
    event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(step->near.size()));
  }
  note(std::move(event));
  return true;
}

bool Execution::weather() {
  if (!kernel.limbs().empty() || system.bounces()) return false;
  // longer where one storm follows another
  const bool again = weathered > 0 && t - calm < 10 * o.storm_time;
  weathered = again ? std::min(2 * weathered, 100 * o.storm_time) : o.storm_time;
  const double until = std::min(o.end, t + weathered);
  record(true);
  Event event{.kind = EventKind::kStorm, .v_minus = v, .mode_before = mode};
  Mode next = mode;
  kernel.evaluate(t, q, v);
  while (t < until) {
    const double h = std::min(kLongestStride, until - t);
    std::vector<int> closed_ones;
    for (int k = 0; k < contacts(); ++k) {
      if (closed(next[k])) closed_ones.push_back(k);
    }
    const std::optional<ShortStep> step = short_step(closed_ones, h);
    if (!step) return false;
    const Outcome& taken = step->outcomes.front();
    next = independent(mode_after(step->reduced, taken), step->reduced, taken);
    v += h * step->a + step->reduced.W * taken.impulse;
    t = until - t > h ? t + h : until, q += h * v;
    enter(next);
    ++log.steps;
    if (o.every == 0 || recorder.due() <= t) push(t, q, v);
    if (!recorder.goes_on(t)) return true;
  }
  calm = t;
  since_impact = 0;
  zeno.clear();
  recent.clear();
  stormy = false;
  for (int k = 0; k < contacts(); ++k) {
    if (closed(next[k])) event.contacts.push_back(k);
  }
  event.time = t, event.v_plus = v, event.mode_after = next;
  event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(event.contacts.size()));
  note(std::move(event));
  settle(o.touching);
  return true;
}

EventKind Execution::kind_of(const Mode& after, const Mode& before) {
  bool lifts = false, slips = false, sticks = false;
  for (std::size_t k = 0; k < after.size(); ++k) {
    const Grip from = before[k], to = after[k];
    if (from == to) continue;
    lifts = lifts || !closed(to);
    slips = slips || (closed(from) && closed(to) && to != Grip::kStick);
    sticks = sticks || (closed(from) && to == Grip::kStick);
  }
  return lifts    ? EventKind::kLiftOff
         : slips  ? EventKind::kSlip
         : sticks ? EventKind::kStick
                  : EventKind::kTouchdown;
}

void Execution::change_to(const Mode& next, const std::vector<Mode>& all, std::size_t taken) {
  Event event{.time = t,
              .kind = kind_of(next, mode),
              .v_minus = v,
              .q = q,
              .outcomes = static_cast<int>(all.size()),
              .mode_before = mode,
              .mode_after = next};
  if (all.size() > 1) event.continuations = ways(all, taken);
  for (int k = 0; k < contacts(); ++k) {
    if (mode[k] != next[k]) event.contacts.push_back(k);
  }
  event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(event.contacts.size()));
  record(true);
  enter(next);
  event.v_plus = v;
  note(std::move(event));
}

void Execution::blocked(const char* problem) {
  if (recorder.stopped()) return;
  recorder.stop(SimulationStatus::kJammed, std::string("no mode is consistent with ") + problem +
                                               " after mode " + name(mode) + Recorder::at(t) +
                                               "; friction jams");
}

}  // namespace routh::hybrid
