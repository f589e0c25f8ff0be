#include <algorithm>
#include <cmath>
#include <numeric>

#include "routh/simulate/root.h"
#include "routh/simulate/step_derivative.h"
#include "routh/simulate/stepper.h"

namespace routh::stepping {

using Eigen::VectorXd;

namespace {

constexpr std::size_t kEnumerate = 3;  // contacts up to which all outcomes of an impact are found

/// What lies between two states, as a way from the first: its length and velocity at the fraction s
/// of the step. The cubic of P3 after (4.12), or a line. With γ = 1 the velocity of the cubic
/// swings beyond both ends by a quarter of their difference, and a law of impact is given that
/// energy.
struct Between {
  const VectorXd &v0, &way, &v1;
  double dt;
  bool cubic;

  VectorXd position(double s) const {
    const double r = 1 - s;
    if (!cubic) return s * way;
    return s * r * r * dt * v0 + s * s * (3 - 2 * s) * way - s * s * r * dt * v1;
  }
  VectorXd velocity(double s) const {
    const double r = 1 - s;
    if (!cubic) return r * v0 + s * v1;
    return 6 * s * r / dt * way + r * (1 - 3 * s) * v0 + s * (3 * s - 2) * v1;
  }
};

}  // namespace

double Stepper::first_touch(double dt, const std::vector<int>& closing) {
  const Between path{s.v, way, v_new, dt, !o.law || gamma == 0.5};
  // contacts that are not seen yet lie farther off than any that is
  double far = 0, low_gap = HUGE_VAL, high_gap = HUGE_VAL;
  for (const int k : closing) {
    far = std::max(far, 10 * std::abs(phi_new[k]));
    low_gap = std::min(low_gap, phi[k]);
    high_gap = std::min(high_gap, phi_new[k]);
  }
  if (!(high_gap < 0)) return 1;
  const auto least_gap = [&](double at) {
    q_new = s.q;
    system.integrate(q_new, path.position(at), 1);
    gaps_at(q_new, phi_new, joint_new);
    double least = far;
    for (const int k : closing) least = std::min(least, phi_new[k]);
    return least;
  };
  return bracketed_root(least_gap, 0.0, 1.0, std::min(far, low_gap), high_gap,
                        [](double) { return 1e-14; })
      .second;
}

bool Stepper::collide(double dt) {
  bool taken = false;
  std::vector<int> closing;
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (active[k] || phi_new[k] > 0) continue;
    if (phi[k] > touch() && impacts_in_step < o.impacts_per_step) {
      closing.push_back(static_cast<int>(k));
    } else {
      active[k] = joined[k] = taken = true;
      guesses[k] = Grip::kStick;
    }
  }
  if (taken || closing.empty()) return taken;

  // the first instant at which one of them touches
  const double at = first_touch(dt, closing);
  const Between path{s.v, way, v_new, dt, !o.law || gamma == 0.5};
  add_impulses(at);
  s.time += at * dt;
  system.integrate(s.q, path.position(at), 1);
  s.v = path.velocity(at);
  gaps_at(s.q, phi, joint);
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (phi[k] <= together() && !active[k]) active[k] = true, guesses[k] = Grip::kStick;
  }
  ++impacts_in_step;
  impact();
  return true;
}

bool Stepper::jam() {
  if (alpha == 1 || tangents > 1 || impacts_in_step >= o.impacts_per_step) return false;
  bool jammed = false;
  for (int place = 0; place < solver.contacts(); ++place) {
    const Grip before = guesses[number_of(place)].mode;
    if (solver.mode(place) != Grip::kStick || !pushed_on(place, before)) continue;
    const auto Jt = contact_of(place).Jt.row(0);
    if (std::abs(Jt.dot(s.v)) <= 1e-6 * Jt.cwiseAbs().dot(s.v.cwiseAbs())) continue;
    tell_others(place, before);
    jammed = true;
  }
  if (!jammed) return false;

  const std::vector<int> places = in_solver;
  look(s.time, s.q, s.v, here, {.contacts = vary ? nullptr : &active});
  const ReducedImpact reduced = reduce(here.terms, s.v, places);
  std::vector<int> sliding;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (std::abs(reduced.problem.c[reduced.problem.tangent(static_cast<int>(i))]) > 0)
      sliding.push_back(static_cast<int>(i));
  }
  const auto chosen = impact_without_collision(reduced.problem, sliding);
  if (!chosen) return false;
  ++impacts_in_step;
  Event event = begin_impact();
  take_outcome(reduced, s.v, *chosen, event);
  finish_impact(places, std::move(event));
  return true;
}

void Stepper::impact() {
  known = false;
  look(s.time, s.q, s.v, here, {.contacts = vary ? nullptr : &active});
  std::vector<int> places;
  bool approaching = false;
  for (std::size_t i = 0; i < here.terms.contacts.size(); ++i) {
    if (!active[here.number[i]]) continue;
    places.push_back(static_cast<int>(i));
    const auto& Jn = here.terms.contacts[i].Jn;
    approaching = approaching || Jn.dot(s.v) < -kStill * Jn.cwiseAbs().dot(s.v.cwiseAbs());
  }
  if (!approaching) return;

  Event event = begin_impact();
  const bool bounces = std::any_of(places.begin(), places.end(),
                                   [&](int i) { return here.terms.contacts[i].e > 0; });
  if (o.law || bounces || (places.size() <= kEnumerate && tangents == 1)) {
    impact_by_law(places, event);
  } else {
    impact_by_step(places, event);
  }
  finish_impact(places, std::move(event));
}

Event Stepper::begin_impact() { return {.time = s.time, .v_minus = s.v, .q = s.q}; }

void Stepper::impact_by_law(const std::vector<int>& places, Event& event) {
  ReducedImpact reduced = reduce(here.terms, s.v, places);
  if (reduced.problem.tangents == 2) reduced.problem.edges = o.edges;
  VectorXd v = s.v;
  if (here.terms.A.rows() > 0) {
    v = reduced.Mdag * (here.terms.M * s.v);  // what the joints leave of it
    reduced.problem.c = reduced.J * v;
  }
  const ImpactLaw law = o.law ? o.law : impact_law("simultaneous");
  take_outcome(reduced, v, law(reduced.problem, log.events.size()), event);
}

void Stepper::impact_by_step(const std::vector<int>& places, Event& event) {
  solver.set_inertia(here.terms.M);
  solver.clear();
  for (Eigen::Index i = 0; i < here.terms.A.rows(); ++i)
    solver.add_bilateral(here.terms.A.row(i), here.terms.A.row(i).dot(s.v));
  for (const int i : places) {
    const Contact& contact = here.terms.contacts[i];
    solver.add_contact({contact.Jn, contact.Jt, contact.mu}, s.v, guesses[here.number[i]].mode);
  }
  note_solved(solver.solve(o.tolerance), solver.residual());
  s.v += solver.velocity_change();
  in_solver = places;
  std::vector<int> all(places.size());
  std::iota(all.begin(), all.end(), 0);
  take_solved(all, event);
}

void Stepper::take_solved(const std::vector<int>& places, Event& event) {
  event.impulse.resize((1 + tangents) * std::ssize(places));
  Eigen::Index at = 0;
  for (const int place : places) {
    event.contacts.push_back(told_as(here, in_solver[place]));
    event.impulse.segment(at, 1 + tangents) = solved_impulse(place);
    at += 1 + tangents;
  }
}

void Stepper::take_outcome(const ReducedImpact& reduced, const VectorXd& v,
                           const ChosenOutcome& chosen, Event& event) {
  event.outcomes = chosen.outcomes;
  for (const VectorXd& impulse_at : chosen.path)
    event.path.push_back(in_turn(reduced.problem, impulse_at, reduced.problem.tangents));
  for (const int i : reduced.contacts) event.contacts.push_back(told_as(here, i));
  s.v = reduced.lift(v, chosen.outcome.impulse);
  event.impulse = in_turn(reduced.problem, chosen.outcome.impulse, reduced.problem.tangents);
  note_solved(chosen.outcome.residual <= o.tolerance, chosen.outcome.residual);
}

void Stepper::finish_impact(const std::vector<int>& places, Event event) {
  double fastest = 0;
  for (const int i : places) {
    const Contact& contact = here.terms.contacts[i];
    fastest = std::max(
        {fastest, std::abs(contact.Jn.dot(event.v_minus)), (contact.Jt * event.v_minus).norm()});
  }
  for (const int i : places) {
    const Contact& contact = here.terms.contacts[i];
    const int k = here.number[i];
    active[k] = contact.Jn.dot(s.v) <= kStill * fastest;
    joined[k] = false;
    guesses[k] = active[k] ? sliding(contact, s.v, kStill * fastest) : StepGuess();
    grips[k] = {.pressed = active[k] != 0, .slides = guesses[k].mode != Grip::kStick};
  }
  known = false;
  v_weighted = s.v;
  if (tangent) tangent->lost("an impact lies within a step", s.time);
  event.v_plus = s.v;
  log.events.push_back(std::move(event));
  if (!(o.every > 0) || o.impulses) keep();
}

void Stepper::note_impact(const VectorXd& v_minus, const VectorXd& q_minus) {
  std::vector<int> places;
  for (int place = 0; place < solver.contacts(); ++place) {
    if (solver.normal_impulse(place) <= 0 || grips[number_of(place)].pressed) continue;
    // faster than forces would make it in two steps
    const Contact& contact = contact_of(place);
    const double approach = -normal_rate(contact, v_minus),
                 forced = std::abs(normal_rate(contact, dv));
    if (approach > 2 * forced + kStill * solver.scale()) places.push_back(place);
  }
  if (places.empty()) return;
  Event event{.time = s.time, .v_minus = v_minus, .v_plus = s.v, .q = q_minus};
  take_solved(places, event);
  log.events.push_back(std::move(event));
}

}  // namespace routh::stepping
