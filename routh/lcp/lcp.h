#pragma once

#include <Eigen/Core>
#include <string_view>

/// Linear complementarity problems, P1 Definition 5:
///
///   find z with   0 ≤ z ⊥ W z + w ≥ 0.
///
/// One problem type and one residual. The residual is the only judge of success: every solver
/// reports the value it measured, and tests use the same function as their oracle.
namespace routh::lcp {

struct Problem {
  Eigen::MatrixXd W;  ///< n x n, any matrix (ours are copositive, rarely symmetric)
  Eigen::VectorXd w;  ///< n

  int size() const { return static_cast<int>(w.size()); }
};

/// Throws std::invalid_argument when W is not square, sizes differ, or an entry is not finite.
void validate(const Problem& problem);

/// The problem with every row and column of W brought to order one and w as well:
/// W' = R W C, w' = R w / size, z = size C z'. All factors are powers of two.
struct Scaled {
  explicit Scaled(const Problem& given);
  Problem problem;
  Eigen::VectorXd row, column;
  double size = 1;
};

/// ‖min(z', W' z' + w')‖∞ / ‖w'‖∞ of the scaled problem (absolute when w = 0), so that it has no
/// unit. Zero exactly at solutions; NaN-safe (NaN gives infinity).
double residual(const Problem& problem, const Eigen::VectorXd& z);

enum class Status {
  kSolved,      ///< the residual is below the tolerance
  kRay,         ///< Lemke ended on a secondary ray: no solution found, none may exist
  kPivotLimit,  ///< pivots exhausted before an answer
  kInaccurate,  ///< a complementary basis was found but its residual exceeds the tolerance
};

std::string_view to_string(Status status);

}  // namespace routh::lcp
