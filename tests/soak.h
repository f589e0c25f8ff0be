#pragma once

#include <algorithm>
#include <cstdlib>

namespace routh::test {

/// How many random problems a property is tried on: the usual number, or that many times more where
/// the environment's ROUTH_SOAK says so (`make soak`); a fifth under sanitizers, which look for
/// other faults and take ten to thirty times as long.
inline int trials(int usual) {
#ifdef ROUTH_SANITIZED
  usual = std::max(1, usual / 5);
#endif
  const char* times = std::getenv("ROUTH_SOAK");
  return times ? usual * std::max(1, std::atoi(times)) : usual;
}

}  // namespace routh::test
