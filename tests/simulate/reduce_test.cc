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

/// A random mechanism: joints, some of them repeated, and limbs without mass that joints hold.
struct Random {
  std::mt19937 engine;
  double normal() { return std::normal_distribution<double>()(engine); }
  double uniform(double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(engine);
  }
  int integer(int a, int b) { return std::uniform_int_distribution<int>(a, b)(engine); }
  MatrixXd matrix(int rows, int columns) {
    return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(); });
  }
  MatrixXd orthogonal(int n) {
    return MatrixXd(Eigen::HouseholderQR<MatrixXd>(matrix(n, n)).householderQ());
  }
};

Terms random_mechanism(Random& random, int joints, int repeated, bool massless) {
  const int nv = joints + random.integer(2, 5), tangents = random.integer(1, 2);
  Terms t;
  const MatrixXd root = random.matrix(nv, nv);
  t.M = root * root.transpose() + MatrixXd::Identity(nv, nv);
  if (massless) t.M.row(nv - 1).setZero(), t.M.col(nv - 1).setZero();
  // rows of a well-conditioned frame: what is asked is independence of units, not luck
  t.A = random.orthogonal(nv).topRows(joints);
  if (massless) t.A(0, nv - 1) = 1;
  if (repeated > 0) {
    const MatrixXd all = t.A;
    t.A.resize(joints + repeated, nv);
    t.A << all, random.matrix(repeated, joints) * all;
  }
  for (const char* name : {"A", "B", "C"})
    t.contacts.push_back({.name = name,
                          .phi = 0,
                          .Jn = random.matrix(1, nv),
                          .Jt = random.matrix(tangents, nv),
                          .mu = 0.4});
  return t;
}

/// The same mechanism in other coordinates, v = B w, with masses times m.
Terms changed(const Terms& terms, const MatrixXd& B, double m) {
  Terms t = terms;
  t.M = m * B.transpose() * terms.M * B;
  t.M = 0.5 * (t.M + t.M.transpose()).eval();
  t.A = terms.A * B;
  for (Contact& contact : t.contacts) contact.Jn = contact.Jn * B, contact.Jt = contact.Jt * B;
  return t;
}

TEST(Reduce, UnitsAndCoordinatesDoNotMatter) {
  Random random{std::mt19937(17)};
  for (int k = 0; k < 2000; ++k) {
    const bool massless = k % 5 == 4;
    const int joints = massless ? random.integer(1, 3) : random.integer(0, 3);
    const Terms terms = random_mechanism(random, joints, joints && k % 3 == 0 ? 1 : 0, massless);
    const int nv = static_cast<int>(terms.M.rows());
    const bool full = k % 2;
    MatrixXd B =
        VectorXd::NullaryExpr(nv, [&] { return std::pow(10, random.uniform(-6, 6)); }).asDiagonal();
    double condition = 1;
    if (full) {
      condition = std::pow(10, random.uniform(0, 6));
      const VectorXd stretch = VectorXd::NullaryExpr(
          nv, [&](Eigen::Index i) { return std::pow(condition, -i / (nv - 1.0)); });
      B = random.orthogonal(nv) * stretch.asDiagonal() * random.orthogonal(nv);
    }
    const double m = std::pow(10, random.uniform(-12, 12));
    const VectorXd v = random.matrix(nv, 1), w = B.partialPivLu().solve(v);
    const ReducedImpact plain = reduce(terms, v), other = reduce(changed(terms, B, m), w);

    const double accuracy = 1e-11 + 1e2 * condition * condition * 1e-16;
    const MatrixXd& G = plain.problem.G;
    EXPECT_LT((m * other.problem.G - G).norm(), accuracy * G.norm()) << k << " " << condition;
    // what an impulse does to the motion, and that the joints hold
    const VectorXd impulse = random.matrix(static_cast<int>(G.rows()), 1);
    const VectorXd there = plain.lift(VectorXd::Zero(nv), impulse);
    const VectorXd back = B * other.lift(VectorXd::Zero(nv), m * impulse);
    EXPECT_LT((back - there).norm(), accuracy * there.norm()) << k << " " << condition;
    if (joints) EXPECT_LT((terms.A * there).norm(), 1e-12 * there.norm()) << k;
  }
}

// M⁻¹ itself is the judge where there are neither joints nor other coordinates.
TEST(Reduce, GIsTheTextbooks) {
  Random random{std::mt19937(18)};
  for (int k = 0; k < 200; ++k) {
    const Terms terms = random_mechanism(random, k % 4, 0, false);
    const VectorXd v = VectorXd::Zero(terms.M.rows());
    const ReducedImpact reduced = reduce(terms, v);
    MatrixXd Mdag = terms.M.inverse();
    if (k % 4) {
      const MatrixXd W = Mdag * terms.A.transpose();
      Mdag -= W * (terms.A * W).inverse() * W.transpose();
    }
    const MatrixXd G = reduced.J * Mdag * reduced.J.transpose();
    EXPECT_LT((reduced.problem.G - G).norm(), 1e-12 * reduced.J.squaredNorm());
    EXPECT_EQ(reduced.problem.G, reduced.problem.G.transpose());
  }
}

// A contact on a part that joints hold fast: rounding must not let it move.
TEST(Reduce, RowsThatJointsImmobiliseAreExactlyZero) {
  Random random{std::mt19937(19)};
  for (int k = 0; k < 1000; ++k) {
    const int joints = random.integer(1, 3);
    Terms terms = random_mechanism(random, joints, k % 3 == 0, k % 5 == 4);
    const int nv = static_cast<int>(terms.M.rows());
    terms.contacts[1].Jn = random.matrix(1, joints) * terms.A.topRows(joints);
    MatrixXd B =
        VectorXd::NullaryExpr(nv, [&] { return std::pow(10, random.uniform(-6, 6)); }).asDiagonal();
    if (k % 2) {
      const VectorXd stretch =
          VectorXd::NullaryExpr(nv, [&](Eigen::Index i) { return std::pow(1e6, -i / (nv - 1.0)); });
      B = random.orthogonal(nv) * stretch.asDiagonal() * random.orthogonal(nv);
    }
    const ReducedImpact held =
        reduce(changed(terms, B, std::pow(10, random.uniform(-12, 12))), VectorXd::Zero(nv));
    EXPECT_TRUE(held.problem.G.row(1).isZero(0)) << k;
    EXPECT_TRUE(held.W.col(1).isZero(0)) << k;
    EXPECT_GT(held.problem.G(0, 0), 0) << k;
    EXPECT_GT(held.problem.G(2, 2), 0) << k;
  }
}

// A hand of a milligram on an arm of a tonne moves as the arm does.
TEST(Reduce, LightLimbsCostNoDigits) {
  for (const double light : {1e-3, 1e-9, 1e-15, 0.0}) {
    Terms t;
    t.M = Eigen::Vector2d(light, 1000).asDiagonal();
    t.A = Eigen::RowVector2d(1, -1);
    t.contacts = {{.name = "hand", .Jn = Eigen::RowVector2d(1, 0), .Jt = MatrixXd::Zero(1, 2)}};
    EXPECT_NEAR(reduce(t, Eigen::Vector2d::Zero()).problem.G(0, 0), 1 / (1000 + light), 1e-18);
  }
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
