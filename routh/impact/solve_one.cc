#include "routh/impact/solve_one.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "routh/lcp/lemke.h"

namespace routh {

using Eigen::VectorXd;

namespace {

constexpr int kCovers = 4;  // of Lemke's algorithm

}  // namespace

OneSolver::OneSolver(const ImpactProblem& problem)
    : units_(problem),
      at_(problem),
      solver_({0}, static_cast<int>(problem.c.size())),
      velocities_(problem.contacts(), Eigen::Vector3d::Zero()),
      start_(velocities_) {
  validate(problem);
  const int n = static_cast<int>(problem.c.size()), m = problem.contacts(), k = problem.tangents;
  solver_.set_edges(problem.tangents == 2 ? problem.edges : 0);
  solver_.set_inverse(units_.problem.G);
  for (int i = 0; i < m; ++i) {
    const Eigen::RowVectorXd Jn = Eigen::RowVectorXd::Unit(n, i);
    Eigen::MatrixXd Jt = Eigen::MatrixXd::Zero(k, n);
    Jt.middleCols(problem.tangent(i), k).setIdentity();
    solver_.add_contact({Jn, Jt, problem.mu[i]}, VectorXd::Zero(n), {});
  }
}

VectorXd OneSolver::start(double size, const VectorXd& bound,
                          const std::function<double()>& random) const {
  VectorXd x = VectorXd::Zero(at_.c.size());
  for (int i = 0; i < at_.contacts(); ++i) {
    const double most = bound.size() ? std::min(size, bound[i]) : size;
    // open, pressing a little or with all its might
    const double presses = random();
    if (presses < 0.25) continue;
    x[i] = presses < 0.75 || !bound.size() ? most * random() : most;
    // sticking or sliding somewhere
    const double slides = 2 * random(), friction = at_.mu[i] * x[i];
    if (slides < 0.67) continue;
    const int t = at_.tangent(i);
    if (at_.tangents == 1) {
      x[t] = random() < 0.5 ? friction : -friction;
    } else {
      const double angle = 2 * std::numbers::pi * random();
      x[t] = friction * std::cos(angle), x[t + 1] = friction * std::sin(angle);
    }
  }
  return x;
}

/// The last resort: Lemke's algorithm from some covering vectors.
void OneSolver::search_by_lemke(const VectorXd& bound, double tolerance, Outcome& outcome) {
  const Normalised units(at_);
  const lcp::Problem lcp = bound.size() ? step_lcp(units.problem, units.impulse_from(bound))
                                        : simultaneous_lcp(units.problem);
  for (int attempt = 0; attempt < kCovers && outcome.residual > tolerance; ++attempt) {
    VectorXd cover(lcp.size());
    for (Eigen::Index i = 0; i < cover.size(); ++i)
      cover[i] = 1 + 0.9 * std::sin(static_cast<double>(attempt * (i + 1)));
    const lcp::LemkeResult found = lcp::lemke(lcp, {.cover = cover});
    const VectorXd impulse = units.impulse_to(impulse_from_lcp(units.problem, found.z));
    const double r = residual(at_, impulse, bound);
    if (!(r < outcome.residual)) continue;
    impulse_ = impulse;
    outcome = {impulse, at_.c + at_.G * impulse, r};
  }
}

std::optional<Outcome> OneSolver::solve(const VectorXd& c, const VectorXd& bound,
                                        const VectorXd& from, double tolerance) {
  at_.c = c;
  const VectorXd most = units_.impulse_from(bound), begin = units_.impulse_from(from);
  for (int i = 0; i < at_.contacts(); ++i) {
    solver_.bound_impulse(i, bound.size() ? most[i] : std::numeric_limits<double>::infinity());
    start_[i][0] = begin[i];
    start_[i].segment(1, at_.tangents) = begin.segment(at_.tangent(i), at_.tangents);
    velocities_[i][0] = c[i] / units_.speed;
    velocities_[i].segment(1, at_.tangents) =
        c.segment(at_.tangent(i), at_.tangents) / units_.speed;
  }
  solver_.restart(velocities_, start_);
  solver_.solve(0.1 * tolerance);
  impulse_.resize(c.size());
  for (int i = 0; i < at_.contacts(); ++i) {
    impulse_[i] = solver_.normal_impulse(i);
    for (int t = 0; t < at_.tangents; ++t)
      impulse_[at_.tangent(i) + t] = solver_.tangential_impulse(i, t);
  }
  impulse_ = units_.impulse_to(impulse_);
  Outcome outcome{impulse_, c + at_.G * impulse_, residual(at_, impulse_, bound)};
  if (outcome.residual > tolerance && !at_.circular()) search_by_lemke(bound, tolerance, outcome);
  const double zero = 1e-13 * c.lpNorm<Eigen::Infinity>();
  outcome.c_plus = (outcome.c_plus.array().abs() <= zero).select(0, outcome.c_plus);
  if (outcome.residual > tolerance) return {};
  return outcome;
}

}  // namespace routh
