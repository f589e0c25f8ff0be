#include "routh/model/kkt.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(std::mt19937& random, int rows, int columns) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

TEST(Kkt, WithoutJointsMdagIsTheInverse) {
  const MatrixXd M = (Eigen::Matrix2d() << 2, 1, 1, 3).finished();
  const Kkt k = kkt(M, MatrixXd(0, 2));
  EXPECT_LT((k.Mdag - M.inverse()).norm(), 1e-14);
}

// P4 (10)-(11), for regular and for singular M.
TEST(Kkt, SatisfiesTheIdentitiesOfP4) {
  std::mt19937 random(1);
  for (int k = 0; k < 200; ++k) {
    const int nv = 3 + k % 4, na = 1 + k % 3, massless = k % 2 ? std::min(na, 2) : 0;
    const MatrixXd root = random_matrix(random, nv, nv - massless);
    const MatrixXd M = root * root.transpose(), A = random_matrix(random, na, nv);
    const Kkt b = kkt(M, A);
    const double tolerance = 1e-7 * (1 + b.Lambda.norm() + b.Adag.norm() * M.norm());
    EXPECT_LT((M * b.Mdag + A.transpose() * b.Adag - MatrixXd::Identity(nv, nv)).norm(), tolerance);
    EXPECT_LT((A * b.Mdag).norm(), tolerance);
    EXPECT_LT((A * b.Adag.transpose() - MatrixXd::Identity(na, na)).norm(), tolerance);
    EXPECT_LT((b.Adag * M + b.Lambda * A).norm(), tolerance);
  }
}

TEST(Kkt, SmallMassesTendToTheMasslessBlocks) {
  MatrixXd M = MatrixXd::Zero(3, 3), A(1, 3);
  M(0, 0) = 2, M(1, 1) = 1;
  A << 1, 0, 1;
  const MatrixXd limit = kkt(M, A).Mdag;
  for (const double eps : {1e-3, 1e-6, 1e-9}) {
    M(2, 2) = eps;
    EXPECT_LT((kkt(M, A).Mdag - limit).norm(), 2 * eps);
  }
}

TEST(Kkt, SaysWhichKindOfSingularItIs) {
  const auto message = [](const MatrixXd& M, const MatrixXd& A) -> std::string {
    try {
      (void)kkt(M, A);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  MatrixXd twice(2, 2);
  twice << 1, 0, 1, 0;
  EXPECT_NE(message(MatrixXd::Identity(2, 2), twice).find("depend on each other"),
            std::string::npos);
  MatrixXd M = MatrixXd::Identity(2, 2);
  M(1, 1) = 0;
  EXPECT_NE(message(M, MatrixXd(0, 2)).find("velocity 1"), std::string::npos);
}

TEST(Kkt, UnitsDoNotDecideWhatIsSingular) {
  const Eigen::Vector3d grams_and_tonnes(1e-6, 1, 1e6);
  const Kkt k = kkt(grams_and_tonnes.asDiagonal(), MatrixXd(0, 3));
  EXPECT_NEAR(k.Mdag(0, 0), 1e6, 1e-6);
}

// In other units of mass and of the coordinates the blocks are the same, in those units.
TEST(Kkt, BlocksFollowTheirUnits) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> power(-12, 12);
  for (int k = 0; k < 500; ++k) {
    const int nv = 3 + k % 4, na = k % 3, massless = na > 0 && k % 2 ? 1 : 0;
    const MatrixXd root = random_matrix(random, nv, nv);
    MatrixXd M = root * root.transpose() + MatrixXd::Identity(nv, nv);
    MatrixXd A = random_matrix(random, na, nv);
    if (massless) M.row(0).setZero(), M.col(0).setZero(), A(0, 0) = 3;
    const VectorXd u = VectorXd::NullaryExpr(nv, [&] { return std::pow(10, power(random) / 2); });
    const VectorXd r = VectorXd::NullaryExpr(na, [&] { return std::pow(10, power(random)); });
    const double m = std::pow(10, power(random));
    const Kkt plain = kkt(M, A);
    const Kkt other =
        kkt(m * u.asDiagonal() * M * u.asDiagonal(), r.asDiagonal() * A * u.asDiagonal());
    const MatrixXd Mdag = m * u.asDiagonal() * other.Mdag * u.asDiagonal();
    const MatrixXd Adag = r.asDiagonal() * other.Adag * u.asDiagonal();
    const MatrixXd Lambda = 1 / m * r.asDiagonal() * other.Lambda * r.asDiagonal();
    EXPECT_LT((Mdag - plain.Mdag).norm(), 1e-10 * plain.Mdag.norm()) << k;
    EXPECT_LE((Adag - plain.Adag).norm(), 1e-10 * plain.Adag.norm()) << k;
    EXPECT_LE((Lambda - plain.Lambda).norm(), 1e-10 * M.norm() * plain.Adag.squaredNorm()) << k;
  }
}

TEST(Mobility, RepeatedRowsOfJointsChangeNothing) {
  std::mt19937 random(4);
  for (int k = 0; k < 200; ++k) {
    const int nv = 4 + k % 4, na = 1 + k % 3;
    const MatrixXd root = random_matrix(random, nv, nv);
    const MatrixXd M = root * root.transpose() + MatrixXd::Identity(nv, nv);
    const MatrixXd A = random_matrix(random, na, nv);
    MatrixXd more(na + 2, nv);
    more << A, 1e6 * random_matrix(random, 1, na) * A, MatrixXd::Zero(1, nv);
    const Mobility once(M, A), twice(M, more);
    EXPECT_EQ(twice.rank(), na);
    EXPECT_LT((twice.Mdag() - once.Mdag()).norm(), 1e-9 * once.Mdag().norm()) << k;
  }
}

TEST(Mobility, WhereJointsHoldEverythingNothingMoves) {
  const Mobility held(MatrixXd::Zero(2, 2), MatrixXd::Identity(2, 2));
  EXPECT_TRUE(held.Mdag().isZero(0));
  EXPECT_TRUE(held.delassus(held.free_part(MatrixXd::Random(3, 2))).isZero(0));
}

}  // namespace
}  // namespace routh
