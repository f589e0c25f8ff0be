// Files as their owners have them: includes, pictures, packages, and what is added to them.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "worlds.h"

namespace routh::mujoco {
namespace {

namespace fs = std::filesystem;

class Source : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("routh-source-") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  fs::path folder_;
};

const char* kTetra = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

std::string urdf(const std::string& mesh, const std::string& inside = "") {
  return "<?xml version='1.0'?>\n<robot name='bot'>" + inside +
         "<link name='base'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
         "ixz='0' iyz='0'/></inertial><visual><geometry><mesh filename='package://bot/a.dae'/>"
         "</geometry></visual><collision><geometry><mesh filename='" +
         mesh +
         "'/></geometry></collision></link>"
         "<link name='arm'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
         "ixz='0' iyz='0'/></inertial></link><joint name='j' type='revolute'><parent link='base'/>"
         "<child link='arm'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='1' "
         "velocity='1'/></joint></robot>";
}

TEST_F(Source, PicturesOnSurfacesNeedNotBeThere) {
  write("parts/body.xml",
        "<mujocoinclude><body pos='0 0 1'><freejoint/><geom size='.1' material='skin'/>"
        "</body></mujocoinclude>");
  const std::string path =
      write("scene.xml",
            "<mujoco><!-- <include file='none.xml'/> --><compiler texturedir='pictures'/>"
            "<asset><texture name='skin' type='2d' file='large.png'/><texture type='cube' "
            "file='sky.png'/><material name='skin' texture='skin' rgba='1 0 0 1'/>"
            "<material name='air' texture='sky'/></asset>"
            "<worldbody><geom type='plane' size='1 1 1' material='air'/><include "
            "file='parts/body.xml'/></worldbody></mujoco>");
  const System system(path);
  EXPECT_EQ(system.nv(), 6);
  EXPECT_EQ(system.shapes(system.home().q).back().colour, Eigen::Vector3d(1, 0, 0));
}

TEST_F(Source, MeshesOfAnMjcfFileWithPicturesAreFoundBesideIt) {
  write("assets/tetra.obj", kTetra);
  const std::string path =
      write("scene.xml",
            "<mujoco><compiler meshdir='assets'/><asset><texture name='t' type='2d' file='t.png'/>"
            "<mesh name='m' file='tetra.obj'/></asset><worldbody><body><freejoint/>"
            "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>");
  EXPECT_EQ(System(path).shapes(System(path).home().q).at(0).faces.size(), 4u);
}

TEST_F(Source, MeshesOfPackagesAreFoundAroundTheFile) {
  write("bot/meshes/tetra.obj", kTetra);
  for (const char* mesh : {"package://bot/meshes/tetra.obj", "../meshes/tetra.obj",
                           "package://other_name/meshes/tetra.obj"}) {
    const System system(write("bot/urdf/bot.urdf", urdf(mesh)));
    EXPECT_EQ(system.nv(), 1) << mesh;
    EXPECT_EQ(system.shapes(system.home().q).size(), 1u) << mesh;
  }
  const std::string path = write("bot/urdf/bot.urdf", urdf("package://bot/meshes/none.stl"));
  const std::string said = message([&] { System{path}; });
  EXPECT_NE(said.find("link base: the mesh package://bot/meshes/none.stl was not found"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("ROS_PACKAGE_PATH"), std::string::npos) << said;
}

TEST_F(Source, FilesOfTheCurrentFolderNeedNoFolderInTheirName) {
  write("tetra.obj", kTetra);
  write("bot.urdf", urdf("tetra.obj"));
  write("arm.xml",
        "<mujoco><asset><mesh name='m' file='tetra.obj'/></asset><worldbody><body name='base'>"
        "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(message([] { EXPECT_EQ(System("bot.urdf").nv(), 1); }), "no error");
  EXPECT_EQ(message([] { EXPECT_EQ(System("arm.xml", {.floating = true}).nv(), 6); }), "no error");
  fs::current_path(before);
}

TEST_F(Source, AUrdfFloatsAndGetsAFloor) {
  write("bot/meshes/tetra.obj", kTetra);
  const std::string path = write("bot/bot.urdf", urdf("package://bot/meshes/tetra.obj"));
  const System floating(path, {.floating = true});
  EXPECT_EQ(floating.nv(), 7);
  EXPECT_TRUE(floating.has_free_joint());
  EXPECT_FALSE(floating.has_ground());
  const System both(path, {.floating = true, .floor = true});
  EXPECT_EQ(both.nv(), 7);
  EXPECT_TRUE(both.has_ground());
  const Terms a = floating.terms(floating.home().q, Eigen::VectorXd::Zero(7)),
              b = both.terms(both.home().q, Eigen::VectorXd::Zero(7));
  EXPECT_LT((a.M - b.M).norm(), 1e-4 * a.M.norm());
  // a root that is fixed to a link called world
  const std::string fixed =
      write("fixed.urdf", urdf("bot/meshes/tetra.obj",
                               "<link name='world'/><joint name='f' type='fixed'><parent "
                               "link='world'/><child link='base'/></joint>"));
  EXPECT_EQ(System(fixed).nv(), 1);
  EXPECT_EQ(System(fixed, {.floating = true}).nv(), 7);
}

TEST_F(Source, AFloatingRootKeepsItsPlaceAndItsKeyframes) {
  const std::string path =
      write("arm.xml",
            "<mujoco><worldbody><body name='base' pos='1 2 3' euler='0 0 90'><geom size='.1'/>"
            "<body pos='0 0 .3'><joint axis='0 1 0'/><geom size='.1'/></body></body></worldbody>"
            "<keyframe><key name='k' qpos='.5' qvel='2'/></keyframe></mujoco>");
  const System system(path, {.floating = true, .floor = true});
  const State k = system.keyframe("k");
  Eigen::VectorXd q(8), v(7);
  q << 1, 2, 3, std::sqrt(0.5), 0, 0, std::sqrt(0.5), .5;
  v << 0, 0, 0, 0, 0, 0, 2;
  EXPECT_LT((k.q - q).norm(), 1e-12) << k.q.transpose();
  EXPECT_EQ(k.v, v);
  EXPECT_TRUE(system.has_ground());
}

TEST_F(Source, AdditionsThatHaveNoPlaceAreRefused) {
  const std::string path = write(
      "cart.xml",
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='cart'><joint type='slide'/>"
      "<geom size='.1'/></body></worldbody></mujoco>");
  EXPECT_NE(message([&] { System(path, {.floating = true}); }).find("cart moves"),
            std::string::npos);
  EXPECT_NE(message([&] { System(path, {.floor = true}); }).find("has a floor already"),
            std::string::npos);
}

TEST_F(Source, FilesThatIncludeThemselvesAreRefused) {
  write("a.xml", "<mujoco><include file='b.xml'/></mujoco>");
  write("b.xml", "<mujoco><include file='a.xml'/></mujoco>");
  const std::string path = (folder_ / "a.xml").string();
  EXPECT_THROW(System{path}, std::invalid_argument);
  EXPECT_THROW(System(path, {.floor = true}), std::invalid_argument);
}

TEST_F(Source, TruncatedFilesAreRefusedWithoutHarm) {
  const std::string whole =
      "<mujoco><asset><texture name='t' type='2d' file='t.png'/></asset><worldbody><body "
      "name=\"a>b\"><freejoint/><geom size='.1'/></body></worldbody></mujoco>";
  for (std::size_t n = 1; n < whole.size(); n += 3) {
    const std::string path = write("cut.xml", whole.substr(0, n));
    EXPECT_THROW(System(path, {.floating = true, .floor = true}), std::invalid_argument) << n;
    EXPECT_THROW(System{path}, std::invalid_argument) << n;
  }
  const std::string robot = urdf("a.obj");
  for (std::size_t n = 1; n < robot.size(); n += 11)
    EXPECT_THROW(System(write("cut.urdf", robot.substr(0, n)), {.floating = true}),
                 std::invalid_argument)
        << n;
}

}  // namespace
}  // namespace routh::mujoco
