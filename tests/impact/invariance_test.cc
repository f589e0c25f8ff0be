#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random_problem.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/single.h"
#include "routh/simulate/reduce.h"
#include "soak.h"

// The laws know no units and no names: whatever changes only the description of an impact changes
// only the description of its outcomes.
namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Another description of a problem: G' = L G Lᵀ / mass, c' = L c speed, outcomes likewise.
struct Change {
  MatrixXd L;  ///< permutes contacts, mirrors or turns tangents
  double mass = 1, speed = 1;
  std::vector<int> order;  ///< contact i of the new problem is contact order[i] of the old one
};

ImpactProblem changed(const ImpactProblem& p, const Change& change) {
  ImpactProblem q = p;
  q.G = change.L * p.G * change.L.transpose() / change.mass;
  q.G = 0.5 * (q.G + q.G.transpose()).eval();
  q.c = change.L * p.c * change.speed;
  q.mu = p.mu(change.order);
  return q;
}

/// Masses by 1e-12 to 1e12, velocities by 1e-9 to 1e9, contacts in another order, tangents
/// mirrored, in space also turned by whole edges of the friction cone.
Change random_change(std::mt19937& random, const ImpactProblem& p) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const int m = p.contacts();
  Change change{.L = MatrixXd::Zero(p.c.size(), p.c.size()),
                .mass = std::pow(10, 24 * uniform(random) - 12),
                .speed = std::pow(10, 18 * uniform(random) - 9),
                .order = std::vector<int>(m)};
  std::iota(change.order.begin(), change.order.end(), 0);
  std::shuffle(change.order.begin(), change.order.end(), random);
  for (int i = 0; i < m; ++i) {
    const int from = change.order[i];
    change.L(i, from) = 1;
    const double side = uniform(random) < 0.5 ? -1 : 1;
    if (p.tangents == 1) {
      change.L(m + i, m + from) = side;
      continue;
    }
    const double angle = 2 * M_PI * std::floor(p.edges * uniform(random)) / std::max(1, p.edges);
    Eigen::Matrix2d turn;
    turn << std::cos(angle), -side * std::sin(angle), std::sin(angle), side * std::cos(angle);
    change.L.block<2, 2>(m + 2 * i, m + 2 * from) = turn;
  }
  return change;
}

template <class Outcomes>
void expect_same(const Outcomes& before, const Outcomes& after, const Change& change,
                 const ImpactProblem& q, const std::string& what) {
  EXPECT_EQ(before.size(), after.size()) << what;
  const double tolerance = 1e-7 * q.c.lpNorm<Eigen::Infinity>();
  for (const Outcome& o : before) {
    EXPECT_TRUE(test::among(after, change.L * o.c_plus * change.speed, tolerance))
        << what << ": an outcome is lost";
  }
  for (const Outcome& o : after) {
    EXPECT_LE(residual(q, o.impulse), 1e-10) << what;
    EXPECT_LE(energy_gain(q, o), 1e-9) << what;
  }
}

std::vector<Outcome> outcomes_of(const SequentialResult& result) {
  std::vector<Outcome> outcomes;
  for (const SequentialOutcome& s : result.outcomes) outcomes.push_back(s.outcome);
  return outcomes;
}

/// Do tiny changes of the data leave the number of outcomes as it is?
bool robust(std::mt19937& random, const ImpactProblem& p, std::size_t outcomes) {
  std::normal_distribution<double> normal;
  ImpactProblem q = p;
  const MatrixXd root =
      MatrixXd::NullaryExpr(p.G.rows(), p.G.rows(), [&] { return 1e-8 * normal(random); });
  const MatrixXd I = MatrixXd::Identity(p.G.rows(), p.G.rows());
  q.G = (I + root) * p.G * (I + root).transpose();
  q.G = 0.5 * (q.G + q.G.transpose()).eval();
  q.c = (I + root) * p.c;
  return simultaneous(q).outcomes.size() == outcomes;
}

void expect_invariance(unsigned seed, int problems, int tangents, int most_contacts) {
  std::mt19937 random(seed);
  int tried = 0, skipped = 0;
  for (int k = 0; k < problems && !testing::Test::HasFailure(); ++k) {
    const int m = 1 + k % most_contacts;
    const ImpactProblem p =
        test::random_impact(random, m, 2 + k / most_contacts % 6, tangents, k % 2 ? 8 : 4).problem;
    const Change change = random_change(random, p);
    const ImpactProblem q = changed(p, change);
    const SimultaneousResult before = simultaneous(p), after = simultaneous(q);
    const std::string name = "problem " + std::to_string(k);
    if (before.outcomes.size() != after.outcomes.size() &&
        !robust(random, p, before.outcomes.size())) {
      ++skipped;
      continue;
    }
    ++tried;
    expect_same(before.outcomes, after.outcomes, change, q, name + ", simultaneous");
    if (m > 2 || (tangents == 2 && k % 4)) continue;
    const auto first = sequential(p), second = sequential(q);
    EXPECT_EQ(first.unfinished.empty(), second.unfinished.empty()) << name;
    const auto a = outcomes_of(first), b = outcomes_of(second);
    EXPECT_EQ(a.size(), b.size()) << name << ", sequential";
    for (const Outcome& o : a)
      EXPECT_TRUE(
          test::among(b, change.L * o.c_plus * change.speed, 1e-6 * q.c.lpNorm<Eigen::Infinity>()))
          << name << ", sequential";
  }
  EXPECT_LT(skipped, 1 + tried / 50);
}

TEST(Invariance, UnitsOrderAndSidesChangeNothingInThePlane) {
  expect_invariance(141, test::trials(1500), 1, 3);
}

TEST(Invariance, UnitsOrderSidesAndFramesChangeNothingInSpace) {
  expect_invariance(142, test::trials(120), 2, 2);
}

// The circular cone has no edges: any angle will do. What was searched to the end has the same
// outcomes in any order and frame.
TEST(Invariance, CircularConesTurnWithTheirFrames) {
  std::mt19937 random(147);
  std::uniform_real_distribution<double> uniform(0, 1);
  int left = 0;
  for (int k = 0; k < test::trials(150) && !HasFailure(); ++k) {
    const int m = 1 + k % 3;
    ImpactProblem p = test::random_impact(random, m, 3 + k / 3 % 6, 2).problem;
    p.edges = 0;
    Change change = random_change(random, p);
    for (int i = 0; i < m; ++i) {
      const Eigen::Rotation2Dd turn(2 * M_PI * uniform(random));
      auto block = change.L.middleRows<2>(m + 2 * i);
      block = (turn.toRotationMatrix() * MatrixXd(block)).eval();
    }
    const ImpactProblem q = changed(p, change);
    const SimultaneousResult before = simultaneous(p), after = simultaneous(q);
    const bool all = before.enumerated && after.enumerated;
    left += !all;
    if (!all || (before.outcomes.size() != after.outcomes.size() &&
                 !robust(random, p, before.outcomes.size())))
      continue;
    expect_same(before.outcomes, after.outcomes, change, q, "problem " + std::to_string(k));
  }
  EXPECT_LE(left, 2 + test::trials(150) / 50);
}

// The circular cone has no edges here either.
TEST(Invariance, ASingleImpactInSpaceTurnsWithItsFrame) {
  std::mt19937 random(143);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < test::trials(500); ++k) {
    const ImpactProblem p = test::random_impact(random, 1, 2 + k % 4, 2).problem;
    Change change = random_change(random, p);
    const Eigen::Rotation2Dd turn(2 * M_PI * uniform(random));
    change.L.block<2, 2>(1, 1) = turn.toRotationMatrix();
    const ImpactProblem q = changed(p, change);
    const SingleResult before = single(p, 0), after = single(q, 0);
    ASSERT_EQ(before.finished, after.finished) << k;
    if (!before.finished) continue;
    EXPECT_LT((change.L * before.c_plus * change.speed - after.c_plus).norm(), 1e-7 * q.c.norm())
        << k;
  }
}

// Bodies that can move in a plane only keep doing so in any units and frames: of the mobility that
// they have not nothing but rounding may be left.
TEST(Invariance, TheBinaryLawTurnsWithItsFrame) {
  std::mt19937 random(146);
  std::uniform_real_distribution<double> uniform(0, 1);
  const SequentialOptions binary{.single = SingleLaw::kImpulseSpace};
  for (int k = 0; k < test::trials(500); ++k) {
    const ImpactProblem p = test::random_impact(random, 1, 2 + k % 3, 2).problem;
    Change change = random_change(random, p);
    const Eigen::Rotation2Dd turn(2 * M_PI * uniform(random));
    change.L.block<2, 2>(1, 1) = turn.toRotationMatrix();
    const ImpactProblem q = changed(p, change);
    const auto before = outcomes_of(sequential(p, binary)),
               after = outcomes_of(sequential(q, binary));
    ASSERT_EQ(before.size(), after.size()) << k;
    for (const Outcome& o : before)
      EXPECT_TRUE(test::among(after, change.L * o.c_plus * change.speed, 1e-7 * q.c.norm())) << k;
    for (const Outcome& o : after) EXPECT_LE(energy_gain(q, o), 1e-9) << k;
  }
}

// Another choice of velocities, v = B w, is another M, J and v of the same impact.
TEST(Invariance, GeneralisedCoordinatesDoNotMatter) {
  std::mt19937 random(144);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < test::trials(400) && !HasFailure(); ++k) {
    const int m = 1 + k % 3, nv = 2 + k % 6;
    const test::RandomImpact impact = test::random_impact(random, m, nv);
    MatrixXd B = MatrixXd::Identity(nv, nv);
    double tolerance = 1e-9;
    if (k % 2) {
      for (int i = 0; i < nv; ++i) B(i, i) = std::pow(10, 12 * uniform(random));
    } else {
      // a full B of a condition up to 1e6
      B = MatrixXd::NullaryExpr(nv, nv, [&] { return normal(random); });
      const Eigen::JacobiSVD<MatrixXd> svd(B, Eigen::ComputeFullU | Eigen::ComputeFullV);
      const double condition = std::pow(10, 6 * uniform(random));
      const VectorXd sigma = VectorXd::NullaryExpr(nv, [&](Eigen::Index i) {
        return i == 0 ? 1 : i == 1 ? 1 / condition : uniform(random) / condition + 1 / condition;
      });
      B = svd.matrixU() * sigma.asDiagonal() * svd.matrixV().transpose();
      tolerance = std::max(1e-9, 1e3 * condition * condition * 1e-16);
    }
    const auto terms_of = [&](const MatrixXd& M, const MatrixXd& J) {
      Terms terms;
      terms.M = 0.5 * (M + M.transpose());
      terms.A = MatrixXd(0, nv);
      for (int i = 0; i < m; ++i)
        terms.contacts.push_back({.name = std::to_string(i),
                                  .Jn = J.row(i),
                                  .Jt = J.row(m + i),
                                  .mu = impact.problem.mu[i]});
      return terms;
    };
    const auto before = reduce(terms_of(impact.M, impact.J), impact.v);
    const VectorXd w = B.fullPivLu().solve(impact.v);
    const auto after = reduce(terms_of(B.transpose() * impact.M * B, impact.J * B), w);
    const double scale = before.problem.G.cwiseAbs().maxCoeff();
    EXPECT_LT((before.problem.G - after.problem.G).cwiseAbs().maxCoeff(), tolerance * scale) << k;
    const auto a = simultaneous(before.problem), b = simultaneous(after.problem);
    if (a.outcomes.size() != b.outcomes.size() && tolerance > 1e-8) continue;
    EXPECT_EQ(a.outcomes.size(), b.outcomes.size()) << k;
    for (const Outcome& o : a.outcomes)
      EXPECT_TRUE(test::among(b.outcomes, o.c_plus,
                              std::max(1e-6, 1e3 * tolerance) * impact.problem.c.norm()))
          << k;
  }
}

// Powers of two are exact: the sampled set has the same bits. Otherwise a walk in a hundred may
// take another branch by rounding.
TEST(Invariance, SampledSetsScale) {
  std::mt19937 random(145);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < test::trials(40); ++k) {
    const int tangents = 1 + k % 4 / 3;
    const ImpactProblem p = test::random_impact(random, 2, 3 + k % 3, tangents).problem;
    if (!colliding(p, p.c)) continue;
    const bool exactly = k % 2 == 0;
    const double mass = exactly ? std::exp2(std::floor(70 * uniform(random) - 35))
                                : std::pow(10, 24 * uniform(random) - 12);
    const double speed = exactly ? std::exp2(std::floor(60 * uniform(random) - 30))
                                 : std::pow(10, 18 * uniform(random) - 9);
    ImpactProblem q = p;
    q.G /= mass;
    q.c *= speed;
    SetOptions options{.samples = 64, .step = 0.3, .seed = 5, .threads = 1, .keep = 64};
    const SetResult before = set_valued(p, options);
    options.step *= mass * speed;
    const SetResult after = set_valued(q, options);
    ASSERT_EQ(before.kept.size(), after.kept.size());
    int different = 0;
    for (std::size_t i = 0; i < before.kept.size(); ++i) {
      const Outcome &a = before.kept[i].outcome, &b = after.kept[i].outcome;
      const double gap = (speed * a.c_plus - b.c_plus).lpNorm<Eigen::Infinity>();
      if (exactly) {
        EXPECT_EQ(gap, 0) << k << " " << i;
      }
      different += gap > 1e-6 * speed * p.c.norm();
      EXPECT_LE(energy_gain(q, b), 1e-9) << k;
    }
    EXPECT_LE(different, 4) << k;
    EXPECT_EQ(before.unsolved, after.unsolved) << k;
  }
}

}  // namespace
}  // namespace routh
