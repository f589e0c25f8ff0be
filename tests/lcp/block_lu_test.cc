#include "routh/lcp/block_lu.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(BlockLu, SolvesAsADenseDecompositionDoes) {
  std::mt19937 random(21);
  std::uniform_real_distribution<double> uniform(-1, 1);
  BlockLu lu;
  for (int trial = 0; trial < 50; ++trial) {
    const int groups = 1 + trial % 12;
    std::vector<int> starts{0};
    for (int g = 0; g < groups; ++g) starts.push_back(starts.back() + 1 + (g * 7 + trial) % 6);
    std::vector<std::pair<int, int>> couples;
    for (int a = 0; a < groups; ++a) {
      for (int b = 0; b < a; ++b) {
        if (uniform(random) < -0.4) couples.emplace_back(a, b);
      }
    }
    lu.analyse(starts, couples);
    lu.reset();
    const int n = starts.back();
    MatrixXd A = MatrixXd::Identity(n, n);
    const auto add = [&](int row_group, int column_group, double size) {
      BlockLu::Block block = lu.block(row_group, column_group);
      for (int i = 0; i < starts[row_group + 1] - starts[row_group]; ++i) {
        for (int j = 0; j < starts[column_group + 1] - starts[column_group]; ++j) {
          const double x = size * uniform(random) + (row_group == column_group && i == j ? 20 : 0);
          block(i, j) += x;
          A(starts[row_group] + i, starts[column_group] + j) += x;
        }
      }
    };
    for (int g = 0; g < groups; ++g) add(g, g, 1);
    for (const auto& [a, b] : couples) add(a, b, 1), add(b, a, 1);
    ASSERT_TRUE(lu.factor()) << trial;
    VectorXd right(n);
    for (double& x : right) x = uniform(random);
    VectorXd x = right;
    lu.solve(x.data());
    EXPECT_LT((x - A.partialPivLu().solve(right)).norm(), 1e-12) << trial;
  }
}

TEST(BlockLu, ANumberlessMatrixIsRefused) {
  BlockLu lu;
  lu.analyse({0, 2, 3}, {{0, 1}});
  lu.reset();
  lu.block(0, 1)(0, 0) = std::nan("");
  lu.block(1, 0)(0, 0) = 1;
  EXPECT_FALSE(lu.factor());
}

}  // namespace
}  // namespace routh::lcp
