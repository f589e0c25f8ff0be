// Counts calls of malloc; a sanitizer keeps malloc to itself, so there is nothing to count there.
#include <gtest/gtest.h>

#include <cstdlib>

#include "routh/io/scenario.h"
#include "routh/simulate/time_stepping.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define ROUTH_COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROUTH_COUNTS 0
#endif
#endif
#ifndef ROUTH_COUNTS
#define ROUTH_COUNTS 1
#endif

#if ROUTH_COUNTS
namespace {
bool counting = false;
long calls = 0;
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* malloc(std::size_t size) noexcept {
  calls += counting;
  return __libc_malloc(size);
}
}

namespace routh {
namespace {

TEST(Allocation, AStepAllocatesNothingOnceWarm) {
  std::vector<std::string> names{"box-stack", "stick-slip", "double-pendulum-wall", "four-bar"};
#ifdef ROUTH_HAS_MUJOCO
  names.insert(names.end(), {"quadruped", "thrown-box"});
#endif
  for (const std::string& name : names) {
    const io::Scenario s = io::load_scenario(name);
    TimeStepper stepper(*s.moving(), {0, s.q, s.v}, {.h = s.model() ? 1e-3 : 1e-4});
    for (int k = 0; k < 2000; ++k) stepper.step();
    const std::size_t events = stepper.log().events.size();
    calls = 0;
    counting = true;
    for (int k = 0; k < 200; ++k) stepper.step();
    counting = false;
    // events are recorded, and their memory is theirs
    if (stepper.log().events.size() == events) {
      EXPECT_EQ(calls, 0) << name;
    }
  }
  // the count itself works; a compiler may leave out an allocation it sees through
  void* (*volatile allocate)(std::size_t) = &std::malloc;
  calls = 0;
  counting = true;
  void* some = allocate(10);
  counting = false;
  std::free(some);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace routh
#endif
