#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

/// The program as its users meet it, run from tests.
namespace routh::test {

struct Result {
  int code = -1;
  std::string out;
};

/// Runs a line of the shell.
inline Result shell(const std::string& line) {
  Result r;
  FILE* pipe = popen(line.c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
    r.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return r;
}

inline Result run_plainly(const std::string& arguments) {
  return shell(std::string(ROUTH_PROGRAM) + " " + arguments);
}
inline Result run(const std::string& arguments) { return run_plainly(arguments + " 2>&1"); }

inline nlohmann::json json_of(const std::string& arguments) {
  const Result r = run_plainly(arguments + " --json -");
  EXPECT_EQ(r.code, 0) << arguments << "\n" << r.out;
  return nlohmann::json::parse(r.out);
}

inline bool says(const Result& r, const std::string& words) {
  return r.out.find(words) != std::string::npos;
}

/// A folder of its own for each test, removed afterwards.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "routh-app-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Files and folders in it, with those inside.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    return names;
  }
  std::string folder_;
};

}  // namespace routh::test
