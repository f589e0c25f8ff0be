#include "routh/simulate/time_stepping.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "routh/model/kkt.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/step_solver.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kTouch = 1e-9;        // gaps below this take part in an impact [m]
constexpr double kClosed = 1e-12;      // gaps below this need no correction [m]
constexpr double kStill = 1e-9;        // a velocity below this times the largest is rest
constexpr int kSteady = 3;             // steps after which a change between stick and slip is one
constexpr std::size_t kEnumerate = 3;  // contacts up to which all outcomes of an impact are found

void validate(const System& system, const State& start, const TimeSteppingOptions& o) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument(what); };
  if (!(o.h > 0) || !std::isfinite(o.h)) fail("step h must be a positive number of seconds");
  if (!(o.alpha > 0 && o.alpha <= 1)) fail("alpha must be above 0 and at most 1");
  if (o.gamma && !(*o.gamma >= 0 && *o.gamma <= 1)) fail("gamma must be between 0 and 1");
  if (!(o.every >= 0)) fail("every must not be negative");
  if (!(o.end > start.time)) {
    fail("end (" + std::to_string(o.end) + " s) must be after the start (" +
         std::to_string(start.time) + " s)");
  }
  if (start.q.size() != system.nq() || start.v.size() != system.nv()) {
    fail("the start must have " + std::to_string(system.nq()) + " coordinates and " +
         std::to_string(system.nv()) + " velocities");
  }
  if (!start.q.allFinite() || !start.v.allFinite())
    fail("the start has a number that is not finite");
}

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

struct TimeStepper::Stepper {
  const System& system;
  TimeSteppingOptions o;
  double alpha, gamma;
  bool midpoint;

  // the state, and what its contacts do
  State s;
  VectorXd v_weighted, phi, joint;
  std::vector<char> active;  // contacts whose inequality is part of the step
  std::vector<char> joined;  // of them: taken in at a distance
  std::vector<StepMode> modes;
  struct Grip {
    bool slides = false;
    int steps = 0;  // for which it has done the other
    double since = 0;
  };
  std::vector<Grip> grips;  // stick or slip as reported
  int impacts_in_step = 0;

  // one trial step
  Terms terms;
  StepSolver solver;
  std::vector<int> in_solver;  // contact of each contact of the solver
  MatrixXd inertia;            // M̃
  VectorXd push, dv, v_alpha, q_new, v_new, phi_new, joint_new, motion;
  std::vector<double> gap;

  Trajectory log;
  std::function<void()> record_impact = [] {};

  Stepper(const System& sys, const State& start, const TimeSteppingOptions& options)
      : system(sys),
        o(options),
        alpha(options.alpha),
        gamma(options.gamma.value_or(options.alpha)),
        midpoint(options.jacobians == Jacobians::kMidpoint ||
                 (options.jacobians == Jacobians::kDefault && options.alpha == 0.5)),
        s(start),
        v_weighted(start.v),
        solver(sys.groups(), sys.nv()) {
    system.gaps(s.q, phi, joint);
    active.assign(phi.size(), 0);
    joined.assign(phi.size(), 0);
    modes.assign(phi.size(), StepMode::kOpen);
    grips.resize(phi.size());
  }

  /// Refuses open joints and penetration; closes the contacts that touch, by an impact if needed.
  void begin() {
    system.evaluate(s.time, s.q, s.v, terms);
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
      modes[i] = sliding(contact.Jt.row(0).dot(s.v), kStill * (speed + s.v.norm()));
      approaching = approaching || contact.Jn.dot(s.v) < -kStill * speed;
    }
    if (approaching) impact();
  }

  /// P3 (4.4) over dt with the active contacts, from the state to q_new, v_new, v_alpha.
  void attempt(double dt) {
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
      double cn = contact.Jn.dot(v_alpha);
      if (joined[i]) cn += std::max(0.0, phi[i]) / dt;
      solver.add_contact(contact, cn, contact.Jt.row(0).dot(v_alpha), modes[i]);
      in_solver.push_back(static_cast<int>(i));
    }
    note_solved(solver.solve(o.tolerance), solver.residual());
    v_alpha += solver.velocity_change();
    v_new = s.v + (v_alpha - s.v) / alpha;
    q_new = s.q + dt * ((1 - gamma) * s.v + gamma * v_new);
  }

  void note_solved(bool solved, double residual) {
    ++log.lcps;
    if (!solved) ++log.inaccurate;
    log.max_residual = std::max(log.max_residual, residual);
  }

  /// Painlevé: the step stops a slip at once, because friction presses the contact on harder than
  /// any force can push it out. With α < 1 its velocity would bounce: it is an impact, though
  /// without collision. True when the rest of the step has to be tried again.
  bool jam() {
    if (alpha == 1 || impacts_in_step >= o.impacts_per_step) return false;
    bool jammed = false;
    for (std::size_t place = 0; place < in_solver.size(); ++place) {
      const Contact& contact = terms.contacts[in_solver[place]];
      const double slip = contact.Jt.row(0).dot(s.v);
      const bool slid = modes[in_solver[place]] == StepMode::kSlidePositive ||
                        modes[in_solver[place]] == StepMode::kSlideNegative;
      const bool stops = slid && solver.mode(static_cast<int>(place)) == StepMode::kStick &&
                         std::abs(slip) > 1e-6 * (1 + s.v.lpNorm<Eigen::Infinity>());
      jammed = jammed || (stops && contact.mu > 0 &&
                          solver.sliding_inertia(static_cast<int>(place), slip) <= 0);
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

  /// Open contacts that the trial closes: moves to the first collision and resolves it, or takes
  /// the contact into the step. True when the rest of the step has to be tried again.
  bool collide(double dt) {
    bool taken = false, hit = false;
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (active[i] || phi_new[i] > 0) continue;
      if (phi[i] > kTouch && impacts_in_step < o.impacts_per_step) {
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
      if (phi[i] <= kTouch && !active[i]) active[i] = true, modes[i] = StepMode::kStick;
    }
    ++impacts_in_step;
    impact();
    return true;
  }

  /// All active contacts at once, at the current state.
  void impact() {
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

  /// What the contacts do afterwards.
  void finish_impact(Event event, VectorXd impulse) {
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
      modes[i] =
          active[i] ? sliding(contact.Jt.row(0).dot(s.v), kStill * fastest) : StepMode::kOpen;
      grips[i] = {.slides = modes[i] != StepMode::kStick};
    }
    v_weighted = s.v;
    event.v_plus = s.v;
    event.impulse = std::move(impulse);
    log.events.push_back(std::move(event));
    record_impact();
  }

  void impact_by_law(Event& event, VectorXd& impulse) {
    ReducedImpact reduced = reduce(terms, s.v, event.contacts);
    VectorXd v = s.v;
    if (terms.A.rows() > 0) {
      v = reduced.Mdag * (terms.M * s.v);  // what the joints leave of it
      reduced.problem.c = reduced.J * v;
    }
    const ImpactLaw law = o.law ? o.law : impact_law("simultaneous");
    take_outcome(reduced, v, law(reduced.problem, log.events.size()), event, impulse);
  }

  void take_outcome(const ReducedImpact& reduced, const VectorXd& v, const ChosenOutcome& chosen,
                    Event& event, VectorXd& impulse) {
    event.outcomes = chosen.outcomes;
    s.v = reduced.lift(v, chosen.outcome.impulse);
    for (std::size_t i = 0; i < event.contacts.size(); ++i) {
      impulse[2 * i] = chosen.outcome.impulse[i];
      impulse[2 * i + 1] = chosen.outcome.impulse[reduced.problem.tangent(static_cast<int>(i))];
    }
    note_solved(true, chosen.outcome.residual);
  }

  /// The compression problem of P3: a step of length zero with α = γ = 1.
  void impact_by_step(const Event& event, VectorXd& impulse) {
    solver.set_inertia(terms.M);
    solver.clear();
    for (Eigen::Index i = 0; i < terms.A.rows(); ++i)
      solver.add_bilateral(terms.A.row(i), terms.A.row(i).dot(s.v));
    for (const int i : event.contacts) {
      const Contact& contact = terms.contacts[i];
      solver.add_contact(contact, contact.Jn.dot(s.v), contact.Jt.row(0).dot(s.v), modes[i]);
    }
    note_solved(solver.solve(o.tolerance), solver.residual());
    s.v += solver.velocity_change();
    for (std::size_t i = 0; i < event.contacts.size(); ++i) {
      impulse[2 * i] = solver.normal_impulse(static_cast<int>(i));
      impulse[2 * i + 1] = solver.tangential_impulse(static_cast<int>(i));
    }
  }

  static StepMode sliding(double ct, double still) {
    return ct > still    ? StepMode::kSlidePositive
           : ct < -still ? StepMode::kSlideNegative
                         : StepMode::kStick;
  }

  /// The trial becomes the state.
  void accept() {
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

  /// What a contact of the solver did in the step, and whether it stays.
  void follow(int place, int i) {
    const double still = kStill * solver.scale();
    const bool pressed = modes[i] != StepMode::kOpen;
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
    Grip& grip = grips[i];
    if (!pressed) grip = {.slides = slides};
    if (slides == grip.slides) {
      grip.steps = 0;
      return;
    }
    if (grip.steps == 0) grip.since = s.time;
    if (++grip.steps < kSteady) return;
    const double since = grip.since;
    grip = {.slides = slides};
    note(slides ? EventKind::kSlip : EventKind::kStick, i, since);
  }

  void note(EventKind kind, int contact, double time) {
    log.events.push_back({.time = time,
                          .kind = kind,
                          .contacts = {contact},
                          .v_minus = s.v,
                          .v_plus = s.v,
                          .impulse = VectorXd::Zero(2)});
  }

  /// Moves q_new so that joints and pressing contacts are closed. The velocity is not corrected,
  /// only scaled, so that the work of the motion against gravity and springs does not add energy.
  void close_gaps() {
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
      if (worst <= kClosed) break;
      joint_new = -joint_new;
      if (!moved) potential = system.potential_energy(q_new);
      // a motion far larger than the gaps comes from rows that contradict each other
      if (!solver.correction(joint_new, gap, motion) ||
          motion.lpNorm<Eigen::Infinity>() > 100 * worst)
        break;
      moved = true;
      q_new += motion;
      system.gaps(q_new, phi_new, joint_new);
    }
    if (!moved) return;
    const double work = system.potential_energy(q_new) - potential;
    const double kinetic = kinetic_energy(terms, v_new);
    if (kinetic > 100 * std::abs(work)) v_new *= std::sqrt(1 - work / kinetic);
  }

  /// To the time `target`, through all impacts on the way.
  void advance(double target) {
    impacts_in_step = 0;
    std::fill(joined.begin(), joined.end(), 0);
    while (target - s.time > 1e-10 * o.h) {
      const double dt = target - s.time;
      attempt(dt);
      if (jam()) continue;
      system.gaps(q_new, phi_new, joint_new);
      if (o.detection && collide(dt)) continue;
      s.time = target;
      accept();
    }
    s.time = target;
    ++log.steps;
  }
};

TimeStepper::TimeStepper(const System& system, const State& start,
                         const TimeSteppingOptions& options) {
  validate(system, start, options);
  stepper_ = std::make_unique<Stepper>(system, start, options);
  stepper_->begin();
}
TimeStepper::~TimeStepper() = default;
TimeStepper::TimeStepper(TimeStepper&&) noexcept = default;

void TimeStepper::step() { stepper_->advance(stepper_->s.time + stepper_->o.h); }
double TimeStepper::time() const { return stepper_->s.time; }
const VectorXd& TimeStepper::q() const { return stepper_->s.q; }
const VectorXd& TimeStepper::v() const { return stepper_->s.v; }
const VectorXd& TimeStepper::v_weighted() const { return stepper_->v_weighted; }
const Trajectory& TimeStepper::log() const { return stepper_->log; }

Trajectory simulate(const System& system, const State& start, const TimeSteppingOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  validate(system, start, options);
  TimeStepper::Stepper stepper(system, start, options);
  Trajectory trajectory;
  Terms terms;
  const auto record = [&] {
    trajectory.time.push_back(stepper.s.time);
    trajectory.q.push_back(stepper.s.q);
    trajectory.v.push_back(stepper.v_weighted);
    trajectory.v_raw.push_back(stepper.s.v);
    system.evaluate(stepper.s.time, stepper.s.q, stepper.s.v, terms);
    trajectory.energy.push_back(kinetic_energy(terms, stepper.s.v) +
                                system.potential_energy(stepper.s.q));
  };
  record();
  if (options.every == 0) stepper.record_impact = record;
  stepper.begin();

  const double h = options.h;
  SimulationStatus status = SimulationStatus::kDone;
  double next_record = start.time + options.every;
  for (long step = 1; options.end - stepper.s.time > 1e-9 * h; ++step) {
    const double grid = start.time + static_cast<double>(step) * h;
    stepper.advance(options.end - grid < 1e-6 * h ? options.end : grid);
    const bool last = options.end - stepper.s.time <= 1e-9 * h;
    const bool due = options.every == 0 || stepper.s.time >= next_record - 1e-6 * h || last;
    if (due) record();
    while (options.every > 0 && next_record <= stepper.s.time + 1e-6 * h)
      next_record += options.every;
    if (options.progress && (due || step % 256 == 0) && !options.progress(stepper.s.time)) {
      status = SimulationStatus::kInterrupted;
      if (!due) record();
      break;
    }
  }

  // the counts of the stepper with the states recorded here
  const Trajectory& log = stepper.log;
  trajectory.status = status != SimulationStatus::kDone ? status
                      : log.inaccurate > 0              ? SimulationStatus::kInaccurate
                                                        : status;
  trajectory.events = log.events;
  trajectory.final = {stepper.s.time, stepper.s.q, stepper.v_weighted};
  trajectory.steps = log.steps, trajectory.lcps = log.lcps;
  trajectory.inaccurate = log.inaccurate, trajectory.max_residual = log.max_residual;
  trajectory.max_penetration = log.max_penetration;
  trajectory.max_joint_error = log.max_joint_error;
  trajectory.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return trajectory;
}

State project_joints(const System& system, State state) {
  double worst = HUGE_VAL;
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Terms terms = system.terms(state.q, state.v, state.time);
    if (terms.A.rows() == 0) return state;
    const Kkt blocks = kkt(terms.M, terms.A);
    worst = terms.joint_gap.cwiseAbs().maxCoeff();
    if (worst < 1e-13) {
      state.v = blocks.Mdag * (terms.M * state.v);
      return state;
    }
    state.q -= blocks.Adag.transpose() * terms.joint_gap;
  }
  if (worst < 1e-9) return state;
  throw std::invalid_argument(
      "the joints cannot be closed near the start: " + std::to_string(worst) + " m remain");
}

}  // namespace routh
