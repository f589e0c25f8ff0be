#pragma once

#include <Eigen/Core>

namespace routh::lcp {

/// A small dense linear program
///
///   maximise q · x   subject to   A x = b,  x ≥ 0
///
/// whose data are of order one.
struct LinearProgram {
  Eigen::MatrixXd A;
  Eigen::VectorXd b;
  Eigen::VectorXd q;  ///< empty: any feasible point will do
};

enum class LinearStatus {
  kOptimal,
  kInfeasible,  ///< proven by `y` for all x up to 1e8: yᵀA ≥ 0 and yᵀb < 0
  kUnbounded,
  kUndecided,  ///< pivots spent, or no answer within the tolerance
};

struct [[nodiscard]] LinearSolution {
  LinearStatus status = LinearStatus::kUndecided;
  Eigen::VectorXd x;
  double value = 0;
  Eigen::VectorXd y;  ///< of an infeasible program
  double margin = 0;  ///< and by how much b has to change before y proves nothing
  int pivots = 0;
};

/// The two phases of the simplex method on a tableau, largest coefficient first and Bland's rule
/// where it stalls. An answer is given only where it confirms itself: x by A x = b and x ≥ 0, the
/// lack of one by y, both to `tolerance`.
LinearSolution solve(const LinearProgram& program, double tolerance = 1e-9);

}  // namespace routh::lcp
