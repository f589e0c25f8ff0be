#include "routh/simulate/motion_derivative.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "routh/io/methods.h"
#include "routh/model/planar.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

/// A disc above a rough floor.
PlanarMechanism disc() {
  PlanarMechanism m;
  m.add(Body{.name = "disc", .mass = 2, .inertia = 0.01});
  m.add(ContactPair{"rim", Round{0, {0, 0}, 0.1}, Edge{}, 0.3});
  return m;
}

VectorXd end_of(const System& system, const VectorXd& x, const HybridOptions& options) {
  const Eigen::Index nv = system.nv();
  const Trajectory t = simulate(system, {0, x.head(nv), x.tail(nv)}, options);
  VectorXd end(2 * nv);
  end << t.final.q, t.final.v;
  return end;
}

/// D against central differences of whole executions.
void compare(const System& system, const VectorXd& q, const VectorXd& v, double end) {
  const HybridOptions options{.end = end, .rtol = 1e-11, .atol = 1e-12};
  const MotionDerivative d = derivative(system, {0, q, v}, options);
  ASSERT_TRUE(d.differentiable) << d.message;
  VectorXd x(q.size() + v.size());
  x << q, v;
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const VectorXd by = 1e-5 * VectorXd::Unit(x.size(), j);
    const VectorXd slope =
        (end_of(system, x + by, options) - end_of(system, x - by, options)) / 2e-5;
    EXPECT_LT((d.D.col(j) - slope).norm(), 1e-5 * (1 + slope.norm())) << "column " << j;
  }
}

TEST(HybridDerivative, OfADiscThatLandsSlidesAndRollsAgreesWithDifferences) {
  const VectorXd q = (VectorXd(3) << 0, 0.4, 0).finished();
  const VectorXd v = (VectorXd(3) << 5, 0.3, 0).finished();
  for (const double end : {0.1, 0.4, 1.5}) compare(disc(), q, v, end);  // flies, slides, rolls
  const MotionDerivative d = derivative(disc(), {0, q, v}, HybridOptions{.end = 1.5});
  ASSERT_EQ(d.jumps.size(), 2u);
  EXPECT_EQ(d.jumps[0].kind, EventKind::kImpact);
  EXPECT_EQ(d.jumps[1].kind, EventKind::kStick);
}

TEST(HybridDerivative, AnImpactMapsTheHeightToItsTimeOnTheFloor) {
  // without friction: after the impact height and vertical velocity are what the floor says
  PlanarMechanism m;
  m.add(Body{.name = "disc", .mass = 2, .inertia = 0.01});
  m.add(ContactPair{"rim", Round{0, {0, 0}, 0.1}, Edge{}, 0});
  const VectorXd q = (VectorXd(3) << 0, 0.4, 0).finished(), v = VectorXd::Unit(3, 0);
  const MotionDerivative d = derivative(m, {0, q, v}, HybridOptions{.end = 0.5});
  ASSERT_TRUE(d.differentiable) << d.message;
  EXPECT_LT(d.D.row(1).norm(), 1e-7);
  EXPECT_LT(d.D.row(4).norm(), 1e-7);
  EXPECT_NEAR(d.D(0, 3), 0.5, 1e-7);  // horizontally nothing acts
}

TEST(HybridDerivative, SaysWhereThereIsNone) {
  // a block flat on two corners: both close at once
  PlanarMechanism m;
  m.add(Body{.name = "block", .mass = 1, .inertia = 0.1});
  m.add(ContactPair{"l", Round{0, {-0.5, 0}, 0}, Edge{}, 0.5});
  m.add(ContactPair{"r", Round{0, {0.5, 0}, 0}, Edge{}, 0.5});
  const MotionDerivative d =
      derivative(m, {0, Eigen::Vector3d(0, 0.1, 0), VectorXd::Zero(3)}, HybridOptions{.end = 0.5});
  EXPECT_FALSE(d.differentiable);
  EXPECT_FALSE(d.D.allFinite());
  EXPECT_NE(d.message.find("l and r close at the same instant"), std::string::npos) << d.message;
}

TEST(HybridDerivative, LimbsWithoutMassAreRefused) {
  const io::Scenario s = io::load_scenario("rhex-ledge");
  EXPECT_THROW((void)derivative(*s.mechanism(), {0, s.q, s.v}, {.limbs = s.limbs()}),
               std::invalid_argument);
}

MotionDerivative selected(const std::string& name, double end) {
  const io::Scenario s = io::load_scenario(name);
  return *io::simulate(s, {0, s.q, s.v},
                       {.method = "event-selected", .end = end, .derivative = true, .exact = true})
              .derivative;
}

TEST(SelectedDerivative, ALegThatPushesAtOnceHasASaltationMatrix) {
  // f jumps by preload / mass: Ξ = 1 + Δf Dh / (Dh f), Dh = (-1, 0)
  const MotionDerivative d = selected("preloaded-hopper", 0.5);
  ASSERT_FALSE(d.jumps.empty());
  MatrixXd expected = MatrixXd::Identity(2, 2);
  expected(1, 0) = -20 / std::sqrt(2 * 9.81 * 0.3);
  EXPECT_LT((d.jumps[0].matrix - expected).norm(), 1e-6) << d.jumps[0].matrix;
}

TEST(SelectedDerivative, TwoGuardsInAConstantFieldHaveTheProductOfTheirMatrices) {
  const MotionDerivative d = selected("two-guards", 2.5);
  ASSERT_EQ(d.jumps.size(), 2u);
  EXPECT_TRUE(d.differentiable);
  EXPECT_LT((d.D - d.jumps[1].matrix * d.jumps[0].matrix).norm(), 1e-9);
}

}  // namespace
}  // namespace routh
