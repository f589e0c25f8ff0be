#pragma once

#include <Eigen/Core>
#include <vector>

namespace routh::lcp {

/// Corners of a small polyhedron
///
///   { x = x0 + N t :  F x + f ≥ 0 }
///
/// by brute force over its tight inequalities: meant for the solution sets of singular
/// complementarity systems, which have one to three free directions.
struct [[nodiscard]] Corners {
  std::vector<Eigen::VectorXd> x;       ///< distinct corners, empty when infeasible
  std::vector<std::vector<int>> tight;  ///< of each corner: rows of F that make it one
  std::vector<Eigen::VectorXd> rays;    ///< distinct extreme directions when unbounded, unit length
};

/// N has independent columns; `tolerance` is relative to the terms of the inequalities at a corner.
/// What rounding of x0 + N t can make is let pass: where x0 is large, corners may be none.
Corners corners(const Eigen::VectorXd& x0, const Eigen::MatrixXd& N, const Eigen::MatrixXd& F,
                const Eigen::VectorXd& f, double tolerance);

/// How many subsets of `size` out of `count` corners() tries; a floating-point number because it
/// grows so fast.
double count_subsets(Eigen::Index count, Eigen::Index size);

}  // namespace routh::lcp
