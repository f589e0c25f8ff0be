#include "routh/impact/step_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "random_problem.h"
#include "routh/impact/simultaneous.h"
#include "routh/io/scenario.h"
#include "routh/simulate/time_stepping.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

Contact contact_of(const test::RandomImpact& r, int i) {
  const int m = r.problem.contacts();
  Contact contact;
  contact.Jn = r.J.row(i);
  contact.Jt = r.J.row(m + i);
  contact.mu = r.problem.mu[i];
  return contact;
}

void add(StepSolver& solver, const Contact& contact, const VectorXd& v) {
  solver.add_contact({contact.Jn, contact.Jt, contact.mu}, v, Grip::kStick);
}

TEST(StepSolver, FindsAnOutcomeOfTheSimultaneousLaw) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 300; ++trial) {
    const int m = 1 + trial % 4, nv = 2 + trial % 7;
    const test::RandomImpact r = test::random_impact(random, m, nv);
    StepSolver solver({0}, nv);
    solver.set_inertia(r.M);
    for (int i = 0; i < m; ++i) add(solver, contact_of(r, i), r.v);
    if (!solver.solve()) {
      // jammed: neither has the law itself an outcome
      EXPECT_TRUE(simultaneous(r.problem).outcomes.empty()) << trial;
      continue;
    }
    // the engine's own residual agrees, and the velocity is one of all outcomes
    VectorXd impulse(2 * m);
    for (int i = 0; i < m; ++i) {
      impulse[i] = solver.normal_impulse(i);
      impulse[m + i] = solver.tangential_impulse(i);
    }
    EXPECT_LT(residual(r.problem, impulse), 1e-8) << trial;
    EXPECT_LT((solver.velocity_change() - r.M.inverse() * r.J.transpose() * impulse).norm(), 1e-8);
  }
}

TEST(StepSolver, BilateralRowsAreKeptAndRedundantOnesDoNoHarm) {
  std::mt19937 random(12);
  for (int trial = 0; trial < 100; ++trial) {
    const int nv = 6;
    const test::RandomImpact r = test::random_impact(random, 2, nv);
    const MatrixXd A = MatrixXd::Random(2, nv);
    StepSolver solver({0}, nv);
    solver.set_inertia(r.M);
    for (int i = 0; i < 2; ++i) solver.add_bilateral(A.row(i), A.row(i).dot(r.v));
    solver.add_bilateral(2 * A.row(1), 2 * A.row(1).dot(r.v));  // says the same again
    for (int i = 0; i < 2; ++i) add(solver, contact_of(r, i), r.v);
    ASSERT_TRUE(solver.solve()) << trial;
    const VectorXd v = r.v + solver.velocity_change();
    EXPECT_LT((A * v).norm(), 1e-9);
    for (int i = 0; i < 2; ++i) EXPECT_GT(contact_of(r, i).Jn.dot(v), -1e-8);
  }
}

/// A random impact in space, solved with cones of so many edges.
StepSolver solved_in_space(const test::RandomImpact& r, int edges, const VectorXd& bound = {}) {
  const int m = r.problem.contacts();
  StepSolver solver({0}, static_cast<int>(r.v.size()));
  solver.set_edges(edges);
  solver.set_inertia(r.M);
  for (int i = 0; i < m; ++i) {
    Contact contact;
    contact.Jn = r.J.row(i);
    contact.Jt = r.J.middleRows(m + 2 * i, 2);
    contact.mu = r.problem.mu[i];
    add(solver, contact, r.v);
    if (bound.size()) solver.bound_impulse(i, bound[i]);
  }
  EXPECT_TRUE(solver.solve(1e-10)) << solver.residual();
  return solver;
}

VectorXd impulse_of(const StepSolver& solver) {
  const int m = solver.contacts();
  VectorXd impulse(3 * m);
  for (int i = 0; i < m; ++i) {
    impulse[i] = solver.normal_impulse(i);
    for (const int t : {0, 1}) impulse[m + 2 * i + t] = solver.tangential_impulse(i, t);
  }
  return impulse;
}

// Circular cones, polygons, and impulses with a bound: one solver, and the residual of the impact
// laws as its judge.
TEST(StepSolver, SolvesTheLawInSpaceWithAnyCone) {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const int m = 1 + trial % 6;
    test::RandomImpact r = test::random_impact(random, m, 3 * m + 2, 2);
    r.problem.mu = r.problem.mu.cwiseMin(1.5);
    const int edges = trial % 3 ? 3 + trial % 9 : 0;
    r.problem.edges = edges;
    EXPECT_LT(residual(r.problem, impulse_of(solved_in_space(r, edges))), 1e-8) << trial;

    VectorXd bound(m);
    for (double& b : bound) b = uniform(random);
    const VectorXd bounded = impulse_of(solved_in_space(r, edges, bound));
    EXPECT_LT(residual(r.problem, bounded, bound), 1e-8) << trial;
  }
}

// A table on sixteen legs: the impulses are many, the velocity is one.
TEST(StepSolver, RedundantContactsInSpaceShareTheLoad) {
  const int legs = 16;
  StepSolver solver({0}, 6);
  solver.set_inertia(MatrixXd::Identity(6, 6));
  VectorXd v = VectorXd::Zero(6);
  v << 0.3, 0.1, -1, 0.01, 0.02, 0.2;  // down, and turning about all axes
  for (int i = 0; i < legs; ++i) {
    const Eigen::Vector3d at(std::cos(0.4 * i), std::sin(0.4 * i), -0.5);
    Contact leg;
    const auto row = [&](const Eigen::Vector3d& d) {
      RowVectorXd J(6);
      J << d.transpose(), at.cross(d).transpose();
      return J;
    };
    leg.Jn = row(Eigen::Vector3d::UnitZ());
    leg.Jt.resize(2, 6);
    leg.Jt << row(Eigen::Vector3d::UnitX()), row(Eigen::Vector3d::UnitY());
    leg.mu = 0.8;
    add(solver, leg, v);
  }
  ASSERT_TRUE(solver.solve(1e-10));
  EXPECT_LT((v + solver.velocity_change()).norm(), 1e-9);  // all legs stick
}

/// Many groups in a chain give the same answer as one group, at a cost that grows with their
/// number.
TEST(StepSolver, GroupsDoNotChangeTheAnswer) {
  const io::Scenario s = io::load_scenario("box-stack", {{"n", 6}, {"drop", 0}, {"push", 0.3}});
  const Terms& terms = s.terms;
  const int nv = s.mechanism()->nv();
  StepSolver split(s.mechanism()->groups(), nv), whole({0}, nv);
  for (StepSolver* solver : {&split, &whole}) {
    solver->set_inertia(terms.M);
    const VectorXd v = s.v + 1e-3 * terms.M.inverse() * terms.forces;
    for (const Contact& c : terms.contacts) {
      if (c.phi < 1e-9) add(*solver, c, v);
    }
    ASSERT_TRUE(solver->solve());
  }
  EXPECT_EQ(s.mechanism()->groups().size(), 6u);
  EXPECT_LT((split.velocity_change() - whole.velocity_change()).norm(), 1e-12);
}

/// Thin plates on each other, each on a grid of points: as many contacts as one likes on few
/// bodies.
struct Plates {
  static constexpr int kGrid = 5;
  int count;
  VectorXd v = VectorXd::Zero(6 * count);

  std::vector<Contact> contacts() const {
    std::vector<Contact> all;
    for (int plate = 0; plate < count; ++plate) {
      for (int k = 0; k < kGrid * kGrid; ++k) {
        const double x = k % kGrid - 0.5 * (kGrid - 1), y = k / kGrid - 0.5 * (kGrid - 1);
        MatrixXd point(3, 6);
        point << 0, 0, 1, y, -x, 0, 1, 0, 0, 0, 0, -y, 0, 1, 0, 0, 0, x;
        MatrixXd rows = MatrixXd::Zero(3, 6 * count);
        rows.middleCols(6 * plate, 6) = point;
        if (plate > 0) rows.middleCols(6 * (plate - 1), 6) = -point;
        Contact contact;
        contact.Jn = rows.row(0);
        contact.Jt = rows.bottomRows(2);
        contact.mu = 0.5;
        all.push_back(contact);
      }
    }
    return all;
  }

  VectorXd after_impact() const {
    std::vector<int> groups;
    for (int plate = 0; plate < count; ++plate) groups.push_back(6 * plate);
    StepSolver solver(groups, 6 * count);
    solver.set_inertia(MatrixXd::Identity(6 * count, 6 * count));
    for (const Contact& contact : contacts()) add(solver, contact, v);
    EXPECT_TRUE(solver.solve()) << solver.residual();
    return v + solver.velocity_change();
  }
};

// Friction takes μ times the normal velocity; it acts at the height of the centre.
TEST(StepSolver, ManyContactsOfOneBodySlideAsOneWould) {
  Plates plate{1};
  plate.v.head<3>() << 8, 6, -1;
  VectorXd expected = VectorXd::Zero(6);
  expected.head<2>() << 8 - 0.5 * 0.8, 6 - 0.5 * 0.6;
  EXPECT_LT((plate.after_impact() - expected).norm(), 1e-8);
}

TEST(StepSolver, ManyContactsOfManyBodiesStopThem) {
  Plates plates{12};
  for (int plate = 0; plate < plates.count; ++plate) plates.v[6 * plate + 2] = -1;
  EXPECT_LT(plates.after_impact().norm(), 1e-8);
}

/// Balls stacked like oranges, square layers on a floor, of random masses: `side` at the bottom
/// edge. Each rests on four, so that there are more impulses than motions.
struct Oranges {
  static constexpr double kFriction = 1;
  explicit Oranges(int side) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(0.5, 2);
    for (int layer = 0; layer < side; ++layer) {
      for (int k = 0; k < (side - layer) * (side - layer); ++k) {
        const int x = k % (side - layer), y = k / (side - layer);
        centres.emplace_back(2 * x + layer, 2 * y + layer, 1 + layer * std::sqrt(2));
        mass.push_back(uniform(random));
      }
    }
    const int n = static_cast<int>(centres.size());
    M = VectorXd::Zero(6 * n);
    for (int b = 0; b < n; ++b) {
      M.segment<3>(6 * b).setConstant(mass[b]), M.segment<3>(6 * b + 3).setConstant(0.4 * mass[b]);
      if (centres[b].z() < 1.1) touch(b, -1, Eigen::Vector3d::UnitZ());
      for (int a = 0; a < b; ++a) {
        const Eigen::Vector3d apart = centres[b] - centres[a];
        if (apart.norm() < 2 + 1e-9) touch(b, a, apart.normalized());
      }
    }
  }
  void touch(int b, int a, const Eigen::Vector3d& normal) {
    const Eigen::Vector3d t = normal.unitOrthogonal(), across = normal.cross(t);
    const auto row = [&](const Eigen::Vector3d& d) {
      RowVectorXd J = RowVectorXd::Zero(M.size());
      J.segment<3>(6 * b) = d, J.segment<3>(6 * b + 3) = -normal.cross(d);
      if (a >= 0) J.segment<3>(6 * a) = -d, J.segment<3>(6 * a + 3) = -normal.cross(d);
      return J;
    };
    Contact contact;
    contact.Jn = row(normal);
    contact.Jt.resize(2, M.size());
    contact.Jt << row(t), row(across);
    contact.mu = kFriction;
    contacts.push_back(contact);
    if (a < 0) floor.push_back(static_cast<int>(contacts.size()) - 1);
  }
  StepSolver solved(const VectorXd& v) const {
    std::vector<int> groups;
    for (std::size_t b = 0; b < mass.size(); ++b) groups.push_back(static_cast<int>(6 * b));
    StepSolver solver(groups, static_cast<int>(M.size()));
    solver.set_inertia(M.asDiagonal());
    for (const Contact& contact : contacts)
      solver.add_contact({contact.Jn, contact.Jt, contact.mu}, v, {});
    EXPECT_TRUE(solver.solve(1e-8)) << solver.residual();
    return solver;
  }
  ImpactProblem problem(const VectorXd& v) const {
    const int m = static_cast<int>(contacts.size());
    MatrixXd J(3 * m, M.size());
    for (int i = 0; i < m; ++i)
      J.row(i) = contacts[i].Jn, J.middleRows(m + 2 * i, 2) = contacts[i].Jt;
    return {.G = J * M.cwiseInverse().asDiagonal() * J.transpose(),
            .c = J * v,
            .mu = VectorXd::Constant(m, kFriction),
            .tangents = 2,
            .edges = 0};
  }

  std::vector<Eigen::Vector3d> centres;
  std::vector<double> mass;
  VectorXd M;  // its diagonal
  std::vector<Contact> contacts;
  std::vector<int> floor;
};

TEST(StepSolver, APileWithoutAGuessRestsOnTheFloorWithAllItsWeight) {
  const Oranges pile(5);  // 55 balls, 145 contacts
  VectorXd v = VectorXd::Zero(pile.M.size());
  for (Eigen::Index k = 2; k < v.size(); k += 6) v[k] = -0.01;
  const StepSolver solver = pile.solved(v);
  EXPECT_LT(residual(pile.problem(v), impulse_of(solver)), 1e-8);
  EXPECT_LT((v + solver.velocity_change()).norm(), 1e-9);
  double weight = 0, carried = 0;
  for (const double mass : pile.mass) weight += 0.01 * mass;
  for (const int i : pile.floor) carried += solver.normal_impulse(i);
  EXPECT_NEAR(carried, weight, 1e-8 * weight);
}

// Where friction is strong the outcome need not be the same.
TEST(StepSolver, APileIsSolvedInAnyUnitsAndAnyOrderOfContacts) {
  for (const double unit : {1e-9, 1e9}) {
    Oranges pile(4);
    pile.M *= unit;
    std::mt19937 random(6);
    std::shuffle(pile.contacts.begin(), pile.contacts.end(), random);
    VectorXd v = VectorXd::Zero(pile.M.size());
    for (Eigen::Index k = 2; k < v.size(); k += 6) v[k] = -unit;
    EXPECT_LT(residual(pile.problem(v), impulse_of(pile.solved(v))), 1e-8) << unit;
  }
}

// Each ball with a velocity of its own: some slide, some part. Judged by the residual of the laws.
TEST(StepSolver, APileThatIsShakenIsSolved) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const Oranges pile(3);
  for (int trial = 0; trial < 5; ++trial) {
    VectorXd v(pile.M.size());
    for (double& x : v) x = 0.1 * normal(random);
    for (Eigen::Index k = 2; k < v.size(); k += 6) v[k] -= 1;
    EXPECT_LT(residual(pile.problem(v), impulse_of(pile.solved(v))), 1e-8) << trial;
  }
}

TEST(StepSolver, MissingInertiaIsNamed) {
  StepSolver solver({0}, 3);
  MatrixXd M = MatrixXd::Identity(3, 3);
  M(1, 1) = 0;
  try {
    solver.set_inertia(M);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("velocity 1"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace routh
