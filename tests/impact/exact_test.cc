#include "routh/impact/exact.h"

#include <gtest/gtest.h>

#include <cfenv>

#include "random_problem.h"
#include "routh/impact/modes.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/single.h"

namespace routh {
namespace {

using Eigen::VectorXd;

double distance(const ExactResult& set, const VectorXd& c) {
  return nearest_point(set.pieces, c).distance;
}

TEST(Exact, TheBlockRestsOrPivotsAndEverythingBetween) {
  // two segments from rest to the two sequential outcomes
  const ExactResult r = exact(test::rocking_block());
  ASSERT_EQ(r.status, ExactStatus::kExact);
  ASSERT_EQ(r.pieces.size(), 2u);
  for (const Polytope& piece : r.pieces) {
    EXPECT_EQ(piece.dimension, 1);
    ASSERT_EQ(piece.corners.size(), 2u);
  }
  for (const SequentialOutcome& o : sequential(test::rocking_block()).outcomes)
    EXPECT_LT(distance(r, o.outcome.c_plus), 1e-12);
  EXPECT_LT(distance(r, VectorXd::Zero(4)), 1e-12);
  EXPECT_GT(distance(r, Eigen::Vector4d(0.094, 0, 0, 0)), 9e-4);    // just beyond the end
  EXPECT_GT(distance(r, Eigen::Vector4d(0.01, 0.01, 0, 0)), 9e-3);  // both corners never lift
}

TEST(Exact, OneContactIsRouthsImpact) {
  std::mt19937 random(71);
  for (int k = 0; k < 100; ++k) {
    ImpactProblem p = test::random_impact(random, 1, 2 + k % 3).problem;
    p.c[0] = -std::abs(p.c[0]) - 0.1;
    const ExactResult r = exact(p);
    const SingleResult path = single(p, 0);
    if (r.status == ExactStatus::kJammed || !path.finished) continue;
    ASSERT_EQ(r.status, ExactStatus::kExact);
    ASSERT_EQ(r.pieces.size(), 1u) << "problem " << k;
    EXPECT_EQ(r.pieces[0].dimension, 0);
    EXPECT_LT(distance(r, path.c_plus), 1e-9) << "problem " << k;
  }
}

/// Follows Routh's law at randomly chosen contacts for random portions until no contact approaches.
VectorXd random_portions(const ImpactProblem& problem, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  ImpactProblem at = problem;
  for (int k = 0; k < 2000 && colliding(problem, at.c); ++k) {
    const int i = static_cast<int>(random() % at.contacts());
    if (at.c[i] >= 0) continue;
    const SingleResult whole = single(at, i);
    if (!whole.finished) continue;
    // a portion of the path, or all of it
    double left = uniform(random) < 0.5 ? HUGE_VAL : uniform(random) * whole.impulse[i];
    if (std::isinf(left)) {
      at.c = whole.c_plus;
      continue;
    }
    VectorXd lambda = VectorXd::Zero(at.c.size());
    const int t = at.tangent(i);
    bool cut = false;
    double stick_ratio = at.G(t, t) > 0 ? -at.G(i, t) / at.G(t, t) : 0;
    for (const auto& [state, s, restitution] : whole.path) {
      EXPECT_FALSE(restitution);
      const double part = std::min(s, left);
      const double ratio = state == ContactState::kSticking          ? stick_ratio
                           : state == ContactState::kSlidingPositive ? -at.mu[i]
                                                                     : at.mu[i];
      lambda[i] += part;
      lambda[t] += ratio * part;
      left -= part;
      cut = part < s;
      if (cut) break;
    }
    const bool sticks = whole.path.size() > 1 || whole.path[0].state == ContactState::kSticking;
    at.c += at.G * lambda;
    if (sticks && std::abs(at.c[t]) < 1e-12) at.c[t] = 0;
  }
  return at.c;
}

TEST(Exact, SingleImpactsInAnyOrderAndAnyPortionsEndInside) {
  std::mt19937 random(72);
  int checked = 0;
  for (int k = 0; k < 60; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 2 + k % 3).problem;
    const ExactResult r = exact(p, {.max_polyhedra = 400, .max_seconds = 30});
    if (r.status != ExactStatus::kExact) continue;
    for (int walk = 0; walk < 50; ++walk) {
      const VectorXd end = random_portions(p, random);
      if (colliding(p, end)) continue;
      ++checked;
      ASSERT_LT(distance(r, end), 1e-6 * p.c.norm()) << "problem " << k << ", walk " << walk;
    }
  }
  EXPECT_GT(checked, 1500);
}

TEST(Exact, SamplesApproachTheSetAsTheStepShrinks) {
  std::mt19937 random(73);
  const std::vector<double> steps{0.4, 0.04, 0.004};
  std::vector<double> worst(steps.size(), 0);
  int checked = 0;
  for (int k = 0; k < 30; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 3 + k % 2).problem;
    if (!colliding(p, p.c)) continue;
    const ExactResult r = exact(p, {.max_polyhedra = 400, .max_seconds = 30});
    if (r.status != ExactStatus::kExact) continue;
    ++checked;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      // a step changes velocities by about h G; relative to that the problems are alike
      const double h = steps[i] * p.c.norm() / p.G.norm();
      const SetResult samples =
          set_valued(p, {.samples = 60, .step = h, .limit = 100'000, .threads = 1});
      for (const SetSample& s : samples.kept) {
        if (s.terminated) worst[i] = std::max(worst[i], distance(r, s.outcome.c_plus) / p.c.norm());
      }
    }
  }
  EXPECT_GT(checked, 10);
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_LT(worst[i], steps[i]) << "step " << steps[i];
  EXPECT_LT(worst.back(), 0.05 * worst.front());  // two decades of steps
}

TEST(Exact, ScalingAndPermutingCarryOver) {
  std::mt19937 random(74);
  for (int k = 0; k < 30; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 3 + k % 2).problem;
    const ExactResult r = exact(p, {.max_polyhedra = 400, .max_seconds = 30});
    if (r.status != ExactStatus::kExact) continue;
    ImpactProblem fast = p;
    fast.c *= 8;
    const ExactResult scaled = exact(fast, {.max_polyhedra = 800, .max_seconds = 60});
    const std::vector<int> order{1, 0};
    const ExactResult swapped =
        exact(test::permuted(p, order), {.max_polyhedra = 800, .max_seconds = 60});
    ASSERT_EQ(scaled.status, ExactStatus::kExact);
    ASSERT_EQ(swapped.status, ExactStatus::kExact);
    EXPECT_EQ(scaled.pieces.size(), r.pieces.size()) << "problem " << k;
    EXPECT_EQ(swapped.pieces.size(), r.pieces.size()) << "problem " << k;
    for (const Polytope& piece : r.pieces) {
      for (const VectorXd& corner : piece.corners) {
        EXPECT_LT(distance(scaled, 8 * corner), 1e-8 * fast.c.norm());
        EXPECT_LT(distance(swapped, test::permuted(corner, order)), 1e-8 * p.c.norm());
      }
    }
  }
}

/// Are two unions the same, each corner of one in the other?
void expect_same(const std::vector<Polytope>& a, const std::vector<Polytope>& b, double tolerance,
                 const std::string& where) {
  EXPECT_EQ(a.size(), b.size()) << where;
  const auto inside = [&](const std::vector<Polytope>& one, const std::vector<Polytope>& other) {
    for (const Polytope& piece : one) {
      for (const VectorXd& corner : piece.corners)
        EXPECT_LT(nearest_point(other, corner).distance, tolerance) << where;
    }
  };
  inside(a, b), inside(b, a);
}
/// The union after each corner went through a map.
template <class Map>
std::vector<Polytope> mapped(std::vector<Polytope> pieces, const Map& map) {
  for (Polytope& piece : pieces) {
    for (VectorXd& corner : piece.corners) corner = map(corner);
  }
  return pieces;
}

TEST(Exact, TheSetIsTheSameInAnyUnits) {
  std::mt19937 random(76);
  std::uniform_real_distribution<double> decades(-9, 9);
  int checked = 0;
  for (int k = 0; k < 60; ++k) {
    const ImpactProblem p =
        k == 0 ? test::rocking_block() : test::random_impact(random, 2, 2 + k % 3).problem;
    const ExactOptions budget{.max_polyhedra = 400, .max_seconds = 30};
    const ExactResult r = exact(p, budget);
    if (r.status != ExactStatus::kExact) continue;
    ++checked;
    const double mass = std::pow(10, decades(random)), speed = std::pow(10, decades(random));
    const std::string where = "problem " + std::to_string(k) + " in " + std::to_string(mass) +
                              " kg, " + std::to_string(speed) + " m/s";
    const ExactResult scaled = exact(test::in_units(p, mass, speed), budget);
    ASSERT_EQ(scaled.status, ExactStatus::kExact) << where;
    expect_same(mapped(scaled.pieces, [&](const VectorXd& c) { return VectorXd(c / speed); }),
                r.pieces, 1e-9 * p.c.norm(), where);
    const ExactResult mirror = exact(test::mirrored(p), budget);
    ASSERT_EQ(mirror.status, ExactStatus::kExact) << where;
    expect_same(mapped(mirror.pieces,
                       [&](VectorXd c) {
                         c.tail(2) *= -1;
                         return c;
                       }),
                r.pieces, 1e-9 * p.c.norm(), where + ", mirrored");
    const ExactResult swapped = exact(test::permuted(p, {1, 0}), budget);
    ASSERT_EQ(swapped.status, ExactStatus::kExact) << where;
    expect_same(mapped(swapped.pieces,
                       [&](const VectorXd& c) {
                         return test::permuted(c, {1, 0});
                       }),
                r.pieces, 1e-9 * p.c.norm(), where + ", swapped");
  }
  EXPECT_GT(checked, 30);
}

// Each contact may be measured in a unit of its own: cells and flows do not know it.
TEST(Exact, ContactsMayDifferInUnit) {
  std::mt19937 random(77);
  std::uniform_real_distribution<double> decades(-6, 6);
  int checked = 0;
  for (int k = 0; k < 40; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 3 + k % 2).problem;
    const ExactOptions budget{.max_polyhedra = 400, .max_seconds = 30};
    const ExactResult r = exact(p, budget);
    if (r.status != ExactStatus::kExact) continue;
    ++checked;
    const double unit = std::pow(10, decades(random));
    const Eigen::Vector4d scale(1, unit, 1, unit);
    ImpactProblem q = p;
    q.G = scale.asDiagonal() * p.G * scale.asDiagonal();
    q.c = scale.asDiagonal() * p.c;
    const ExactResult other = exact(q, budget);
    ASSERT_EQ(other.status, ExactStatus::kExact) << "problem " << k;
    expect_same(
        mapped(other.pieces, [&](const VectorXd& c) { return VectorXd(c.cwiseQuotient(scale)); }),
        r.pieces, 1e-9 * p.c.norm(), "problem " + std::to_string(k));
  }
  EXPECT_GT(checked, 15);
}

// Bodies of very different mass: all single impacts in sequence end in the set, and so does a
// dependent row, nA = nB + tB, stay dependent.
TEST(Exact, ContainsSequencesOfImpactsOfHeavyAndLightBodies) {
  std::mt19937 random(79);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto digit = [&] { return static_cast<double>(static_cast<int>(random() % 11) - 5); };
  int tried = 0, exact_ones = 0;
  for (int k = 0; k < 180; ++k) {
    const int velocities = 2 + k % 4, decades = k / 4 % 9;
    VectorXd mobility = VectorXd::NullaryExpr(
        velocities, [&] { return std::pow(10, -std::floor(uniform(random) * (decades + 1))); });
    mobility[0] = 1, mobility[velocities - 1] = std::pow(10, -decades);
    Eigen::MatrixXd J = Eigen::MatrixXd::NullaryExpr(4, velocities, digit);
    if (k % 3 == 0) J.row(0) = J.row(1) + J.row(3);
    const ImpactProblem p{.G = J * mobility.asDiagonal() * J.transpose(),
                          .c = J * VectorXd::NullaryExpr(velocities, digit),
                          .mu = VectorXd::NullaryExpr(2, [&] { return 2 * uniform(random); }),
                          .tangents = 1};
    if (!colliding(p, p.c)) continue;
    const ExactResult r = exact(p, {.max_polyhedra = 400, .max_seconds = 10});
    if (r.status == ExactStatus::kJammed) continue;
    tried += decades <= 6;
    if (r.status != ExactStatus::kExact) continue;
    exact_ones += decades <= 6;
    for (const SequentialOutcome& o : sequential(p).outcomes) {
      const double size = std::max(p.c.norm(), o.outcome.c_plus.norm());
      EXPECT_LT(distance(r, o.outcome.c_plus), 1e-6 * size)
          << "problem " << k << ", masses over 1e" << decades;
    }
  }
  EXPECT_GT(tried, 60);
  EXPECT_GE(exact_ones, 0.9 * tried);
}

TEST(Exact, ADependentRowOfLightAndHeavyBodiesStaysDependent) {
  Eigen::MatrixXd J(4, 5);
  J << -4, 3, 3, -2, 4, -2, 3, 1, -3, 2, 3, 0, -1, 2, -1, -2, 0, 2, 1, 2;  // nA = nB + tB
  VectorXd mobility(5), v(5);
  mobility << 100, 1e-3, 1e-2, 0.1, 1e-3;
  v << -1, -1, -1, 3, -1;
  const ImpactProblem p{.G = J * mobility.asDiagonal() * J.transpose(),
                        .c = J * v,
                        .mu = Eigen::Vector2d(1.5, 2),
                        .tangents = 1};
  const ExactResult r = exact(p);
  ASSERT_EQ(r.status, ExactStatus::kExact);
  for (const SequentialOutcome& o : sequential(p).outcomes)
    EXPECT_LT(distance(r, o.outcome.c_plus), 1e-6 * p.c.norm());
}

// The whole fixed point of this set is never reached: contacts hit each other for ever shorter ways
// to rest. Hulls prove that there is nothing but rest.
TEST(Exact, AZenoSequenceThatEndsInOnePointIsExact) {
  std::mt19937 random(2);
  ImpactProblem p;
  for (int k = 0; k <= 30; ++k) p = test::random_impact(random, 2, 4).problem;
  const ExactResult r = exact(p);
  ASSERT_EQ(r.status, ExactStatus::kExact);
  ASSERT_EQ(r.pieces.size(), 1u);
  EXPECT_EQ(r.pieces[0].dimension, 0);
  EXPECT_LT(distance(r, VectorXd::Zero(4)), 1e-15);
}

TEST(Exact, MoreContactsThanItCanDoAreRefused) {
  const int m = 101;
  ImpactProblem p{.G = Eigen::MatrixXd::Identity(2 * m, 2 * m),
                  .c = VectorXd::Constant(2 * m, -1),
                  .mu = VectorXd::Ones(m),
                  .tangents = 1};
  EXPECT_THROW((void)exact(p), std::invalid_argument);
}

TEST(Exact, KeepsItsBudgetOfTime) {
  // five contacts whose set is out of reach
  std::mt19937 random(78);
  int spent = 0;
  for (int k = 0; k < 20 && spent < 3; ++k) {
    const ImpactProblem p = test::random_impact(random, 5, 10).problem;
    if (!colliding(p, p.c)) continue;
    for (const double budget : {0.2, 1.0}) {
      const ExactResult r = exact(p, {.max_polyhedra = 1 << 30, .max_seconds = budget});
      EXPECT_LT(r.seconds, 1.2 * budget + 0.5) << "problem " << k;
      spent += r.seconds > 0.5 * budget;
      EXPECT_EQ(r.pieces.empty(),
                r.status == ExactStatus::kIncomplete || r.status == ExactStatus::kJammed);
    }
  }
  EXPECT_GE(spent, 3);
}

TEST(Exact, StopsWhenToldTo) {
  std::mt19937 random(78);
  const ImpactProblem p = test::random_impact(random, 5, 10).problem;
  const auto began = std::chrono::steady_clock::now();
  const auto tired = [&] {
    return std::chrono::steady_clock::now() - began > std::chrono::milliseconds(50);
  };
  const ExactResult r = exact(p, {.stop = tired});
  if (r.status == ExactStatus::kJammed)
    GTEST_SKIP() << "these contacts jam: there is no set to be stopped at";
  EXPECT_EQ(r.status, ExactStatus::kIncomplete);
  EXPECT_TRUE(r.stopped);
  EXPECT_TRUE(r.pieces.empty());
  EXPECT_LT(r.seconds, 0.5);
  // and the next one is not affected
  EXPECT_EQ(exact(test::rocking_block()).status, ExactStatus::kExact);
}

TEST(Exact, AFrictionlessImpactHasASetToo) {
  ImpactProblem p = test::rocking_block(1, 2, 1, 0);
  const ExactResult r = exact(p);
  ASSERT_EQ(r.status, ExactStatus::kExact);
  for (const SequentialOutcome& o : sequential(p).outcomes)
    EXPECT_LT(distance(r, o.outcome.c_plus), 1e-8);
  for (const Outcome& o : simultaneous(p).outcomes) EXPECT_LT(distance(r, o.c_plus), 1e-12);
}

TEST(Exact, HugeFrictionWorks) {
  const ExactResult r = exact(test::rocking_block(1, 2, 1, 1e5));
  ASSERT_EQ(r.status, ExactStatus::kExact);
  for (const SequentialOutcome& o : sequential(test::rocking_block(1, 2, 1, 1e5)).outcomes)
    EXPECT_LT(distance(r, o.outcome.c_plus), 1e-9);
}

TEST(Exact, ASpentBudgetGivesASetThatContainsTheTruth) {
  std::mt19937 random(75);
  int brackets = 0;
  for (int k = 0; k < 80; ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 3).problem;
    const ExactResult truth = exact(p, {.max_polyhedra = 400, .max_seconds = 30});
    if (truth.status != ExactStatus::kExact) continue;
    for (const int budget : {1, 2, 3, 5}) {
      const ExactResult r = exact(p, {.max_polyhedra = budget});
      brackets += r.status == ExactStatus::kBracket;
      for (const Polytope& piece : truth.pieces) {
        for (const VectorXd& corner : piece.corners)
          EXPECT_LT(distance(r, corner), 1e-9 * (1 + p.c.norm()))
              << "problem " << k << ", budget " << budget;
      }
    }
  }
  EXPECT_GT(brackets, 20);
}

// Wherever the time runs out, what is said to be exact is, and what is said to contain the set
// does.
TEST(Exact, AbandonedAnywhereItClaimsNoMoreThanItHas) {
  std::mt19937 random(80);
  int problems = 0, abandoned = 0;
  for (int k = 0; k < 60; ++k) {
    const ImpactProblem p =
        k == 0 ? test::rocking_block() : test::random_impact(random, 2, 3 + k % 2).problem;
    const ExactResult truth = exact(p, {.max_polyhedra = 400, .max_seconds = 30});
    if (truth.status != ExactStatus::kExact || truth.polyhedra < 8) continue;
    ++problems;
    // ever more time until it ends, however fast the machine
    for (double seconds = 1e-6; seconds < 60; seconds *= 4) {
      const ExactResult r = exact(p, {.max_seconds = seconds});
      const std::string where = "problem " + std::to_string(k) + ", " + std::to_string(seconds);
      EXPECT_EQ(r.pieces.empty(), r.status == ExactStatus::kIncomplete) << where;
      abandoned += r.status != ExactStatus::kExact;
      if (r.pieces.empty()) continue;
      const auto inside = [&](const ExactResult& a, const ExactResult& b) {
        for (const Polytope& piece : a.pieces) {
          for (const VectorXd& corner : piece.corners)
            EXPECT_LT(distance(b, corner), 1e-9 * p.c.norm()) << where;
        }
      };
      inside(truth, r);
      if (r.status != ExactStatus::kExact) continue;
      inside(r, truth);
      break;
    }
  }
  EXPECT_GT(problems, 2);
  EXPECT_GE(abandoned, problems);
}

TEST(Exact, JammedContactsAreRefused) {
  ImpactProblem p{.G = Eigen::MatrixXd::Zero(4, 4),
                  .c = Eigen::Vector4d(-1, 1, 0.5, -0.5),
                  .mu = Eigen::Vector2d(0.5, 0.5),
                  .tangents = 1};
  Eigen::MatrixXd J(4, 2);
  J << 0, 1, 0, -1, 1, 0, -1, 0;
  p.G = J * J.transpose();
  EXPECT_EQ(exact(p).status, ExactStatus::kJammed);
}

TEST(Exact, ContactsThatNothingMovesJam) {
  for (const double speed : {0.0, -1.0}) {
    const ImpactProblem p{.G = Eigen::MatrixXd::Zero(6, 6),
                          .c = Eigen::VectorXd::Constant(6, speed),
                          .mu = Eigen::Vector3d::Zero(),
                          .tangents = 1};
    EXPECT_EQ(exact(p).status, ExactStatus::kJammed) << speed;
  }
}

TEST(Exact, ASeparatingStartIsItsOwnOutcome) {
  ImpactProblem p = test::rocking_block();
  p.c = -p.c;
  const ExactResult r = exact(p);
  ASSERT_EQ(r.pieces.size(), 1u);
  EXPECT_LT(distance(r, p.c), 1e-12);
}

// Every other result of the program needs it.
TEST(Exact, LeavesTheRoundingModeAlone) {
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  (void)exact(test::rocking_block());
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Exact, RefusesBadOptions) {
  EXPECT_THROW((void)exact(test::rocking_block(), {.precision = 0}), std::invalid_argument);
  EXPECT_THROW((void)exact(test::rocking_block(), {.max_polyhedra = 0}), std::invalid_argument);
  EXPECT_THROW((void)exact(test::rocking_block(), {.max_seconds = -1}), std::invalid_argument);
}

// One contact has one outcome, that of Routh's law with the same cone; the circular cone is the
// limit of many edges.
TEST(ExactInSpace, OneContactEndsWhereSmallStepsEnd) {
  Eigen::Matrix3d G;
  G << 1.5, 0.4, 0.2, 0.4, 2, 0.3, 0.2, 0.3, 1.4;
  ImpactProblem p{.G = G,
                  .c = Eigen::Vector3d(-1, -0.9, 0.8),
                  .mu = VectorXd::Constant(1, 0.45),
                  .tangents = 2};
  const VectorXd circular = single(p, 0).c_plus;
  double last = HUGE_VAL;
  for (const int edges : {4, 8, 16}) {
    p.edges = edges;
    const ExactResult set = exact(p);
    ASSERT_EQ(set.status, ExactStatus::kExact);
    ASSERT_EQ(set.pieces.size(), 1u);
    ASSERT_EQ(set.pieces[0].corners.size(), 1u);
    const VectorXd end = set.pieces[0].corners[0];
    // steps of Algorithm 1, small enough to follow the flow
    ImpactProblem at = p;
    while (at.c[0] < 0) at.c = enumerate_modes(at, VectorXd::Constant(1, 1e-3)).outcomes[0].c_plus;
    EXPECT_LT((at.c - end).norm(), 3e-3) << edges;
    EXPECT_LT((circular - end).norm(), 0.6 * last) << edges;
    last = (circular - end).norm();
  }
}

TEST(ExactInSpace, PlanarProblemsHaveTheSameSet) {
  const ImpactProblem flat = test::rocking_block();
  const ExactResult a = exact(flat), b = exact(test::in_space(flat, 4));
  ASSERT_EQ(a.status, ExactStatus::kExact);
  ASSERT_EQ(b.status, ExactStatus::kExact);
  for (const Polytope& piece : b.pieces) {
    for (const VectorXd& c : piece.corners)
      EXPECT_LT(nearest_point(a.pieces, test::in_plane(c)).distance, 1e-9);
  }
  for (const Polytope& piece : a.pieces) {
    for (const VectorXd& c : piece.corners) {
      double nearest = HUGE_VAL;
      for (const Polytope& other : b.pieces) {
        std::vector<Polytope> projected(1);
        for (const VectorXd& d : other.corners) projected[0].corners.push_back(test::in_plane(d));
        nearest = std::min(nearest, nearest_point(projected, c).distance);
      }
      EXPECT_LT(nearest, 1e-9);
    }
  }
}

// Random problems with two contacts and four edges: samples with small steps lie in the exact set.
TEST(ExactInSpace, ContainsTheSamples) {
  std::mt19937 random(41);
  int compared = 0;
  for (int k = 0; k < 20 && compared < 3; ++k) {
    const test::RandomImpact impact = test::random_impact(random, 2, 4, 2, 4);
    const ImpactProblem& p = impact.problem;
    if (!colliding(p, p.c)) continue;
    const ExactResult set = exact(p, {.max_polyhedra = 200, .max_seconds = 5});
    if (set.status != ExactStatus::kExact) continue;
    ++compared;
    const double size = p.c.norm() / p.G.diagonal().head(2).mean();
    for (const double h : {0.02, 0.005}) {
      const SetResult samples =
          set_valued(p, {.samples = 20, .step = h * size, .limit = 100'000, .threads = 1});
      EXPECT_TRUE(samples.enumerated);
      for (const SetSample& s : samples.kept) {
        ASSERT_TRUE(s.terminated);
        EXPECT_LT(nearest_point(set.pieces, s.outcome.c_plus).distance, 5 * h * p.c.norm()) << k;
      }
    }
  }
  EXPECT_GE(compared, 2);
}

}  // namespace
}  // namespace routh
