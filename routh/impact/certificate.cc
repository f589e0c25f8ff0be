#include "routh/impact/certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "routh/impact/cone.h"
#include "routh/impact/modes.h"
#include "routh/impact/polytopes.h"
#include "routh/linear/decompose.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kOutwards = 1e-9;   // by which bounds are widened
constexpr double kInterior = 1e-13;  // relative; modes thinner than this hold nowhere
constexpr double kRank = 1e-11;

double largest_stretch(const MatrixXd& A) {
  if (A.size() == 0) return 0;
  return std::sqrt(
      linear::symmetric_eigen(MatrixXd(A.transpose() * A)).values.cwiseMax(0).maxCoeff());
}

/// The shortest x with a · x ≥ 1 for all a, as long as 1 over the distance of their hull from zero.
double shortest(const std::vector<VectorXd>& of) {
  VectorXd point = VectorXd::Zero(of[0].size());
  const VectorXd weights = min_norm_weights(of);
  for (std::size_t k = 0; k < of.size(); ++k)
    point += weights[static_cast<Eigen::Index>(k)] * of[k];
  return (1 + kOutwards) / point.norm();
}

/// G = R Rᵀ, without what nothing moves.
MatrixXd root_of(const MatrixXd& G) {
  const linear::SymmetricEigen eigen = linear::symmetric_eigen(G);
  std::vector<int> kept;
  for (int k = 0; k < eigen.values.size(); ++k) {
    if (eigen.values[k] > kRank * eigen.values.maxCoeff()) kept.push_back(k);
  }
  return eigen.vectors(Eigen::all, kept) * eigen.values(kept).cwiseSqrt().asDiagonal();
}

/// How much a step stretches differences of z, and of draws relative to h: the largest over the
/// modes that hold anywhere. Singular modes have theirs in regular ones.
void step_stretch(const ImpactProblem& problem, const MatrixXd& R,
                  const CertificateOptions& options, SamplerCertificate& result) {
  const Normalised units(problem);
  const Eigen::Index n = problem.c.size(), rank = R.cols();
  const int m = problem.contacts();
  VectorXd unit(n);
  for (int i = 0; i < m; ++i) {
    for (const int row : problem.rows(i)) unit[row] = units.unit[i];
  }
  // x = [c; λmax] normalised, from z and the draws
  MatrixXd from = MatrixXd::Zero(n + m, rank + m);
  from.topLeftCorner(n, rank) = R / units.speed;
  for (int i = 0; i < m; ++i) from(n + i, rank + i) = options.step / units.unit[i];
  const MatrixXd to = R.transpose() * unit.asDiagonal();
  result.lipschitz = 1;
  for (const RegularMode& mode : regular_modes(units.problem, options.stop)) {
    std::vector<VectorXd> sides;
    const MatrixXd F = mode.F * from;
    for (Eigen::Index r = 0; r < F.rows(); ++r) {
      const double size = F.row(r).norm();
      if (size > 0) sides.push_back(F.row(r).transpose() / size);
    }
    if (!sides.empty() && !(1 / shortest(sides) > kInterior)) continue;
    MatrixXd step = to * mode.impulse * from;
    step.leftCols(rank) += MatrixXd::Identity(rank, rank);
    result.lipschitz = std::max(result.lipschitz, largest_stretch(step.leftCols(rank)));
    result.lipschitz_impulse =
        std::max(result.lipschitz_impulse, largest_stretch(step.rightCols(m)));
  }
  if (result.lipschitz > 1 + kOutwards) result.lipschitz *= 1 + kOutwards;
}

}  // namespace

bool SamplerCertificate::holds(double samples) const {
  return uniqueness.status == StepUniqueness::kUnique && samples > 0 &&
         std::log10(samples) >= log10_samples;
}

SamplerCertificate certificate(const ImpactProblem& problem, const CertificateOptions& options) {
  validate(problem);
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  if (!positive(options.epsilon))
    throw std::invalid_argument("certificate: epsilon must be a positive velocity");
  if (!(options.delta > 0 && options.delta < 1))
    throw std::invalid_argument("certificate: delta must be between 0 and 1");
  if (!positive(options.step))
    throw std::invalid_argument("certificate: step must be a positive impulse");
  if (problem.bounces())
    throw std::invalid_argument("certificate: e must be zero; Theorem 9 is of inelastic impacts");
  if (problem.circular())
    throw std::invalid_argument("certificate: edges: circular friction cones have none");
  if (!pointed(problem))
    throw std::invalid_argument(
        "certificate: the friction cone is not pointed, the impact need not end");

  const int m = problem.contacts();
  const MatrixXd R = root_of(problem.G);
  const VectorXd start = linear::least_squares(R, MatrixXd(problem.c));
  SamplerCertificate result{.epsilon = options.epsilon, .delta = options.delta};

  // edges of the friction cone, in c and in z
  const MatrixXd D = friction_edges(problem);
  std::vector<VectorXd> edges;
  double psi = 0;
  for (int i = 0; i < m; ++i) {
    double longest = 0;
    for (Eigen::Index e = 0; e < D.cols(); ++e) {
      VectorXd impulse = VectorXd::Unit(problem.c.size(), i);
      impulse.segment(problem.tangent(i), problem.tangents) = problem.mu[i] * D.col(e);
      edges.push_back(R.transpose() * impulse);
      longest = std::max(longest, (problem.G * impulse).norm());
    }
    psi += longest;
  }
  const double rho = shortest(edges);
  result.impulse_per_speed = 2 * rho;
  result.most_impulse = 2 * rho * start.norm();
  result.steps = 2 * std::ceil(result.most_impulse * (m + 1) / options.step) +
                 std::ceil((m + 1) * (m + 1) * std::log(2 / options.delta));
  result.final_step = options.epsilon / (3 * psi * (1 + kOutwards));

  result.uniqueness = step_uniqueness(problem, options.stop);
  result.log10_samples = kInfinite;
  if (result.uniqueness.status != StepUniqueness::kUnique) return result;
  step_stretch(problem, R, options, result);
  std::vector<VectorXd> normals;
  for (int i = 0; i < m; ++i) normals.push_back(R.row(i).transpose());
  const double kappa = shortest(normals);
  const double nearly =
      result.final_step / (rho * (result.lipschitz + 1) * kappa) * (1 - kOutwards);
  const double net = std::min(options.epsilon / 3, nearly / 2);

  // M by logarithms: nothing here fits a number
  const double N = result.steps, L = result.lipschitz, axes = N * m;
  const double log_sum =
      L == 1
          ? std::log(N)
          : 2 * N * std::log(L) + std::log1p(-std::exp(-2 * N * std::log(L))) - std::log(L * L - 1);
  const double log_cells = 0.5 * std::log(axes) + std::log(largest_stretch(R)) +
                           std::log(result.lipschitz_impulse) + 0.5 * log_sum - std::log(net);
  // rounding up matters where there are few
  const double log_side =
      log_cells < 30 ? std::log(std::max(1.0, std::ceil(std::exp(log_cells)))) : log_cells;
  const double log_omega = -axes * log_side;
  const double needed = -std::log(options.delta / 2) - log_omega;
  // ln(1 - Ω) is -Ω where Ω is small
  const double one_minus = log_omega < -30  ? log_omega
                           : log_omega == 0 ? kInfinite
                                            : std::log(-std::log1p(-std::exp(log_omega)));
  result.log10_samples = std::max(0.0, (std::log(needed) - one_minus) / std::log(10.0));
  return result;
}

}  // namespace routh
