#include "routh/model/saddle.h"

#include <algorithm>

namespace routh {
namespace {

constexpr double kRepeated = 1e-9;  // a row this close to others counts as a sum of them
constexpr double kNoPivot = 1e-12;  // pivots below this, relative to their row

}  // namespace

IndependentRows::IndependentRows(Eigen::VectorXd unit)
    : unit_(std::move(unit)), basis_(unit_.size(), unit_.size()) {}

Eigen::RowVectorXd IndependentRows::measured(const Eigen::RowVectorXd& row) const {
  return row.cwiseProduct(unit_.transpose());
}

bool IndependentRows::add(const Eigen::RowVectorXd& row) {
  Eigen::VectorXd rest = measured(row).transpose();
  const double length = rest.norm();
  for (int pass = 0; pass < 2; ++pass) {
    for (Eigen::Index i = 0; i < rank_; ++i) rest -= basis_.col(i).dot(rest) * basis_.col(i);
  }
  if (rank_ == basis_.cols() || !(rest.norm() > kRepeated * length)) return false;
  basis_.col(rank_++) = rest.normalized();
  return true;
}

void SaddleSystem::begin(const Eigen::MatrixXd& M, int rows) {
  nv_ = static_cast<int>(M.rows());
  n_ = nv_ + rows;
  system_.setZero(n_, n_ + 1);
  system_.topLeftCorner(nv_, nv_) = M;
}

void SaddleSystem::give(int k) {
  system_.row(k).setZero();
  system_.col(k).head(nv_).setZero();
  system_(k, k) = 1;
}

/// Measures velocities by their inertia and constraints by their rows, so that pivots of mixed
/// units can be compared. Powers of two: nothing rounds.
void SaddleSystem::measure() {
  measures_.take(system_.diagonal().head(nv_), system_.block(nv_, 0, n_ - nv_, nv_));
  const auto unit = [&](int i) {
    return i < nv_ ? measures_.coordinate[i] : measures_.row[i - nv_];
  };
  for (int i = 0; i < n_; ++i) {
    double* row = system_.data() + static_cast<std::ptrdiff_t>(i) * (n_ + 1);
    const double own = unit(i);
    for (int j = 0; j < n_; ++j) row[j] *= own * unit(j);
    row[n_] *= own;
  }
}

bool SaddleSystem::solve() {
  const int w = n_ + 1;
  const auto row = [&](int i) { return system_.data() + static_cast<std::ptrdiff_t>(i) * w; };
  measure();
  size_.resize(n_);
  for (int i = 0; i < n_; ++i) {
    double largest = 0;
    for (int j = 0; j < n_; ++j) largest = std::max(largest, std::abs(row(i)[j]));
    if (!(largest > 0)) return false;
    size_[i] = 1 / largest;
  }
  for (int k = 0; k < n_; ++k) {
    int pivot = k;
    double best = 0;
    for (int i = k; i < n_; ++i) {
      const double size = std::abs(row(i)[k]) * size_[i];
      if (size > best) best = size, pivot = i;
    }
    if (!(best > kNoPivot)) return false;
    if (pivot != k) {
      std::swap_ranges(row(k) + k, row(k) + w, row(pivot) + k);
      std::swap(size_[k], size_[pivot]);
    }
    const double* from = row(k);
    const double inverse = 1 / from[k];
    for (int i = k + 1; i < n_; ++i) {
      double* to = row(i);
      if (to[k] == 0) continue;
      const double factor = to[k] * inverse;
      for (int j = k + 1; j < w; ++j) to[j] -= factor * from[j];
    }
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double sum = row(i)[n_];
    for (int j = i + 1; j < n_; ++j) sum -= row(i)[j] * row(j)[n_];
    row(i)[n_] = sum / row(i)[i];
  }
  for (int i = 0; i < nv_; ++i) row(i)[n_] *= measures_.coordinate[i];
  for (int i = nv_; i < n_; ++i) row(i)[n_] *= measures_.row[i - nv_];
  return true;
}

}  // namespace routh
