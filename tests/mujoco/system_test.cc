#include "routh/mujoco/system.h"

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "mujoco/worlds.h"
#include "routh/simulate/reduce.h"

namespace routh::mujoco {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// every kind of joint, spring, damper, actuator and tendon
const char* const kZoo = R"(
  <mujoco model='A zoo'><compiler angle='radian'/>
    <option density='1.2' viscosity='0.01' wind='1 0 0'/>
    <worldbody>
      <body name='free' pos='0 0 1'><freejoint/>
        <geom type='box' size='.1 .2 .3'/>
        <body name='ball' pos='.3 0 0'>
          <joint name='ball' type='ball' damping='.1' stiffness='2'/>
          <geom type='capsule' fromto='0 0 0 .3 0 0' size='.05'/>
          <site name='tip' pos='.3 0 0'/>
          <body name='hinge' pos='.4 0 0'>
            <joint name='hinge' axis='0 1 1' armature='.01' damping='.2' stiffness='3' springref='.2'/>
            <geom type='ellipsoid' size='.1 .05 .02' pos='.1 0 0'/>
          </body>
        </body>
      </body>
      <body name='cart' pos='2 0 0'>
        <joint name='slide' type='slide' axis='1 0 0' stiffness='5' damping='.4'/>
        <geom type='cylinder' size='.1 .1'/>
        <site name='hook' pos='0 0 .2'/>
      </body>
    </worldbody>
    <tendon><spatial name='rope' stiffness='4' damping='.3'><site site='tip'/><site site='hook'/></spatial></tendon>
    <actuator>
      <motor name='motor' joint='hinge' gear='3'/>
      <position name='servo' joint='slide' kp='20'/>
      <general name='pull' tendon='rope' biastype='affine' biasprm='0 -2 -1'/>
    </actuator>
  </mujoco>)";

TEST(MujocoSystem, AccelerationsAgreeWithMujocosForwardDynamics) {
  std::mt19937 random(7);
  std::vector<System> systems;
  systems.push_back(System::from_text(kZoo, "zoo.xml"));
  for (const char* name : {"quadruped", "biped", "gripper", "arm-and-boxes", "tower"})
    systems.emplace_back(std::string(ROUTH_SCENARIOS "/") + name + ".xml");
  for (System& system : systems) {
    std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model(mj_copyModel(nullptr, system.model()),
                                                              &mj_deleteModel);
    model->opt.disableflags |= mjDSBL_CONSTRAINT;
    const std::unique_ptr<mjData, decltype(&mj_deleteData)> data(mj_makeData(model.get()),
                                                                 &mj_deleteData);
    for (int trial = 0; trial < 20; ++trial) {
      VectorXd q = system.home().q;
      system.integrate(q, random_vector(random, system.nv()), 0.5);
      const VectorXd v = random_vector(random, system.nv(), 3),
                     control = random_vector(random, system.nu());
      std::copy(q.begin(), q.end(), data->qpos);
      std::copy(v.begin(), v.end(), data->qvel);
      std::copy(control.begin(), control.end(), data->ctrl);
      mj_forward(model.get(), data.get());
      const VectorXd expected = Eigen::Map<VectorXd>(data->qacc, model->nv);

      system.set_control(control);
      const Terms terms = system.terms(q, v);
      const VectorXd a = terms.M.ldlt().solve(terms.forces);
      EXPECT_LT((a - expected).norm(), 1e-9 * (1 + expected.norm())) << system.title();
    }
  }
}

TEST(MujocoSystem, VelocityDerivativesOfForcesHoldDampingAndServos) {
  // the zoo without air and fast motion: only dampers, servos and the rope depend on v
  const System system = world(
      "<body><joint name='a' damping='.3' stiffness='2'/><geom size='.1'/>"
      "<body pos='.3 0 0'><joint name='b' type='slide' axis='1 0 0' damping='.5'/>"
      "<geom size='.1'/></body></body>",
      "<actuator><general joint='b' gear='2' biastype='affine' biasprm='0 -7 -3'/></actuator>");
  const Terms terms = system.terms(VectorXd::Zero(2), VectorXd::Zero(2));
  EXPECT_NEAR(terms.Kv(0, 0), -0.3, 1e-14);
  EXPECT_NEAR(terms.Kv(1, 1), -0.5 - 4 * 3, 1e-14);
  EXPECT_NEAR(terms.Kq(0, 0), -2, 1e-14);
  EXPECT_NEAR(terms.Kq(1, 1), -4 * 7, 1e-14);
}

TEST(MujocoSystem, APointMassFallsWithGravity) {
  const System system = world(
      "<body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
      "<joint type='slide' axis='0 0 1'/><geom size='.1' mass='2.5'/></body>");
  const Terms terms = system.terms(Vector3d(1, 2, 3), Vector3d(4, 5, 6));
  EXPECT_TRUE(terms.M.isApprox(2.5 * MatrixXd::Identity(3, 3), 1e-14));
  EXPECT_LT((terms.forces - Vector3d(0, 0, -2.5 * 9.81)).norm(), 1e-12);
  EXPECT_NEAR(system.potential_energy(Vector3d(1, 2, 3)), 2.5 * 9.81 * 3, 1e-12);
}

TEST(MujocoSystem, InertiaOfASphereAndABoxIsTheClosedForm) {
  const System sphere = world("<body><freejoint/><geom size='.2' mass='3'/></body>");
  VectorXd diagonal(6);
  diagonal << 3, 3, 3, VectorXd::Constant(3, 0.4 * 3 * 0.04);
  EXPECT_LT(
      (sphere.terms(sphere.home().q, VectorXd::Zero(6)).M - MatrixXd(diagonal.asDiagonal())).norm(),
      1e-12);

  // the gyroscopic torque of a free box is -ω × I ω in its own frame
  const System box = world("<body><freejoint/><geom type='box' size='.1 .2 .3' mass='6'/></body>");
  const Vector3d I(6. / 12 * (.16 + .36), 6. / 12 * (.04 + .36), 6. / 12 * (.04 + .16));
  VectorXd v(6);
  v << 1, 2, 3, 0.5, -0.7, 0.9;
  const Terms terms = box.terms(box.home().q, v);
  const Vector3d w = v.tail<3>();
  EXPECT_LT((terms.M.diagonal().tail<3>() - I).norm(), 1e-12);
  EXPECT_LT((terms.forces.tail<3>() + w.cross(Vector3d(I.cwiseProduct(w)))).norm(), 1e-12);
}

TEST(MujocoSystem, ATwoLinkArmHasTheTextbooksEquations) {
  // uniform rods of length 1 and mass 1, angles from the horizontal, in the x-z plane
  const System arm = world(
      "<body><joint axis='0 -1 0'/>"
      "<inertial pos='.5 0 0' mass='1' diaginertia='1e-9 .08333333333333333 .08333333333333333'/>"
      "<body pos='1 0 0'><joint axis='0 -1 0'/>"
      "<inertial pos='.5 0 0' mass='1' diaginertia='1e-9 .08333333333333333 .08333333333333333'/>"
      "</body></body>");
  const double a = 0.3, b = 0.8, da = 1.1, db = -0.6, g = 9.81;
  const Terms terms = arm.terms(Eigen::Vector2d(a, b), Eigen::Vector2d(da, db));
  Eigen::Matrix2d M;
  M << 5. / 3 + cos(b), 1. / 3 + cos(b) / 2, 1. / 3 + cos(b) / 2, 1. / 3;
  const double h = sin(b) / 2;
  const Eigen::Vector2d forces(h * (2 * da * db + db * db) - g * (1.5 * cos(a) + cos(a + b) / 2),
                               -h * da * da - g * cos(a + b) / 2);
  EXPECT_LT((terms.M - M).norm(), 1e-12);
  EXPECT_LT((terms.forces - forces).norm(), 1e-12);
}

TEST(MujocoSystem, EnergyIsTheWorkOfForces) {
  // without damping, air and actuators forces at rest are minus the gradient of the energy
  const System system = world(
      "<body pos='0 0 1'><joint axis='0 1 0' stiffness='3' springref='.4'/>"
      "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.05'/>"
      "<body pos='.3 0 0'><joint axis='0 1 0'/>"
      "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.05'/></body></body>");
  const Eigen::Vector2d q(0.3, 0.5);
  const VectorXd forces = system.terms(q, VectorXd::Zero(2)).forces;
  for (int i = 0; i < 2; ++i) {
    const Eigen::Vector2d e = 1e-5 * Eigen::Vector2d::Unit(i);
    const double slope = (system.potential_energy(q + e) - system.potential_energy(q - e)) / 2e-5;
    EXPECT_NEAR(forces[i], -slope, 1e-8);
  }
}

TEST(MujocoSystem, NamesAreReadable) {
  const System system = world(
      "<geom type='plane' size='1 1 1'/>"
      "<body name='torso' pos='0 0 .1'><freejoint name='root'/><geom size='.1'/>"
      "<body name='head'><joint name='neck' type='ball'/><geom size='.05'/><geom size='.05'/>"
      "<geom type='box' size='.1 .1 .1'/></body>"
      "<body name='arm'><joint name='elbow'/><geom size='.05' mass='1'/></body>"
      "<body name='leg'><joint/><joint axis='0 1 0'/><geom type='box' size='.05 .1 .02' "
      "mass='1'/></body>"
      "</body>");
  const std::vector<std::string> q = {"torso.x",  "torso.y",  "torso.z",    "torso.qw",  "torso.qx",
                                      "torso.qy", "torso.qz", "neck.qw",    "neck.qx",   "neck.qy",
                                      "neck.qz",  "elbow",    "leg.hinge1", "leg.hinge2"};
  const std::vector<std::string> v = {"torso.vx", "torso.vy", "torso.vz",   "torso.wx",
                                      "torso.wy", "torso.wz", "neck.wx",    "neck.wy",
                                      "neck.wz",  "elbow",    "leg.hinge1", "leg.hinge2"};
  EXPECT_EQ(system.coordinate_names(), q);
  EXPECT_EQ(system.velocity_names(), v);
  EXPECT_TRUE(gaps_by_name(system, system.home().q).contains("torso/world.plane"));
}

TEST(MujocoSystem, CopiesStandAlone) {
  System first(ROUTH_SCENARIOS "/quadruped.xml");
  const State land = first.keyframe("land");
  const VectorXd before = first.terms(land.q, land.v).forces;
  System second = first;
  second.set_control("land");
  EXPECT_EQ(first.terms(land.q, land.v).forces, before);
  EXPECT_NE(second.terms(land.q, land.v).forces, before);
  // at the keyframe's pose its servos push nothing
  EXPECT_EQ(second.terms(land.q, VectorXd::Zero(18)).forces.tail(12).size(), 12);
  first = second;
  EXPECT_EQ(first.control(), second.control());
}

TEST(MujocoSystem, UrdfIsReadToo) {
  const System system = System::from_text(R"(
      <robot name='swing'><link name='base'/>
        <link name='rod'><inertial><origin xyz='0 0 -.5'/><mass value='2'/>
          <inertia ixx='.2' iyy='.2' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial></link>
        <joint name='pivot' type='continuous'><parent link='base'/><child link='rod'/>
          <axis xyz='0 1 0'/></joint></robot>)",
                                          "swing.urdf");
  EXPECT_EQ(system.coordinate_names(), std::vector<std::string>{"pivot"});
  EXPECT_NEAR(system.terms(VectorXd::Zero(1), VectorXd::Zero(1)).M(0, 0), 0.2 + 2 * 0.25, 1e-12);
}

TEST(MujocoBadInput, MissingFile) {
  EXPECT_NE(message([] { System("nowhere/robot.xml"); }).find("nowhere/robot.xml: no such file"),
            std::string::npos);
}

TEST(MujocoBadInput, InvalidModelGivesMujocosMessageWithFileAndLine) {
  const std::string said = message([] {
    System::from_text("<mujoco>\n<worldbody>\n<geam/>\n</worldbody>\n</mujoco>", "bad.xml");
  });
  EXPECT_NE(said.find("bad.xml"), std::string::npos) << said;
  EXPECT_NE(said.find("geam"), std::string::npos) << said;
  EXPECT_NE(said.find("line 3"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  for (const char* text : {"", "hello", "<mujoco>", "<html/>"})
    EXPECT_THROW(System::from_text(text), std::invalid_argument) << text;
}

TEST(MujocoSystem, TextMayHaveAnyName) {
  const std::string text =
      "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>";
  EXPECT_EQ(System::from_text(text, "far/away/robot.xml").nv(), 1);
  EXPECT_EQ(System::from_text(text, std::string(300, 'x')).nv(), 1);
  EXPECT_NE(message([] {
              System::from_text("<mujoco><oops/></mujoco>", "far/away/robot.xml");
            }).find("far/away/robot.xml: "),
            std::string::npos);
}

TEST(MujocoSystem, MocapBodiesAreWhereTheKeyframePutsThem) {
  System system = world(
      "<body name='hand' mocap='true' pos='0 0 5'><geom size='.1'/></body>"
      "<body name='ball'><freejoint/><geom size='.1'/></body>",
      "<keyframe><key name='near' mpos='0 0 -.2'/></keyframe>");
  const State home = system.home();
  EXPECT_TRUE(system.terms(home.q, home.v).contacts.empty());
  system.set_control("near");
  const System copy = system;
  ASSERT_EQ(copy.terms(home.q, home.v).contacts.size(), 1u);
  EXPECT_NEAR(copy.terms(home.q, home.v).contacts[0].phi, 0, 1e-15);
}

TEST(MujocoBadInput, MasslessMovingBodies) {
  const std::string said =
      message([] { world("<body name='ghost'><joint name='spin'/><site name='s'/></body>"); });
  EXPECT_NE(said.find("mass"), std::string::npos) << said;
  EXPECT_NE(said.find("ghost"), std::string::npos) << said;
  // two joints that repeat each other
  EXPECT_NE(
      message([] { world("<body><joint/><joint/><geom size='.1'/></body>"); }).find("singular"),
      std::string::npos);
  EXPECT_NE(message([] { world("<geom size='.1'/>"); }).find("nothing in it can move"),
            std::string::npos);
}

TEST(MujocoBadInput, KeyframesAndSizes) {
  System system(ROUTH_SCENARIOS "/quadruped.xml");
  const std::string said = message([&] { (void)system.keyframe("lnad"); });
  EXPECT_NE(said.find("no keyframe lnad; it has land, trot"), std::string::npos) << said;
  const VectorXd q = system.home().q, v = system.home().v;
  EXPECT_NE(
      message([&] { (void)system.terms(v, v); }).find("q has 18 entries, but the model has 19"),
      std::string::npos);
  EXPECT_NE(message([&] { (void)system.terms(q, q); }).find("v has 19 entries"), std::string::npos);
  EXPECT_THROW((void)system.terms(q * NAN, v), std::invalid_argument);
  EXPECT_THROW((void)system.terms(q, v * NAN), std::invalid_argument);
  EXPECT_THROW(system.set_control(VectorXd::Zero(3)), std::invalid_argument);
  EXPECT_THROW(system.set_control("lnad"), std::invalid_argument);
  // a keyframe of the wrong size is MuJoCo's to refuse
  const std::string size = message([] {
    world("<body><joint/><geom size='.1'/></body>",
          "<keyframe><key name='k' qpos='1 2'/></keyframe>");
  });
  EXPECT_NE(size.find("qpos"), std::string::npos) << size;
}

TEST(MujocoBadInput, DeepPenetrationIsNamed) {
  const System system(ROUTH_SCENARIOS "/thrown-box.xml");
  State state = system.keyframe("throw");
  state.q[2] -= 0.05;
  const std::string said = message([&] { (void)reduce(system.terms(state.q, state.v), state.v); });
  EXPECT_NE(said.find("box/floor:1 penetrates by 0.05"), std::string::npos) << said;
}

TEST(MujocoBadInput, MujocosOwnErrorsAreExceptions) {
  const System system(ROUTH_SCENARIOS "/thrown-box.xml");
  EXPECT_THROW(mju_error("stack overflow"), std::runtime_error);
}

}  // namespace
}  // namespace routh::mujoco
