#include "routh/lcp/positive.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <random>

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Positive, SweepingInvertsInAnyUnits) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  VectorXd column;
  for (int n = 1; n <= 30; ++n) {
    MatrixXd root = MatrixXd::NullaryExpr(n, n, [&] { return normal(random); });
    MatrixXd A = root * root.transpose() + MatrixXd::Identity(n, n);
    const VectorXd unit = VectorXd::NullaryExpr(n, [&] { return std::exp(5 * normal(random)); });
    A = (unit.asDiagonal() * A * unit.asDiagonal()).eval();
    A = (0.5 * (A + A.transpose())).eval();
    ASSERT_TRUE(is_symmetric(A));
    const MatrixXd exact = A.llt().solve(MatrixXd::Identity(n, n));
    MatrixXd inverse = A;
    ASSERT_TRUE(invert_positive(inverse, column));
    const MatrixXd off = unit.asDiagonal() * (inverse - exact) * unit.asDiagonal();
    EXPECT_LT(off.cwiseAbs().maxCoeff(), 1e-12) << n;
    EXPECT_TRUE(is_symmetric(inverse));
  }
}

TEST(Positive, WhatIsNotPositiveIsRefused) {
  VectorXd column;
  MatrixXd A(2, 2);
  A << 1, 2, 2, 1;
  EXPECT_FALSE(invert_positive(A, column));
  A << 1, 2, 0, 1;
  EXPECT_FALSE(is_symmetric(A));
}

}  // namespace
}  // namespace routh::lcp
