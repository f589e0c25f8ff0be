#include "routh/simulate/compliant.h"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include "routh/simulate/reduce.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRounding = 1e-13;  // of gaps and their rates at the start [m], [m/s]
constexpr long kRestSteps = 1000;    // without motion, after which a mechanism rests for good
constexpr long kFirstSteps = 10;     // in which contacts that touch at the start begin to press

/// y = (q, v) and its derivative, evaluated where CVODE asks.
struct Motion {
  const System& system;
  const CompliantOptions& o;
  int nv;
  std::vector<double> k, damping;  // of each contact
  Terms terms = {};
  VectorXd q = {}, v = {}, force = {}, gaps = {}, joints = {};
  Eigen::LLT<MatrixXd> inertia = {};

  void read(N_Vector y) {
    const double* data = N_VGetArrayPointer(y);
    q = Eigen::Map<const VectorXd>(data, nv);
    v = Eigen::Map<const VectorXd>(data + nv, nv);
  }

  /// Which smooth piece of (88)-(90) each contact is on; CVODE stops where one ends.
  enum class Piece { kOpen, kSlack, kPositive, kNegative, kWithin };  // kWithin: |slip| < ε
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
    if (raw_normal(i) <= 0) return Piece::kSlack;
    const double s = slip(i);
    return s >= o.eps ? Piece::kPositive : s <= -o.eps ? Piece::kNegative : Piece::kWithin;
  }

  /// The piece at the start: a contact that just touches presses if the other forces press it on.
  Piece start_piece(std::size_t i) {
    const Contact& contact = terms.contacts[i];
    if (std::abs(contact.phi) > kRounding || std::abs(contact.Jn.dot(v)) > kRounding)
      return piece(i);
    inertia.compute(terms.M);
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
    if (on == Piece::kOpen || on == Piece::kSlack) return {};
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

  void derivative(double t, N_Vector y, N_Vector ydot) {
    read(y);
    system.evaluate(t, q, v, terms);
    force = terms.forces;
    for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
      const ContactForce f = contact_force(i);
      if (!f.presses) continue;
      const Contact& contact = terms.contacts[i];
      force += f.normal * (contact.Jn - contact.mu * f.unit * contact.Jt.row(0)).transpose();
    }
    inertia.compute(terms.M);
    double* out = N_VGetArrayPointer(ydot);
    Eigen::Map<VectorXd>(out, nv) = v;
    Eigen::Map<VectorXd>(out + nv, nv) = inertia.solve(force);
  }

  /// Of the contact forces and of what the system says about its own; enough for Newton's method.
  void jacobian(double t, N_Vector y, SUNMatrix J) {
    read(y);
    system.evaluate(t, q, v, terms);
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
    SUNMatZero(J);
    const MatrixXd dq = inertia.solve(Kq), dv = inertia.solve(Kv);
    for (int j = 0; j < nv; ++j) {
      SM_ELEMENT_D(J, j, nv + j) = 1;
      for (int i = 0; i < nv; ++i) {
        SM_ELEMENT_D(J, nv + i, j) = dq(i, j);
        SM_ELEMENT_D(J, nv + i, nv + j) = dv(i, j);
      }
    }
  }
};

int right_hand_side(double t, N_Vector y, N_Vector ydot, void* motion) {
  static_cast<Motion*>(motion)->derivative(t, y, ydot);
  return 0;
}
int right_hand_side_jacobian(double t, N_Vector y, N_Vector, SUNMatrix J, void* motion, N_Vector,
                             N_Vector, N_Vector) {
  static_cast<Motion*>(motion)->jacobian(t, y, J);
  return 0;
}
/// Four roots of each contact: gap, normal force, and the two ends of the sticking piece.
int piece_ends(double t, N_Vector y, double* roots, void* motion) {
  auto& m = *static_cast<Motion*>(motion);
  m.read(y);
  m.system.evaluate(t, m.q, m.v, m.terms);
  for (std::size_t i = 0; i < m.k.size(); ++i) {
    const double s = m.slip(i);
    roots[4 * i] = m.terms.contacts[i].phi;
    roots[4 * i + 1] = m.raw_normal(i) / m.k[i];
    roots[4 * i + 2] = s - m.o.eps;
    roots[4 * i + 3] = s + m.o.eps;
  }
  return 0;
}

void check(int flag, const char* what) {
  if (flag < 0)
    throw std::runtime_error(std::string("CVODE: ") + what + " failed with code " +
                             std::to_string(flag));
}

/// CVODE's objects, freed in their order.
struct Solver {
  SUNContext context = nullptr;
  N_Vector y = nullptr, tolerance = nullptr;
  SUNMatrix J = nullptr;
  SUNLinearSolver linear = nullptr;
  void* cvode = nullptr;

  explicit Solver(int n) {
    check(SUNContext_Create(nullptr, &context), "context");
    y = N_VNew_Serial(n, context);
    J = SUNDenseMatrix(n, n, context);
    linear = SUNLinSol_Dense(y, J, context);
    cvode = CVodeCreate(CV_BDF, context);
    if (!y || !J || !linear || !cvode) throw std::runtime_error("CVODE: out of memory");
  }
  ~Solver() {
    CVodeFree(&cvode);
    SUNLinSolFree(linear);
    SUNMatDestroy(J);
    N_VDestroy(y);
    SUNContext_Free(&context);
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
};

Motion prepare(const System& system, const State& start, const CompliantOptions& o) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument(what); };
  if (!(o.end > start.time)) fail("end must be after the start");
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

/// A contact reaches the end of its piece: the next one, by the direction of the crossing.
void follow(Motion& motion, int i, const int* crossed, double time, Trajectory& t) {
  using Piece = Motion::Piece;
  Piece& on = motion.pieces[i];
  const Piece before = on;
  const auto slipping = [&] {
    const double s = motion.slip(i);
    return s > motion.o.eps    ? Piece::kPositive
           : s < -motion.o.eps ? Piece::kNegative
                               : Piece::kWithin;
  };
  if (crossed[0] > 0) {
    on = Piece::kOpen;
  } else if (crossed[0] < 0) {
    on = motion.raw_normal(i) > 0 ? slipping() : Piece::kSlack;
  } else if (on != Piece::kOpen && crossed[1] != 0) {
    on = crossed[1] < 0 ? Piece::kSlack : slipping();
  } else if (on != Piece::kOpen && on != Piece::kSlack) {
    if (crossed[2] != 0) on = crossed[2] > 0 ? Piece::kPositive : Piece::kWithin;
    if (crossed[3] != 0) on = crossed[3] < 0 ? Piece::kNegative : Piece::kWithin;
  }
  note_change(motion, i, before, time, t);
}

/// Contacts that CVODE lost, because two of their roots lay closer together than its time
/// resolution: those that are on another side of the ground than their piece. True: there were
/// some.
bool regain(Motion& motion, double time, Trajectory& t) {
  constexpr double kLost = 1e-11;  // gap on the wrong side [m]
  bool any = false;
  for (int i = 0; i < static_cast<int>(motion.pieces.size()); ++i) {
    const bool open = motion.pieces[i] == Motion::Piece::kOpen;
    if (open ? motion.gaps[i] >= -kLost : motion.gaps[i] <= kLost) continue;
    if (!any) motion.system.evaluate(time, motion.q, motion.v, motion.terms);
    any = true;
    const Motion::Piece before = motion.pieces[i];
    motion.pieces[i] = motion.piece(i);
    note_change(motion, i, before, time, t);
  }
  return any;
}

}  // namespace

Trajectory simulate(const System& system, const State& start, const CompliantOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  Motion motion = prepare(system, start, options);
  const int nv = motion.nv, contacts = static_cast<int>(motion.k.size());
  Solver solver(2 * nv);
  double* y = N_VGetArrayPointer(solver.y);
  Eigen::Map<VectorXd>(y, nv) = start.q;
  Eigen::Map<VectorXd>(y + nv, nv) = start.v;
  check(CVodeInit(solver.cvode, right_hand_side, start.time, solver.y), "start");
  check(CVodeSetUserData(solver.cvode, &motion), "data");
  check(CVodeSStolerances(solver.cvode, options.relative, options.absolute), "tolerances");
  check(CVodeSetLinearSolver(solver.cvode, solver.linear, solver.J), "linear solver");
  check(CVodeSetJacFn(solver.cvode, right_hand_side_jacobian), "derivative");
  check(CVodeRootInit(solver.cvode, 4 * contacts, piece_ends), "contacts");
  check(CVodeSetMaxNumSteps(solver.cvode, 10'000'000), "steps");
  check(CVodeSetStopTime(solver.cvode, options.end), "end");
  check(CVodeSetNoInactiveRootWarn(solver.cvode), "warnings");
  check(CVodeSetErrFile(solver.cvode, nullptr), "messages");

  Trajectory t;
  const auto record = [&](double time) {
    motion.read(solver.y);
    system.evaluate(time, motion.q, motion.v, motion.terms);
    t.time.push_back(time);
    t.q.push_back(motion.q);
    t.v.push_back(motion.v);
    t.energy.push_back(kinetic_energy(motion.terms, motion.v) + system.potential_energy(motion.q));
  };
  record(start.time);
  std::vector<char> touched(contacts, 0);
  for (int i = 0; i < contacts; ++i) motion.pieces.push_back(motion.start_piece(i));

  double time = start.time, next_record = start.time + options.every;
  VectorXd forces = motion.contact_forces(), impulses = VectorXd::Zero(2 * contacts);
  long rested = 0;
  while (time < options.end) {
    const double before = time;
    const int flag = CVode(solver.cvode, options.end, solver.y, &time, CV_ONE_STEP);
    check(flag, "a step");
    ++t.steps;
    motion.read(solver.y);
    if (options.impulses || flag == CV_ROOT_RETURN)
      system.evaluate(time, motion.q, motion.v, motion.terms);
    if (options.impulses) {
      const VectorXd reached = motion.contact_forces();
      impulses += 0.5 * (time - before) * (forces + reached);
      forces = reached;
    }
    if (flag == CV_SUCCESS && t.steps <= kFirstSteps) {
      // CVODE does not see where roots go that are zero at the start
      system.evaluate(time, motion.q, motion.v, motion.terms);
      bool changed = false;
      for (int i = 0; i < contacts; ++i) {
        const Motion::Piece now = motion.piece(i);
        changed = changed || now != motion.pieces[i];
        motion.pieces[i] = now;
      }
      if (changed) {
        forces = motion.contact_forces();
        check(CVodeReInit(solver.cvode, time, solver.y), "restart");
      }
    }
    if (flag == CV_ROOT_RETURN) {
      std::vector<int> found(4 * contacts);
      check(CVodeGetRootInfo(solver.cvode, found.data()), "change of a contact");
      for (int i = 0; i < contacts; ++i) follow(motion, i, found.data() + 4 * i, time, t);
      if (options.impulses) forces = motion.contact_forces();
      check(CVodeReInit(solver.cvode, time, solver.y), "restart");
    }
    system.gaps(motion.q, motion.gaps, motion.joints);
    if (regain(motion, time, t)) {
      if (options.impulses) forces = motion.contact_forces();
      check(CVodeReInit(solver.cvode, time, solver.y), "restart");
    }
    for (int i = 0; i < contacts; ++i)
      touched[i] = touched[i] || motion.pieces[i] != Motion::Piece::kOpen;
    if (contacts > 0) t.max_penetration = std::max(t.max_penetration, -motion.gaps.minCoeff());
    if (options.every == 0 || time >= next_record || time >= options.end) {
      record(time);
      if (options.impulses) t.impulse.push_back(impulses);
      impulses.setZero();
      while (options.every > 0 && next_record <= time) next_record += options.every;
    }

    // at rest to within the width of (89)-(90), steps would stay at the resolution of rounding
    rested = motion.v.lpNorm<Eigen::Infinity>() <= options.eps ? rested + 1 : 0;
    if (rested > kRestSteps) {
      time = options.end;
      record(time);
      if (options.impulses) {
        system.evaluate(time, motion.q, motion.v, motion.terms);
        t.impulse.push_back((time - t.time[t.time.size() - 2]) * motion.contact_forces());
      }
      break;
    }

    // is the impact over?
    if (options.resolved > 0 &&
        std::all_of(touched.begin(), touched.end(), [](char c) { return c; })) {
      system.evaluate(time, motion.q, motion.v, motion.terms);
      bool approaching = false;
      for (const Contact& contact : motion.terms.contacts)
        approaching =
            approaching || (contact.phi <= 0 && contact.Jn.dot(motion.v) < -options.resolved);
      if (!approaching) break;
    }
    if (options.progress && !options.progress(time)) {
      t.status = SimulationStatus::kInterrupted;
      break;
    }
  }
  t.final = {time, motion.q, motion.v};
  t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return t;
}

}  // namespace routh
