#pragma once

#include <Eigen/Core>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

/// The exact motion of P5 Table 4.1, by matrix exponentials of the eight affine pieces and
/// bisection for the crossings: shares nothing with the library.
namespace routh::test {

struct OrderReference {
  /// Homogeneous matrix [A b; 0 0] of the piece selected by the mask.
  static Eigen::Matrix4d piece(const bool (&crossed)[3]) {
    const auto [x, y, low] = crossed;
    Eigen::Matrix4d M = Eigen::Matrix4d::Zero();
    if (!x && !y) M.row(0) << 0, -1, 0, 1;
    if (x && !y) M.row(0) << 0, -2, 0, 1;
    if (!x && y) M.row(0) << 0, 1, 0, 1;
    if (x && y) M.row(0) << 10, 0, 0, 1;
    if (!x && !y) M.row(1) << 1, 0, 0, 1;
    if (x && !y) M.row(1) << 0.5, 0, 0, 2;
    if (!x && y) M.row(1) << -1, 0, 0, 1;
    if (x && y) M.row(1) << 0, 1, 0, 1;
    if (low)
      M.row(2) << 0, 0, 3, -1;
    else
      M.row(2) << 0, 0, -1, -1;
    return M;
  }
  static Eigen::Vector3d flow(const Eigen::Matrix4d& M, const Eigen::Vector3d& x, double t) {
    const Eigen::Matrix4d E = (M * t).exp();
    return (E * x.homogeneous()).head<3>();
  }

  struct Piece {
    double begin;
    Eigen::Vector3d x;
    Eigen::Matrix4d M;
  };
  std::vector<Piece> pieces;
  std::vector<double> times;
  std::vector<int> guards;

  OrderReference(const Eigen::Vector3d& x0, double t_end) {
    bool crossed[3] = {x0[0] >= 0, x0[1] >= 0, x0[2] <= 0};
    pieces.push_back({0, x0, piece(crossed)});
    for (;;) {
      const Piece& now = pieces.back();
      // the first sign change on a fine grid, then bisection
      const auto h = [&](double t) {
        Eigen::Vector3d value = flow(now.M, now.x, t);
        value[2] = -value[2];
        return value;
      };
      double first = t_end - now.begin;
      int guard = -1;
      const int cells = 400;
      for (int i = 0; i < cells && guard < 0; ++i) {
        const double a = first * i / cells, b = first * (i + 1) / cells;
        const Eigen::Vector3d hb = h(b);
        for (int k = 0; k < 3; ++k) {
          if (crossed[k] || hb[k] < 0) continue;
          double low = a, high = b;
          for (int s = 0; s < 200 && high - low > 0; ++s) {
            const double middle = 0.5 * (low + high);
            if (middle <= low || middle >= high) break;
            (h(middle)[k] < 0 ? low : high) = middle;
          }
          if (guard < 0 || high < first) first = high, guard = k;
        }
      }
      if (guard < 0) return;
      crossed[guard] = true;
      times.push_back(now.begin + first);
      guards.push_back(guard);
      const Eigen::Vector3d x = flow(now.M, now.x, first);
      pieces.push_back({now.begin + first, x, piece(crossed)});
    }
  }

  Eigen::Vector3d at(double t) const {
    std::size_t i = pieces.size() - 1;
    while (i > 0 && pieces[i].begin > t) --i;
    return flow(pieces[i].M, pieces[i].x, t - pieces[i].begin);
  }
};

}  // namespace routh::test
