#include "impact/referee.h"

#include <gtest/gtest.h>

#include <random>

#include "impact/small_integers.h"
#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::Rational;
using test::to_double;

void agree(std::mt19937& random, int m, int nv, int tangents, int trial) {
  const test::Twice twice = test::small_integers(random, m, nv, tangents);
  const std::vector<test::RationalVector> truth = test::Referee(twice.exact).outcomes();
  const SimultaneousResult found = simultaneous(twice.problem);
  const double size = std::max(1.0, twice.problem.c.lpNorm<Eigen::Infinity>());
  const auto same = [&](const test::RationalVector& a, const Outcome& b) {
    return (to_double(a) - b.c_plus).lpNorm<Eigen::Infinity>() <= 1e-9 * size;
  };
  EXPECT_EQ(found.outcomes.size(), truth.size())
      << "problem " << trial << ", " << m << " contacts, " << nv << " velocities";
  EXPECT_TRUE(found.borderline.empty()) << trial;
  EXPECT_EQ(found.nothing.has_value(), found.outcomes.empty());
  for (const Outcome& o : found.outcomes) {
    EXPECT_TRUE(std::any_of(truth.begin(), truth.end(), [&](const auto& t) { return same(t, o); }))
        << "problem " << trial << " has an outcome that is none: " << o.c_plus.transpose();
    EXPECT_LT(residual(twice.problem, o.impulse), 1e-10) << trial;
    EXPECT_LT((twice.problem.c + twice.problem.G * o.impulse - o.c_plus).norm(), 1e-9 * size);
  }
  for (const auto& t : truth) {
    EXPECT_TRUE(std::any_of(found.outcomes.begin(), found.outcomes.end(),
                            [&](const Outcome& o) { return same(t, o); }))
        << "problem " << trial << " misses " << to_double(t).transpose();
  }
}

TEST(Referee, FindsTheSameOutcomesInThePlaneInRationalArithmetic) {
  std::mt19937 random(131);
  for (int trial = 0; trial < test::trials(400) && !HasFailure(); ++trial)
    agree(random, 1 + trial % 3, 1 + trial / 3 % 5, 1, trial);
}

TEST(Referee, FindsTheSameOutcomesInSpaceInRationalArithmetic) {
  std::mt19937 random(132);
  for (int trial = 0; trial < test::trials(60) && !HasFailure(); ++trial)
    agree(random, 1 + trial % 2, 2 + trial / 2 % 5, 2, trial);
}

/// A number as the fraction it is.
Rational exactly(double x) { return Rational(x); }

// Two contacts that press on a body from nearly opposite sides, with much friction: impulses a
// million times larger than the change of velocity. The referee takes G as it is, in fractions.
TEST(Referee, AgreesWhereContactsNearlyJam) {
  std::mt19937 random(133);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  int found_some = 0, borderline = 0;
  for (int trial = 0; trial < test::trials(300) && !HasFailure(); ++trial) {
    MatrixXd J = MatrixXd::NullaryExpr(4, 5, [&] { return normal(random); });
    const double gap = std::pow(10, -2 - 4 * uniform(random));
    J.row(1) = -J.row(0) + gap * J.row(1);
    J.row(3) = -J.row(2) + gap * J.row(3);
    ImpactProblem p{.G = J * J.transpose(),
                    .c = J * VectorXd::NullaryExpr(5, [&] { return normal(random); }),
                    .mu = Eigen::Vector2d(50 * uniform(random), 50 * uniform(random))};
    p.G = 0.5 * (p.G + p.G.transpose()).eval();
    test::RationalImpact exact;
    for (int r = 0; r < 4; ++r) {
      exact.G.emplace_back();
      for (int s = 0; s < 4; ++s) exact.G.back().push_back(exactly(p.G(r, s)));
      exact.c.push_back(exactly(p.c[r]));
    }
    for (const double mu : p.mu) exact.mu.push_back(exactly(mu));
    const std::vector<test::RationalVector> truth = test::Referee(exact).outcomes();
    const SimultaneousResult found = simultaneous(p);
    for (const auto& t : truth) {
      const auto is_it = [&](const Outcome& o) {
        return (to_double(t) - o.c_plus).norm() <= 1e-8 * p.c.norm();
      };
      EXPECT_TRUE(std::any_of(found.outcomes.begin(), found.outcomes.end(), is_it) ||
                  std::any_of(found.borderline.begin(), found.borderline.end(), is_it))
          << "problem " << trial << ", gap " << gap;
    }
    borderline += !found.borderline.empty();
    found_some += !found.outcomes.empty();
    for (const Outcome& o : found.outcomes) {
      EXPECT_TRUE(std::any_of(truth.begin(), truth.end(), [&](const auto& t) {
        return (to_double(t) - o.c_plus).norm() <= 1e-8 * p.c.norm();
      })) << trial;
    }
    // the sequential law ends or says that it does not
    const SequentialResult in_turn = sequential(p, {.max_impacts = 100, .max_states = 400});
    EXPECT_TRUE(!in_turn.outcomes.empty() || !in_turn.unfinished.empty()) << trial;
  }
  EXPECT_GT(found_some, test::trials(100));
  EXPECT_LT(borderline, test::trials(10));
}

// A mode that is exactly singular and inconsistent, whose velocities were once set to zero by
// decree: one outcome, not two.
TEST(Referee, ASingularModeWithoutSolutionIsNoOutcome) {
  MatrixXd J(4, 3);
  J << 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1;
  const ImpactProblem p{
      .G = J * J.transpose(), .c = J * Eigen::Vector3d(-1, 0.5, 0), .mu = Eigen::Vector2d(0, 1)};
  const SimultaneousResult found = simultaneous(p);
  ASSERT_EQ(found.outcomes.size(), 1u);
  EXPECT_LT((p.c + p.G * found.outcomes[0].impulse - found.outcomes[0].c_plus).norm(), 1e-12);
}

}  // namespace
}  // namespace routh
