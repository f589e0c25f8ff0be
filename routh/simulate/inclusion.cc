#include "routh/simulate/inclusion.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "routh/impact/polytopes.h"
#include "routh/simulate/hybrid.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// Builds the path point by point; each call says what happens until the next point.
struct Builder {
  InclusionPath path = {};

  void point(double s, double t, const VectorXd& q, const VectorXd& v, double rate,
             const VectorXd& normal_rate) {
    path.s.push_back(s), path.t.push_back(t);
    path.q.push_back(q), path.v.push_back(v);
    path.rate.push_back(rate), path.normal_rate.push_back(normal_rate);
  }
};

/// Normal forces of all contacts in a mode.
VectorXd normal_forces(const System& system, const State& state, const Mode& mode) {
  HybridOptions options;
  options.mode = mode;
  options.touching = 1e-3;
  return instant(system, state, options).normal.cwiseMax(0);
}

/// Where the slip of an impact at one contact ends before the impact does: Routh's path bends
/// there.
struct Bend {
  double impulse = 0;  // normal, until there
  VectorXd v;
};
std::optional<Bend> slip_end(const System& system, double time, const VectorXd& q, const Event& e) {
  int which = -1;
  for (std::size_t i = 0; i < e.contacts.size(); ++i) {
    if (e.impulse[2 * static_cast<Eigen::Index>(i)] <= 0) continue;
    if (which >= 0) return {};
    which = static_cast<int>(i);
  }
  const Terms terms = system.terms(q, e.v_minus, time);
  if (which < 0 || terms.A.rows() > 0) return {};
  const Contact& contact = terms.contacts[e.contacts[which]];
  const double normal = e.impulse[2 * which], ct = contact.Jt.row(0).dot(e.v_minus);
  if (std::abs(ct) <= 1e-9 * (1 + e.v_minus.norm())) return {};
  const Eigen::LLT<Eigen::MatrixXd> inertia(terms.M);
  const VectorXd push =
      inertia.solve((contact.Jn - contact.mu * (ct > 0 ? 1 : -1) * contact.Jt.row(0)).transpose());
  const double rate = contact.Jt.row(0).dot(push);
  const double until = rate * ct < 0 ? -ct / rate : normal;
  if (until >= normal * (1 - 1e-9)) return {};
  return Bend{until, e.v_minus + until * push};
}

bool jumps(const Event& e) { return e.kind == EventKind::kImpact && e.impulse.size() > 0; }

}  // namespace

InclusionPath inclusion(const System& system, const Trajectory& trajectory) {
  const Trajectory& t = trajectory;
  if (t.modes.empty() || t.mode_at.size() != t.time.size())
    throw std::invalid_argument("inclusion: the trajectory must come from the hybrid method");
  Builder build;
  const auto m = static_cast<Eigen::Index>(
      system.terms(t.q.front(), t.v.front(), t.time.front()).contacts.size());
  double s = 0, last_impact = 0;
  std::vector<double> spans;  // of s between impacts
  std::size_t next = 0;       // event
  const auto force_at = [&](double time, const VectorXd& q, const VectorXd& v, const Mode& mode) {
    return normal_forces(system, {time, q, v}, mode);
  };

  // impacts at the very start
  const auto take_impacts = [&](double until, double time, const VectorXd& q) {
    for (; next < t.events.size() && t.events[next].time <= until; ++next) {
      const Event& e = t.events[next];
      if (!jumps(e)) continue;
      VectorXd rates = VectorXd::Zero(m);
      double total = 0;
      for (std::size_t i = 0; i < e.contacts.size(); ++i) {
        rates[e.contacts[i]] += std::max(0.0, e.impulse[2 * static_cast<Eigen::Index>(i)]);
        total += std::max(0.0, e.impulse[2 * static_cast<Eigen::Index>(i)]);
      }
      if (total <= 0) continue;
      build.point(s, time, q, e.v_minus, 0, rates / total);
      if (const auto bend = slip_end(system, time, q, e)) {
        build.point(s + bend->impulse, time, q, bend->v, 0, rates / total);
      }
      s += total;
      spans.push_back(s - last_impact);
      last_impact = s;
    }
  };
  take_impacts(t.time.front(), t.time.front(), t.q.front());

  for (std::size_t k = 0; k + 1 < t.time.size(); ++k) {
    const Mode& mode = t.modes[t.mode_at[k]];
    const double t0 = t.time[k], t1 = t.time[k + 1];
    const bool event = next < t.events.size() && t.events[next].time <= t1;
    const bool zeno = event && t.events[next].kind == EventKind::kZeno;
    if (t1 > t0) {
      const VectorXd f0 = force_at(t0, t.q[k], t.v[k], mode);
      if (zeno) {
        // the tail of impacts: s shrinks by the same ratio as time
        double tail = (1 + f0.sum()) * (t1 - t0);
        if (spans.size() > 1 && spans.back() < spans[spans.size() - 2]) {
          const double ratio = spans.back() / spans[spans.size() - 2];
          tail = spans.back() * ratio / (1 - ratio);
        }
        const double rate = (t1 - t0) / tail;
        const double force = f0.sum() > 0 ? f0.sum() : 1;
        build.point(s, t0, t.q[k], t.v[k], rate, (1 - rate) / force * f0);
        s += tail;
        build.path.zeno = s;
      } else {
        const VectorXd& v1 = event ? t.events[next].v_minus : t.v[k + 1];
        const VectorXd f1 = force_at(t1, t.q[k + 1], v1, mode);
        const VectorXd force = 0.5 * (f0 + f1);
        const double slow = 1 + force.sum();
        build.point(s, t0, t.q[k], t.v[k], 1 / slow, force / slow);
        s += slow * (t1 - t0);
      }
    }
    take_impacts(t1, t1, t.q[k + 1]);
  }
  build.point(s, t.time.back(), t.q.back(), t.v.back(), 1, VectorXd::Zero(m));
  return build.path;
}

double inclusion_residual(const System& system, const InclusionPath& path) {
  double worst = 0;
  VectorXd before, after, joints;
  for (std::size_t k = 0; k + 1 < path.s.size(); ++k) {
    const double ds = path.s[k + 1] - path.s[k];
    if (ds <= 1e-9 * path.s.back() || path.s[k + 1] == path.zeno)
      continue;  // rounding, or the tail
    const VectorXd q = 0.5 * (path.q[k] + path.q[k + 1]), v = 0.5 * (path.v[k] + path.v[k + 1]);
    const Terms terms = system.terms(q, v, 0.5 * (path.t[k] + path.t[k + 1]));
    const Eigen::LLT<Eigen::MatrixXd> inertia(terms.M);
    const auto n = v.size();
    const auto stack = [&](const VectorXd& dq, const VectorXd& dv, double dt) {
      VectorXd x(2 * n + 1);
      x << dq, dv, dt;
      return x;
    };

    // D: the contactless flow unless a contact collides, and unit impulses of contacts that touch
    // at both ends of the piece
    system.gaps(path.q[k], before, joints);
    system.gaps(path.q[k + 1], after, joints);
    Polytope set{.dimension = 0, .corners = {}};
    bool colliding = false;
    const double speed = std::max(1e-3, v.cwiseAbs().maxCoeff());
    for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
      const Contact& contact = terms.contacts[i];
      const double cn = contact.Jn.dot(v), ct = contact.Jt.row(0).dot(v);
      if (std::max(before[i], after[i]) > 1e-10 || cn > 1e-3 * speed) continue;
      if (cn < -1e-3 * speed) colliding = true;
      for (const double sign : {-1.0, 1.0}) {
        if (std::abs(ct) > 1e-3 * speed && sign * ct > 0) continue;  // friction opposes the slip
        set.corners.push_back(stack(
            VectorXd::Zero(n),
            inertia.solve((contact.Jn + sign * contact.mu * contact.Jt.row(0)).transpose()), 0));
      }
    }
    if (!colliding) set.corners.push_back(stack(v, inertia.solve(terms.forces), 1));
    double size = 0;
    for (const VectorXd& corner : set.corners) size = std::max(size, corner.norm());
    const VectorXd slope = stack((path.q[k + 1] - path.q[k]) / ds, (path.v[k + 1] - path.v[k]) / ds,
                                 (path.t[k + 1] - path.t[k]) / ds);
    worst = std::max(worst, nearest_point({set}, slope).distance / std::max(1e-12, size));
  }
  return worst;
}

}  // namespace routh
