#pragma once

#include <cstdint>
#include <functional>

namespace routh {

/// Cores of this machine where `threads` is 0.
int threads_of(int threads);

/// work(k) for every k below `count`, by several threads that take the next index each; what is
/// done depends on k alone, so that the answer is the same for any number of threads. The first
/// exception, by index, ends the work and is thrown. `progress` is called now and then with the
/// number done, by the calling thread; false ends the work. Returns false where it ended early.
bool in_parallel(std::uint64_t count, int threads, const std::function<void(std::uint64_t)>& work,
                 const std::function<bool(std::uint64_t done)>& progress = {});

}  // namespace routh
