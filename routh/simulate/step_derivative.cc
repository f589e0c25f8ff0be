#include "routh/simulate/step_derivative.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "routh/impact/derivative.h"
#include "routh/linear/decompose.h"
#include "routh/model/saddle.h"

namespace routh::stepping {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr double kBesideQ = 3e-6;    // steps of differences: in q, in its unit
constexpr double kBesideV = 1e-4;    // in v, of which terms are nearly quadratic: relative
constexpr double kSolved = 1e-6;     // largest residual of a step that counts as solved
constexpr double kDependent = 1e-9;  // pivots of rows that repeat others, relative
constexpr double kClosing = 1e-6;    // of a closing motion: what may be due to other rows

RowVectorXd slope_of_potential(const System& system, const VectorXd& q) {
  RowVectorXd slope(system.nv());
  for (Index j = 0; j < slope.size(); ++j) {
    const VectorXd e = VectorXd::Unit(slope.size(), j);
    VectorXd more = q, less = q;
    system.integrate(more, e, kBesideQ);
    system.integrate(less, e, -kBesideQ);
    slope[j] = (system.potential_energy(more) - system.potential_energy(less)) / (2 * kBesideQ);
  }
  return slope;
}

}  // namespace

/// ∂(q ⊕ way), as velocities there, by q and by the way.
struct Tangent::Manifold {
  MatrixXd by_q, by_way;
  MatrixXd basis;  // of what velocities do to the coordinates there; empty: 1

  Manifold(const System& system, const VectorXd& q, const VectorXd& way, const VectorXd& end) {
    const Index nv = way.size();
    by_q = by_way = MatrixXd::Identity(nv, nv);
    if (system.nq() == nv) return;
    MatrixXd ends(q.size(), 2 * nv);
    basis.resize(q.size(), nv);
    for (Index j = 0; j < nv; ++j) {
      const VectorXd e = kBesideQ * VectorXd::Unit(nv, j);
      for (const double side : {1., -1.}) {
        VectorXd by_first = q, by_second = q, there = end;
        system.integrate(by_first, e, side);
        system.integrate(by_first, way, 1);
        system.integrate(by_second, way + side * e, 1);
        system.integrate(there, e, side);
        const double weight = side / (2 * kBesideQ);
        const auto add = [&](auto column, const VectorXd& x) {
          column = side > 0 ? VectorXd(weight * x) : VectorXd(column + weight * x);
        };
        add(ends.col(j), by_first);
        add(ends.col(nv + j), by_second);
        add(basis.col(j), there);
      }
    }
    const MatrixXd both = linear::least_squares(basis, ends);
    by_q = both.leftCols(nv), by_way = both.rightCols(nv);
  }
  /// A small change of the coordinates at the end as a velocity.
  VectorXd velocity(const VectorXd& change) const {
    return basis.size() ? linear::least_squares(basis, change) : change;
  }
};

/// What the equations of a step are made of, or how that changes.
struct Tangent::Equations {
  MatrixXd M, implicit, A, J;  // inertia, M̃, rows of joints and of contacts, normals first
  VectorXd impulse, distance;  // h k̃; of each contact Φ/h where it may close by that
  double work = 0;             // against gravity and springs by closing joints and contacts [J]

  /// (this - other) / by.
  Equations slope(const Equations& other, double by) const {
    return {
        (M - other.M) / by,      (implicit - other.implicit) / by, (A - other.A) / by,
        (J - other.J) / by,      (impulse - other.impulse) / by,   (distance - other.distance) / by,
        (work - other.work) / by};
  }
};

/// A step as it was taken.
struct Tangent::Step {
  const Tangent& tangent;
  const Stepper& s;
  const double dt;
  const VectorXd q_raw, v_raw;  // before joints and contacts were closed
  std::vector<char> closed;     // contacts, for forces that ask
  std::string trouble;          // why it is not smooth
  Equations here;
  std::vector<int> rows;  // of A, that do not depend on each other
  VectorXd x, a;          // impulses of contacts and joints
  MatrixXd inverse, Mdag, T, W;
  std::optional<OutcomeDerivative> law;
  std::optional<Manifold> manifold;

  // what closes joints and contacts, an unknown y a row
  struct Closing {
    MatrixXd push, by_mu, along;  // of the rows [A; J]: P, its change with μ, what is to vanish
    std::vector<int> contact;     // or -1: a joint
    std::vector<char> at_end;     // a gap of the end, or a velocity along rows of the start?
    VectorXd give;
    MatrixXd moves, rows, inverse;  // M̃⁻¹Pᵀ, what is to vanish over velocities, y of it
    VectorXd y, motion;
    bool moved = false;
  } closing;
  bool scaled = false;
  double kinetic = 0;
  RowVectorXd slope_raw, slope_end;

  Step(const Tangent& t, const Stepper& stepper, double duration)
      : tangent(t), s(stepper), dt(duration), q_raw(t.q_solved_), v_raw(t.v_solved_) {
    if (!s.vary) {
      for (const double phi : s.phi) closed.push_back(phi <= kClosedGap);
    }
    here = equations(s.system, s.s.q, s.s.v);
  }

  int contacts() const { return static_cast<int>(s.in_solver.size()); }
  const Contact& contact(int place) const { return s.contact_of(place); }
  int tangent_row(int place) const { return contacts() + place * s.tangents; }

  /// The same contact at another configuration.
  const Contact& same(const Terms& terms, int place) {
    if (!s.vary) return terms.contacts[s.in_solver[place]];
    const Contact& wanted = contact(place);
    const auto found = std::find_if(terms.contacts.begin(), terms.contacts.end(),
                                    [&](const Contact& c) { return c.id == wanted.id; });
    if (found != terms.contacts.end()) return *found;
    trouble = "contact " + wanted.name + " is not found beside the state";
    return wanted;
  }

  Equations equations(const System& system, const VectorXd& q, const VectorXd& v) {
    VectorXd at = q;
    s.go_ahead(dt, v, at);
    Wanted wanted = s.wanted();
    if (!s.vary) wanted.closed = &closed;
    Terms terms;
    system.evaluate(s.here.time, at, v, terms, wanted);
    Equations e{.M = terms.M, .implicit = MatrixXd::Zero(v.size(), v.size()), .A = terms.A};
    if (!s.linearise(terms, v, dt, e.implicit, e.impulse)) e.implicit = terms.M;
    e.J = rows_of(terms);
    e.distance = VectorXd::Zero(contacts());
    if (std::find(s.apart.begin(), s.apart.end(), 1) == s.apart.end()) return e;
    if (s.midpoint) system.evaluate(s.here.time, q, v, terms, wanted);  // gaps are those of q
    for (int i = 0; i < contacts(); ++i) {
      if (s.apart[i]) e.distance[i] = same(terms, i).phi / dt;
    }
    return e;
  }
  MatrixXd rows_of(const Terms& terms) {
    const int m = contacts();
    MatrixXd J = MatrixXd::Zero((1 + s.tangents) * m, s.s.v.size());
    for (int i = 0; i < m; ++i) {
      const Contact& c = same(terms, i);
      J.row(i) = c.Jn;
      if (c.Jt.rows() > 0) J.middleRows(tangent_row(i), c.Jt.rows()) = c.Jt;
    }
    return J;
  }
  /// Rows of joints that count, and of contacts.
  MatrixXd all_rows(const MatrixXd& A, const MatrixXd& J) const {
    MatrixXd all(std::ssize(rows) + J.rows(), s.s.v.size());
    for (std::size_t i = 0; i < rows.size(); ++i) all.row(i) = A.row(rows[i]);
    all.bottomRows(J.rows()) = J;
    return all;
  }

  /// False: there is no derivative, and why.
  bool begin() {
    eliminate();
    read_impulses();
    if (contacts() > 0 && !read_law()) return false;
    manifold.emplace(s.system, s.s.q, s.way, q_raw);
    if (s.o.stabilise) begin_closing();
    return true;
  }
  void eliminate() {
    const Index nv = s.s.v.size();
    Measures measures;
    measures.take(here.implicit.diagonal(), here.A);
    IndependentRows independent(measures.coordinate);
    for (int i = 0; i < here.A.rows(); ++i) {
      if (independent.add(here.A.row(i))) rows.push_back(i);
    }
    const Index na = std::ssize(rows), n = nv + na;
    VectorXd unit(n);
    unit.head(nv) = measures.coordinate;
    MatrixXd K = MatrixXd::Zero(n, n);
    K.topLeftCorner(nv, nv) = here.implicit;
    for (Index i = 0; i < na; ++i) {
      unit[nv + i] = measures.row[rows[i]];
      K.row(nv + i).head(nv) = here.A.row(rows[i]);
      K.col(nv + i).head(nv) = -here.A.row(rows[i]).transpose();
    }
    const auto inverse_of = [&](Index size) {
      const auto by = unit.head(size).asDiagonal();
      return MatrixXd(by * linear::inverse(by * K.topLeftCorner(size, size) * by) * by);
    };
    inverse = inverse_of(nv);
    const MatrixXd whole = na > 0 ? inverse_of(n) : inverse;
    Mdag = whole.topLeftCorner(nv, nv), T = whole.topRightCorner(nv, na);
    W = Mdag * here.J.transpose();
  }
  void read_impulses() {
    x = VectorXd::Zero(here.J.rows());
    for (int i = 0; i < contacts(); ++i) {
      x[i] = s.solver.normal_impulse(i);
      for (int t = 0; t < s.tangents; ++t)
        x[tangent_row(i) + t] = s.solver.tangential_impulse(i, t);
    }
    const VectorXd rest =
        here.implicit * (s.v_alpha - s.s.v) - s.alpha * here.impulse - here.J.transpose() * x;
    const MatrixXd A = all_rows(here.A, MatrixXd(0, s.s.v.size()));
    a = rows.empty() ? VectorXd() : linear::least_squares(A.transpose(), rest);
  }
  bool read_law() {
    ImpactProblem p{.G = here.J * W, .tangents = s.tangents, .edges = s.o.edges};
    p.mu.resize(contacts());
    for (int i = 0; i < contacts(); ++i) p.mu[i] = contact(i).mu;
    VectorXd c_plus = here.J * s.v_alpha;
    c_plus.head(contacts()) += here.distance;
    p.c = c_plus - p.G * x;
    if (residual(p, x) > kSolved) {
      trouble = "a step is not solved well enough";
      return false;
    }
    law.emplace(p, Outcome{.impulse = x, .c_plus = c_plus});
    if (!law->determined()) trouble = "what the contacts do does not determine the velocity";
    if (!law->corners().empty())
      trouble =
          "contact " + contact(law->corners().front()).name + " is at the border of two modes";
    return true;
  }

  void begin_closing() {
    Closing& c = closing;
    const Index na = std::ssize(rows), width = na + here.J.rows();
    std::vector<RowVectorXd> push, by_mu, along;
    std::vector<double> give;
    const auto add = [&](int contact_of, const RowVectorXd& pushes, const RowVectorXd& with_mu,
                         const RowVectorXd& vanishes, bool at_end, double gives = 0) {
      push.push_back(pushes), by_mu.push_back(with_mu), along.push_back(vanishes);
      c.contact.push_back(contact_of), c.at_end.push_back(at_end), give.push_back(gives);
    };
    const RowVectorXd none = RowVectorXd::Zero(width);
    const auto unit = [&](Index row) { return RowVectorXd(RowVectorXd::Unit(width, row)); };
    for (Index i = 0; i < na; ++i) add(-1, unit(i), none, unit(i), true);
    for (int i = 0; i < contacts(); ++i) {
      const StepGuess does = s.solver.guess(i);
      if (does.mode == Grip::kOpen) continue;
      // what is near closes by itself in the next step
      const bool near = s.take_near && tangent.gaps_solved_[s.number_of(i)] > s.closed();
      const RowVectorXd n = unit(na + i);
      const Index t = na + tangent_row(i);
      RowVectorXd friction = none;
      if (does.mode == Grip::kSlidePositive) friction = -unit(t);
      if (does.mode == Grip::kSlideNegative) friction = unit(t);
      if (does.mode == Grip::kSlide)
        friction = does.friction.x() * unit(t) + does.friction.y() * unit(t + 1);
      add(i, n + contact(i).mu * friction, friction, n, !near);
      if (contact(i).mu == 0) continue;
      if (does.mode == Grip::kStick) {
        for (int k = 0; k < s.tangents; ++k) add(i, unit(t + k), none, unit(t + k), false);
      } else if (does.mode == Grip::kSlide && s.o.edges == 0) {
        const RowVectorXd across = does.friction.x() * unit(t + 1) - does.friction.y() * unit(t);
        add(i, across, none, across, false, does.give);
      }
    }
    const auto stacked = [&](const std::vector<RowVectorXd>& list) {
      MatrixXd all(std::ssize(list), width);
      for (std::size_t i = 0; i < list.size(); ++i) all.row(i) = list[i];
      return all;
    };
    c.push = stacked(push), c.by_mu = stacked(by_mu), c.along = stacked(along);
    c.give = Eigen::Map<const VectorXd>(give.data(), std::ssize(give));

    // along which rows, and how far it went
    Terms end;
    Wanted wanted;
    if (!s.vary) wanted.closed = &closed;
    s.system.evaluate(s.s.time, s.q_new, s.v_new, end, wanted);
    const MatrixXd start_rows = all_rows(here.A, here.J), end_rows = all_rows(end.A, rows_of(end));
    c.moves = inverse * (c.push * start_rows).transpose();
    c.rows = c.along * start_rows;
    const MatrixXd at_end = c.along * end_rows;
    for (Index i = 0; i < c.rows.rows(); ++i) {
      if (c.at_end[i]) c.rows.row(i) = at_end.row(i);
    }
    c.inverse = MatrixXd(c.rows * c.moves) + MatrixXd(c.give.asDiagonal());
    if (c.inverse.size() > 0)
      c.inverse = linear::least_squares(
          c.inverse, MatrixXd::Identity(c.inverse.rows(), c.inverse.rows()), kDependent);
    c.moved = s.q_new != q_raw;
    c.y = VectorXd::Zero(c.push.rows());
    c.motion = VectorXd::Zero(s.s.v.size());
    if (!c.moved) return;
    c.motion = manifold->velocity(s.q_new - q_raw);
    if (c.y.size() > 0) c.y = linear::least_squares(c.moves, c.motion);
    const double lost_digits = 16 * std::numeric_limits<double>::epsilon() * q_raw.norm();
    if ((c.moves * c.y - c.motion).norm() > kClosing * c.motion.norm() + lost_digits)
      trouble = "contacts that do not press are pushed out of an overlap";
    here.work = s.system.potential_energy(s.q_new) - s.system.potential_energy(q_raw);
    kinetic = 0.5 * v_raw.dot(here.M * v_raw);
    scaled = kinetic > 100 * std::abs(here.work);
    if (!scaled) return;
    slope_raw = slope_of_potential(s.system, q_raw);
    slope_end = slope_of_potential(s.system, s.q_new);
  }

  /// Of the state after the step, along a change of the equations, of q and v before it and of μ.
  VectorXd along(const Equations& d, const VectorXd& dq, const VectorXd& dv, const VectorXd& dmu) {
    const Index nv = dv.size(), na = std::ssize(rows);
    const VectorXd& w = s.v_alpha;
    const MatrixXd rows_change = all_rows(d.A, d.J);
    const auto dA = rows_change.topRows(na);
    const auto dJ = rows_change.bottomRows(here.J.rows());

    // the velocity
    VectorXd r =
        here.implicit * dv - d.implicit * (w - s.s.v) + s.alpha * d.impulse + dJ.transpose() * x;
    if (na > 0) r += dA.transpose() * a;
    VectorXd dw = Mdag * r;
    if (na > 0) dw -= T * (dA * w);
    if (law) {
      VectorXd dc = here.J * dw + dJ * w;
      dc.head(contacts()) += d.distance;
      const OutcomeChange change = (*law)(dc, {}, dmu);
      if (change.broken > kSolved) trouble = "redundant contacts do not stay as they are";
      dw += W * change.impulse;
    }
    VectorXd dv_end = dv + (dw - dv) / s.alpha;
    const VectorXd dway = dt * ((1 - s.gamma) * dv + s.gamma * dv_end);
    const VectorXd dq_raw = manifold->by_q * dq + manifold->by_way * dway;
    VectorXd dq_end = dq_raw;
    if (s.o.stabilise && closing.y.size() > 0) dq_end += closed_along(d, rows_change, dq_raw, dmu);

    // closing takes from the velocity what it gives to the potential
    if (scaled) {
      const double factor = std::sqrt(1 - here.work / kinetic);
      const double dwork = d.work + slope_end.dot(dq_end) - slope_raw.dot(dq_raw);
      const double dkinetic = v_raw.dot(here.M * dv_end) + 0.5 * v_raw.dot(d.M * v_raw);
      const double dfactor = (here.work / kinetic * dkinetic - dwork) / (2 * factor * kinetic);
      dv_end = factor * dv_end + dfactor * v_raw;
    }
    VectorXd end(2 * nv);
    end << dq_end, dv_end;
    return end;
  }
  /// Of the motion that closes joints and contacts.
  VectorXd closed_along(const Equations& d, const MatrixXd& rows_change, const VectorXd& dq_raw,
                        const VectorXd& dmu) const {
    const Closing& c = closing;
    VectorXd by_rows = (c.push * rows_change).transpose() * c.y;
    if (dmu.size() > 0) {
      VectorXd pushed = c.y;
      for (Index i = 0; i < pushed.size(); ++i)
        pushed[i] *= c.contact[i] < 0 ? 0 : dmu[c.contact[i]];
      by_rows += (c.by_mu * all_rows(here.A, here.J)).transpose() * pushed;
    }
    const VectorXd turned = inverse * (by_rows - d.implicit * c.motion);
    VectorXd open = -c.rows * turned;
    const VectorXd at_end = c.rows * dq_raw, at_start = c.along * rows_change * c.motion;
    for (Index i = 0; i < open.size(); ++i) open[i] -= c.at_end[i] ? at_end[i] : at_start[i];
    return turned + c.moves * (c.inverse * open);
  }
};

Tangent::Tangent(const System& system, const Masses& masses) : system_(system), masses_(masses) {
  const Index n = 2 * system.nv();
  so_far_.D = MatrixXd::Identity(n, n);
  so_far_.bodies = masses.bodies;
  so_far_.mass = MatrixXd::Zero(n, std::ssize(masses.bodies));
  so_far_.friction.resize(n, 0);
}

void Tangent::solved(const Stepper& stepper) {
  if (lost_) return;
  q_solved_ = stepper.q_new, v_solved_ = stepper.v_new, gaps_solved_ = stepper.phi_new;
}

Index Tangent::friction_column(const Contact& contact) {
  // contacts between the same two shapes are told apart by a number
  const std::string name =
      contact.pair < 0 ? contact.name : contact.name.substr(0, contact.name.rfind(':'));
  std::vector<std::string>& names = so_far_.contacts;
  const auto known = std::find(names.begin(), names.end(), name);
  const Index column = known - names.begin();
  if (known != names.end()) return column;
  names.push_back(name);
  so_far_.friction.conservativeResize(Eigen::NoChange, column + 1);
  so_far_.friction.col(column).setZero();
  return column;
}

void Tangent::follow(const Stepper& stepper, double dt) {
  if (lost_) return;
  Step step(*this, stepper, dt);
  if (!step.begin()) return lost(step.trouble, stepper.here.time);
  const VectorXd &q = stepper.s.q, &v = stepper.s.v;
  const Index nv = v.size();
  const VectorXd none = VectorXd::Zero(nv);

  // by the state before it
  MatrixXd D(2 * nv, 2 * nv);
  const double beside = kBesideV * (1 + v.lpNorm<Eigen::Infinity>());
  for (Index j = 0; j < nv; ++j) {
    const VectorXd e = VectorXd::Unit(nv, j);
    VectorXd more = q, less = q;
    system_.integrate(more, e, kBesideQ);
    system_.integrate(less, e, -kBesideQ);
    const Equations by_q =
        step.equations(system_, more, v).slope(step.equations(system_, less, v), 2 * kBesideQ);
    D.col(j) = step.along(by_q, e, none, {});
    const Equations by_v = step.equations(system_, q, v + beside * e)
                               .slope(step.equations(system_, q, v - beside * e), 2 * beside);
    D.col(nv + j) = step.along(by_v, none, e, {});
  }
  so_far_.D = D * so_far_.D;
  so_far_.mass = D * so_far_.mass;
  so_far_.friction = D * so_far_.friction;

  // and by what it was taken with
  const Equations constant = step.here.slope(step.here, 1);
  for (std::size_t b = 0; b < masses_.bodies.size(); ++b) {
    const System& heavier = masses_.heavier(b);
    Equations there = step.equations(heavier, q, v);
    if (step.scaled)
      there.work = heavier.potential_energy(stepper.q_new) - heavier.potential_energy(step.q_raw);
    else
      there.work = step.here.work;
    so_far_.mass.col(static_cast<Index>(b)) +=
        step.along(there.slope(step.here, masses_.by), none, none, {});
  }
  for (int i = 0; i < step.contacts(); ++i) {
    const Contact& contact = step.contact(i);
    if (contact.mu == 0 || contact.Jt.rows() == 0) continue;
    so_far_.friction.col(friction_column(contact)) +=
        step.along(constant, none, none, VectorXd::Unit(step.contacts(), i));
  }
  if (!step.trouble.empty()) not_smooth(step.trouble, stepper.here.time);
}

void Tangent::not_smooth(const std::string& why, double time) {
  if (so_far_.differentiable) so_far_.message = Recorder::timed(why, time);
  so_far_.differentiable = false;
}

void Tangent::lost(const std::string& why, double time) {
  if (lost_) return;
  lost_ = true;
  so_far_.differentiable = true;  // what was one-sided before is gone too
  not_smooth(why, time);
  for (MatrixXd* all : {&so_far_.D, &so_far_.mass, &so_far_.friction})
    all->setConstant(std::numeric_limits<double>::quiet_NaN());
}

MotionDerivative Tangent::result() const { return so_far_; }

}  // namespace routh::stepping
