#include "routh/impact/polytopes.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Weights, summing to one, of the point of the affine hull nearest to the origin.
VectorXd affine_weights(const std::vector<VectorXd>& points, const std::vector<int>& active) {
  const int k = static_cast<int>(active.size());
  MatrixXd kkt = MatrixXd::Zero(k + 1, k + 1);
  for (int a = 0; a < k; ++a) {
    for (int b = 0; b < k; ++b) kkt(a, b) = points[active[a]].dot(points[active[b]]);
    kkt(a, k) = kkt(k, a) = 1;
  }
  return kkt.fullPivLu().solve(VectorXd::Unit(k + 1, k)).head(k);
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

VectorXd min_norm_weights(const std::vector<VectorXd>& points) {
  const int n = static_cast<int>(points.size());
  double size = 0;
  int start = 0;
  for (int i = 0; i < n; ++i) {
    size = std::max(size, points[i].norm());
    if (points[i].squaredNorm() < points[start].squaredNorm()) start = i;
  }
  VectorXd weights = VectorXd::Unit(n, start);
  std::vector<int> active{start};
  for (int major = 0; major < 100 * n; ++major) {
    VectorXd x = VectorXd::Zero(points[0].size());
    for (const int i : active) x += weights[i] * points[i];
    // the corner that lies farthest towards the origin; none: x is the nearest point
    int best = start;
    for (int i = 0; i < n; ++i) {
      if (points[i].dot(x) < points[best].dot(x)) best = i;
    }
    if (points[best].dot(x) >= x.squaredNorm() - 1e-14 * size * x.norm() ||
        std::find(active.begin(), active.end(), best) != active.end())
      break;
    active.push_back(best);
    // move to the nearest point of the affine hull, dropping corners whose weight would turn
    // negative
    for (int minor = 0; minor <= n; ++minor) {
      const VectorXd target = affine_weights(points, active);
      double reach = 1;
      for (std::size_t k = 0; k < active.size(); ++k) {
        const double w = weights[active[k]];
        if (target[k] < 1e-14 && w - target[k] > 0) reach = std::min(reach, w / (w - target[k]));
      }
      std::vector<int> kept;
      for (std::size_t k = 0; k < active.size(); ++k) {
        double& w = weights[active[k]];
        w += reach * (target[k] - w);
        if (w > 1e-14 || reach == 1) {
          kept.push_back(active[k]);
        } else {
          w = 0;
        }
      }
      active = std::move(kept);
      if (reach == 1) break;
    }
  }
  return weights.cwiseMax(0) / weights.cwiseMax(0).sum();
}

Nearest nearest_point(const std::vector<Polytope>& pieces, const VectorXd& c) {
  Nearest best{std::numeric_limits<double>::infinity(), c};
  for (const Polytope& piece : pieces) {
    std::vector<VectorXd> shifted;
    for (const VectorXd& corner : piece.corners) shifted.push_back(corner - c);
    const VectorXd weights = min_norm_weights(shifted);
    VectorXd x = VectorXd::Zero(c.size());
    for (std::size_t k = 0; k < piece.corners.size(); ++k) x += weights[k] * piece.corners[k];
    if ((x - c).norm() < best.distance) best = {(x - c).norm(), x};
  }
  return best;
}

std::vector<VectorXd> fill(const std::vector<Polytope>& pieces, double spacing) {
  std::vector<VectorXd> points;
  for (const Polytope& piece : pieces) {
    double width = 0;
    for (const VectorXd& a : piece.corners) width = std::max(width, (a - piece.corners[0]).norm());
    const int wanted = std::max(1, static_cast<int>(std::ceil(2 * width / spacing)));
    const int steps = std::min(wanted, piece.dimension <= 1   ? 5000
                                       : piece.dimension == 2 ? 80
                                                              : 12);
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

Coverage coverage(const std::vector<Polytope>& pieces, const std::vector<VectorXd>& samples) {
  Coverage result;
  double width = 0;
  for (const Polytope& piece : pieces) {
    for (const VectorXd& a : piece.corners) {
      for (const Polytope& other : pieces) {
        for (const VectorXd& b : other.corners) width = std::max(width, (a - b).norm());
      }
    }
  }
  for (const VectorXd& c : samples)
    result.outside = std::max(result.outside, nearest_point(pieces, c).distance);
  result.resolution = width / 50;
  for (const VectorXd& x : fill(pieces, result.resolution)) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const VectorXd& c : samples) nearest = std::min(nearest, (c - x).squaredNorm());
    result.missed = std::max(result.missed, std::sqrt(nearest));
  }
  return result;
}

}  // namespace routh
