#include "routh/lcp/split.h"

#include <cmath>

namespace routh::lcp {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

bool Split::factor(const Eigen::Ref<const MatrixXd>& A, double least) {
  const Index n = A.rows();
  symmetric_ = is_symmetric(A);
  right_ = A;
  if (!symmetric_) left_ = A.transpose();
  first_.resize(n), inverse_.resize(n);
  for (Index k = n - 1; k >= 0; --k) {
    double* r = right_.data() + k * n;
    double* s = symmetric_ ? r : left_.data() + k * n;
    const double pivot = r[k];
    if (!(pivot > least * std::abs(A(k, k)))) return false;
    const double root = std::sqrt(pivot), inverse = 1 / root;
    r[k] = s[k] = root;
    inverse_[k] = inverse;
    Index first = 0;
    while (first < k && r[first] == 0 && s[first] == 0) ++first;
    first_[k] = static_cast<int>(first);
    for (Index i = first; i < k; ++i) r[i] *= inverse;
    if (!symmetric_) {
      for (Index i = first; i < k; ++i) s[i] *= inverse;
    }
    for (Index j = first; j < k; ++j) {
      const double across = s[j], down = r[j];
      if (across != 0) {
        double* column = right_.data() + j * n;
        for (Index i = first; i <= j; ++i) column[i] -= r[i] * across;
      }
      if (symmetric_ || down == 0) continue;
      double* column = left_.data() + j * n;
      for (Index i = first; i < j; ++i) column[i] -= s[i] * down;
    }
  }
  return true;
}

void Split::solve(const MatrixXd& upper, double* x) const {
  const Index n = upper.rows();
  for (Index k = n - 1; k >= 0; --k) {
    if (x[k] == 0) continue;  // another limb
    x[k] *= inverse_[k];
    const double part = x[k], *column = upper.data() + k * n;
    for (Index i = first_[k]; i < k; ++i) x[i] -= column[i] * part;
  }
}

void Split::solve_motion(double* w) const {
  const MatrixXd& upper = symmetric_ ? right_ : left_;
  const Index n = upper.rows();
  for (Index k = 0; k < n; ++k) {
    const double* column = upper.data() + k * n;
    double sum = w[k];
    for (Index i = first_[k]; i < k; ++i) sum -= column[i] * w[i];
    w[k] = sum * inverse_[k];
  }
}

bool is_symmetric(const Eigen::Ref<const MatrixXd>& A) {
  for (Index j = 0; j < A.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      if (A(i, j) != A(j, i)) return false;
    }
  }
  return true;
}

}  // namespace routh::lcp
