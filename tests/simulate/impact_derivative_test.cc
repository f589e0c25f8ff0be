#include "routh/simulate/impact_derivative.h"

#include <gtest/gtest.h>

#include "routh/impact/simultaneous.h"
#include "routh/model/planar.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

struct LegParameters {
  double thigh = 2, shank = 1, mu = 0.3;
};

/// A thigh and a shank that swing about a hip, the foot on the floor.
PlanarMechanism leg(const LegParameters& p = {}) {
  PlanarMechanism m;
  m.add(Body{.name = "hip", .mass = 5, .inertia = 0.2});
  m.add(Body{.name = "thigh",
             .parent = 0,
             .joint = Joint::kRevolute,
             .mass = p.thigh,
             .inertia = 0.03,
             .centre = {0, -0.2}});
  m.add(Body{.name = "shank",
             .parent = 1,
             .joint = Joint::kRevolute,
             .at = {0, -0.4},
             .mass = p.shank,
             .inertia = 0.02,
             .centre = {0, -0.2}});
  m.add(ContactPair{"foot", Round{2, {0, -0.4}, 0.03}, Edge{}, p.mu});
  m.add(ContactPair{"knee", Round{1, {0, -0.4}, 0.03}, Edge{}, p.mu});
  return m;
}

const VectorXd kBent = (VectorXd(5) << 0, 0.5, 0, 0.5, -0.9).finished();
VectorXd falling(double forward) { return (VectorXd(5) << forward, -1, 0.2, 0.4, -0.3).finished(); }

/// v⁺ of the foot's impact, of the outcome nearest to another.
VectorXd after(const PlanarMechanism& m, const VectorXd& q, const VectorXd& v,
               const VectorXd& like) {
  const ReducedImpact reduced = reduce(m.terms(q, v), v, std::vector<int>{0});
  VectorXd nearest;
  for (const Outcome& o : simultaneous(reduced.problem).outcomes) {
    const VectorXd v_plus = reduced.lift(v, o.impulse);
    if (nearest.size() == 0 || (v_plus - like).norm() < (nearest - like).norm()) nearest = v_plus;
  }
  return nearest;
}

TEST(ImpactDerivative, AgreesWithDifferencesOfStateFrictionAndMass) {
  for (const double forward : {0.1, 3.0}) {  // sticks and slides
    const PlanarMechanism m = leg();
    const VectorXd v = falling(forward);
    const ReducedImpact reduced = reduce(m.terms(kBent, v), v, std::vector<int>{0});
    const SimultaneousResult all = simultaneous(reduced.problem);
    ASSERT_EQ(all.outcomes.size(), 1u);
    const VectorXd v_plus = reduced.lift(v, all.outcomes[0].impulse);
    const ImpactDerivative d = derivative(m, kBent, v, reduced, all.outcomes[0], masses(m));
    ASSERT_TRUE(d.smooth());
    ASSERT_TRUE(d.q.has_value());
    constexpr double h = 1e-5;
    for (int j = 0; j < 5; ++j) {
      const VectorXd e = h * VectorXd::Unit(5, j);
      const VectorXd by_v =
          (after(m, kBent, v + e, v_plus) - after(m, kBent, v - e, v_plus)) / (2 * h);
      EXPECT_LT((d.v.col(j) - by_v).norm(), 1e-8);
      const VectorXd by_q =
          (after(m, kBent + e, v, v_plus) - after(m, kBent - e, v, v_plus)) / (2 * h);
      EXPECT_LT((d.q->col(j) - by_q).norm(), 1e-6 * (1 + by_q.norm()));
    }
    const auto by = [&](const LegParameters& more, const LegParameters& less) {
      return VectorXd((after(leg(more), kBent, v, v_plus) - after(leg(less), kBent, v, v_plus)) /
                      (2 * h));
    };
    EXPECT_LT((d.friction.col(0) - by({.mu = 0.3 + h}, {.mu = 0.3 - h})).norm(), 1e-8);
    ASSERT_EQ(d.bodies, (std::vector<std::string>{"hip", "thigh", "shank"}));
    EXPECT_LT((d.mass.col(1) - by({.thigh = 2 + h}, {.thigh = 2 - h})).norm(), 1e-8);
    EXPECT_LT((d.mass.col(2) - by({.shank = 1 + h}, {.shank = 1 - h})).norm(), 1e-8);
  }
}

TEST(ImpactDerivative, AFootThatSticksDoesNotFeelFriction) {
  const PlanarMechanism m = leg();
  const VectorXd v = falling(0.1);
  const ReducedImpact reduced = reduce(m.terms(kBent, v), v, std::vector<int>{0});
  const Outcome o = simultaneous(reduced.problem).outcomes.front();
  ASSERT_LT(std::abs(o.c_plus[1]), 1e-12);
  const ImpactDerivative d = derivative(reduced, o);
  EXPECT_EQ(d.friction.norm(), 0);
  EXPECT_LT((reduced.J * d.v).norm(), 1e-12);  // the foot stays at rest whatever came
  EXPECT_FALSE(d.q.has_value());
}

TEST(Masses, MakeOneBodyHeavierAtATime) {
  const PlanarMechanism m = leg();
  const Masses all = masses(m);
  ASSERT_EQ(all.bodies, (std::vector<std::string>{"hip", "thigh", "shank"}));
  EXPECT_EQ(all.by, 8);
  const VectorXd v = falling(1);
  for (const std::size_t body : {1, 2, 1}) {  // and what was heavier is no longer
    const PlanarMechanism other = body == 1 ? leg({.thigh = 10}) : leg({.shank = 9});
    const Terms expected = other.terms(kBent, v), got = all.heavier(body).terms(kBent, v);
    EXPECT_EQ(got.M, expected.M);
    EXPECT_EQ(got.forces, expected.forces);
  }
}

}  // namespace
}  // namespace routh
