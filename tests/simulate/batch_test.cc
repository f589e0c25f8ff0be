// Many impacts at once: each result is that of its problem alone.

#include "routh/simulate/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "random_problem.h"
#include "routh/impact/ambiguity.h"
#include "routh/simulate/parallel.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// A point mass that lands with a tangential velocity: it sticks where μ ≥ |vt|, else slides on
/// with |vt| - μ.
BatchProblem point(double mass, double vt, double mu) {
  BatchProblem problem;
  problem.impact = {.G = Eigen::MatrixXd::Identity(2, 2) / mass,
                    .c = Eigen::Vector2d(-1, vt),
                    .mu = VectorXd::Constant(1, mu)};
  problem.forms = Eigen::RowVector2d(0, 1);
  return problem;
}

std::vector<BatchProblem> random_problems(int count) {
  std::vector<BatchProblem> problems;
  for (int k = 0; k < count; ++k) {
    BatchProblem problem;
    std::mt19937 random(static_cast<unsigned>(k));
    problem.impact = test::random_impact(random, 1 + k % 3, 5).problem;
    problem.forms = Eigen::MatrixXd::Ones(1, problem.impact.c.size());
    problems.push_back(std::move(problem));
  }
  return problems;
}

TEST(Batch, OfPointsHasTheClosedForm) {
  std::vector<BatchProblem> problems;
  for (const double vt : {0.0, 0.3, -0.8}) {
    for (const double mu : {0.0, 0.5, 1.0}) problems.push_back(point(2, vt, mu));
  }
  for (const std::string& law : batch_laws()) {
    const auto results = solve_batch(problems, {.law = law, .samples = 64});
    ASSERT_EQ(results.size(), problems.size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      const double vt = problems[k].impact.c[1], mu = problems[k].impact.mu[0];
      const double left = std::max(0.0, std::abs(vt) - mu);
      const BatchResult& r = results[k];
      ASSERT_TRUE(r.done) << law;
      EXPECT_EQ(r.trouble, "") << law << " " << k;
      EXPECT_NEAR(r.c[0].high, 0, 1e-12) << law;
      EXPECT_NEAR(std::abs(r.forms[0].low), left, 1e-9) << law << " " << k;
      // energy of 2 kg at (-1, vt) before, at left afterwards
      EXPECT_NEAR(r.energy.low, left * left - 1 - vt * vt, 1e-9) << law << " " << k;
      EXPECT_EQ(r.simultaneous, 1) << law;
    }
  }
}

TEST(Batch, ResultsDependOnTheirProblemAlone) {
  std::vector<BatchProblem> problems = random_problems(30);
  const BatchOptions options{.samples = 200, .seed = 7, .words = true, .threads = 3};
  const auto all = solve_batch(problems, options);
  std::reverse(problems.begin(), problems.end());
  BatchOptions one_thread = options;
  one_thread.threads = 1;
  auto turned = solve_batch(problems, one_thread);
  std::reverse(turned.begin(), turned.end());
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(all[k].spread(), turned[k].spread());
    EXPECT_EQ(all[k].impulse, turned[k].impulse);
    EXPECT_EQ(all[k].forms[0].high, turned[k].forms[0].high);
    EXPECT_EQ(all[k].words, turned[k].words);
    EXPECT_EQ(all[k].simultaneous, turned[k].simultaneous);
  }
}

TEST(Batch, RangesAreThoseOfTheLaws) {
  for (const BatchProblem& problem : random_problems(24)) {
    BatchProblem given = problem;
    given.step = 0.4;
    const BatchResult r = solve_batch({given}, {.samples = 100, .seed = 3, .words = true})[0];
    const SetResult set = set_valued(problem.impact, {.samples = 100, .step = 0.4, .seed = 3});
    ASSERT_EQ(r.ended, set.terminated);
    std::uint64_t counted = 0;
    for (const auto& [word, times] : r.words) counted += times;
    EXPECT_EQ(counted, set.terminated);
    for (Eigen::Index k = 0; set.terminated > 0 && k < set.c_min.size(); ++k) {
      EXPECT_EQ(r.c[k].low, set.c_min[k]);
      EXPECT_EQ(r.c[k].high, set.c_max[k]);
    }
    const SequentialResult in_turn = sequential(problem.impact);
    const BatchResult s = solve_batch({problem}, {.law = "sequential"})[0];
    EXPECT_EQ(s.outcomes, static_cast<int>(in_turn.outcomes.size()));
    for (const SequentialOutcome& o : in_turn.outcomes) {
      EXPECT_LE(s.c[0].low, o.outcome.c_plus[0]);
      EXPECT_GE(s.c[0].high, o.outcome.c_plus[0]);
    }
  }
}

TEST(Batch, NamesTheProblemThatIsNone) {
  std::vector<BatchProblem> problems = random_problems(3);
  problems[2].impact.mu[0] = -1;
  try {
    (void)solve_batch(problems);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("problem 2"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("mu"), std::string::npos) << e.what();
  }
  problems = random_problems(1);
  problems[0].forms = Eigen::MatrixXd::Ones(1, 1);
  EXPECT_THROW((void)solve_batch(problems), std::invalid_argument);
  EXPECT_THROW((void)solve_batch(random_problems(1), {.law = "exact"}), std::invalid_argument);
  EXPECT_THROW((void)solve_batch(random_problems(1), {.samples = 0}), std::invalid_argument);
  EXPECT_TRUE(solve_batch({}).empty());
}

TEST(Batch, StoppedKeepsWhatIsDone) {
  std::atomic<int> asked = 0;
  const auto results =
      solve_batch(random_problems(40), {.threads = 1, .stop = [&] { return ++asked > 25; }});
  const auto done =
      std::count_if(results.begin(), results.end(), [](const BatchResult& r) { return r.done; });
  EXPECT_GT(done, 0);
  EXPECT_LT(done, 40);
  EXPECT_TRUE(results.front().done);
}

TEST(Parallel, DoesEveryIndexOnceAndThrowsTheFirstFailure) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> times(1000);
    EXPECT_TRUE(in_parallel(1000, threads, [&](std::uint64_t k) { ++times[k]; }));
    EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](const auto& t) { return t == 1; }));
    try {
      in_parallel(100, threads, [](std::uint64_t k) {
        if (k % 10 == 3) throw std::runtime_error(std::to_string(k));
      });
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "3");
    }
    EXPECT_FALSE(in_parallel(
        1'000'000'000, threads, [](std::uint64_t) {}, [](std::uint64_t) { return false; }));
  }
}

}  // namespace
}  // namespace routh
