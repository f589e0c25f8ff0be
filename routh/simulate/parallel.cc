#include "routh/simulate/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace routh {

int threads_of(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool in_parallel(std::uint64_t count, int threads, const std::function<void(std::uint64_t)>& work,
                 const std::function<bool(std::uint64_t)>& progress) {
  std::atomic<std::uint64_t> next = 0, done = 0;
  std::atomic<bool> stop = false;
  std::mutex guard;
  std::condition_variable ended;
  std::exception_ptr failure;
  std::uint64_t failed = count;
  int working = 0;
  const auto take = [&] {
    // who has taken an index does it: of failures the first by index is among them
    while (!stop) {
      const std::uint64_t k = next++;
      if (k >= count) break;
      try {
        work(k);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (k < failed) failed = k, failure = std::current_exception();
        stop = true;
      }
      ++done;
    }
  };

  const auto most = static_cast<std::uint64_t>(threads_of(threads));
  working = static_cast<int>(std::min(most, count));
  if (working <= 1 && !progress) {
    take();
  } else {
    // the calling thread listens, the others work
    std::vector<std::thread> pool;
    const int workers = working;
    for (int i = 0; i < workers; ++i) {
      pool.emplace_back([&] {
        take();
        const std::lock_guard lock(guard);
        --working;
        ended.notify_one();
      });
    }
    for (bool busy = true; busy;) {
      {
        std::unique_lock lock(guard);
        busy = !ended.wait_for(lock, std::chrono::milliseconds(20), [&] { return working == 0; });
      }
      if (progress && !progress(done)) stop = true;
    }
    for (std::thread& thread : pool) thread.join();
  }
  if (failure) std::rethrow_exception(failure);
  return done == count;
}

}  // namespace routh
