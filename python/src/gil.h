#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <thread>

/// The interpreter's lock in threads that work without it, also while the program ends.
namespace routh::python {

/// A thread that asks an interpreter at its end for the lock is killed by it, and takes the program
/// along. From here on such threads wait for the end instead.
inline std::atomic<bool> leaving = false;
inline std::thread::id leaver;          // the thread that ends the program
inline std::atomic<int> elsewhere = 0;  // work under way

/// Called by Python's atexit, before the interpreter ends: lets those who wait for the lock
/// through.
inline void leave() {
  leaver = std::this_thread::get_id();
  leaving = true;
  if (elsewhere == 0) return;
  const pybind11::gil_scoped_release without;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

class Gil {
 public:
  Gil() = default;

 private:
  struct Wait {
    Wait() {
      while (leaving && std::this_thread::get_id() != leaver)
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  };
  Wait wait_;
  pybind11::gil_scoped_acquire gil_;
};

/// Counts work that goes on without the lock.
struct Working {
  Working() { ++elsewhere; }
  ~Working() { --elsewhere; }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
};

}  // namespace routh::python
