// Geometries as polygons: their corners lie on the surface, their faces look outwards.

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "routh/mujoco/system.h"

namespace routh::mujoco {
namespace {

using Eigen::Vector3d;

/// A body at `at` without rotation that has this geometry alone.
Surface of(const std::string& geom, const Vector3d& at = Vector3d(1, 2, 3),
           const std::string& assets = "") {
  const System system = System::from_text("<mujoco><asset>" + assets +
                                          "</asset><worldbody><body><freejoint/><geom mass='1' " +
                                          geom + "/></body></worldbody></mujoco>");
  Eigen::VectorXd q = system.home().q;
  q.head<3>() = at;
  const std::vector<Surface> shapes = system.shapes(q);
  EXPECT_EQ(shapes.size(), 1u);
  return shapes.at(0);
}

/// The enclosed volume; positive when faces look outwards.
double volume(const Surface& s) {
  double sum = 0;
  for (const std::vector<int>& face : s.faces) {
    for (std::size_t k = 1; k + 1 < face.size(); ++k)
      sum += s.vertices[face[0]].dot(s.vertices[face[k]].cross(s.vertices[face[k + 1]])) / 6;
  }
  return sum;
}

TEST(Shapes, CornersOfASphereLieOnIt) {
  const Surface s = of("type='sphere' size='0.3'");
  for (const Vector3d& p : s.vertices) EXPECT_NEAR((p - Vector3d(1, 2, 3)).norm(), 0.3, 1e-12);
  const double ball = 4.0 / 3 * EIGEN_PI * 0.027;
  EXPECT_LT(volume(s), ball);
  EXPECT_GT(volume(s), 0.9 * ball);
  EXPECT_FALSE(s.fixed);
}

TEST(Shapes, ABoxHasItsEightCorners) {
  const Surface s = of("type='box' size='0.1 0.2 0.3' rgba='1 0.5 0 1'");
  ASSERT_EQ(s.vertices.size(), 8u);
  for (const Vector3d& p : s.vertices)
    EXPECT_NEAR(((p - Vector3d(1, 2, 3)).cwiseAbs() - Vector3d(0.1, 0.2, 0.3)).norm(), 0, 1e-12);
  EXPECT_NEAR(volume(s), 0.2 * 0.4 * 0.6, 1e-12);
  EXPECT_NEAR((s.colour - Vector3d(1, 0.5, 0)).norm(), 0, 1e-6);
}

TEST(Shapes, CornersOfACapsuleKeepItsRadiusFromItsAxis) {
  const Surface s = of("type='capsule' size='0.1 0.4'", {0, 0, 0});
  double low = 0, high = 0;
  for (const Vector3d& p : s.vertices) {
    const double along = std::clamp(p.z(), -0.4, 0.4);
    EXPECT_NEAR((p - Vector3d(0, 0, along)).norm(), 0.1, 1e-12);
    low = std::min(low, p.z()), high = std::max(high, p.z());
  }
  EXPECT_NEAR(low, -0.5, 1e-12);
  EXPECT_NEAR(high, 0.5, 1e-12);
  EXPECT_GT(volume(s), 0.9 * EIGEN_PI * 0.01 * 0.8);
}

TEST(Shapes, CylindersAndEllipsoidsKeepTheirSurfaces) {
  for (const Vector3d& p : of("type='cylinder' size='0.2 0.5'", {0, 0, 0}).vertices) {
    EXPECT_NEAR(p.head<2>().norm(), 0.2, 1e-12);
    EXPECT_LE(std::abs(p.z()), 0.5 + 1e-12);
  }
  const Vector3d half(0.1, 0.2, 0.3);
  const Surface s = of("type='ellipsoid' size='0.1 0.2 0.3'", {0, 0, 0});
  for (const Vector3d& p : s.vertices) EXPECT_NEAR(p.cwiseQuotient(half).norm(), 1, 1e-12);
  EXPECT_GT(volume(s), 0);
}

TEST(Shapes, AMeshKeepsItsVolume) {
  const Surface s = of("type='mesh' mesh='tetra'", {1, 2, 3},
                       "<mesh name='tetra' vertex='0 0 0  1 0 0  0 1 0  0 0 1'/>");
  EXPECT_EQ(s.faces.size(), 4u);
  EXPECT_NEAR(volume(s), 1.0 / 6, 1e-6);
}

TEST(Shapes, ThePlaneIsTheGroundAndWhatIsHiddenIsLeftOut) {
  const System system = System::from_text(
      "<mujoco><worldbody><geom type='plane' size='0 0 1'/>"
      "<geom type='box' size='1 1 1' rgba='1 1 1 0'/><geom type='box' size='1 1 1' group='3'/>"
      "<body pos='0 0 1'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>");
  const std::vector<Surface> shapes = system.shapes(system.home().q);
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_TRUE(shapes[0].ground);
  EXPECT_TRUE(shapes[0].fixed);
  const std::vector<Vector3d>& p = shapes[0].vertices;
  EXPECT_GT((p[1] - p[0]).cross(p[2] - p[0]).z(), 0);
}

TEST(Shapes, ABodyWithoutPictureShowsWhatCollides) {
  const System system = System::from_text(
      "<mujoco><worldbody><geom type='plane' size='0 0 1'/>"
      "<body pos='0 0 1'><freejoint/><geom size='.1' group='3'/>"
      "<body><joint/><geom size='.1' group='2'/><geom size='.2' group='3'/></body></body>"
      "</worldbody></mujoco>");
  EXPECT_EQ(system.shapes(system.home().q).size(), 3u);
}

TEST(Shapes, AFineMeshIsDrawnNoFinerThanPixels) {
  // a ball of 20 000 faces: fewer are drawn, its volume stays
  std::string vertex, face;
  const int n = 100;
  for (int i = 0; i <= n; ++i) {
    for (int k = 0; k < n; ++k) {
      const double a = EIGEN_PI * i / n, b = 2 * EIGEN_PI * k / n;
      vertex += std::to_string(std::sin(a) * std::cos(b)) + " " +
                std::to_string(std::sin(a) * std::sin(b)) + " " + std::to_string(std::cos(a)) + " ";
      if (i == n) continue;
      const int p = i * n + k, right = i * n + (k + 1) % n;
      for (const int v : {p, p + n, right, right, p + n, right + n})
        face += std::to_string(v) + " ";
    }
  }
  const System system = System::from_text(
      "<mujoco><statistic extent='10'/><asset><mesh name='ball' vertex='" + vertex + "' face='" +
      face + "'/></asset><worldbody><body><freejoint/><geom mass='1' type='mesh' mesh='ball'/>" +
      "</body></worldbody></mujoco>");
  const Surface ball = system.shapes(system.home().q).at(0);
  EXPECT_LT(ball.faces.size(), 19000u);
  EXPECT_GT(ball.faces.size(), 1000u);
  EXPECT_NEAR(std::abs(volume(ball)), 4.0 / 3 * EIGEN_PI, 0.02);
}

TEST(Shapes, TheFasterBodyMovesAgainstTheOther) {
  const System system = System::from_text(
      "<mujoco><worldbody><geom name='floor' type='plane' size='0 0 1'/>"
      "<body pos='0 0 0.1'><freejoint/><geom name='ball' size='0.1'/></body></worldbody></mujoco>");
  Eigen::VectorXd v = Eigen::VectorXd::Zero(6);
  v.head<3>() = Vector3d(1, 2, -3);
  const State home = system.home();
  const Terms terms = system.terms(home.q, v);
  ASSERT_EQ(terms.contacts.size(), 1u);
  const Vector3d w = system.relative_velocity(terms.contacts[0], home.q, v);
  EXPECT_NEAR((w - Vector3d(1, 2, -3)).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace routh::mujoco
