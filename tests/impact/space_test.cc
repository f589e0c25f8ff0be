// Friction in space: two tangents per contact, cones with k edges, and the circular cone of
// Routh's law.
#include <gtest/gtest.h>

#include <numeric>

#include "random_problem.h"
#include "routh/impact/cone.h"
#include "routh/impact/modes.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/single.h"
#include "routh/impact/solve_one.h"
#include "routh/lcp/enumerate.h"
#include "routh/lcp/lemke.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

ImpactProblem one_contact(const Matrix3d& G, const Vector3d& c, double mu, int edges = 8) {
  return {.G = G, .c = c, .mu = VectorXd::Constant(1, mu), .tangents = 2, .edges = edges};
}

TEST(Space, ModesAreTheSupportsOfTheLcp) {
  std::mt19937 random(31);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 200; ++k) {
    const int edges = 3 + k % 4;
    const ImpactProblem p = test::random_impact(random, 1, 1 + k % 5, 2, edges).problem;
    const VectorXd bound = VectorXd::Constant(1, 0.05 + uniform(random));
    const StepOutcomes by_mode = enumerate_modes(p, bound);
    const auto velocity = [&](const VectorXd& z) {
      return VectorXd(p.c + p.G * impulse_from_lcp(p, z));
    };
    const lcp::Solutions by_support = lcp::enumerate(step_lcp(p, bound), {.image = velocity});
    EXPECT_EQ(by_mode.outcomes.size(), by_support.all.size()) << "problem " << k;
    for (const lcp::Solution& s : by_support.all)
      EXPECT_TRUE(test::among(by_mode.outcomes, s.image, 1e-7)) << "problem " << k;
  }
}

TEST(Space, ModesContainWhatLemkeFinds) {
  std::mt19937 random(32);
  for (int k = 0; k < test::trials(100); ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 1 + k % 7, 2, 3 + k % 6).problem;
    const VectorXd bound = VectorXd::Constant(2, 0.4);
    const lcp::LemkeResult r = lcp::lemke(step_lcp(p, bound));
    ASSERT_EQ(r.status, lcp::Status::kSolved);
    const VectorXd impulse = impulse_from_lcp(p, r.z);
    EXPECT_LT(residual(p, impulse, bound), 1e-9);
    const StepOutcomes all = enumerate_modes(p, bound);
    EXPECT_TRUE(test::among(all.outcomes, p.c + p.G * impulse, 1e-7) || !all.continua.empty())
        << "problem " << k;
  }
}

TEST(Space, TheTableOfModesFindsWhatEnumerationFinds) {
  std::mt19937 random(33);
  for (int k = 0; k < 60; ++k) {
    ImpactProblem p = test::random_impact(random, 2, 4 + k % 5, 2, 4 + k % 5).problem;
    const ModeTable table(p);
    const VectorXd bound = Vector2d(0.1, 0.5);
    const StepOutcomes all = enumerate_modes(p, bound);
    const std::vector<Outcome> found = table.solve(p.c, bound);
    for (const Outcome& o : found) EXPECT_TRUE(test::among(all.outcomes, o.c_plus, 1e-7));
    if (all.continua.empty()) {
      EXPECT_EQ(found.size(), all.outcomes.size()) << "problem " << k;
    }
  }
}

// A contact's impulse stays in the cone and brakes: all laws, redundant rows included.
TEST(Space, EveryLawLosesEnergyAndEndsWithoutApproach) {
  std::mt19937 random(36);
  for (int k = 0; k < 30; ++k) {
    const int m = 1 + k % 3;
    const test::RandomImpact impact = test::random_impact(random, m, 3 + k % 5, 2, 6);
    const ImpactProblem& p = impact.problem;
    const auto check = [&](const Outcome& o, const char* law) {
      EXPECT_GE(o.c_plus.head(m).minCoeff(), -2 * velocity_tolerance(p)) << law << " " << k;
      EXPECT_LE(test::energy_change(p, o.impulse), 1e-8 * p.c.squaredNorm()) << law << " " << k;
      EXPECT_LT((p.c + p.G * o.impulse - o.c_plus).lpNorm<Eigen::Infinity>(), 1e-7) << law << k;
    };
    for (const Outcome& o : simultaneous(p).outcomes) check(o, "simultaneous");
    for (const SequentialOutcome& o : sequential(p, {.max_states = 200}).outcomes)
      check(o.outcome, "sequential");
    const FrictionCone cone = friction_cone(impact.J, impact.M.inverse() * impact.J.transpose(), p);
    if (!cone.pointed) continue;
    for (const SetSample& s : set_valued(p, {.samples = 20, .threads = 1}).kept) {
      if (s.terminated) check(s.outcome, "set");
    }
  }
}

TEST(Space, PlanarProblemsHaveTheSameOutcomes) {
  std::mt19937 random(37);
  for (int k = 0; k < 40; ++k) {
    const ImpactProblem flat = test::random_impact(random, 1 + k % 2, 2 + k % 4).problem;
    const ImpactProblem deep = test::in_space(flat);
    const SimultaneousResult a = simultaneous(flat), b = simultaneous(deep);
    if (!a.continua.empty() || !b.continua.empty()) continue;
    EXPECT_EQ(a.outcomes.size(), b.outcomes.size()) << k;
    for (const Outcome& o : b.outcomes)
      EXPECT_TRUE(test::among(a.outcomes, test::in_plane(o.c_plus), 1e-7)) << k;
    const SequentialResult c = sequential(flat), d = sequential(deep);
    EXPECT_EQ(c.outcomes.size(), d.outcomes.size()) << k;
    for (std::size_t i = 0; i < std::min(c.outcomes.size(), d.outcomes.size()); ++i) {
      EXPECT_LT(
          (c.outcomes[i].outcome.c_plus - test::in_plane(d.outcomes[i].outcome.c_plus)).norm(),
          1e-7 * flat.c.norm())
          << k;
    }
  }
}

// Keller: a sphere of mass m slides on, Gtt = 7/(2m), until friction has used up its slip.
TEST(SingleInSpace, ASphereSlidesStraightAndRollsIfFrictionSuffices) {
  const double mass = 0.3, mu = 0.2;
  const Matrix3d G = Vector3d(1, 3.5, 3.5).asDiagonal() * (1 / mass);
  for (const double slip : {0.5, 3.0}) {
    const Vector3d c(-1.5, slip * 0.6, slip * 0.8);
    const SingleResult r = single(one_contact(G, c, mu), 0);
    ASSERT_TRUE(r.finished);
    EXPECT_NEAR(r.impulse[0], mass * 1.5, 1e-10);
    const double left = std::max(0.0, slip - 3.5 * mu * 1.5);
    EXPECT_NEAR(r.c_plus[1], 0.6 * left, 1e-10);
    EXPECT_NEAR(r.c_plus[2], 0.8 * left, 1e-10);
    EXPECT_EQ(r.path.back().state, left > 0 ? ContactState::kSliding : ContactState::kSticking);
  }
}

// Gtt = a I, Gtn = (b, 0): r = r0 (sin φ0/sin φ) (tan(φ/2)/tan(φ0/2))^(μ a/b) along the slip.
TEST(SingleInSpace, TheDirectionOfSlidingTurnsAlongTheClosedForm) {
  const double a = 2, b = 0.7, mu = 0.5;
  Matrix3d G;
  G << 1.5, b, 0, b, a, 0, 0, 0, a;
  const double phi0 = 2.0, r0 = 1.3;
  const Vector3d c(-0.4, r0 * std::cos(phi0), r0 * std::sin(phi0));
  const SingleResult r = single(one_contact(G, c, mu), 0);
  ASSERT_TRUE(r.finished);
  EXPECT_GT(r.bends.size(), 3u);
  std::vector<VectorXd> points = r.bends;
  points.push_back(r.c_plus);
  for (const VectorXd& at : points) {
    const double phi = std::atan2(at[2], at[1]), radius = at.tail(2).norm();
    EXPECT_NEAR(radius,
                r0 * std::sin(phi0) / std::sin(phi) *
                    std::pow(std::tan(phi / 2) / std::tan(phi0 / 2), mu * a / b),
                1e-9);
  }
  EXPECT_LT(std::atan2(r.c_plus[2], r.c_plus[1]), phi0 - 0.1);  // turned towards the pull
}

TEST(SingleInSpace, IsTheSameInAnyFrameAndInThePlane) {
  std::mt19937 random(38);
  std::uniform_real_distribution<double> uniform(0, 6);
  for (int k = 0; k < 100; ++k) {
    const ImpactProblem p = test::random_impact(random, 1, 3 + k % 3, 2).problem;
    const SingleResult r = single(p, 0);
    const double angle = uniform(random);
    Matrix3d turn = Matrix3d::Identity();
    turn.bottomRightCorner<2, 2>() << std::cos(angle), -std::sin(angle), std::sin(angle),
        std::cos(angle);
    const SingleResult s =
        single(one_contact(turn * p.G * turn.transpose(), turn * p.c, p.mu[0]), 0);
    EXPECT_EQ(r.finished, s.finished);
    if (!r.finished) continue;
    EXPECT_LT((turn * r.c_plus - s.c_plus).norm(), 1e-8 * p.c.norm()) << k;
    EXPECT_LT(r.residual, 1e-9);
    EXPECT_LE(test::energy_change(p, r.impulse), 1e-9 * p.c.squaredNorm());

    const ImpactProblem flat = test::random_impact(random, 1, 3).problem;
    const SingleResult a = single(flat, 0), b = single(test::in_space(flat), 0);
    EXPECT_EQ(a.finished, b.finished) << k;
    if (a.finished) {
      EXPECT_LT((a.c_plus - test::in_plane(b.c_plus)).norm(), 1e-8 * flat.c.norm()) << k;
    }
  }
}

/// One contact resolved in n small steps of the law with k edges.
Vector3d by_small_steps(const ImpactProblem& p, int steps) {
  const SingleResult whole = single(p, 0);
  ImpactProblem at = p;
  while (at.c[0] < 0) {
    const VectorXd bound = VectorXd::Constant(1, whole.impulse[0] / steps);
    const Outcome step = enumerate_modes(at, bound).outcomes.front();
    at.c = step.c_plus;
  }
  return at.c;
}

/// Outcomes of a single contact that slide, by looking in so many directions.
int slides_seen(const ImpactProblem& p, int directions) {
  const auto slide = [&](int k) {
    const double angle = 2 * M_PI * k / directions;
    const Eigen::Vector2d e(std::cos(angle), std::sin(angle));
    const double held = p.G(0, 0) - p.mu[0] * p.G.block<1, 2>(0, 1).dot(e);
    const double load = -p.c[0] / held;
    const Eigen::Vector2d slip =
        (p.c + p.G * load * Eigen::Vector3d(1, -p.mu[0] * e[0], -p.mu[0] * e[1])).tail<2>();
    return std::pair(held * (e[0] * slip[1] - e[1] * slip[0]), load > 0 && e.dot(slip) > 0);
  };
  int seen = 0;
  for (int k = 0; k < directions; ++k) {
    const auto [from, slides] = slide(k);
    const auto [to, slides_too] = slide(k + 1);
    seen += slides && slides_too && from * to < 0;
  }
  return seen;
}

TEST(SingleInSpace, AllOutcomesOfTheSimultaneousLawAreFoundInAnyFrame) {
  std::mt19937 random(68);
  std::uniform_real_distribution<double> uniform(0, 1);
  int proven = 0, several = 0;
  for (int k = 0; k < test::trials(400); ++k) {
    const ImpactProblem p = test::random_impact(random, 1, 3 + k % 4, 2, 0).problem;
    Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
    turn.bottomRightCorner<2, 2>() =
        Eigen::Rotation2Dd(2 * M_PI * uniform(random)).toRotationMatrix();
    ImpactProblem q = p;
    const double mass = std::pow(10, 24 * uniform(random) - 12);
    const double speed = std::pow(10, 18 * uniform(random) - 9);
    q.G = turn * p.G * turn.transpose() / mass;
    q.G = 0.5 * (q.G + q.G.transpose()).eval();
    q.c = turn * p.c * speed;
    const SimultaneousResult before = simultaneous(p), after = simultaneous(q);
    if (!before.enumerated || !after.enumerated) continue;
    ++proven;
    several += before.outcomes.size() > 1;
    EXPECT_EQ(before.outcomes.size(), after.outcomes.size()) << k;
    for (const Outcome& o : before.outcomes)
      EXPECT_TRUE(test::among(after.outcomes, turn * o.c_plus * speed, 1e-7 * q.c.norm())) << k;
    int sliding = 0;
    for (const Outcome& o : before.outcomes) {
      EXPECT_LE(residual(p, o.impulse), 1e-10) << k;
      EXPECT_LE(energy_gain(p, o), 1e-9) << k;
      sliding += o.impulse[0] > 0 && o.c_plus.tail<2>().norm() > 1e-9 * p.c.norm();
    }
    EXPECT_GE(sliding, p.mu[0] > 0 ? slides_seen(p, 1000) : 0) << k;
  }
  EXPECT_GT(proven, test::trials(200));
  EXPECT_GT(several, 0);
}

TEST(SingleInSpace, LinearisedConesConvergeToTheCircularOne) {
  Matrix3d G;
  G << 1.5, 0.4, 0.2, 0.4, 2, 0.3, 0.2, 0.3, 1.4;
  ImpactProblem p = one_contact(G, {-1, -0.9, 0.8}, 0.45);
  const Vector3d circular = single(p, 0).c_plus;
  std::vector<double> error;
  for (const int edges : {4, 8, 16, 32}) {
    p.edges = edges;
    error.push_back((by_small_steps(p, 400) - circular).norm());
  }
  EXPECT_LT(error[1], 0.6 * error[0]);
  EXPECT_LT(error[3], 0.1 * error[0]);
  EXPECT_LT(error[3], 0.004);
}

/// A box dropped flat, in space; widths along x and y, corners counter-clockwise from (-, -).
ImpactProblem dropped_box(double wx, double wy, double height, double mu, double speed) {
  const double mass = 1;
  MatrixXd J(12, 6);
  const Vector2d corner[] = {
      {-wx / 2, -wy / 2}, {wx / 2, -wy / 2}, {wx / 2, wy / 2}, {-wx / 2, wy / 2}};
  for (int i = 0; i < 4; ++i) {
    const Vector3d r(corner[i].x(), corner[i].y(), -height / 2);
    MatrixXd at(3, 6);  // velocity of the corner: v + ω x r
    at << 1, 0, 0, 0, r.z(), -r.y(), 0, 1, 0, -r.z(), 0, r.x(), 0, 0, 1, r.y(), -r.x(), 0;
    J.row(i) = at.row(2);
    J.middleRows(4 + 2 * i, 2) = at.topRows(2);
  }
  VectorXd inverse(6);
  inverse << 1, 1, 1, 12 / (wy * wy + height * height), 12 / (wx * wx + height * height),
      12 / (wx * wx + wy * wy);
  inverse /= mass;
  VectorXd v = VectorXd::Zero(6);
  v[2] = -speed;
  return {.G = J * inverse.asDiagonal() * J.transpose(),
          .c = J * v,
          .mu = VectorXd::Constant(4, mu),
          .tangents = 2};
}

// Corners side by side with equal shares act as the planar block's corner, along either axis.
TEST(Space, ABoxDroppedFlatHasThePlanarBlocksOutcomesAlongEachAxis) {
  const ImpactProblem flat = test::rocking_block(1, 2, 1, 1, 0.4429);
  for (const bool along_y : {false, true}) {
    const ImpactProblem box =
        along_y ? dropped_box(0.8, 1, 2, 1, 0.4429) : dropped_box(1, 0.8, 2, 1, 0.4429);
    const int left[] = {0, along_y ? 1 : 3}, right[] = {along_y ? 3 : 1, 2};
    std::mt19937 random(39);
    std::uniform_real_distribution<double> uniform(0, 0.3);
    for (int walk = 0; walk < 20; ++walk) {
      ImpactProblem a = flat, b = box;
      for (int step = 0; step < 6 && colliding(flat, a.c); ++step) {
        const Vector2d bound(uniform(random), uniform(random));
        Eigen::Vector4d shares;
        for (const int i : left) shares[i] = bound[0] / 2;
        for (const int i : right) shares[i] = bound[1] / 2;
        const auto found = OneSolver(box).solve(b.c, shares, VectorXd::Zero(12), 1e-10);
        ASSERT_TRUE(found);
        b.c = found->c_plus;
        const StepOutcomes planar = enumerate_modes(a, bound);
        Eigen::Vector4d c(b.c[left[0]], b.c[right[0]], b.c[4 + 2 * left[0] + along_y],
                          b.c[4 + 2 * right[0] + along_y]);
        // the planar step may have several solutions; the box has one of them
        ASSERT_TRUE(test::among(planar.outcomes, c, 1e-8)) << along_y << walk << step;
        a.c = c;
      }
    }
  }
}

TEST(Space, SamplesDoNotDependOnThreads) {
  const ImpactProblem box = dropped_box(1, 0.8, 2, 0.6, 1);
  SetOptions options{.samples = 200, .step = 0.4, .seed = 5, .threads = 1};
  const SetResult one = set_valued(box, options);
  options.threads = 3;
  const SetResult three = set_valued(box, options);
  EXPECT_FALSE(one.enumerated);
  EXPECT_EQ(one.terminated, 200u);
  EXPECT_LT(one.max_residual, 1e-10);
  ASSERT_EQ(one.kept.size(), three.kept.size());
  for (std::size_t i = 0; i < one.kept.size(); ++i)
    EXPECT_EQ(one.kept[i].outcome.c_plus, three.kept[i].outcome.c_plus);
}

TEST(Space, BadProblemsAreRefused) {
  ImpactProblem p = one_contact(Matrix3d::Identity(), {-1, 0, 0}, 0.5, 2);
  EXPECT_THROW((void)simultaneous(p), std::invalid_argument);
  p.edges = 8;
  p.c = Vector2d(-1, 0);
  EXPECT_THROW((void)simultaneous(p), std::invalid_argument);
}

/// Four feet under a body that falls flat: all approach, heavy legs couple them.
ImpactProblem random_quadruped(std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const int m = 4, nv = 18;
  MatrixXd J = MatrixXd::Zero(3 * m, nv);
  for (int i = 0; i < m; ++i) {
    // feet move with the body and with the three joints of their leg
    const Vector3d r(i % 2 ? 0.3 : -0.3, i / 2 ? 0.2 : -0.2, -0.4);
    Matrix3d turn;
    turn << 0, r.z(), -r.y(), -r.z(), 0, r.x(), r.y(), -r.x(), 0;
    Eigen::Matrix<double, 3, 6> body;
    body << Matrix3d::Identity(), turn;
    const Matrix3d leg = Matrix3d::NullaryExpr([&] { return 0.3 * normal(random); });
    const int rows[] = {m + 2 * i, m + 2 * i + 1, i};
    for (int k = 0; k < 3; ++k) {
      J.row(rows[k]).head<6>() = body.row(k);
      J.row(rows[k]).segment<3>(6 + 3 * i) = leg.row(k);
    }
  }
  VectorXd inertia = VectorXd::Constant(nv, 0.02 + 0.05 * uniform(random));
  inertia.head<3>().setConstant(10);
  inertia.segment<3>(3) = Vector3d(0.3, 0.5, 0.6);
  VectorXd v = VectorXd::NullaryExpr(nv, [&] { return 0.2 * normal(random); });
  v[2] = -2;
  return {.G = J * inertia.cwiseInverse().asDiagonal() * J.transpose(),
          .c = J * v,
          .mu = VectorXd::Constant(m, 0.3 + 0.7 * uniform(random)),
          .tangents = 2};
}

// Uniform draws miss orders; corners are there to follow one contact after the other.
TEST(Space, CornersReachTheRangesOfTheSequentialLaw) {
  std::mt19937 random(77);
  double mean = 0;
  int ranges = 0;
  for (int k = 0; k < test::trials(6); ++k) {
    const ImpactProblem p = random_quadruped(random);
    ASSERT_LT(p.normal().maxCoeff(), 0) << k;
    const SequentialResult orders = sequential(p, {.single = SingleLaw::kAlgebraic});
    ASSERT_GT(orders.outcomes.size(), 1u);
    VectorXd low = orders.outcomes[0].outcome.c_plus, high = low;
    for (const SequentialOutcome& o : orders.outcomes) {
      low = low.cwiseMin(o.outcome.c_plus);
      high = high.cwiseMax(o.outcome.c_plus);
    }
    const SetResult set =
        set_valued(p, {.samples = 2048, .step = 20, .draws = Draws::kCorners, .seed = 3});
    ASSERT_EQ(set.terminated, set.samples);
    for (int i = 0; i < p.c.size(); ++i) {
      if (high[i] - low[i] < 0.05) continue;
      const double reached = std::min(set.c_max[i], high[i]) - std::max(set.c_min[i], low[i]);
      EXPECT_GT(reached, 0.9 * (high[i] - low[i])) << "problem " << k << " row " << i;
      mean += reached / (high[i] - low[i]);
      ++ranges;
    }
  }
  ASSERT_GT(ranges, 3);
  EXPECT_GT(mean / ranges, 0.97);
}

}  // namespace
}  // namespace routh
