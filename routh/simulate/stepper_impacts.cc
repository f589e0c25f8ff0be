#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>

#include "routh/simulate/stepper.h"

namespace routh::stepping {

using Eigen::VectorXd;

namespace {

constexpr std::size_t kEnumerate = 3;  // contacts up to which all outcomes of an impact are found

/// Cubic through two states, P3 after (4.12): value and derivative at the fraction s of the step.
struct Cubic {
  const VectorXd &q0, &v0, &q1, &v1;
  double dt;

  void position(double s, VectorXd& q) const {
    const double r = 1 - s;
    q = (1 + 2 * s) * r * r * q0 + s * r * r * dt * v0 + s * s * (3 - 2 * s) * q1 -
        s * s * r * dt * v1;
  }
  void velocity(double s, VectorXd& v) const {
    const double r = 1 - s;
    v = 6 * s * r / dt * (q1 - q0) + r * (1 - 3 * s) * v0 + s * (3 * s - 2) * v1;
  }
};

}  // namespace

bool Stepper::collide(double dt) {
  bool taken = false, hit = false;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i] || phi_new[i] > 0) continue;
    if (phi[i] > touch() && impacts_in_step < o.impacts_per_step) {
      hit = true;
    } else {
      active[i] = joined[i] = taken = true;
      modes[i] = StepMode::kStick;
    }
  }
  if (taken || !hit) return taken;

  // the first instant at which one of them touches
  const Cubic cubic{s.q, s.v, q_new, v_new, dt};
  const VectorXd before = phi, after = phi_new;
  VectorXd q(s.q.size());
  const auto least_gap = [&](double at) {
    cubic.position(at, q);
    system.gaps(q, phi_new, joint_new);
    double least = HUGE_VAL;
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (!active[i] && after[i] <= 0) least = std::min(least, phi_new[i]);
    }
    return least;
  };
  double low_gap = HUGE_VAL, high_gap = HUGE_VAL;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i] || after[i] > 0) continue;
    low_gap = std::min(low_gap, before[i]);
    high_gap = std::min(high_gap, after[i]);
  }
  double at = 1;
  if (high_gap < 0) {
    std::uintmax_t iterations = 100;
    const auto [low, high] = boost::math::tools::toms748_solve(
        least_gap, 0.0, 1.0, low_gap, high_gap, [](double a, double b) { return b - a <= 1e-14; },
        iterations);
    at = high;
  }
  VectorXd v(s.v.size());
  cubic.velocity(at, v);
  cubic.position(at, q);
  s.time += at * dt;
  s.q = q, s.v = v;
  system.gaps(s.q, phi, joint);
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (phi[i] <= touch() && !active[i]) active[i] = true, modes[i] = StepMode::kStick;
  }
  ++impacts_in_step;
  add_impulses(at);
  impact();
  return true;
}

bool Stepper::jam() {
  if (alpha == 1 || impacts_in_step >= o.impacts_per_step) return false;
  bool jammed = false;
  for (std::size_t k = 0; k < in_solver.size(); ++k) {
    const int place = static_cast<int>(k), i = in_solver[k];
    const auto Jt = terms.contacts[i].Jt.row(0);
    if (solver.mode(place) != StepMode::kStick || !pressed_on(place, modes[i]) ||
        std::abs(Jt.dot(s.v)) <= 1e-6 * Jt.cwiseAbs().dot(s.v.cwiseAbs()))
      continue;
    tell_others(place, modes[i]);
    jammed = true;
  }
  if (!jammed) return false;

  system.evaluate(s.time, s.q, s.v, terms, &active);
  Event event{.time = s.time, .contacts = in_solver, .v_minus = s.v};
  VectorXd impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(in_solver.size()));
  const ReducedImpact reduced = reduce(terms, s.v, in_solver);
  std::vector<int> sliding;
  for (std::size_t i = 0; i < in_solver.size(); ++i) {
    if (std::abs(reduced.problem.c[reduced.problem.tangent(static_cast<int>(i))]) > 0)
      sliding.push_back(static_cast<int>(i));
  }
  const auto chosen = impact_without_collision(reduced.problem, sliding);
  if (!chosen) return false;
  ++impacts_in_step;
  take_outcome(reduced, s.v, *chosen, event, impulse);
  finish_impact(std::move(event), std::move(impulse));
  return true;
}

void Stepper::impact() {
  system.evaluate(s.time, s.q, s.v, terms, &active);
  Event event{.time = s.time, .v_minus = s.v};
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i]) event.contacts.push_back(static_cast<int>(i));
  }
  VectorXd impulse = VectorXd::Zero(2 * static_cast<Eigen::Index>(event.contacts.size()));

  if (o.law || event.contacts.size() <= kEnumerate) {
    impact_by_law(event, impulse);
  } else {
    impact_by_step(event, impulse);
  }

  finish_impact(std::move(event), std::move(impulse));
}

void Stepper::impact_by_law(Event& event, VectorXd& impulse) {
  ReducedImpact reduced = reduce(terms, s.v, event.contacts);
  VectorXd v = s.v;
  if (terms.A.rows() > 0) {
    v = reduced.Mdag * (terms.M * s.v);  // what the joints leave of it
    reduced.problem.c = reduced.J * v;
  }
  const ImpactLaw law = o.law ? o.law : impact_law("simultaneous");
  take_outcome(reduced, v, law(reduced.problem, log.events.size()), event, impulse);
}

void Stepper::impact_by_step(const Event& event, VectorXd& impulse) {
  solver.set_inertia(terms.M);
  solver.clear();
  for (Eigen::Index i = 0; i < terms.A.rows(); ++i)
    solver.add_bilateral(terms.A.row(i), terms.A.row(i).dot(s.v));
  for (const int i : event.contacts) {
    const Contact& contact = terms.contacts[i];
    solver.add_contact({contact.Jn, contact.Jt, contact.mu}, s.v, modes[i]);
  }
  note_solved(solver.solve(o.tolerance), solver.residual());
  s.v += solver.velocity_change();
  for (std::size_t i = 0; i < event.contacts.size(); ++i) {
    impulse[2 * i] = solver.normal_impulse(static_cast<int>(i));
    impulse[2 * i + 1] = solver.tangential_impulse(static_cast<int>(i));
  }
}

void Stepper::take_outcome(const ReducedImpact& reduced, const VectorXd& v,
                           const ChosenOutcome& chosen, Event& event, VectorXd& impulse) {
  event.outcomes = chosen.outcomes;
  for (const VectorXd& impulse_at : chosen.path)
    event.path.push_back(in_turn(reduced.problem, impulse_at, 1));
  s.v = reduced.lift(v, chosen.outcome.impulse);
  impulse = in_turn(reduced.problem, chosen.outcome.impulse, 1);
  note_solved(chosen.outcome.residual <= o.tolerance, chosen.outcome.residual);
}

void Stepper::finish_impact(Event event, VectorXd impulse) {
  double fastest = 0;
  for (const int i : event.contacts) {
    const Contact& contact = terms.contacts[i];
    fastest = std::max({fastest, std::abs(contact.Jn.dot(event.v_minus)),
                        std::abs(contact.Jt.row(0).dot(event.v_minus))});
  }
  for (const int i : event.contacts) {
    const Contact& contact = terms.contacts[i];
    active[i] = contact.Jn.dot(s.v) <= kStill * fastest;
    joined[i] = false;
    modes[i] = active[i] ? sliding(contact.Jt.row(0).dot(s.v), kStill * fastest) : StepMode::kOpen;
    grips[i] = {.slides = modes[i] != StepMode::kStick};
  }
  v_weighted = s.v;
  event.v_plus = s.v;
  event.q = s.q;
  event.impulse = std::move(impulse);
  log.events.push_back(std::move(event));
  record_impact();
}

}  // namespace routh::stepping
