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
  refuse(!o.law && o.impacts_per_step != TimeSteppingOptions{}.impacts_per_step,
         "impacts_per_step: in space a step without a law is one problem, impacts included");
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
  const std::int64_t wanted = key(terms_, contact);
  const auto found = std::lower_bound(last_.begin(), last_.end(), wanted,
                                      [](const Last& a, std::int64_t k) { return a.key < k; });
  return found != last_.end() && found->key == wanted ? &found->guess : nullptr;
}

void SpaceStepper::move_freely(double dt) {
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
}

void SpaceStepper::solve_step(double dt) {
  solver_.clear();
  for (Eigen::Index i = 0; i < terms_.A.rows(); ++i)
    solver_.add_bilateral(terms_.A.row(i), terms_.A.row(i).dot(v_));
  for (const int i : near_) {
    const Contact& contact = terms_.contacts[i];
    check_tangents(contact);
    const StepGuess* guess = last_of(i);
    solver_.add_contact({contact.Jn, contact.Jt, contact.mu}, v_, guess ? *guess : StepGuess(),
                        std::max(0.0, contact.phi) / dt);
  }
  note_solved(solver_.solve(o.tolerance), solver_.residual());
  v_new_ = v_ + solver_.velocity_change();
}

void SpaceStepper::remember_modes() {
  pressing_.clear();
  for (std::size_t i = 0; i < near_.size(); ++i) {
    const int place = static_cast<int>(i);
    if (solver_.normal_impulse(place) > 0)
      pressing_.push_back({key(terms_, near_[i]), solver_.guess(place)});
  }
  std::sort(pressing_.begin(), pressing_.end(),
            [](const Last& a, const Last& b) { return a.key < b.key; });
  last_.swap(pressing_);
}

void SpaceStepper::step(double dt) {
  move_freely(dt);
  choose_near(v_, dt);
  solve_step(dt);
  v_minus_ = s.v;
  s.v = v_new_;
  note_impact(v_minus_);
  remember_modes();
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
  Event event{.time = s.time, .v_minus = v_minus, .v_plus = s.v, .q = s.q};
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

std::int64_t SpaceStepper::key(const Terms& terms, int contact) const {
  return system.contacts_vary() ? terms.contacts[contact].id : contact;
}

int SpaceStepper::index_of(int contact) {
  if (!system.contacts_vary()) return contact;
  const auto [place, fresh] =
      known_.try_emplace(key(terms_, contact), static_cast<int>(log.contact_names.size()));
  if (fresh) log.contact_names.push_back(terms_.contacts[contact].name);
  return place->second;
}

void SpaceStepper::choose_touching() {
  near_.clear(), near_keys_.clear();
  for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
    if (terms_.contacts[i].phi > o.touching) continue;
    near_.push_back(static_cast<int>(i));
    near_keys_.push_back(key(terms_, static_cast<int>(i)));
  }
  std::sort(near_keys_.begin(), near_keys_.end());
}

bool SpaceStepper::is_near(std::int64_t key) const {
  return std::binary_search(near_keys_.begin(), near_keys_.end(), key);
}

/// Does a contact that touches approach, faster than the next step would close its gap? One that
/// pressed in the last step does not: its row has turned.
bool SpaceStepper::collides() const {
  for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
    const Contact& contact = terms_.contacts[i];
    if (contact.phi > o.touching || last_of(static_cast<int>(i))) continue;
    if (contact.Jn.dot(s.v) < -o.touching / o.h) return true;
  }
  return false;
}

double SpaceStepper::first_touch(double dt) {
  const auto closes = [&](double part) {
    q_new_ = s.q;
    system.integrate(q_new_, v_new_, part * dt);
    system.evaluate(s.time + part * dt, q_new_, v_new_, terms_new_);
    for (std::size_t i = 0; i < terms_new_.contacts.size(); ++i) {
      if (terms_new_.contacts[i].phi < -kClosed && !is_near(key(terms_new_, static_cast<int>(i))))
        return true;
    }
    return false;
  };
  if (!closes(1)) return 1;
  double low = 0, high = 1;
  while (high - low > 1e-12) {
    const double middle = 0.5 * (low + high);
    (closes(middle) ? high : low) = middle;
  }
  q_new_ = s.q;
  system.integrate(q_new_, v_new_, low * dt);
  return low;
}

void SpaceStepper::impact() {
  choose_touching();
  ReducedImpact reduced = reduce(terms_, s.v, near_);
  reduced.problem.edges = o.edges;
  VectorXd v = s.v;
  if (terms_.A.rows() > 0) {
    v = reduced.Mdag * (terms_.M * s.v);  // what the joints leave of it
    reduced.problem.c = reduced.J * v;
  }
  const ChosenOutcome chosen = o.law(reduced.problem, log.events.size());
  Event event{.time = s.time, .v_minus = s.v, .q = s.q, .outcomes = chosen.outcomes};
  for (const int i : near_) event.contacts.push_back(index_of(i));
  for (const VectorXd& impulse_at : chosen.path)
    event.path.push_back(in_turn(reduced.problem, impulse_at, reduced.problem.tangents));
  event.impulse = in_turn(reduced.problem, chosen.outcome.impulse, reduced.problem.tangents);
  s.v = reduced.lift(v, chosen.outcome.impulse);
  event.v_plus = v_weighted = s.v;
  note_solved(chosen.outcome.residual <= o.tolerance, chosen.outcome.residual);
  log.events.push_back(std::move(event));
  record_impact();
  system.evaluate(s.time, s.q, s.v, terms_);
}

void SpaceStepper::advance_by_law(double target) {
  int impacts = 0;
  while (target - s.time > 1e-10 * o.h) {
    const double dt = target - s.time;
    // contacts that collide without end, or change their names: the step takes in what is near
    const bool plain = impacts > o.impacts_per_step;
    if (!plain && collides()) {
      impact();
      ++impacts;
      continue;
    }
    if (plain) {
      step(dt);
      return;
    }
    move_freely(dt);
    choose_touching();
    solve_step(dt);
    const double part = first_touch(dt);
    if (part == 0) {
      impacts = o.impacts_per_step + 1;
      continue;
    }
    remember_modes();
    s.time = part == 1 ? target : s.time + part * dt;
    s.v += part * (v_new_ - s.v);
    s.q.swap(q_new_);
    if (part < 1) system.evaluate(s.time, s.q, s.v, terms_);
  }
}

void SpaceStepper::advance(double target) {
  if (o.law) {
    advance_by_law(target);
  } else {
    step(target - s.time);
  }
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
