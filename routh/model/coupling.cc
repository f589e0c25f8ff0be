#include "routh/model/coupling.h"

#include <numeric>

namespace routh {

std::vector<std::vector<int>> uncoupled(const Eigen::MatrixXd& M, const Eigen::MatrixXd& A) {
  const auto nv = static_cast<int>(M.rows());
  std::vector<int> parent(nv);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  // the lowest of a group is its root
  const auto couple = [&](int i, int k) {
    i = root(i), k = root(k);
    if (i < k)
      parent[k] = i;
    else
      parent[i] = k;
  };
  for (int k = 0; k < nv; ++k) {
    for (int i = 0; i < nv; ++i) {
      if (i != k && M(i, k) != 0) couple(i, k);
    }
  }
  for (Eigen::Index r = 0; r < A.rows(); ++r) {
    int first = -1;
    for (int k = 0; k < nv; ++k) {
      if (A(r, k) == 0) continue;
      if (first < 0) first = k;
      couple(first, k);
    }
  }
  std::vector<std::vector<int>> groups;
  std::vector<int> group_of(nv, -1);
  for (int i = 0; i < nv; ++i) {
    int& group = group_of[root(i)];
    if (group < 0) {
      group = static_cast<int>(groups.size());
      groups.emplace_back();
    }
    groups[group].push_back(i);
  }
  return groups;
}

}  // namespace routh
