#include "routh/model/planar.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

/// Two uniform rods hanging from the origin, angles from the downward vertical.
PlanarMechanism double_pendulum(double l, double m) {
  PlanarMechanism p;
  const Body rod{.name = "upper",
                 .joint = Joint::kRevolute,
                 .mass = m,
                 .inertia = rod_inertia(m, l),
                 .centre = {0, -l / 2}};
  p.add(rod);
  Body lower = rod;
  lower.name = "lower", lower.parent = 0, lower.at = {0, -l};
  p.add(lower);
  return p;
}

TEST(Planar, TheDoublePendulumHasItsTextbookInertiaAndForces) {
  const double l = 0.7, m = 1.3, g = 9.81;
  const PlanarMechanism p = double_pendulum(l, m);
  const Eigen::Vector2d q(0.4, -1.1), v(0.8, 0.3);
  const Terms t = p.terms(q, v);
  // absolute angles a = q0, b = q0 + q1, rates w0, w0 + w1
  const double a = q[0], b = q[0] + q[1], wa = v[0], wb = v[0] + v[1], cd = std::cos(b - a),
               sd = std::sin(b - a);
  const double Maa = m * l * l * (1.0 / 3 + 1), Mab = 0.5 * m * l * l * cd, Mbb = m * l * l / 3;
  Eigen::Matrix2d M;  // in relative angles
  M << Maa + 2 * Mab + Mbb, Mab + Mbb, Mab + Mbb, Mbb;
  EXPECT_LT((t.M - M).norm(), 1e-14);
  const double fa = 0.5 * m * l * l * sd * wb * wb - 1.5 * m * g * l * std::sin(a);
  const double fb = -0.5 * m * l * l * sd * wa * wa - 0.5 * m * g * l * std::sin(b);
  EXPECT_NEAR(t.forces[0], fa + fb, 1e-13);
  EXPECT_NEAR(t.forces[1], fb, 1e-13);
}

/// Forces of motion in generalised coordinates must make energy constant: d/dt (v' M v / 2) = v'
/// (forces - gravity part).
TEST(Planar, VelocityForcesDoNoWork) {
  PlanarMechanism p;
  p.gravity.setZero();
  p.add(Body{
      .name = "base", .joint = Joint::kFloating, .mass = 2, .inertia = 0.5, .centre = {0.1, 0.2}});
  p.add(Body{.name = "slider",
             .parent = 0,
             .joint = Joint::kPrismatic,
             .at = {0.3, 0},
             .angle = 0.4,
             .axis = {1, 2},
             .mass = 1,
             .inertia = 0.1,
             .centre = {0, 0.3}});
  p.add(Body{.name = "arm",
             .parent = 1,
             .joint = Joint::kRevolute,
             .at = {0.2, 0.1},
             .mass = 0.7,
             .inertia = 0.05,
             .centre = {0.4, 0}});
  p.add(Body{.name = "tool",
             .parent = 2,
             .joint = Joint::kFixed,
             .at = {0.5, 0},
             .mass = 0.2,
             .inertia = 0.01});
  ASSERT_EQ(p.nv(), 5);
  VectorXd q(5), v(5);
  q << 0.3, -0.2, 0.7, 0.15, -0.9;
  v << 1.1, -0.6, 0.9, 0.8, -1.7;
  const double h = 1e-6;
  const MatrixXd Mdot = (p.terms(q + h * v, v).M - p.terms(q - h * v, v).M) / (2 * h);
  EXPECT_NEAR(v.dot(p.terms(q, v).forces) + 0.5 * v.dot(Mdot * v), 0, 1e-8);
}

/// Jn must be the gradient of the gap for every kind of contact.
TEST(Planar, NormalRowsAreGradientsOfTheGaps) {
  PlanarMechanism p;
  p.add(Body{.name = "box", .mass = 1, .inertia = 1});
  p.add(Body{.name = "other", .mass = 1, .inertia = 1});
  const Round corner{0, {-0.5, -0.4}, 0}, disc{0, {0.1, 0.2}, 0.3};
  p.add(ContactPair{"vertex-plane", corner, Edge{kWorld, {0, -3}, {0.6, 0.8}, 0}, 1});
  p.add(ContactPair{"disc-plane", disc, Edge{kWorld, {0, -3}, {0, 1}, 0}, 1});
  p.add(ContactPair{"disc-disc", disc, Round{1, {0, 0.1}, 0.2}, 1});
  p.add(ContactPair{"vertex-edge", corner, Edge{1, {1, 0.5}, {0, 1}, 2}, 1});
  p.add(ContactPair{"beyond the edge", corner, Edge{1, {-1.5, 0.5}, {0, 1}, 0.2}, 1});
  VectorXd q(6);
  q << 0.2, 0.1, 0.5, 0.4, -1.8, -0.2;
  const VectorXd rest = VectorXd::Zero(6);
  const Terms t = p.terms(q, rest);
  const double h = 1e-6;
  for (int k = 0; k < 6; ++k) {
    const VectorXd dq = h * VectorXd::Unit(6, k);
    const Terms plus = p.terms(q + dq, rest), minus = p.terms(q - dq, rest);
    for (std::size_t i = 0; i < t.contacts.size(); ++i) {
      EXPECT_NEAR(t.contacts[i].Jn[k], (plus.contacts[i].phi - minus.contacts[i].phi) / (2 * h),
                  1e-8)
          << t.contacts[i].name << ", coordinate " << k;
    }
  }
}

TEST(Planar, ARollingDiscHasNoTangentialVelocity) {
  PlanarMechanism p;
  p.add(Body{.name = "wheel", .mass = 1, .inertia = 0.5});
  p.add(ContactPair{"A", Round{0, {0, 0}, 0.5}, Edge{}, 1});
  const Terms t = p.terms(Eigen::Vector3d(0, 0.5, 0.3), Eigen::Vector3d::Zero());
  EXPECT_NEAR(t.contacts[0].phi, 0, 1e-15);
  // rolling to the right turns clockwise
  EXPECT_NEAR((t.contacts[0].Jt * Eigen::Vector3d(1, 0, -2))(0), 0, 1e-15);
  EXPECT_NEAR((t.contacts[0].Jt * Eigen::Vector3d(1, 0, 0))(0), 1, 1e-15);
}

TEST(Planar, APinTiesTwoPoints) {
  PlanarMechanism p;
  p.add(Body{.name = "a", .mass = 1, .inertia = 1});
  p.add(Body{.name = "b", .mass = 1, .inertia = 1});
  p.add(Pin{"hinge", 0, 1, {0.5, 0}, {-0.5, 0}});
  VectorXd q(6);
  q << 0, 0, 0.3, std::cos(0.3) / 2 + 0.5 * std::cos(0.9), std::sin(0.3) / 2 + 0.5 * std::sin(0.9),
      0.9;
  const Terms t = p.terms(q, VectorXd::Zero(6));
  EXPECT_LT(t.joint_gap.norm(), 1e-15);
  const double h = 1e-6;
  for (int k = 0; k < 6; ++k) {
    const VectorXd moved = p.terms(q + h * VectorXd::Unit(6, k), VectorXd::Zero(6)).joint_gap;
    EXPECT_LT((moved / h - t.A.col(k)).norm(), 1e-5);
  }
}

TEST(Planar, BuilderErrorsNameTheBody) {
  PlanarMechanism p;
  const auto message = [&](const Body& b) -> std::string {
    try {
      p.add(b);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({.name = "x", .mass = -1}).find("'x': mass"), std::string::npos);
  EXPECT_NE(message({.name = "x", .parent = 3, .joint = Joint::kRevolute}).find("parent"),
            std::string::npos);
  EXPECT_EQ(message({.name = "x"}), "");
  EXPECT_NE(message({.name = "x"}).find("taken"), std::string::npos);
  EXPECT_THROW(p.add(ContactPair{"A", {}, Edge{}, -0.5}), std::invalid_argument);
  EXPECT_THROW((void)p.terms(VectorXd::Zero(2), VectorXd::Zero(2)), std::invalid_argument);
}

}  // namespace
}  // namespace routh
