#include "routh/model/kkt.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "routh/linear/decompose.h"
#include "routh/model/saddle.h"

namespace routh {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kDependent = 1e-12;  // pivots of rows of length one
constexpr double kMassless = 1e-14;   // inertia of a motion, relative to that of its parts
constexpr double kEps = std::numeric_limits<double>::epsilon();

void check_sizes(const MatrixXd& M, const MatrixXd& A) {
  if (M.cols() != M.rows() || (A.rows() > 0 && A.cols() != M.rows()))
    throw std::invalid_argument("kkt: M must be square and A must have as many columns as M");
  if (!M.allFinite() || !A.allFinite())
    throw std::invalid_argument("kkt: M or A has an entry that is not finite");
}

[[noreturn]] void undetermined(const VectorXd& motion) {
  Index worst = 0;
  motion.cwiseAbs().maxCoeff(&worst);
  throw std::invalid_argument("neither mass nor a bilateral row determines velocity " +
                              std::to_string(worst) +
                              "; M is singular there: give the body mass or a joint");
}

}  // namespace

Mobility::Mobility(const MatrixXd& M, const MatrixXd& A) : M_(M), A_(A) {
  check_sizes(M, A);
  const Index nv = M.rows();
  Measures measures;
  measures.take(M.diagonal(), A);
  scale_ = std::move(measures.coordinate);
  row_ = std::move(measures.row);

  // motions that the joints allow, by elimination: what no joint touches stays apart
  rounding_ = 32 * static_cast<double>(nv) * kEps;
  N_ = MatrixXd::Identity(nv, nv);
  if (A.rows() > 0) {
    Eigen::FullPivLU<MatrixXd> lu(row_.asDiagonal() * A * scale_.asDiagonal());
    lu.setThreshold(kDependent);
    rank_ = static_cast<int>(lu.rank());
    if (rank_ == nv) {
      N_.resize(nv, 0);
    } else if (rank_ > 0) {
      N_ = lu.kernel();
      const auto U = lu.matrixLU().topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>();
      const MatrixXd inverse = U.solve(MatrixXd::Identity(rank_, rank_));
      rounding_ *= std::max(1.0, inverse.cwiseAbs().rowwise().sum().maxCoeff());
    }
  }
  if (N_.cols() == 0) return;

  // their inertia
  const MatrixXd scaled = scale_.asDiagonal() * M * scale_.asDiagonal();
  MatrixXd S = rank_ > 0 ? MatrixXd(N_.transpose() * scaled * N_) : scaled;
  S = 0.5 * (S + S.transpose()).eval();
  unit_.resize(S.rows());
  for (Index j = 0; j < S.rows(); ++j) {
    if (!(S(j, j) > kMassless * N_.col(j).squaredNorm())) undetermined(N_.col(j));
    unit_[j] = inverse_power(std::sqrt(S(j, j)));
  }
  S = unit_.asDiagonal() * S * unit_.asDiagonal();
  inertia_.compute(S);
  if (!(inertia_.vectorD().minCoeff() > kMassless)) {
    undetermined(N_ * unit_.cwiseProduct(linear::symmetric_eigen(S).vectors.col(0)));
  }
}

MatrixXd Mobility::free_part(const MatrixXd& J) const {
  const MatrixXd scaled = J * scale_.asDiagonal();
  MatrixXd free = N_.transpose() * scaled.transpose();
  if (rank_ == 0) return free;
  const MatrixXd size = N_.transpose().cwiseAbs() * scaled.transpose().cwiseAbs();
  for (Index k = 0; k < free.cols() && free.rows() > 0; ++k) {
    const double zero = rounding_ * size.col(k).maxCoeff();
    for (double& x : free.col(k)) x = std::abs(x) <= zero ? 0 : x;
  }
  return free;
}

MatrixXd Mobility::delassus(const MatrixXd& free) const {
  if (free.size() == 0) return MatrixXd::Zero(free.cols(), free.cols());
  const MatrixXd X = inertia_.transpositionsP() * MatrixXd(unit_.asDiagonal() * free);
  const MatrixXd Y = inertia_.matrixL().solve(X);
  const MatrixXd G = Y.transpose() * inertia_.vectorD().cwiseInverse().asDiagonal() * Y;
  return 0.5 * (G + G.transpose());
}

MatrixXd Mobility::response(const MatrixXd& free) const {
  if (free.size() == 0) return MatrixXd::Zero(scale_.size(), free.cols());
  return scale_.asDiagonal() *
         (N_ * (unit_.asDiagonal() * inertia_.solve(MatrixXd(unit_.asDiagonal() * free))));
}

MatrixXd Mobility::Mdag() const {
  const Index nv = scale_.size();
  const MatrixXd full = response(free_part(MatrixXd::Identity(nv, nv)));
  return 0.5 * (full + full.transpose());
}

MatrixXd Mobility::moving(const MatrixXd& b) const {
  if (A_.rows() == 0) return MatrixXd::Zero(scale_.size(), b.cols());
  // some such motion, less what M† makes of it
  const MatrixXd some =
      scale_.asDiagonal() * linear::least_squares(row_.asDiagonal() * A_ * scale_.asDiagonal(),
                                                  MatrixXd(row_.asDiagonal() * b), kDependent);
  return some - response(free_part((M_ * some).transpose()));
}

VectorXd Mobility::acceleration(const VectorXd& f, const VectorXd& bias) const {
  VectorXd a = response(free_part(f.transpose()));
  if (A_.rows() > 0) a -= moving(bias);
  return a;
}

Kkt kkt(const MatrixXd& M, const MatrixXd& A) {
  const Mobility mobility(M, A);
  const Index nv = M.rows(), na = A.rows();
  if (mobility.rank() < na) {
    throw std::invalid_argument("the bilateral rows A depend on each other (rank " +
                                std::to_string(mobility.rank()) + " of " + std::to_string(na) +
                                "); remove redundant joints");
  }
  Kkt blocks{mobility.Mdag(), MatrixXd(na, nv), MatrixXd(na, na)};
  if (na == 0) return blocks;
  const MatrixXd least = mobility.moving(MatrixXd::Identity(na, na));
  blocks.Adag = least.transpose();
  blocks.Lambda = -least.transpose() * M * least;
  return blocks;
}

}  // namespace routh
