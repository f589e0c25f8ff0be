// The set law on a GPU beside one core and all cores: what a sample costs, with residuals.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "routh/impact/cuda.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/step_table.h"
#include "routh/io/results.h"

namespace routh::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The median of a few.
template <class Work>
double median(int times, const Work& work) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(work());
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

struct Case {
  std::string name;
  ImpactProblem problem;
  double step;
  int limit;
};

Case scenario(const std::string& name) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario(name));
  const io::ImpactDefaults& run = impact.scenario.run.impact;
  return {name, impact.problem(), run.step, run.limit};
}

Case random_bodies(int m) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd J(2 * m, 2 * m);
  for (double& x : J.reshaped()) x = normal(random);
  ImpactProblem p{.G = J * J.transpose() + 0.1 * Eigen::MatrixXd::Identity(2 * m, 2 * m),
                  .c = Eigen::VectorXd(2 * m),
                  .mu = Eigen::VectorXd::Constant(m, 0.6)};
  for (int i = 0; i < 2 * m; ++i) p.c[i] = i < m ? -1 - std::abs(normal(random)) : normal(random);
  return {fmt::format("random-{}", m), p, 0.5, 100};
}

void row(const Case& one, WalkDevice& gpu) {
  const int m = one.problem.contacts();
  const std::uint64_t samples = std::uint64_t{1} << (m <= 2 ? 20 : m == 3 ? 18 : m == 4 ? 16 : 14);
  const double began = now();
  const StepTable table(one.problem, one.step);
  const double tables = now() - began;
  WalkTask task = table.task();
  task.limit = one.limit;
  WalkTotals totals;
  std::size_t left = 0;
  const auto count = static_cast<int>(samples);
  const auto on_gpu = [&] { left = gpu.walk(task, 0, count, nullptr, totals).size(); };
  on_gpu();
  const double kernel = median(15, [&] { return on_gpu(), cuda_kernel_seconds(); });
  const double whole = median(15, [&] {
    const double t = now();
    on_gpu();
    return now() - t;
  });
  const double many = median(3, [&] {
    gpu.walk(task, 0, 16 * count, nullptr, totals);
    return cuda_kernel_seconds() / 16;
  });
  on_gpu();
  SetOptions options{
      .samples = samples, .step = one.step, .limit = one.limit, .threads = 1, .keep = 0};
  const std::uint64_t fewer = samples / 4;
  options.samples = fewer;
  const auto on_cpu = [&] {
    const SetResult r = set_valued(one.problem, options);
    return (r.seconds - tables) / static_cast<double>(options.samples);
  };
  const double core = median(3, on_cpu);
  options.threads = 0, options.samples = samples;
  const double cores = median(3, on_cpu);
  const double each = 1e9 / static_cast<double>(samples);
  fmt::print(
      "{:<18} 2^{:<2} {:>8.3f} {:>8.3f} {:>9.3f} {:>9.2f} {:>9.1f} {:>9.2f} {:>7.0f} {:>7.1f} "
      "{:>8.1e} {:>6} {:>5}\n",
      one.name, std::lround(std::log2(samples)), 1e3 * kernel, 1e3 * whole, 1e3 * many,
      kernel * each, 1e9 * core, 1e9 * cores, core / (whole / samples), cores / (whole / samples),
      totals.residual, left,
      fmt::format("{:.2f}", static_cast<double>(totals.steps) / totals.walks));
}

/// Many impacts: P1's scenario with many frictions and velocities, 256 samples each.
void batch_row(const Case& one, WalkDevice& gpu, std::size_t impacts) {
  const int m = one.problem.contacts(), size = 2 * m;
  const std::size_t different = 4096;
  std::vector<Normalised> units;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.8, 1.2);
  std::vector<Eigen::VectorXd> h;
  for (std::size_t k = 0; k < different; ++k) {
    ImpactProblem p = one.problem;
    p.mu *= uniform(random);
    for (double& c : p.c) c *= uniform(random);
    units.emplace_back(p);
    h.push_back(one.step * units.back().unit.cwiseInverse());
  }
  WalkBatch batch{.contacts = m, .samples = 256};
  const std::vector<double> ones(static_cast<std::size_t>(size), 1.0);
  for (std::size_t k = 0; k < impacts; ++k) {
    const Normalised& u = units[k % different];
    WalkTask task;
    task.contacts = m, task.c0 = u.problem.c.data(), task.G = u.problem.G.data();
    task.mu = u.problem.mu.data(), task.h = h[k % different].data(), task.limit = one.limit;
    task.accepted = 1e-10 * u.problem.c.lpNorm<Eigen::Infinity>();
    task.same = same_velocity(u.problem), task.zero = velocity_tolerance(u.problem);
    task.slack = 1e-9 * std::max(1.0, h[k % different].maxCoeff());
    batch.items.push_back({task, ones.data(), ones.data(), nullptr});
  }
  std::vector<WalkRanges> results = gpu.batch(batch);
  const double began = now();
  results = gpu.batch(batch);
  const double whole = now() - began;
  std::size_t left = 0;
  double residual = 0;
  for (const WalkRanges& r : results) {
    left += r.left;
    if (!r.left) residual = std::max(residual, r.totals.residual);
  }
  fmt::print(
      "{:<18} {:>8} impacts x 256: kernels {:.3f} s, in all {:.3f} s, {:.2f} ns a sample, residual "
      "{:.1e}, {} left\n",
      one.name, impacts, cuda_kernel_seconds(), whole,
      1e9 * whole / (256.0 * static_cast<double>(impacts)), residual, left);
}

}  // namespace
}  // namespace routh::bench

/// All of them, or those named.
int main(int argc, char** argv) {
  using namespace routh;
  using namespace routh::bench;
  const std::vector<std::string> named(argv + 1, argv + argc);
  const auto wanted = [&](const std::string& name) {
    return named.empty() || std::find(named.begin(), named.end(), name) != named.end();
  };
  try {
    WalkDevice& gpu = cuda_device();
    fmt::print(
        "{} beside {} cores; times of the kernel and with its totals [ms], of samples [ns]\n",
        gpu.name(), std::thread::hardware_concurrency());
    fmt::print("{:<18} {:<4} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7} {:>8} {:>6} {:>5}\n",
               "", "", "kernel", "totals", "of 16", "sample", "one core", "all cores", "x core",
               "x all", "residual", "left", "steps");
    for (const char* name : {"rocking-block", "compass-gait", "ramone", "box-and-wall"}) {
      if (wanted(name)) row(scenario(name), gpu);
    }
    for (int m = 1; m <= kMaxWalkContacts; ++m) {
      if (wanted(fmt::format("random-{}", m))) row(random_bodies(m), gpu);
    }
    if (!wanted("batch")) return 0;
    for (const char* name : {"rocking-block", "compass-gait", "ramone"})
      batch_row(scenario(name), gpu, 1'000'000);
    batch_row(random_bodies(1), gpu, 1'000'000);
    batch_row(random_bodies(3), gpu, 100'000);
    batch_row(random_bodies(4), gpu, 2'000);
  } catch (const DeviceError& e) {
    fmt::print("cuda_bench: {}\n", e.what());
  }
}
