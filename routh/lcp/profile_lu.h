#pragma once

#include <algorithm>
#include <vector>

namespace routh::lcp {

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
  /// from.
  bool factor(double least);
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
