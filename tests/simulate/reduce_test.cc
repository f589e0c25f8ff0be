#include "routh/simulate/reduce.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numeric>
#include <random>

#include "routh/impact/simultaneous.h"
#include "routh/model/planar.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Terms point_over_floor(double gap) {
  Terms t;
  t.M = MatrixXd::Identity(2, 2);
  t.A = MatrixXd(0, 2);
  t.contacts = {{.name = "A",
                 .phi = gap,
                 .Jn = Eigen::RowVector2d(0, 1),
                 .Jt = Eigen::RowVector2d(1, 0),
                 .mu = 0.5}};
  return t;
}

TEST(Reduce, LiftBringsBackTheVelocityThatTheContactsSee) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Terms t;
  const MatrixXd root = MatrixXd::NullaryExpr(5, 5, [&] { return normal(random); });
  t.M = root * root.transpose() + MatrixXd::Identity(5, 5);
  t.A = MatrixXd::NullaryExpr(1, 5, [&] { return normal(random); });
  for (const char* name : {"A", "B"})
    t.contacts.push_back({.name = name,
                          .phi = 0,
                          .Jn = MatrixXd::NullaryExpr(1, 5, [&] { return normal(random); }),
                          .Jt = MatrixXd::NullaryExpr(1, 5, [&] { return normal(random); }),
                          .mu = 0.4});
  VectorXd v = VectorXd::NullaryExpr(5, [&] { return normal(random); });
  v -= t.A.transpose() * (t.A * t.A.transpose()).inverse() * (t.A * v);
  const ReducedImpact r = reduce(t, v);
  const SimultaneousResult outcomes = simultaneous(r.problem);
  ASSERT_FALSE(outcomes.outcomes.empty());
  for (const Outcome& o : outcomes.outcomes) {
    const VectorXd v_plus = r.lift(v, o.impulse);
    EXPECT_LT((r.J * v_plus - o.c_plus).norm(), 1e-12);
    EXPECT_LT((t.A * v_plus).norm(), 1e-12);  // joints hold
    EXPECT_LE(kinetic_energy(t, v_plus), kinetic_energy(t, v) + 1e-12);
  }
}

TEST(Reduce, OnlyTouchingContactsTakePart) {
  EXPECT_EQ(reduce(point_over_floor(0), Eigen::Vector2d(1, -1)).problem.contacts(), 1);
  EXPECT_EQ(reduce(point_over_floor(0.1), Eigen::Vector2d(1, -1)).problem.contacts(), 0);
}

TEST(Reduce, RefusesPenetrationAndBadInertia) {
  EXPECT_THROW((void)reduce(point_over_floor(-0.1), Eigen::Vector2d(1, -1)), std::invalid_argument);
  Terms t = point_over_floor(0);
  t.M(0, 1) = 0.5;
  EXPECT_THROW((void)reduce(t, Eigen::Vector2d(1, -1)), std::invalid_argument);
  t = point_over_floor(0);
  t.M(0, 0) = -1;
  EXPECT_THROW((void)reduce(t, Eigen::Vector2d(1, -1)), std::invalid_argument);
  t.M(0, 0) = 0;
  EXPECT_THROW((void)reduce(t, Eigen::Vector2d(1, -1)), std::invalid_argument);
}

TEST(Reduce, AFootAtRestIsExactlyAtRest) {
  // cancellation of large terms leaves rounding, which must not become an impact
  Terms t = point_over_floor(0);
  t.contacts[0].Jn = Eigen::RowVector2d(1.0 / 3, -0.1);
  const ReducedImpact r = reduce(t, Eigen::Vector2d(0.3, 1 + 1e-16));
  EXPECT_EQ(r.problem.c[0], 0);
}

// A mechanism built with a pin (maximal coordinates) and with a joint (minimal) collide alike.
TEST(Reduce, MaximalAndMinimalCoordinatesAgree) {
  const double l = 1, m = 1.2;
  const auto rod = [&](const char* name) {
    return Body{.name = name,
                .joint = Joint::kRevolute,
                .mass = m,
                .inertia = rod_inertia(m, l),
                .centre = {0, -l / 2}};
  };
  PlanarMechanism minimal, maximal;
  minimal.add(rod("upper"));
  Body lower = rod("lower");
  lower.parent = 0, lower.at = {0, -l};
  minimal.add(lower);
  Body free = rod("upper");
  free.joint = Joint::kFloating;
  maximal.add(free);
  free.name = "lower";
  maximal.add(free);
  maximal.add(Pin{"pivot", 0, kWorld, {0, 0}, {0, 0}});
  maximal.add(Pin{"elbow", 0, 1, {0, -l}, {0, 0}});

  const double a = -0.5, b = -0.3, wa = 0.7, wb = 1.1;  // absolute angles and rates
  const Eigen::Vector2d tip =
      l * Eigen::Vector2d(std::sin(a) + std::sin(b), -std::cos(a) - std::cos(b));
  const Edge wall{kWorld, tip, {-1, 0}, 0};
  minimal.add(ContactPair{"tip", Round{1, {0, -l}, 0}, wall, 0.3});
  maximal.add(ContactPair{"tip", Round{1, {0, -l}, 0}, wall, 0.3});

  VectorXd q(6), v(6);
  q << 0, 0, a, l * std::sin(a), -l * std::cos(a), b;
  v << 0, 0, wa, l * std::cos(a) * wa, l * std::sin(a) * wa, wb;
  const Eigen::Vector2d q2(a, b - a), v2(wa, wb - wa);
  const ReducedImpact big = reduce(maximal.terms(q, v), v),
                      small = reduce(minimal.terms(q2, v2), v2);
  EXPECT_LT((big.problem.G - small.problem.G).norm(), 1e-12);
  EXPECT_LT((big.problem.c - small.problem.c).norm(), 1e-12);
}

// Nine points of a square patch in one plane, another pair in the middle of it, and a point above.
TEST(ExtremePoints, KeepTheCornersOfAPatch) {
  Terms terms;
  const auto add = [&](double x, double y, double z, int pair) {
    Contact c{.name = std::to_string(terms.contacts.size())};
    c.point = {x, y, z};
    c.normal = Eigen::Vector3d::UnitZ();
    c.pair = pair;
    terms.contacts.push_back(c);
  };
  for (const double x : {0.0, 0.5, 1.0}) {
    for (const double y : {0.0, 0.5, 1.0}) add(x, y, 0, 7);
  }
  add(0.5, 0.5, 0, 8);
  add(0.5, 0.5, 0.1, 7);
  std::vector<int> all(terms.contacts.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(extreme_points(terms, all), (std::vector<int>{0, 2, 6, 8, 9, 10}));
  EXPECT_EQ(extreme_points(terms, {1, 4, 7}), (std::vector<int>{1, 7}));  // in a line: its ends
}

}  // namespace
}  // namespace routh
