#include "routh/simulate/stepper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "routh/simulate/step_derivative.h"

namespace routh::stepping {
namespace {

using Eigen::VectorXd;

constexpr int kSteady = 3;  // steps after which a change between stick and slip is one

}  // namespace

int Numbers::of(std::int64_t id) {
  const auto [place, fresh] = known_.try_emplace(id, count_);
  count_ += fresh;
  return place->second;
}

void Numbers::of(const Terms& terms, std::vector<int>& numbers) {
  if (!vary_) return of(std::vector<std::int64_t>(), std::ssize(terms.contacts), numbers);
  numbers.clear();
  for (const Contact& contact : terms.contacts) numbers.push_back(of(contact.id));
}

void Numbers::of(const std::vector<std::int64_t>& ids, Eigen::Index count,
                 std::vector<int>& numbers) {
  if (vary_) {
    numbers.clear();
    for (const std::int64_t id : ids) numbers.push_back(of(id));
  } else if (std::ssize(numbers) != count) {
    numbers.resize(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    count_ = static_cast<int>(count);
  }
}

Stepper::Stepper(const System& sys, const State& start, const TimeSteppingOptions& options,
                 bool states)
    : s(start),
      v_weighted(start.v),
      recorder(start.time, {.every = options.every,
                            .slack = 1e-6 * options.h,
                            .impulses = options.impulses,
                            .states = states,
                            .progress = options.progress}),
      system(sys),
      o(completed(sys, options)),
      log(recorder.log),
      extras(log.extras.emplace<TimeSteppingExtras>()),
      energy(sys),
      vary(sys.contacts_vary()),
      alpha(*o.alpha),
      gamma(*o.gamma),
      midpoint(o.jacobians == Jacobians::kMidpoint),
      detect(*o.detection),
      take_near(!detect && alpha == 1),
      numbers(sys),
      groups(sys.groups()),
      solver(sys.groups(), sys.nv()),
      gap_solver(sys.groups(), sys.nv()) {
  groups.push_back(sys.nv());
  solver.set_edges(o.edges);
}

void Stepper::keep() {
  if (!recorder.keeps_states()) return;
  recorder.keep(s.time, s.q, v_weighted, energy(s.time, s.q, s.v));
  extras.v_raw.push_back(s.v);
}

void Stepper::begin() {
  look(s.time, s.q, s.v, here);
  gaps_at(s.q, phi, joint);
  if (!vary) recorder.impulse.setZero((1 + tangents) * numbers.count());
  if (joint.size() > 0 && joint.cwiseAbs().maxCoeff() > o.touching) {
    throw std::invalid_argument("the joints are open by " +
                                std::to_string(joint.cwiseAbs().maxCoeff()) +
                                " m at the start; close them or ask for projection");
  }
  bool approaching = false;
  for (std::size_t i = 0; i < here.terms.contacts.size(); ++i) {
    const Contact& contact = here.terms.contacts[i];
    const int k = here.number[i];
    if (contact.mu > 0 && (contact.Jt.rows() < 1 || contact.Jt.rows() > 2)) {
      throw std::invalid_argument("contact " + contact.name + " has " +
                                  std::to_string(contact.Jt.rows()) +
                                  " tangent rows (Jt); friction needs one or two");
    }
    if (phi[k] < -o.touching) {
      throw std::invalid_argument("contact " + contact.name + " penetrates by " +
                                  std::to_string(-phi[k]) + " m at the start");
    }
    if (phi[k] > o.touching) continue;
    active[k] = true;
    const double speed = contact.Jn.cwiseAbs().dot(s.v.cwiseAbs());
    const double slip = (contact.Jt.cwiseAbs() * s.v.cwiseAbs()).sum();
    guesses[k] = sliding(contact, s.v, kStill * (speed + slip));
    const bool approaches = contact.Jn.dot(s.v) < -kStill * speed;
    grips[k] = {.pressed = !approaches, .slides = guesses[k].mode != Grip::kStick};
    approaching = approaching || approaches;
  }
  if (approaching && detect) impact();
}

void Stepper::advance(double target) {
  impacts_in_step = 0;
  std::fill(joined.begin(), joined.end(), 0);
  while (target - s.time > 1e-10 * o.h) {
    trial_end = target;
    attempt(target - s.time);
    if (jam()) continue;
    measure_trial();
    for (std::size_t k = 0; k < phi.size(); ++k) {
      if (phi[k] < HUGE_VAL && phi_new[k] < HUGE_VAL)
        stride = std::max(stride, std::abs(phi_new[k] - phi[k]));
    }
    const double dt = target - s.time;
    if (detect && collide(dt)) continue;
    s.time = target;
    accept(dt);
  }
  s.time = target;
  ++log.steps;
}

void Stepper::look(double time, const VectorXd& q, const VectorXd& v, View& view,
                   const Wanted& wanted) {
  system.evaluate(time, q, v, view.terms, wanted);
  view.time = time;
  numbers.of(view.terms, view.number);
  make_room();
  for (const Contact& contact : view.terms.contacts)
    tangents = std::max(tangents, static_cast<int>(contact.Jt.rows()));
}

void Stepper::make_room() {
  const std::size_t count = numbers.count();
  if (count <= active.size()) return;
  phi.resize(count, HUGE_VAL), phi_new.resize(count, HUGE_VAL);
  active.resize(count, 0), joined.resize(count, 0);
  guesses.resize(count), grips.resize(count);
  if (vary) told.resize(count, -1);
}

void Stepper::gaps_at(const VectorXd& q, std::vector<double>& contact, VectorXd& joints) {
  system.gaps(q, listed, joints, vary ? &ids : nullptr);
  numbers.of(ids, listed.size(), listed_numbers);
  make_room();
  std::fill(contact.begin(), contact.end(), HUGE_VAL);
  for (std::size_t i = 0; i < listed_numbers.size(); ++i) contact[listed_numbers[i]] = listed[i];
}

void Stepper::measure_trial() {
  looked_ahead = vary && !midpoint;
  if (!looked_ahead) return gaps_at(q_new, phi_new, joint_new);
  look(trial_end + alpha * o.h, q_new, v_new, next,
       {.whole_Kv = alpha < 1, .joint_bias = false, .horizon = take_near ? o.h : HUGE_VAL});
  std::fill(phi_new.begin(), phi_new.end(), HUGE_VAL);
  for (std::size_t i = 0; i < next.number.size(); ++i)
    phi_new[next.number[i]] = next.terms.contacts[i].phi;
  joint_new = next.terms.joint_gap;
}

double Stepper::reach_in(double dt) const {
  // twice the way of the fastest contact, since impulses of others may speed it up
  double fastest = 0;
  for (const Contact& contact : here.terms.contacts)
    fastest = std::max(fastest, std::abs(normal_rate(contact, v_alpha)));
  return 2 * dt * fastest + touch();
}

void Stepper::go_ahead(double dt, const VectorXd& v, VectorXd& q) const {
  if (midpoint) system.integrate(q, v, 0.5 * dt);
}

Wanted Stepper::wanted() const {
  return {.contacts = vary || take_near ? nullptr : &active,
          .whole_Kv = alpha < 1,
          .joint_bias = false};
}

void Stepper::attempt(double dt) {
  const double time = s.time + alpha * dt;
  if (!known || std::abs(here.time - time) > 1e-9 * dt) {
    q_new = s.q;
    go_ahead(dt, s.v, q_new);
    look(time, q_new, s.v, here, wanted());
  }
  known = false;
  const Terms& terms = here.terms;
  require_motion(system, terms, true);

  // without impulses: the weighted velocity v^α = v + α M̃⁻¹ k̃
  solver.set_inertia(linearise(terms, s.v, dt, inertia, push) ? inertia : terms.M);
  solver.apply_inverse(push, dv);
  v_alpha = s.v + alpha * dv;

  // the rows and their impulses; α λ is the solver's unknown
  solver.clear();
  for (Eigen::Index i = 0; i < terms.A.rows(); ++i)
    solver.add_bilateral(terms.A.row(i), terms.A.row(i).dot(v_alpha));
  const double reach = take_near ? reach_in(dt) : -HUGE_VAL;
  in_solver.clear(), apart.clear();
  for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
    const int k = here.number[i];
    const bool near = phi[k] <= reach;
    if (!near && !active[k]) continue;
    const Contact& contact = terms.contacts[i];
    // what is closed as far as gaps are known is closed: what rounding leaves of them would make
    // redundant contacts contradict each other
    apart.push_back((near || joined[k]) && phi[k] > (vary ? kFound : 0));
    solver.add_contact({contact.Jn, contact.Jt, contact.mu, contact.spans}, v_alpha, guesses[k],
                       apart.back() ? phi[k] / dt : 0);
    in_solver.push_back(static_cast<int>(i));
  }
  note_solved(solver.solve(o.tolerance), solver.residual());
  v_alpha += solver.velocity_change();
  v_new = s.v + (v_alpha - s.v) / alpha;
  way = dt * ((1 - gamma) * s.v + gamma * v_new);
  if (!way.allFinite())
    throw std::runtime_error("the motion is no longer finite: the step is too long for it");
  q_new = s.q;
  system.integrate(q_new, way, 1);
}

bool Stepper::linearise(const Terms& terms, const VectorXd& v, double dt, Eigen::MatrixXd& implicit,
                        VectorXd& impulse) const {
  const double ahead = midpoint ? 0.5 : 0;
  impulse = dt * terms.forces;
  const bool by_v = terms.Kv.size() > 0, by_q = terms.Kq.size() > 0;
  if (!by_v && !by_q) return false;
  implicit.resize(terms.M.rows(), terms.M.cols());
  for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
    const int at = groups[g], size = groups[g + 1] - at;
    const auto own = [&](const Eigen::MatrixXd& all) { return all.block(at, at, size, size); };
    auto block = implicit.block(at, at, size, size);
    block = own(terms.M);
    if (by_v) block -= alpha * dt * own(terms.Kv);
    if (!by_q) continue;
    block -= alpha * gamma * dt * dt * own(terms.Kq);
    if (alpha != ahead)
      impulse.segment(at, size).noalias() +=
          (alpha - ahead) * dt * dt * (own(terms.Kq) * v.segment(at, size));
  }
  return true;
}

void Stepper::add_impulses(double part) {
  if (!o.impulses) return;
  VectorXd& all = recorder.impulse;
  for (std::size_t i = 0; i < in_solver.size(); ++i) {
    const Eigen::Index at = (1 + tangents) * told_as(here, in_solver[i]), before = all.size();
    if (before < at + 1 + tangents) {
      all.conservativeResize(at + 1 + tangents);
      all.tail(all.size() - before).setZero();
    }
    all.segment(at, 1 + tangents) += part / alpha * solved_impulse(static_cast<int>(i));
  }
}

Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3, 1> Stepper::solved_impulse(int place) const {
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3, 1> impulse(1 + tangents);
  impulse[0] = solver.normal_impulse(place);
  for (int t = 0; t < tangents; ++t) impulse[1 + t] = solver.tangential_impulse(place, t);
  return impulse;
}

void Stepper::accept(double dt) {
  add_impulses(1);
  if (tangent) tangent->solved(*this);
  if (o.stabilise) close_gaps();
  if (tangent) tangent->follow(*this, dt);
  s.q.swap(q_new);
  s.v.swap(v_new);
  v_weighted.swap(v_alpha);
  phi.swap(phi_new);
  joint.swap(joint_new);
  if (take_near) note_impact(v_new, q_new);
  for (int place = 0; place < solver.contacts(); ++place) follow(place);
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (phi[k] == HUGE_VAL) {
      active[k] = false, guesses[k] = {}, grips[k] = {};
    } else if (!detect && !take_near && !active[k] && phi[k] <= 0) {
      active[k] = true, guesses[k] = Grip::kStick;
    }
    log.max_penetration = std::max(log.max_penetration, -phi[k]);
  }
  if (joint.size() > 0)
    log.max_joint_error = std::max(log.max_joint_error, joint.cwiseAbs().maxCoeff());
  if (looked_ahead) std::swap(here, next);
  known = looked_ahead;
}

void Stepper::follow(int place) {
  const int k = number_of(place);
  const double still = kStill * solver.scale();
  Hold& grip = grips[k];
  tell_others(place, guesses[k].mode);
  guesses[k] = solver.guess(place);
  if (guesses[k].mode == Grip::kOpen) {
    if (solver.normal_velocity(place) <= still && !joined[k]) return;
    active[k] = false;
    if (std::exchange(grip.pressed, false)) note(EventKind::kLiftOff, place, s.time);
    return;
  }
  active[k] = true;
  const bool pressed = std::exchange(grip.pressed, true);
  if (contact_of(place).mu == 0) return;

  // with α < 1 a contact alternates for some steps between stick and slip when it changes
  const double slip =
      std::hypot(solver.tangential_velocity(place, 0), solver.tangential_velocity(place, 1));
  const bool slides = slip > still;
  if (!pressed) grip.slides = slides;
  if (slides == grip.slides) {
    grip.steps = 0;
    return;
  }
  if (grip.steps == 0) grip.since = s.time;
  if (++grip.steps < kSteady) return;
  grip.slides = slides, grip.steps = 0;
  note(slides ? EventKind::kSlip : EventKind::kStick, place, grip.since);
}

double Stepper::touch() const { return vary ? std::max(1e-6 * stride, kFound) : 1e-6 * stride; }

double Stepper::together() const {
  return vary ? std::clamp(1e-3 * stride, kFound, std::max(o.touching, kFound)) : touch();
}

double Stepper::closed() const {
  if (vary) return kFound;
  double largest = 0;
  for (const double gap_now : phi) largest = std::max(largest, std::abs(gap_now));
  return std::max(1e-9 * stride, 16 * std::numeric_limits<double>::epsilon() * largest);
}

int Stepper::told_as(const View& view, int i) {
  if (!vary) return i;
  int& place = told[view.number[i]];
  if (place >= 0) return place;
  // names count the contacts of a pair as they are found; another may have had this one before
  std::vector<std::string>& names = log.contact_names;
  std::string name = view.terms.contacts[i].name;
  for (int k = 2; std::find(names.begin(), names.end(), name) != names.end(); ++k)
    name = view.terms.contacts[i].name + " (" + std::to_string(k) + ")";
  place = static_cast<int>(names.size());
  names.push_back(std::move(name));
  return place;
}

void Stepper::note(EventKind kind, int place, double time) {
  log.events.push_back({.time = time,
                        .kind = kind,
                        .contacts = {told_as(here, in_solver[place])},
                        .v_minus = s.v,
                        .v_plus = s.v,
                        .impulse = VectorXd::Zero(1 + tangents)});
}

bool Stepper::pushed_on(int place, Grip before) const {
  if (before != Grip::kSlidePositive && before != Grip::kSlideNegative) return false;
  if (solver.scale() == 0) return false;
  return solver.sliding_inertia(place, before == Grip::kSlidePositive ? 1 : -1) <= 0;
}

void Stepper::tell_others(int place, Grip before) {
  // 0 = cn + p λn: with p < 0 a contact that opens by itself could also slide, or jam
  const bool several =
      pushed_on(place, before) && solver.free_normal_velocity(place) > kStill * solver.scale();
  const bool told_already = std::exchange(grips[number_of(place)].pushed, several);
  if (!several || told_already) return;

  const std::vector<Contact>& contacts = here.terms.contacts;
  Mode slides(contacts.size(), Grip::kOpen);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Grip grip =
        static_cast<int>(i) == in_solver[place] ? before : guesses[here.number[i]].mode;
    slides[i] = grip != Grip::kOpen && contacts[i].mu == 0 ? Grip::kSlide : grip;
  }
  Mode opens = slides, sticks = slides;
  opens[in_solver[place]] = Grip::kOpen, sticks[in_solver[place]] = Grip::kStick;
  std::vector<Continuation> ways{{slides}, {opens}, {sticks, true}};
  const Grip now = solver.mode(place);
  std::swap(ways[0], ways[now == Grip::kOpen ? 1 : now == Grip::kStick ? 2 : 0]);
  note(EventKind::kAmbiguity, place, s.time);
  log.events.back().outcomes = static_cast<int>(ways.size());
  log.events.back().mode_before = slides;
  log.events.back().mode_after = ways[0].mode;
  log.events.back().continuations = std::move(ways);
}

void Stepper::note_solved(bool solved, double residual) {
  ++extras.lcps;
  if (!solved) ++extras.inaccurate;
  extras.max_residual = std::max(extras.max_residual, residual);
}

}  // namespace routh::stepping
