#include "routh/lcp/square_system.h"

#include <algorithm>
#include <cmath>

namespace routh::lcp {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double power_of_two(double x) {
  if (!(x > 0) || !std::isfinite(x)) return 1;
  return std::exp2(std::round(std::log2(x)));
}

Equilibrium equilibrium(const MatrixXd& A) {
  constexpr int kSweeps = 4;
  VectorXd row = VectorXd::Ones(A.rows()), column = VectorXd::Ones(A.cols());
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    // rows and columns give way alike, so that a symmetric matrix stays symmetric
    VectorXd largest_in_row = VectorXd::Zero(A.rows()),
             largest_in_column = VectorXd::Zero(A.cols());
    for (Index j = 0; j < A.cols(); ++j) {
      for (Index i = 0; i < A.rows(); ++i) {
        const double a = row[i] * std::abs(A(i, j)) * column[j];
        largest_in_row[i] = std::max(largest_in_row[i], a);
        largest_in_column[j] = std::max(largest_in_column[j], a);
      }
    }
    for (Index i = 0; i < A.rows(); ++i) row[i] /= power_of_two(std::sqrt(largest_in_row[i]));
    for (Index j = 0; j < A.cols(); ++j) column[j] /= power_of_two(std::sqrt(largest_in_column[j]));
  }
  return {std::move(row), std::move(column)};
}

SquareSystem::SquareSystem(const MatrixXd& K, const MatrixXd& terms) {
  Equilibrium e = equilibrium(terms);
  row_ = std::move(e.row);
  column_ = std::move(e.column);
  terms_ = row_.asDiagonal() * terms * column_.asDiagonal();
  scaled_ = row_.asDiagonal() * K * column_.asDiagonal();
  if (K.rows() == 0) return;
  lu_.setThreshold(kSingular);
  lu_.compute(scaled_);
  pivot_ = lu_.matrixLU().diagonal().cwiseAbs().minCoeff();
}

MatrixXd SquareSystem::solve(const MatrixXd& r) const {
  if (row_.size() == 0) return MatrixXd(0, r.cols());
  return column_.asDiagonal() * lu_.solve(row_.asDiagonal() * r);
}

SquareSystem::Affine SquareSystem::solve_singular(const VectorXd& r, const VectorXd& size) const {
  // the leading pivots, up to the first that is rounding, determine as many unknowns
  const Index n = row_.size();
  const MatrixXd& lu = lu_.matrixLU();
  Index rank = 0;
  while (rank < n && std::abs(lu(rank, rank)) > kSingular) ++rank;
  const VectorXd rhs = row_.cwiseProduct(r);
  const VectorXd y = lu_.permutationP() * rhs;
  const auto L = lu.topLeftCorner(rank, rank).triangularView<Eigen::UnitLower>();
  const auto U = lu.topLeftCorner(rank, rank).triangularView<Eigen::Upper>();
  VectorXd x = VectorXd::Zero(n);
  MatrixXd kernel = MatrixXd::Zero(n, n - rank);
  if (rank > 0) {
    x.head(rank) = U.solve(L.solve(y.head(rank)));
    kernel.topRows(rank) = -U.solve(lu.topRightCorner(rank, n - rank));
  }
  kernel.bottomRows(n - rank).setIdentity();
  x = lu_.permutationQ() * x;
  kernel = lu_.permutationQ() * kernel;

  // what is left of the other equations
  Affine result{.u = column_.cwiseProduct(x), .kernel = column_.asDiagonal() * kernel};
  const VectorXd left = (scaled_ * x - rhs).cwiseAbs();
  const VectorXd sum = terms_ * x.cwiseAbs() + row_.cwiseProduct(size);
  for (Index i = 0; i < n; ++i) {
    if (left[i] > 0) result.defect = std::max(result.defect, left[i] / sum[i]);
  }
  return result;
}

}  // namespace routh::lcp
