#pragma once

#include <Eigen/Core>

/// Decompositions of small dense matrices, compiled once: what Eigen makes of each of them costs a
/// compiler seconds in every file that names it, and none of them stands in an inner loop.
namespace routh::linear {

/// S = V diag(values) Vᵀ of a symmetric S, values ascending; reads the lower triangle.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  ///< columns
};
[[nodiscard]] SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& S);
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& S);

/// Of any square matrix, in no order.
[[nodiscard]] Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& A);

/// A = U diag(values) Vᵀ, values descending; U and V are square.
struct SingularValues {
  Eigen::MatrixXd U, V;
  Eigen::VectorXd values;
};
[[nodiscard]] SingularValues singular_values(const Eigen::MatrixXd& A);

/// The smallest x among those that bring A x closest to b, by a complete orthogonal decomposition.
/// Pivots below `threshold` of the largest are zero; a negative one is Eigen's own.
[[nodiscard]] Eigen::VectorXd least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
[[nodiscard]] Eigen::MatrixXd least_squares(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                                            double threshold = -1);

/// An x that brings A x closest to b, with zeros where columns of A depend on others.
[[nodiscard]] Eigen::VectorXd basic_solution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

/// The x with A x = b, by elimination with full pivoting; where there is nothing to solve, nothing.
[[nodiscard]] Eigen::VectorXd solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

/// A⁻¹, by elimination with full pivoting.
[[nodiscard]] Eigen::MatrixXd inverse(const Eigen::MatrixXd& A);

}  // namespace routh::linear
