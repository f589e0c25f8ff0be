#include "routh/linear/decompose.h"

#include <Eigen/Dense>

namespace routh::linear {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

SymmetricEigen symmetric_eigen(const MatrixXd& S) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(S);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

VectorXd symmetric_eigenvalues(const MatrixXd& S) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(S, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::VectorXcd eigenvalues(const MatrixXd& A) {
  return Eigen::EigenSolver<MatrixXd>(A, false).eigenvalues();
}

SingularValues singular_values(const MatrixXd& A) {
  const Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.matrixV(), svd.singularValues()};
}

VectorXd least_squares(const MatrixXd& A, const VectorXd& b) {
  return A.completeOrthogonalDecomposition().solve(b);
}

MatrixXd least_squares(const MatrixXd& A, const MatrixXd& B, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> rows;
  if (threshold >= 0) rows.setThreshold(threshold);
  rows.compute(A);
  return rows.solve(B);
}

VectorXd basic_solution(const MatrixXd& A, const VectorXd& b) {
  return A.colPivHouseholderQr().solve(b);
}

VectorXd solve(const MatrixXd& A, const VectorXd& b) {
  return A.size() > 0 ? VectorXd(A.fullPivLu().solve(b)) : VectorXd::Zero(A.cols());
}

MatrixXd inverse(const MatrixXd& A) { return A.fullPivLu().inverse(); }

}  // namespace routh::linear
