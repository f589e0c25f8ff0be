#include "routh/impact/precise.h"

#include <Eigen/LU>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>
#include <cmath>

#include "routh/lcp/square_system.h"

namespace routh {
namespace {

using Quad = boost::multiprecision::number<boost::multiprecision::cpp_bin_float_quad::backend_type,
                                           boost::multiprecision::et_off>;
using QuadMatrix = Eigen::Matrix<Quad, Eigen::Dynamic, Eigen::Dynamic>;
using QuadVector = Eigen::Matrix<Quad, Eigen::Dynamic, 1>;

constexpr double kDependent = 1e-12;  // pushes whose velocities differ by less are taken for one

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
    if (lu.matrixLU().diagonal().cwiseAbs().minCoeff() < lcp::kSingular) return {};
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

Outcome precise_mixture(const ImpactProblem& problem, const Eigen::MatrixXd& pushes,
                        const Eigen::VectorXd& start, const Eigen::MatrixXd& zero) {
  const QuadMatrix G = problem.G.cast<Quad>(), E = pushes.cast<Quad>(), Z = zero.cast<Quad>();
  QuadVector impulse = E * start.cast<Quad>();
  QuadVector c_plus = problem.c.cast<Quad>() + G * impulse;
  if (Z.rows() > 0 && E.cols() > 0) {
    Eigen::FullPivLU<QuadMatrix> lu(QuadMatrix(Z * (G * E)));
    lu.setThreshold(Quad(kDependent));
    impulse -= E * lu.solve(QuadVector(Z * c_plus));
    c_plus = problem.c.cast<Quad>() + G * impulse;
  }
  Outcome outcome{.impulse = impulse.cast<double>(), .c_plus = c_plus.cast<double>()};
  for (double& c : outcome.c_plus) {
    if (std::abs(c) <= lcp::kConsistent) c = 0;
  }
  outcome.residual = violation(problem, outcome.impulse, {}, outcome.c_plus).size;
  return outcome;
}

}  // namespace routh
