#pragma once

#include <functional>
#include <vector>

#include "routh/impact/problem.h"

/// Sets of outcomes as unions of convex pieces, and questions about them.
namespace routh {

/// A convex piece: the hull of its corners.
struct Polytope {
  int dimension = 0;
  std::vector<Eigen::VectorXd> corners;  ///< contact velocities
  std::vector<ContactState>
      modes;  ///< of the contacts inside the piece; empty where it has several
};

/// A point of a hull.
struct HullPoint {
  Eigen::VectorXd weights;  ///< of the corners, convex
  /// The way from c to the point: right relative to its own length however short that is against
  /// the hull, where the sum of weighted corners would be rounded relative to the corners.
  Eigen::VectorXd offset;
};
/// The point of a hull nearest to c, by Wolfe's algorithm, in any units.
HullPoint nearest_in_hull(const std::vector<Eigen::VectorXd>& corners, const Eigen::VectorXd& c);

/// Convex weights of the point of the hull nearest to the origin.
Eigen::VectorXd min_norm_weights(const std::vector<Eigen::VectorXd>& points);

struct Nearest {
  double distance = 0;    ///< Euclidean, in contact velocities [m/s]
  Eigen::VectorXd point;  ///< of the set
};
/// The point of a union nearest to c; an infinite distance when the union is empty.
Nearest nearest_point(const std::vector<Polytope>& pieces, const Eigen::VectorXd& c);

/// Points that fill every piece, no point of it farther than about `spacing` from one of them.
std::vector<Eigen::VectorXd> fill(const std::vector<Polytope>& pieces, double spacing);

/// How far samples and a set are apart, the two halves of the Hausdorff distance.
struct Coverage {
  double outside = 0;     ///< farthest sample from the set
  double missed = 0;      ///< farthest point of the set from the samples
  double resolution = 0;  ///< `missed` was measured on points of the set this far apart
  bool stopped = false;   ///< before all was measured
  double hausdorff() const { return std::max(outside, missed); }
};
/// Ends early when `stop`, asked now and then, says so.
Coverage coverage(const std::vector<Polytope>& pieces, const std::vector<Eigen::VectorXd>& samples,
                  const std::function<bool()>& stop = {});

}  // namespace routh
