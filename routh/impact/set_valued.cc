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
#include "routh/impact/energy_known.h"
#include "routh/impact/extreme_draws.h"
#include "routh/impact/modes.h"
#include "routh/impact/step_table.h"
#include "routh/impact/stepwise.h"
#include "routh/impact/walk_device.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kBatch = 256;        // samples a thread takes at a time
constexpr std::size_t kTrail = 4'000'000;  // numbers their recorded paths may take
// samples a device takes at a time, of which totals are wanted, and of which all is
constexpr std::uint64_t kDeviceBatch = 1 << 24, kDeviceKept = 1 << 18;

/// Fewer samples than this do not repay the trial walks of a table: of two contacts these take
/// 0.4 ms and save 40 ns a sample, of five 0.3 s and 1 ms.
std::uint64_t fewest_for_trials(int contacts) { return contacts <= 2 ? 4096 : 256; }

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

void resize(PackedSamples& packed, int size, std::uint64_t samples) {
  const auto columns = static_cast<Eigen::Index>(samples);
  packed.impulse.resize(size, columns);
  packed.c_plus.resize(size, columns);
  packed.index.resize(samples);
  packed.steps.resize(samples);
  packed.terminated.resize(samples);
  packed.residual.resize(samples);
}

void set(PackedSamples& packed, std::uint64_t place, std::uint64_t index, int steps,
         bool terminated, double residual) {
  packed.index[place] = index;
  packed.steps[place] = steps;
  packed.terminated[place] = terminated;
  packed.residual[place] = residual;
}

/// Those that are not done.
void drop(PackedSamples& packed, const std::vector<char>& done) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < packed.index.size(); ++i) {
    if (!done[i]) continue;
    packed.impulse.col(kept) = packed.impulse.col(i);
    packed.c_plus.col(kept) = packed.c_plus.col(i);
    set(packed, kept++, packed.index[i], packed.steps[i], packed.terminated[i], packed.residual[i]);
  }
  packed.impulse.conservativeResize(Eigen::NoChange, kept);
  packed.c_plus.conservativeResize(Eigen::NoChange, kept);
  packed.index.resize(kept), packed.steps.resize(kept), packed.terminated.resize(kept);
  packed.residual.resize(kept);
}

/// Do walks read a table of all modes?
bool tabulated(const ImpactProblem& problem, const SetOptions& options) {
  return !problem.bounces() && options.draws != Draws::kExtremes && problem.tangents == 1 &&
         problem.contacts() <= kMaxWalkContacts && count_modes(problem, true) <= options.max_modes;
}

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

/// Totals of a device, whose velocities are in units of `speed`, residuals of `data`.
SetTotals totals_of(const WalkTotals& w, int size, double speed, double data) {
  SetTotals totals;
  totals.samples = w.walks, totals.terminated = w.terminated, totals.steps = w.steps;
  totals.ambiguous_steps = w.ambiguous_steps, totals.ambiguous_samples = w.ambiguous_walks;
  totals.most_steps = w.most_steps, totals.max_residual = w.residual / data;
  if (w.terminated > 0) {
    totals.c_min = speed * Eigen::Map<const VectorXd>(w.c_min, size);
    totals.c_max = speed * Eigen::Map<const VectorXd>(w.c_max, size);
  }
  return totals;
}

}  // namespace

std::string on_device(const ImpactProblem& problem, const SetOptions& options) {
  if (problem.bounces()) return "samples with restitution";
  if (options.draws == Draws::kExtremes) return "draws through extreme orders";
  if (problem.tangents != 1) return "contacts in space";
  if (!tabulated(problem, options))
    return "more than " + std::to_string(kMaxWalkContacts) + " contacts";
  return {};
}

/// What all samples share.
struct SetSampler::Shared {
  Shared(const ImpactProblem& of, const SetOptions& with)
      : problem(of), options(with), known(problem, options) {}

  bool table_serves() const { return tabulated(problem, options); }

  ImpactProblem problem;
  SetOptions options;
  EnergyKnown known;
  std::optional<StepTable> table;      // of modes, for all threads
  std::optional<ExtremeDraws> orders;  // or orders
  WalkTask task;
  WalkFunction walk = walk_function();
  bool enumerated = true;
  bool stopped = false;  // before there was all of it
};

SetSampler::SetSampler(const ImpactProblem& of, const SetOptions& with) {
  check(of, with);
  auto shared = std::make_shared<Shared>(of, with);
  const ImpactProblem& problem = shared->problem;
  const SetOptions& options = shared->options;
  const bool by_orders = options.draws == Draws::kExtremes, by_table = shared->table_serves();
  shared->enumerated =
      by_table || by_orders || (!problem.bounces() && StepwiseWalk::enumerates(problem, options));
  if (by_table) {
    // a large table takes long enough to be asked for its end
    std::function<bool()> stopped;
    if (options.progress && count_modes(problem, true) > policy::kTriedAfter)
      stopped = [&] { return !options.progress(0); };
    const bool pruned = options.samples > fewest_for_trials(problem.contacts());
    shared->table.emplace(problem, options.step, options.final_step, stopped, pruned);
    shared->stopped = stopped && stopped();
    shared->task = shared->table->task();
    shared->task.limit = options.limit;
    shared->task.draws = options.draws;
    shared->task.seed = options.seed;
  }
  if (by_orders)
    shared->orders.emplace(problem, options.seed,
                           [&] { return options.progress && !options.progress(0); });
  shared_ = std::move(shared);
}

SetResult SetSampler::samples(std::uint64_t begin, std::uint64_t samples) const {
  const auto began = std::chrono::steady_clock::now();
  const ImpactProblem& problem = shared_->problem;
  const SetOptions& options = shared_->options;
  const std::optional<StepTable>& table = shared_->table;
  const std::optional<ExtremeDraws>& orders = shared_->orders;
  const WalkTask& task = shared_->task;
  const WalkFunction walk = shared_->walk;
  const EnergyKnown& known = shared_->known;
  const int m = problem.contacts(), size = static_cast<int>(problem.c.size());
  const bool bounces = problem.bounces(), by_table = table.has_value();
  SetResult result;
  result.enumerated = shared_->enumerated;
  if (shared_->stopped) {
    result.stopped = true;
    return result;
  }
  const double speed = by_table ? table->units().speed : 1;
  // residuals are relative to c
  const double data = std::max(1e-300, problem.c.lpNorm<Eigen::Infinity>() / speed);

  // those of the first samples of all
  const auto wanted = [&](std::uint64_t of_all) {
    return of_all > begin ? std::min(of_all - begin, samples) : 0;
  };
  const std::uint64_t keep = wanted(options.keep), paths = wanted(options.paths),
                      pack = wanted(options.pack);
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
  std::atomic<std::size_t> next_left{0};
  std::atomic<bool> stop{false};
  std::atomic<int> working{0};
  std::mutex merging;
  std::condition_variable ended;
  std::exception_ptr failure;

  // one more walk of the table
  const auto take = [&](SetTotals& totals, Walk& w, std::uint64_t place, const double* path) {
    const std::uint64_t index = begin + place;
    if (w.terminated && !known.always() &&
        !known(table->units().impulse_to(Eigen::Map<const VectorXd>(w.impulse, size))))
      w.terminated = false, w.unsolved = true;
    const Eigen::Map<const VectorXd> c(w.c, size);
    add(totals, c * speed, w.terminated, w.steps, w.ambiguous, w.fallbacks, w.unsolved,
        w.residual / data);
    if (place < keep) {
      const Eigen::Map<const VectorXd> impulse(w.impulse, size);
      result.kept[place] = {denormalised(table->units(), {impulse, c, w.residual / data}), index,
                            w.steps, w.terminated};
    }
    if (place < pack) {
      // as denormalised() does, without memory of its own
      const Normalised& units = table->units();
      for (int k = 0; k < size; ++k) {
        result.packed.impulse(k, place) = w.impulse[k] * units.unit[k % m];
        result.packed.c_plus(k, place) = w.c[k] * speed;
      }
      set(result.packed, place, index, w.steps, w.terminated, w.residual / data);
    }
    for (int k = 0; path && place < paths && k <= w.steps; ++k)
      result.paths[place].push_back(speed * Eigen::Map<const VectorXd>(path + k * size, size));
    if (place < done.size()) done[place] = 1;
  };

  // a device takes all but the walks whose paths are wanted; what it leaves, the CPU does
  std::vector<std::uint64_t> left;
  std::uint64_t walked = 0;
  if (options.device && by_table && colliding(problem, problem.c)) {
    const std::uint64_t stored = known.always() ? std::min(samples, std::max(keep, pack)) : samples;
    for (std::uint64_t k = 0; k < paths; ++k) left.push_back(k);
    walked = paths;
    try {
      std::vector<Walk> walks;
      while (walked < samples && !stop) {
        const std::uint64_t most =
            walked < stored ? std::min(kDeviceKept, stored - walked) : kDeviceBatch;
        const auto count = static_cast<int>(std::min(most, samples - walked));
        walks.resize(walked < stored ? static_cast<std::size_t>(count) : 0);
        WalkTotals totals;
        const std::vector<std::uint64_t> others = options.device->walk(
            task, begin + walked, count, walks.empty() ? nullptr : walks.data(), totals);
        if (walks.empty()) {
          result.add(totals_of(totals, size, speed, data));
        } else {
          auto other = others.begin();
          for (int i = 0; i < count; ++i) {
            const std::uint64_t place = walked + static_cast<std::uint64_t>(i);
            if (other != others.end() && *other == begin + place)
              ++other;
            else
              take(result, walks[static_cast<std::size_t>(i)], place, nullptr);
          }
        }
        for (const std::uint64_t index : others) left.push_back(index - begin);
        result.device = options.device->name();
        walked += static_cast<std::uint64_t>(count);
        finished += static_cast<std::uint64_t>(count) - others.size();
        if (2 * others.size() > static_cast<std::size_t>(count)) {
          result.device_trouble = "most samples meet steps that no regular mode solves";
          break;
        }
        if (options.progress && !options.progress(finished)) stop = true;
      }
    } catch (const DeviceError& e) {
      result.device_trouble = e.what();
    }
  } else if (options.device) {
    const std::string what = on_device(problem, options);
    if (!what.empty()) result.device_trouble = what + " are sampled on the CPU";
  }
  next = walked;

  const auto work = [&] {
    SetTotals mine;
    std::vector<Walk> walks(kBatch);
    std::vector<double> trail;
    std::optional<StepwiseWalk> stepwise;
    std::optional<BounceWalk> bouncing;
    if (bounces)
      bouncing.emplace(problem, options);
    else if (!by_table && !orders)
      stepwise.emplace(problem, options);
    while (!stop) {
      const std::size_t k = next_left.fetch_add(1);
      if (k >= left.size()) break;
      const bool with_path = left[k] < paths;
      if (with_path) trail.resize(stride);
      walk(task, begin + left[k], 1, walks.data(), with_path ? trail.data() : nullptr);
      take(mine, walks[0], left[k], with_path ? trail.data() : nullptr);
      ++finished;
    }
    while (!stop) {
      const std::uint64_t first = next.fetch_add(batch);
      if (first >= samples) break;
      const int count = static_cast<int>(std::min<std::uint64_t>(batch, samples - first));
      const bool with_paths = first < paths;
      if (by_table) {
        if (with_paths) trail.resize(stride * count);
        walk(task, begin + first, count, walks.data(), with_paths ? trail.data() : nullptr);
        for (int i = 0; i < count; ++i)
          take(mine, walks[i], first + i, with_paths ? &trail[i * stride] : nullptr);
      } else {
        for (int i = 0; i < count && !stop; ++i) {
          const std::uint64_t place = first + i, index = begin + place;
          StepwiseSample s = orders     ? orders->walk(index, place < paths)
                             : bouncing ? bouncing->walk(index, place < paths)
                                        : stepwise->walk(index, place < paths);
          if (s.sample.terminated && !known(s.sample.outcome.impulse))
            s.sample.terminated = false, s.unsolved = true;
          add(mine, s.sample.outcome.c_plus, s.sample.terminated, s.sample.steps, s.ambiguous, 0,
              s.unsolved, s.sample.outcome.residual);
          if (place < paths) result.paths[place] = std::move(s.path);
          if (place < pack) {
            result.packed.impulse.col(place) = s.sample.outcome.impulse;
            result.packed.c_plus.col(place) = s.sample.outcome.c_plus;
            set(result.packed, place, index, s.sample.steps, s.sample.terminated,
                s.sample.outcome.residual);
          }
          if (place < keep) result.kept[place] = std::move(s.sample);
          if (place < done.size()) done[place] = 1;
        }
      }
      finished += count;
    }
    const std::lock_guard lock(merging);
    result.add(mine);
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
  const std::uint64_t portions = (samples - walked + batch - 1) / batch + left.size();
  threads = static_cast<int>(std::clamp<std::uint64_t>(portions, 1, threads));
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
  result.stopped = stop && result.samples < samples;
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

void SetTotals::add(const SetTotals& other) {
  if (other.terminated > 0) {
    if (terminated == 0) c_min = other.c_min, c_max = other.c_max;
    c_min = c_min.cwiseMin(other.c_min);
    c_max = c_max.cwiseMax(other.c_max);
  }
  samples += other.samples;
  terminated += other.terminated;
  unsolved += other.unsolved;
  steps += other.steps;
  ambiguous_steps += other.ambiguous_steps;
  ambiguous_samples += other.ambiguous_samples;
  fallback_steps += other.fallback_steps;
  most_steps = std::max(most_steps, other.most_steps);
  max_residual = std::max(max_residual, other.max_residual);
}

SetResult set_valued(const ImpactProblem& problem, const SetOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  SetResult result = SetSampler(problem, options).samples(0, options.samples);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh
