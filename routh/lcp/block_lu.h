#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace routh::lcp {

/// LU decomposition of a sparse matrix of blocks whose zeros are symmetric, such as bodies that
/// touch their neighbours. Groups of rows are eliminated in an order of least degree, without
/// pivoting: what is decomposed has to be dominated by a positive definite part.
class BlockLu {
 public:
  /// First row of each group, then the number of rows; pairs of groups that may couple.
  void analyse(const std::vector<int>& starts, const std::vector<std::pair<int, int>>& couples);
  /// Back to zero with ones on the diagonal.
  void reset();
  /// The entry (row, column) of a pair of groups that was given.
  struct Block {
    double* at;
    int row_stride, column_stride;
    double& operator()(int i, int j) { return at[i * row_stride + j * column_stride]; }
  };
  Block block(int row_group, int column_group);
  /// In place; false where a pivot is zero or no number.
  bool factor();
  void solve(double* x) const;

 private:
  /// What is eliminated with one group, and where its neighbours stand.
  struct Front {
    int size = 0, height = 0;  // rows of the group, of all later neighbours
    std::vector<int> later, offset;
    std::size_t own, below, right;  // in values_: the group itself, L, and U transposed
  };
  int offset_of(const Front& front, int group) const;
  void subtract(const Front& front, std::size_t a, std::size_t b);

  std::vector<int> starts_, order_, rank_;
  std::vector<Front> fronts_;  // by group
  std::vector<double> values_;
};

}  // namespace routh::lcp
