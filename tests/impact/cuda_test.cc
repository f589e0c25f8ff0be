// The CUDA component: on a machine with a GPU its walks against those of the CPU, on others what it
// says.
#include "routh/impact/cuda.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "random_problem.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/step_table.h"
#include "routh/simulate/batch.h"

namespace routh {
namespace {

/// Null where there is no GPU, and why.
WalkDevice* gpu(std::string* why) {
  try {
    return &cuda_device();
  } catch (const DeviceError& e) {
    *why = e.what();
    return nullptr;
  }
}

TEST(Cuda, WithoutAGpuItSaysSo) {
  std::string why;
  if (gpu(&why)) GTEST_SKIP() << "this machine has a GPU: " << gpu(&why)->name();
  EXPECT_NE(why.find("GPU"), std::string::npos) << why;
  EXPECT_NE(why.find("CUDA: "), std::string::npos) << why;
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    device_ = gpu(&why);
    if (!device_) GTEST_SKIP() << why;
  }
  WalkDevice* device_ = nullptr;
};

// A product and its sum are rounded once on a GPU: walks agree to rounding until it decides which
// branch a step takes, which is rare.
TEST_F(OnGpu, WalksAreThoseOfTheCpuOneByOne) {
  std::mt19937 random(31);
  int walks = 0, same = 0;
  for (int k = 0; k < 60; ++k) {
    const int m = 1 + k % (k % 20 == 19 ? 5 : 4);
    const ImpactProblem p = test::random_impact(random, m, k % 7 == 6 ? m : 2 * m + k % 3).problem;
    const StepTable table(p, 0.1 + 0.1 * (k % 7), k % 5 == 0 ? 0.01 : 0);
    WalkTask task = table.task();
    task.limit = 30, task.draws = k % 2 ? Draws::kCorners : Draws::kUniform;
    task.seed = static_cast<std::uint64_t>(k);
    if (!colliding(p, p.c)) continue;
    constexpr int kCount = 2000;
    const std::uint64_t first = k % 3 ? 0 : (std::uint64_t{1} << 32) - 1000;
    std::vector<Walk> cpu(kCount), gpu(kCount);
    walk_function()(task, first, kCount, cpu.data(), nullptr);
    WalkTotals totals, again;
    const std::vector<std::uint64_t> others =
        device_->walk(task, first, kCount, gpu.data(), totals);
    EXPECT_EQ(totals.walks + others.size(), static_cast<std::uint64_t>(kCount));
    auto other = others.begin();
    std::uint64_t ended = 0, steps = 0;
    for (int i = 0; i < kCount; ++i) {
      if (other != others.end() && *other == first + static_cast<std::uint64_t>(i)) {
        ++other;
        continue;
      }
      const Walk &a = cpu[static_cast<std::size_t>(i)], &b = gpu[static_cast<std::size_t>(i)];
      EXPECT_LE(b.residual, task.accepted);
      bool close = a.steps == b.steps && a.ambiguous == b.ambiguous && a.terminated == b.terminated;
      for (int c = 0; c < 2 * m; ++c) close = close && std::abs(a.c[c] - b.c[c]) < 1e-8;
      ++walks, same += close;
      ended += b.terminated, steps += static_cast<std::uint64_t>(b.steps);
      for (int c = 0; c < 2 * m && b.terminated; ++c) {
        EXPECT_GE(b.c[c], totals.c_min[c]);
        EXPECT_LE(b.c[c], totals.c_max[c]);
      }
    }
    EXPECT_EQ(totals.terminated, ended);
    EXPECT_EQ(totals.steps, steps);
    // totals alone are the same, and the same bits every time
    EXPECT_EQ(device_->walk(task, first, kCount, nullptr, again), others);
    EXPECT_EQ(again.terminated, totals.terminated);
    EXPECT_EQ(again.residual, totals.residual);
    for (int c = 0; c < 2 * m && ended > 0; ++c) {
      EXPECT_EQ(again.c_min[c], totals.c_min[c]);
      EXPECT_EQ(again.c_max[c], totals.c_max[c]);
    }
  }
  EXPECT_GE(same, walks - walks / 1000);
}

// Without the modes that solve some steps these have none left.
TEST_F(OnGpu, StepsThatNoRegularModeSolvesAreTheCpus) {
  const StepTable table(test::rocking_block(), 0.3);
  WalkTask task = table.task();
  const std::uint64_t some = task.members[0] & 0x5555555555555555;
  task.members = &some;
  task.limit = 30;
  constexpr int kCount = 2000;
  std::vector<Walk> cpu(kCount);
  walk_function()(task, 0, kCount, cpu.data(), nullptr);
  std::vector<std::uint64_t> left;
  for (std::uint64_t k = 0; k < kCount; ++k) {
    if (cpu[k].fallbacks > 0) left.push_back(k);
  }
  WalkTotals totals;
  EXPECT_EQ(device_->walk(task, 0, kCount, nullptr, totals), left);
  EXPECT_GT(left.size(), 0u);
}

// Of many impacts at once, whose modes the GPU makes itself.
TEST_F(OnGpu, ABatchComesToWhatTheWalksOfTheCpuDo) {
  std::mt19937 random(77);
  for (int m = 1; m <= kMaxBatchContacts; ++m) {
    const int impacts = m == 4 ? 12 : 150, samples = 200;
    std::vector<std::unique_ptr<StepTable>> tables;
    std::vector<double> energy, weight, forms;
    WalkBatch batch{.contacts = m, .samples = samples, .forms = 2, .words = true};
    for (int k = 0; k < impacts; ++k) {
      const ImpactProblem p =
          test::random_impact(random, m, k % 9 == 8 ? m + 1 : 2 * m + k % 3).problem;
      if (!colliding(p, p.c)) continue;
      tables.push_back(std::make_unique<StepTable>(p, 0.1 + 0.1 * (k % 7)));
    }
    for (int k = 0; k < 2 * m; ++k) energy.push_back(0.5 + k), forms.push_back(1 - k);
    for (int k = 0; k < 2 * m; ++k) forms.push_back(k * k);
    for (int k = 0; k < m; ++k) weight.push_back(1.0 / (1 + k));
    for (const auto& table : tables) {
      WalkTask task = table->task();
      task.limit = 40, task.seed = 3, task.draws = m % 2 ? Draws::kCorners : Draws::kUniform;
      batch.items.push_back({task, energy.data(), weight.data(), forms.data()});
    }
    const std::vector<WalkRanges> results = device_->batch(batch);
    ASSERT_EQ(results.size(), tables.size());
    int left = 0, alike = 0;
    for (std::size_t p = 0; p < results.size(); ++p) {
      const WalkRanges& r = results[p];
      const WalkTask& task = batch.items[p].task;
      std::vector<Walk> cpu(samples);
      walk_function()(task, 0, samples, cpu.data(), nullptr);
      bool fallbacks = false;
      std::uint64_t ended = 0, steps = 0, words = 0;
      double impulse = 0, low = HUGE_VAL, high = -HUGE_VAL, low_form = HUGE_VAL, most = 0;
      for (const Walk& w : cpu) {
        fallbacks = fallbacks || w.fallbacks > 0;
        if (!w.terminated) continue;
        ++ended, steps += static_cast<std::uint64_t>(w.steps);
        double gained = 0, form = 0;
        for (int i = 0; i < 2 * m; ++i) {
          gained += energy[static_cast<std::size_t>(i)] * w.impulse[i] * (task.c0[i] + w.c[i]);
          form += forms[static_cast<std::size_t>(2 * m + i)] * w.c[i];
          most = std::max(most, std::abs(w.c[i]));
        }
        for (int i = 0; i < m; ++i) impulse += weight[static_cast<std::size_t>(i)] * w.impulse[i];
        low = std::min(low, gained), high = std::max(high, gained);
        low_form = std::min(low_form, form);
      }
      EXPECT_TRUE(r.left || !fallbacks);
      left += r.left;
      if (r.left) continue;
      EXPECT_LE(r.totals.residual, task.accepted);
      EXPECT_EQ(r.totals.walks, static_cast<std::uint64_t>(samples));
      for (const std::uint32_t count : r.words) words += count;
      EXPECT_EQ(words, r.totals.terminated);
      alike += r.totals.terminated == ended && r.ended_steps == steps &&
               std::abs(r.impulse - impulse) < 1e-6 * (1 + std::abs(impulse)) &&
               (ended == 0 || (std::abs(r.low_energy - low) < 1e-6 * (1 + std::abs(low)) &&
                               std::abs(r.high_energy - high) < 1e-6 * (1 + std::abs(high)) &&
                               std::abs(r.low_forms[1] - low_form) < 1e-6 * (1 + most)));
    }
    EXPECT_GE(alike + left + 2, static_cast<int>(results.size()));
    EXPECT_LT(3 * left, static_cast<int>(results.size()) + 3);
  }
}

TEST_F(OnGpu, TheSetIsThatOfTheCpu) {
  std::mt19937 random(7);
  for (int k = 0; k < 12; ++k) {
    const int m = 1 + k % 4;
    const ImpactProblem p = test::random_impact(random, m, k % 5 == 4 ? m : 2 * m).problem;
    if (!colliding(p, p.c)) continue;
    SetOptions options{.samples = 20000,
                       .step = 0.4,
                       .limit = 50,
                       .seed = 3,
                       .keep = 100,
                       .paths = k % 3 == 0 ? 5u : 0u,
                       .pack = 200};
    const SetResult cpu = set_valued(p, options);
    options.device = device_;
    const SetResult gpu = set_valued(p, options);
    EXPECT_EQ(gpu.samples, cpu.samples);
    EXPECT_NEAR(static_cast<double>(gpu.steps), static_cast<double>(cpu.steps), 1e-3 * cpu.steps);
    EXPECT_NEAR(static_cast<double>(gpu.terminated), static_cast<double>(cpu.terminated), 20);
    EXPECT_LE(gpu.max_residual, 1e-10);
    ASSERT_EQ(gpu.kept.size(), cpu.kept.size());
    int same = 0;
    for (std::size_t i = 0; i < gpu.kept.size(); ++i) {
      EXPECT_EQ(gpu.kept[i].index, i);
      same += (gpu.kept[i].outcome.c_plus - cpu.kept[i].outcome.c_plus).norm() < 1e-7 * p.c.norm();
    }
    EXPECT_GE(same, 98);
    EXPECT_EQ(gpu.paths.size(), cpu.paths.size());
    EXPECT_EQ(gpu.packed.index, cpu.packed.index);
    if (cpu.terminated > 0 && cpu.terminated == gpu.terminated) {
      EXPECT_NEAR((gpu.c_max - cpu.c_max).norm(), 0, 0.02 * p.c.norm());
    }
    EXPECT_EQ(gpu.device, device_->name());
    EXPECT_EQ(gpu.device_trouble, "");
  }
}

// A map's batch, measures and all.
TEST_F(OnGpu, ABatchMeasuresWhatTheCpuDoes) {
  std::mt19937 random(3);
  std::vector<BatchProblem> problems;
  for (int k = 0; k < 200; ++k) {
    const int m = 1 + k % 3;
    BatchProblem one{test::random_impact(random, m, k % 11 == 10 ? m + 1 : 2 * m).problem};
    one.impact.c *= std::pow(10.0, k % 9 - 4);
    one.forms = Eigen::MatrixXd::Random(k % 3, 2 * m);
    problems.push_back(one);
  }
  BatchOptions options{.samples = 100, .seed = 5, .draws = Draws::kCorners, .words = true};
  const std::vector<BatchResult> cpu = solve_batch(problems, options);
  options.device = device_;
  options.device_trouble = [](const std::string& why) { ADD_FAILURE() << why; };
  const std::vector<BatchResult> gpu = solve_batch(problems, options);
  int alike = 0;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const BatchResult &a = cpu[k], &b = gpu[k];
    ASSERT_TRUE(b.done);
    EXPECT_EQ(a.samples, b.samples);
    EXPECT_EQ(a.simultaneous, b.simultaneous);
    EXPECT_LE(b.residual, 1e-10);
    ASSERT_EQ(a.c.size(), b.c.size());
    ASSERT_EQ(a.forms.size(), b.forms.size());
    const double size = problems[k].impact.c.norm();
    bool same = a.ended == b.ended && a.ambiguous == b.ambiguous && a.words == b.words &&
                a.trouble == b.trouble && a.unique == b.unique &&
                std::abs(a.steps - b.steps) < 1e-9 * (1 + a.steps) &&
                std::abs(a.impulse - b.impulse) <= 1e-7 * std::abs(a.impulse);
    const auto close = [&](const Between& x, const Between& y, double to) {
      return x.known() == y.known() &&
             (!x.known() || (std::abs(x.low - y.low) <= to && std::abs(x.high - y.high) <= to));
    };
    for (std::size_t i = 0; i < a.c.size(); ++i) same = same && close(a.c[i], b.c[i], 1e-7 * size);
    for (std::size_t i = 0; i < a.forms.size(); ++i)
      same = same && close(a.forms[i], b.forms[i], 1e-6 * size);
    same = same && close(a.energy, b.energy, 1e-7 * std::abs(a.energy.low));
    alike += same;
  }
  EXPECT_GE(alike, 197);
}

}  // namespace
}  // namespace routh
