// Derivatives of extremes held against differences of exact sets.

#include "routh/impact/path_derivative.h"

#include <gtest/gtest.h>

#include "random_problem.h"
#include "routh/impact/cone.h"
#include "routh/impact/exact.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The largest q · c⁺ of an exact set, and the corner where.
std::optional<std::pair<double, VectorXd>> largest(const ImpactProblem& p, const VectorXd& q) {
  const ExactResult set = exact(p, {.precision = 1e-15, .max_polyhedra = 300});
  if (set.status != ExactStatus::kExact) return {};
  std::pair<double, VectorXd> best{-HUGE_VAL, {}};
  for (const Polytope& piece : set.pieces) {
    for (const VectorXd& corner : piece.corners) {
      if (q.dot(corner) > best.first) best = {q.dot(corner), corner};
    }
  }
  return best;
}

/// A change of the velocity before, of the inertia, or of friction; J stays.
struct PathTurn {
  VectorXd dc, dmu;
  MatrixXd dG;
};
PathTurn random_turn(std::mt19937& random, const test::RandomImpact& impact, int kind) {
  std::normal_distribution<double> normal;
  const Eigen::Index nv = impact.v.size(), m = impact.problem.contacts();
  const auto matrix = [&](Eigen::Index rows, Eigen::Index columns) {
    return MatrixXd(MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); }));
  };
  PathTurn turn;
  if (kind == 0) turn.dc = impact.J * matrix(nv, 1);
  if (kind == 1) {
    const MatrixXd root = matrix(nv, nv), W = impact.M.inverse() * impact.J.transpose();
    turn.dG = -0.1 * W.transpose() * (root + root.transpose()) * W;
  }
  // where there is no friction there is none on the other side
  if (kind == 2) turn.dmu = (impact.problem.mu.array() > 0).select(0.2 * matrix(m, 1), 0);
  return turn;
}
ImpactProblem turned(ImpactProblem p, const PathTurn& by, double h) {
  if (by.dc.size()) p.c += h * by.dc;
  if (by.dG.size()) p.G += h * by.dG;
  if (by.dmu.size()) p.mu += h * by.dmu;
  return p;
}

/// How many smooth derivatives, and how many others, were met.
std::pair<int, int> expect_differences(int contacts, int velocities, int tangents, unsigned seed,
                                       int problems) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  int smooth = 0, others = 0;
  for (int k = 0; k < problems; ++k) {
    const test::RandomImpact impact =
        test::random_impact(random, contacts, velocities, tangents, 4);
    const ImpactProblem& p = impact.problem;
    if (!colliding(p, p.c) || !pointed(p)) continue;
    const VectorXd q = VectorXd::NullaryExpr(p.c.size(), [&] { return normal(random); });
    const WitnessTarget target{WitnessTarget::kLinear, q};
    const auto here = largest(p, q);
    if (!here) continue;
    const WitnessResult found = witnesses(p, {target}, {.patience = 4, .threads = 1});
    if (found.status != WitnessStatus::kFound) continue;
    if (std::abs(found.best[0].value - here->first) > 1e-9 * p.c.norm()) continue;
    const PathDerivative derivative(p, target, found.best[0].certificate);
    for (int kind = 0; kind < 3; ++kind) {
      const PathTurn turn = random_turn(random, impact, kind);
      const PathChange change = derivative(turn.dc, turn.dG, turn.dmu);
      if (!change.smooth) {
        ++others;
        continue;
      }
      constexpr double h = 1e-6;
      const auto more = largest(turned(p, turn, h), q), less = largest(turned(p, turn, -h), q);
      if (!more || !less) continue;
      ++smooth;
      const VectorXd difference = (more->second - less->second) / (2 * h);
      const double size = std::max({1.0, p.c.norm(), change.c_plus.norm()});
      EXPECT_NEAR((more->first - less->first) / (2 * h), q.dot(change.c_plus),
                  1e-4 * size * q.norm())
          << "problem " << k << ", kind " << kind;
      EXPECT_LT((difference - change.c_plus).norm(), 1e-4 * size)
          << "problem " << k << ", kind " << kind;
      // c⁺ = c + G λ along the change
      VectorXd sum = p.G * change.impulse;
      if (turn.dc.size()) sum += turn.dc;
      if (turn.dG.size()) sum += turn.dG * found.best[0].outcome.impulse;
      EXPECT_LT((sum - change.c_plus).norm(), 1e-9 * size) << "problem " << k;
    }
  }
  return {smooth, others};
}

TEST(PathDerivative, OfTwoContactsIsTheDifferenceOfExactSets) {
  const auto [smooth, others] = expect_differences(2, 3, 1, 901, 40);
  EXPECT_GT(smooth, 40);
  EXPECT_GT(smooth, 3 * others);
}

TEST(PathDerivative, OfThreeContactsIsTheDifferenceOfExactSets) {
  EXPECT_GT(expect_differences(3, 3, 1, 902, 12).first, 10);
}

TEST(PathDerivative, InSpaceIsTheDifferenceOfExactSets) {
  EXPECT_GT(expect_differences(1, 3, 2, 903, 30).first, 20);
}

// The block that lands flat: falling faster or with rounder corners it stays the same picture,
// sliding either way it does not.
TEST(PathDerivative, ABasisThatChangesIsNotSmooth) {
  const ImpactProblem p = test::rocking_block();
  const WitnessTarget target{WitnessTarget::kLinear, VectorXd::Unit(4, 0)};
  const WitnessResult found = witnesses(p, {target});
  const PathDerivative derivative(p, target, found.best[0].certificate);
  // everything grows with the speed
  const PathChange faster = derivative(p.c);
  EXPECT_TRUE(faster.smooth);
  EXPECT_LT((faster.c_plus - found.best[0].outcome.c_plus).norm(), 1e-12);
  EXPECT_LT((faster.impulse - found.best[0].outcome.impulse).norm(), 1e-12);
  EXPECT_FALSE(derivative(Eigen::Vector4d(0, 0, 1, 1)).smooth);
  // twice the mass, half of G, the same velocities
  const PathChange heavier = derivative({}, -p.G);
  EXPECT_TRUE(heavier.smooth);
  EXPECT_LT(heavier.c_plus.norm(), 1e-12);
  EXPECT_LT((heavier.impulse - found.best[0].outcome.impulse).norm(), 1e-12);
}

TEST(PathDerivative, KnowsNoUnits) {
  const ImpactProblem p = test::rocking_block(1, 1.3, 2, 0.6);
  const WitnessTarget target{WitnessTarget::kLinear, Eigen::Vector4d(0.3, -1, 0.2, 0.4)};
  const VectorXd dmu = Eigen::Vector2d(1, -0.5);
  const auto along = [&](const ImpactProblem& q) {
    const WitnessResult found = witnesses(q, {target}, {.patience = 4, .threads = 1});
    return PathDerivative(q, target, found.best[0].certificate)({}, {}, dmu);
  };
  const PathChange own = along(p);
  for (const double mass : {1e-9, 1e9}) {
    for (const double speed : {1e-9, 1e9}) {
      const PathChange other = along(test::in_units(p, mass, speed));
      EXPECT_EQ(other.smooth, own.smooth);
      EXPECT_LT((other.c_plus / speed - own.c_plus).norm(), 1e-9);
      EXPECT_LT((other.impulse / speed / mass - own.impulse).norm(), 1e-9);
    }
  }
}

TEST(PathDerivative, RefusesWhatIsNoPath) {
  const ImpactProblem p = test::rocking_block();
  const WitnessTarget target{WitnessTarget::kLinear, VectorXd::Unit(4, 0)};
  WitnessCertificate certificate = witnesses(p, {target}).best[0].certificate;
  const PathDerivative derivative(p, target, certificate);
  EXPECT_THROW((void)derivative(VectorXd::Ones(3)), std::invalid_argument);
  EXPECT_THROW((void)derivative({}, MatrixXd::Ones(3, 3)), std::invalid_argument);
  EXPECT_THROW((void)derivative({}, {}, VectorXd::Ones(3)), std::invalid_argument);
  certificate.locations.pop_back();
  EXPECT_THROW(PathDerivative(p, target, certificate), std::invalid_argument);
}

}  // namespace
}  // namespace routh
