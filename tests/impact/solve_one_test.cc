// One solution of a step, whatever the number of contacts, the dimension and the start.
#include "routh/impact/solve_one.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/impact/modes.h"
#include "routh/impact/simultaneous.h"

namespace routh {
namespace {

using Eigen::VectorXd;

struct SolveOne : ::testing::TestWithParam<int> {  // tangents
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random); }
  VectorXd numbers(Eigen::Index n) {
    return VectorXd::NullaryExpr(n, [&] { return uniform(); });
  }
  std::mt19937 random{34};
};

// P1 Theorem 7: no step gains energy, whatever solves it.
TEST_P(SolveOne, StepsOfAnySizeAreSolved) {
  int unsolved = 0;
  for (int k = 0; k < 400; ++k) {
    const int m = 1 + k % 16;
    const ImpactProblem p =
        test::random_impact(random, m, 6 + k % 13, GetParam(), 3 + k % 10).problem;
    const VectorXd bound = numbers(m);
    OneSolver solver(p);
    const auto found = solver.solve(p.c, bound, VectorXd::Zero(p.c.size()), 1e-10);
    unsolved += !found;
    if (!found) continue;
    EXPECT_LE(residual(p, found->impulse, bound), 1e-10);
    EXPECT_LE(test::energy_change(p, found->impulse), 1e-9 * p.c.squaredNorm());
  }
  EXPECT_EQ(unsolved, 0);
}

TEST_P(SolveOne, IsOneThatEnumerationKnows) {
  for (int k = 0; k < 60; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 6, GetParam(), 6).problem;
    const VectorXd bound = numbers(2);
    OneSolver solver(p);
    const StepOutcomes all = enumerate_modes(p, bound);
    for (int start = 0; start < 3; ++start) {
      const VectorXd from = solver.start(start, bound, [&] { return uniform(); });
      const auto found = solver.solve(p.c, bound, from, 1e-10);
      ASSERT_TRUE(found) << k;
      EXPECT_TRUE(test::among(all.outcomes, found->c_plus, 1e-7)) << k;
    }
  }
}

// A problem with several outcomes shows them all to who asks often enough.
TEST_P(SolveOne, DependsOnTheStartWhereThereAreSeveral) {
  int several = 0, reached = 0, all = 0;
  for (int k = 0; k < 400 && several < 10; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 4, GetParam(), 6).problem;
    const SimultaneousResult known = simultaneous(p);
    if (known.outcomes.size() < 2 || !known.continua.empty()) continue;
    ++several;
    OneSolver solver(p);
    const double size = 2 * p.c.norm() / p.G.diagonal().head(2).mean();
    std::vector<Outcome> found;
    for (int start = 0; start < 300; ++start) {
      const VectorXd from = solver.start(size, {}, [&] { return uniform(); });
      if (auto one = solver.solve(p.c, {}, from, 1e-10)) insert_distinct(p, found, *one);
    }
    all += static_cast<int>(known.outcomes.size());
    reached += static_cast<int>(found.size());
  }
  EXPECT_GE(several, 5);
  EXPECT_EQ(reached, all) << reached << " of " << all;
}

// A slide joint leaves a contact no tangential motion, a fixed base no motion at all.
TEST_P(SolveOne, RowsThatNothingMovesAreLeftAlone) {
  for (int k = 0; k < 300; ++k) {
    const int m = 1 + k % 8;
    ImpactProblem p = test::random_impact(random, m, 3 * m, GetParam(), 8).problem;
    const auto hold = [&](int row) {
      p.G.row(row).setZero(), p.G.col(row).setZero();
      p.c[row] = 0;
    };
    const int held = k % m, t = p.tangent(held);
    if (k % 3 > 0) hold(held);
    for (int row = t; row < t + p.tangents && k % 3 < 2; ++row) hold(row);
    if (p.tangents == 2 && k % 5 == 0) p.edges = 0;
    const VectorXd bound = numbers(m);
    OneSolver solver(p);
    const auto found =
        solver.solve(p.c, bound, solver.start(1, bound, [&] { return uniform(); }), 1e-10);
    ASSERT_TRUE(solver.impulse().allFinite()) << k;
    ASSERT_TRUE(found) << k;
    EXPECT_TRUE(found->c_plus.allFinite());
  }
}

TEST(Residual, OfWhatIsNoNumberIsInfinite) {
  const ImpactProblem p = test::rocking_block();
  VectorXd impulse = VectorXd::Zero(4);
  for (const int row : {0, 3}) {
    impulse.setZero();
    impulse[row] = NAN;
    EXPECT_EQ(residual(p, impulse), HUGE_VAL);
  }
}

INSTANTIATE_TEST_SUITE_P(Tangents, SolveOne, ::testing::Values(1, 2));

}  // namespace
}  // namespace routh
