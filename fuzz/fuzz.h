#pragma once

#include <fuzzer/FuzzedDataProvider.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include "routh/io/document.h"

/// What the fuzzers share. The claim of each is the same: whatever the input, the answer is a
/// result or an error that names the mistake; the sanitizers watch, and any other exception ends
/// the run.
namespace routh::fuzz {

/// Work on input that may be wrong.
template <class Work>
void answered(const Work& work) {
  try {
    work();
  } catch (const io::InputError&) {
  } catch (const std::invalid_argument&) {
  }
}

/// For `stop` of a law: inputs are tried by the thousand.
inline std::function<bool()> soon() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  return [end] { return std::chrono::steady_clock::now() > end; };
}

/// A folder of this process, where relative paths lead.
inline void enter_own_folder() {
  const auto folder =
      std::filesystem::temp_directory_path() / ("routh-fuzz-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  std::atexit([] {
    const auto own = std::filesystem::current_path();
    std::filesystem::current_path("/");
    std::error_code ignored;
    std::filesystem::remove_all(own, ignored);
  });
}

inline void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace routh::fuzz
