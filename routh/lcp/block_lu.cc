#include "routh/lcp/block_lu.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <set>

#include "routh/lcp/profile_lu.h"

namespace routh::lcp {

using Eigen::MatrixXd;
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
    double *own = &values_[front.own], *below = &values_[front.below],
           *right = &values_[front.right];
    for (int k = 0; k < n; ++k) {
      double* column = own + k * n;
      for (int j = 0; j < k; ++j) {
        const double* left = own + j * n;
        add(left + j + 1, -column[j], column + j + 1, n - j - 1);
        add(below + j * h, -column[j], below + k * h, h);
        add(right + j * h, -left[k], right + k * h, h);
      }
      if (!(std::abs(column[k]) > 0)) return false;
      const double inverse = 1 / column[k];
      for (int i = k + 1; i < n; ++i) column[i] *= inverse;
      for (int i = 0; i < h; ++i) below[k * h + i] *= inverse;
    }
    for (std::size_t a = 0; a < front.later.size(); ++a) {
      for (std::size_t b = 0; b < front.later.size(); ++b) subtract(front, a, b);
    }
  }
  return true;
}

/// L U of one group from a pair of its neighbours, along what lies side by side in memory.
void BlockLu::subtract(const Front& front, std::size_t a, std::size_t b) {
  const auto size = [&](std::size_t i) {
    return starts_[front.later[i] + 1] - starts_[front.later[i]];
  };
  const int n = front.size, h = front.height, rows = size(a), columns = size(b);
  const double *below = &values_[front.below + front.offset[a]],
               *right = &values_[front.right + front.offset[b]];
  const Block to = block(front.later[a], front.later[b]);
  if (to.row_stride == 1) {
    for (int j = 0; j < columns; ++j) {
      for (int k = 0; k < n; ++k)
        add(below + k * h, -right[k * h + j], to.at + j * to.column_stride, rows);
    }
  } else {
    for (int i = 0; i < rows; ++i) {
      for (int k = 0; k < n; ++k)
        add(right + k * h, -below[k * h + i], to.at + i * to.row_stride, columns);
    }
  }
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
