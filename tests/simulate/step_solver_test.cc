#include "routh/impact/step_solver.h"

#include <gtest/gtest.h>

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
  solver.add_contact({contact.Jn, contact.Jt, contact.mu}, v, StepMode::kStick);
}

TEST(StepSolver, FindsAnOutcomeOfTheSimultaneousLaw) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 300; ++trial) {
    const int m = 1 + trial % 4, nv = 2 + trial % 7;
    const test::RandomImpact r = test::random_impact(random, m, nv);
    StepSolver solver({0}, nv);
    solver.set_inertia(r.M);
    for (int i = 0; i < m; ++i)
      add(solver, contact_of(r, i), r.v);
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
    for (int i = 0; i < 2; ++i)
      add(solver, contact_of(r, i), r.v);
    ASSERT_TRUE(solver.solve()) << trial;
    const VectorXd v = r.v + solver.velocity_change();
    EXPECT_LT((A * v).norm(), 1e-9);
    for (int i = 0; i < 2; ++i) EXPECT_GT(contact_of(r, i).Jn.dot(v), -1e-8);
  }
}

/// Many groups in a chain give the same answer as one group, at a cost that grows with their
/// number.
TEST(StepSolver, GroupsDoNotChangeTheAnswer) {
  const io::Scenario s = io::load_scenario("box-stack", {{"n", 6}, {"drop", 0}, {"push", 0.3}});
  const Terms& terms = s.terms;
  const int nv = s.mechanism->nv();
  StepSolver split(s.mechanism->groups(), nv), whole({0}, nv);
  for (StepSolver* solver : {&split, &whole}) {
    solver->set_inertia(terms.M);
    const VectorXd v = s.v + 1e-3 * terms.M.inverse() * terms.forces;
    for (const Contact& c : terms.contacts) {
      if (c.phi < 1e-9) add(*solver, c, v);
    }
    ASSERT_TRUE(solver->solve());
  }
  EXPECT_EQ(s.mechanism->groups().size(), 6u);
  EXPECT_LT((split.velocity_change() - whole.velocity_change()).norm(), 1e-12);
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
