#pragma once

#include <Eigen/Core>
#include <memory>

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

/// The same for several objectives over the A and b of a program, which has to outlive it: a
/// feasible point is looked for once, and each objective begins where the last one ended.
class FeasibleSet {
 public:
  explicit FeasibleSet(const LinearProgram& program, double tolerance = 1e-9);
  ~FeasibleSet();
  LinearSolution maximise(const Eigen::VectorXd& q);

 private:
  class Tableau;
  const LinearProgram& p_;
  double tolerance_;
  std::unique_ptr<Tableau> tableau_;
  LinearSolution first_;  // where there is no feasible point, why
  bool feasible_ = false;
};

}  // namespace routh::lcp
