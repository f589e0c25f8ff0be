// What keeps joints and contacts closed from step to step.
#include <algorithm>
#include <cmath>

#include "routh/simulate/stepper.h"

namespace routh::stepping {

using Eigen::VectorXd;

namespace {

constexpr int kClosingPasses = 3;

}  // namespace

void Stepper::close_gaps() {
  double potential = 0;
  bool moved = false;
  const auto move = [&] {
    if (!moved) potential = system.potential_energy(q_new);
    moved = true;
    system.integrate(q_new, motion, 1);
    measure_trial();
  };
  for (int pass = 0; pass < kClosingPasses && close_pressing(); ++pass) move();
  for (int pass = 0; pass < kClosingPasses && push_out(); ++pass) move();
  if (!moved) return;
  const double work = system.potential_energy(q_new) - potential;
  const double kinetic = kinetic_energy(here.terms, v_new);
  if (kinetic > 100 * std::abs(work)) v_new *= std::sqrt(1 - work / kinetic);
}

bool Stepper::close_pressing() {
  gap.assign(in_solver.size(), 0);
  double worst = joint_new.size() > 0 ? joint_new.cwiseAbs().maxCoeff() : 0;
  for (int place = 0; place < solver.contacts(); ++place) {
    const double now = phi_new[number_of(place)];
    // what is near closes by itself in the next step, where a step takes it in
    if (solver.mode(place) == Grip::kOpen || now == HUGE_VAL || (take_near && now > 0)) continue;
    if (vary && !plausible(contact_of(place), now)) continue;
    gap[place] = -now;
    worst = std::max(worst, std::abs(now));
  }
  if (worst <= closed()) return false;
  joint_new = -joint_new;
  // a motion that moves the contacts by far more than the gaps comes from rows that contradict
  // each other
  return solver.correction(joint_new, gap, motion) && reach_of(motion) <= 100 * worst;
}

/// Can a step have passed a contact by so much? If not, whoever measures the gap is wrong.
bool Stepper::plausible(const Contact& contact, double gap_found) const {
  const double step = contact.Jn.cwiseAbs().dot(way.cwiseAbs());
  return std::abs(gap_found) <= 4 * step + o.touching;
}

bool Stepper::push_out() {
  if (!detect && !take_near) return false;  // contacts close after they were passed
  const double most = vary ? closed() : std::max(touch(), closed());
  const auto deepest = std::min_element(phi_new.begin(), phi_new.end());
  if (deepest == phi_new.end() || -*deepest <= most) return false;
  if (!looked_ahead) look(trial_end, q_new, v_new, next);
  const Terms& terms = next.terms;
  double worst = 0;
  for (const Contact& contact : terms.contacts) {
    if (plausible(contact, contact.phi)) worst = std::max(worst, -contact.phi);
  }
  if (worst <= most) return false;

  // 0 ≤ Φ + Jn Δq ⊥ y ≥ 0: gaps take the place of velocities
  gap_solver.set_inertia(terms.M);
  gap_solver.clear();
  for (Eigen::Index i = 0; i < terms.A.rows(); ++i)
    gap_solver.add_bilateral(terms.A.row(i), terms.joint_gap[i]);
  for (const Contact& contact : terms.contacts) {
    if (contact.phi > 100 * worst || (contact.phi < 0 && !plausible(contact, contact.phi)))
      continue;
    gap_solver.add_normal(contact.Jn, contact.phi,
                          contact.phi <= closed() ? Grip::kStick : Grip::kOpen);
  }
  (void)gap_solver.solve();
  motion = gap_solver.velocity_change();
  return motion.allFinite() && motion.lpNorm<Eigen::Infinity>() <= 1000 * worst;
}

double Stepper::reach_of(const VectorXd& dq) const {
  double reach = 0;
  for (const int i : in_solver)
    reach = std::max(reach, here.terms.contacts[i].Jn.cwiseAbs().dot(dq.cwiseAbs()));
  for (Eigen::Index r = 0; r < here.terms.A.rows(); ++r)
    reach = std::max(reach, here.terms.A.row(r).cwiseAbs().dot(dq.cwiseAbs()));
  return reach;
}

}  // namespace routh::stepping
