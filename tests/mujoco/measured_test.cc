// MuJoCo's one outcome beside measured impacts, and its parameters fitted to them.

#include "routh/mujoco/measured.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace routh::mujoco {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// A cube of 0.1 m and its own kind of tumbling.
MeasuredImpact tossed(std::mt19937& random, int number) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  MeasuredImpact m{.name = std::to_string(number), .group = number, .tangents = 2};
  // in an order that no compiler chooses
  const Eigen::Vector4d turn = Eigen::Vector4d::NullaryExpr([&] { return uniform(random); });
  MeasuredPose pose{.orientation = Eigen::Quaterniond(turn).normalized(),
                    .gyration = Vector3d(0.0026, 0.0026, 0.0025),
                    .corners = {},
                    .radius = 0.003,
                    .from_space = Eigen::MatrixXd::Identity(6, 6)};
  for (const double x : {-1, 1})
    for (const double y : {-1, 1})
      for (const double z : {-1, 1}) pose.corners.push_back(0.047 * Vector3d(x, y, z));
  m.M = Eigen::MatrixXd::Identity(6, 6);
  m.M.diagonal().tail(3) = pose.gyration;
  m.J = Eigen::MatrixXd::Zero(3, 6);
  m.v_minus = VectorXd::NullaryExpr(6, [&] { return uniform(random); });
  m.v_minus.tail(3) *= 10;
  m.v_minus[2] = -1.5;
  m.pose = pose;
  return m;
}

VectorXd parameters(double friction, double timeconst, double dampratio) {
  return (VectorXd(5) << friction, timeconst, dampratio, 0.1, 1).finished();
}

// r" + 2 ζ ω r' + ω² r = 0 with ω = 1/(timeconst ζ) until the force, not the depth, is zero.
TEST(MeasuredPeer, ABallBouncesAsTheDampedSpringOfItsParameters) {
  MeasuredImpact m{.name = "ball", .tangents = 2};
  m.M = Eigen::MatrixXd::Identity(6, 6);
  m.pose = MeasuredPose{.orientation = Eigen::Quaterniond::Identity(),
                        .gyration = Vector3d::Ones(),
                        .corners = {Vector3d::Zero()},
                        .radius = 0.1,
                        .from_space = Eigen::MatrixXd::Identity(6, 6)};
  m.v_minus = -VectorXd::Unit(6, 2);
  const MeasuredPeer peer = measured_peer();
  for (const double z : {0.1, 0.3, 0.6}) {
    const VectorXd v = peer.predict(m, parameters(0.5, 0.01, z));
    const double root = std::sqrt(1 - z * z);
    const double swing = M_PI - std::atan2(2 * z * root, 1 - 2 * z * z);
    const double expected = std::exp(-z / root * swing);
    EXPECT_NEAR(v[2], expected, 0.03) << z;
    EXPECT_NEAR((v - v[2] * VectorXd::Unit(6, 2)).norm(), 0, 1e-12);
  }
}

// The corner that touches is where the pose says: an impulse there turns the body.
TEST(MeasuredPeer, ACornerBesideTheCentreTurnsTheBody) {
  MeasuredImpact m{.name = "rod", .tangents = 2};
  m.M = Eigen::MatrixXd::Identity(6, 6);
  m.M.diagonal().tail(3).setConstant(0.01);
  m.pose = MeasuredPose{.orientation = Eigen::Quaterniond::Identity(),
                        .gyration = Vector3d::Constant(0.01),
                        .corners = {Vector3d(0.1, 0, 0)},
                        .radius = 1e-3,
                        .from_space = Eigen::MatrixXd::Identity(6, 6)};
  m.v_minus = -VectorXd::Unit(6, 2);
  const VectorXd v = measured_peer().predict(m, parameters(0.01, 1e-3, 0.3));
  // Δvz = p, Δwy = -x p m/I, and the corner moves with vz - x wy
  const double p = v[2] + 1;
  EXPECT_GT(p, 0.5);
  EXPECT_NEAR(v[4], -0.1 * p / 0.01, 0.1);
  EXPECT_GT(v[2] - 0.1 * v[4], 0.2);
}

TEST(MeasuredPeer, ParametersThatMadeImpactsExplainThemAgain) {
  std::mt19937 random(1);
  const MeasuredPeer peer = measured_peer();
  const VectorXd truth = parameters(0.3, 0.004, 0.4);
  std::vector<MeasuredImpact> impacts;
  for (int k = 0; k < 8; ++k) {
    impacts.push_back(tossed(random, k));
    impacts.back().v_plus = peer.predict(impacts.back(), truth);
    ASSERT_EQ(impacts.back().v_plus.size(), 6);
    EXPECT_LE(energy_kept(impacts.back()), 1 + 1e-9);
    EXPECT_GT(kinetic_distance(impacts.back(), impacts.back().v_minus, impacts.back().v_plus), 0.1);
  }
  const PeerFit fit = fit_peer(impacts, peer);
  EXPECT_LE(fit.distance, 0.02);
  EXPECT_NEAR(fit.parameters[0], 0.3, 0.1);
  int asked = 0;
  (void)fit_peer(impacts, peer, [&] { return ++asked < 3; });
  EXPECT_EQ(asked, 3);
}

TEST(MeasuredPeer, AModelOfItsOwnStartsFromTheCoordinatesMeasured) {
  const auto system = std::make_shared<System>(System::from_text(R"(
    <mujoco><worldbody><geom type="plane" size="0 0 1"/>
      <body name="ball"><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>
    </worldbody></mujoco>)"));
  MeasuredImpact m{.name = "ball", .tangents = 2};
  m.q = (VectorXd(7) << 3, 0, 0.1, 1, 0, 0, 0).finished();
  m.v_minus = (VectorXd(6) << 0.2, 0, -1, 0, 0, 0).finished();
  const MeasuredPeer peer = measured_peer(system);
  const VectorXd rough = peer.predict(m, parameters(1, 0.01, 0.3)),
                 smooth = peer.predict(m, parameters(1e-4, 0.01, 0.3));
  EXPECT_GT(rough[2], 0.2);
  EXPECT_NEAR(rough[2], smooth[2], 0.01);
  EXPECT_NEAR(smooth[0], 0.2, 1e-3);
  EXPECT_NEAR(rough[0], 0.2 * 5 / 7, 0.02);  // rolls
  m.q = {};
  EXPECT_THROW((void)measured_peer().predict(m, parameters(1, 0.01, 0.3)), std::invalid_argument);
}

}  // namespace
}  // namespace routh::mujoco
