#include "routh/lcp/lemke.h"

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The dictionary  basic = b + T nonbasic.  Variables are numbered y: 0..n-1, z: n..2n-1, z₀: 2n.
/// Columns of T are contiguous (Eigen's default), so that a pivot is n + 1 rank-one column updates.
struct Dictionary {
  int n;
  MatrixXd T;              // n x (n + 2); the last column is b
  std::vector<int> basic;  // variable of each row
  std::vector<int> nonbasic;
  std::vector<int> y_row;     // row where y_k is basic, or -1
  std::vector<int> y_column;  // column where y_k is nonbasic, or -1

  Dictionary(const Problem& problem, const VectorXd& cover)
      : n(problem.size()), T(n, n + 2), basic(n), nonbasic(n + 1), y_row(n), y_column(n, -1) {
    T.leftCols(n) = problem.W;
    T.col(n) = cover;
    T.col(n + 1) = problem.w;
    for (int i = 0; i < n; ++i) basic[i] = y_row[i] = i;
    for (int j = 0; j <= n; ++j) nonbasic[j] = n + j;
  }

  auto b() const { return T.col(n + 1); }

  /// Coefficient of ε^(k+1) in the perturbed right-hand side of a row.
  double perturbation(int row, int k) const {
    if (y_row[k] >= 0) return y_row[k] == row ? 1.0 : 0.0;
    return -T(row, y_column[k]);
  }

  /// Exchanges the basic variable of a row with the nonbasic variable of a column.
  void pivot(int row, int column) {
    const double inverse = 1 / T(row, column);
    const VectorXd entering = T.col(column);
    T.col(column).setZero();
    T(row, column) = -1;  // becomes 1 / pivot below
    for (int j = 0; j < n + 2; ++j) {
      const double scale = -T(row, j) * inverse;
      if (scale == 0) continue;
      T.col(j) += scale * entering;
      T(row, j) = scale;
    }
    std::swap(basic[row], nonbasic[column]);
    if (basic[row] < n) y_row[basic[row]] = row, y_column[basic[row]] = -1;
    if (nonbasic[column] < n) y_column[nonbasic[column]] = column, y_row[nonbasic[column]] = -1;
  }

  /// Is row i before row j in the lexicographic order of (b, ε-coefficients) / weight?
  bool lexicographically_less(int i, double weight_i, int j, double weight_j, double tie) const {
    for (int k = 0; k < n; ++k) {
      const double a = perturbation(i, k) / weight_i, c = perturbation(j, k) / weight_j;
      if (std::abs(a - c) > tie * (1 + std::max(std::abs(a), std::abs(c)))) return a < c;
    }
    return false;
  }
};

/// Solves the equations of the final basis anew, so that rounding of the pivots does not reach the
/// answer.
VectorXd polish(const Problem& problem, const VectorXd& z) {
  const int n = problem.size();
  std::vector<int> support;
  for (int i = 0; i < n; ++i) {
    if (z[i] > 0) support.push_back(i);
  }
  VectorXd polished = VectorXd::Zero(n);
  if (support.empty()) return polished;
  const VectorXd solved =
      MatrixXd(problem.W(support, support)).fullPivLu().solve(-problem.w(support));
  polished(support) = solved.cwiseMax(0);
  return polished;
}

LemkeResult conclude(const Problem& problem, const LemkeOptions& options, VectorXd z, int pivots) {
  LemkeResult result{.z = std::move(z), .pivots = pivots};
  result.residual = residual(problem, result.z);
  if (result.residual > 1e-2 * options.tolerance) {
    const VectorXd polished = polish(problem, result.z);
    const double better = residual(problem, polished);
    if (better < result.residual) result.z = polished, result.residual = better;
  }
  result.status = result.residual <= options.tolerance ? Status::kSolved : Status::kInaccurate;
  return result;
}

}  // namespace

LemkeResult lemke(const Problem& problem, const LemkeOptions& options) {
  validate(problem);
  const int n = problem.size();
  if (options.cover.size() != 0 && (options.cover.size() != n || options.cover.minCoeff() <= 0)) {
    throw std::invalid_argument("lemke: cover must be empty or have n positive entries");
  }
  if (n == 0 || problem.w.minCoeff() >= 0) return conclude(problem, options, VectorXd::Zero(n), 0);

  const VectorXd cover = options.cover.size() ? options.cover : VectorXd::Ones(n);
  const int max_pivots = options.max_pivots > 0 ? options.max_pivots : 20 * n + 50;
  const int z0 = 2 * n;
  const double tie = 1e-11;
  Dictionary d(problem, cover);

  const auto current_z = [&] {
    VectorXd z = VectorXd::Zero(n);
    for (int i = 0; i < n; ++i) {
      if (d.basic[i] >= n && d.basic[i] < z0) z[d.basic[i] - n] = std::max(0.0, d.b()[i]);
    }
    return z;
  };

  // z₀ enters and covers the most negative w; among equals the lexicographically last row leaves
  int row = 0;
  for (int i = 1; i < n; ++i) {
    const double a = d.b()[i] / cover[i], best = d.b()[row] / cover[row];
    const double gap = tie * (std::abs(a) + std::abs(best));
    if (a < best - gap ||
        (a <= best + gap && d.lexicographically_less(i, cover[i], row, cover[row], tie)))
      row = i;
  }
  int leaving = d.basic[row];
  d.pivot(row, n);

  for (int pivots = 1; pivots <= max_pivots; ++pivots) {
    // the complement of what left enters
    const int entering = leaving < n ? leaving + n : leaving - n;
    int column = 0;
    while (d.nonbasic[column] != entering) ++column;

    // ratio test, ties lexicographic, z₀ first of all
    const auto t = d.T.col(column);
    const double smallest_pivot = 1e-11 * std::max(1.0, t.cwiseAbs().maxCoeff());
    double best = std::numeric_limits<double>::infinity();
    row = -1;
    for (int i = 0; i < n; ++i) {
      if (t[i] >= -smallest_pivot) continue;
      const double ratio = std::max(0.0, d.b()[i]) / -t[i];
      const double gap = tie * (1e-3 + std::min(ratio, best));
      const bool clearly = ratio < best - gap;
      const bool tied = !clearly && ratio <= best + gap;
      if (!clearly && !tied) continue;
      if (tied && row >= 0 && d.basic[row] == z0) continue;
      if (clearly || d.basic[i] == z0 || d.lexicographically_less(i, -t[i], row, -t[row], tie)) {
        best = ratio;
        row = i;
      }
    }
    if (row < 0) {
      LemkeResult ray{.status = Status::kRay, .z = current_z(), .pivots = pivots};
      ray.residual = residual(problem, ray.z);
      return ray;
    }
    leaving = d.basic[row];
    d.pivot(row, column);
    if (leaving == z0) return conclude(problem, options, current_z(), pivots);
  }
  LemkeResult spent{.status = Status::kPivotLimit, .z = current_z(), .pivots = max_pivots};
  spent.residual = residual(problem, spent.z);
  return spent;
}

}  // namespace routh::lcp
