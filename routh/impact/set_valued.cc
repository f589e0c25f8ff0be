#include "routh/impact/set_valued.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "routh/impact/bounce_walk.h"
#include "routh/impact/extreme_draws.h"
#include "routh/impact/modes.h"
#include "routh/impact/step_table.h"
#include "routh/impact/stepwise.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kBatch = 256;        // samples a thread takes at a time
constexpr std::size_t kTrail = 4'000'000;  // numbers their recorded paths may take

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

void resize(PackedSamples& packed, int size, std::uint64_t samples) {
  const auto columns = static_cast<Eigen::Index>(samples);
  packed.impulse.resize(size, columns);
  packed.c_plus.resize(size, columns);
  packed.index.resize(samples);
  packed.steps.resize(samples);
  packed.terminated.resize(samples);
}

void set(PackedSamples& packed, std::uint64_t index, int steps, bool terminated) {
  packed.index[index] = index;
  packed.steps[index] = steps;
  packed.terminated[index] = terminated;
}

/// Those that are not done.
void drop(PackedSamples& packed, const std::vector<char>& done) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < packed.index.size(); ++i) {
    if (!done[i]) continue;
    packed.impulse.col(kept) = packed.impulse.col(i);
    packed.c_plus.col(kept) = packed.c_plus.col(i);
    set(packed, kept, packed.steps[i], packed.terminated[i]);
    packed.index[kept++] = packed.index[i];
  }
  packed.impulse.conservativeResize(Eigen::NoChange, kept);
  packed.c_plus.conservativeResize(Eigen::NoChange, kept);
  packed.index.resize(kept), packed.steps.resize(kept), packed.terminated.resize(kept);
}

/// Is the energy that an impulse takes known? Of bodies whose contacts lie far from each other,
/// compared with what they move by, rounding of G alone makes more of it than there was: then no
/// one can tell whether a sample lost energy or gained some.
class EnergyKnown {
 public:
  EnergyKnown(const ImpactProblem& problem, const SetOptions& options) : G_(problem.G.cwiseAbs()) {
    const VectorXd mobility = G_.diagonal();
    for (Eigen::Index k = 0; k < mobility.size(); ++k) {
      // what a row alone says of the energy before
      if (mobility[k] > 0) least_ = std::max(least_, problem.c[k] * problem.c[k] / mobility[k] / 2);
    }
    const double all = (options.limit * options.step + options.final_step) *
                       (1 + problem.mu.maxCoeff()) * mobility.cwiseSqrt().sum();
    always_ = kNoise * all * all <= kPart * least_;
  }
  /// Impulses of all samples are too small to matter.
  bool always() const { return always_; }
  bool operator()(const VectorXd& impulse) const {
    const VectorXd size = impulse.cwiseAbs();
    return always_ || kNoise * size.dot(G_ * size) <= kPart * least_;
  }

 private:
  static constexpr double kNoise = 2 * std::numeric_limits<double>::epsilon(), kPart = 0.1;
  MatrixXd G_;
  double least_ = 0;
  bool always_ = false;
};

void check(const ImpactProblem& problem, const SetOptions& options) {
  validate(problem);
  const auto fail = [](const std::string& what) { throw std::invalid_argument("set: " + what); };
  if (options.samples < 1 || options.samples > std::uint64_t{1} << 40)
    fail("samples is " + std::to_string(options.samples) + "; it must be between 1 and 2^40");
  if (!(options.step > 0) || !std::isfinite(options.step)) fail("step must be positive");
  if (options.limit < 1 || options.limit > 1'000'000) fail("limit must be between 1 and 1000000");
  if (!(options.final_step >= 0) || !std::isfinite(options.final_step))
    fail("final_step must not be negative");
  if (options.threads < 0) fail("threads must not be negative");
  if (options.draws == Draws::kExtremes && problem.bounces())
    fail("draws kExtremes have no restitution; e must be zero");
}

}  // namespace

SetResult set_valued(const ImpactProblem& problem, const SetOptions& options) {
  check(problem, options);
  const auto began = std::chrono::steady_clock::now();
  const int m = problem.contacts(), size = static_cast<int>(problem.c.size());
  const bool bounces = problem.bounces();
  const bool by_orders = options.draws == Draws::kExtremes;
  const bool by_table = !bounces && !by_orders && problem.tangents == 1 && m <= kMaxWalkContacts &&
                        count_modes(problem, true) <= options.max_modes;
  SetResult result;
  result.enumerated =
      by_table || by_orders || (!bounces && StepwiseWalk::enumerates(problem, options));

  // the table of modes, shared by all threads
  std::optional<StepTable> table;
  WalkTask task;
  if (by_table) {
    // a large table takes long enough to be asked for its end
    std::function<bool()> stopped;
    if (options.progress && count_modes(problem, true) > policy::kTriedAfter)
      stopped = [&] { return !options.progress(0); };
    table.emplace(problem, options.step, options.final_step, stopped);
    if (stopped && stopped()) {
      result.stopped = true;
      return result;
    }
    task = table->task();
    task.limit = options.limit;
    task.draws = options.draws;
    task.seed = options.seed;
  }
  // or orders, found once
  std::optional<ExtremeDraws> orders;
  if (by_orders)
    orders.emplace(problem, options.seed, [&] { return options.progress && !options.progress(0); });
  const WalkFunction walk = walk_function();
  const double speed = by_table ? table->units().speed : 1;
  // residuals are relative to c
  const double data = std::max(1e-300, problem.c.lpNorm<Eigen::Infinity>() / speed);

  const EnergyKnown known(problem, options);

  const std::uint64_t keep = std::min(options.keep, options.samples);
  const std::uint64_t paths = std::min(options.paths, options.samples);
  const std::uint64_t pack = std::min(options.pack, options.samples);
  result.kept.resize(keep);
  result.paths.resize(paths);
  resize(result.packed, size, pack);
  std::vector<char> done(std::max({keep, paths, pack}), 0);
  const std::size_t stride = static_cast<std::size_t>(options.limit + 2) * size;  // of a path
  const std::size_t batch =
      paths > 0   ? std::clamp<std::size_t>(kTrail / stride, 1, kBatch)
      : !by_table ? kBatch / 8  // slower samples: smaller portions keep all threads busy
                  : kBatch;

  // threads take batches of consecutive samples; every sample depends on its index alone
  std::atomic<std::uint64_t> next{0}, finished{0};
  std::atomic<bool> stop{false};
  std::atomic<int> working{0};
  std::mutex merging;
  std::condition_variable ended;
  std::exception_ptr failure;

  const auto work = [&] {
    SetTotals mine;
    std::vector<Walk> walks(kBatch);
    std::vector<double> trail;
    std::optional<StepwiseWalk> stepwise;
    std::optional<BounceWalk> bouncing;
    if (bounces)
      bouncing.emplace(problem, options);
    else if (!by_table && !by_orders)
      stepwise.emplace(problem, options);
    while (!stop) {
      const std::uint64_t first = next.fetch_add(batch);
      if (first >= options.samples) break;
      const int count = static_cast<int>(std::min<std::uint64_t>(batch, options.samples - first));
      const bool with_paths = first < paths;
      if (by_table) {
        if (with_paths) trail.resize(stride * count);
        walk(task, first, count, walks.data(), with_paths ? trail.data() : nullptr);
        for (int i = 0; i < count; ++i) {
          Walk& w = walks[i];
          const std::uint64_t index = first + i;
          if (w.terminated && !known.always() &&
              !known(table->units().impulse_to(Eigen::Map<const VectorXd>(w.impulse, size))))
            w.terminated = false, w.unsolved = true;
          const Eigen::Map<const VectorXd> c(w.c, size);
          add(mine, c * speed, w.terminated, w.steps, w.ambiguous, w.fallbacks, w.unsolved,
              w.residual / data);
          if (index < keep) {
            const Eigen::Map<const VectorXd> impulse(w.impulse, size);
            result.kept[index] = {denormalised(table->units(), {impulse, c, w.residual / data}),
                                  index, w.steps, w.terminated};
          }
          if (index < pack) {
            // as denormalised() does, without memory of its own
            const Normalised& units = table->units();
            for (int k = 0; k < size; ++k) {
              result.packed.impulse(k, index) = w.impulse[k] * units.unit[k % m];
              result.packed.c_plus(k, index) = w.c[k] * speed;
            }
            set(result.packed, index, w.steps, w.terminated);
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
          StepwiseSample s = orders     ? orders->walk(index, index < paths)
                             : bouncing ? bouncing->walk(index, index < paths)
                                        : stepwise->walk(index, index < paths);
          if (s.sample.terminated && !known(s.sample.outcome.impulse))
            s.sample.terminated = false, s.unsolved = true;
          add(mine, s.sample.outcome.c_plus, s.sample.terminated, s.sample.steps, s.ambiguous, 0,
              s.unsolved, s.sample.outcome.residual);
          if (index < paths) result.paths[index] = std::move(s.path);
          if (index < pack) {
            result.packed.impulse.col(index) = s.sample.outcome.impulse;
            result.packed.c_plus.col(index) = s.sample.outcome.c_plus;
            set(result.packed, index, s.sample.steps, s.sample.terminated);
          }
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
    const std::lock_guard lock(merging);
    --working;
    ended.notify_one();
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
      {
        std::unique_lock lock(merging);
        ended.wait_for(lock, std::chrono::milliseconds(20), [&] { return working == 0; });
      }
      if (!options.progress(finished)) stop = true;
    }
    for (std::thread& t : pool) t.join();
  }
  if (failure) std::rethrow_exception(failure);

  // what was not reached is left out
  result.stopped = stop && result.samples < options.samples;
  if (result.stopped) {
    const auto drop_from = [&](auto& list) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (done[i]) std::swap(list[kept++], list[i]);
      }
      list.resize(kept);
    };
    drop_from(result.kept);
    drop_from(result.paths);
    drop(result.packed, done);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh
