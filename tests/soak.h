#pragma once

#include <algorithm>
#include <cstdlib>

namespace routh::test {

/// How many random problems a property is tried on: the usual number, or that many times more where
/// the environment's ROUTH_SOAK says so (`make soak`).
inline int trials(int usual) {
  const char* times = std::getenv("ROUTH_SOAK");
  return times ? usual * std::max(1, std::atoi(times)) : usual;
}

}  // namespace routh::test
