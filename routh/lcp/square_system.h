#pragma once

#include <Eigen/Core>
#include <Eigen/LU>

namespace routh::lcp {

/// Pivots below this, relative to the terms that make up a matrix, are rounding: the matrix is
/// singular. Above kSafe double precision solves it; between the two its solution is exact only in
/// higher precision. A pivot above kNoise is more than the rounding of a few sums explains.
inline constexpr double kNoise = 2e-15, kSingular = 1e-14, kSafe = 1e-7;

/// A singular system whose defect is below kConsistent has solutions, above kInconsistent it has
/// none. Between the two rounding cannot decide.
inline constexpr double kConsistent = 1e-14, kInconsistent = 1e-10;

/// A small square system K u = r in any units, which may be singular. `terms` bounds the sums that
/// K was computed from, entry by entry: what is small against them is zero. Rows and columns are
/// scaled so that the terms are of order one, then K is factored with full pivoting.
class SquareSystem {
 public:
  SquareSystem(const Eigen::MatrixXd& K, const Eigen::MatrixXd& terms);
  explicit SquareSystem(const Eigen::MatrixXd& K) : SquareSystem(K, K.cwiseAbs()) {}

  /// The smallest pivot, relative; 1 for the empty system.
  double pivot() const { return pivot_; }
  /// K⁻¹ r of a system that is not singular.
  Eigen::MatrixXd solve(const Eigen::MatrixXd& r) const;

  /// Solutions u + kernel t of a singular system.
  struct Affine {
    Eigen::VectorXd u;
    Eigen::MatrixXd kernel;
    /// Largest |K u - r|, relative to the terms of the sum: zero where the system has solutions.
    double defect = 0;
  };
  /// `size` bounds r, likewise row by row.
  Affine solve_singular(const Eigen::VectorXd& r, const Eigen::VectorXd& size) const;

 private:
  Eigen::VectorXd row_, column_;  ///< powers of two
  Eigen::MatrixXd terms_, scaled_;
  Eigen::FullPivLU<Eigen::MatrixXd> lu_;
  double pivot_ = 1;
};

/// Powers of two that bring every row and column of |A| close to one; rows and columns of zeros
/// keep theirs.
struct Equilibrium {
  Eigen::VectorXd row, column;
};
Equilibrium equilibrium(const Eigen::MatrixXd& A);

/// The power of two nearest to x > 0; 1 for anything else.
double power_of_two(double x);

}  // namespace routh::lcp
