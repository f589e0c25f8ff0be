// A user's System in space, its contacts listed once: a second tangent is honoured or refused,
// never dropped.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "routh/simulate/compliant.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/spring_contacts.h"
#include "routh/simulate/time_stepping.h"
#include "slope.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVector3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A point of mass 1 kg over the floor z = 0.
struct PointInSpace : System {
  int tangents = 2;
  double mu = 0.5;

  int nq() const override { return 3; }
  int nv() const override { return 3; }
  void evaluate(double, const VectorXd& q, const VectorXd&, Terms& terms,
                const Wanted&) const override {
    terms.M = MatrixXd::Identity(3, 3);
    terms.forces = Vector3d(0, 0, -9.81);
    terms.A.resize(0, 3);
    terms.joint_gap.resize(0), terms.joint_bias.resize(0);
    terms.contacts.resize(1);
    terms.contacts[0].name = "tip";
    terms.contacts[0].phi = q[2];
    terms.contacts[0].Jn = RowVector3d::UnitZ();
    terms.contacts[0].Jt = MatrixXd::Identity(tangents, 3);
    terms.contacts[0].mu = mu;
  }
};

std::string message(const auto& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

// It slides along y, the second tangent: it brakes by μ g and stops.
TEST(TwoTangents, TimeSteppingBrakesAlongBoth) {
  const PointInSpace point;
  for (const int along : {0, 1}) {
    const State start{0, Vector3d::Zero(), Vector3d::Unit(along)};
    const Trajectory t =
        simulate(point, start, TimeSteppingOptions{.h = 1e-3, .alpha = 1, .end = 0.1});
    EXPECT_EQ(t.status, SimulationStatus::kDone);
    EXPECT_NEAR(t.final.v[along], 1 - 0.5 * 9.81 * 0.1, 1e-9);
    EXPECT_NEAR(t.final.v[1 - along], 0, 1e-9);
  }
}

TEST(TwoTangents, AnImpactCountsContactsByTheirPlace) {
  const PointInSpace point;
  const State start{0, Vector3d(0, 0, 0.1), Vector3d(0, 1, 0)};
  const Trajectory t = simulate(point, start, TimeSteppingOptions{.h = 1e-3, .end = 0.3});
  ASSERT_FALSE(t.events.empty());
  EXPECT_EQ(t.events[0].contacts, std::vector<int>{0});
  EXPECT_TRUE(t.contact_names.empty());
  EXPECT_EQ(t.events[0].impulse.size(), 3);
  // sticking takes 1 N s, friction gives at most μ times the normal impulse
  EXPECT_NEAR(t.events[0].impulse[2], -0.5 * t.events[0].impulse[0], 1e-9);
}

TEST(TwoTangents, OtherMethodsRefuseThemNamingTheContact) {
  const PointInSpace point;
  const State start{0, Vector3d::Zero(), Vector3d(0, 1, 0)};
  for (const std::string& said :
       {message([&] { (void)simulate(point, start, HybridOptions{.end = 0.1}); }),
        message([&] { (void)instant(point, start, {}); }),
        message([&] { (void)simulate(point, start, CompliantOptions{.stiffness = {1e4}}); })}) {
    EXPECT_NE(said.find("contact tip has 2"), std::string::npos) << said;
    EXPECT_NE(said.find("time-stepping"), std::string::npos) << said;
  }
}

TEST(TwoTangents, WithoutFrictionTheyDoNotMatter) {
  PointInSpace point;
  point.mu = 0;
  const State start{0, Vector3d(0, 0, 0.1), Vector3d(0, 1, 0)};
  const Trajectory flat = simulate(point, start, TimeSteppingOptions{.h = 1e-3, .end = 0.3});
  const Trajectory hybrid = simulate(point, start, HybridOptions{.end = 0.3, .every = 0.1});
  EXPECT_EQ(flat.status, SimulationStatus::kDone);
  EXPECT_NEAR(flat.final.v[1], 1, 1e-12);
  EXPECT_NEAR(hybrid.final.v[1], 1, 1e-12);
  EXPECT_NEAR(flat.final.q[2], 0, 1e-9);
}

TEST(TwoTangents, ContactsOfOneImpactHaveTheSameNumber) {
  const PointInSpace point;
  Terms terms = point.terms(Vector3d::Zero(), Vector3d(0, 0, -1));
  terms.contacts.push_back(terms.contacts[0]);
  terms.contacts[1].name = "heel";
  terms.contacts[1].Jt = MatrixXd::Identity(1, 3);
  const Vector3d v(0, 0, -1);
  EXPECT_NE(message([&] { (void)reduce(terms, v); }).find("contact heel has 1 tangent"),
            std::string::npos);
  terms.contacts[1].mu = 0;  // a limit: any number will do
  EXPECT_EQ(reduce(terms, v).problem.tangents, 2);
  const VectorXd impulse = VectorXd::LinSpaced(6, 1, 6);
  VectorXd turned(6);
  turned << 1, 3, 4, 2, 5, 6;
  EXPECT_EQ(in_turn(reduce(terms, v).problem, impulse, 2), turned);
}

/// The same point with its angle about z as a pair (cos, sin): nq is 5, nv is 4.
struct PointOnManifold final : PointInSpace {
  int nq() const override { return 5; }
  int nv() const override { return 4; }
  void evaluate(double t, const VectorXd& q, const VectorXd& v, Terms& terms,
                const Wanted& wanted) const override {
    PointInSpace::evaluate(t, q.head(3), v.head(3), terms, wanted);
    const MatrixXd Jt = terms.contacts[0].Jt;
    terms.M = MatrixXd::Identity(4, 4);
    terms.forces = Eigen::Vector4d(0, 0, -9.81, 0);
    terms.A.resize(0, 4);
    terms.contacts[0].Jn = Eigen::RowVector4d::Unit(2);
    terms.contacts[0].Jt = MatrixXd::Identity(tangents, 4);
  }
  void integrate(VectorXd& q, const VectorXd& v, double dt) const override {
    q.head(3) += dt * v.head(3);
    q.tail(2) = Eigen::Rotation2Dd(dt * v[3]) * Eigen::Vector2d(q.tail(2));
  }
};

TEST(Manifold, CoordinatesThatAreNotIntegralsOfVelocitiesAreIntegratedOrRefused) {
  PointOnManifold point;
  State start{0, VectorXd::Unit(5, 3), VectorXd::Unit(4, 3)};
  const Trajectory t = simulate(point, start, TimeSteppingOptions{.h = 1e-3, .end = 0.5});
  EXPECT_NEAR(t.final.q[3], std::cos(0.5), 1e-12);
  EXPECT_NEAR(t.final.q[4], std::sin(0.5), 1e-12);
  EXPECT_THROW((void)simulate(point, start, HybridOptions{.end = 1}), std::invalid_argument);
  EXPECT_THROW((void)simulate(point, start, CompliantOptions{.stiffness = {1e4}}),
               std::invalid_argument);
  EXPECT_THROW((void)simulate(point, start, SpringContactOptions{}), std::invalid_argument);
  // one tangent will do as well: the point slides freely across it
  point.tangents = 1;
  start.v = VectorXd::Ones(4) - VectorXd::Unit(4, 2);
  const Trajectory one =
      simulate(point, start, TimeSteppingOptions{.h = 1e-3, .alpha = 1, .end = 0.1});
  EXPECT_NEAR(one.final.v[0], 1 - 0.5 * 9.81 * 0.1, 1e-9);
  EXPECT_NEAR(one.final.v[1], 1, 1e-12);
}

/// A point in the plane that slides and falls; its contact is listed when it is near.
struct PointThatFindsTheFloor final : System {
  bool found_anew = true;

  int nq() const override { return 2; }
  int nv() const override { return 2; }
  bool contacts_vary() const override { return found_anew; }
  void evaluate(double, const VectorXd& q, const VectorXd&, Terms& terms,
                const Wanted&) const override {
    terms.M = MatrixXd::Identity(2, 2);
    terms.forces = Eigen::Vector2d(0, -9.81);
    terms.A.resize(0, 2);
    terms.joint_gap.resize(0), terms.joint_bias.resize(0);
    terms.contacts.clear();
    if (found_anew && q[1] > 0.01) return;
    terms.contacts.push_back({.name = "tip",
                              .phi = q[1],
                              .Jn = Eigen::RowVector2d::UnitY(),
                              .Jt = MatrixXd(Eigen::RowVector2d::UnitX()),
                              .mu = 0.5,
                              .id = 7});
  }
};

TEST(ContactsThatVary, InThePlaneMoveAsThoseThatStay) {
  PointThatFindsTheFloor point;
  const State start{0, Eigen::Vector2d(0, 0.1), Eigen::Vector2d(2, 0)};
  for (const double alpha : {0.5, 1.0}) {
    const TimeSteppingOptions options{
        .h = 1e-3, .alpha = alpha, .end = 0.4, .detection = true, .impulses = true};
    point.found_anew = false;
    const Trajectory stays = simulate(point, start, options);
    point.found_anew = true;
    const Trajectory varies = simulate(point, start, options);
    EXPECT_LT((stays.final.q - varies.final.q).norm(), 1e-12) << alpha;
    EXPECT_LT((stays.final.v - varies.final.v).norm(), 1e-12) << alpha;
    ASSERT_EQ(stays.events.size(), varies.events.size()) << alpha;
    for (std::size_t k = 0; k < stays.events.size(); ++k) {
      EXPECT_EQ(stays.events[k].kind, varies.events[k].kind);
      EXPECT_NEAR(stays.events[k].time, varies.events[k].time, 1e-12);
      EXPECT_EQ(varies.events[k].impulse.size(), 2);
    }
    EXPECT_EQ(varies.contact_names, std::vector<std::string>{"tip"});
  }
}

/// A knife edge under the centre of a body, P3 section 2: it moves along itself alone, a row of A
/// that is no derivative of a gap.
struct Sleigh final : System {
  int nq() const override { return 3; }
  int nv() const override { return 3; }
  void evaluate(double, const VectorXd& q, const VectorXd& v, Terms& terms,
                const Wanted&) const override {
    terms.M = Vector3d(2, 2, 0.3).asDiagonal();
    terms.forces = Vector3d::Zero();
    terms.A = RowVector3d(-std::sin(q[2]), std::cos(q[2]), 0);
    terms.joint_gap = VectorXd::Zero(1);
    terms.joint_bias =
        VectorXd::Constant(1, -v[2] * (std::cos(q[2]) * v[0] + std::sin(q[2]) * v[1]));
  }
};

// It keeps its speed and its turning: a circle.
TEST(NonHolonomicRows, ASleighGoesInACircleWithSecondOrder) {
  const Sleigh sleigh;
  const double speed = 1.5, turn = 2, end = 1.3;
  const State start{0, Vector3d::Zero(), Vector3d(speed, 0, turn)};
  const Vector3d exact(speed / turn * std::sin(turn * end),
                       speed / turn * (1 - std::cos(turn * end)), turn * end);
  std::vector<double> steps{1e-2, 5e-3, 2.5e-3, 1.25e-3}, errors;
  for (const double h : steps) {
    const Trajectory t = simulate(sleigh, start, TimeSteppingOptions{.h = h, .end = end});
    errors.push_back((t.final.q - exact).norm());
    EXPECT_NEAR(t.energy.back(), t.energy.front(), 1e-9 + 10 * h * h);
  }
  EXPECT_NEAR(slope(steps, errors), 2, 0.1);
}

}  // namespace
}  // namespace routh
