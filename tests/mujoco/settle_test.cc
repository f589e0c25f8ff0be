#include "routh/mujoco/settle.h"

#include <gtest/gtest.h>

#include "routh/simulate/reduce.h"

namespace routh::mujoco {
namespace {

using Eigen::VectorXd;

double deepest(const System& system, const VectorXd& q) {
  VectorXd contact, joint;
  system.gaps(q, contact, joint);
  double most = joint.size() ? joint.cwiseAbs().maxCoeff() : 0;
  return contact.size() ? std::max(most, -contact.minCoeff()) : most;
}

TEST(Settle, ABoxInTheFloorIsLiftedByItsDepthAndNotTurned) {
  const System system = System::from_text(R"(<mujoco><worldbody>
    <geom name='floor' type='plane' size='5 5 1'/>
    <body name='box' pos='1 2 .29'><freejoint/><geom type='box' size='.2 .2 .3'/></body>
    </worldbody></mujoco>)");
  const Settled settled = settle(system, system.home());
  EXPECT_TRUE(settled.moved && settled.reached);
  EXPECT_NEAR(settled.deepest, 0.01, 1e-12);
  VectorXd lifted = system.home().q;
  lifted[2] = 0.3;
  EXPECT_LT((settled.state.q - lifted).norm(), 1e-9) << settled.state.q.transpose();
  EXPECT_LT(settled.left_open, 1e-9);
}

TEST(Settle, ALegKeepsItsPostureWhereLiftingIsEnough) {
  const System system = System::from_text(R"(<mujoco><worldbody>
    <geom type='plane' size='5 5 1'/>
    <body pos='0 0 .49'><freejoint/><geom type='sphere' size='.1'/>
      <body pos='0 0 -.2'><joint type='hinge' axis='0 1 0'/>
        <geom name='foot' type='sphere' size='.1' pos='0 0 -.2'/></body></body>
    </worldbody></mujoco>)");
  const Settled settled = settle(system, system.home());
  EXPECT_TRUE(settled.reached);
  EXPECT_EQ(settled.joint_move, 0);
  EXPECT_LT(deepest(system, settled.state.q), 1e-9);
  EXPECT_NEAR(settled.state.q[2], 0.5, 1e-9);
}

TEST(Settle, ALimitMovesItsOwnJointAlone) {
  const System system = System::from_text(R"(<mujoco><compiler angle='radian'/><worldbody>
    <body><joint name='a' axis='0 1 0' limited='true' range='.25 1'/>
      <geom type='capsule' size='.02' fromto='0 0 0 .3 0 0' contype='0' conaffinity='0'/>
      <body pos='.3 0 0'><joint name='b' axis='0 1 0'/>
        <geom type='capsule' size='.02' fromto='0 0 0 .3 0 0' contype='0' conaffinity='0'/>
    </body></body></worldbody></mujoco>)");
  const Settled settled = settle(system, system.home());
  EXPECT_TRUE(settled.reached);
  EXPECT_EQ(settled.where, "a.lower");
  EXPECT_NEAR(settled.state.q[0], 0.25, 1e-9);
  EXPECT_NEAR(settled.state.q[1], 0, 1e-12);
}

TEST(Settle, AnOpenLoopIsClosed) {
  // two links whose ends should meet and are 5 mm apart
  const System system = System::from_text(R"(<mujoco><worldbody>
    <body name='l'><joint axis='0 1 0'/>
      <geom type='capsule' size='.01' fromto='0 0 0 .3 0 .3' contype='0' conaffinity='0'/></body>
    <body name='r' pos='.6 0 0'><joint axis='0 1 0'/><joint type='slide' axis='1 0 0'/>
      <geom type='capsule' size='.01' fromto='0 0 0 -.3 0 .3' contype='0' conaffinity='0'/></body>
    </worldbody>
    <equality><connect body1='l' body2='r' anchor='.3 0 .3'/></equality></mujoco>)");
  State start = system.home();
  start.q[2] = 0.005;
  const Settled settled = settle(system, start);
  EXPECT_TRUE(settled.reached);
  EXPECT_GT(settled.open, 0.004);
  EXPECT_LT(deepest(system, settled.state.q), 1e-9);
}

TEST(Settle, AStartWithoutOverlapStaysToTheBit) {
  const System system = System::from_text(R"(<mujoco><worldbody>
    <geom type='plane' size='5 5 1'/>
    <body pos='0 0 .5'><freejoint/><geom type='box' size='.2 .2 .3'/></body></worldbody></mujoco>)");
  const Settled settled = settle(system, system.home());
  EXPECT_FALSE(settled.moved);
  EXPECT_TRUE(settled.reached);
  EXPECT_EQ(settled.state.q, system.home().q);
}

}  // namespace
}  // namespace routh::mujoco
