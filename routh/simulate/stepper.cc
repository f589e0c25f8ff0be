#include "routh/simulate/stepper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace routh::stepping {
namespace {

constexpr int kSteady = 3;  // steps after which a change between stick and slip is one

}  // namespace

Stepper::Stepper(const System& sys, const State& start, const TimeSteppingOptions& options)
    : system(sys),
      o(options),
      alpha(options.alpha.value_or(0.5)),
      gamma(options.gamma.value_or(alpha)),
      midpoint(options.jacobians == Jacobians::kMidpoint ||
               (options.jacobians == Jacobians::kDefault && alpha == 0.5)),
      solver(sys.groups(), sys.nv()) {
  s = start;
  v_weighted = start.v;
  system.gaps(s.q, phi, joint);
  active.assign(phi.size(), 0);
  joined.assign(phi.size(), 0);
  modes.assign(phi.size(), StepMode::kOpen);
  grips.resize(phi.size());
  impulses = Eigen::VectorXd::Zero(2 * phi.size());
}

void Stepper::begin() {
  system.evaluate(s.time, s.q, s.v, terms);
  require_one_tangent(terms, "time-stepping in the plane");
  if (joint.size() > 0 && joint.cwiseAbs().maxCoeff() > o.touching) {
    throw std::invalid_argument("the joints are open by " +
                                std::to_string(joint.cwiseAbs().maxCoeff()) +
                                " m at the start; close them or ask for projection");
  }
  bool approaching = false;
  for (Eigen::Index i = 0; i < phi.size(); ++i) {
    const Contact& contact = terms.contacts[i];
    if (phi[i] < -o.touching) {
      throw std::invalid_argument("contact " + contact.name + " penetrates by " +
                                  std::to_string(-phi[i]) + " m at the start");
    }
    if (phi[i] > o.touching) continue;
    active[i] = true;
    const double speed = contact.Jn.cwiseAbs().dot(s.v.cwiseAbs());
    const double slip = contact.Jt.row(0).cwiseAbs().dot(s.v.cwiseAbs());
    modes[i] = sliding(contact.Jt.row(0).dot(s.v), kStill * (speed + slip));
    grips[i].slides = modes[i] != StepMode::kStick;
    approaching = approaching || contact.Jn.dot(s.v) < -kStill * speed;
  }
  if (approaching) impact();
}

void Stepper::advance(double target) {
  impacts_in_step = 0;
  std::fill(joined.begin(), joined.end(), 0);
  while (target - s.time > 1e-10 * o.h) {
    const double dt = target - s.time;
    attempt(dt);
    if (jam()) continue;
    system.gaps(q_new, phi_new, joint_new);
    for (Eigen::Index i = 0; i < phi.size(); ++i)
      stride = std::max(stride, std::abs(phi_new[i] - phi[i]));
    if (o.detection && collide(dt)) continue;
    s.time = target;
    accept();
  }
  s.time = target;
  ++log.steps;
}

void Stepper::attempt(double dt) {
  const double ahead = midpoint ? 0.5 : 0;
  q_new = s.q + ahead * dt * s.v;
  system.evaluate(s.time + alpha * dt, q_new, s.v, terms, &active);
  if (!terms.forces.allFinite()) {
    throw std::invalid_argument(
        "the forces are not finite at t = " + std::to_string(s.time + alpha * dt) + " s");
  }

  // without impulses: the weighted velocity v^α = v + α M̃⁻¹ k̃
  push = dt * terms.forces;
  const bool constant = terms.Kv.size() == 0 && terms.Kq.size() == 0;
  if (!constant) inertia = terms.M;
  if (terms.Kv.size() > 0) inertia -= alpha * dt * terms.Kv;
  if (terms.Kq.size() > 0) {
    inertia -= alpha * gamma * dt * dt * terms.Kq;
    if (alpha != ahead) push.noalias() += (alpha - ahead) * dt * dt * (terms.Kq * s.v);
  }
  solver.set_inertia(constant ? terms.M : inertia);
  solver.apply_inverse(push, dv);
  v_alpha = s.v + alpha * dv;

  // the rows and their impulses; α λ is the solver's unknown
  solver.clear();
  for (Eigen::Index i = 0; i < terms.A.rows(); ++i)
    solver.add_bilateral(terms.A.row(i), terms.A.row(i).dot(v_alpha));
  in_solver.clear();
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (!active[i]) continue;
    const Contact& contact = terms.contacts[i];
    solver.add_contact({contact.Jn, contact.Jt, contact.mu}, v_alpha, modes[i],
                       joined[i] ? std::max(0.0, phi[i]) / dt : 0);
    in_solver.push_back(static_cast<int>(i));
  }
  note_solved(solver.solve(o.tolerance), solver.residual());
  v_alpha += solver.velocity_change();
  v_new = s.v + (v_alpha - s.v) / alpha;
  q_new = s.q + dt * ((1 - gamma) * s.v + gamma * v_new);
}

void Stepper::add_impulses(double part) {
  if (!o.impulses) return;
  for (std::size_t place = 0; place < in_solver.size(); ++place) {
    const Eigen::Index at = 2 * in_solver[place];
    impulses[at] += part / alpha * solver.normal_impulse(static_cast<int>(place));
    impulses[at + 1] += part / alpha * solver.tangential_impulse(static_cast<int>(place));
  }
}

void Stepper::accept() {
  add_impulses(1);
  if (o.stabilise) close_gaps();
  s.q.swap(q_new);
  s.v.swap(v_new);
  v_weighted.swap(v_alpha);
  phi.swap(phi_new);
  joint.swap(joint_new);
  for (std::size_t place = 0; place < in_solver.size(); ++place)
    follow(static_cast<int>(place), in_solver[place]);
  if (!o.detection) {
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (!active[i] && phi[i] <= 0) active[i] = true, modes[i] = StepMode::kStick;
    }
  }
  if (phi.size() > 0) log.max_penetration = std::max(log.max_penetration, -phi.minCoeff());
  if (joint.size() > 0)
    log.max_joint_error = std::max(log.max_joint_error, joint.cwiseAbs().maxCoeff());
}

void Stepper::follow(int place, int i) {
  const double still = kStill * solver.scale();
  const bool pressed = modes[i] != StepMode::kOpen;
  tell_others(place, modes[i]);
  modes[i] = solver.mode(place);
  if (modes[i] == StepMode::kOpen) {
    if (solver.normal_velocity(place) <= still && !joined[i]) return;
    active[i] = false;
    if (pressed && !joined[i]) note(EventKind::kLiftOff, i, s.time);
    return;
  }
  if (terms.contacts[i].mu == 0) return;

  // with α < 1 a contact alternates for some steps between stick and slip when it changes
  const bool slides = std::abs(solver.tangential_velocity(place)) > still;
  Hold& grip = grips[i];
  if (!pressed) grip = {.slides = slides, .pressed = grip.pressed};
  if (slides == grip.slides) {
    grip.steps = 0;
    return;
  }
  if (grip.steps == 0) grip.since = s.time;
  if (++grip.steps < kSteady) return;
  const double since = grip.since;
  grip = {.slides = slides, .pressed = grip.pressed};
  note(slides ? EventKind::kSlip : EventKind::kStick, i, since);
}

void Stepper::close_gaps() {
  double potential = 0;
  bool moved = false;
  for (int pass = 0; pass < 3; ++pass) {
    gap.assign(in_solver.size(), 0);
    double worst = joint_new.size() > 0 ? joint_new.cwiseAbs().maxCoeff() : 0;
    for (std::size_t place = 0; place < in_solver.size(); ++place) {
      if (solver.mode(static_cast<int>(place)) == StepMode::kOpen) continue;
      gap[place] = -phi_new[in_solver[place]];
      worst = std::max(worst, std::abs(gap[place]));
    }
    if (worst <= closed()) break;
    joint_new = -joint_new;
    if (!moved) potential = system.potential_energy(q_new);
    // a motion that moves the contacts by far more than the gaps comes from rows that contradict
    // each other
    if (!solver.correction(joint_new, gap, motion) || reach_of(motion) > 100 * worst) break;
    moved = true;
    q_new += motion;
    system.gaps(q_new, phi_new, joint_new);
  }
  if (!moved) return;
  const double work = system.potential_energy(q_new) - potential;
  const double kinetic = kinetic_energy(terms, v_new);
  if (kinetic > 100 * std::abs(work)) v_new *= std::sqrt(1 - work / kinetic);
}

double Stepper::reach_of(const Eigen::VectorXd& dq) const {
  double reach = 0;
  for (const int i : in_solver)
    reach = std::max(reach, terms.contacts[i].Jn.cwiseAbs().dot(dq.cwiseAbs()));
  for (Eigen::Index r = 0; r < terms.A.rows(); ++r)
    reach = std::max(reach, terms.A.row(r).cwiseAbs().dot(dq.cwiseAbs()));
  return reach;
}

double Stepper::touch() const { return 1e-6 * stride; }

double Stepper::closed() const {
  double largest = 0;
  for (const double gap_now : phi) largest = std::max(largest, std::abs(gap_now));
  return std::max(1e-9 * stride, 16 * std::numeric_limits<double>::epsilon() * largest);
}

void Stepper::note(EventKind kind, int contact, double time) {
  log.events.push_back({.time = time,
                        .kind = kind,
                        .contacts = {contact},
                        .v_minus = s.v,
                        .v_plus = s.v,
                        .impulse = Eigen::VectorXd::Zero(2)});
}

bool Stepper::pressed_on(int place, StepMode before) const {
  if (before != StepMode::kSlidePositive && before != StepMode::kSlideNegative) return false;
  if (solver.scale() == 0) return false;
  return solver.sliding_inertia(place, before == StepMode::kSlidePositive ? 1 : -1) <= 0;
}

void Stepper::tell_others(int place, StepMode before) {
  const int i = in_solver[place];
  // 0 = cn + p λn: with p < 0 a contact that opens by itself could also slide, or jam
  const bool several =
      pressed_on(place, before) && solver.free_normal_velocity(place) > kStill * solver.scale();
  const bool told = std::exchange(grips[i].pressed, several);
  if (!several || told) return;

  Mode slides(modes.size(), Grip::kOpen);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const StepMode mode = static_cast<int>(k) == i ? before : modes[k];
    slides[k] = mode == StepMode::kOpen            ? Grip::kOpen
                : terms.contacts[k].mu == 0        ? Grip::kSlide
                : mode == StepMode::kStick         ? Grip::kStick
                : mode == StepMode::kSlidePositive ? Grip::kSlidePositive
                                                   : Grip::kSlideNegative;
  }
  Mode opens = slides, sticks = slides;
  opens[i] = Grip::kOpen, sticks[i] = Grip::kStick;
  std::vector<Continuation> ways{{slides}, {opens}, {sticks, true}};
  const StepMode now = solver.mode(place);
  std::swap(ways[0], ways[now == StepMode::kOpen ? 1 : now == StepMode::kStick ? 2 : 0]);
  note(EventKind::kAmbiguity, i, s.time);
  log.events.back().outcomes = static_cast<int>(ways.size());
  log.events.back().mode_before = slides;
  log.events.back().mode_after = ways[0].mode;
  log.events.back().continuations = std::move(ways);
}

void Stepper::note_solved(bool solved, double residual) {
  ++log.lcps;
  if (!solved) ++log.inaccurate;
  log.max_residual = std::max(log.max_residual, residual);
}

}  // namespace routh::stepping
