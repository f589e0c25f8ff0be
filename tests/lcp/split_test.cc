#include "routh/lcp/split.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::mt19937 source(3);

MatrixXd random_matrix(int rows, int columns) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(source); });
}

MatrixXd positive(int n) {
  const MatrixXd root = random_matrix(n, n);
  const MatrixXd A = root * root.transpose() + MatrixXd::Identity(n, n);
  return 0.5 * (A + A.transpose());
}

// J A⁻¹ Jᵀ and A⁻¹ Jᵀ, by the halves and by a decomposition with pivots.
TEST(Split, HalvesGiveTheProductsOfTheInverseInAnyUnits) {
  Split split;
  for (int n = 1; n <= 30; ++n) {
    for (const bool lopsided : {false, true}) {
      MatrixXd plain = positive(n);
      if (lopsided) {
        const MatrixXd turn = random_matrix(n, n);
        plain += turn - turn.transpose();  // its symmetric part stays
      }
      const MatrixXd rows = random_matrix(4, n),
                     exact = plain.partialPivLu().solve(rows.transpose());
      const VectorXd unit = (5 * random_matrix(n, 1)).array().exp();
      MatrixXd A = unit.asDiagonal() * plain * unit.asDiagonal();
      if (!lopsided) A = (0.5 * (A + A.transpose())).eval();
      ASSERT_TRUE(split.factor(A, 1e-15));
      EXPECT_EQ(split.symmetric(), is_symmetric(A));
      const MatrixXd J = rows * unit.asDiagonal(), G = rows * exact;
      MatrixXd left(n, 4), right(n, 4), motion(n, 4);
      for (int r = 0; r < 4; ++r) {
        left.col(r) = right.col(r) = J.row(r).transpose();
        split.solve_left(left.col(r).data());
        split.solve_right(right.col(r).data());
        motion.col(r) = right.col(r);
        split.solve_motion(motion.col(r).data());
      }
      EXPECT_LT((left.transpose() * right - G).norm(), 1e-10 * G.norm()) << n;
      EXPECT_LT((unit.asDiagonal() * motion - exact).norm(), 1e-10 * exact.norm()) << n;
    }
  }
}

// Two limbs on a trunk: what pushes one does not enter the coordinates of the other.
TEST(Split, LimbsOfATrunkStayApart) {
  MatrixXd A = positive(8);
  A.block(5, 2, 3, 3).setZero(), A.block(2, 5, 3, 3).setZero();  // 2 of the trunk, 3 each
  A.diagonal().array() += 10;
  Split split;
  ASSERT_TRUE(split.factor(A, 1e-15));
  VectorXd push = VectorXd::Zero(8);
  push.head(5).setOnes();
  split.solve_right(push.data());
  EXPECT_TRUE(push.tail(3).isZero(0));
}

TEST(Split, WhatIsNotPositiveIsRefused) {
  Split split;
  MatrixXd A(2, 2);
  A << 1, 2, 2, 1;
  EXPECT_FALSE(split.factor(A, 1e-15));
  A << 1, 1, 1, 1;
  EXPECT_FALSE(split.factor(A, 1e-15));
  A << NAN, 0, 0, 1;
  EXPECT_FALSE(split.factor(A, 1e-15));
}

}  // namespace
}  // namespace routh::lcp
