// Many impacts on a GPU: a block of threads makes the modes of one impact, then its walks, then
// takes the next impact. Modes in single precision lie in shared memory up to three contacts.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "routh/impact/cuda_batch.h"
#include "routh/impact/cuda_memory.h"
#include "routh/impact/cuda_sums.h"
#include "routh/impact/mode_lane.h"

namespace routh::cuda {
namespace {

constexpr int kAtATime = 1 << 16;   // impacts of a launch
constexpr double kFixed = 1 << 30;  // impulses are summed as whole numbers, in any order alike
template <int M>
constexpr int kBlock = M <= 2 ? 128 : 256;
template <int M>
constexpr int kWords = 1 << 2 * M;  // 4^M
template <int M>
constexpr bool kNearModes = M <= 3;

template <int M>
struct Item {
  lane::Task<M> task;
  double energy[2 * M], weight[M];
};

template <int M>
struct Ranges {
  Sums<M> sums;
  unsigned long long ended_steps, low_energy, high_energy;
  long long impulse;
  int simultaneous;
};

constexpr int kListed = 24;  // outcomes of the simultaneous law, repetitions included

/// Tables of modes that do not lie in shared memory, of every block.
struct Far {
  double* impulse;
  float *rough, *error;
  std::uint32_t* zeros;
  int modes;  // room for so many
};

template <int M>
__device__ unsigned word_of(const double* c, double zero) {
  unsigned word = 0;
  for (int i = 0; i < M; ++i) {
    const double normal = c[i], tangential = c[M + i];
    const unsigned state = normal > zero                         ? 0
                           : lane::magnitude(tangential) <= zero ? 1
                           : tangential > 0                      ? 2
                                                                 : 3;
    word |= state << 2 * i;
  }
  return word;
}

template <int M>
__global__ void __launch_bounds__(kBlock<M>, M <= 2   ? 4
                                             : M <= 3 ? 2
                                                      : 1)
    walk_batch(const Item<M>* items, const double* all_forms, int forms, int impacts, int samples,
               bool at_once, Far far, Ranges<M>* ranges, unsigned long long* form_ranges,
               unsigned* words) {
  extern __shared__ __align__(16) char shared[];
  __shared__ Item<M> item;
  __shared__ lane::Modes<M> modes;
  __shared__ Ranges<M> block;
  __shared__ int next, listed, undecided;
  __shared__ double list[kListed * 2 * M];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);

  // tables of this block
  double* impulse =
      far.impulse + static_cast<std::int64_t>(blockIdx.x) * far.modes * lane::kStride<M>;
  float* rough = kNearModes<M> ? reinterpret_cast<float*>(shared)
                               : far.rough + static_cast<std::int64_t>(blockIdx.x) * far.modes *
                                                 lane::kRough<M>;
  float* error = far.error + static_cast<std::int64_t>(blockIdx.x) * far.modes;
  std::uint32_t* zeros = far.zeros + static_cast<std::int64_t>(blockIdx.x) * far.modes;

  for (int p = static_cast<int>(blockIdx.x); p < impacts; p += static_cast<int>(gridDim.x)) {
    // the impact and its modes
    __syncthreads();
    const auto* from = reinterpret_cast<const std::uint64_t*>(items + p);
    for (int k = thread; k < static_cast<int>(sizeof(Item<M>) / 8); k += threads)
      reinterpret_cast<std::uint64_t*>(&item)[k] = from[k];
    __syncthreads();
    if (thread == 0) {
      clear(block.sums);
      block.ended_steps = block.high_energy = 0, block.low_energy = ~0ull, block.impulse = 0;
      next = listed = undecided = 0;
      item.task.impulse = impulse, item.task.zeros = zeros;
      modes.count = lane::count_modes<M>(item.task.mu);
      modes.rough = rough, modes.error = error, modes.slack = item.task.slack;
    }
    for (int k = thread; k < 4 * M * M; k += threads)
      modes.G[k] = static_cast<float>(item.task.G[k]);
    for (int k = thread; k < M; k += threads) modes.mu[k] = static_cast<float>(item.task.mu[k]);
    __syncthreads();
    for (int mode = thread; mode < modes.count; mode += threads) {
      double L[6 * M * M];
      const bool regular = lane::make_mode<M>(item.task.G, item.task.mu, mode, L, zeros[mode]);
      error[mode] = regular ? lane::rough_error<M>(item.task.G, item.task.mu, L) : NAN;
      for (int k = 0; k < 6 * M * M; ++k) {
        impulse[static_cast<std::int64_t>(mode) * lane::kStride<M> + k] = L[k];
        rough[static_cast<std::int64_t>(mode) * lane::kRough<M> + k] = static_cast<float>(L[k]);
      }
      if (!at_once) continue;
      double c[2 * M];
      const lane::AtOnce what = lane::outcome_at_once<M>(item.task, mode, regular ? L : nullptr, c);
      const int at = what == lane::AtOnce::kOutcome ? atomicAdd(&listed, 1) : 0;
      if (what == lane::AtOnce::kUndecided || at >= kListed) undecided = 1;
      if (what != lane::AtOnce::kOutcome || at >= kListed) continue;
      for (int i = 0; i < 2 * M; ++i) list[2 * M * at + i] = c[i];
    }
    __syncthreads();
    if (thread == 0) {
      block.simultaneous = at_once && !undecided && listed > 0
                               ? lane::count_distinct<M>(item.task.same, list, listed)
                               : -1;
    }

    // its walks
    const double* form = all_forms + static_cast<std::int64_t>(p) * forms * 2 * M;
    unsigned long long* form_range = form_ranges + static_cast<std::int64_t>(p) * forms * 2;
    Seen<M> seen;
    unsigned ended_steps = 0;
    long long pushed = 0;
    double low = HUGE_VAL, high = -HUGE_VAL;
    lane::State<M> w;
    int k = -1;
    while (true) {
      if (k < 0) {
        k = atomicAdd(&next, 1);
        if (k >= samples) break;
        lane::begin(item.task, w);
      }
      if (!lane::take_step<M>(item.task, modes, static_cast<std::uint64_t>(k), w)) {
        // the impact is the CPU's
        block.sums.elsewhere = 1;
        atomicMax(&next, samples);
        break;
      }
      if (!lane::over<M>(item.task, w)) continue;
      const bool ended = !lane::approaching<M>(item.task.zero, w.x);
      seen.take(w, ended);
      k = -1;
      if (!ended) continue;
      ended_steps += static_cast<unsigned>(w.steps);
      double energy = 0, sum = 0;
      for (int i = 0; i < 2 * M; ++i)
        energy += item.energy[i] * w.impulse[i] * (item.task.c0[i] + w.x[i]);
      for (int i = 0; i < M; ++i) sum += item.weight[i] * w.impulse[i];
      low = energy < low ? energy : low, high = energy > high ? energy : high;
      pushed += __double2ll_rn(sum * kFixed);
      for (int f = 0; f < forms; ++f) {
        double value = 0;
        for (int i = 0; i < 2 * M; ++i) value += form[f * 2 * M + i] * w.x[i];
        atomicMin(&form_range[2 * f], ordered(value));
        atomicMax(&form_range[2 * f + 1], ordered(value));
      }
      if (words)
        atomicAdd(
            &words[static_cast<std::int64_t>(p) * kWords<M> + word_of<M>(w.x, item.task.zero)], 1u);
    }
    __syncthreads();

    // together
    seen.add_to(block.sums);
    const unsigned steps = warp_sum(ended_steps);
    low = -warp_max(-low), high = warp_max(high);
    for (int d = 16; d; d /= 2) pushed += __shfl_xor_sync(~0u, pushed, d);
    if (thread % 32 == 0) {
      atomicAdd(&block.ended_steps, static_cast<unsigned long long>(steps));
      atomicAdd(reinterpret_cast<unsigned long long*>(&block.impulse),
                static_cast<unsigned long long>(pushed));
      atomicMin(&block.low_energy, ordered(low)), atomicMax(&block.high_energy, ordered(high));
    }
    __syncthreads();
    if (thread == 0) ranges[p] = block;
  }
}

__global__ void clear_forms(unsigned long long* ranges, std::int64_t count) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (k < count) ranges[k] = k % 2 ? 0 : ~0ull;
}

template <int M>
std::vector<WalkRanges> batch_of(const WalkBatch& given, int processors, double& seconds) {
  static Memory items_, forms_, impulse_, rough_, error_, zeros_, ranges_, form_ranges_, words_;
  static cudaEvent_t began = nullptr, ended = nullptr;
  if (!began) {
    check(cudaEventCreate(&began), "the GPU does not answer");
    check(cudaEventCreate(&ended), "the GPU does not answer");
  }
  int modes = 1;
  for (const WalkItem& item : given.items)
    modes = std::max(modes, lane::count_modes<M>(item.task.mu));
  const std::size_t bytes = kNearModes<M> ? sizeof(float) * modes * lane::kRough<M> : 0;
  check(cudaFuncSetAttribute(walk_batch<M>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "the GPU is too small");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, walk_batch<M>, kBlock<M>, bytes),
        "the GPU does not take the kernel");
  const int most = std::max(1, blocks) * processors;

  seconds = 0;
  std::vector<WalkRanges> results;
  results.reserve(given.items.size());
  for (std::size_t first = 0; first < given.items.size(); first += kAtATime) {
    const std::size_t impacts = std::min<std::size_t>(kAtATime, given.items.size() - first);
    const auto forms = static_cast<std::size_t>(given.forms);
    std::vector<Item<M>> items(impacts);
    std::vector<double> rows(impacts * forms * 2 * M);
    for (std::size_t p = 0; p < impacts; ++p) {
      const WalkItem& from = given.items[first + p];
      items[p].task = lane::task_of<M>(from.task);
      std::copy_n(from.energy, 2 * M, items[p].energy);
      std::copy_n(from.weight, M, items[p].weight);
      if (forms > 0) std::copy_n(from.forms, forms * 2 * M, &rows[p * forms * 2 * M]);
    }
    const int grid = std::min(most, static_cast<int>(impacts));
    const auto room = static_cast<std::size_t>(grid) * static_cast<std::size_t>(modes);
    const Far far{impulse_.room<double>(room * lane::kStride<M>),
                  rough_.room<float>(kNearModes<M> ? 1 : room * lane::kRough<M>),
                  error_.room<float>(room), zeros_.room<std::uint32_t>(room), modes};
    const auto* held = items_.hold(items.data(), impacts);
    const auto* held_rows = forms_.hold(rows.data(), rows.size());
    auto* ranges = ranges_.room<Ranges<M>>(impacts);
    auto* form_ranges = form_ranges_.room<unsigned long long>(impacts * forms * 2);
    unsigned* words = given.words ? words_.room<unsigned>(impacts * kWords<M>) : nullptr;
    check(cudaEventRecord(began), "the GPU does not answer");
    if (words)
      check(cudaMemset(words, 0, sizeof(unsigned) * impacts * kWords<M>), "the GPU failed");
    const auto numbers = static_cast<std::int64_t>(impacts * forms * 2);
    if (numbers > 0)
      clear_forms<<<static_cast<unsigned>((numbers + 255) / 256), 256>>>(form_ranges, numbers);
    walk_batch<M><<<grid, kBlock<M>, bytes>>>(held, held_rows, given.forms,
                                              static_cast<int>(impacts), given.samples,
                                              given.simultaneous, far, ranges, form_ranges, words);
    check(cudaGetLastError(), "the GPU does not take the kernel");
    check(cudaEventRecord(ended), "the GPU does not answer");

    std::vector<Ranges<M>> back(impacts);
    std::vector<unsigned long long> form_back(impacts * forms * 2);
    std::vector<std::uint32_t> words_back(words ? impacts * kWords<M> : 0);
    const auto copy = [&](auto& to, const auto* what) {
      if (!to.empty())
        check(cudaMemcpy(to.data(), what, sizeof(to[0]) * to.size(), cudaMemcpyDeviceToHost),
              "the GPU failed");
    };
    copy(back, ranges), copy(form_back, form_ranges), copy(words_back, words);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, began, ended), "the GPU does not answer");
    seconds += 1e-3 * static_cast<double>(milliseconds);

    for (std::size_t p = 0; p < impacts; ++p) {
      const Ranges<M>& r = back[p];
      WalkRanges& one = results.emplace_back();
      one.left = r.sums.elsewhere != 0;
      if (one.left) continue;
      one.totals = totals_of<M>(r.sums, static_cast<std::uint64_t>(given.samples));
      one.ended_steps = r.ended_steps, one.simultaneous = r.simultaneous;
      one.impulse = static_cast<double>(r.impulse) / kFixed;
      one.low_energy = from_ordered(r.low_energy), one.high_energy = from_ordered(r.high_energy);
      for (std::size_t f = 0; f < forms; ++f) {
        one.low_forms.push_back(from_ordered(form_back[(p * forms + f) * 2]));
        one.high_forms.push_back(from_ordered(form_back[(p * forms + f) * 2 + 1]));
      }
      if (words)
        one.words.assign(&words_back[p * kWords<M>], &words_back[p * kWords<M>] + kWords<M>);
    }
  }
  return results;
}

}  // namespace

std::vector<WalkRanges> batch(const WalkBatch& given, int processors, double& seconds) {
  switch (given.contacts) {
    case 1:
      return batch_of<1>(given, processors, seconds);
    case 2:
      return batch_of<2>(given, processors, seconds);
    case 3:
      return batch_of<3>(given, processors, seconds);
    case 4:
      return batch_of<4>(given, processors, seconds);
    default:
      throw DeviceError("the GPU takes batches of up to four contacts");
  }
}

}  // namespace routh::cuda
