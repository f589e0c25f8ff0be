#include "routh/model/kkt.h"

#include <Eigen/LU>
#include <cmath>
#include <stdexcept>
#include <string>

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Kkt kkt(const MatrixXd& M, const MatrixXd& A) {
  const int nv = static_cast<int>(M.rows()), na = static_cast<int>(A.rows());
  if (M.cols() != nv || (na > 0 && A.cols() != nv))
    throw std::invalid_argument("kkt: M must be square and A must have as many columns as M");

  // rows and columns scaled to unit size, so that grams and tonnes share one notion of singular
  VectorXd scale(nv + na);
  MatrixXd combined = MatrixXd::Zero(nv + na, nv + na);
  combined.topLeftCorner(nv, nv) = M;
  if (na > 0) {
    combined.topRightCorner(nv, na) = A.transpose();
    combined.bottomLeftCorner(na, nv) = A;
  }
  for (int i = 0; i < nv + na; ++i) {
    const double diagonal = i < nv ? M(i, i) : combined.row(i).squaredNorm();
    scale[i] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
  }
  const MatrixXd scaled = scale.asDiagonal() * combined * scale.asDiagonal();
  Eigen::FullPivLU<MatrixXd> lu(scaled);
  lu.setThreshold(1e-12);
  if (!lu.isInvertible()) {
    if (na > 0) {
      Eigen::FullPivLU<MatrixXd> rows(A);
      rows.setThreshold(1e-12);
      if (rows.rank() < na) {
        throw std::invalid_argument("the bilateral rows A depend on each other (rank " +
                                    std::to_string(rows.rank()) + " of " + std::to_string(na) +
                                    "); remove redundant joints");
      }
    }
    const VectorXd free = lu.kernel().col(0).head(nv);
    Eigen::Index worst = 0;
    free.cwiseAbs().maxCoeff(&worst);
    throw std::invalid_argument("neither mass nor a bilateral row determines velocity " +
                                std::to_string(worst) +
                                "; M is singular there: give the body mass or a joint");
  }
  const MatrixXd inverse = scale.asDiagonal() * lu.inverse() * scale.asDiagonal();
  Kkt blocks{inverse.topLeftCorner(nv, nv), inverse.bottomLeftCorner(na, nv),
             inverse.bottomRightCorner(na, na)};
  blocks.Mdag = 0.5 * (blocks.Mdag + blocks.Mdag.transpose()).eval();
  return blocks;
}

}  // namespace routh
