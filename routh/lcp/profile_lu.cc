#include "routh/lcp/profile_lu.h"

namespace routh::lcp {
namespace {

/// Four sums side by side: the processor need not wait for one.
double dot(const double* a, const double* b, int n) {
  double sums[4] = {};
  int k = 0;
  for (; k + 4 <= n; k += 4) {
    for (int j = 0; j < 4; ++j) sums[j] += a[k + j] * b[k + j];
  }
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

bool ProfileLu::factor(double least) {
  for (int i = 0; i < n_; ++i) {
    double* Li = row(lower_, i);
    double* Ui = row(upper_, i);
    for (int j = first_[i]; j < i; ++j) {
      const int from = std::max(first_[i], first_[j]);
      Li[j] = (Li[j] - dot(Li + from, row(upper_, j) + from, j - from)) / diagonal_[j];
      Ui[j] -= dot(row(lower_, j) + from, Ui + from, j - from);
    }
    const double pivot = diagonal_[i] - dot(Li + first_[i], Ui + first_[i], i - first_[i]);
    if (!(pivot > least * diagonal_[i])) return false;
    diagonal_[i] = pivot;
  }
  return true;
}

void ProfileLu::solve(std::vector<double>& x) const {
  for (int i = 0; i < n_; ++i)
    x[i] -= dot(row(lower_, i) + first_[i], x.data() + first_[i], i - first_[i]);
  for (int i = n_ - 1; i >= 0; --i) {
    x[i] /= diagonal_[i];
    const double* Ui = row(upper_, i);
    for (int k = first_[i]; k < i; ++k) x[k] -= Ui[k] * x[i];
  }
}

}  // namespace routh::lcp
