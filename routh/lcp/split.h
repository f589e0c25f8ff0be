#pragma once

#include <Eigen/Core>
#include <vector>

namespace routh::lcp {

/// A = R S of a matrix whose symmetric part is positive definite, such as inertia with damping: R
/// upper and S lower triangular with one diagonal, S = Rᵀ where A is symmetric. In the coordinates
/// w = S u the inertia A is the identity,
///
///   J A⁻¹ Jᵀ = (J S⁻¹) (R⁻¹ Jᵀ)
///
/// Rows are eliminated from the last to the first, so that limbs which share only their trunk, and
/// come after it, stay apart. Memory is kept between uses.
class Split {
 public:
  /// False where a pivot is not above `least` times the diagonal it came from.
  bool factor(const Eigen::Ref<const Eigen::MatrixXd>& A, double least);
  int size() const { return static_cast<int>(right_.rows()); }
  bool symmetric() const { return symmetric_; }

  void solve_right(double* f) const { solve(right_, f); }  ///< f ← R⁻¹ f
  void solve_left(double* row) const {                     ///< row ← row S⁻¹
    solve(symmetric_ ? right_ : left_, row);
  }
  void solve_motion(double* w) const;  ///< w ← S⁻¹ w

 private:
  void solve(const Eigen::MatrixXd& upper, double* x) const;

  bool symmetric_ = true;
  Eigen::MatrixXd right_, left_;  // R and Sᵀ, upper halves
  std::vector<int> first_;        // entries of a column that are not zero begin here
  std::vector<double> inverse_;   // of the diagonal
};

bool is_symmetric(const Eigen::Ref<const Eigen::MatrixXd>& A);

}  // namespace routh::lcp
