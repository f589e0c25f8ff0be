#pragma once

#include <Eigen/Core>
#include <vector>

namespace routh::lcp {

/// Corners of a small polyhedron
///
///   { x : E x + e = 0,  F x + f ≥ 0 }
///
/// by brute force over its tight inequalities: meant for the solution sets of singular
/// complementarity systems, which have one to three free directions.
struct [[nodiscard]] Corners {
  std::vector<Eigen::VectorXd> x;     ///< distinct corners, empty when infeasible
  std::vector<Eigen::VectorXd> rays;  ///< distinct extreme directions when unbounded, unit length
};

/// `tolerance` is relative to the size of the data (e, f) and of the corner.
Corners corners(const Eigen::MatrixXd& E, const Eigen::VectorXd& e, const Eigen::MatrixXd& F,
                const Eigen::VectorXd& f, double tolerance);

}  // namespace routh::lcp
