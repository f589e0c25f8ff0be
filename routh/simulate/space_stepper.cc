#include "routh/simulate/space_stepper.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace routh::stepping {
namespace {

using Eigen::VectorXd;

constexpr double kClosed = 1e-9;  // gaps and overlaps below this need no correction [m]
constexpr int kPasses = 3;        // of the correction
constexpr double kSlow = 0.1;     // a contact may come nearer by this beyond what is seen [m/s]

void check_tangents(const Contact& contact) {
  if (contact.mu > 0 && contact.Jt.rows() != 2) {
    throw std::invalid_argument("contact " + contact.name + " has " +
                                std::to_string(contact.Jt.rows()) +
                                " tangent rows (Jt); in space friction needs two");
  }
}

}  // namespace

SpaceStepper::SpaceStepper(const System& sys, const State& start,
                           const TimeSteppingOptions& options)
    : system(sys),
      o(options),
      solver_(sys.groups(), sys.nv()),
      gap_solver_(sys.groups(), sys.nv()) {
  solver_.set_edges(o.edges);
  const auto refuse = [](bool given, const std::string& what) {
    if (given) throw std::invalid_argument(what + "; leave it out");
  };
  refuse(o.alpha.value_or(1) != 1, "alpha: systems in space are stepped with alpha = 1");
  refuse(o.gamma.value_or(1) != 1, "gamma: systems in space are stepped with gamma = 1");
  refuse(o.jacobians == Jacobians::kMidpoint,
         "jacobians: in space rows are taken at the start of a step");
  refuse(!o.detection, "detection: in space collisions are not looked for inside a step");
  refuse(o.impulses, "impulses: in space impulses between records are not kept");
  refuse(o.impacts_per_step != TimeSteppingOptions{}.impacts_per_step,
         "impacts_per_step: in space a step is one problem, impacts included");
  refuse(bool(o.law), "law: in space impacts follow the simultaneous law alone");
  s = start;
  v_weighted = start.v;
  impulses.resize(0);
}

void SpaceStepper::begin() {
  system.evaluate(s.time, s.q, s.v, terms_);
  if (terms_.joint_gap.size() > 0 && terms_.joint_gap.cwiseAbs().maxCoeff() > o.touching) {
    throw std::invalid_argument("the joints are open by " +
                                std::to_string(terms_.joint_gap.cwiseAbs().maxCoeff()) +
                                " m at the start; close them or ask for projection");
  }
  for (const Contact& contact : terms_.contacts) {
    check_tangents(contact);
    if (contact.phi < -o.touching) {
      throw std::invalid_argument("contact " + contact.name + " penetrates by " +
                                  std::to_string(-contact.phi) + " m at the start");
    }
  }
}

void SpaceStepper::choose_near(const VectorXd& v, double dt) {
  // twice the way of the fastest contact, since impulses of others may speed it up
  double fastest = 0;
  for (const Contact& contact : terms_.contacts)
    fastest = std::max(fastest, std::abs(contact.Jn.dot(v)));
  near_.clear();
  for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
    if (terms_.contacts[i].phi <= dt * (2 * fastest + kSlow)) near_.push_back(static_cast<int>(i));
  }
}

/// Closes joints and pushes contacts out. True when nothing was left to do.
bool SpaceStepper::close_gaps() {
  double worst = terms_.joint_gap.size() > 0 ? terms_.joint_gap.cwiseAbs().maxCoeff() : 0;
  for (const Contact& contact : terms_.contacts) worst = std::max(worst, -contact.phi);
  if (worst <= kClosed) return true;

  // 0 ≤ Φ + Jn Δq ⊥ y ≥ 0: gaps take the place of velocities
  gap_solver_.set_inertia(terms_.M);
  gap_solver_.clear();
  for (Eigen::Index i = 0; i < terms_.A.rows(); ++i)
    gap_solver_.add_bilateral(terms_.A.row(i), terms_.joint_gap[i]);
  for (const Contact& contact : terms_.contacts) {
    if (contact.phi > 100 * worst) continue;
    gap_solver_.add_normal(contact.Jn, contact.phi,
                           contact.phi <= kClosed ? StepMode::kStick : StepMode::kOpen);
  }
  (void)gap_solver_.solve();
  const VectorXd& motion = gap_solver_.velocity_change();
  // a motion far larger than the gaps comes from rows that contradict each other
  if (!motion.allFinite() || motion.lpNorm<Eigen::Infinity>() > 1000 * worst) return true;
  system.integrate(s.q, motion, 1);
  system.evaluate(s.time, s.q, s.v, terms_);
  return false;
}

const StepGuess* SpaceStepper::last_of(int contact) const {
  const std::int64_t wanted = key(contact);
  const auto found = std::lower_bound(last_.begin(), last_.end(), wanted,
                                      [](const Last& a, std::int64_t k) { return a.key < k; });
  return found != last_.end() && found->key == wanted ? &found->guess : nullptr;
}

void SpaceStepper::step(double dt) {
  // the velocity without contacts
  push_ = dt * terms_.forces;
  const bool constant = terms_.Kv.size() == 0 && terms_.Kq.size() == 0;
  if (!constant) inertia_ = terms_.M;
  if (terms_.Kv.size() > 0) inertia_ -= dt * terms_.Kv;
  if (terms_.Kq.size() > 0) {
    inertia_ -= dt * dt * terms_.Kq;
    push_.noalias() += dt * dt * (terms_.Kq * s.v);
  }
  if (!push_.allFinite())
    throw std::invalid_argument("the forces are not finite at t = " + std::to_string(s.time) +
                                " s");
  solver_.set_inertia(constant ? terms_.M : inertia_);
  solver_.apply_inverse(push_, v_);
  v_ += s.v;

  solver_.clear();
  for (Eigen::Index i = 0; i < terms_.A.rows(); ++i)
    solver_.add_bilateral(terms_.A.row(i), terms_.A.row(i).dot(v_));
  choose_near(v_, dt);
  for (const int i : near_) {
    const Contact& contact = terms_.contacts[i];
    check_tangents(contact);
    const StepGuess* guess = last_of(i);
    solver_.add_contact({contact.Jn, contact.Jt, contact.mu}, v_, guess ? *guess : StepGuess(),
                        std::max(0.0, contact.phi) / dt);
  }
  note_solved(solver_.solve(o.tolerance), solver_.residual());
  v_minus_ = s.v;
  s.v = v_ + solver_.velocity_change();
  note_impact(v_minus_);
  pressing_.clear();
  for (std::size_t i = 0; i < near_.size(); ++i) {
    const int place = static_cast<int>(i);
    if (solver_.normal_impulse(place) > 0)
      pressing_.push_back({key(near_[i]), solver_.guess(place)});
  }
  std::sort(pressing_.begin(), pressing_.end(),
            [](const Last& a, const Last& b) { return a.key < b.key; });
  last_.swap(pressing_);
  system.integrate(s.q, s.v, dt);
}

/// Contacts that begin to press while they approach, and faster than a step of free fall would.
void SpaceStepper::note_impact(const VectorXd& v_minus) {
  std::vector<int> places;
  for (std::size_t k = 0; k < near_.size(); ++k) {
    const Contact& contact = terms_.contacts[near_[k]];
    const double approach = -contact.Jn.dot(v_minus), change = contact.Jn.dot(s.v - v_minus);
    if (solver_.normal_impulse(static_cast<int>(k)) > 0 && !last_of(near_[k]) && approach > 1e-3 &&
        change > 1e-3)
      places.push_back(static_cast<int>(k));
  }
  if (places.empty()) return;
  Event event{.time = s.time, .v_minus = v_minus, .v_plus = s.v};
  event.impulse.resize(3 * static_cast<Eigen::Index>(places.size()));
  for (std::size_t k = 0; k < places.size(); ++k) {
    event.contacts.push_back(index_of(near_[places[k]]));
    event.impulse.segment<3>(3 * static_cast<Eigen::Index>(k)) << solver_.normal_impulse(places[k]),
        solver_.tangential_impulse(places[k], 0), solver_.tangential_impulse(places[k], 1);
  }
  log.events.push_back(std::move(event));
}

void SpaceStepper::note_solved(bool solved, double residual) {
  ++log.lcps;
  if (!solved) ++log.inaccurate;
  log.max_residual = std::max(log.max_residual, residual);
}

std::int64_t SpaceStepper::key(int contact) const {
  return system.contacts_vary() ? terms_.contacts[contact].id : contact;
}

int SpaceStepper::index_of(int contact) {
  if (!system.contacts_vary()) return contact;
  const auto [place, fresh] =
      known_.try_emplace(key(contact), static_cast<int>(log.contact_names.size()));
  if (fresh) log.contact_names.push_back(terms_.contacts[contact].name);
  return place->second;
}

void SpaceStepper::advance(double target) {
  step(target - s.time);
  s.time = target;
  v_weighted = s.v;
  system.evaluate(s.time, s.q, s.v, terms_);
  for (int pass = 0; pass < kPasses && o.stabilise; ++pass) {
    if (close_gaps()) break;
  }
  for (const Contact& contact : terms_.contacts)
    log.max_penetration = std::max(log.max_penetration, -contact.phi);
  if (terms_.joint_gap.size() > 0)
    log.max_joint_error = std::max(log.max_joint_error, terms_.joint_gap.cwiseAbs().maxCoeff());
  ++log.steps;
}

}  // namespace routh::stepping
