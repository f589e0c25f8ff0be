// The command line: one argument a line, files in a folder of its own, no programs beside it.

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "apps/routh/commands.h"
#include "apps/routh/terminal.h"
#include "fuzz.h"

namespace routh::fuzz {
namespace {

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

}  // namespace
}  // namespace routh::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  routh::fuzz::enter_own_folder();
  ::setenv("PATH", "", 1);  // no gnuplot
  if (!std::freopen("/dev/null", "w", stdout)) return 1;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace routh;
  std::vector<std::string> arguments{"routh"};
  std::string word;
  for (std::size_t i = 0; i <= size; ++i) {
    if (i < size && data[i] != '\n') {
      word += data[i] == '/' ? '_' : static_cast<char>(data[i]);  // stays in the folder
    } else {
      if (!word.empty()) arguments.push_back(word);
      word.clear();
    }
  }
  if (arguments.size() > 24) return 0;
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const fuzz::Impatience impatience;
  const int code = app::run(static_cast<int>(arguments.size()), argv.data());
  if (code != app::kDone && code != app::kBadInput && code != app::kUnfinished) std::abort();
  return 0;
}
