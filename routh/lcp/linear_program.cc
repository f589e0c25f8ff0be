#include "routh/lcp/linear_program.h"

#include <Eigen/LU>
#include <cmath>
#include <numeric>
#include <vector>

namespace routh::lcp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPivot = 1e-10;    // entries below this are not pivoted on
constexpr double kReduced = 1e-11;  // reduced costs below this do not improve
constexpr double kLargest = 1e8;    // sum of the x that a proof of infeasibility reckons with
constexpr double kExact = 1e-14;    // of A x = b, relative, that needs no second look
constexpr int kStall = 20;          // pivots without progress before Bland's rule

/// Rows: constraints, then the objective; columns: variables, artificial variables, right side.
class Tableau {
 public:
  Tableau(const MatrixXd& A, const VectorXd& b) : rows_(A.rows()), columns_(A.cols()) {
    T_ = MatrixXd::Zero(rows_ + 1, columns_ + rows_ + 1);
    sign_ = (b.array() < 0).select(VectorXd::Constant(rows_, -1), VectorXd::Ones(rows_));
    T_.topLeftCorner(rows_, columns_) = sign_.asDiagonal() * A;
    T_.block(0, columns_, rows_, rows_).setIdentity();
    T_.col(last()).head(rows_) = sign_.cwiseProduct(b);
    basis_.resize(rows_);
    std::iota(basis_.begin(), basis_.end(), static_cast<int>(columns_));
  }

  /// Sets the objective row of `maximise cost · (variables, artificial variables)`.
  void price(const VectorXd& cost) {
    T_.row(rows_).setZero();
    T_.row(rows_).head(cost.size()) = -cost.transpose();
    for (Index r = 0; r < rows_; ++r) {
      const double c = basis_[r] < cost.size() ? cost[basis_[r]] : 0;
      if (c != 0) T_.row(rows_) += c * T_.row(r);
    }
  }

  /// Pivots over the first `usable` columns until none improves.
  LinearStatus improve(Index usable, int& pivots, int limit) {
    int stalled = 0;
    for (; pivots < limit; ++pivots) {
      const Index column = entering(usable, stalled > kStall);
      if (column < 0) return LinearStatus::kOptimal;
      const Index row = leaving(column, stalled > kStall);
      if (row < 0) return LinearStatus::kUnbounded;
      const double before = T_(rows_, last());
      pivot(row, column);
      stalled = T_(rows_, last()) > before + 1e-13 ? 0 : stalled + 1;
    }
    return LinearStatus::kUndecided;
  }

  /// Artificial variables that stayed at zero leave the basis where they can; the others mark rows
  /// that depend on the rest.
  void drive_out() {
    for (Index r = 0; r < rows_; ++r) {
      if (basis_[r] < columns_) continue;
      Index best = 0;
      const double size = T_.row(r).head(columns_).cwiseAbs().maxCoeff(&best);
      if (size > 1e-8) pivot(r, best);
    }
  }

  VectorXd point() const {
    VectorXd x = VectorXd::Zero(columns_);
    for (Index r = 0; r < rows_; ++r) {
      if (basis_[r] < columns_) x[basis_[r]] = std::max(0.0, T_(r, last()));
    }
    return x;
  }
  double objective() const { return T_(rows_, last()); }

  /// The columns of the basis, artificial ones as units, from the data instead of the pivots.
  MatrixXd basis(const MatrixXd& A) const {
    MatrixXd B = MatrixXd::Zero(rows_, rows_);
    for (Index r = 0; r < rows_; ++r) {
      if (basis_[r] < columns_) {
        B.col(r) = A.col(basis_[r]);
      } else {
        B(basis_[r] - columns_, r) = sign_[basis_[r] - columns_];
      }
    }
    return B;
  }
  /// point() and multipliers() once more, from the data.
  VectorXd precise_point(const MatrixXd& A, const VectorXd& b) const {
    const VectorXd values = basis(A).partialPivLu().solve(b);
    VectorXd x = VectorXd::Zero(columns_);
    for (Index r = 0; r < rows_; ++r) {
      if (basis_[r] < columns_) x[basis_[r]] = std::max(0.0, values[r]);
    }
    return x;
  }
  VectorXd precise_multipliers(const MatrixXd& A) const {
    VectorXd cost(rows_);
    for (Index r = 0; r < rows_; ++r) cost[r] = basis_[r] < columns_ ? 0 : -1;
    return basis(A).transpose().partialPivLu().solve(cost);
  }
  /// Multipliers of the rows after phase one.
  VectorXd multipliers() const {
    return sign_.cwiseProduct(
        VectorXd(T_.row(rows_).segment(columns_, rows_).transpose() - VectorXd::Ones(rows_)));
  }

 private:
  Index last() const { return columns_ + rows_; }

  Index entering(Index usable, bool first) const {
    Index best = -1;
    double most = -kReduced;
    for (Index j = 0; j < usable; ++j) {
      if (T_(rows_, j) >= most) continue;
      best = j;
      if (first) break;
      most = T_(rows_, j);
    }
    return best;
  }

  Index leaving(Index column, bool bland) const {
    Index best = -1;
    double least = 0;
    for (Index r = 0; r < rows_; ++r) {
      const double a = T_(r, column);
      // an artificial variable at zero must not grow again
      const bool artificial = basis_[r] >= columns_ && column < columns_;
      if (artificial && T_(r, last()) <= 1e-12 && std::abs(a) > 1e-7) return r;
      if (a <= kPivot) continue;
      const double ratio = std::max(0.0, T_(r, last())) / a;
      const bool ties = best >= 0 && std::abs(ratio - least) <= 1e-13 * (1 + least);
      const bool better = ties ? (bland ? basis_[r] < basis_[best] : a > T_(best, column))
                               : best < 0 || ratio < least;
      if (!better) continue;
      best = r;
      least = ratio;
    }
    return best;
  }

  void pivot(Index row, Index column) {
    T_.row(row) /= T_(row, column);
    for (Index r = 0; r <= rows_; ++r) {
      if (r != row && T_(r, column) != 0) T_.row(r) -= T_(r, column) * T_.row(row);
    }
    basis_[row] = static_cast<int>(column);
  }

  Index rows_, columns_;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> T_;
  VectorXd sign_;
  std::vector<int> basis_;
};

}  // namespace

LinearSolution solve(const LinearProgram& p, double tolerance) {
  const Index rows = p.A.rows(), columns = p.A.cols();
  const int limit = static_cast<int>(50 + 10 * (rows + columns));
  LinearSolution result;
  Tableau tableau(p.A, p.b);

  // phase one: artificial variables leave
  VectorXd cost = VectorXd::Zero(columns + rows);
  cost.tail(rows).setConstant(-1);
  tableau.price(cost);
  if (tableau.improve(columns, result.pivots, limit) == LinearStatus::kUndecided) return result;
  if (tableau.objective() < -tolerance) {
    // yᵀA ≥ 0 and yᵀb < 0 contradict A x = b, x ≥ 0; what rounding leaves below zero is weighed
    // with the largest x
    const auto proves = [&](VectorXd y) {
      const double below = columns > 0 ? std::max(0.0, -(p.A.transpose() * y).minCoeff()) : 0;
      const double margin = -y.dot(p.b), size = y.lpNorm<Eigen::Infinity>();
      result.y = std::move(y);
      result.margin = margin / size;
      return margin > tolerance * size && kLargest * below <= 0.5 * margin;
    };
    if (proves(tableau.multipliers()) || proves(tableau.precise_multipliers(p.A)))
      result.status = LinearStatus::kInfeasible;
    return result;
  }

  // phase two
  if (p.q.size()) {
    tableau.drive_out();
    tableau.price(p.q);
    const LinearStatus status = tableau.improve(columns, result.pivots, limit);
    if (status != LinearStatus::kOptimal) {
      result.status = status;
      return result;
    }
  }
  const auto confirmed = [&](double within) {
    const VectorXd left = (p.A * result.x - p.b).cwiseAbs();
    const VectorXd terms = p.A.cwiseAbs() * result.x + p.b.cwiseAbs();
    return ((left - within * terms).array() <= within).all();
  };
  result.x = tableau.point();
  if (!confirmed(kExact)) {
    // many pivots have added up their rounding
    VectorXd again = tableau.precise_point(p.A, p.b);
    std::swap(result.x, again);
    if (!result.x.allFinite() || !confirmed(tolerance)) std::swap(result.x, again);
  }
  result.value = p.q.size() ? p.q.dot(result.x) : 0;
  if (confirmed(tolerance)) result.status = LinearStatus::kOptimal;
  return result;
}

}  // namespace routh::lcp
