#include "routh/ode/radau.h"

#include <gtest/gtest.h>

#include <cmath>

namespace routh::ode {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

/// ẍ = -x from (1, 0): cos t.
void circle(double, const VectorXd& x, VectorXd& dx) { dx = Vector2d(x[1], -x[0]); }
void circle_derivative(double, const VectorXd&, MatrixXd& J) { J << 0, 1, -1, 0; }
VectorXd on_circle(double t) { return Vector2d(std::cos(t), -std::sin(t)); }

double slope(double coarse, double fine, double ratio) {
  return std::log(coarse / fine) / std::log(ratio);
}

template <class F, class DF>
Radau run(const F& f, const DF& df, const VectorXd& x, double end, const StepOptions& options) {
  Radau solver(options);
  solver.start(f, 0, x);
  while (solver.t() < end) {
    const StepStatus status = solver.step(f, df, end);
    EXPECT_EQ(status, StepStatus::kAccepted);
    if (status != StepStatus::kAccepted) break;
  }
  return solver;
}

TEST(Radau, OneStepHasErrorOfOrderSixAndDenseOutputOfOrderFour) {
  const auto errors = [](double h) {
    Radau solver({.rtol = 1, .atol = 1, .first_step = h});
    solver.start(circle, 0, on_circle(0));
    EXPECT_EQ(solver.step(circle, circle_derivative, h), StepStatus::kAccepted);
    VectorXd middle;
    solver.dense(0.3 * h, middle);
    return Vector2d((solver.x() - on_circle(h)).norm(), (middle - on_circle(0.3 * h)).norm());
  };
  const Vector2d coarse = errors(0.4), fine = errors(0.2);
  EXPECT_NEAR(slope(coarse[0], fine[0], 2), 6, 0.15);
  EXPECT_NEAR(slope(coarse[1], fine[1], 2), 4, 0.15);
}

TEST(Radau, MeetsItsToleranceAndEndsExactlyAtTheLimit) {
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    const Radau solver =
        run(circle, circle_derivative, on_circle(0), 10, {.rtol = tolerance, .atol = tolerance});
    EXPECT_EQ(solver.t(), 10);
    EXPECT_LT((solver.x() - on_circle(10)).norm(), tolerance);
  }
}

TEST(Radau, FastDecayCostsNoSteps) {
  // ẋ = -λ (x - cos t) - sin t: x = cos t + e^(-λ t), Prothero and Robinson
  for (const double lambda : {1e2, 1e6, 1e10}) {
    const auto f = [&](double t, const VectorXd& x, VectorXd& dx) {
      dx[0] = -lambda * (x[0] - std::cos(t)) - std::sin(t);
    };
    const auto df = [&](double, const VectorXd&, MatrixXd& J) { J(0, 0) = -lambda; };
    const Radau solver = run(f, df, VectorXd::Constant(1, 2), 10, {.rtol = 1e-8, .atol = 1e-8});
    EXPECT_NEAR(solver.x()[0], std::cos(10), 1e-9);
    EXPECT_LT(solver.steps(), 400);
  }
}

TEST(Radau, AWrongDerivativeCostsNoAccuracy) {
  const auto off = [](double, const VectorXd&, MatrixXd& J) { J << 0.1, 0.7, -1.2, -0.2; };
  const Radau solver = run(circle, off, on_circle(0), 10, {.rtol = 1e-9, .atol = 1e-9});
  EXPECT_LT((solver.x() - on_circle(10)).norm(), 1e-9);
}

TEST(Radau, EventsAreLocatedAndPassedToFullOrder) {
  // cos t falls through zero at π/2
  Radau solver({.rtol = 1e-9, .atol = 1e-9});
  solver.start(circle, 0, on_circle(0));
  while (solver.x()[0] > 0)
    ASSERT_EQ(solver.step(circle, circle_derivative, 10), StepStatus::kAccepted);
  const double t = solver.first_positive([](double, const VectorXd& x) { return -x[0]; });
  EXPECT_NEAR(t, M_PI / 2, 1e-10);
  solver.shorten(circle, t);
  EXPECT_EQ(solver.t(), t);
  EXPECT_LT((solver.x() - on_circle(t)).norm(), 1e-11);
}

TEST(Radau, IntegralsHaveTheOrderOfTheMethod) {
  // ∫ sin over [0, 1], beside the motion
  Radau solver({.rtol = 1e-9, .atol = 1e-9});
  solver.start(circle, 0, on_circle(0));
  double integral = 0;
  while (solver.t() < 1) {
    ASSERT_EQ(solver.step(circle, circle_derivative, 1), StepStatus::kAccepted);
    solver.integrate([](double, const VectorXd& x) { return -x[1]; }, integral);
  }
  EXPECT_NEAR(integral, 1 - std::cos(1), 1e-11);
}

TEST(Radau, SaysWhenTheFieldIsNotFiniteOrBlowsUp) {
  const auto bad = [](double, const VectorXd&, VectorXd& dx) { dx[0] = NAN; };
  const auto zero = [](double, const VectorXd&, MatrixXd& J) { J.setZero(); };
  Radau nan({});
  nan.start(bad, 0, VectorXd::Ones(1));
  EXPECT_EQ(nan.step(bad, zero, 1), StepStatus::kNotFinite);

  // ẋ = x² from 1 reaches infinity at t = 1
  const auto square = [](double, const VectorXd& x, VectorXd& dx) { dx[0] = x[0] * x[0]; };
  const auto slope_of_it = [](double, const VectorXd& x, MatrixXd& J) { J(0, 0) = 2 * x[0]; };
  Radau blows({});
  blows.start(square, 0, VectorXd::Ones(1));
  StepStatus status = StepStatus::kAccepted;
  while (status == StepStatus::kAccepted && blows.t() < 2)
    status = blows.step(square, slope_of_it, 2);
  EXPECT_NE(status, StepStatus::kAccepted);
  EXPECT_NEAR(blows.t(), 1, 1e-6);
}

TEST(Radau, VanDerPolsOscillatorAgreesWithPublishedValues) {
  // the test set for initial value problems: ε = 1e-6, from (2, 0) to t = 2
  const auto f = [](double, const VectorXd& x, VectorXd& dx) {
    dx = Vector2d(x[1], ((1 - x[0] * x[0]) * x[1] - x[0]) * 1e6);
  };
  const auto df = [](double, const VectorXd& x, MatrixXd& J) {
    J << 0, 1, (-2 * x[0] * x[1] - 1) * 1e6, (1 - x[0] * x[0]) * 1e6;
  };
  const Radau solver = run(f, df, Vector2d(2, 0), 2, {.rtol = 1e-10, .atol = 1e-10});
  EXPECT_NEAR(solver.x()[0], 1.706167732170483, 1e-9);
  EXPECT_NEAR(solver.x()[1], -0.8928097010247975, 1e-9);
}

}  // namespace
}  // namespace routh::ode
