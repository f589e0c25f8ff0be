#include "routh/impact/modes.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "routh/lcp/polyhedron.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

std::vector<ContactMode> contact_modes(double mu, bool bounded) {
  std::vector<ContactMode> modes{{Normal::kOpen, Tangent::kFree}};
  for (const Normal normal : {Normal::kClosed, Normal::kSaturated}) {
    if (normal == Normal::kSaturated && !bounded) continue;
    if (mu == 0) {
      modes.push_back({normal, Tangent::kFree});
    } else {
      for (const Tangent t : {Tangent::kStick, Tangent::kSlipPositive, Tangent::kSlipNegative})
        modes.push_back({normal, t});
    }
  }
  return modes;
}

/// Inserts unless an outcome with the same velocity is known; returns its index. The better
/// residual wins.
int insert_distinct(std::vector<Outcome>& outcomes, Outcome candidate, double same) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if ((outcomes[i].c_plus - candidate.c_plus).lpNorm<Eigen::Infinity>() > same) continue;
    if (candidate.residual < outcomes[i].residual) outcomes[i] = std::move(candidate);
    return static_cast<int>(i);
  }
  outcomes.push_back(std::move(candidate));
  return static_cast<int>(outcomes.size()) - 1;
}

}  // namespace

std::vector<Modes> all_modes(const VectorXd& mu, bool bounded) {
  std::vector<Modes> all{{}};
  for (const double mu_i : mu) {
    std::vector<Modes> longer;
    for (const Modes& modes : all) {
      for (const ContactMode& mode : contact_modes(mu_i, bounded)) {
        longer.push_back(modes);
        longer.back().push_back(mode);
      }
    }
    all = std::move(longer);
  }
  return all;
}

double count_modes(const VectorXd& mu, bool bounded) {
  double count = 1;
  for (const double mu_i : mu) count *= static_cast<double>(contact_modes(mu_i, bounded).size());
  return count;
}

ModeSystem mode_system(const ImpactProblem& problem, const Modes& modes, bool bounded) {
  const int m = problem.contacts();
  const auto unit = [](int size, int i) { return VectorXd::Unit(size, i); };

  // which impulses are unknown and which velocities vanish
  ModeSystem s;
  std::vector<VectorXd> columns;
  s.P = MatrixXd::Zero(2 * m, 3 * m);
  for (int i = 0; i < m; ++i) {
    const auto [normal, tangent] = modes[i];
    if (normal == Normal::kOpen) continue;
    const double sign = tangent == Tangent::kSlipPositive   ? -1
                        : tangent == Tangent::kSlipNegative ? 1
                                                            : 0;
    VectorXd push = unit(2 * m, i);  // impulse per unit of normal impulse
    push[m + i] = sign * problem.mu[i];
    if (normal == Normal::kClosed) {
      columns.push_back(push);
      s.zeros.push_back(i);
    } else {
      s.P.col(2 * m + i) = push;
    }
    if (tangent == Tangent::kStick) {
      columns.push_back(unit(2 * m, m + i));
      s.zeros.push_back(m + i);
    }
  }
  const int k = static_cast<int>(columns.size());
  s.S.resize(2 * m, k);
  for (int j = 0; j < k; ++j) s.S.col(j) = columns[j];

  // c' = Cu u + Cx x
  MatrixXd Cx = problem.G * s.P;
  Cx.leftCols(2 * m) += MatrixXd::Identity(2 * m, 2 * m);
  const MatrixXd Cu = problem.G * s.S;
  s.K = Cu(s.zeros, Eigen::all);
  s.R = Cx(s.zeros, Eigen::all);

  // inequalities; those that reject most come first
  std::vector<RowVectorXd> Fu, Fx;
  const auto require = [&](const RowVectorXd& u, const RowVectorXd& x) {
    Fu.push_back(u);
    Fx.push_back(x);
  };
  for (int i = 0; i < m; ++i) {
    const auto [normal, tangent] = modes[i];
    const int t = m + i;
    if (normal == Normal::kOpen) require(Cu.row(i), Cx.row(i));
    if (normal == Normal::kSaturated) require(-Cu.row(i), -Cx.row(i));
    if (tangent == Tangent::kSlipPositive) require(Cu.row(t), Cx.row(t));
    if (tangent == Tangent::kSlipNegative) require(-Cu.row(t), -Cx.row(t));
    if (normal == Normal::kClosed) {
      require(s.S.row(i), s.P.row(i));
      if (bounded) require(-s.S.row(i), RowVectorXd(unit(3 * m, 2 * m + i)) - s.P.row(i));
    }
    if (tangent == Tangent::kStick) {
      for (const double sign : {1.0, -1.0}) {
        require(problem.mu[i] * s.S.row(i) + sign * s.S.row(t),
                problem.mu[i] * s.P.row(i) + sign * s.P.row(t));
      }
    }
  }
  s.Fu.resize(static_cast<int>(Fu.size()), k);
  s.Fx.resize(static_cast<int>(Fx.size()), 3 * m);
  for (std::size_t r = 0; r < Fu.size(); ++r) s.Fu.row(r) = Fu[r], s.Fx.row(r) = Fx[r];
  return s;
}

StepOutcomes enumerate_modes(const ImpactProblem& problem, const VectorXd& lambda_max,
                             double tolerance) {
  const int m = problem.contacts();
  const bool bounded = lambda_max.size() > 0;
  VectorXd x(3 * m);
  x << problem.c, (bounded ? lambda_max : VectorXd::Zero(m));
  const double same = 10 * velocity_tolerance(problem);

  StepOutcomes result;
  for (const Modes& modes : all_modes(problem.mu, bounded)) {
    const ModeSystem s = mode_system(problem, modes, bounded);
    // one point where K is regular, the corners of a polyhedron where it is not
    std::vector<VectorXd> candidates;
    if (s.K.rows() == 0) {
      candidates.push_back(VectorXd(0));
    } else if (const Eigen::FullPivLU<MatrixXd> lu(s.K); lu.rcond() > 1e-11) {
      candidates.push_back(lu.solve(-s.R * x));
    } else {
      candidates = lcp::corners(s.K, s.R * x, s.Fu, s.Fx * x, tolerance).x;
    }

    std::vector<int> piece;
    for (const VectorXd& u : candidates) {
      Outcome outcome{.impulse = s.S * u + s.P * x, .c_plus = {}};
      outcome.residual = residual(problem, outcome.impulse, lambda_max);
      if (outcome.residual > tolerance) continue;
      // velocities that the mode makes zero are exactly zero
      outcome.c_plus = problem.c + problem.G * outcome.impulse;
      outcome.c_plus(s.zeros).setZero();
      piece.push_back(insert_distinct(result.outcomes, std::move(outcome), same));
    }
    std::sort(piece.begin(), piece.end());
    piece.erase(std::unique(piece.begin(), piece.end()), piece.end());
    if (piece.size() > 1) result.continua.push_back(std::move(piece));
  }
  return result;
}

}  // namespace routh
