#include "routh/lcp/lemke.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "routh/lcp/pivot.h"

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The dictionary  basic = b + T nonbasic.  Variables are numbered y: 0..n-1, z: n..2n-1, z₀: 2n.
struct Dictionary {
  int n, stride;
  std::unique_ptr<double[], decltype(&std::free)> T;  // columns of n + 1 nonbasic variables, then b
  std::vector<int> names;  // basic variable of each row, then nonbasic variable of each column
  std::vector<int> place;  // of each variable: its row, or n + its column

  Dictionary(const Problem& problem, const VectorXd& cover)
      : n(problem.size()),
        stride((n + 7) / 8 * 8),
        T(static_cast<double*>(std::aligned_alloc(64, sizeof(double) * (n + 2) * stride)),
          &std::free),
        names(2 * n + 1),
        place(2 * n + 1) {
    const auto store = [&](int j, const double* column) {
      std::copy_n(column, n, T.get() + j * stride);
      std::fill_n(T.get() + j * stride + n, stride - n, 0.0);
    };
    for (int j = 0; j < n; ++j) store(j, problem.W.col(j).data());
    store(n, cover.data());
    store(n + 1, problem.w.data());
    std::iota(names.begin(), names.end(), 0);
    std::iota(place.begin(), place.end(), 0);
  }

  double& at(int row, int column) { return T[column * stride + row]; }
  double at(int row, int column) const { return T[column * stride + row]; }
  double b(int row) const { return at(row, n + 1); }
  const double* column(int j) const { return T.get() + j * stride; }
  int basic(int row) const { return names[row]; }
  int column_of(int variable) const { return place[variable] - n; }

  /// Exchanges the basic variable of a row with the nonbasic variable of a column.
  void pivot(const PivotKernel& kernel, int row, int column) {
    kernel.exchange(T.get(), stride, n + 2, row, column);
    std::swap(names[row], names[n + column]);
    place[names[row]] = row;
    place[names[n + column]] = n + column;
  }

  /// Coefficient of ε^(k+1) in the perturbed right-hand side of a row.
  double perturbation(int row, int k) const {
    if (place[k] < n) return place[k] == row ? 1.0 : 0.0;
    return -at(row, column_of(k));
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

/// One run. Entries of the dictionary below `smallest_pivot` count as zero.
LemkeResult run(const Problem& problem, const LemkeOptions& options, const VectorXd& cover,
                double smallest_pivot) {
  const int n = problem.size();
  const int max_pivots = options.max_pivots > 0 ? options.max_pivots : 20 * n + 50;
  const int z0 = 2 * n;
  const double tie = 1e-11;
  const PivotKernel kernel = pivot_kernel();
  Dictionary d(problem, cover);
  std::vector<double> ratio(d.stride);

  const auto current_z = [&] {
    VectorXd z = VectorXd::Zero(n);
    for (int i = 0; i < n; ++i) {
      if (d.basic(i) >= n && d.basic(i) < z0) z[d.basic(i) - n] = std::max(0.0, d.b(i));
    }
    return z;
  };

  // a degenerate end may leave z₀ in the basis at zero: then the iterate is a solution all the same
  const auto give_up = [&](Status why, int pivots) {
    LemkeResult result = conclude(problem, options, current_z(), pivots);
    if (result.status != Status::kSolved) result.status = why;
    return result;
  };

  // z₀ enters and covers the most negative w; among equals the lexicographically last row leaves
  int row = 0;
  for (int i = 1; i < n; ++i) {
    const double a = d.b(i) / cover[i], best = d.b(row) / cover[row];
    const double gap = tie * (std::abs(a) + std::abs(best));
    if (a < best - gap ||
        (a <= best + gap && d.lexicographically_less(i, cover[i], row, cover[row], tie)))
      row = i;
  }
  int leaving = d.basic(row);
  d.pivot(kernel, row, n);

  for (int pivots = 1; pivots <= max_pivots; ++pivots) {
    // the complement of what left enters
    const int entering = leaving < n ? leaving + n : leaving - n;
    const int column = d.column_of(entering);

    // ratio test: the smallest ratio, then among the rows that tie z₀ or else the lexicographically
    // first
    const double best =
        kernel.ratios(d.column(column), d.column(n + 1), d.stride, smallest_pivot, ratio.data());
    row = -1;
    for (int i = 0; i < n && std::isfinite(best); ++i) {
      if (ratio[i] > best + tie * (1e-3 + best)) continue;
      if (row < 0 || d.basic(i) == z0 ||
          (d.basic(row) != z0 &&
           d.lexicographically_less(i, -d.at(i, column), row, -d.at(row, column), tie)))
        row = i;
    }
    if (row < 0) return give_up(Status::kRay, pivots);
    leaving = d.basic(row);
    d.pivot(kernel, row, column);
    if (leaving == z0) return conclude(problem, options, current_z(), pivots);
  }
  return give_up(Status::kPivotLimit, max_pivots);
}

}  // namespace

LemkeResult lemke(const Problem& given, const LemkeOptions& options) {
  validate(given);
  const int n = given.size();
  if (options.cover.size() != 0 && (options.cover.size() != n || options.cover.minCoeff() <= 0)) {
    throw std::invalid_argument("lemke: cover must be empty or have n positive entries");
  }
  if (n == 0 || given.w.minCoeff() >= 0) return conclude(given, options, VectorXd::Zero(n), 0);

  // thresholds mean the same in all units
  const Scaled scaled(given);
  const Problem& problem = scaled.problem;
  const auto in_given_units = [&](LemkeResult result) {
    result.z = scaled.size * scaled.column.cwiseProduct(result.z);
    return result;
  };

  // what is zero in a dictionary full of rounding is a guess; the residual tells whether it was
  // right
  const VectorXd cover = options.cover.size() ? options.cover : VectorXd::Ones(n);
  const double size = std::max(1.0, problem.W.cwiseAbs().maxCoeff());
  const LemkeResult first = run(problem, options, cover, 1e-11 * size);
  if (first.status == Status::kSolved || first.status == Status::kPivotLimit)
    return in_given_units(first);
  for (const double threshold : {1e-13, 1e-9}) {
    LemkeResult again = run(problem, options, cover, threshold * size);
    again.pivots += first.pivots;
    if (again.status == Status::kSolved) return in_given_units(again);
  }
  return in_given_units(first);
}

}  // namespace routh::lcp
