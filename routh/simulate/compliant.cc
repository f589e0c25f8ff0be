#include "routh/simulate/compliant.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "routh/ode/radau.h"
#include "routh/simulate/recorder.h"
#include "routh/simulate/reduce.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRounding = 1e-13;  // of gaps and their rates at the start [m], [m/s]
constexpr double kBarrier = 1e-9;    // nearer to where no motion is than this, it is there [s]

/// y = (q, v) and its derivative, evaluated where the integrator asks.
struct Motion {
  const System& system;
  const CompliantOptions& o;
  int nv;
  std::vector<double> k, damping;  // of each contact
  Terms terms = {};
  VectorXd q = {}, v = {}, force = {}, gaps = {}, joints = {};
  Eigen::LLT<MatrixXd> inertia = {};
  std::string trouble = {};   // why there was no derivative ..
  double barrier = HUGE_VAL;  // .. and from when on [s]

  void evaluate(double t, const VectorXd& y) {
    q = y.head(nv);
    v = y.tail(nv);
    system.evaluate(t, q, v, terms);
  }
  void factor_inertia() {
    require_motion(system, terms);
    inertia.compute(terms.M);
    if (inertia.info() != Eigen::Success) throw std::invalid_argument("M is not positive definite");
  }

  /// Which smooth piece of (88)-(90) each contact is on; the integrator stops where one ends.
  enum class Piece { kOpen, kLoose, kPositive, kNegative, kWithin };  // kWithin: |slip| < ε
  std::vector<Piece> pieces = {};

  double raw_normal(std::size_t i) const {
    const Contact& contact = terms.contacts[i];
    return -k[i] * contact.phi - damping[i] * contact.Jn.dot(v);
  }
  double slip(std::size_t i) const { return terms.contacts[i].Jt.row(0).dot(v); }

  /// The piece at the state in `terms`.
  Piece piece(std::size_t i) const {
    const Contact& contact = terms.contacts[i];
    if (contact.phi > 0 || (contact.phi == 0 && contact.Jn.dot(v) >= 0)) return Piece::kOpen;
    if (raw_normal(i) <= 0) return Piece::kLoose;
    const double s = slip(i);
    return s >= o.eps ? Piece::kPositive : s <= -o.eps ? Piece::kNegative : Piece::kWithin;
  }

  /// The piece at the start: a contact that just touches presses if the other forces press it on.
  Piece start_piece(std::size_t i) {
    const Contact& contact = terms.contacts[i];
    if (std::abs(contact.phi) > kRounding || std::abs(contact.Jn.dot(v)) > kRounding)
      return piece(i);
    if (contact.Jn.dot(inertia.solve(terms.forces)) + contact.bias_n >= 0) return Piece::kOpen;
    const double s = slip(i);
    return s >= o.eps ? Piece::kPositive : s <= -o.eps ? Piece::kNegative : Piece::kWithin;
  }

  /// Normal force (88), direction of friction and its slope in the slip (89)-(90).
  struct ContactForce {
    double normal = 0, unit = 0, unit_slope = 0;
    bool presses = false;
  };
  ContactForce contact_force(std::size_t i) const {
    const Piece on = pieces[i];
    if (on == Piece::kOpen || on == Piece::kLoose) return {};
    ContactForce f{raw_normal(i), on == Piece::kPositive ? 1.0 : -1.0, 0, true};
    if (on == Piece::kWithin) f.unit = slip(i) / o.eps, f.unit_slope = 1 / o.eps;
    return f;
  }

  /// Of all contacts at the state in `terms`, normal and tangential in turn.
  VectorXd contact_forces() const {
    VectorXd f(2 * static_cast<Eigen::Index>(pieces.size()));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const ContactForce now = contact_force(i);
      const auto at = 2 * static_cast<Eigen::Index>(i);
      f[at] = now.normal, f[at + 1] = -terms.contacts[i].mu * now.unit * now.normal;
    }
    return f;
  }

  /// Not finite where there is none.
  void derivative(double t, const VectorXd& y, VectorXd& ydot) {
    if (!moves_at(y, trouble, [&] { evaluate(t, y), factor_inertia(); })) {
      ydot.setConstant(NAN);
      if (y.allFinite()) barrier = std::min(barrier, t);
      return;
    }
    force = terms.forces;
    for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
      const ContactForce f = contact_force(i);
      if (!f.presses) continue;
      const Contact& contact = terms.contacts[i];
      force += f.normal * (contact.Jn - contact.mu * f.unit * contact.Jt.row(0)).transpose();
    }
    ydot.head(nv) = v;
    ydot.tail(nv) = inertia.solve(force);
  }

  /// Of the contact forces and of what the system says about its own; enough for Newton's method.
  void jacobian(double t, const VectorXd& y, MatrixXd& J) {
    evaluate(t, y);
    MatrixXd Kq = terms.Kq.size() ? terms.Kq : MatrixXd::Zero(nv, nv);
    MatrixXd Kv = terms.Kv.size() ? terms.Kv : MatrixXd::Zero(nv, nv);
    for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
      const ContactForce f = contact_force(i);
      if (!f.presses) continue;
      const Contact& c = terms.contacts[i];
      const VectorXd direction = (c.Jn - c.mu * f.unit * c.Jt.row(0)).transpose();
      Kq -= k[i] * direction * c.Jn;
      Kv -= damping[i] * direction * c.Jn;
      Kv -= c.mu * f.normal * f.unit_slope * c.Jt.row(0).transpose() * c.Jt.row(0);
    }
    inertia.compute(terms.M);
    J << MatrixXd::Zero(nv, nv), MatrixXd::Identity(nv, nv), inertia.solve(Kq), inertia.solve(Kv);
  }

  /// Where the piece of a contact ends at the state in `terms`: gap, normal force and the two ends
  /// of the sticking piece, each positive beyond its end [m], [m/s].
  Eigen::Array4d beyond(std::size_t i) const {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    const double gap = terms.contacts[i].phi, normal = raw_normal(i) / k[i], s = slip(i);
    switch (pieces[i]) {
      case Piece::kOpen:
        return {-gap, kNever, kNever, kNever};
      case Piece::kLoose:
        return {gap, normal, kNever, kNever};
      case Piece::kPositive:
        return {gap, -normal, o.eps - s, kNever};
      case Piece::kNegative:
        return {gap, -normal, kNever, s + o.eps};
      case Piece::kWithin:
        return {gap, -normal, s - o.eps, -o.eps - s};
    }
    return Eigen::Array4d::Constant(kNever);
  }
  Eigen::Array4Xd beyond() const {
    Eigen::Array4Xd all(4, pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) all.col(i) = beyond(i);
    return all;
  }

  /// How fast the contacts that touch approach, at most, at the state in `terms` [m/s].
  double approach() const {
    double fastest = -1;
    for (const Contact& contact : terms.contacts)
      if (contact.phi <= 0) fastest = std::max(fastest, -contact.Jn.dot(v));
    return fastest;
  }
};

Motion prepare(const System& system, const State& start, const CompliantOptions& o) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument(what); };
  if (!(o.end > start.time)) fail("end must be after the start");
  if (!(o.every >= 0)) fail("every must not be negative");
  if (!(o.eps > 0)) fail("eps must be positive");
  if (!(o.mass > 0)) fail("mass must be positive");
  if (!(o.damping_ratio >= 0)) fail("damping_ratio must not be negative");
  if (system.nq() != system.nv() || system.contacts_vary())
    fail(
        "compliant contacts need coordinates whose rates are the velocities, and contacts that are "
        "always the same; use time-stepping");
  if (start.q.size() != system.nq() || start.v.size() != system.nv())
    fail("start: q and v must have " + std::to_string(system.nv()) + " entries");
  if (!start.q.allFinite() || !start.v.allFinite()) fail("start: q and v must be finite");
  Motion motion{system, o, system.nv(), {}, {}};
  system.evaluate(start.time, start.q, start.v, motion.terms);
  if (motion.terms.A.rows() > 0)
    fail("compliant contacts need minimal coordinates: the mechanism has bilateral rows");
  require_one_tangent(motion.terms, "the compliant method");
  motion.factor_inertia();
  const std::size_t m = motion.terms.contacts.size();
  if (o.stiffness.size() != 1 && o.stiffness.size() != m)
    fail("stiffness must have one value, or one for each of the " + std::to_string(m) +
         " contacts");
  for (std::size_t i = 0; i < m; ++i) {
    const double k = o.stiffness[o.stiffness.size() == 1 ? 0 : i];
    if (!(k > 0) || !std::isfinite(k)) fail("stiffness must be positive");
    motion.k.push_back(k);
    motion.damping.push_back(2 * o.damping_ratio * std::sqrt(k * o.mass));
  }
  return motion;
}

/// An event where a contact opens or closes.
void note_change(const Motion& motion, int i, Motion::Piece before, double time, Trajectory& t) {
  using Piece = Motion::Piece;
  const Piece now = motion.pieces[i];
  if ((before == Piece::kOpen) == (now == Piece::kOpen)) return;
  t.events.push_back({.time = time,
                      .kind = now == Piece::kOpen ? EventKind::kLiftOff : EventKind::kImpact,
                      .contacts = {i},
                      .v_minus = motion.v,
                      .v_plus = motion.v,
                      .impulse = Eigen::VectorXd::Zero(2)});
}

/// A contact passes the end `side` of its piece, one of Motion::beyond: the next one.
void follow(Motion& motion, int i, int side, double time, Trajectory& t) {
  using Piece = Motion::Piece;
  Piece& on = motion.pieces[i];
  const Piece before = on;
  const auto slipping = [&] {
    const double s = motion.slip(i);
    return s > motion.o.eps    ? Piece::kPositive
           : s < -motion.o.eps ? Piece::kNegative
                               : Piece::kWithin;
  };
  if (side == 0 && on != Piece::kOpen) {
    on = Piece::kOpen;
  } else if (side == 0) {
    on = motion.raw_normal(i) > 0 ? slipping() : Piece::kLoose;
  } else if (side == 1) {
    on = on == Piece::kLoose ? slipping() : Piece::kLoose;
  } else if (on == Piece::kWithin) {
    on = side == 2 ? Piece::kPositive : Piece::kNegative;
  } else {
    on = Piece::kWithin;
  }
  note_change(motion, i, before, time, t);
}

/// Positions are known to rounding; what springs and dampers make of that in velocities [m/s].
double rounding_of_velocities(const Motion& motion, const State& start) {
  const CompliantOptions& o = motion.o;
  const double position =
      std::numeric_limits<double>::epsilon() * std::max(1.0, start.q.lpNorm<Eigen::Infinity>());
  const double stiffest =
      motion.k.empty() ? 0 : *std::max_element(motion.k.begin(), motion.k.end());
  return position * std::sqrt(stiffest / o.mass) / std::max(1.0, 2 * o.damping_ratio);
}

}  // namespace

Trajectory simulate(const System& system, const State& start, const CompliantOptions& options) {
  Motion motion = prepare(system, start, options);
  const int contacts = static_cast<int>(motion.k.size());
  const auto f = [&](double time, const VectorXd& y, VectorXd& ydot) {
    motion.derivative(time, y, ydot);
  };
  const auto df = [&](double time, const VectorXd& y, MatrixXd& J) { motion.jacobian(time, y, J); };
  const auto force = [&](double time, const VectorXd& y) {
    motion.evaluate(time, y);
    return motion.contact_forces();
  };

  Recorder recorder(
      start.time,
      {.every = options.every, .impulses = options.impulses, .progress = options.progress});
  Trajectory& t = recorder.log;
  recorder.impulse.setZero(2 * contacts);
  MechanicalEnergy energy(system);
  ode::Radau solver(
      {.rtol = options.relative,
       .atol = std::max(options.absolute, 8 * rounding_of_velocities(motion, start))});
  const auto q = [&] { return solver.x().head(motion.nv); };
  const auto v = [&] { return solver.x().tail(motion.nv); };
  const auto keep = [&] { recorder.keep(solver.t(), q(), v(), energy(solver.t(), q(), v())); };
  VectorXd y(2 * motion.nv);
  y << start.q, start.v;
  motion.evaluate(start.time, y);
  for (int i = 0; i < contacts; ++i) motion.pieces.push_back(motion.start_piece(i));
  std::vector<char> touched(contacts, 0);
  solver.start(f, start.time, y);
  keep();
  Eigen::Array4Xd ends = motion.beyond();

  bool over = false;
  const auto advance = [&] {
    const double limit = std::min(options.end, options.every > 0 ? recorder.due() : options.end);
    motion.barrier = HUGE_VAL;
    const bool stepped = solver.step(f, df, limit) == ode::StepStatus::kAccepted;
    if (motion.barrier - solver.t() <= kBarrier) throw std::invalid_argument(motion.trouble);
    if (!stepped)
      return recorder.stop(SimulationStatus::kTooStiff,
                           "no step is short enough for the contacts" + Recorder::at(solver.t()));
    ++t.steps;

    // the first end of a piece that was passed, and where
    motion.evaluate(solver.t(), solver.x());
    const Eigen::Array4Xd reached = motion.beyond();
    const auto passed = (reached > 0 && reached > ends).eval();
    const bool any = passed.any();
    if (any) {
      const double at = solver.first_positive([&](double time, const VectorXd& state) {
        motion.evaluate(time, state);
        return passed.select(motion.beyond(), -std::numeric_limits<double>::infinity()).maxCoeff();
      });
      if (at < solver.t()) solver.shorten(f, at);
    }

    // the end of the impact
    for (int i = 0; i < contacts; ++i)
      touched[i] = touched[i] || motion.pieces[i] != Motion::Piece::kOpen;
    if (options.resolved > 0 &&
        std::all_of(touched.begin(), touched.end(), [](char c) { return c; })) {
      const auto slow = [&](double time, const VectorXd& state) {
        motion.evaluate(time, state);
        return options.resolved - motion.approach();
      };
      over = slow(solver.t(), solver.x()) > 0;
      if (over) {
        const double at = solver.first_positive(slow);
        if (at < solver.t()) solver.shorten(f, at);
      }
    }
    if (options.impulses) solver.integrate(force, recorder.impulse);
    motion.evaluate(solver.t(), solver.x());
    ends = motion.beyond();
    if (any && !over) {
      Eigen::Index side = 0, contact = 0;
      passed.select(ends, -std::numeric_limits<double>::infinity()).maxCoeff(&side, &contact);
      follow(motion, contact, side, solver.t(), t);
      ends = motion.beyond();
      y = solver.x();
      solver.start(f, solver.t(), y);
    }
    for (const Contact& contact : motion.terms.contacts)
      t.max_penetration = std::max(t.max_penetration, -contact.phi);
    if (recorder.due() <= solver.t()) keep();
  };
  double now = solver.t();
  for (bool on = true; on && !over && now < options.end; on = on && recorder.goes_on(now)) {
    on = recorder.moves(now, advance);
    now = solver.t();
  }
  if (!recorder.kept(now)) keep();
  return recorder.finish({now, q(), v()});
}

}  // namespace routh
