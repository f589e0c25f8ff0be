#include "routh/mujoco/system.h"

#include <gtest/gtest.h>

namespace routh::mujoco {
namespace {

TEST(MujocoSystem, ABoxOnTheFloorTouchesWithFourCorners) {
  const System system = System::from_text(R"(
    <mujoco model='A box on the floor'><worldbody>
      <geom name='floor' type='plane' size='1 1 1'/>
      <body name='box' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='8'/></body>
    </worldbody></mujoco>)");
  const State home = system.home();
  const Terms terms = system.terms(home.q, home.v);
  ASSERT_EQ(terms.contacts.size(), 4u);
  EXPECT_EQ(terms.contacts[0].name, "box/floor:1");
  EXPECT_NEAR(terms.contacts[0].phi, 0, 1e-15);
  EXPECT_NEAR(terms.contacts[0].Jn[2], 1, 1e-15);
  EXPECT_NEAR(terms.contacts[0].normal.z(), 1, 1e-15);
  EXPECT_NEAR(terms.forces[2], -8 * 9.81, 1e-12);
}

}  // namespace
}  // namespace routh::mujoco
