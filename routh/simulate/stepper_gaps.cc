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
    if (solver.mode(place) == StepMode::kOpen || now == HUGE_VAL || (take_near && now > 0))
      continue;
    gap[place] = -now;
    worst = std::max(worst, std::abs(now));
  }
  if (worst <= closed()) return false;
  if (!plausible(worst)) return false;
  joint_new = -joint_new;
  // a motion that moves the contacts by far more than the gaps comes from rows that contradict
  // each other
  return solver.correction(joint_new, gap, motion) && reach_of(motion) <= 100 * worst;
}

/// Can a step have opened or passed a gap by so much? If not, whoever measures gaps is wrong.
bool Stepper::plausible(double gap_found) const {
  return !vary || gap_found <= 4 * reach_of(way) + o.touching;
}

bool Stepper::push_out() {
  if (!detect && !take_near) return false;  // contacts close after they were passed
  const double worst = phi_new.empty() ? 0 : -*std::min_element(phi_new.begin(), phi_new.end());
  if (worst <= (vary ? closed() : std::max(touch(), closed())) || !plausible(worst)) return false;

  // 0 ≤ Φ + Jn Δq ⊥ y ≥ 0: gaps take the place of velocities
  if (!looked_ahead) look(trial_end, q_new, v_new, next);
  const Terms& terms = next.terms;
  gap_solver.set_inertia(terms.M);
  gap_solver.clear();
  for (Eigen::Index i = 0; i < terms.A.rows(); ++i)
    gap_solver.add_bilateral(terms.A.row(i), terms.joint_gap[i]);
  for (const Contact& contact : terms.contacts) {
    if (contact.phi > 100 * worst) continue;
    gap_solver.add_normal(contact.Jn, contact.phi,
                          contact.phi <= closed() ? StepMode::kStick : StepMode::kOpen);
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
