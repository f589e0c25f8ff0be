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

/// A robot with every joint, pin, spring and kind of contact.
PlanarMechanism everything() {
  PlanarMechanism p;
  const std::vector<Vector2d> box{{-0.3, -0.2}, {0.3, -0.2}, {0.3, 0.2}, {-0.3, 0.2}};
  const int base = p.add(Body{.name = "base", .mass = 2, .inertia = 0.5, .centre = {0.1, 0.05}});
  const int slider = p.add(Body{.name = "slider",
                                .parent = base,
                                .joint = Joint::kPrismatic,
                                .at = {0.3, 0},
                                .angle = 0.4,
                                .axis = {1, 2},
                                .mass = 1,
                                .inertia = 0.1});
  const int arm = p.add(Body{.name = "arm",
                             .parent = slider,
                             .joint = Joint::kRevolute,
                             .at = {0.2, 0.1},
                             .mass = 0.7,
                             .inertia = 0.05,
                             .centre = {0.4, 0}});
  const int crate = p.add(Body{.name = "crate", .mass = 1, .inertia = 0.2});
  p.add(Pin{.name = "pin", .body = arm, .other = crate, .at = {0.8, 0.1}, .at_other = {0.2, 0.3}});
  p.add(Lock{.name = "lock", .coordinate = 3, .value = 0.2});
  p.add(ContactPair{"disc on edge", {arm, {0.6, 0.1}, 0.05}, Edge{crate, {-0.3, 0.2}, {0, 1}}, 1});
  p.add(ContactPair{"disc on disc", {arm, {0.6, 0.1}, 0.05}, Round{crate, {0.1, 0.2}, 0.15}, 1});
  p.add(ContactPair{"disc on polygon", {base, {0.4, 0.2}, 0.1}, Polygon{crate, box}, 1});
  p.add(ContactPair{"corner on plane", {crate, {0.3, -0.2}}, Edge{kWorld, {0, -2}, {0.6, 0.8}}, 1});
  return p;
}

TEST(Planar, BiasesAreWhatTheRowsGainWhileMoving) {
  const PlanarMechanism p = everything();
  std::srand(5);
  for (int trial = 0; trial < 20; ++trial) {
    const VectorXd q = VectorXd::Random(p.nv()), v = VectorXd::Random(p.nv());
    const double h = 2e-6;
    const Terms now = p.terms(q, v), later = p.terms(q + h * v, v), earlier = p.terms(q - h * v, v);
    EXPECT_LT((now.joint_bias - (later.A - earlier.A) * v / (2 * h)).norm(), 1e-8);
    for (std::size_t i = 0; i < now.contacts.size(); ++i) {
      const Contact &a = earlier.contacts[i], &b = later.contacts[i];
      EXPECT_NEAR(now.contacts[i].bias_n, (b.Jn - a.Jn).dot(v) / (2 * h), 1e-7) << b.name;
      EXPECT_NEAR(now.contacts[i].bias_t, (b.Jt - a.Jt).row(0).dot(v) / (2 * h), 1e-7) << b.name;
      EXPECT_NEAR(now.contacts[i].Jn.dot(v), (b.phi - a.phi) / (2 * h), 1e-8) << b.name;
    }
  }
}

TEST(Planar, ForceJacobiansAreDerivatives) {
  PlanarMechanism p = everything();
  p.gravity.setZero();
  // springs without length are linear only in free bodies, hence between two of them
  const int a = p.add(Body{.name = "a", .mass = 1, .inertia = 1});
  const int b = p.add(Body{.name = "b", .mass = 1, .inertia = 1});
  p.add(Spring{.name = "s", .body = a, .other = b, .stiffness = 3, .damping = 0.4});
  p.add(Spring{.name = "r", .body = a, .stiffness = 7, .damping = 0.2, .length = 0.01});
  p.add(CoordinateSpring{.name = "c", .coordinate = 4, .stiffness = 5, .damping = 2, .rest = 0.3});
  std::srand(6);
  const VectorXd q = VectorXd::Random(p.nv()), v = VectorXd::Random(p.nv());
  const Terms now = p.terms(q, v);
  const double h = 1e-6;
  for (int k = 0; k < p.nv(); ++k) {
    const VectorXd d = h * VectorXd::Unit(p.nv(), k);
    const VectorXd by_v = (p.terms(q, v + d).forces - p.terms(q, v - d).forces) / (2 * h);
    EXPECT_LT((now.Kv.col(k) - by_v).norm(), 1e-8) << p.coordinates()[k];
    if (k < 7) continue;  // Coriolis terms are not differentiated by q
    const VectorXd rest = VectorXd::Zero(p.nv());
    const VectorXd by_q = (p.terms(q + d, rest).forces - p.terms(q - d, rest).forces) / (2 * h);
    EXPECT_LT((p.terms(q, rest).Kq.col(k) - by_q).norm(), 1e-7) << p.coordinates()[k];
  }
}

TEST(Planar, EnergyIsThePotentialOfItsForces) {
  PlanarMechanism p = everything();
  p.add(Spring{.name = "s", .body = 2, .other = 3, .at = {0.1, 0}, .stiffness = 3, .length = 0.4});
  std::srand(7);
  const VectorXd q = VectorXd::Random(p.nv()), rest = VectorXd::Zero(p.nv());
  const double h = 1e-6;
  for (int k = 0; k < p.nv(); ++k) {
    const VectorXd d = h * VectorXd::Unit(p.nv(), k);
    EXPECT_NEAR(p.terms(q, rest).forces[k],
                -(p.potential_energy(q + d) - p.potential_energy(q - d)) / (2 * h), 1e-7);
  }
}

TEST(Planar, GapsAloneAreThoseOfTheTerms) {
  const PlanarMechanism p = everything();
  std::srand(8);
  const VectorXd q = VectorXd::Random(p.nv());
  const Terms all = p.terms(q, VectorXd::Random(p.nv()));
  VectorXd contact, joint;
  p.gaps(q, contact, joint);
  for (std::size_t i = 0; i < all.contacts.size(); ++i) EXPECT_EQ(contact[i], all.contacts[i].phi);
  EXPECT_EQ(joint, all.joint_gap);
}

TEST(Planar, ThePolygonsGapIsTheSignedDistance) {
  PlanarMechanism p;
  p.add(Body{.name = "point", .mass = 1, .inertia = 1});
  p.add(ContactPair{"c", {0}, Polygon{kWorld, {{0, 0}, {2, 0}, {2, 1}, {0, 1}}}, 0});
  const auto gap = [&](double x, double y) {
    return p.terms(Eigen::Vector3d(x, y, 0.3), VectorXd::Zero(3)).contacts[0];
  };
  EXPECT_DOUBLE_EQ(gap(1, 1.5).phi, 0.5);
  EXPECT_DOUBLE_EQ(gap(1, 0.75).phi, -0.25);
  EXPECT_DOUBLE_EQ(gap(5, 5).phi, 5);
  EXPECT_DOUBLE_EQ(gap(-0.25, 0.5).phi, 0.25);
  EXPECT_LT((gap(5, 5).normal.head<2>() - Vector2d(0.6, 0.8)).norm(), 1e-15);
}

TEST(Planar, BodiesThatNothingCouplesAreGroupsOfTheirOwn) {
  PlanarMechanism p = everything();
  EXPECT_EQ(p.groups(), (std::vector<int>{0, 5}));
  p.add(Body{.name = "free", .mass = 1, .inertia = 1});
  EXPECT_EQ(p.groups(), (std::vector<int>{0, 5, 8}));
  p.add(Spring{.name = "s", .body = 0, .other = 3, .stiffness = 1});
  EXPECT_EQ(p.groups(), (std::vector<int>{0, 8}));
}

}  // namespace
}  // namespace routh
