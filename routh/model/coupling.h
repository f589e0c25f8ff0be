#pragma once

#include <Eigen/Core>
#include <vector>

namespace routh {

/// Velocities in groups that neither the inertia nor a bilateral row couples, each ascending: free
/// bodies one by one. What costs the cube of a size is done for each group alone.
std::vector<std::vector<int>> uncoupled(const Eigen::MatrixXd& M, const Eigen::MatrixXd& A);

}  // namespace routh
