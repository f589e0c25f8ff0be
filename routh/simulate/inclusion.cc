#include "routh/simulate/inclusion.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/impact/bounce_walk.h"
#include "routh/impact/polytopes.h"
#include "routh/model/kkt.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/reduce.h"

namespace routh {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kRounded = 1e-11;  // of gaps [m]
constexpr double kKnown = 1e-7;     // of the fastest velocity: jumps below this are rounding

/// Builds the path point by point; each call says what happens until the next point.
struct Builder {
  InclusionPath path = {};
  double s = 0;

  void point(double t, const VectorXd& q, const VectorXd& v, double rate,
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

/// From the order of events to that of c: in_turn() the other way round.
VectorXd by_rows(const ImpactProblem& problem, const VectorXd& in_turn) {
  const Index m = problem.contacts();
  VectorXd impulse(2 * m);
  for (Index i = 0; i < m; ++i)
    impulse[i] = in_turn[2 * i], impulse[problem.tangent(static_cast<int>(i))] = in_turn[2 * i + 1];
  return impulse;
}

/// Impulses at which the path of an impact bends, and at its end: the law's, or one that leads to
/// its outcome.
std::vector<VectorXd> corners(const ImpactProblem& problem, const Event& e) {
  std::vector<VectorXd> all;
  for (const VectorXd& at : e.path) all.push_back(by_rows(problem, at));
  if (!all.empty()) return all;
  const VectorXd impulse = by_rows(problem, e.impulse);
  all = path_to(problem, {impulse, problem.c + problem.G * impulse});
  if (all.empty()) all.push_back(impulse);
  return all;
}

bool jumps(const Event& e) { return e.kind == EventKind::kImpact && e.impulse.size() > 0; }

/// The velocity's path in an impact. Returns the normal impulse it takes.
double take_impact(const System& system, double time, const VectorXd& q, const Event& e, Index m,
                   Builder& build) {
  const double before = build.s;
  const ReducedImpact reduced = reduce(system.terms(q, e.v_minus, time), e.v_minus, e.contacts);
  VectorXd from = VectorXd::Zero(e.impulse.size());
  for (const VectorXd& to : corners(reduced.problem, e)) {
    VectorXd normal = VectorXd::Zero(m);
    for (std::size_t i = 0; i < e.contacts.size(); ++i) {
      const auto at = static_cast<Index>(i);
      normal[e.contacts[i]] += std::max(0.0, to[at] - from[at]);
    }
    const double total = normal.sum();
    if (total <= 0) continue;
    build.point(time, q, reduced.lift(e.v_minus, from), 0, normal / total);
    build.s += total;
    from = to;
  }
  return build.s - before;
}

struct Range {
  double least = HUGE_VAL, most = -HUGE_VAL;
  void take(double x) { least = std::min(least, x), most = std::max(most, x); }
};

}  // namespace

InclusionPath inclusion(const System& system, const Trajectory& trajectory) {
  const Trajectory& t = trajectory;
  const bool impulses = !t.time.empty() && t.impulse.size() + 1 == t.time.size();
  const HybridExtras* hybrid = t.hybrid();
  if (!impulses && (!hybrid || hybrid->mode_at.size() != t.time.size())) {
    throw std::invalid_argument(
        "inclusion: the contact forces are not known; ask the simulation for its impulses, or use "
        "the hybrid method");
  }
  if (system.nq() != system.nv() || system.contacts_vary())
    throw std::invalid_argument(
        "inclusion: needs coordinates whose rates are the velocities, and contacts that are always "
        "the same");
  const std::vector<VectorXd>& v = t.stepping() ? t.stepping()->v_raw : t.v;
  const Terms at_start = system.terms(t.q.front(), t.v.front(), t.time.front());
  require_one_tangent(at_start, "inclusion");
  const auto m = static_cast<Index>(at_start.contacts.size());
  const bool fits = std::all_of(t.impulse.begin(), t.impulse.end(),
                                [m](const VectorXd& x) { return x.size() == 2 * m; });
  if (impulses && !fits)
    throw std::invalid_argument("inclusion: the trajectory's impulses are not those of the " +
                                std::to_string(m) + " contacts of the system");
  Builder build;
  double last_impact = 0;
  std::vector<double> spans;  // of s between impacts
  std::size_t next = 0;       // event
  const auto take_impacts = [&](double time, const VectorXd& q) {
    for (; next < t.events.size() && t.events[next].time <= time; ++next) {
      if (!jumps(t.events[next])) continue;
      if (take_impact(system, time, q, t.events[next], m, build) <= 0) continue;
      spans.push_back(build.s - last_impact);
      last_impact = build.s;
    }
  };
  // mean normal forces from a recorded state to the next
  const auto mean_forces = [&](std::size_t k, const VectorXd& v_end) -> VectorXd {
    if (impulses) {
      const Eigen::Map<const VectorXd, 0, Eigen::InnerStride<2>> normal(t.impulse[k].data(), m);
      return normal.cwiseMax(0) / (t.time[k + 1] - t.time[k]);
    }
    const Mode& mode = hybrid->modes[hybrid->mode_at[k]];
    return 0.5 * (normal_forces(system, {t.time[k], t.q[k], v[k]}, mode) +
                  normal_forces(system, {t.time[k + 1], t.q[k + 1], v_end}, mode));
  };

  take_impacts(t.time.front(), t.q.front());
  for (std::size_t k = 0; k + 1 < t.time.size(); ++k) {
    const double t0 = t.time[k], t1 = t.time[k + 1];
    const bool event = next < t.events.size() && t.events[next].time <= t1;
    if (t1 > t0 && event && t.events[next].kind == EventKind::kZeno) {
      // the tail of impacts: s shrinks by the same ratio as time
      const VectorXd force =
          normal_forces(system, {t0, t.q[k], v[k]}, hybrid->modes[hybrid->mode_at[k]]);
      double tail = (1 + force.sum()) * (t1 - t0);
      if (spans.size() > 1 && spans.back() < spans[spans.size() - 2]) {
        const double ratio = spans.back() / spans[spans.size() - 2];
        tail = spans.back() * ratio / (1 - ratio);
      }
      const double rate = (t1 - t0) / tail;
      build.point(t0, t.q[k], v[k], rate, (1 - rate) / std::max(1e-300, force.sum()) * force);
      build.path.zeno = build.s += tail;
    } else if (t1 > t0) {
      const VectorXd force = mean_forces(k, event ? t.events[next].v_minus : v[k + 1]);
      const double slow = 1 + force.sum();
      build.point(t0, t.q[k], v[k], 1 / slow, force / slow);
      build.s += slow * (t1 - t0);
    }
    take_impacts(t1, t.q[k + 1]);
  }
  build.point(t.time.back(), t.q.back(), v.back(), 1, VectorXd::Zero(m));
  return build.path;
}

InclusionResidual inclusion_residual(const System& system, const InclusionPath& path,
                                     const InclusionTolerance& tolerance) {
  if (system.nq() != system.nv())
    throw std::invalid_argument("inclusion: coordinates must have their velocities as rates");
  InclusionResidual result;
  double length = 0, fastest = 0;
  for (const VectorXd& v : path.v) fastest = std::max(fastest, v.norm());
  VectorXd before, after, joints;
  Terms there;
  for (std::size_t k = 0; k + 1 < path.s.size(); ++k) {
    const double ds = path.s[k + 1] - path.s[k];
    if (ds <= 1e-9 * path.s.back() || path.s[k + 1] == path.zeno)
      continue;  // rounding, or the tail
    // laws know velocities to a part of the fastest
    const bool jump = path.t[k + 1] == path.t[k];
    if (jump && (path.v[k + 1] - path.v[k]).norm() <= kKnown * fastest) continue;
    const VectorXd q = 0.5 * (path.q[k] + path.q[k + 1]), v = 0.5 * (path.v[k] + path.v[k + 1]);
    const Terms terms = system.terms(q, v, 0.5 * (path.t[k] + path.t[k + 1]));
    const Mobility mobility(terms.M, terms.A);
    const Eigen::MatrixXd Mdag = mobility.Mdag();
    const auto n = v.size();
    const auto stack = [&](const VectorXd& dq, const VectorXd& dv, double dt) {
      VectorXd x(2 * n + 1);
      x << dq, dv, dt;
      return x;
    };

    // contact velocities range over a piece that takes time
    std::vector<Range> normal(terms.contacts.size()), tangential(terms.contacts.size());
    for (const VectorXd& at : {path.q[k], q, path.q[k + 1]}) {
      if (!jump) system.evaluate(path.t[k], at, v, there);
      for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
        const Contact& contact = jump ? terms.contacts[i] : there.contacts[i];
        for (const VectorXd& moving : {jump ? v : path.v[k], v, jump ? v : path.v[k + 1]}) {
          normal[i].take(contact.Jn.dot(moving));
          tangential[i].take(contact.Jt.row(0).dot(moving));
        }
      }
      if (jump) break;
    }

    // D: the contactless flow unless a contact collides, and unit impulses of contacts that touch
    system.gaps(path.q[k], before, joints);
    system.gaps(path.q[k + 1], after, joints);
    const double zero = std::max(tolerance.slow, tolerance.still * v.cwiseAbs().maxCoeff());
    Polytope set{.dimension = 0, .corners = {}};
    bool colliding = false;
    for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
      const Contact& contact = terms.contacts[i];
      if (std::min(before[i], after[i]) > tolerance.gap || normal[i].least > zero) continue;
      // time passes although it touches and approaches; a gap as wide as the way had some to go
      const double way = -normal[i].most * (path.t[k + 1] - path.t[k]);
      const bool stands = jump || before[i] < 0.5 * way - kRounded;
      colliding = colliding || (std::max(before[i], after[i]) <= tolerance.gap &&
                                normal[i].most < -zero && stands);
      for (const double sign : {-1.0, 1.0}) {
        // friction opposes the slip
        if (sign > 0 ? tangential[i].least > zero : tangential[i].most < -zero) continue;
        const VectorXd push = (contact.Jn + sign * contact.mu * contact.Jt.row(0)).transpose();
        set.corners.push_back(stack(VectorXd::Zero(n), Mdag * push, 0));
      }
    }
    if (!colliding) {
      set.corners.push_back(stack(v, mobility.acceleration(terms.forces, terms.joint_bias), 1));
    }
    double size = 0;
    for (const VectorXd& corner : set.corners) size = std::max(size, corner.norm());
    const VectorXd slope = stack((path.q[k + 1] - path.q[k]) / ds, (path.v[k + 1] - path.v[k]) / ds,
                                 (path.t[k + 1] - path.t[k]) / ds);
    const double distance = nearest_point({set}, slope).distance / std::max(1e-12, size);
    if (distance > result.largest) result.largest = distance, result.at = path.s[k];
    result.mean += distance * ds;
    length += ds;
  }
  if (length > 0) result.mean /= length;
  return result;
}

}  // namespace routh
