// The sampler on a GPU: one walk a thread, which takes the next one when its walk has ended. Tables
// of one and two contacts lie in shared memory; larger ones are read through the caches, all
// threads of a warp the same hyperplanes at a time.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "routh/impact/cuda.h"
#include "routh/impact/cuda_batch.h"
#include "routh/impact/cuda_memory.h"
#include "routh/impact/cuda_sums.h"
#include "routh/impact/walk_lane.h"

namespace routh {
namespace {

using cuda::check;
using cuda::clear;
using cuda::copy_to;
using cuda::from_ordered;
using cuda::Seen;
using cuda::Sums;

constexpr int kThreads = 128;

/// Do the tables of a task lie in shared memory?
template <int M>
constexpr bool kNear = M <= 2;
template <int M>
std::size_t near_bytes(const lane::Task<M>& task, int planes, int modes) {
  const auto whole = [](std::size_t bytes) { return (bytes + 15) / 16 * 16; };
  return kNear<M> ? whole(planes * sizeof(lane::Plane<M>)) + whole(modes * sizeof(std::uint32_t)) +
                        whole(sizeof(double) * modes * task.stride) +
                        whole(sizeof(std::uint64_t) * task.blocks) +
                        whole(sizeof(int) * (task.blocks + 1))
                  : 0;
}

template <int M>
__global__ void clear_sums(Sums<M>* sums) {
  clear(*sums);
}

/// Walks first .. first + count - 1. `walks`: null, or room for all.
/// `elsewhere`: those that are left to the CPU.
template <int M>
__global__ void __launch_bounds__(kThreads, M <= 2   ? 4
                                            : M <= 3 ? 3
                                                     : 2)
    walk_many(const __grid_constant__ lane::Task<M> given, int planes, int modes,
              std::uint64_t first, int count, Walk* walks, Sums<M>* sums,
              std::uint32_t* elsewhere) {
  extern __shared__ __align__(16) char shared[];
  __shared__ Sums<M> block;
  lane::Task<M> task = given;
  if (kNear<M>) {
    char* room = shared;
    task.planes = copy_to(room, given.planes, planes);
    task.impulse = copy_to(room, given.impulse, modes * given.stride);
    task.zeros = copy_to(room, given.zeros, modes);
    task.members = copy_to(room, given.members, given.blocks);
    task.begin = copy_to(room, given.begin, given.blocks + 1);
  }
  if (threadIdx.x == 0) clear(block);
  __syncthreads();

  // the number of the next walk is on its way while this one goes on
  Seen<M> seen;
  lane::State<M> w;
  int k = -1;
  unsigned after = atomicAdd(&sums->next, 1u);
  while (true) {
    if (k < 0) {
      if (after >= static_cast<unsigned>(count)) break;
      k = static_cast<int>(after);
      after = atomicAdd(&sums->next, 1u);
      lane::begin(task, w);
    }
    const bool solved = lane::take_step<M>(task, lane::ByPlanes<M>{task}, first + k, w);
    if (!solved) {
      elsewhere[atomicAdd(&sums->elsewhere, 1u)] = k;
      k = -1;
    } else if (lane::over<M>(task, w)) {
      seen.take(w, !lane::approaching<M>(task.zero, w.x));
      if (walks) lane::hand_over<M>(task, w, walks[k]);
      k = -1;
    }
  }
  __syncthreads();
  seen.add_to(block);
  cuda::add(block, *sums);
}

class Cuda final : public WalkDevice {
 public:
  Cuda() {
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "no GPU with a driver new enough was found");
    if (devices == 0) throw DeviceError("no GPU with a driver new enough was found");
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "the GPU does not answer");
    name_ = properties.name, processors_ = properties.multiProcessorCount;
    check(cudaEventCreate(&began_), "the GPU does not answer");
    check(cudaEventCreate(&ended_), "the GPU does not answer");
  }

  std::string name() const override { return name_; }
  double seconds() const { return seconds_; }

  std::vector<WalkRanges> batch(const WalkBatch& given) override {
    const std::lock_guard lock(one_at_a_time_);
    return cuda::batch(given, processors_, seconds_);
  }

  std::vector<std::uint64_t> walk(const WalkTask& task, std::uint64_t first, int count, Walk* walks,
                                  WalkTotals& totals) override {
    const std::lock_guard lock(one_at_a_time_);
    switch (task.contacts) {
      case 1:
        return walk_by<1>(task, first, count, walks, totals);
      case 2:
        return walk_by<2>(task, first, count, walks, totals);
      case 3:
        return walk_by<3>(task, first, count, walks, totals);
      case 4:
        return walk_by<4>(task, first, count, walks, totals);
      default:
        return walk_by<5>(task, first, count, walks, totals);
    }
  }

 private:
  template <int M>
  std::vector<std::uint64_t> walk_by(const WalkTask& from, std::uint64_t first, int count,
                                     Walk* walks, WalkTotals& totals) {
    // tables over
    const lane::Tables<M> tables(from);
    const int planes = static_cast<int>(tables.planes.size());
    lane::Task<M> task = lane::task_of<M>(from, tables);
    task.planes = planes_.hold(tables.planes.data(), tables.planes.size());
    task.impulse = impulse_.hold(tables.impulse.data(), tables.impulse.size());
    task.zeros = zeros_.hold(from.zeros, static_cast<std::size_t>(tables.modes));
    task.members = members_.hold(from.members, static_cast<std::size_t>(from.blocks));
    task.begin = begin_.hold(from.begin, static_cast<std::size_t>(from.blocks) + 1);
    Walk* kept = walks ? walks_.room<Walk>(static_cast<std::size_t>(count)) : nullptr;
    auto* sums = sums_.room<Sums<M>>(1);
    auto* elsewhere = elsewhere_.room<std::uint32_t>(static_cast<std::size_t>(count));

    // walk
    const std::size_t bytes = near_bytes<M>(task, planes, tables.modes);
    check(cudaFuncSetAttribute(walk_many<M>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "the GPU is too small");
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, walk_many<M>, kThreads, bytes),
          "the GPU does not take the kernel");
    const int most = std::max(1, (count + kThreads - 1) / kThreads);
    const int grid = std::min(most, std::max(1, blocks) * processors_);
    clear_sums<M><<<1, 1>>>(sums);
    check(cudaEventRecord(began_), "the GPU does not answer");
    walk_many<M><<<grid, kThreads, bytes>>>(task, planes, tables.modes, first, count, kept, sums,
                                            elsewhere);
    check(cudaGetLastError(), "the GPU does not take the kernel");
    check(cudaEventRecord(ended_), "the GPU does not answer");

    // results back
    Sums<M> all;
    check(cudaMemcpy(&all, sums, sizeof(all), cudaMemcpyDeviceToHost), "the GPU failed");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, began_, ended_), "the GPU does not answer");
    seconds_ = 1e-3 * static_cast<double>(milliseconds);
    if (walks)
      check(cudaMemcpy(walks, kept, sizeof(Walk) * static_cast<std::size_t>(count),
                       cudaMemcpyDeviceToHost),
            "the GPU failed");
    std::vector<std::uint32_t> left(all.elsewhere);
    if (!left.empty())
      check(
          cudaMemcpy(left.data(), elsewhere, sizeof(left[0]) * left.size(), cudaMemcpyDeviceToHost),
          "the GPU failed");
    std::sort(left.begin(), left.end());
    std::vector<std::uint64_t> numbers;
    for (const std::uint32_t k : left) numbers.push_back(first + k);

    totals = cuda::totals_of<M>(all, static_cast<std::uint64_t>(count) - numbers.size());
    return numbers;
  }

  std::string name_;
  int processors_ = 1;
  double seconds_ = 0;
  cudaEvent_t began_, ended_;
  std::mutex one_at_a_time_;
  cuda::Memory planes_, impulse_, zeros_, members_, begin_, walks_, sums_, elsewhere_;
};

Cuda& device() {
  // never destroyed: the driver may be gone before
  static Cuda* one = new Cuda;
  return *one;
}

}  // namespace

WalkDevice& cuda_device() { return device(); }
double cuda_kernel_seconds() { return device().seconds(); }

}  // namespace routh
