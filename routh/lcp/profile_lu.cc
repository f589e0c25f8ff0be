#include "routh/lcp/profile_lu.h"

namespace routh::lcp {

bool ProfileLu::factor(double least, bool symmetric) {
  for (int i = 0; i < n_; ++i) {
    double* Li = row(lower_, i);
    double* Ui = row(upper_, i);
    for (int j = first_[i]; j < i; ++j) {
      const int from = std::max(first_[i], first_[j]);
      const double below = Li[j] - dot(Li + from, row(upper_, j) + from, j - from);
      Ui[j] = symmetric ? below : Ui[j] - dot(row(lower_, j) + from, Ui + from, j - from);
      Li[j] = below / diagonal_[j];
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
