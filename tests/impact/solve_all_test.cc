#include "routh/impact/solve_all.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/impact/modes.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/solve_one.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The plain enumeration of all modes is the yardstick, also where rows depend on each other.
TEST(SolveAll, FindsWhatEnumerationFinds) {
  std::mt19937 random(151);
  constexpr int kEdges[] = {8, 4, 5, 3};
  int undecided = 0;  // where friction of 50 and dependent rows leave proofs to the last digits
  for (int k = 0; k < test::trials(600); ++k) {
    const int tangents = 1 + k % 2, m = tangents == 1 ? 1 + k / 2 % 4 : 1 + k / 2 % 2;
    const ImpactProblem p =
        test::random_impact(random, m, 2 + k / 3 % 6, tangents, kEdges[k / 4 % 4]).problem;
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

// A robot lands on two flat feet: each velocity of a foot's four corners follows from six, their
// impulses do not follow from anything, and 18^8 combinations of modes are too many to try.
TEST(SolveAll, TwoFlatFeetAreSearchedToTheEnd) {
  std::mt19937 random(155);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 3; ++k) {
    MatrixXd J = MatrixXd::Zero(24, 12);  // of eight corners, over the twists of both feet
    for (int i = 0; i < 8; ++i) {
      const double x = i % 2 ? 0.1 : -0.1, y = i / 2 % 2 ? 0.05 : -0.05;
      const int foot = i / 4 * 6, t = 8 + 2 * i;
      J.row(i).segment<6>(foot) << 0, 0, 1, y, -x, 0;
      J.row(t).segment<6>(foot) << 1, 0, 0, 0, 0, -y;
      J.row(t + 1).segment<6>(foot) << 0, 1, 0, 0, 0, x;
    }
    MatrixXd root = MatrixXd::NullaryExpr(12, 12, [&] { return normal(random); });
    VectorXd v = VectorXd::NullaryExpr(12, [&] { return 0.1 * normal(random); });
    v[2] = v[8] = -1;
    const MatrixXd W = MatrixXd::Identity(12, 12) + 0.05 * root * root.transpose();
    const ImpactProblem p{.G = J * W * J.transpose(),
                          .c = J * v,
                          .mu = VectorXd::Constant(8, 0.7),
                          .tangents = 2,
                          .edges = 8};
    const SolveAllResult found = solve_all(p);
    EXPECT_TRUE(found.complete) << k << ": " << found.programs << " programs";
    EXPECT_FALSE(found.outcomes.empty()) << k;
  }
}

// Feet that cannot move along their normals, rows that depend on each other: whole continua of
// velocities, with the same corners, each once.
TEST(SolveAll, ContinuaHaveTheCornersThatEnumerationFinds) {
  std::mt19937 random(156);
  std::uniform_int_distribution<int> integer(-2, 2);
  int continua = 0;
  for (int k = 0; k < test::trials(600); ++k) {
    const int tangents = 1 + k % 2, m = 1 + k / 2 % (tangents == 1 ? 3 : 2), nv = 1 + k / 3 % 6;
    MatrixXd J = MatrixXd::NullaryExpr((1 + tangents) * m, nv, [&] { return integer(random); });
    if (k % 2) J.row(k / 2 % m).setZero();
    const VectorXd v = VectorXd::NullaryExpr(nv, [&] { return integer(random); });
    const ImpactProblem p{.G = J * J.transpose(),
                          .c = J * v,
                          .mu = VectorXd::Constant(m, 0.25 + 0.25 * (k % 5)),
                          .tangents = tangents,
                          .edges = k % 8 < 4 ? 4 : 8};
    if (p.c.isZero(0)) continue;
    const StepOutcomes plain = enumerate_modes(p);
    const SolveAllResult found = solve_all(p);
    if (!found.complete) continue;
    continua += !plain.continua.empty();
    EXPECT_EQ(found.outcomes.size(), plain.outcomes.size()) << k;
    EXPECT_EQ(found.continua.empty(), plain.continua.empty()) << k;
    for (const Outcome& o : plain.outcomes)
      EXPECT_TRUE(test::among(found.outcomes, o.c_plus, 1e-9)) << k;
  }
  EXPECT_GT(continua, test::trials(600) / 20);
}

// A wedge that is held along its normal: it may be braked by any amount, down to rest and no less.
// Circular cones: whatever a solver begins with, it ends with an outcome that is known.
TEST(SolveAll, ArcsAreSearchedToTheEnd) {
  std::mt19937 random(157);
  std::uniform_real_distribution<double> uniform(0, 1);
  int left = 0, several = 0;
  for (int k = 0; k < test::trials(150); ++k) {
    const int m = 2 + k % 3;
    ImpactProblem p = test::random_impact(random, m, 3 + k / 3 % 6, 2).problem;
    p.edges = 0;
    const SolveAllResult found = solve_all(p);
    left += !found.complete;
    several += found.outcomes.size() > 1;
    for (const Outcome& o : found.outcomes) {
      EXPECT_LE(residual(p, o.impulse), 1e-10) << k;
      EXPECT_LE(test::energy_change(p, o.impulse), 1e-9 * p.c.squaredNorm()) << k;
    }
    if (!found.complete) continue;
    OneSolver solver(p);
    const double size = p.c.norm() / p.G.diagonal().head(m).mean();
    for (int start = 0; start < 20; ++start) {
      const auto ends =
          solver.solve(p.c, {}, solver.start(size, {}, [&] { return uniform(random); }), 1e-10);
      if (!ends) continue;
      EXPECT_TRUE(test::among(found.outcomes, ends->c_plus, 1e-6 * p.c.norm())) << k;
    }
  }
  EXPECT_LE(left, 2 + test::trials(150) / 50);
  EXPECT_GE(several, test::trials(150) / 20);
}

// Two ways that share nothing: arcs, and the roots of a polynomial.
TEST(SolveAll, ArcsAgreeWithThePolynomialOfASingleContact) {
  std::mt19937 random(158);
  for (int k = 0; k < test::trials(300); ++k) {
    ImpactProblem p = test::random_impact(random, 1, 3 + k % 4, 2).problem;
    p.edges = 0;
    const SolveAllResult arcs = solve_all(p);
    const SimultaneousResult roots = simultaneous(p);
    EXPECT_TRUE(arcs.complete) << k;
    EXPECT_EQ(arcs.outcomes.size(), roots.outcomes.size()) << k;
    for (const Outcome& o : roots.outcomes)
      EXPECT_TRUE(test::among(arcs.outcomes, o.c_plus, 1e-7 * p.c.norm())) << k;
  }
}

TEST(SolveAll, AContactThatCannotMoveMayBrakeByAnyAmount) {
  const ImpactProblem p{.G = Eigen::Vector2d(0, 14).asDiagonal(),
                        .c = Eigen::Vector2d(0, -13),
                        .mu = VectorXd::Constant(1, 0.6)};
  const SolveAllResult found = solve_all(p);
  EXPECT_TRUE(found.complete);
  ASSERT_EQ(found.outcomes.size(), 2u);
  ASSERT_EQ(found.continua.size(), 1u);
  EXPECT_TRUE(test::among(found.outcomes, Eigen::Vector2d(0, -13), 0));
  EXPECT_TRUE(test::among(found.outcomes, Eigen::Vector2d(0, 0), 0));
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
