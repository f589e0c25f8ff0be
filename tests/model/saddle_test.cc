#include "routh/model/saddle.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "routh/model/kkt.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Saddle {
  MatrixXd M, A, B;
  VectorXd r, s;

  /// The matrix as it is written.
  MatrixXd whole() const {
    MatrixXd K = MatrixXd::Zero(r.size() + s.size(), r.size() + s.size());
    K.topLeftCorner(r.size(), r.size()) = M;
    K.topRightCorner(r.size(), s.size()) = -B.transpose();
    K.bottomLeftCorner(s.size(), r.size()) = A;
    return K;
  }
  bool solve(SaddleSystem& system, VectorXd& u) const {
    const int nv = static_cast<int>(r.size()), rows = static_cast<int>(s.size());
    system.begin(M, rows);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < nv; ++j) system.constrain(i, j, A(i, j), B(i, j));
      system.s(i) = s[i];
    }
    for (int j = 0; j < nv; ++j) system.r(j) = r[j];
    if (!system.solve()) return false;
    u.resize(nv + rows);
    for (int j = 0; j < nv; ++j) u[j] = system.x(j);
    for (int i = 0; i < rows; ++i) u[nv + i] = system.lambda(i);
    return true;
  }
};

/// Some coordinates have no mass; friction turns the pushes away from the rows.
Saddle random_saddle(std::mt19937& random, int k) {
  std::normal_distribution<double> normal;
  const auto matrix = [&](int rows, int columns) {
    return MatrixXd(MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); }));
  };
  const int nv = 3 + k % 4, rows = 1 + k % 3, massless = k % 2 ? std::min(rows, 2) : 0;
  Saddle saddle;
  saddle.M = MatrixXd::Zero(nv, nv);
  const MatrixXd root = matrix(nv - massless, nv - massless);
  saddle.M.bottomRightCorner(nv - massless, nv - massless) =
      root * root.transpose() + 0.1 * MatrixXd::Identity(nv - massless, nv - massless);
  saddle.A = matrix(rows, nv);
  saddle.B = saddle.A + 0.3 * matrix(rows, nv);
  saddle.r = matrix(nv, 1);
  saddle.s = matrix(rows, 1);
  return saddle;
}

// In any units of coordinates, masses and rows: the residual is that of rounding.
TEST(SaddleSystem, SolvesItsEquationsInAnyUnits) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> power(-9, 9);
  SaddleSystem system;
  for (int k = 0; k < 500; ++k) {
    const Saddle plain = random_saddle(random, k);
    const MatrixXd K = plain.whole();
    const VectorXd expected =
        K.fullPivLu().solve((VectorXd(K.rows()) << plain.r, plain.s).finished());
    const double rcond = K.fullPivLu().rcond();
    if (rcond < 1e-6) continue;
    const VectorXd q =
        VectorXd::NullaryExpr(plain.r.size(), [&] { return std::pow(10, power(random)); });
    const VectorXd a =
        VectorXd::NullaryExpr(plain.s.size(), [&] { return std::pow(10, power(random)); });
    const Saddle other{q.asDiagonal() * plain.M * q.asDiagonal(),
                       a.asDiagonal() * plain.A * q.asDiagonal(),
                       a.asDiagonal() * plain.B * q.asDiagonal(), q.cwiseProduct(plain.r),
                       a.cwiseProduct(plain.s)};
    VectorXd u;
    ASSERT_TRUE(other.solve(system, u)) << k;
    u.head(q.size()).array() *= q.array();
    u.tail(a.size()).array() *= a.array();
    EXPECT_LT((u - expected).norm(), 1e-9 * expected.norm()) << k;
  }
}

TEST(SaddleSystem, SaysWhereRowsRepeatOrNothingDeterminesACoordinate) {
  SaddleSystem system;
  VectorXd u;
  Saddle twice{MatrixXd::Identity(3, 3), MatrixXd::Ones(2, 3), MatrixXd::Ones(2, 3),
               VectorXd::Ones(3), VectorXd::Zero(2)};
  EXPECT_FALSE(twice.solve(system, u));
  Saddle loose{MatrixXd::Identity(3, 3), MatrixXd::Ones(1, 3), MatrixXd::Ones(1, 3),
               VectorXd::Ones(3), VectorXd::Zero(1)};
  EXPECT_TRUE(loose.solve(system, u));
  loose.M(2, 2) = 0, loose.A(0, 2) = loose.B(0, 2) = 0;
  EXPECT_FALSE(loose.solve(system, u));
}

// x₂ is told: the others move as if it were a motor.
TEST(SaddleSystem, TakesAGivenCoordinateAsItIs) {
  SaddleSystem system;
  Eigen::Matrix3d M = Eigen::Vector3d(2, 3, 0).asDiagonal();
  system.begin(M, 1);
  for (int j = 0; j < 3; ++j) system.constrain(0, j, 1, 1);
  system.give(2);
  system.r(0) = 1, system.r(2) = 5;
  ASSERT_TRUE(system.solve());
  // 2 x₀ = 1 + λ, 3 x₁ = λ, x₀ + x₁ + 5 = 0
  EXPECT_NEAR(system.x(2), 5, 1e-15);
  EXPECT_NEAR(system.lambda(0), -33. / 5, 1e-14);
  EXPECT_NEAR(system.x(0), (1 - 33. / 5) / 2, 1e-14);
}

// Two ways to the same motion: the null space and the elimination; repeated joints change nothing.
TEST(SaddleSystem, MovesAsMobilityDoes) {
  std::mt19937 random(6);
  SaddleSystem system;
  for (int k = 0; k < 300; ++k) {
    Saddle saddle = random_saddle(random, k);
    saddle.B = saddle.A;
    VectorXd u;
    ASSERT_TRUE(saddle.solve(system, u)) << k;
    const VectorXd x = u.head(saddle.r.size());
    const Mobility mobility(saddle.M, saddle.A);
    EXPECT_LT((mobility.acceleration(saddle.r, -saddle.s) - x).norm(), 1e-8 * (1 + x.norm())) << k;
    MatrixXd more(saddle.A.rows() + 1, saddle.A.cols());
    VectorXd bias(saddle.s.size() + 1);
    more << saddle.A, 1e5 * saddle.A.colwise().sum();
    bias << -saddle.s, -1e5 * saddle.s.sum();
    const VectorXd again = Mobility(saddle.M, more).acceleration(saddle.r, bias);
    EXPECT_LT((again - x).norm(), 1e-8 * (1 + x.norm())) << k;
  }
}

TEST(IndependentRows, LeaveOutWhatOthersMakeUpInAnyUnits) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const double unit : {1e-9, 1., 1e9}) {
    const VectorXd q = Eigen::Vector4d(unit, 1, 1 / unit, 1);
    const MatrixXd A =
        MatrixXd::NullaryExpr(3, 4, [&] { return normal(random); }) * q.cwiseInverse().asDiagonal();
    IndependentRows rows(q);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(rows.add(A.row(i))) << unit;
      EXPECT_FALSE(rows.add(1e6 * A.row(i))) << unit;
    }
    EXPECT_FALSE(rows.add(A.colwise().sum())) << unit;
    EXPECT_FALSE(rows.add(Eigen::RowVector4d::Zero())) << unit;
  }
}

}  // namespace
}  // namespace routh
