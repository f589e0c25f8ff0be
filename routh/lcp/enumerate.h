#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "routh/lcp/lcp.h"

namespace routh::lcp {

inline constexpr int kMostEnumerated = 30;

struct EnumerateOptions {
  /// Solutions with the same image are one solution; the identity when empty. For impacts: impulse
  /// to velocity.
  std::function<Eigen::VectorXd(const Eigen::VectorXd&)> image = {};
  double tolerance = 1e-10;  ///< largest residual() of a solution
  double same = 1e-8;        ///< images closer than this (relative to the largest) are the same
  /// Larger problems are refused: the cost doubles with every variable; at most kMostEnumerated.
  int max_size = 18;
  std::function<bool()> stop = {};  ///< asked for every support; true ends with what was found
};

struct Solution {
  Eigen::VectorXd z;
  Eigen::VectorXd image;
  double residual = 0;
};

/// A connected piece of infinitely many images: the convex hull of `corners` (indices into
/// Solutions::all), plus the directions of the image along which it never ends.
struct Continuum {
  std::vector<std::size_t> corners;
  std::vector<Eigen::VectorXd> rays;
};

struct [[nodiscard]] Solutions {
  std::vector<Solution> all;        ///< distinct images; of a continuum only its corners
  std::vector<Continuum> continua;  ///< pieces whose images are not isolated points
  bool impulse_not_unique = false;  ///< some image belongs to infinitely many z
  bool complete = true;             ///< false: `stop` ended it, others may exist
};

/// Every solution, one complementary support after the other: W_αα z_α = -w_α for each α ⊆ {1..n}.
/// Where W_αα is singular the solutions of that support are a polyhedron; its corners stand for it.
Solutions enumerate(const Problem& problem, const EnumerateOptions& options = {});

}  // namespace routh::lcp
