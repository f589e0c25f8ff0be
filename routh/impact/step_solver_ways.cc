// How StepSolver comes to a solution: its active set first, then ways for when that cycles.

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "routh/impact/interior_point.h"
#include "routh/impact/problem.h"
#include "routh/impact/step_solver.h"
#include "routh/lcp/lemke.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr int kMostSystems = 24;   // before the active set counts as cycling
constexpr int kMostInSpace = 12;   // the same where an interior point method comes next
constexpr int kMostAnywhere = 10;  // the same from impulses that are not those of the last step
constexpr int kFewContacts = 6;    // of which modes may be guessed
constexpr int kManyContacts = 16;  // for the interior point method in the plane
constexpr int kMostForLemke = 60;  // contacts
constexpr int kLemkeEdges = 8;     // of the polygon that stands for a disk there
constexpr int kRounds = 40;        // of the proximal point method
constexpr int kMostInRound = 12;   // systems
constexpr double kInexact = 0.1;   // residual of a round, of what the last one left
constexpr double kAbove = 3,
                 kSink =
                     0.8;  // how far to stay above a diagonal that was too small, and for how long
constexpr int kEasy = 2;   // systems of a round after which the next is a bold one

}  // namespace

/// Projected Gauss-Seidel from the current impulses, then the modes they suggest.
void StepSolver::sweep(int sweeps) {
  const auto velocity = [&](int r) { return c_[r] + row_times(r, u_); };
  const auto set = [&](int r, double x) {
    const double change = x - x_[r];
    if (change == 0) return;
    x_[r] = x;
    add_push(r, change, u_);
  };
  apply_rows();
  for (int k = 0; k < sweeps; ++k) {
    for (int r = 0; r < bilateral_; ++r) {
      if (own(r) > 0) set(r, x_[r] - velocity(r) / own(r));
    }
    for (const StepContact& contact : contacts_) {
      const int t = contact.n + 1;
      if (own(contact.n) > 0)
        set(contact.n,
            std::clamp(x_[contact.n] - velocity(contact.n) / own(contact.n), 0.0, contact.most));
      if (contact.tangents == 1 && own(t) > 0) {
        const double limit = contact.mu * x_[contact.n];
        set(t, std::clamp(x_[t] - velocity(t) / own(t), -limit, limit));
      } else if (contact.tangents == 2 && contact.g > 0) {
        const Vector2d now(velocity(t), velocity(t + 1));
        const Vector2d to = into_cone(contact, Vector2d(x_[t], x_[t + 1]) - now / contact.g);
        set(t, to.x()), set(t + 1, to.y());
      }
    }
  }
  apply_rows();
  read_modes();
}

/// The proximal point method: a sequence of problems with a diagonal that pulls towards the
/// impulses of the last, so well conditioned that their modes settle in a few corrections; impulses
/// that hardly move anything grow from one to the next until friction is used up somewhere.
void StepSolver::approach(double tolerance) {
  double diagonal = 1e-5, floor = 0;
  std::vector<double> nearest = x_;
  double least = HUGE_VAL;
  base_ = x_;
  measure();
  double now = std::min(residual_, 1.0);
  for (int round = 0; round < kRounds && diagonal < 1; ++round) {
    const std::vector<StepContact> entered = contacts_;
    proximal_ = diagonal;
    const int before = systems_;
    const bool settled = active_set(in_space() ? kMostInRound : kMostSystems, kInexact * now);
    proximal_ = 0;
    if (!settled) {
      floor = kAbove * diagonal;
      diagonal *= 10;
      contacts_ = entered;
      continue;
    }
    base_ = x_;
    apply_rows();
    measure();
    now = std::min(residual_, 1.0);
    if (now < least) least = now, nearest = x_;
    if (least <= tolerance) break;
    diagonal = std::max({(systems_ - before > kEasy ? 0.3 : 0.1) * diagonal, floor, 1e-9});
    floor *= kSink;
  }
  x_ = nearest;
  apply_rows();
  read_modes();
}

/// Lemke's algorithm on the contacts alone, the bilateral rows eliminated.
void StepSolver::lemke_search() {
  const int n = static_cast<int>(rows_.size()), m = contacts();
  MatrixXd full(n, n);
  for (int r = 0; r < n; ++r) {
    for (int s = 0; s < n; ++s) full(r, s) = coupling(r, s);
  }
  VectorXd c = Eigen::Map<const VectorXd>(c_.data(), n);
  MatrixXd elimination = MatrixXd::Zero(bilateral_, n - bilateral_);
  VectorXd fixed = VectorXd::Zero(bilateral_);
  if (bilateral_ > 0) {
    // rows of the same size, whatever their units
    const auto own = full.diagonal().head(bilateral_);
    const VectorXd unit = own.unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 1; });
    const auto joints =
        MatrixXd(unit.asDiagonal() * full.topLeftCorner(bilateral_, bilateral_) * unit.asDiagonal())
            .fullPivLu();
    const auto solved = [&](const MatrixXd& right) -> MatrixXd {
      return unit.asDiagonal() * joints.solve(MatrixXd(unit.asDiagonal() * right));
    };
    elimination = solved(full.topRightCorner(bilateral_, n - bilateral_));
    fixed = solved(c.head(bilateral_));
  }
  const int k = n - bilateral_;
  const MatrixXd G =
      full.bottomRightCorner(k, k) - full.bottomLeftCorner(k, bilateral_) * elimination;
  const VectorXd cc = c.tail(k) - full.bottomLeftCorner(k, bilateral_) * fixed;

  // contact space orders normals before tangents; a contact without friction has empty ones
  int tangents = 1;
  for (const StepContact& contact : contacts_) tangents = std::max(tangents, contact.tangents);
  ImpactProblem problem{.G = MatrixXd::Zero((1 + tangents) * m, (1 + tangents) * m),
                        .c = VectorXd::Zero((1 + tangents) * m),
                        .mu = VectorXd::Zero(m),
                        .tangents = tangents,
                        .edges = edges_ > 0 ? edges_ : kLemkeEdges};
  std::vector<int> from, to;
  for (int i = 0; i < m; ++i) {
    const StepContact& contact = contacts_[i];
    problem.mu[i] = contact.mu;
    from.push_back(contact.n - bilateral_), to.push_back(i);
    for (int t = 0; t < contact.tangents; ++t)
      from.push_back(contact.n + 1 + t - bilateral_), to.push_back(problem.tangent(i) + t);
  }
  for (std::size_t a = 0; a < from.size(); ++a) {
    problem.c[to[a]] = cc[from[a]];
    for (std::size_t b = 0; b < from.size(); ++b) problem.G(to[a], to[b]) = G(from[a], from[b]);
  }
  // in units of its own: Lemke's ties are of order one
  const double mobility = problem.G.diagonal().head(m).mean(), speed = scale_;
  problem.G /= mobility, problem.c /= speed;
  VectorXd bound(m);
  for (int i = 0; i < m; ++i) bound[i] = mobility / speed * contacts_[i].most;
  const lcp::LemkeResult found =
      lcp::lemke(bound.allFinite() ? step_lcp(problem, bound) : simultaneous_lcp(problem));
  const VectorXd impulse = speed / mobility * impulse_from_lcp(problem, found.z);
  VectorXd x = VectorXd::Zero(k);
  for (std::size_t a = 0; a < from.size(); ++a) x[from[a]] = impulse[to[a]];
  const VectorXd joints = -fixed - elimination * x;
  for (int r = 0; r < n; ++r) x_[r] = r < bilateral_ ? joints[r] : x[r - bilateral_];
  apply_rows();
  read_modes();
}

/// Impulses without bounds, friction cones without corners.
bool StepSolver::interior_serves() const {
  return std::all_of(contacts_.begin(), contacts_.end(), [&](const StepContact& c) {
    return std::isinf(c.most) && (c.tangents < 2 || edges_ == 0);
  });
}

bool StepSolver::in_space() const {
  return std::any_of(contacts_.begin(), contacts_.end(),
                     [](const StepContact& c) { return c.tangents == 2; });
}

bool StepSolver::solve(double tolerance) {
  const bool solved = search(tolerance);
  change_ = u_;
  to_motion(change_);
  return solved;
}

bool StepSolver::search(double tolerance) {
  const std::size_t n = rows_.size();
  x_ = start_;
  c_plus_ = c_;
  u_.setZero();
  residual_ = 0;
  systems_ = 0;
  scale_ = 0;
  for (const double c : c_) scale_ = std::max(scale_, std::abs(c));
  if (n == 0 || scale_ == 0) {
    std::fill(x_.begin(), x_.end(), 0.0);
    return true;
  }
  if (!ordered_) order_rows();
  for (StepContact& contact : contacts_) {
    if (!moves(contact)) contact.mode = Grip::kOpen;
  }

  // modes of many contacts that are only guessed lead nowhere
  const bool cold = contacts() >= kCrowd && interior_serves() &&
                    std::none_of(contacts_.begin(), contacts_.end(),
                                 [](const StepContact& c) { return c.mode != Grip::kOpen; });
  // in space an interior point method comes next, which is quick where an active set cycles
  const bool spatial = !restarted_ && interior_serves() && in_space();
  const int systems = cold                         ? 0
                      : spatial                    ? kMostInSpace
                      : !restarted_                ? kMostSystems
                      : contacts() <= kFewContacts ? kMostAnywhere
                                                   : 0;
  const bool settled = active_set(systems);
  if (systems == 0) apply_rows();
  measure();
  if (residual_ <= tolerance) {
    if (!settled) read_modes(), factor_modes();
    return true;
  }

  // other ways, and the best impulses that any of them found
  best_ = x_;
  double least = residual_;
  const auto keep_better = [&] {
    measure();
    if (residual_ < least) least = residual_, best_ = x_;
    return least <= tolerance;
  };
  const auto approach_from = [&](const std::vector<double>& x) {
    x_ = x;
    apply_rows();
    read_modes();
    may_pivot_ = true;
    approach(tolerance);
    return keep_better();
  };
  const bool crowd = contacts() >= kCrowd && interior_serves();
  // near the last step's impulses the solution is not far; from others sweeps come to it sooner
  const bool pivots = may_pivot_;
  if (!crowd && !spatial && !restarted_ && approach_from(start_)) return factor_modes(), true;
  if (spatial || (contacts() >= kManyContacts && interior_serves())) {
    // bodies nearly at rest first, then such that fly about
    static constexpr InteriorPoint::Path kPaths[] = {
        {.proximal = 1e-6, .shrink = 0.01, .follow = 1},
        {.proximal = 1e-2, .shrink = 0.1, .follow = 0.9},
        {.proximal = 1e-3, .shrink = 0.1, .follow = 0.8},
        {.proximal = 1e-4, .shrink = 0.1, .follow = 1}};
    for (const InteriorPoint::Path& path : kPaths) {
      may_pivot_ = may_pivot_ || (spatial && !crowd);
      if (interior(tolerance, path)) {
        factor_modes();
        return true;
      }
      keep_better();
      const std::vector<double> inside = x_;
      if (crowd || !spatial) {
        active_set(kMostSystems);
        if (keep_better()) return true;
      }
      if (approach_from(inside)) return factor_modes(), true;
    }
  }
  if (spatial && !crowd && approach_from(start_)) return factor_modes(), true;
  may_pivot_ = pivots;
  x_ = start_;
  for (const int sweeps : {10, 30, 100, 300}) {
    sweep(sweeps);
    if (keep_better()) return factor_modes(), true;
    active_set(kMostSystems);
    if (keep_better()) return true;
  }
  // what closes may slide at once
  for (StepContact& contact : contacts_) contact.pulled = true;
  for (const std::vector<double>& from : {best_, start_}) {
    if (approach_from(from)) return factor_modes(), true;
  }
  if (contacts() <= kMostForLemke) {
    lemke_search();
    factored_ = false;
    if (keep_better()) {
      factor_modes();
      return true;
    }
    // from the polygon to the disk, by polygons of more and more edges
    if (edges_ == 0) {
      for (const int edges : {kLemkeEdges, 4 * kLemkeEdges, 16 * kLemkeEdges, 64 * kLemkeEdges}) {
        set_edges(edges);
        read_modes();
        active_set(kMostSystems);
      }
      set_edges(0);
      read_modes();
    }
    active_set(kMostSystems);
    if (keep_better()) return true;
  }
  x_ = best_;
  apply_rows();
  measure();
  factored_ = false;
  return false;
}

}  // namespace routh
