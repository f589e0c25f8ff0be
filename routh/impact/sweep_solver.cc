#include "routh/impact/sweep_solver.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "routh/lcp/lemke.h"

namespace routh {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr double kRegular = 1e-7;  // diagonal for redundant rows, relative
constexpr int kPatience = 12;      // sweeps between attempts at modes that still change
constexpr int kSlow = 36;          // sweeps after which modes are corrected
constexpr int kRounds = 30;        // of the proximal point method
constexpr int kCorrections = 8;    // of modes, one after the other

double bound_of(const VectorXd& bound, int i) {
  return bound.size() ? bound[i] : std::numeric_limits<double>::infinity();
}

}  // namespace

SweepSolver::SweepSolver(const ImpactProblem& given)
    : units_(given), m_(given.contacts()), edges_(given.edges) {
  validate(given);
  if (given.tangents != 2)
    throw std::invalid_argument("SweepSolver: only problems in space (tangents = 2)");
  const ImpactProblem& problem = problem_;
  std::vector<int> rows;
  for (int i = 0; i < m_; ++i) {
    rows.insert(rows.end(), {i, problem.tangent(i), problem.tangent(i) + 1});
  }
  G_ = problem.G(rows, rows);
  const MatrixXd D = friction_edges(problem);
  for (int e = 0; e < edges_; ++e) {
    const Vector2d next = D.col((e + 1) % edges_);
    d_.push_back(D.col(e));
    side_.push_back(next - d_[e]);
    out_.push_back(0.5 * (next + d_[e]));
  }
  for (int i = 0; i < m_; ++i) {
    Local at{.G = G_.block<3, 3>(3 * i, 3 * i), .mu = problem.mu[i]};
    at.inverse = at.G.completeOrthogonalDecomposition().pseudoInverse();
    at.inverse_t = Eigen::Matrix2d(at.G.bottomRightCorner<2, 2>())
                       .completeOrthogonalDecomposition()
                       .pseudoInverse();
    for (int e = 0; e < edges_; ++e) {
      at.push.push_back(at.G.col(0) + at.mu * at.G.rightCols<2>() * d_[e]);
      at.turn.push_back(at.G.rightCols<2>() * side_[e]);
    }
    local_.push_back(std::move(at));
  }
}

/// Does no other edge brake the slip ct more than edge e?
bool SweepSolver::brakes_most(int e, const Vector2d& ct, double slack) const {
  return side_[e].dot(ct) >= -slack && side_[(e + edges_ - 1) % edges_].dot(ct) <= slack;
}

bool SweepSolver::in_cone(const Vector2d& friction, double size, double slack) const {
  const double reach = size * out_[0].squaredNorm() + slack;
  return std::all_of(out_.begin(), out_.end(),
                     [&](const Vector2d& out) { return out.dot(friction) <= reach; });
}

/// The impulse of a mode at the velocity `free` that the contact has without it, if consistent.
bool SweepSolver::try_mode(const Local& at, const ContactMode& mode, const Vector3d& free,
                           double bound, double slack, Vector3d& lambda) const {
  const bool closed = mode.normal == Normal::kClosed;
  const int e = mode.edge;
  const double slack_impulse = slack;  // normalised: mobilities are about one
  if (mode.normal == Normal::kOpen) {
    lambda.setZero();
    return free[0] >= 0;
  }
  if (closed && !(at.G(0, 0) > 0)) return false;
  Vector3d after;
  switch (mode.tangent) {
    case Tangent::kFree:
      lambda = {closed ? -free[0] / at.G(0, 0) : bound, 0, 0};
      after = free + at.G.col(0) * lambda[0];
      break;
    case Tangent::kStick:
      if (closed) {
        lambda.noalias() = -at.inverse * free;
      } else {
        lambda[0] = bound;
        lambda.tail<2>().noalias() =
            -at.inverse_t * (free.tail<2>() + at.G.block<2, 1>(1, 0) * bound);
      }
      if (!in_cone(lambda.tail<2>(), at.mu * lambda[0], slack_impulse)) return false;
      after = free + at.G * lambda;
      if (after.tail(closed ? 3 : 2).lpNorm<Eigen::Infinity>() > 1e3 * slack) return false;
      break;
    case Tangent::kSlip: {
      if (closed && !(at.push[e][0] > 1e-12 * at.G(0, 0))) return false;
      const double n = closed ? -free[0] / at.push[e][0] : bound;
      after = free + at.push[e] * n;
      if (!brakes_most(e, after.tail<2>(), slack)) return false;
      lambda << n, at.mu * n * d_[e];
      break;
    }
    case Tangent::kTurn: {
      const Vector2d& side = side_[e];
      const double pn = at.push[e][0], tn = at.turn[e][0];
      const double pt = side.dot(at.push[e].tail<2>()), tt = side.dot(at.turn[e].tail<2>());
      const double ct = side.dot(free.tail<2>());
      double n = bound, share = 0;
      if (closed) {
        const double det = pn * tt - tn * pt;
        if (!(std::abs(det) > 1e-13 * at.G(0, 0) * tt)) return false;
        n = (tn * ct - tt * free[0]) / det;
        share = (pt * free[0] - pn * ct) / det;
      } else {
        if (!(tt > 0)) return false;
        share = -(ct + pt * n) / tt;
      }
      if (share < -slack_impulse || share > at.mu * n + slack_impulse) return false;
      after = free + at.push[e] * n + at.turn[e] * share;
      if (out_[e].dot(after.tail<2>()) > slack) return false;
      lambda << n, at.mu * n * d_[e] + share * side;
      break;
    }
  }
  if (closed) return lambda[0] >= -slack_impulse && lambda[0] <= bound + slack_impulse;
  return after[0] <= slack;
}

/// Solves a contact, beginning with the mode it had. False when no mode is consistent.
bool SweepSolver::solve_contact(int contact, const Vector3d& free, double bound, double slack,
                                Vector3d& lambda) {
  const Local& at = local_[contact];
  ContactMode& mode = modes_[contact];
  if (try_mode(at, mode, free, bound, slack, lambda)) return true;
  const auto found = [&](const ContactMode& candidate) {
    if (!try_mode(at, candidate, free, bound, slack, lambda)) return false;
    mode = candidate;
    return true;
  };
  if (found({Normal::kOpen, Tangent::kFree})) return true;
  for (const Normal normal : {Normal::kClosed, Normal::kSaturated}) {
    if (normal == Normal::kSaturated && std::isinf(bound)) continue;
    if (at.mu == 0) {
      if (found({normal, Tangent::kFree})) return true;
      continue;
    }
    if (found({normal, Tangent::kStick})) return true;
    for (int e = 0; e < edges_; ++e) {
      if (found({normal, Tangent::kSlip, e}) || found({normal, Tangent::kTurn, e})) return true;
    }
  }
  return false;
}

/// The linear equations of the modes with a diagonal that pulls the impulses towards those in `x`,
/// weaker with every repetition; false when they have no solution.
bool SweepSolver::solve_modes(const VectorXd& bound, double diagonal, int repeats, VectorXd& x) {
  // unknown impulses (columns of S), velocities that vanish (rows of Z), three entries each
  struct Sparse {
    int contact;
    Vector3d entries;
  };
  std::vector<Sparse> S;
  std::vector<double> start;
  VectorXd fixed = VectorXd::Zero(3 * m_);
  std::vector<Vector3d> Z;
  for (int i = 0; i < m_; ++i) {
    const auto [normal, tangent, e] = modes_[i];
    if (normal == Normal::kOpen) continue;
    const Vector3d now = x.segment<3>(3 * i);
    Vector3d push = Vector3d::UnitX();
    if (tangent == Tangent::kSlip || tangent == Tangent::kTurn)
      push.tail<2>() = local_[i].mu * d_[e];
    if (normal == Normal::kClosed) {
      S.push_back({i, push});
      start.push_back(now[0]);
      Z.push_back(Vector3d::UnitX());
    } else {
      fixed.segment<3>(3 * i) = bound[i] * push;
    }
    if (tangent == Tangent::kStick) {
      for (const int t : {1, 2}) {
        S.push_back({i, Vector3d::Unit(t)});
        start.push_back(now[t]);
        Z.push_back(Vector3d::Unit(t));
      }
    }
    if (tangent == Tangent::kTurn) {
      const Vector3d turn(0, side_[e].x(), side_[e].y());
      S.push_back({i, turn});
      const Vector2d beyond = now.tail<2>() - push.tail<2>() * now[0];
      start.push_back(beyond.dot(side_[e]) / side_[e].squaredNorm());
      Z.push_back(turn);
    }
  }
  const int k = static_cast<int>(S.size());
  x = fixed;
  if (k == 0) return true;
  const VectorXd c = c_ + G_ * fixed;
  MatrixXd K(k, k);
  VectorXd rhs(k);
  for (int r = 0; r < k; ++r) {
    const int a = 3 * S[r].contact;
    rhs[r] = -Z[r].dot(c.segment<3>(a));
    for (int q = 0; q < k; ++q)
      K(r, q) = Z[r].dot(G_.block<3, 3>(a, 3 * S[q].contact) * S[q].entries);
  }
  MatrixXd regular = K;
  regular.diagonal().array() += diagonal;
  const Eigen::PartialPivLU<MatrixXd> lu(regular);
  VectorXd u = Eigen::Map<const VectorXd>(start.data(), k);
  for (int repeat = 0; repeat < repeats; ++repeat) u += lu.solve(rhs - K * u);
  if (!u.allFinite()) return false;
  for (int q = 0; q < k; ++q) x.segment<3>(3 * S[q].contact) += u[q] * S[q].entries;
  return true;
}

/// Residual of an impulse given contact by contact.
double SweepSolver::measure(const VectorXd& bound, const VectorXd& x) {
  VectorXd lambda(3 * m_);
  for (int i = 0; i < m_; ++i) {
    lambda[i] = x[3 * i];
    lambda.segment<2>(m_ + 2 * i) = x.segment<2>(3 * i + 1);
  }
  return routh::residual(problem_, lambda, bound);
}

void SweepSolver::consider(const VectorXd& bound, const VectorXd& x) {
  const double r = measure(bound, x);
  if (!(r < residual_)) return;
  residual_ = r;
  best_ = x;
  best_modes_ = modes_;
}

/// The mode that a contact takes when its own is contradicted by impulse and velocity. False: it is
/// not.
bool SweepSolver::correct_mode(int contact, double bound, const Vector3d& lambda, const Vector3d& c,
                               double slack) {
  ContactMode& mode = modes_[contact];
  const Local& at = local_[contact];
  const double slack_impulse = slack;
  const Vector2d friction = lambda.tail<2>(), slip = c.tail<2>();
  const Tangent rough = at.mu > 0 ? Tangent::kStick : Tangent::kFree;
  const auto turn_to = [&](const ContactMode& other) {
    mode = other;
    return true;
  };
  if (mode.normal == Normal::kOpen) return c[0] < -slack && turn_to({Normal::kClosed, rough});
  if (mode.normal == Normal::kClosed) {
    if (lambda[0] < -slack_impulse) return turn_to({Normal::kOpen, Tangent::kFree});
    if (lambda[0] > bound + slack_impulse)
      return turn_to({Normal::kSaturated, mode.tangent, mode.edge});
  }
  if (mode.normal == Normal::kSaturated && c[0] > slack)
    return turn_to({Normal::kClosed, mode.tangent, mode.edge});
  const int e = mode.edge, before = (e + edges_ - 1) % edges_;
  const double load = std::max(0.0, lambda[0]);
  switch (mode.tangent) {
    case Tangent::kFree:
      return false;
    case Tangent::kStick: {
      if (in_cone(friction, at.mu * load, slack_impulse)) return false;
      int most = 0;
      for (int k = 1; k < edges_; ++k) {
        if (d_[k].dot(friction) > d_[most].dot(friction)) most = k;
      }
      return turn_to({mode.normal, Tangent::kSlip, most});
    }
    case Tangent::kSlip:
      if (brakes_most(e, slip, slack)) return false;
      if (d_[e].dot(slip) > 0) return turn_to({mode.normal, Tangent::kStick});
      return turn_to({mode.normal, Tangent::kTurn, side_[e].dot(slip) < -slack ? e : before});
    case Tangent::kTurn: {
      const double share =
          side_[e].dot(friction - at.mu * lambda[0] * d_[e]) / side_[e].squaredNorm();
      if (share < -slack_impulse) return turn_to({mode.normal, Tangent::kSlip, e});
      if (share > at.mu * load + slack_impulse)
        return turn_to({mode.normal, Tangent::kSlip, (e + 1) % edges_});
      return out_[e].dot(slip) > slack && turn_to({mode.normal, Tangent::kStick});
    }
  }
  return false;
}

/// Corrects all modes that impulses and velocities contradict; false: there are none.
bool SweepSolver::correct_modes(const VectorXd& bound, const VectorXd& x, const VectorXd& c,
                                double slack) {
  bool corrected = false;
  for (int i = 0; i < m_; ++i) {
    corrected |=
        correct_mode(i, bound_of(bound, i), x.segment<3>(3 * i), c.segment<3>(3 * i), 100 * slack);
  }
  return corrected;
}

/// The equations of the modes that the sweeps found; modes that the solution contradicts are
/// corrected and the equations solved again, this many times.
void SweepSolver::solve_and_correct(const VectorXd& bound, int corrections, double tolerance,
                                    double slack) {
  const Modes before = modes_;
  for (int round = 0;; ++round) {
    VectorXd x = VectorXd::Zero(3 * m_);  // redundant rows: small impulses
    if (!solve_modes(bound, kRegular * G_.diagonal().maxCoeff(), 5, x)) break;
    consider(bound, x);
    if (residual_ <= tolerance) return;
    if (round == corrections || !correct_modes(bound, x, c_ + G_ * x, slack)) break;
  }
  modes_ = before;
}

/// The proximal point method: a sequence of problems with G + δ I and c - δ x of the last, so well
/// conditioned that their modes settle in a few corrections; impulses that hardly move anything
/// grow from one to the next until friction is used up somewhere.
void SweepSolver::approach(const VectorXd& bound, double tolerance, double slack) {
  const Modes before = modes_;
  const double size = G_.diagonal().maxCoeff();
  double diagonal = 1e-4 * size;
  VectorXd base = best_;
  modes_ = best_modes_;
  for (int round = 0; round < kRounds && diagonal < size; ++round) {
    const Modes entered = modes_;
    VectorXd x;
    bool settled = false;
    for (int k = 0; k < kCorrections && !settled; ++k) {
      x = base;
      if (!solve_modes(bound, diagonal, 1, x)) break;
      settled = !correct_modes(bound, x, c_ + G_ * x + diagonal * (x - base), slack);
    }
    if (!settled) {
      diagonal *= 10;
      modes_ = entered;
      continue;
    }
    base = x;
    consider(bound, x);
    if (residual_ <= tolerance) return;
    diagonal = std::max(0.3 * diagonal, 1e-9 * size);
  }
  modes_ = before;
}

bool SweepSolver::solve(const VectorXd& c_given, const VectorXd& bound_given,
                        const std::vector<int>& order, const Options& options, VectorXd& lambda) {
  const VectorXd c = c_given / units_.speed, bound = units_.impulse_from(bound_given);
  lambda = units_.impulse_from(lambda);
  const bool solved = solve_normalised(c, bound, order, options, lambda);
  lambda = units_.impulse_to(lambda);
  c_plus_ *= units_.speed;
  return solved;
}

bool SweepSolver::solve_normalised(const VectorXd& c, const VectorXd& bound,
                                   const std::vector<int>& order, const Options& options,
                                   VectorXd& lambda) {
  problem_.c = c;
  c_.resize(3 * m_);
  x_.resize(3 * m_);
  for (int i = 0; i < m_; ++i) {
    c_[3 * i] = c[i], x_[3 * i] = lambda[i];
    c_.segment<2>(3 * i + 1) = c.segment<2>(m_ + 2 * i);
    x_.segment<2>(3 * i + 1) = lambda.segment<2>(m_ + 2 * i);
  }
  now_ = c_ + G_ * x_;
  const double slack = 1e-13 * c.lpNorm<Eigen::Infinity>();
  if (modes_.size() != static_cast<std::size_t>(m_))
    modes_.assign(m_, {Normal::kOpen, Tangent::kFree});

  best_ = x_;
  best_modes_ = modes_;
  residual_ = std::numeric_limits<double>::infinity();
  by_lemke_ = false;
  int attempt_at = kPatience, correct_at = kSlow, settled = 0;
  bool still = false;
  for (sweeps_ = 1; sweeps_ <= options.sweeps && !still; ++sweeps_) {
    bool changed = false;
    double moved = 0;
    for (const int i : order) {
      const Vector3d old = x_.segment<3>(3 * i);
      const Vector3d free = now_.segment<3>(3 * i) - local_[i].G * old;
      const ContactMode before = modes_[i];
      Vector3d fresh;
      if (!solve_contact(i, free, bound_of(bound, i), slack, fresh)) continue;
      const ContactMode& after = modes_[i];
      changed = changed || before.normal != after.normal || before.tangent != after.tangent ||
                before.edge != after.edge;
      const Vector3d step = fresh - old;
      if (step.isZero(0)) continue;
      moved = std::max(moved, step.lpNorm<Eigen::Infinity>() * local_[i].G(0, 0));
      x_.segment<3>(3 * i) = fresh;
      now_.noalias() += G_.middleCols<3>(3 * i) * step;
    }
    still = moved <= slack;
    settled = changed ? 0 : settled + 1;
    if (settled != 1 && sweeps_ < attempt_at && !still) continue;
    consider(bound, x_);
    if (residual_ <= options.tolerance) break;
    const bool slow = sweeps_ >= correct_at || still;
    solve_and_correct(bound, slow ? kCorrections : 0, options.tolerance, slack);
    if (slow && residual_ > options.tolerance) approach(bound, options.tolerance, slack);
    if (residual_ <= options.tolerance) break;
    attempt_at = sweeps_ + kPatience;
    if (slow) correct_at = 2 * sweeps_;
  }
  if (residual_ > options.tolerance) {
    consider(bound, x_);
    const lcp::LemkeResult found =
        lcp::lemke(bound.size() ? step_lcp(problem_, bound) : simultaneous_lcp(problem_));
    const VectorXd by_pivots = impulse_from_lcp(problem_, found.z);
    if (const double r = routh::residual(problem_, by_pivots, bound); r < residual_) {
      by_lemke_ = true;
      residual_ = r;
      lambda = by_pivots;
      c_plus_ = c + problem_.G * lambda;
      return residual_ <= options.tolerance;
    }
  }
  modes_ = best_modes_;
  for (int i = 0; i < m_; ++i) {
    lambda[i] = best_[3 * i];
    lambda.segment<2>(m_ + 2 * i) = best_.segment<2>(3 * i + 1);
  }
  c_plus_ = c + problem_.G * lambda;
  if (residual_ > options.tolerance) return false;
  // rows that depend on vanishing ones vanish as well; a mode's zero is written where it is one
  c_plus_ = (c_plus_.array().abs() <= slack).select(0, c_plus_);
  const double zero = 10 * options.tolerance * c.lpNorm<Eigen::Infinity>();
  for (int i = 0; i < m_; ++i) {
    if (modes_[i].normal == Normal::kClosed && std::abs(c_plus_[i]) <= zero) c_plus_[i] = 0;
    auto slip = c_plus_.segment<2>(m_ + 2 * i);
    if (modes_[i].tangent == Tangent::kStick && slip.lpNorm<Eigen::Infinity>() <= zero)
      slip.setZero();
  }
  return true;
}

}  // namespace routh
