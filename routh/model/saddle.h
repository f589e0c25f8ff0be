#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

/// What all equations of motion with constraints share: measures in which numbers of mixed units
/// can be compared with rounding, rows that may depend on each other, and the solution of
///
///   [M  -Bᵀ] [x]   [r]
///   [A   0 ] [λ] = [s].
///
/// Where B is A and no λ is asked for, Mobility (kkt.h) is M† of the same system, factored once; it
/// allows rows of A that repeat each other.
namespace routh {

/// A power of two near 1 / x, x > 0: scaling by it does not round.
inline double inverse_power(double x) { return std::scalbn(1.0, -std::ilogb(x)); }

/// Powers of two that measure coordinates by their inertia, coordinate² M(i, i) ≈ 1, those without
/// by the rows of A that hold them, and rows by their length in that measure.
struct Measures {
  Eigen::VectorXd coordinate, row;

  /// Allocates nothing where the sizes are as before.
  template <class Inertia, class Rows>
  void take(const Inertia& inertia, const Rows& A) {
    coordinate.resize(inertia.size());
    row.resize(A.rows());
    bool all = true;
    for (Eigen::Index j = 0; j < inertia.size(); ++j) {
      coordinate[j] = inertia[j] > 0 ? inverse_power(std::sqrt(inertia[j])) : 0;
      all = all && inertia[j] > 0;
    }
    measure_rows(A);
    if (all) return;
    for (Eigen::Index j = 0; j < inertia.size(); ++j) {
      if (coordinate[j] > 0) continue;
      double held = 0;
      for (Eigen::Index i = 0; i < A.rows(); ++i) held = std::max(held, std::abs(A(i, j)) * row[i]);
      coordinate[j] = held > 0 ? inverse_power(held) : 1;
    }
    measure_rows(A);
  }

 private:
  template <class Rows>
  void measure_rows(const Rows& A) {
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
      double largest = 0, any = 0;
      for (Eigen::Index j = 0; j < A.cols(); ++j) {
        largest = std::max(largest, std::abs(A(i, j)) * coordinate[j]);
        any = std::max(any, std::abs(A(i, j)));
      }
      if (largest == 0) largest = any;
      row[i] = largest > 0 ? inverse_power(largest) : 1;
    }
  }
};

/// Rows that do not depend on each other, taken one by one, in coordinates measured by `unit`.
class IndependentRows {
 public:
  explicit IndependentRows(Eigen::VectorXd unit);
  /// False, and the row is left out, where those taken so far make it up to 1e-9 of its length.
  bool add(const Eigen::RowVectorXd& row);
  /// A row in these coordinates.
  Eigen::RowVectorXd measured(const Eigen::RowVectorXd& row) const;

 private:
  Eigen::VectorXd unit_;
  Eigen::MatrixXd basis_;  // orthonormal columns
  Eigen::Index rank_ = 0;
};

/// The system above for one right-hand side at a time. M may be singular where rows of A determine
/// what it does not. A warm solve allocates nothing.
class SaddleSystem {
 public:
  /// M as given, so many rows; all else is zero.
  void begin(const Eigen::MatrixXd& M, int rows);
  /// Entry j of row r of A and of B.
  void constrain(int r, int j, double row, double push) {
    system_(nv_ + r, j) = row;
    system_(j, nv_ + r) = -push;
  }
  /// Coordinate k is given, x_k = r_k: no inertia and no constraint says more about it.
  void give(int k);
  /// Replaces entry j of the equation of a coordinate.
  double& equation(int k, int j) { return system_(k, j); }
  double& r(int k) { return system_(k, n_); }
  double& s(int row) { return system_(nv_ + row, n_); }

  /// By elimination with scaled partial pivoting. False: singular.
  bool solve();
  double x(int k) const { return system_(k, n_); }
  double lambda(int row) const { return system_(nv_ + row, n_); }

 private:
  void measure();

  int nv_ = 0, n_ = 0;
  /// The matrix and its right-hand side, which the solution replaces.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> system_;
  Measures measures_;
  std::vector<double> size_;  // 1 / largest entry of each row
};

}  // namespace routh
