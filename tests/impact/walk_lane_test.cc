// What a GPU does, compiled for this machine: one walk a thread against the walks of the CPU.
#include "routh/impact/walk_lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "random_problem.h"
#include "routh/impact/mode_lane.h"
#include "routh/impact/modes.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/step_table.h"
#include "routh/impact/walk_device.h"
#include "soak.h"

namespace routh {
namespace {

/// Walks 0 .. count - 1 as threads of a device take them; those of the CPU have -1 steps.
template <int M>
std::vector<Walk> lane_walks(const WalkTask& task, int count, std::uint64_t first = 0) {
  const lane::Tables<M> tables(task);
  const lane::Task<M> here = lane::task_of<M>(task, tables);
  std::vector<Walk> walks(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    lane::State<M> w;
    lane::begin(here, w);
    bool solved = true;
    while (solved && !lane::over<M>(here, w))
      solved = lane::take_step<M>(here, lane::ByPlanes<M>{here},
                                  first + static_cast<std::uint64_t>(k), w);
    Walk& walk = walks[static_cast<std::size_t>(k)];
    lane::hand_over<M>(here, w, walk);
    if (!solved) walk.steps = -1;
  }
  return walks;
}
std::vector<Walk> lane_walks(const WalkTask& task, int count) {
  switch (task.contacts) {
    case 1:
      return lane_walks<1>(task, count);
    case 2:
      return lane_walks<2>(task, count);
    case 3:
      return lane_walks<3>(task, count);
    case 4:
      return lane_walks<4>(task, count);
    default:
      return lane_walks<5>(task, count);
  }
}

/// How walks of both compare.
struct Compared {
  int walks = 0, elsewhere = 0, equal = 0, close = 0, fallbacks = 0;
};
Compared compare(const ImpactProblem& p, double step, double final_step, Draws draws, int count,
                 std::uint64_t seed) {
  const StepTable table(p, step, final_step);
  WalkTask task = table.task();
  task.limit = 30, task.draws = draws, task.seed = seed;
  std::vector<Walk> cpu(static_cast<std::size_t>(count));
  walk_function_for("baseline")(task, 0, count, cpu.data(), nullptr);
  const std::vector<Walk> lane = lane_walks(task, count);
  Compared all{.walks = count};
  for (std::size_t k = 0; k < cpu.size(); ++k) {
    all.fallbacks += cpu[k].fallbacks > 0;
    if (lane[k].steps < 0) {
      ++all.elsewhere;
      continue;
    }
    EXPECT_LE(lane[k].residual, task.accepted);
    bool equal = lane[k].steps == cpu[k].steps && lane[k].ambiguous == cpu[k].ambiguous &&
                 lane[k].terminated == cpu[k].terminated;
    bool close = equal;
    for (int i = 0; i < 2 * task.contacts; ++i) {
      equal = equal && lane[k].c[i] == cpu[k].c[i] && lane[k].impulse[i] == cpu[k].impulse[i];
      close = close && std::abs(lane[k].c[i] - cpu[k].c[i]) <= 1e-9;
    }
    all.equal += equal, all.close += close;
  }
  return all;
}

TEST(WalkLane, WalksAreThoseOfTheCpuOneByOne) {
  std::mt19937 random(31);
  Compared all;
  for (int k = 0; k < test::trials(80); ++k) {
    const int m = 1 + k % (k % 40 == 39 ? 4 : 3);
    const ImpactProblem p = test::random_impact(random, m, 2 * m + k % 3).problem;
    // in a box so wide or narrow rounding decides which of two equal modes is found first
    const double step = k % 10 == 9 ? 1e12 : k % 10 == 8 ? 1e-6 : 0.1 + 0.1 * (k % 7);
    const Compared one =
        compare(p, step, k % 5 == 0 ? 0.01 : 0, k % 2 ? Draws::kCorners : Draws::kUniform, 200,
                static_cast<std::uint64_t>(k));
    all.walks += one.walks, all.elsewhere += one.elsewhere,
        all.equal += k % 10 < 8 ? one.equal : one.close;
    all.close += one.close, all.fallbacks += one.fallbacks;
    EXPECT_GE(one.close + one.elsewhere, one.walks) << k;
    EXPECT_GE(one.elsewhere, one.fallbacks) << "steps without a regular mode are the CPU's";
  }
#if !defined(__FMA__)
  EXPECT_EQ(all.equal + all.elsewhere, all.walks) << "the same sums in the same order";
#endif
}

// Without the modes that solve some steps these have none left: the walk is the CPU's.
TEST(WalkLane, StepsThatNoRegularModeSolvesAreTheCpus) {
  const StepTable table(test::rocking_block(), 0.3);
  WalkTask task = table.task();
  const std::uint64_t some = task.members[0] & 0x5555555555555555;
  task.members = &some;
  task.limit = 30;
  constexpr int kCount = 200;
  std::vector<Walk> cpu(kCount);
  walk_function_for("baseline")(task, 0, kCount, cpu.data(), nullptr);
  const std::vector<Walk> lane = lane_walks(task, kCount);
  int left = 0;
  for (std::size_t k = 0; k < kCount; ++k) {
    EXPECT_EQ(lane[k].steps<0, cpu[k].fallbacks> 0) << k;
    left += lane[k].steps < 0;
  }
  EXPECT_GT(left, 0);
}

/// The modes of a normalised problem as threads make them.
template <int M>
struct LaneModes {
  std::vector<double> impulse;
  std::vector<float> rough, error;
  std::vector<std::uint32_t> zeros;
  lane::Modes<M> modes{};

  explicit LaneModes(const ImpactProblem& p, double slack) {
    const double *G = p.G.data(), *mu = p.mu.data();
    const int count = lane::count_modes<M>(mu);
    const auto size = static_cast<std::size_t>(count);
    impulse.resize(size * lane::kStride<M>), rough.resize(size * lane::kRough<M>);
    error.resize(size, std::numeric_limits<float>::quiet_NaN()), zeros.resize(size);
    for (std::size_t k = 0; k < size; ++k) {
      double* L = &impulse[k * lane::kStride<M>];
      if (!lane::make_mode<M>(G, mu, static_cast<int>(k), L, zeros[k])) continue;
      error[k] = lane::rough_error<M>(G, mu, L);
      std::copy(L, L + 6 * M * M, &rough[k * lane::kRough<M>]);
    }
    modes.count = count, modes.rough = rough.data(), modes.error = error.data();
    modes.slack = static_cast<float>(slack);
    std::copy(G, G + 4 * M * M, modes.G), std::copy(mu, mu + M, modes.mu);
  }
  int regular() const {
    return static_cast<int>(
        std::count_if(error.begin(), error.end(), [](float e) { return e == e; }));
  }
};

template <int M>
void expect_modes(const ImpactProblem& given, int k) {
  const Normalised units(given);
  const std::vector<RegularMode> all = regular_modes(units.problem);
  const LaneModes<M> made(units.problem, 1e-9);
  ASSERT_EQ(made.regular(), static_cast<int>(all.size())) << k;
  std::size_t at = 0;
  for (const RegularMode& mode : all) {
    while (!(made.error[at] == made.error[at])) ++at;
    const Eigen::Map<const Eigen::MatrixXd> L(&made.impulse[at * lane::kStride<M>], 2 * M, 3 * M);
    const double most = mode.impulse.cwiseAbs().maxCoeff();
    EXPECT_LE((L - mode.impulse).cwiseAbs().maxCoeff(), 1e-8 * most * (1 + most)) << k;
    std::uint32_t zeros = 0;
    for (const int i : mode.zeros) zeros |= 1u << i;
    EXPECT_EQ(made.zeros[at++], zeros);
  }
}

TEST(WalkLane, ModesAreTheRegularOnesOfTheTable) {
  std::mt19937 random(91);
  for (int k = 0; k < test::trials(40); ++k) {
    const int m = 1 + k % 3;
    const ImpactProblem p = test::in_units(
        test::random_impact(random, m, k % 4 == 3 ? std::max(2, m) : 2 * m + k % 3).problem,
        std::pow(10.0, k % 19 - 9), std::pow(10.0, k % 13 - 6));
    m == 1 ? expect_modes<1>(p, k) : m == 2 ? expect_modes<2>(p, k) : expect_modes<3>(p, k);
  }
}

/// Outcomes of the simultaneous law as threads count them; -1: a search must tell.
template <int M>
int count_at_once(const ImpactProblem& given) {
  const Normalised units(given);
  const Eigen::VectorXd h = Eigen::VectorXd::Ones(M);
  const lane::Task<M> task = lane::task_of<M>(task_without_table(units.problem, h));
  const LaneModes<M> made(units.problem, 0);
  std::vector<double> list;
  for (int k = 0; k < made.modes.count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    double c[2 * M];
    const bool regular = made.error[at] == made.error[at];
    const lane::AtOnce what = lane::outcome_at_once<M>(
        task, k, regular ? &made.impulse[at * lane::kStride<M>] : nullptr, c);
    if (what == lane::AtOnce::kUndecided) return -1;
    if (what == lane::AtOnce::kOutcome) list.insert(list.end(), c, c + 2 * M);
  }
  return lane::count_distinct<M>(task.same, list.data(), static_cast<int>(list.size()) / (2 * M));
}

TEST(WalkLane, OutcomesOfTheSimultaneousLawAreCountedAsTheSearchDoes) {
  std::mt19937 random(23);
  int known = 0, several = 0, all = 0;
  for (int k = 0; k < test::trials(400); ++k, ++all) {
    const int m = 1 + k % 3;
    const ImpactProblem p = test::random_impact(random, m, 1 + k / 3 % (2 * m + 2)).problem;
    if (!colliding(p, p.c)) continue;
    const int count = m == 1   ? count_at_once<1>(p)
                      : m == 2 ? count_at_once<2>(p)
                               : count_at_once<3>(p);
    if (count <= 0) continue;
    const SimultaneousResult found = simultaneous(p);
    EXPECT_TRUE(found.continua.empty()) << k;
    EXPECT_EQ(count, static_cast<int>(found.outcomes.size())) << k;
    ++known, several += count > 1;
  }
  EXPECT_GT(known, all / 3);
  EXPECT_GT(several, all / 100);
}

/// Walks by trying all modes, beside those by the table.
template <int M>
Compared compare_batch(const ImpactProblem& p, double step, Draws draws, int count) {
  const StepTable table(p, step);
  WalkTask task = table.task();
  task.limit = 30, task.draws = draws, task.seed = 9;
  std::vector<Walk> cpu(static_cast<std::size_t>(count));
  walk_function_for("baseline")(task, 0, count, cpu.data(), nullptr);
  const lane::Tables<M> tables(task);
  lane::Task<M> here = lane::task_of<M>(task, tables);
  const LaneModes<M> made(table.units().problem, 1.001 * task.slack);
  here.impulse = made.impulse.data(), here.zeros = made.zeros.data();
  Compared all{.walks = count};
  for (int k = 0; k < count; ++k) {
    lane::State<M> w;
    lane::begin(here, w);
    bool solved = true;
    while (solved && !lane::over<M>(here, w))
      solved = lane::take_step<M>(here, made.modes, static_cast<std::uint64_t>(k), w);
    const Walk& other = cpu[static_cast<std::size_t>(k)];
    all.fallbacks += other.fallbacks > 0;
    all.elsewhere += !solved;
    if (!solved) continue;
    EXPECT_LE(w.residual, task.accepted);
    bool close = w.steps == other.steps && w.ambiguous == other.ambiguous;
    for (int i = 0; i < 2 * M; ++i) close = close && std::abs(w.x[i] - other.c[i]) <= 1e-8;
    all.close += close;
  }
  return all;
}

TEST(WalkLane, TryingAllModesWalksAsTheTableDoes) {
  std::mt19937 random(17);
  int walks = 0, close = 0;
  for (int k = 0; k < test::trials(40); ++k) {
    const int m = 1 + k % 3;
    const ImpactProblem p = test::random_impact(random, m, 2 * m + k % 2).problem;
    const double step = k % 10 == 9 ? 1e12 : 0.1 + 0.2 * (k % 5);
    const Draws draws = k % 2 ? Draws::kCorners : Draws::kUniform;
    const Compared one = m == 1   ? compare_batch<1>(p, step, draws, 100)
                         : m == 2 ? compare_batch<2>(p, step, draws, 100)
                                  : compare_batch<3>(p, step, draws, 20);
    walks += one.walks - one.elsewhere, close += one.close;
    EXPECT_GE(one.elsewhere, one.fallbacks);
  }
  EXPECT_GE(close, walks - walks / 500);
}

/// A device made of such threads, for two contacts; some walks it leaves, and after a while it
/// fails.
class Lanes final : public WalkDevice {
 public:
  explicit Lanes(int calls) : calls_(calls) {}
  std::string name() const override { return "lanes"; }
  std::vector<std::uint64_t> walk(const WalkTask& task, std::uint64_t first, int count, Walk* walks,
                                  WalkTotals& totals) override {
    if (calls_-- == 0) throw DeviceError("it has no memory left");
    const std::vector<Walk> all = lane_walks<2>(task, count, first);
    std::vector<std::uint64_t> left;
    std::fill_n(totals.c_min, 4, HUGE_VAL), std::fill_n(totals.c_max, 4, -HUGE_VAL);
    for (int k = 0; k < count; ++k) {
      const Walk& w = all[static_cast<std::size_t>(k)];
      if (w.steps < 0 || k % 7 == 0) {
        left.push_back(first + static_cast<std::uint64_t>(k));
        continue;
      }
      if (walks) walks[k] = w;
      ++totals.walks, totals.steps += static_cast<std::uint64_t>(w.steps);
      totals.ambiguous_steps += static_cast<std::uint64_t>(w.ambiguous);
      totals.ambiguous_walks += w.ambiguous > 0, totals.terminated += w.terminated;
      totals.most_steps = std::max(totals.most_steps, w.steps);
      totals.residual = std::max(totals.residual, w.residual);
      for (int i = 0; i < 4 && w.terminated; ++i) {
        totals.c_min[i] = std::min(totals.c_min[i], w.c[i]);
        totals.c_max[i] = std::max(totals.c_max[i], w.c[i]);
      }
    }
    return left;
  }
  std::vector<WalkRanges> batch(const WalkBatch&) override { throw DeviceError("no batches"); }

 private:
  int calls_;
};

TEST(WalkLane, ADeviceDrawsTheSetOfTheCpuAndWhatItLeavesTheCpuDoes) {
  std::mt19937 random(8);
  for (int k = 0; k < test::trials(12); ++k) {
    const ImpactProblem p = test::random_impact(random, 2, 4 + k % 3).problem;
    if (!colliding(p, p.c)) continue;
    SetOptions options{.samples = 700,
                       .step = 0.5,
                       .limit = 40,
                       .seed = 2,
                       .keep = 40,
                       .paths = k % 2 ? 9u : 0u,
                       .pack = 60};
    const SetResult cpu = set_valued(p, options);
    Lanes lanes(k % 3);  // none, one or two calls before it fails
    options.device = &lanes;
    const SetResult by = set_valued(p, options);
    EXPECT_EQ(by.device, k % 3 ? "lanes" : "");
    EXPECT_EQ(by.device_trouble, k % 3 < 2 ? "it has no memory left" : "");
    EXPECT_EQ(by.samples, cpu.samples);
    EXPECT_EQ(by.steps, cpu.steps);
    EXPECT_EQ(by.terminated, cpu.terminated);
    EXPECT_EQ(by.ambiguous_steps, cpu.ambiguous_steps);
    EXPECT_EQ(by.ambiguous_samples, cpu.ambiguous_samples);
    EXPECT_EQ(by.most_steps, cpu.most_steps);
    ASSERT_EQ(by.kept.size(), cpu.kept.size());
    const double size = p.c.norm();
    for (std::size_t i = 0; i < by.kept.size(); ++i) {
      EXPECT_EQ(by.kept[i].index, i);
      EXPECT_LE((by.kept[i].outcome.c_plus - cpu.kept[i].outcome.c_plus).norm(), 1e-9 * size);
    }
    EXPECT_EQ(by.packed.index, cpu.packed.index);
    EXPECT_LE((by.packed.c_plus - cpu.packed.c_plus).cwiseAbs().maxCoeff(), 1e-9 * size);
    ASSERT_EQ(by.paths.size(), cpu.paths.size());
    for (std::size_t i = 0; i < by.paths.size(); ++i)
      EXPECT_EQ(by.paths[i].size(), cpu.paths[i].size());
    if (cpu.terminated > 0) {
      EXPECT_LE((by.c_min - cpu.c_min).norm() + (by.c_max - cpu.c_max).norm(), 1e-9 * size);
    }
  }
}

TEST(WalkLane, FiveContactsWalkToo) {
  std::mt19937 random(5);
  const ImpactProblem p = test::random_impact(random, 5, 12).problem;
  const Compared one = compare(p, 0.3, 0, Draws::kUniform, 50, 1);
  EXPECT_EQ(one.close + one.elsewhere, one.walks);
}

}  // namespace
}  // namespace routh
