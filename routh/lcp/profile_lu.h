#pragma once

#include <algorithm>
#include <vector>

namespace routh::lcp {

/// a · b, four sums side by side: the processor need not wait for one. Six are a free body's.
inline double dot(const double* a, const double* b, int n) {
  if (n == 6) {
    return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) +
           (a[4] * b[4] + a[5] * b[5]);
  }
  double sums[4] = {};
  int k = 0;
  for (; k + 4 <= n; k += 4) {
    for (int j = 0; j < 4; ++j) sums[j] += a[k + j] * b[k + j];
  }
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// to += x a.
inline void add(const double* __restrict a, double x, double* __restrict to, int n) {
  if (n == 6) {
    for (int k = 0; k < 6; ++k) to[k] += x * a[k];
    return;
  }
  for (int k = 0; k < n; ++k) to[k] += x * a[k];
}

/// LU decomposition of a matrix whose rows and columns begin late: row i and column i are zero
/// before first(i). Elimination without pivoting keeps that profile, so that a stack of bodies,
/// whose constraints couple only with their neighbours, costs as much as it has bodies.
class ProfileLu {
 public:
  /// n x n, all zero; memory is kept between uses.
  void reset(int n) {
    n_ = n;
    first_.assign(n, 0);
    if (lower_.size() < static_cast<std::size_t>(n) * n) {
      lower_.resize(static_cast<std::size_t>(n) * n);
      upper_.resize(lower_.size());
    }
    diagonal_.assign(n, 0);
  }
  int size() const { return n_; }
  void begin_row(int i, int first) {
    first_[i] = first;
    std::fill(row(lower_, i) + first, row(lower_, i) + i, 0.0);
    std::fill(row(upper_, i) + first, row(upper_, i) + i, 0.0);
  }
  int first(int i) const { return first_[i]; }
  /// Entries (i, j) and (j, i) for first(i) ≤ j < i, and the diagonal.
  double& below(int i, int j) { return row(lower_, i)[j]; }
  double& above(int i, int j) { return row(upper_, i)[j]; }
  double& diagonal(int i) { return diagonal_[i]; }

  /// Decomposes in place; false as soon as a pivot is not above `least` times the diagonal it came
  /// from. Of a symmetric matrix only the entries below are read, at half the cost.
  bool factor(double least, bool symmetric = false);
  /// Replaces the right-hand side by the solution.
  void solve(std::vector<double>& x) const;

 private:
  double* row(std::vector<double>& m, int i) { return m.data() + static_cast<std::size_t>(i) * n_; }
  const double* row(const std::vector<double>& m, int i) const {
    return m.data() + static_cast<std::size_t>(i) * n_;
  }

  int n_ = 0;
  std::vector<int> first_;
  std::vector<double> lower_, upper_;  // L by rows, Uᵀ by rows
  std::vector<double> diagonal_;
};

}  // namespace routh::lcp
