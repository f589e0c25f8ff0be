#include "routh/impact/precise.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "routh/impact/quad.h"
#include "routh/lcp/square_system.h"

namespace routh {
namespace {

using QuadMatrix = Eigen::Matrix<Quad, Eigen::Dynamic, Eigen::Dynamic>;
using QuadVector = Eigen::Matrix<Quad, Eigen::Dynamic, 1>;

}  // namespace

std::optional<Outcome> precise_outcome(const ImpactProblem& problem, const ModeSystem& s,
                                       const Eigen::VectorXd& x,
                                       const Eigen::VectorXd& lambda_max) {
  const QuadMatrix G = problem.G.cast<Quad>(), S = s.S.cast<Quad>(), Z = s.Z.cast<Quad>();
  const QuadVector fixed = (s.P * x).cast<Quad>();
  const QuadMatrix K = Z * (G * S);

  // as SquareSystem does it
  const lcp::Equilibrium scale =
      lcp::equilibrium(s.Z.cwiseAbs() * (problem.G.cwiseAbs() * s.S.cwiseAbs()));
  const QuadVector row = scale.row.cast<Quad>(), column = scale.column.cast<Quad>();
  QuadVector impulse = fixed;
  if (K.size() > 0) {
    const Eigen::FullPivLU<QuadMatrix> lu(QuadMatrix(row.asDiagonal() * K * column.asDiagonal()));
    if (lu.matrixLU().diagonal().cwiseAbs().minCoeff() < lcp::kNoise) return {};
    const QuadVector free = problem.c.cast<Quad>() + G * fixed;
    const QuadVector rhs = -row.cwiseProduct(QuadVector(Z * free));
    impulse += S * column.cwiseProduct(QuadVector(lu.solve(rhs)));
  }
  const QuadVector c_plus = problem.c.cast<Quad>() + G * impulse;

  Outcome outcome{.impulse = impulse.cast<double>(), .c_plus = c_plus.cast<double>()};
  outcome.c_plus(s.zeros).setZero();
  outcome.residual = violation(problem, outcome.impulse, lambda_max, outcome.c_plus).size;
  return outcome;
}

std::optional<Outcome> precise_corner(const ImpactProblem& problem, const ModeSystem& s,
                                      const Eigen::VectorXd& x, const std::vector<int>& tight,
                                      const Eigen::VectorXd& lambda_max) {
  const QuadMatrix G = problem.G.cast<Quad>(), S = s.S.cast<Quad>(), Z = s.Z.cast<Quad>();
  const QuadVector fixed = (s.P * x).cast<Quad>();
  const Eigen::Index k = s.K.rows(), d = static_cast<Eigen::Index>(tight.size());
  const lcp::Equilibrium scale =
      lcp::equilibrium(s.Z.cwiseAbs() * (problem.G.cwiseAbs() * s.S.cwiseAbs()));
  QuadMatrix rows(k + d, k);
  QuadVector rhs(k + d);
  rows.topRows(k) = scale.row.cast<Quad>().asDiagonal() * QuadMatrix(Z * (G * S));
  rhs.head(k) = -scale.row.cast<Quad>().cwiseProduct(
      QuadVector(Z * QuadVector(problem.c.cast<Quad>() + G * fixed)));
  for (Eigen::Index i = 0; i < d; ++i) {
    rows.row(k + i) = s.Fu.row(tight[i]).cast<Quad>();
    rhs[k + i] = -Quad(s.Fx.row(tight[i]).dot(x));
  }
  rows = (rows * scale.column.cast<Quad>().asDiagonal()).eval();
  Eigen::FullPivLU<QuadMatrix> lu(rows);
  lu.setThreshold(Quad(lcp::kSingular));
  const QuadVector y = lu.solve(rhs);
  const QuadVector left = rows * y - rhs;
  const QuadVector terms = rows.cwiseAbs() * y.cwiseAbs() + rhs.cwiseAbs();
  for (Eigen::Index r = 0; r < k + d; ++r) {
    if (abs(left[r]) > Quad(lcp::kInconsistent) * terms[r]) return {};
  }
  const QuadVector impulse = fixed + S * scale.column.cast<Quad>().cwiseProduct(y);
  const QuadVector c_plus = problem.c.cast<Quad>() + G * impulse;
  Outcome outcome{.impulse = impulse.cast<double>(), .c_plus = c_plus.cast<double>()};
  const Eigen::VectorXd zeros = outcome.c_plus(s.zeros);
  outcome.c_plus(s.zeros).setZero();
  outcome.residual = std::max(violation(problem, outcome.impulse, lambda_max, outcome.c_plus).size,
                              zeros.size() > 0 ? zeros.lpNorm<Eigen::Infinity>() : 0.0);
  return outcome;
}

Outcome precise_mixture(const ImpactProblem& problem, const Eigen::MatrixXd& pushes,
                        const Eigen::VectorXd& start, const Eigen::MatrixXd& zero) {
  const QuadMatrix G = problem.G.cast<Quad>(), E = pushes.cast<Quad>(), Z = zero.cast<Quad>();
  const auto outcome_of = [&](const QuadVector& impulse) {
    const QuadVector c_plus = problem.c.cast<Quad>() + G * impulse;
    Outcome outcome{.impulse = impulse.cast<double>(), .c_plus = c_plus.cast<double>()};
    // relative to the sums it comes from, whose terms are rounded in G
    const Eigen::VectorXd terms = problem.G.cwiseAbs() * outcome.impulse.cwiseAbs();
    for (Eigen::Index k = 0; k < terms.size(); ++k) {
      if (std::abs(outcome.c_plus[k]) <= lcp::kConsistent * (1 + 0.1 * terms[k]))
        outcome.c_plus[k] = 0;
    }
    outcome.residual = violation(problem, outcome.impulse, {}, outcome.c_plus).size;
    return outcome;
  };
  const QuadVector impulse = E * start.cast<Quad>();
  Outcome best = outcome_of(impulse);
  if (Z.rows() == 0 || E.cols() == 0) return best;
  Eigen::FullPivLU<QuadMatrix> lu(QuadMatrix(Z * (G * E)));
  const QuadVector left = Z * QuadVector(problem.c.cast<Quad>() + G * impulse);
  // what depends on other pushes, and what only nearly does, is not told apart by the data
  for (const double dependent : {1e-12, 1e-14, 1e-16}) {
    lu.setThreshold(Quad(dependent));
    Outcome outcome = outcome_of(impulse - E * lu.solve(left));
    if (outcome.residual < best.residual) best = std::move(outcome);
    if (best.residual <= lcp::kConsistent) break;
  }
  return best;
}

}  // namespace routh
