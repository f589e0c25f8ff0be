#include "routh/lcp/positive.h"

namespace routh::lcp {

using Eigen::MatrixXd;
using Eigen::VectorXd;

bool invert_positive(MatrixXd& A, VectorXd& column) {
  const Eigen::Index n = A.rows();
  column.resize(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double pivot = A(k, k);
    if (!(pivot > 0)) return false;
    for (Eigen::Index i = 0; i < k; ++i) column[i] = A(k, i);
    for (Eigen::Index i = k; i < n; ++i) column[i] = A(i, k);
    const double* from = column.data();
    for (Eigen::Index j = 0; j < n; ++j) {
      const double part = from[j] / pivot;
      if (part == 0) continue;  // another limb
      double* to = A.data() + j * n;
      for (Eigen::Index i = j; i < n; ++i) to[i] -= part * from[i];
    }
    for (Eigen::Index i = 0; i < k; ++i) A(k, i) = column[i] / pivot;
    for (Eigen::Index i = k + 1; i < n; ++i) A(i, k) = column[i] / pivot;
    A(k, k) = -1 / pivot;
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i) A(j, i) = A(i, j) = -A(i, j);
  }
  return true;
}

bool is_symmetric(const Eigen::Ref<const MatrixXd>& A) {
  for (Eigen::Index j = 0; j < A.cols(); ++j) {
    for (Eigen::Index i = 0; i < j; ++i) {
      if (A(i, j) != A(j, i)) return false;
    }
  }
  return true;
}

}  // namespace routh::lcp
