#pragma once

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/routh/commands.h"
#include "apps/routh/terminal.h"
#include "fuzz.h"

/// The whole program under a fuzzer, without programs beside it.
namespace routh::fuzz {

/// Presses Ctrl-C when a command takes long.
class Impatience {
 public:
  Impatience() : thread_([this] { wait(); }) {}
  ~Impatience() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
    app::set_interrupted(false);
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    if (!wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return done_; }))
      app::set_interrupted(true);
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

/// Files in a folder of its own, no gnuplot, no screen.
inline int prepare() {
  enter_own_folder();
  ::setenv("PATH", "", 1);
  return std::freopen("/dev/null", "w", stdout) && std::freopen("/dev/null", "r", stdin) ? 0 : 1;
}

/// Runs a command line; its exit code must be one of ours.
inline void run(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const Impatience impatience;
  const int code = app::run(static_cast<int>(arguments.size()), argv.data());
  if (code != app::kDone && code != app::kBadInput && code != app::kUnfinished) std::abort();
}

}  // namespace routh::fuzz
