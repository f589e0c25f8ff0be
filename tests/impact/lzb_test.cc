// The law of Liu, Zhao and Brogliato: the distributing rule against springs through time.

#include "routh/impact/lzb.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "impact/cradle.h"
#include "random_problem.h"
#include "routh/impact/single.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

ImpactProblem bouncing_cradle(double e) {
  ImpactProblem p = test::cradle(3);
  p.e = Vector2d::Constant(e);
  return p;
}

/// Relative to what there is.
double gained(const ImpactProblem& p, const Outcome& o) {
  return 0.5 * o.impulse.dot(p.c + o.c_plus) / (p.c.squaredNorm() / p.G.diagonal().maxCoeff());
}

/// Springs K δ^η through time, without friction, by steps of Runge and Kutta: nothing in common
/// with lzb.cc. In restitution δ̇ = -cn/e², which is a force K δ^η that returns e² of the work.
VectorXd springs(const ImpactProblem& p, const VectorXd& K, double eta, double dt) {
  const int m = p.contacts();
  const MatrixXd G = p.G.topLeftCorner(m, m);
  const auto rate = [&](const VectorXd& x) {
    VectorXd f(m), d(2 * m);
    for (int i = 0; i < m; ++i) f[i] = K[i] * std::pow(std::max(0.0, x[m + i]), eta);
    d.head(m) = G * f;
    for (int i = 0; i < m; ++i) {
      d[m + i] = x[i] < 0 ? -x[i] : -x[i] / (p.e[i] * p.e[i]);
      if (x[m + i] <= 0) d[m + i] = std::max(0.0, d[m + i]);
    }
    return d;
  };
  VectorXd x(2 * m);
  x << p.c.head(m), VectorXd::Zero(m);
  do {
    const VectorXd a = rate(x), b = rate(x + dt / 2 * a), c = rate(x + dt / 2 * b),
                   d = rate(x + dt * c);
    x += dt / 6 * (a + 2 * b + 2 * c + d);
    x.tail(m) = x.tail(m).cwiseMax(0);
  } while (x.tail(m).maxCoeff() > 0 || x.head(m).minCoeff() < -1e-9);
  return x.head(m);
}

// Linear springs between three balls: δ1 ± δ2 swing with 1 and √3. The first contact opens at t1,
// the second goes on alone with √2.
TEST(Lzb, TheCradleOfThreeBallsOnLinearSpringsIsTheClosedForm) {
  const double w = std::sqrt(3.0);
  const auto depth = [&](double t, double sign) {
    return 0.5 * (std::sin(t) + sign * std::sin(w * t) / w);
  };
  const auto speed = [&](double t, double sign) {
    return 0.5 * (std::cos(t) + sign * std::cos(w * t));
  };
  double low = 1, high = 3.1;
  for (int k = 0; k < 80; ++k) {
    const double t = 0.5 * (low + high);
    (depth(t, 1) > 0 ? low : high) = t;
  }
  // c = -δ̇; the second spring returns its energy δ̇²/4 + δ²/2 to two balls
  const double first = -speed(low, 1), d2 = depth(low, -1), s2 = speed(low, -1);
  const double second = std::sqrt(s2 * s2 + 2 * d2 * d2);
  // the last impulse of the second contact pushes the middle ball back
  const double by = (second + s2) / 2;
  const ImpactProblem p = bouncing_cradle(1);
  const LzbResult r = lzb(p, {.exponent = 1});
  ASSERT_TRUE(r.finished);
  EXPECT_NEAR(r.outcome.c_plus[1], second, 2e-5);
  EXPECT_NEAR(r.outcome.c_plus[0], first - by, 2e-5);
  EXPECT_NEAR(gained(p, r.outcome), 0, 1e-12);
  // second order in the step
  const auto error = [&](int steps) {
    const LzbResult once = lzb(p, {.exponent = 1, .steps = steps, .tolerance = HUGE_VAL});
    return std::abs(once.outcome.c_plus[1] - second);
  };
  EXPECT_LT(error(100), error(25) / 8);
}

TEST(Lzb, AVeryStiffFirstContactIsOneAfterTheOtherAVeryStiffSecondAllAtOnce) {
  const ImpactProblem p = bouncing_cradle(1);
  const LzbResult first = lzb(p, {.stiffness = Vector2d(1e6, 1), .exponent = 1, .steps = 30}),
                  second = lzb(p, {.stiffness = Vector2d(1, 1e6), .exponent = 1, .steps = 30});
  ASSERT_TRUE(first.finished && second.finished);
  EXPECT_LE((test::balls_after(p, first.outcome.impulse) - Vector3d(0, 0, 1)).norm(), 1e-2);
  EXPECT_LE((test::balls_after(p, second.outcome.impulse) - Vector3d(-1, 2, 2) / 3).norm(), 1e-2);
}

TEST(Lzb, WithoutFrictionItIsSpringsThroughTime) {
  std::mt19937 random(21);
  std::uniform_real_distribution<double> uniform(0, 1);
  int seen = 0;
  for (int k = 0; k < 24; ++k) {
    const int m = 2 + k % 2;
    ImpactProblem p = test::random_impact(random, m, m + 2).problem;
    if (!colliding(p, p.c)) continue;
    p.mu.setZero();
    p.c /= p.c.lpNorm<Eigen::Infinity>();
    p.G /= p.G.diagonal().head(m).maxCoeff();
    p.e = VectorXd::NullaryExpr(m, [&] { return 0.3 + 0.7 * uniform(random); });
    const VectorXd K = VectorXd::NullaryExpr(m, [&] { return 0.2 + uniform(random); });
    const double eta = k % 2 ? 1 : 1.5;
    const LzbResult r = lzb(p, {.stiffness = K, .exponent = eta});
    ASSERT_TRUE(r.finished) << k;
    EXPECT_LE((r.outcome.c_plus.head(m) - springs(p, K, eta, 1e-3)).norm(), 2e-3) << k;
    ++seen;
  }
  EXPECT_GT(seen, 10);
}

TEST(Lzb, OneContactIsRouthsPathWithStrongesMeaning) {
  std::mt19937 random(22);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 60; ++k) {
    ImpactProblem p = test::random_impact(random, 1, 5, 1 + k % 2).problem;
    p.edges = 0;
    if (p.c[0] >= 0) continue;
    p.e = VectorXd::Constant(1, k % 5 == 0 ? 0 : uniform(random));
    const SingleResult path = single(p, 0);
    if (!path.finished) continue;
    const LzbResult r = lzb(p);
    ASSERT_TRUE(r.finished) << k;
    EXPECT_LE((r.outcome.c_plus - path.c_plus).norm(), (k % 2 ? 1e-3 : 1e-9) * p.c.norm()) << k;
  }
}

TEST(Lzb, NoEnergyIsGainedAndWithoutFrictionAndLossNoneIsLost) {
  std::mt19937 random(23);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 60; ++k) {
    const int m = 1 + k % 4;
    ImpactProblem p = test::random_impact(random, m, m + 3, 1 + k / 2 % 2).problem;
    p.edges = 0;
    if (!colliding(p, p.c)) continue;
    const bool keeps = k % 3 == 0;
    p.e = VectorXd::NullaryExpr(m, [&] { return keeps ? 1 : k % 3 == 1 ? 0 : uniform(random); });
    if (keeps) p.mu.setZero();
    const LzbResult r = lzb(p, {.steps = 50});
    if (!r.finished) continue;
    EXPECT_LE(gained(p, r.outcome), 1e-9) << k;
    if (keeps) {
      EXPECT_NEAR(gained(p, r.outcome), 0, 1e-9) << k;
    }
    // masses of another unit
    ImpactProblem q = test::in_units(p, 0x1p30, 0x1p-20);
    const LzbResult other = lzb(q, {.steps = 50});
    EXPECT_LE((0x1p-20 * r.outcome.c_plus - other.outcome.c_plus).norm(), 1e-9 * q.c.norm()) << k;
  }
}

// Four contacts hold what three would: slips stop together, to rounding.
TEST(Lzb, ABoxThatFallsOnItsFaceComesToAnEnd) {
  std::mt19937 random(24);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 40; ++k) {
    VectorXd W(6);
    W << 1, 1, 1, 3 + uniform(random), 3 + uniform(random), 3 + uniform(random);
    MatrixXd J(12, 6);
    for (int i = 0; i < 4; ++i) {
      const double x = i % 2 ? 0.5 : -0.5, y = i / 2 ? 0.5 : -0.5, z = -1;
      J.row(i) << 0, 0, 1, y, -x, 0;
      J.row(4 + 2 * i) << 1, 0, 0, 0, z, -y;
      J.row(5 + 2 * i) << 0, 1, 0, -z, 0, x;
    }
    VectorXd v(6);
    const double turns = std::pow(10, -1 - k % 8);
    for (int i = 0; i < 6; ++i) v[i] = turns * uniform(random);
    v[2] = -1;
    ImpactProblem p{.G = J * W.asDiagonal() * J.transpose(),
                    .c = J * v,
                    .mu = VectorXd::Constant(4, 0.5 + 0.5 * (k % 3)),
                    .tangents = 2};
    p.e = VectorXd::Constant(4, 0.25 * (k % 4));
    const LzbResult r = lzb(p, {.steps = 50});
    ASSERT_TRUE(r.finished) << k;
    EXPECT_LE(gained(p, r.outcome), 1e-9) << k;
    EXPECT_LE(r.outcome.residual, 1e-9) << k;
  }
}

// A contact with e = 0.01 that others press on chatters: one pass of 200 steps depends on the axes
// of the tangents by more than 1e-3.
TEST(Lzb, ContactsThatChatterEndAlikeWhateverTheAxesOfTheirTangents) {
  std::mt19937 random(25);
  std::uniform_real_distribution<double> uniform(0, 1);
  int settled = 0;
  for (int k = 0; k < 30; ++k) {
    const int m = 2;
    ImpactProblem p = test::random_impact(random, m, 3 * m, 2).problem;
    p.edges = 0;
    if (!colliding(p, p.c)) continue;
    p.e = Vector2d(0.01, uniform(random));
    const LzbResult r = lzb(p);
    MatrixXd turn = MatrixXd::Identity(3 * m, 3 * m);
    for (int i = 0; i < m; ++i)
      turn.block<2, 2>(m + 2 * i, m + 2 * i) =
          Eigen::Rotation2Dd(6 * uniform(random)).toRotationMatrix();
    ImpactProblem q = p;
    q.G = turn * p.G * turn.transpose(), q.c = turn * p.c;
    q.G = (0.5 * (q.G + q.G.transpose())).eval();
    const LzbResult other = lzb(q);
    ASSERT_TRUE(r.finished && other.finished) << k;
    if (std::max(r.change, other.change) > 1e-3) continue;
    ++settled;
    EXPECT_LE((turn * r.outcome.c_plus - other.outcome.c_plus).norm(), 4e-3 * p.c.norm()) << k;
  }
  EXPECT_GT(settled, 15);
}

TEST(Lzb, WhatItDoesNotHaveIsRefused) {
  EXPECT_THROW((void)lzb(bouncing_cradle(1), {.steps = 0}), std::invalid_argument);
  EXPECT_THROW((void)lzb(bouncing_cradle(1), {.tolerance = 0}), std::invalid_argument);
  ImpactProblem p = bouncing_cradle(0.5);
  EXPECT_THROW((void)lzb(p, {.stiffness = VectorXd::Ones(3)}), std::invalid_argument);
  EXPECT_THROW((void)lzb(p, {.stiffness = Vector2d(1, 0)}), std::invalid_argument);
  EXPECT_THROW((void)lzb(p, {.stiffness = Vector2d(1, std::nan(""))}), std::invalid_argument);
  EXPECT_THROW((void)lzb(p, {.exponent = 0.5}), std::invalid_argument);
  p.restitution = Restitution::kPoisson;
  EXPECT_THROW((void)lzb(p), std::invalid_argument);
}

}  // namespace
}  // namespace routh
