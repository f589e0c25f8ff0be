#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

/// Which way a motion takes where the laws of contact leave several.
namespace routh {

/// A state from which there are several ways on.
struct Fork {
  const Mode& before;
  const std::vector<Continuation>& ways;  ///< first the one that is taken unless said otherwise
  std::size_t event;                      ///< of Trajectory::events, which the way begins with
};
/// The number of one of the ways.
using Choice = std::function<std::size_t(const Fork& fork)>;

/// A number of its own for each index (splitmix64): seeds of runs, draws of decisions.
inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ull * (index + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// The system of a motion of which inputs have sets of values: every one is drawn with even odds
/// and kept from the start to the end, so that the motion solves P1's inclusion. None: it has none.
inline std::unique_ptr<System> with_drawn_inputs(const System& system, std::uint64_t seed) {
  return system.with_inputs([seed](std::size_t i) {
    constexpr std::uint64_t kInputs = 0x696e70757473;  // draws of their own
    return std::ldexp(static_cast<double>(mixed(mixed(kInputs, seed), i) >> 11), -53);
  });
}

/// Each way with the same odds.
inline Choice drawn_ways(std::uint64_t seed) {
  return [seed](const Fork& fork) {
    return static_cast<std::size_t>(mixed(seed, fork.event) % fork.ways.size());
  };
}

}  // namespace routh
