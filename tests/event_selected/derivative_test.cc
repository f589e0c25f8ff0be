#include "routh/event_selected/derivative.h"

#include <gtest/gtest.h>

#include <random>

#include "event_selected/order_reference.h"
#include "routh/event_selected/systems.h"

namespace routh::event_selected {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

Options tight(double t_end, Reset reset = {}) {
  return {.exact = true,
          .t_end = t_end,
          .reset = std::move(reset),
          .step = {.rtol = 1e-12, .atol = 1e-13}};
}

/// (x(t_end; x0 + s d) - x(t_end; x0)) / s, one-sided.
template <class System, class State>
VectorXd difference(System& system, const State& x0, const VectorXd& d, const Options& options,
                    double s = 1e-6) {
  const State moved = x0 + s * d;
  return (integrate(system, moved, options).x - integrate(system, x0, options).x) / s;
}

/// Random directions and their opposites: both sides of every guard.
template <class System, class State>
void expect_differences(System& system, const State& x0, const Options& options, double tolerance) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 12; ++i) {
    VectorXd d(x0.size());
    for (double& value : d) value = normal(random);
    for (const double side : {1.0, -1.0}) {
      const VectorXd direction = side * d;
      const auto D = b_derivative(system, x0, direction, options);
      ASSERT_EQ(D.status, Status::kFinished);
      const VectorXd expected = difference(system, x0, direction, options);
      EXPECT_LT((D.D.col(0) - expected).norm(), tolerance * (1 + expected.norm()))
          << "direction " << direction.transpose() << "\n  derivative " << D.D.col(0).transpose()
          << "\n  difference " << expected.transpose();
    }
  }
}

TEST(Derivative, OneGuardGivesTheSaltationMatrix) {
  // speeds (1, 0) then (2, 3) across x = 0: I + (f⁺ - f⁻) Dh / Dh f⁻ = [2 0; 3 1]
  const auto f = [](const Vector2d&, const Crossed& crossed) {
    return crossed[0] ? Vector2d(2, 3) : Vector2d(1, 0);
  };
  const auto h = [](const Vector2d& x) { return VectorXd(VectorXd::Constant(1, x[0])); };
  const auto Dh = [](const Vector2d&) { return MatrixXd(Eigen::RowVector2d(1, 0)); };
  const auto D = orbital_derivative(f, h, Dh, Vector2d(-0.5, 0), {.t_end = 1});
  ASSERT_EQ(D.status, Status::kFinished);
  EXPECT_TRUE(D.differentiable);
  EXPECT_TRUE(D.D.isApprox((Eigen::Matrix2d() << 2, 0, 3, 1).finished(), 1e-9)) << D.D;
}

TEST(Derivative, OrderTestAgreesWithDifferences) {
  OrderTest system;
  expect_differences(system, OrderTest::start(), tight(0.5), 1e-4);
}

/// The start from which the order test meets all three guards at once, after `t`.
Vector3d before_corner(double t) {
  const bool none[3] = {false, false, false};
  return test::OrderReference::flow(test::OrderReference::piece(none), Vector3d::Zero(), -t);
}

TEST(Derivative, OrderTestThroughTheCornerAgreesWithDifferencesOnAllSides) {
  OrderTest system;
  const Vector3d x0 = before_corner(0.2);
  const auto D = orbital_derivative(system, x0, tight(0.5));
  EXPECT_FALSE(D.differentiable);
  EXPECT_EQ(D.solution.events.size(), 3u);
  expect_differences(system, x0, tight(0.5), 1e-4);
}

TEST(Derivative, AStartOnTheCornerHasOneSidedDerivatives) {
  OrderTest system;
  expect_differences(system, Vector3d(0, 0, 0), tight(0.3), 1e-4);
}

TEST(Derivative, AtACornerItIsHomogeneousButNotLinear) {
  OrderTest system;
  const Vector3d x0 = before_corner(0.2), d(0.3, -1, 0.2);
  const MatrixXd D = b_derivative(system, x0, d, tight(0.5)).D;
  EXPECT_TRUE(b_derivative(system, x0, 7 * d, tight(0.5)).D.isApprox(7 * D, 1e-8));
  EXPECT_GT((b_derivative(system, x0, -d, tight(0.5)).D + D).norm(), 0.01 * D.norm());
}

TEST(Derivative, HopperAgreesWithDifferences) {
  Hopper hopper;
  expect_differences(hopper, hopper.start(), tight(3, Hopper::reset()), 1e-3);
}

TEST(Derivative, PlateAgreesWithDifferences) {
  Plate plate({.springs = 5, .damping = 4});
  expect_differences(plate, plate.start(), tight(1, plate.reset()), 1e-3);
}

TEST(Derivative, AFlatPlateMeetsAllSpringsAtOnceAndAgreesWithDifferences) {
  // damping makes the field jump: the derivative differs between tilting left and right
  Plate plate({.springs = 5, .damping = 4, .height = 2, .angle = 0});
  const Options options = tight(0.6, plate.reset());
  const auto D = orbital_derivative(plate, plate.start(), options);
  EXPECT_FALSE(D.differentiable);
  EXPECT_EQ(D.solution.events.size(), 5u);
  expect_differences(plate, plate.start(), options, 1e-3);
}

TEST(Derivative, TheUsersJacobianAndDifferencesOfTheFieldAgree) {
  const auto f = [](const Vector2d& x, const Crossed& crossed) {
    return crossed[0] ? Vector2d(1 + x[1] * x[1], std::sin(x[0])) : Vector2d(2, x[0] * x[1]);
  };
  const auto Df = [](const Vector2d& x, const Crossed& crossed) {
    return crossed[0] ? (Eigen::Matrix2d() << 0, 2 * x[1], std::cos(x[0]), 0).finished()
                      : (Eigen::Matrix2d() << 0, 0, x[1], x[0]).finished();
  };
  const auto h = [](const Vector2d& x) {
    return VectorXd(VectorXd::Constant(1, x[0] + 0.1 * x[1]));
  };
  const auto Dh = [](const Vector2d&) { return MatrixXd(Eigen::RowVector2d(1, 0.1)); };
  const Vector2d x0(-1, 0.5);
  const auto differenced = orbital_derivative(f, h, Dh, x0, tight(1.5));
  const auto given = orbital_derivative(with_derivative(f, Df), h, Dh, x0, tight(1.5));
  EXPECT_EQ(given.solution.events.size(), 1u);
  EXPECT_TRUE(given.D.isApprox(differenced.D, 1e-8)) << given.D << "\n\n" << differenced.D;
  const Vector2d d(1, 1);
  const VectorXd step = (integrate(f, h, Dh, x0 + 1e-6 * d, tight(1.5)).x -
                         integrate(f, h, Dh, x0 - 1e-6 * d, tight(1.5)).x) /
                        2e-6;
  EXPECT_LT((given.D * d - step).norm(), 1e-6);
}

TEST(Derivative, CostsOneFieldPerGuardNotOnePerPiece) {
  // 24 guards at one point: 2^24 fields, 24! orders
  constexpr int m = 24;
  long calls = 0;
  const auto f = [&](const VectorXd& x, const Crossed& crossed) {
    ++calls;
    VectorXd dx = VectorXd::Ones(x.size());
    for (int k = 0; k < m; ++k)
      if (crossed[k]) dx[(k + 1) % m] += 0.1 * (k % 3);
    return dx;
  };
  const auto h = [](const VectorXd& x) { return x; };
  const auto Dh = [](const VectorXd& x) { return MatrixXd::Identity(x.size(), x.size()).eval(); };
  const VectorXd x0 = VectorXd::Constant(m, -0.25);
  VectorXd d(m);
  for (int k = 0; k < m; ++k) d[k] = std::sin(3.0 * k);
  const auto D = b_derivative(f, h, Dh, x0, d, {.t_end = 1});
  ASSERT_EQ(D.status, Status::kFinished);
  EXPECT_EQ(D.solution.events.size(), m);
  EXPECT_LT(calls, 2000);
  const VectorXd moved = x0 + 1e-6 * d;
  const VectorXd step =
      (integrate(f, h, Dh, moved, tight(1)).x - integrate(f, h, Dh, x0, tight(1)).x) / 1e-6;
  EXPECT_LT((D.D.col(0) - step).norm(), 1e-5);
}

TEST(Derivative, RefusesDirectionsOfAnotherSize) {
  OrderTest system;
  EXPECT_THROW((void)b_derivative(system, OrderTest::start(), VectorXd::Ones(2)),
               std::invalid_argument);
}

}  // namespace
}  // namespace routh::event_selected
