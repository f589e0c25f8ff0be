#pragma once

#include <Eigen/Core>

namespace routh::lcp {

/// The inverse of a positive definite matrix in its place, by sweeping its columns: a tenth of the
/// time of a decomposition with pivots where a dozen velocities are coupled. Only the lower half is
/// read; `column` is memory to work in. False where a pivot is not positive.
bool invert_positive(Eigen::MatrixXd& A, Eigen::VectorXd& column);

bool is_symmetric(const Eigen::Ref<const Eigen::MatrixXd>& A);

}  // namespace routh::lcp
