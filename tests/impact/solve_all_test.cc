#include "routh/impact/solve_all.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/impact/modes.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The plain enumeration of all modes is the yardstick, also where rows depend on each other.
TEST(SolveAll, FindsWhatEnumerationFinds) {
  std::mt19937 random(151);
  int undecided = 0;  // where friction of 50 and dependent rows leave proofs to the last digits
  for (int k = 0; k < test::trials(600); ++k) {
    const int tangents = 1 + k % 2, m = tangents == 1 ? 1 + k / 2 % 4 : 1 + k / 2 % 2;
    const ImpactProblem p =
        test::random_impact(random, m, 2 + k / 3 % 6, tangents, k % 3 ? 8 : 4).problem;
    const StepOutcomes plain = enumerate_modes(p);
    const SolveAllResult found = solve_all(p);
    undecided += !found.complete;
    if (!plain.continua.empty() || !found.complete) continue;
    const double close = 1e-6 * p.c.norm();
    EXPECT_EQ(found.outcomes.size(), plain.outcomes.size()) << k;
    for (const Outcome& o : plain.outcomes)
      EXPECT_TRUE(test::among(found.outcomes, o.c_plus, close)) << k;
    for (const Outcome& o : found.outcomes) {
      EXPECT_LE(o.residual, 1e-10);
      EXPECT_LE(residual(p, o.impulse), 1e-10);
      EXPECT_TRUE(test::among(plain.outcomes, o.c_plus, close)) << k;
    }
  }
  EXPECT_LE(undecided, test::trials(600) / 100);
}

// Four feet on the ground: 18^4 modes, of which a few hundred programs are left.
TEST(SolveAll, FourContactsInSpaceAreSearchedToTheEnd) {
  std::mt19937 random(152);
  int programs = 0;
  for (int k = 0; k < 20; ++k) {
    const ImpactProblem p = test::random_impact(random, 4, 12, 2).problem;
    const SolveAllResult found = solve_all(p);
    EXPECT_TRUE(found.complete) << k;
    EXPECT_FALSE(found.outcomes.empty()) << k;
    programs += found.programs;
  }
  EXPECT_LT(programs, 20 * 4000);
}

TEST(SolveAll, UnitsDoNotMatter) {
  std::mt19937 random(153);
  for (const double mass : {1e-9, 1e9}) {
    const ImpactProblem p = test::random_impact(random, 3, 6, 2).problem;
    ImpactProblem q = p;
    q.G /= mass;
    EXPECT_EQ(solve_all(p).outcomes.size(), solve_all(q).outcomes.size());
  }
}

TEST(SolveAll, SaysThatItDidNotComeToAnEnd) {
  std::mt19937 random(154);
  const ImpactProblem p = test::random_impact(random, 4, 12, 2).problem;
  const SolveAllResult found = solve_all(p, {.max_programs = 5});
  EXPECT_FALSE(found.complete);
  EXPECT_GT(found.left, 0);
}

}  // namespace
}  // namespace routh
