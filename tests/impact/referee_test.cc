#include "impact/referee.h"

#include <gtest/gtest.h>

#include <random>

#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"
#include "routh/simulate/reduce.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::Rational;

/// The same impact twice: as fractions for the referee, and through the library's own reduction.
struct Twice {
  test::RationalImpact exact;
  ImpactProblem problem;
};

/// Small integers everywhere, so that modes are singular more often than not.
Twice small_integers(std::mt19937& random, int m, int nv, int tangents) {
  const auto integer = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const int rows = (1 + tangents) * m;
  std::vector<int> mass(nv);
  for (int& x : mass) x = integer(1, 4);
  std::vector<std::vector<int>> J(rows, std::vector<int>(nv));
  for (auto& row : J) {
    for (int& x : row) x = integer(0, 3) == 0 ? 0 : integer(-2, 2);
  }
  // contacts that repeat others, wholly or in part
  if (m > 1 && integer(0, 3) == 0) J[1] = J[0];
  if (m > 1 && integer(0, 3) == 0) J[m + tangents] = J[m];
  std::vector<int> v(nv);
  for (int& x : v) x = integer(-2, 2);

  Twice twice;
  Terms terms;
  terms.M = MatrixXd::Zero(nv, nv);
  terms.A = MatrixXd(0, nv);
  for (int k = 0; k < nv; ++k) terms.M(k, k) = mass[k];
  twice.exact.tangents = tangents;
  for (int i = 0; i < m; ++i) {
    const Rational mu(integer(0, 4), integer(1, 2));
    twice.exact.mu.push_back(mu);
    Contact contact{.name = std::to_string(i), .mu = mu.convert_to<double>()};
    contact.Jn.resize(nv);
    contact.Jt.resize(tangents, nv);
    for (int k = 0; k < nv; ++k) {
      contact.Jn[k] = J[i][k];
      for (int t = 0; t < tangents; ++t) contact.Jt(t, k) = J[m + tangents * i + t][k];
    }
    terms.contacts.push_back(std::move(contact));
  }
  for (int r = 0; r < rows; ++r) {
    Rational c = 0;
    test::RationalVector row;
    for (int s = 0; s < rows; ++s) {
      Rational g = 0;
      for (int k = 0; k < nv; ++k) g += Rational(J[r][k] * J[s][k], mass[k]);
      row.push_back(g);
    }
    for (int k = 0; k < nv; ++k) c += J[r][k] * v[k];
    twice.exact.G.push_back(row);
    twice.exact.c.push_back(c);
  }
  const VectorXd speed = VectorXd::NullaryExpr(nv, [&](Eigen::Index k) { return v[k]; });
  twice.problem = reduce(terms, speed).problem;
  twice.problem.edges = 4;
  return twice;
}

VectorXd to_double(const test::RationalVector& x) {
  return VectorXd::NullaryExpr(static_cast<Eigen::Index>(x.size()), [&](Eigen::Index k) {
    return x[static_cast<std::size_t>(k)].convert_to<double>();
  });
}

void agree(std::mt19937& random, int m, int nv, int tangents, int trial) {
  const Twice twice = small_integers(random, m, nv, tangents);
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
