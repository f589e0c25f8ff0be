#include "routh/impact/set_valued.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cstring>

#include "random_problem.h"
#include "routh/impact/cone.h"
#include "routh/impact/modes.h"
#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/step_table.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// The bounds that sample `index` draws at a step: the documented stream of the counter-based
/// generator.
VectorXd drawn_bounds(std::uint64_t seed, std::uint64_t index, int step, int contacts, double h) {
  VectorXd bounds(contacts);
  for (int i = 0; i < contacts; ++i) {
    const philox4x32_ctr_t counter = {
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
         static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(i / 4)}};
    const philox4x32_key_t key = {
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    bounds[i] = h * (philox4x32(counter, key).v[i % 4] + 0.5) * 0x1p-32;
  }
  return bounds;
}

TEST(SetValued, TheRockingBlockFillsTheSegmentsBetweenRestAndPivoting) {
  const ImpactProblem p = test::rocking_block();
  const SetResult r =
      set_valued(p, {.samples = 1 << 14, .step = 0.3, .limit = 10, .draws = Draws::kCorners});
  EXPECT_EQ(r.terminated, r.samples);
  EXPECT_EQ(r.ambiguous_steps, 0u);
  for (const SetSample& s : r.kept) {
    // one corner stays down, the other lifts by at most the sequential 0.0930
    EXPECT_EQ(s.outcome.c_plus.head(2).minCoeff(), 0);
    EXPECT_LT(s.outcome.c_plus.head(2).maxCoeff(), 0.09302);
  }
  // draws that include the corners of the box reach both ends of the set
  EXPECT_NEAR(r.c_max[0], 0.0930, 1e-4);
  EXPECT_NEAR(r.c_max[1], 0.0930, 1e-4);
  EXPECT_LT(r.max_residual, 1e-10);
}

TEST(SetValued, PartsTogetherAreTheWholeBitByBit) {
  const ImpactProblem p = test::rocking_block();
  const SetOptions options{.samples = 3000, .step = 0.3, .limit = 10, .seed = 5, .keep = 700};
  const SetResult whole = set_valued(p, options);
  const SetSampler sampler(p, options);
  SetResult all;
  for (std::uint64_t first = 0; first < options.samples; first += 271) {
    SetResult part = sampler.samples(first, std::min<std::uint64_t>(271, options.samples - first));
    all.add(part);
    std::move(part.kept.begin(), part.kept.end(), std::back_inserter(all.kept));
  }
  EXPECT_EQ(all.samples, whole.samples);
  EXPECT_EQ(all.steps, whole.steps);
  EXPECT_EQ(all.c_min, whole.c_min);
  EXPECT_EQ(all.c_max, whole.c_max);
  EXPECT_EQ(all.max_residual, whole.max_residual);
  ASSERT_EQ(all.kept.size(), whole.kept.size());
  for (std::size_t k = 0; k < whole.kept.size(); ++k) {
    EXPECT_EQ(all.kept[k].index, k);
    EXPECT_EQ(all.kept[k].outcome.c_plus, whole.kept[k].outcome.c_plus);
  }
}

// Few samples are drawn by a table with all its hyperplanes, many by one that trial walks chose.
TEST(SetValued, HasTheSameSamplesByEitherKindOfTable) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 12; ++trial) {
    const ImpactProblem p = test::random_impact(random, 2 + trial % 2, 3 + trial % 4).problem;
    SetOptions options{.step = 0.5, .limit = 60, .seed = 3, .keep = 200};
    options.samples = 200;
    const SetResult few = set_valued(p, options);
    options.samples = 5000;
    const SetResult many = set_valued(p, options);
    for (std::size_t k = 0; k < 200; ++k) {
      EXPECT_EQ(few.kept[k].steps, many.kept[k].steps) << trial;
      EXPECT_LT((few.kept[k].outcome.c_plus - many.kept[k].outcome.c_plus).norm(),
                1e-9 * (1 + p.c.norm()))
          << trial;
    }
  }
}

TEST(SetValued, MirroringTheBlockMirrorsTheSet) {
  const SetResult r =
      set_valued(test::rocking_block(), {.samples = 1 << 15, .step = 0.3, .limit = 10});
  EXPECT_NEAR(r.c_max[0], r.c_max[1], 0.02 * r.c_max[0]);
}

// Every step of every walk is one of the solutions that plain enumeration finds for the bounds it
// drew.
TEST(SetValued, EveryStepIsASolutionThatEnumerationFinds) {
  std::mt19937 random(51);
  const double h = 0.4;
  for (int k = 0; k < test::trials(60); ++k) {
    const int m = 1 + k % 3;
    const ImpactProblem p = test::random_impact(random, m, 1 + k / 3 % 6).problem;
    const SetResult r =
        set_valued(p, {.samples = 12, .step = h, .limit = 6, .seed = 3, .threads = 1, .paths = 12});
    for (std::size_t index = 0; index < r.paths.size(); ++index) {
      for (std::size_t step = 0; step + 1 < r.paths[index].size(); ++step) {
        ImpactProblem at = p;
        at.c = r.paths[index][step];
        const VectorXd bounds = drawn_bounds(3, index, static_cast<int>(step), m, h);
        const StepOutcomes all = enumerate_modes(at, bounds, 1e-9);
        EXPECT_TRUE(test::among(all.outcomes, r.paths[index][step + 1], 1e-6 * p.c.norm()) ||
                    !all.continua.empty())
            << "problem " << k << ", sample " << index << ", step " << step;
      }
    }
  }
}

// ... and none of them is left out: over many walks each solution of the first step is drawn.
TEST(SetValued, FindsAsManySolutionsAsEnumeration) {
  std::mt19937 random(52);
  int ambiguous_problems = 0;
  for (int k = 0; k < test::trials(400); ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 2 + k % 4).problem;
    const SetResult r =
        set_valued(p, {.samples = 64, .step = 0.5, .limit = 1, .seed = 5, .threads = 1});
    std::uint64_t expected = 0;
    for (int index = 0; index < 64 && colliding(p, p.c); ++index)
      expected += enumerate_modes(p, drawn_bounds(5, index, 0, 2, 0.5)).outcomes.size() > 1;
    EXPECT_EQ(r.ambiguous_steps, expected) << "problem " << k;
    ambiguous_problems += expected > 0;
  }
  EXPECT_GT(ambiguous_problems, 0);  // the claim is not empty
}

TEST(SetValued, NoSampleEndsApproachingOrGainsEnergy) {
  std::mt19937 random(53);
  for (int k = 0; k < test::trials(300); ++k) {
    const int m = 1 + k % 4;
    const ImpactProblem p = test::random_impact(random, m, 2 + k % 6).problem;
    const SetResult r = set_valued(p, {.samples = 32,
                                       .step = 0.5,
                                       .limit = 500,
                                       .draws = k % 2 ? Draws::kCorners : Draws::kUniform,
                                       .threads = 1});
    EXPECT_EQ(r.unsolved, 0u) << "problem " << k;
    EXPECT_LT(r.max_residual, 1e-10) << "problem " << k;
    for (const SetSample& s : r.kept) {
      if (!s.terminated) continue;
      EXPECT_FALSE(colliding(p, s.outcome.c_plus));
      EXPECT_LE(test::energy_change(p, s.outcome.impulse), 1e-8);
      EXPECT_LT((p.c + p.G * s.outcome.impulse - s.outcome.c_plus).norm(), 1e-7 * (1 + p.c.norm()));
    }
  }
}

// P1 Theorem 8: the number of steps exceeds c ⌈‖v‖_M⌉ + k with probability at most exp(-k/(m+1)²).
// A body lands on three points, the outer ones of a wide plate: approaches of 0.3 rad/s times the
// width hide that of the middle one, and G = J M⁻¹ Jᵀ in double precision the energy.
TEST(SetValued, NoSampleIsDoneWhereRoundingHidesWhetherItGainedEnergy) {
  for (const double width : {1.0, 1e3, 1e9}) {
    Eigen::MatrixXd J(6, 3);
    J << 0, 1, -0.5 * width - 0.1,  //
        0, 1, -0.1,                 //
        0, 1, 0.5 * width - 0.1,    //
        1, 0, 1,                    //
        1, 0, 0.8,                  //
        1, 0, 1;
    const Eigen::Matrix3d W = Eigen::Vector3d(1, 1, 5).asDiagonal();
    const Eigen::Vector3d v(0, -1, 0.3);
    const ImpactProblem p{
        .G = J * W * J.transpose(), .c = J * v, .mu = VectorXd::Constant(3, 0.8), .tangents = 1};
    const SetResult r = set_valued(p, {.samples = 64, .step = 0.3, .limit = 50, .keep = 64});
    EXPECT_TRUE(width > 1e3 || r.terminated == r.samples) << width;
    EXPECT_TRUE(r.terminated < r.samples || r.unsolved == 0);
    const auto energy = [&](const Eigen::Vector3d& at) { return 0.5 * at.dot(W.inverse() * at); };
    for (const SetSample& s : r.kept) {
      if (!s.terminated) continue;
      const Eigen::Vector3d after = v + W * (J.transpose() * s.outcome.impulse);
      EXPECT_LE(energy(after), energy(v)) << "width " << width << ", sample " << s.index;
    }
  }
}

TEST(SetValued, TheNumberOfStepsRespectsTheoremEight) {
  std::mt19937 random(54);
  int checked = 0;
  for (int k = 0; k < 100; ++k) {
    const int m = 1 + k % 3;
    const test::RandomImpact impact = test::random_impact(random, m, 2 * m);
    const FrictionCone cone =
        friction_cone(impact.J, impact.M.inverse() * impact.J.transpose(), impact.problem);
    if (!cone.pointed || !colliding(impact.problem, impact.problem.c)) continue;
    const double h = 0.3;
    const double sigma =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(impact.M).eigenvalues().minCoeff();
    const double bound = termination_constant(cone, m, h, sigma) *
                         std::ceil(std::sqrt(impact.v.dot(impact.M * impact.v)));
    if (bound > 50'000) continue;
    ++checked;
    const SetResult r = set_valued(impact.problem, {.samples = 1024, .step = h, .limit = 100'000});
    EXPECT_EQ(r.terminated, r.samples);
    const double k_tail = 20.0 * (m + 1) * (m + 1);  // probability below 2.1e-9
    EXPECT_LE(r.most_steps, bound + k_tail) << "problem " << k;
  }
  EXPECT_GT(checked, 20);
}

TEST(SetValued, IsTheSameForAnyNumberOfThreads) {
  std::mt19937 random(55);
  const ImpactProblem p = test::random_impact(random, 2, 3).problem;
  const SetOptions options{.samples = 5000, .step = 0.2, .seed = 9, .keep = 5000};
  SetOptions one = options, three = options;
  one.threads = 1, three.threads = 3;
  const SetResult a = set_valued(p, one), b = set_valued(p, three);
  ASSERT_EQ(a.kept.size(), b.kept.size());
  for (std::size_t i = 0; i < a.kept.size(); ++i) {
    ASSERT_EQ(0, std::memcmp(a.kept[i].outcome.c_plus.data(), b.kept[i].outcome.c_plus.data(),
                             4 * sizeof(double)));
    ASSERT_EQ(a.kept[i].steps, b.kept[i].steps);
  }
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.c_max, b.c_max);
}

TEST(SetValued, EveryInstructionSetWalksTheSameWay) {
  std::mt19937 random(56);
  for (int k = 0; k < test::trials(20); ++k) {
    const ImpactProblem p = test::random_impact(random, 1 + k % 4, 2 + k % 4).problem;
    const StepTable table(p, 0.3);
    WalkTask task = table.task();
    task.limit = 50, task.seed = 4, task.draws = k % 2 ? Draws::kCorners : Draws::kUniform;
    std::vector<Walk> expected(200);
    walk_function_for("baseline")(task, 0, 200, expected.data(), nullptr);
    for (const char* name : {"avx2", "avx512"}) {
      const WalkFunction walk = walk_function_for(name);
      if (!walk) continue;
      std::vector<Walk> walks(200);
      walk(task, 0, 200, walks.data(), nullptr);
      for (int i = 0; i < 200; ++i) {
        ASSERT_EQ(walks[i].steps, expected[i].steps) << name << " " << k << " " << i;
        for (int j = 0; j < 2 * p.contacts(); ++j)
          ASSERT_NEAR(walks[i].c[j], expected[i].c[j], 1e-9);
      }
    }
  }
}

TEST(SetValued, ScalingTheVelocityScalesTheSet) {
  std::mt19937 random(57);
  const ImpactProblem p = test::random_impact(random, 2, 3).problem;
  ImpactProblem fast = p;
  fast.c *= 4;  // a power of two: not a bit changes
  const SetResult a = set_valued(p, {.samples = 500, .step = 0.2});
  const SetResult b = set_valued(fast, {.samples = 500, .step = 0.8});
  for (std::size_t i = 0; i < a.kept.size(); ++i)
    EXPECT_EQ(4 * a.kept[i].outcome.c_plus, b.kept[i].outcome.c_plus);
}

TEST(SetValued, ADifferentSeedGivesDifferentSamples) {
  const ImpactProblem p = test::rocking_block();
  const SetResult a = set_valued(p, {.samples = 10, .step = 0.3, .seed = 1});
  const SetResult b = set_valued(p, {.samples = 10, .step = 0.3, .seed = 2});
  EXPECT_NE(a.kept[0].outcome.impulse, b.kept[0].outcome.impulse);
}

TEST(SetValued, TheLastSmallStepEndsWalksThatReachTheLimit) {
  // almost at rest after the limit: Algorithm 2's final step finishes what a small bound can finish
  const ImpactProblem p = test::rocking_block();
  const SetOptions options{.samples = 4096, .step = 0.3, .limit = 1};
  SetOptions with_end = options;
  with_end.final_step = 0.5;
  const SetResult a = set_valued(p, options), b = set_valued(p, with_end);
  EXPECT_LT(a.terminated, a.samples);
  EXPECT_GT(b.terminated, a.terminated);
  EXPECT_EQ(b.most_steps, 2);
}

TEST(SetValued, FallsBackOpenlyForManyContacts) {
  // eight contacts along the base of a block: far too many modes
  const int m = 8;
  Eigen::MatrixXd J(2 * m, 3);
  for (int i = 0; i < m; ++i) {
    J.row(i) << 0, 1, -0.5 + static_cast<double>(i) / (m - 1);
    J.row(m + i) << 1, 0, 1;
  }
  const Eigen::Vector3d inverse(1, 1, 12.0 / 5);
  const ImpactProblem p{.G = J * inverse.asDiagonal() * J.transpose(),
                        .c = J * Eigen::Vector3d(0, -0.4429, 0),
                        .mu = VectorXd::Ones(m),
                        .tangents = 1};
  const SetResult r = set_valued(p, {.samples = 200, .step = 0.1});
  EXPECT_FALSE(r.enumerated);
  EXPECT_EQ(r.terminated, r.samples);
  EXPECT_EQ(r.unsolved, 0u);
  EXPECT_LT(r.max_residual, 1e-9);
}

TEST(SetValued, StopsWhenAskedAndKeepsWhatIsDone) {
  const ImpactProblem p = test::rocking_block();
  SetOptions options{.samples = std::uint64_t{1} << 34, .step = 0.3, .keep = 100};
  int calls = 0;
  options.progress = [&](std::uint64_t) { return ++calls < 3; };
  const SetResult r = set_valued(p, options);
  EXPECT_TRUE(r.stopped);
  EXPECT_GT(r.samples, 0u);
  EXPECT_LT(r.samples, options.samples);
  EXPECT_EQ(r.kept.size(), 100u);
}

TEST(SetValued, ArraysHoldTheSamplesThatAreKept) {
  // by the table in the plane, and step by step in space
  for (const ImpactProblem& p : {test::rocking_block(), test::in_space(test::rocking_block())}) {
    SetOptions options{.samples = 300, .step = 0.3, .seed = 4, .keep = 200, .pack = 250};
    const SetResult r = set_valued(p, options);
    ASSERT_EQ(r.packed.impulse.cols(), 250);
    ASSERT_EQ(r.packed.index.size(), 250u);
    for (std::size_t k = 0; k < r.kept.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      EXPECT_EQ(r.packed.impulse.col(column), r.kept[k].outcome.impulse);
      EXPECT_EQ(r.packed.c_plus.col(column), r.kept[k].outcome.c_plus);
      EXPECT_EQ(r.packed.index[k], r.kept[k].index);
      EXPECT_EQ(r.packed.steps[k], r.kept[k].steps);
      EXPECT_EQ(r.packed.terminated[k] != 0, r.kept[k].terminated);
    }
  }
}

TEST(SetValued, ArraysOfAStoppedSetHoldWhatWasDone) {
  SetOptions options{.samples = std::uint64_t{1} << 34, .step = 0.3, .pack = 1 << 22};
  int calls = 0;
  options.progress = [&](std::uint64_t) { return ++calls < 2; };
  const SetResult r = set_valued(test::rocking_block(), options);
  EXPECT_TRUE(r.stopped);
  EXPECT_EQ(r.packed.index.size(), std::min<std::uint64_t>(r.samples, options.pack));
  EXPECT_EQ(r.packed.c_plus.cols(), static_cast<Eigen::Index>(r.packed.index.size()));
  for (std::size_t k = 1; k < r.packed.index.size(); ++k)
    ASSERT_LT(r.packed.index[k - 1], r.packed.index[k]);
}

TEST(SetValued, RefusesBadOptionsByName) {
  const ImpactProblem p = test::rocking_block();
  EXPECT_THROW((void)set_valued(p, {.samples = 0}), std::invalid_argument);
  EXPECT_THROW((void)set_valued(p, {.samples = std::uint64_t{1} << 60}), std::invalid_argument);
  EXPECT_THROW((void)set_valued(p, {.step = 0}), std::invalid_argument);
  EXPECT_THROW((void)set_valued(p, {.limit = 0}), std::invalid_argument);
  EXPECT_THROW((void)set_valued(p, {.final_step = NAN}), std::invalid_argument);
}

TEST(SetValued, ASeparatingStartTakesNoSteps) {
  ImpactProblem p = test::rocking_block();
  p.c = -p.c;
  const SetResult r = set_valued(p, {.samples = 100});
  EXPECT_EQ(r.terminated, 100u);
  EXPECT_EQ(r.steps, 0u);
  EXPECT_EQ(r.c_min, p.c);
}

}  // namespace
}  // namespace routh
