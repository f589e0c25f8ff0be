#include "routh/impact/set_valued.h"

#include <Random123/philox.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "routh/impact/modes.h"
#include "routh/impact/step_table.h"
#include "routh/lcp/lemke.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kBatch = 256;        // samples a thread takes at a time
constexpr std::size_t kTrail = 4'000'000;  // numbers their recorded paths may take

/// One sample whatever way it was made, in the problem's own units.
struct Sampled {
  SetSample sample;
  int ambiguous = 0, fallbacks = 0;
  bool unsolved = false;
  std::vector<VectorXd> path;
};

/// One more sample.
template <class Velocity>
void add(SetTotals& totals, const Velocity& c, bool ended, int steps, int ambiguous, int fallbacks,
         bool unsolved, double residual) {
  ++totals.samples;
  totals.steps += steps;
  totals.ambiguous_steps += ambiguous;
  totals.ambiguous_samples += ambiguous > 0;
  totals.fallback_steps += fallbacks;
  totals.unsolved += unsolved;
  totals.most_steps = std::max(totals.most_steps, steps);
  totals.max_residual = std::max(totals.max_residual, residual);
  if (!ended) return;
  if (++totals.terminated == 1) totals.c_min = totals.c_max = c;
  totals.c_min = totals.c_min.cwiseMin(c);
  totals.c_max = totals.c_max.cwiseMax(c);
}

void merge(SetTotals& totals, const SetTotals& other) {
  if (other.terminated > 0) {
    if (totals.terminated == 0) totals.c_min = other.c_min, totals.c_max = other.c_max;
    totals.c_min = totals.c_min.cwiseMin(other.c_min);
    totals.c_max = totals.c_max.cwiseMax(other.c_max);
  }
  totals.samples += other.samples;
  totals.terminated += other.terminated;
  totals.unsolved += other.unsolved;
  totals.steps += other.steps;
  totals.ambiguous_steps += other.ambiguous_steps;
  totals.ambiguous_samples += other.ambiguous_samples;
  totals.fallback_steps += other.fallback_steps;
  totals.most_steps = std::max(totals.most_steps, other.most_steps);
  totals.max_residual = std::max(totals.max_residual, other.max_residual);
}

/// Many contacts: one solution a step, of Lemke with a random covering vector.
Sampled walk_by_lemke(const ImpactProblem& problem, const SetOptions& options, std::uint64_t index,
                      bool with_path) {
  const int m = problem.contacts();
  const philox4x32_key_t key = {
      {static_cast<std::uint32_t>(options.seed), static_cast<std::uint32_t>(options.seed >> 32)}};
  const auto uniform = [&](int step, int i) {
    const philox4x32_ctr_t counter = {
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
         static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(i / 4)}};
    return (philox4x32(counter, key).v[i % 4] + 0.5) * 0x1p-32;
  };

  Sampled s;
  s.sample.index = index;
  s.sample.outcome.impulse = VectorXd::Zero(2 * m);
  ImpactProblem at = problem;
  lcp::Problem lcp = step_lcp(at, VectorXd::Zero(m));
  if (with_path) s.path.push_back(at.c);
  while (colliding(problem, at.c) && s.sample.steps <= options.limit && !s.unsolved) {
    const bool last = s.sample.steps == options.limit;
    if (last && options.final_step <= 0) break;
    VectorXd bound(m), cover(5 * m);
    for (int i = 0; i < m; ++i)
      bound[i] = last ? options.final_step : options.step * uniform(s.sample.steps, i);
    for (int i = 0; i < 5 * m; ++i) cover[i] = 0.05 + uniform(s.sample.steps, m + i);
    lcp.w << bound, at.c.head(m), VectorXd::Zero(3 * m);
    for (int i = 0; i < m; ++i)
      lcp.w[2 * m + 2 * i] = at.c[m + i], lcp.w[2 * m + 2 * i + 1] = -at.c[m + i];

    lcp::LemkeResult found = lcp::lemke(lcp, {.cover = cover});
    if (found.status != lcp::Status::kSolved) found = lcp::lemke(lcp);
    s.unsolved = found.status != lcp::Status::kSolved;
    if (s.unsolved) break;
    const VectorXd lambda = impulse_from_step_lcp(m, found.z);
    s.sample.outcome.residual = std::max(s.sample.outcome.residual, residual(at, lambda, bound));
    s.sample.outcome.impulse += lambda;
    at.c += problem.G * lambda;
    ++s.sample.steps;
    if (with_path) s.path.push_back(at.c);
  }
  s.sample.outcome.c_plus = at.c;
  s.sample.terminated = !colliding(problem, at.c);
  return s;
}

void check(const ImpactProblem& problem, const SetOptions& options) {
  validate(problem);
  const auto fail = [](const std::string& what) { throw std::invalid_argument("set: " + what); };
  if (problem.tangents != 1) fail("only planar problems (tangents = 1)");
  if (options.samples < 1 || options.samples > std::uint64_t{1} << 40)
    fail("samples is " + std::to_string(options.samples) + "; it must be between 1 and 2^40");
  if (!(options.step > 0) || !std::isfinite(options.step)) fail("step must be positive");
  if (options.limit < 1 || options.limit > 1'000'000) fail("limit must be between 1 and 1000000");
  if (!(options.final_step >= 0) || !std::isfinite(options.final_step))
    fail("final_step must not be negative");
  if (options.threads < 0) fail("threads must not be negative");
}

}  // namespace

SetResult set_valued(const ImpactProblem& problem, const SetOptions& options) {
  check(problem, options);
  const auto began = std::chrono::steady_clock::now();
  const int m = problem.contacts(), size = 2 * m;
  SetResult result;
  result.enumerated = m <= kMaxWalkContacts && count_modes(problem.mu, true) <= options.max_modes;

  // the table of modes, shared by all threads
  std::optional<StepTable> table;
  WalkTask task;
  double speed = 1;
  if (result.enumerated) {
    table.emplace(problem, options.step);
    speed = table->speed();
    task = table->task();
    task.final_step = options.final_step / speed;
    task.limit = options.limit;
    task.draws = options.draws;
    task.seed = options.seed;
  }
  const WalkFunction walk = walk_function();
  const double data = std::max(1.0, task.h);  // residuals are relative to (c, λmax)

  const std::uint64_t keep = std::min(options.keep, options.samples);
  const std::uint64_t paths = std::min(options.paths, options.samples);
  result.kept.resize(keep);
  result.paths.resize(paths);
  std::vector<char> done(std::max(keep, paths), 0);
  const std::size_t stride = static_cast<std::size_t>(options.limit + 2) * size;  // of a path
  const std::size_t batch =
      paths > 0 ? std::clamp<std::size_t>(kTrail / stride, 1, kBatch) : kBatch;

  // threads take batches of consecutive samples; every sample depends on its index alone
  std::atomic<std::uint64_t> next{0}, finished{0};
  std::atomic<bool> stop{false};
  std::atomic<int> working{0};
  std::mutex merging;
  std::exception_ptr failure;

  const auto work = [&] {
    SetTotals mine;
    std::vector<Walk> walks(kBatch);
    std::vector<double> trail;
    while (!stop) {
      const std::uint64_t first = next.fetch_add(batch);
      if (first >= options.samples) break;
      const int count = static_cast<int>(std::min<std::uint64_t>(batch, options.samples - first));
      const bool with_paths = first < paths;
      if (result.enumerated) {
        if (with_paths) trail.resize(stride * count);
        walk(task, first, count, walks.data(), with_paths ? trail.data() : nullptr);
        for (int i = 0; i < count; ++i) {
          const Walk& w = walks[i];
          const std::uint64_t index = first + i;
          const Eigen::Map<const VectorXd> c(w.c, size);
          add(mine, c * speed, w.terminated, w.steps, w.ambiguous, w.fallbacks, w.unsolved,
              w.residual / data);
          if (index < keep) {
            result.kept[index] = {
                {speed * Eigen::Map<const VectorXd>(w.impulse, size), speed * c, w.residual / data},
                index,
                w.steps,
                w.terminated};
          }
          for (int k = 0; index < paths && k <= w.steps; ++k) {
            result.paths[index].push_back(
                speed * Eigen::Map<const VectorXd>(&trail[i * stride + k * size], size));
          }
          if (index < done.size()) done[index] = 1;
        }
      } else {
        for (int i = 0; i < count && !stop; ++i) {
          const std::uint64_t index = first + i;
          Sampled s = walk_by_lemke(problem, options, index, index < paths);
          add(mine, s.sample.outcome.c_plus, s.sample.terminated, s.sample.steps, 0, 0, s.unsolved,
              s.sample.outcome.residual);
          if (index < paths) result.paths[index] = std::move(s.path);
          if (index < keep) result.kept[index] = std::move(s.sample);
          if (index < done.size()) done[index] = 1;
        }
      }
      finished += count;
    }
    const std::lock_guard lock(merging);
    merge(result, mine);
  };
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(merging);
      failure = std::current_exception();
      stop = true;
    }
    --working;
  };

  int threads = options.threads
                    ? options.threads
                    : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  threads =
      static_cast<int>(std::min<std::uint64_t>(threads, (options.samples + batch - 1) / batch));
  working = threads;
  if (threads == 1 && !options.progress) {
    guarded();
  } else {
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i) pool.emplace_back(guarded);
    while (options.progress && working > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(finished < options.samples ? 20 : 1));
      if (!options.progress(finished)) stop = true;
    }
    for (std::thread& t : pool) t.join();
  }
  if (failure) std::rethrow_exception(failure);

  // what was not reached is left out
  result.stopped = stop && result.samples < options.samples;
  if (result.stopped) {
    const auto drop = [&](auto& list) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (done[i]) std::swap(list[kept++], list[i]);
      }
      list.resize(kept);
    };
    drop(result.kept);
    drop(result.paths);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh
