#include "routh/lcp/block_lu.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <set>

namespace routh::lcp {

using Eigen::MatrixXd;
using Matrix = Eigen::Map<MatrixXd>;
using ConstMatrix = Eigen::Map<const MatrixXd>;

void BlockLu::analyse(const std::vector<int>& starts,
                      const std::vector<std::pair<int, int>>& couples) {
  starts_ = starts;
  const int n = static_cast<int>(starts.size()) - 1;
  std::vector<std::set<int>> near(n);
  for (const auto& [a, b] : couples) {
    if (a != b) near[a].insert(b), near[b].insert(a);
  }
  order_.clear(), rank_.assign(n, -1);
  fronts_.assign(n, {});
  std::set<std::pair<std::size_t, int>> waiting;
  for (int g = 0; g < n; ++g) waiting.emplace(near[g].size(), g);
  std::size_t used = 0;
  while (!waiting.empty()) {
    const int g = waiting.begin()->second;
    waiting.erase(waiting.begin());
    rank_[g] = static_cast<int>(order_.size());
    order_.push_back(g);
    Front& front = fronts_[g];
    front.size = starts[g + 1] - starts[g];
    for (const int other : near[g]) {
      front.later.push_back(other), front.offset.push_back(front.height);
      front.height += starts[other + 1] - starts[other];
    }
    front.own = used;
    front.below = front.own + static_cast<std::size_t>(front.size) * front.size;
    front.right = front.below + static_cast<std::size_t>(front.size) * front.height;
    used = front.right + static_cast<std::size_t>(front.size) * front.height;
    // its neighbours become each other's
    for (const int a : front.later) {
      waiting.erase({near[a].size(), a});
      near[a].erase(g);
      for (const int b : front.later) {
        if (a != b) near[a].insert(b);
      }
      waiting.emplace(near[a].size(), a);
    }
  }
  values_.resize(used);
}

void BlockLu::reset() {
  std::fill(values_.begin(), values_.end(), 0.0);
  for (const Front& front : fronts_) {
    for (int i = 0; i < front.size; ++i) values_[front.own + i * (front.size + 1)] = 1;
  }
}

int BlockLu::offset_of(const Front& front, int group) const {
  const auto at = std::lower_bound(front.later.begin(), front.later.end(), group);
  return front.offset[at - front.later.begin()];
}

BlockLu::Block BlockLu::block(int row_group, int column_group) {
  if (row_group == column_group) {
    const Front& front = fronts_[row_group];
    return {&values_[front.own], 1, front.size};
  }
  if (rank_[column_group] < rank_[row_group]) {
    const Front& front = fronts_[column_group];
    return {&values_[front.below + offset_of(front, row_group)], 1, front.height};
  }
  const Front& front = fronts_[row_group];
  return {&values_[front.right + offset_of(front, column_group)], front.height, 1};
}

bool BlockLu::factor() {
  for (const int g : order_) {
    const Front& front = fronts_[g];
    const int n = front.size, h = front.height;
    Matrix own(&values_[front.own], n, n), below(&values_[front.below], h, n),
        right(&values_[front.right], h, n);
    for (int k = 0; k < n; ++k) {
      if (!(std::abs(own(k, k)) > 0)) return false;
      own.col(k).tail(n - k - 1) /= own(k, k);
      for (int j = k + 1; j < n; ++j)
        own.col(j).tail(n - k - 1) -= own(k, j) * own.col(k).tail(n - k - 1);
    }
    if (h == 0) continue;
    own.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(below);
    own.transpose().triangularView<Eigen::UnitUpper>().solveInPlace<Eigen::OnTheRight>(right);
    if (product_.size() < static_cast<std::size_t>(h) * h)
      product_.resize(static_cast<std::size_t>(h) * h);
    Matrix product(product_.data(), h, h);
    product.noalias() = below * right.transpose();
    for (std::size_t a = 0; a < front.later.size(); ++a) {
      const int rows = starts_[front.later[a] + 1] - starts_[front.later[a]];
      for (std::size_t b = 0; b < front.later.size(); ++b) {
        const int columns = starts_[front.later[b] + 1] - starts_[front.later[b]];
        Block to = block(front.later[a], front.later[b]);
        const double* from =
            product_.data() + front.offset[a] + static_cast<std::size_t>(front.offset[b]) * h;
        for (int j = 0; j < columns; ++j) {
          for (int i = 0; i < rows; ++i) to(i, j) -= from[i + static_cast<std::size_t>(j) * h];
        }
      }
    }
  }
  return true;
}

void BlockLu::solve(double* x) const {
  for (const int g : order_) {
    const Front& front = fronts_[g];
    const int n = front.size, h = front.height;
    ConstMatrix own(&values_[front.own], n, n), below(&values_[front.below], h, n);
    Eigen::Map<Eigen::VectorXd> mine(x + starts_[g], n);
    own.triangularView<Eigen::UnitLower>().solveInPlace(mine);
    for (std::size_t a = 0; a < front.later.size(); ++a) {
      const int at = starts_[front.later[a]], size = starts_[front.later[a] + 1] - at;
      Eigen::Map<Eigen::VectorXd>(x + at, size).noalias() -=
          below.middleRows(front.offset[a], size) * mine;
    }
  }
  for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
    const Front& front = fronts_[*at];
    const int n = front.size, h = front.height;
    ConstMatrix own(&values_[front.own], n, n), right(&values_[front.right], h, n);
    Eigen::Map<Eigen::VectorXd> mine(x + starts_[*at], n);
    for (std::size_t a = 0; a < front.later.size(); ++a) {
      const int from = starts_[front.later[a]], size = starts_[front.later[a] + 1] - from;
      mine.noalias() -= right.middleRows(front.offset[a], size).transpose() *
                        Eigen::Map<const Eigen::VectorXd>(x + from, size);
    }
    own.triangularView<Eigen::Upper>().solveInPlace(mine);
  }
}

}  // namespace routh::lcp
