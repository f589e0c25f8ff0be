#include "routh/impact/polytopes.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// How the weights change from the point at `offset` to that of the corral's affine hull nearest to
/// c, whose offset becomes `nearest`.
VectorXd affine_step(const MatrixXd& P, const std::vector<int>& corral, int base,
                     const VectorXd& offset, VectorXd& nearest) {
  VectorXd change = VectorXd::Zero(P.cols());
  nearest = offset;
  if (corral.size() == 1) return change;
  MatrixXd away(P.rows(), static_cast<Eigen::Index>(corral.size()) - 1);
  std::vector<int> others;
  for (const int k : corral) {
    if (k == base) continue;
    away.col(static_cast<Eigen::Index>(others.size())) = P.col(k) - P.col(base);
    others.push_back(k);
  }
  // columns of equal length, so that a short one is not taken for a dependent one
  const VectorXd length = away.colwise().norm();
  away.array().rowwise() /= length.transpose().array();
  const Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver(away);
  // the second time makes a short offset as orthogonal to the hull as a long one
  VectorXd along = VectorXd::Zero(away.cols());
  for (int k = 0; k < 2; ++k) {
    const VectorXd more = solver.solve(-nearest);
    along += more;
    nearest += away * more;
  }
  for (std::size_t k = 0; k < others.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    change[others[k]] = along[column] / length[column];
    change[base] -= change[others[k]];
  }
  return change;
}

/// Barycentric grids on the simplices of a fan triangulation of corners in the order given.
void fill_simplex(const std::vector<VectorXd>& corners, int steps, std::vector<VectorXd>& out) {
  std::vector<int> share(corners.size(), 0);
  const auto place = [&](auto&& self, std::size_t i, int left) -> void {
    if (i + 1 == corners.size()) {
      share[i] = left;
      VectorXd x = VectorXd::Zero(corners[0].size());
      for (std::size_t k = 0; k < corners.size(); ++k) x += corners[k] * share[k] / steps;
      out.push_back(std::move(x));
      return;
    }
    for (int s = 0; s <= left; ++s) share[i] = s, self(self, i + 1, left - s);
  };
  place(place, 0, steps);
}

}  // namespace

// Wolfe's algorithm. A corral is a set of corners; in its affine hull the nearest point is that of
// a least squares problem over differences of corners, solved by QR: products of corners would
// square the condition. All tests are relative to what is tested, so that neither the unit nor
// corners of very different sizes matter.
HullPoint nearest_in_hull(const std::vector<VectorXd>& corners, const VectorXd& c) {
  if (corners.empty()) throw std::invalid_argument("nearest_in_hull: there are no corners");
  const int n = static_cast<int>(corners.size());
  MatrixXd P(c.size(), n);
  for (int k = 0; k < n; ++k) P.col(k) = corners[k];
  // a power of two, which rounds nothing: squares neither vanish nor overflow
  const double largest = std::max(P.lpNorm<Eigen::Infinity>(), c.lpNorm<Eigen::Infinity>());
  const double unit = largest > 0 ? std::exp2(std::min(std::ilogb(largest), 1000)) : 1;
  P /= unit;
  const VectorXd origin = c / unit;
  const MatrixXd from_c = P.colwise() - origin;
  const VectorXd size = from_c.colwise().norm();
  const double rounding = 8 * static_cast<double>(c.size()) * kEps;

  int base = 0;  // the corner of the corral nearest to c, from which differences are taken
  size.minCoeff(&base);
  VectorXd weights = VectorXd::Unit(n, base), offset = from_c.col(base);
  std::vector<int> corral{base};
  std::set<std::vector<int>> known{corral};
  while (offset.norm() > rounding * weights.dot(size)) {
    // the corner that lies most steeply towards c; none: this is the nearest point
    int steepest = -1;
    double least = -rounding * offset.norm();
    for (int k = 0; k < n; ++k) {
      const VectorXd away = P.col(k) - P.col(base);
      const double slope = away.dot(offset) / away.norm();
      if (slope < least) least = slope, steepest = k;  // false for a twin of the base
    }
    if (steepest < 0 || std::count(corral.begin(), corral.end(), steepest)) break;
    corral.push_back(steepest);

    // on to the nearest point of the affine hull, leaving out corners whose weight would turn
    // negative
    for (bool arrived = false; !arrived;) {
      base = *std::min_element(corral.begin(), corral.end(),
                               [&](int a, int b) { return size[a] < size[b]; });
      VectorXd nearest;
      const VectorXd change = affine_step(P, corral, base, offset, nearest);
      double reach = 1;
      int first = -1;  // to lose its weight
      for (const int k : corral) {
        if (weights[k] + change[k] > 0) continue;
        const double until = change[k] < 0 ? weights[k] / -change[k] : 0;
        if (first < 0 || until < reach) reach = until, first = k;
      }
      arrived = first < 0;
      weights += reach * change;
      offset = arrived ? nearest : VectorXd(offset + reach * (nearest - offset));
      if (arrived) break;
      weights[first] = 0;
      std::erase_if(corral, [&](int k) { return weights[k] <= 0; });
      weights = weights.cwiseMax(0);
    }
    // rounding must not lead in circles
    std::vector<int> sorted = corral;
    std::sort(sorted.begin(), sorted.end());
    if (!known.insert(sorted).second) break;
  }
  weights /= weights.sum();
  return {weights, unit * offset};
}

VectorXd min_norm_weights(const std::vector<VectorXd>& points) {
  if (points.empty()) throw std::invalid_argument("min_norm_weights: there are no points");
  return nearest_in_hull(points, VectorXd::Zero(points[0].size())).weights;
}

Nearest nearest_point(const std::vector<Polytope>& pieces, const VectorXd& c) {
  Nearest best{std::numeric_limits<double>::infinity(), c};
  for (const Polytope& piece : pieces) {
    if (piece.corners.empty()) continue;
    const HullPoint nearest = nearest_in_hull(piece.corners, c);
    const double distance = nearest.offset.stableNorm();
    if (distance < best.distance) best = {distance, c + nearest.offset};
  }
  return best;
}

std::vector<VectorXd> fill(const std::vector<Polytope>& pieces, double spacing) {
  std::vector<VectorXd> points;
  for (const Polytope& piece : pieces) {
    double width = 0;
    for (const VectorXd& a : piece.corners) width = std::max(width, (a - piece.corners[0]).norm());
    const double most = piece.dimension <= 1 ? 5000 : 80;
    const int steps =
        width > 0 ? static_cast<int>(std::clamp(std::ceil(2 * width / spacing), 1.0, most)) : 1;
    if (piece.dimension <= 2) {
      // corners of a polygon in any order: all triangles with its first corner cover it
      for (std::size_t i = 1; i < std::max<std::size_t>(2, piece.corners.size()); ++i) {
        if (piece.corners.size() <= 2) {
          fill_simplex(piece.corners, steps, points);
          break;
        }
        for (std::size_t j = i + 1; j < piece.corners.size(); ++j)
          fill_simplex({piece.corners[0], piece.corners[i], piece.corners[j]}, steps, points);
      }
    } else {
      fill_simplex(piece.corners, piece.corners.size() > 6 ? 2 : 4, points);
    }
  }
  return points;
}

Coverage coverage(const std::vector<Polytope>& pieces, const std::vector<VectorXd>& samples,
                  const std::function<bool()>& stop) {
  Coverage result;
  double width = 0;
  for (const Polytope& piece : pieces) {
    for (const VectorXd& a : piece.corners) {
      for (const Polytope& other : pieces) {
        for (const VectorXd& b : other.corners) width = std::max(width, (a - b).norm());
      }
    }
  }
  const auto go_on = [&] { return !(result.stopped = result.stopped || (stop && stop())); };
  for (std::size_t k = 0; k < samples.size() && go_on(); ++k)
    result.outside = std::max(result.outside, nearest_point(pieces, samples[k]).distance);
  result.resolution = width / 50;
  for (const VectorXd& x : fill(pieces, result.resolution)) {
    if (!go_on()) break;
    double nearest = std::numeric_limits<double>::infinity();
    for (const VectorXd& c : samples) nearest = std::min(nearest, (c - x).squaredNorm());
    result.missed = std::max(result.missed, std::sqrt(nearest));
  }
  return result;
}

}  // namespace routh
