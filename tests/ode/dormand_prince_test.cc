#include "routh/ode/dormand_prince.h"

#include <gtest/gtest.h>

namespace routh::ode {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

/// ẍ = -x from (1, 0): cos t.
void circle(double, const Vector2d& x, Vector2d& dx) { dx = {x[1], -x[0]}; }

double slope(double coarse, double fine, double ratio) {
  return std::log(coarse / fine) / std::log(ratio);
}

/// Errors at the end and in the middle of a single step of length h.
std::pair<double, double> errors_of_one_step(double h) {
  DormandPrince<Vector2d> solver({.rtol = 1, .atol = 1, .first_step = h});
  solver.start(circle, 0, Vector2d(1, 0));
  EXPECT_EQ(solver.step(circle, h), StepStatus::kAccepted);
  Vector2d middle;
  solver.dense(0.3 * h, middle);
  const auto exact = [](double t) { return Vector2d(std::cos(t), -std::sin(t)); };
  return {(solver.x() - exact(h)).norm(), (middle - exact(0.3 * h)).norm()};
}

TEST(DormandPrince, OneStepHasErrorOfOrderSixAndDenseOutputOfOrderFive) {
  const auto [end, middle] = errors_of_one_step(0.4);
  const auto [end_half, middle_half] = errors_of_one_step(0.2);
  EXPECT_NEAR(slope(end, end_half, 2), 6, 0.15);
  EXPECT_NEAR(slope(middle, middle_half, 2), 5, 0.15);
}

TEST(DormandPrince, MeetsItsToleranceAndEndsExactlyAtTheLimit) {
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    DormandPrince<Vector2d> solver({.rtol = tolerance, .atol = tolerance});
    solver.start(circle, 0, Vector2d(1, 0));
    while (solver.t() < 10) ASSERT_EQ(solver.step(circle, 10), StepStatus::kAccepted);
    EXPECT_EQ(solver.t(), 10);
    EXPECT_LT((solver.x() - Vector2d(std::cos(10), -std::sin(10))).norm(), 20 * tolerance);
  }
}

TEST(DormandPrince, TimeReachesTheFieldAndDynamicStatesWork) {
  // ẋ = t²: x(3) = 9, exactly for a method of order 5
  DormandPrince<VectorXd> solver({});
  const auto f = [](double t, const VectorXd&, VectorXd& dx) { dx[0] = t * t; };
  solver.start(f, 0, VectorXd::Zero(1));
  while (solver.t() < 3) ASSERT_EQ(solver.step(f, 3), StepStatus::kAccepted);
  EXPECT_NEAR(solver.x()[0], 9, 1e-12);
}

TEST(DormandPrince, ShorteningGivesTheStateThereToFullOrder) {
  DormandPrince<Vector2d> solver({.rtol = 1, .atol = 1, .first_step = 0.4});
  solver.start(circle, 0, Vector2d(1, 0));
  ASSERT_EQ(solver.step(circle, 0.4), StepStatus::kAccepted);
  EXPECT_TRUE(solver.shorten(circle, 0.1));
  EXPECT_EQ(solver.t(), 0.1);
  EXPECT_LT((solver.x() - Vector2d(std::cos(0.1), -std::sin(0.1))).norm(), 1e-9);
}

TEST(DormandPrince, APartThatMeetsWhatTheWholeStepMissedIsNotTaken) {
  // ẋ = t but for a spike that no stage of the whole step sees
  const auto spiked = [](double t, const VectorXd&, VectorXd& dx) {
    dx[0] = std::abs(t - 0.1) < 1e-6 ? 1e6 : t;
  };
  DormandPrince<VectorXd> solver({.first_step = 1});
  solver.start(spiked, 0, VectorXd::Zero(1));
  ASSERT_EQ(solver.step(spiked, 1), StepStatus::kAccepted);
  EXPECT_FALSE(solver.shorten(spiked, 0.1));
  EXPECT_EQ(solver.t(), 1);
  EXPECT_NEAR(solver.x()[0], 0.5, 1e-12);
  VectorXd there(1);
  solver.dense(0.1, there);
  EXPECT_NEAR(there[0], 0.005, 1e-12);
}

TEST(DormandPrince, SaysWhenTheFieldIsNotFiniteOrBlowsUp) {
  DormandPrince<VectorXd> nan({});
  const auto bad = [](double, const VectorXd&, VectorXd& dx) { dx[0] = NAN; };
  nan.start(bad, 0, VectorXd::Ones(1));
  EXPECT_EQ(nan.step(bad, 1), StepStatus::kNotFinite);

  // ẋ = x² from 1 reaches infinity at t = 1
  DormandPrince<VectorXd> blows({});
  const auto square = [](double, const VectorXd& x, VectorXd& dx) { dx[0] = x[0] * x[0]; };
  blows.start(square, 0, VectorXd::Ones(1));
  StepStatus status = StepStatus::kAccepted;
  while (status == StepStatus::kAccepted && blows.t() < 2) status = blows.step(square, 2);
  EXPECT_NE(status, StepStatus::kAccepted);
  EXPECT_NEAR(blows.t(), 1, 1e-6);
}

}  // namespace
}  // namespace routh::ode
