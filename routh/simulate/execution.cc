#include "routh/simulate/execution.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace routh::hybrid {

using Eigen::VectorXd;

namespace {

constexpr std::size_t kSingly = 6;  // contacts up to which impacts without collision are sought
constexpr double kNoForce = 1e-7;   // of the largest: a contact about to lose its force
constexpr int kInstant = 20;        // transitions at an instant

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

}  // namespace

Execution::Execution(const System& s, const State& start, const HybridOptions& options)
    : system(s),
      o(options),
      kernel(s, massless(s, start, options.limbs)),
      logic(kernel, options.friction, options.trend_step),
      solver({.rtol = options.rtol, .atol = options.atol, .max_step = options.max_step}),
      recorder(start.time, {.every = options.every, .progress = options.progress}),
      log(recorder.log),
      extras(log.extras.emplace<HybridExtras>()),
      energy(s),
      t(start.time),
      q(start.q),
      v(start.v) {}

bool Execution::flow(double at, const VectorXd& state, VectorXd& dxdt) {
  dxdt.resize(state.size());
  bool solved = false;
  const bool moves = moves_at(state, trouble, [&] {
    solved = kernel.flow(layout, at, state, dxdt);
    require_motion(system, kernel.terms(), true);
  });
  solved = solved && moves;
  if (!solved) dxdt.setConstant(NAN);
  return solved;
}

void Execution::begin() {
  require(!o.law || kernel.limbs().empty(),
          "law: impacts of limbs without mass have the plastic map alone; leave the law out");
  require(!system.bounces() || kernel.limbs().empty(),
          "restitution: impacts of limbs without mass have the plastic map alone; set it to 0");
  kernel.evaluate(t, q, v);
  const Terms& terms = kernel.terms();
  require_one_tangent(terms, "hybrid simulation");
  mode.assign(terms.contacts.size(), Grip::kOpen);
  require_motion(system, terms, true);
  for (Eigen::Index i = 0; i < terms.joint_gap.size(); ++i) {
    require(std::abs(terms.joint_gap[i]) <= o.touching,
            "joint row " + std::to_string(i) + " is open by " + std::to_string(terms.joint_gap[i]) +
                " m at the start; close it");
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
      // what others hold already is settled with them
      if (!kernel.layout(mode).regular()) mode[k] = Grip::kOpen;
    }
  }
  enter(mode);
}

Grip Execution::start_grip(int k) const {
  const double ct = kernel.tangential_velocity(k);
  if (kernel.terms().contacts[k].mu == 0) return Grip::kSlide;
  if (std::abs(ct) <= std::max(logic.still(k), 1e-9)) return Grip::kStick;
  if (logic.paper_friction(k)) return Grip::kSlide;
  return ct > 0 ? Grip::kSlidePositive : Grip::kSlideNegative;
}

void Execution::check_mode(const Mode& wanted) const {
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

void Execution::enter(const Mode& next) {
  mode = next;
  kernel.tell(mode);
  kernel.evaluate(t, q, v);
  layout = kernel.layout(mode);
  if (!layout.regular()) kernel.explain_singular(layout);
  kernel.project(layout, t, q, v);
  if (!layout.in_air.empty()) kernel.give_way(layout, t, q, v);
  guards.clear();
  for (int k = 0; k < contacts(); ++k) {
    if (!closed(mode[k])) {
      // one that others hold touches as long as they do
      const bool held =
          kernel.limbs().empty() && std::abs(kernel.terms().contacts[k].phi) <= o.simultaneous &&
          std::abs(kernel.normal_velocity(k)) <= logic.still(k) && held_by_others(mode, k);
      guards.push_back({.kind = Guard::kGap, .contact = k, .muted = held});
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
    if (slides(mode[k])) {
      guards.push_back({Guard::kRest, k});
      guards.push_back({Guard::kPressed, k});
    }
  }
}

void Execution::settle(double near) {
  double instant = t;
  for (int transitions = 0; !recorder.stopped(); ++transitions) {
    if (t > instant) instant = t, transitions = 0;
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
    } else if (scope.empty() || (!release(scope) && (recorder.stopped() || !leave_slide()))) {
      break;
    }
    if (transitions > kInstant) {
      // impacts that pass from one contact to the other and back are a storm, modes that alternate
      // without any would do so for ever
      const auto last = std::min<std::size_t>(kInstant, log.events.size());
      stormy = std::any_of(log.events.end() - static_cast<std::ptrdiff_t>(last), log.events.end(),
                           [](const Event& e) { return e.kind == EventKind::kImpact; });
      if (stormy) break;
      storm();
    }
  }
  if (!layout.in_air.empty()) {
    kernel.evaluate(t, q, v);
    layout.skims = kernel.skims(layout);
    kernel.move_limbs(layout, t, q, v);
  }
  start_flow();
}

void Execution::impact(const std::vector<int>& scope) {
  record(true);
  Event event{
      .time = t, .kind = EventKind::kImpact, .contacts = scope, .v_minus = v, .mode_before = mode};
  event.q = q;
  event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(scope.size()));
  Mode next(mode.size(), Grip::kOpen);
  const bool bounces = std::any_of(scope.begin(), scope.end(),
                                   [&](int k) { return kernel.terms().contacts[k].e > 0; });
  if (o.law || bounces) {
    law_impact(scope, event, next);
  } else {
    const char* problem = o.dt_pseudo > 0 ? "PIV" : "IV";
    const ModeChoice choice = logic.impulse_velocity(mode, scope, o.dt_pseudo);
    if (several(choice, problem)) return;
    if (!choice.modes.empty()) {
      const std::size_t taken = decide(choice.modes);
      const ModeKernel::Response& solution = choice.solutions[taken];
      next = choice.modes[taken];
      v = solution.x;
      for (std::size_t i = 0; i < scope.size(); ++i) {
        event.impulse[2 * i] = solution.normal[scope[i]];
        event.impulse[2 * i + 1] = solution.tangential[scope[i]];
      }
      event.outcomes = static_cast<int>(choice.modes.size());
      if (event.outcomes > 1) event.continuations = ways(choice.modes, taken);
    } else if (!complementary_impact(scope, event, next)) {
      return blocked(problem);
    }
  }
  enter(next);
  event.v_plus = v;
  event.mode_after = next;
  // contacts that bounce are closed at the end of their bouncing
  Mode touched = next;
  for (const int k : scope) {
    if (kernel.terms().contacts[k].e > 0 && !closed(touched[k])) touched[k] = start_grip(k);
  }
  note(std::move(event));
  const double span = std::exchange(since_impact, 0);
  if (!recorder.stopped() && o.dt_pseudo == 0) pass_zeno(span, touched);
}

void Execution::law_impact(const std::vector<int>& scope, Event& event, Mode& next) {
  const ReducedImpact reduced = reduce(kernel.terms(), v, scope);
  const ImpactLaw law = o.law ? o.law : impact_law("simultaneous");
  const ChosenOutcome chosen = law(reduced.problem, log.events.size());
  event.outcomes = chosen.outcomes;
  for (const VectorXd& impulse_at : chosen.path)
    event.path.push_back(in_turn(reduced.problem, impulse_at, 1));
  take_outcome(reduced, chosen.outcome, event, next);
}

void Execution::take_outcome(const ReducedImpact& reduced, const Outcome& outcome, Event& event,
                             Mode& next) {
  v = reduced.lift(v, outcome.impulse);
  event.impulse = in_turn(reduced.problem, outcome.impulse, 1);
  next = independent(mode_after(reduced, outcome), reduced, outcome);
}

Mode Execution::mode_after(const ReducedImpact& reduced, const Outcome& outcome) const {
  const double still = velocity_tolerance(reduced.problem);
  Mode next(mode.size(), Grip::kOpen);
  for (std::size_t i = 0; i < reduced.contacts.size(); ++i) {
    const int k = reduced.contacts[i], tangent = reduced.problem.tangent(static_cast<int>(i));
    if (outcome.c_plus[i] > still) continue;
    const double ct = outcome.c_plus[tangent];
    if (kernel.terms().contacts[k].mu == 0)
      next[k] = Grip::kSlide;
    else if (std::abs(ct) <= still)
      next[k] = Grip::kStick;
    else
      next[k] = logic.paper_friction(k) ? Grip::kSlide
                : ct > 0                ? Grip::kSlidePositive
                                        : Grip::kSlideNegative;
  }
  return next;
}

bool Execution::without_collision(const std::vector<int>& scope) {
  std::vector<int> sliding;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (slides(mode[scope[i]])) sliding.push_back(static_cast<int>(i));
  }
  if (sliding.empty() || scope.size() > kSingly) return false;
  const ReducedImpact reduced = reduce(terms_with_mass(), v, scope);
  const auto chosen = impact_without_collision(reduced.problem, sliding);
  if (!chosen) return false;
  record(true);
  Event event{.time = t,
              .kind = EventKind::kImpact,
              .contacts = scope,
              .v_minus = v,
              .outcomes = chosen->outcomes,
              .mode_before = mode};
  event.q = q;
  event.impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(scope.size()));
  Mode next(mode.size(), Grip::kOpen);
  take_outcome(reduced, chosen->outcome, event, next);
  enter(next);
  event.v_plus = v;
  event.mode_after = next;
  note(std::move(event));
  return true;
}

bool Execution::leave_slide() {
  if (told == t) return false;
  if (std::none_of(mode.begin(), mode.end(), slides)) return false;
  kernel.evaluate(t, q, v);
  ModeKernel::Response now;
  if (!kernel.forces(layout, now)) return false;
  std::vector<int> scope, pressed, places;
  for (int k = 0; k < contacts(); ++k) {
    if (!closed(mode[k])) continue;
    if (slides(mode[k]) && now.normal[k] > kNoForce * now.scale &&
        kernel.sliding_inertia(layout, k) <= 0) {
      pressed.push_back(k);
      places.push_back(static_cast<int>(scope.size()));
    }
    scope.push_back(k);
  }
  if (pressed.empty()) return false;

  // what forces allow, the present mode first, and what an impulse does
  std::vector<Continuation> found{{mode}};
  for (const Mode& other : logic.force_acceleration(mode, scope).modes) {
    if (other != mode) found.push_back({other});
  }
  const ReducedImpact reduced = reduce(kernel.terms(), v, scope);
  if (const auto impact = impact_without_collision(reduced.problem, places))
    found.push_back({mode_after(reduced, impact->outcome), true});
  if (found.size() == 1) return false;
  told = t;
  std::swap(found.front(), found[choose(found)]);
  const Continuation taken = found.front();

  std::string ways;
  for (const Continuation& way : found)
    ways.append(ways.empty() ? "" : ", ").append(to_string(way, mode, kernel.terms().contacts));
  const auto count = static_cast<int>(found.size());
  log.events.push_back({.time = t,
                        .kind = EventKind::kAmbiguity,
                        .contacts = pressed,
                        .v_minus = v,
                        .v_plus = v,
                        .q = q,
                        .impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(pressed.size())),
                        .outcomes = count,
                        .mode_before = mode,
                        .mode_after = mode,
                        .continuations = std::move(found)});
  if (o.strict) {
    recorder.stop(SimulationStatus::kAmbiguous,
                  std::to_string(count) + " continuations are consistent" + Recorder::at(t) + ": " +
                      ways + "; without strict logic contacts persist");
    return false;
  }
  if (taken.impact) return without_collision(scope);
  if (taken.mode == mode) return false;
  change_to(taken.mode, {taken.mode}, 0);
  return true;
}

bool Execution::release(const std::vector<int>& scope) {
  if (holds(mode, scope)) return false;
  ModeChoice choice = logic.force_acceleration(mode, scope);
  if (choice.modes.empty()) choice.modes = force_modes(scope);
  if (several(choice, "FA")) return false;
  if (choice.modes.empty()) {
    if (without_collision(scope) || step_over(scope)) return true;
    if (t < o.end) blocked("FA");
    return false;
  }
  // contacts persist (A4)
  std::size_t taken = 0;
  if (choice.modes.size() > 1) {
    const Mode least = logic.least_change(mode, scope);
    const auto known = std::find(choice.modes.begin(), choice.modes.end(), least);
    taken = o.choose || known == choice.modes.end()
                ? decide(choice.modes)
                : static_cast<std::size_t>(known - choice.modes.begin());
  }
  if (choice.modes[taken] == mode) return false;
  change_to(choice.modes[taken], choice.modes, taken);
  return true;
}

void Execution::note(Event event) {
  extras.modes.push_back(event.mode_after);
  log.events.push_back(std::move(event));
  record(true);
  recent.push_back(t);
  while (!recent.empty() && recent.front() < t - o.storm_time) recent.pop_front();
  stormy = static_cast<int>(recent.size()) > o.storm_events;
}

void Execution::storm() {
  if (recorder.stopped()) return;
  std::string word;
  const std::vector<Mode>& modes = extras.modes;
  for (std::size_t i = modes.size() - std::min<std::size_t>(6, modes.size()); i < modes.size(); ++i)
    word.append(" ").append(name(modes[i]));
  recorder.stop(SimulationStatus::kEventStorm, std::to_string(recent.size()) + " events within " +
                                                   std::to_string(o.storm_time) + " s" +
                                                   Recorder::at(t) + "; the last modes:" + word +
                                                   "; a pseudo-impulse may end it, or forces that "
                                                   "do not depend on contact");
}

}  // namespace routh::hybrid
