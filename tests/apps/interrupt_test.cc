// Ctrl-C and budgets of time, as a person meets them: the program is started and watched.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

extern char** environ;

namespace routh {
namespace {

using Clock = std::chrono::steady_clock;

struct Ended {
  int code = -1;       ///< -1: by a signal
  double seconds = 0;  ///< from the signal, or from the start without one
};

/// Runs the program, standard output into a file; Ctrl-C after some seconds, again after more.
class Interrupt : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("routh-interrupt-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Ended run(std::vector<std::string> arguments, std::vector<double> interrupts = {}) {
    std::string program = ROUTH_PROGRAM;
    std::vector<char*> argv{program.data()};
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out().c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    pid_t child = -1;
    EXPECT_EQ(::posix_spawn(&child, program.c_str(), &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    auto from = Clock::now();
    for (const double seconds : interrupts) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      from = Clock::now();
      ::kill(child, SIGINT);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            std::chrono::duration<double>(Clock::now() - from).count()};
  }
  /// A body of unit inertia that lands on many contacts, as a file.
  std::string contacts(int m) const {
    const int n = m + 4;
    const auto rows = [&](int count, auto&& entry) {
      std::string text = "[";
      for (int i = 0; i < count; ++i) {
        text += i ? ", [" : "[";
        for (int k = 0; k < n; ++k) text += (k ? ", " : "") + std::to_string(entry(i, k));
        text += "]";
      }
      return text + "]\n";
    };
    const std::string path = (folder_ / (std::to_string(m) + ".yaml")).string();
    std::ofstream file(path);
    file << "M: " << rows(n, [](int i, int k) { return i == k ? 1.0 : 0.0; });
    file << "Jn: " << rows(m, [](int i, int k) { return k ? std::sin(13 * i + 78 * k) : 1.0; });
    file << "Jt: " << rows(m, [](int i, int k) { return k ? std::sin(17 * i + 41 * k) : 0.0; });
    file << "mu: [";
    for (int i = 0; i < m; ++i) file << (i ? ", 0.5" : "0.5");
    file << "]\nv: [-3";
    for (int k = 1; k < n; ++k) file << ", " << std::sin(5 * k);
    file << "]\n";
    return path;
  }
  std::string out() const { return (folder_ / "out").string(); }
  nlohmann::json json() const {
    std::ifstream file(out());
    return nlohmann::json::parse(file, nullptr, false);
  }

  std::filesystem::path folder_;
};

// Half a second is promised; machines that run tests are busy.
constexpr double kSoon = 2;

TEST_F(Interrupt, EndsEveryLawWithWhatItHas) {
  const std::vector<std::vector<std::string>> commands{
      {"impact", contacts(8), "--law", "simultaneous"},
      {"impact", contacts(12), "--law", "sequential"},
      {"impact", contacts(12), "--law", "all"},
      {"impact", contacts(40), "--law", "set", "--samples", "2^30"},
      {"impact", "rocking-block", "--law", "set", "--samples", "2^36"},
      {"impact", "disk-stack", "--law", "witnesses"},
      {"impact", "disk-stack", "--law", "exact"},
  };
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--json", "-"});
    const Ended ended = run(command, {0.7});
    EXPECT_LT(ended.seconds, kSoon) << command[1] << " " << command[3];
    if (ended.code == 0) continue;  // a fast machine
    EXPECT_EQ(ended.code, 3) << command[1] << " " << command[3];
    ASSERT_TRUE(json().is_object()) << command[1] << " " << command[3];
    // all the orders it follows, and none of them ended: it was done before
    if (json()["summary"].value("orders_left", false) && json()["summary"]["states"] > 20'000)
      continue;
    EXPECT_EQ(json()["summary"]["incomplete"], true) << command[1] << " " << command[3];
  }
}

TEST_F(Interrupt, WritesAFewOfManyKeptOutcomes) {
  const Ended ended = run({"impact", contacts(12), "--law", "set", "--samples", "2^30", "--keep",
                           "100000", "--json", "-"},
                          {3});
  EXPECT_EQ(ended.code, 3);
  EXPECT_LT(ended.seconds, kSoon);
  ASSERT_TRUE(json().is_object());
  EXPECT_EQ(json()["summary"]["incomplete"], true);
  EXPECT_EQ(json()["summary"]["kept"], json()["outcomes"].size());
  EXPECT_LE(json()["outcomes"].size(), 2000u);
}

TEST_F(Interrupt, WritesAFewWhereManyAreBeingWritten) {
  // all is sampled long before; a hundred thousand rows take longer to put into words
  for (const double seconds : {0.3, 0.5, 0.8}) {
    const Ended ended = run({"impact", "ramone", "--law", "set", "--samples", "2^17", "--keep",
                             "131072", "--json", "-"},
                            {seconds});
    EXPECT_LT(ended.seconds, kSoon);
    ASSERT_TRUE(json().is_object());
    EXPECT_EQ(json()["summary"]["kept"], json()["outcomes"].size());
    if (json()["outcomes"].size() < 100'000u) {
      EXPECT_EQ(json()["summary"]["incomplete"], true);
      EXPECT_EQ(ended.code, 3);
    }
  }
}

TEST_F(Interrupt, EndsMotionsAndEnsemblesWithWhatTheyHave) {
  const std::vector<std::vector<std::string>> commands{
      {"simulate", "domino-row", "--end", "100", "--step", "1e-5", "--every", "0.01"},
      {"simulate", "rocking-block-p4", "--method", "hybrid", "--end", "1e6", "--every", "10"},
      {"ensemble", "compass-gait", "--runs", "1000000", "--end", "10"},
      {"check", contacts(12)}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--json", "-"});
    const Ended ended = run(command, {0.7});
    EXPECT_LT(ended.seconds, kSoon) << command[0] << " " << command[1];
    if (ended.code == 0) continue;
    EXPECT_EQ(ended.code, 3) << command[0] << " " << command[1];
    ASSERT_TRUE(json().is_object()) << command[0] << " " << command[1];
    EXPECT_TRUE(json().value("incomplete", false)) << command[0] << " " << command[1];
  }
}

TEST_F(Interrupt, EndsWorkThatDoesNotHearIt) {
  const Ended ended = run({"reproduce", "all", "--out", (folder_ / "results").string()}, {0.7});
  EXPECT_EQ(ended.code, 3);
  EXPECT_LT(ended.seconds, kSoon);
}

TEST_F(Interrupt, ASecondOneEndsTheProgramAtOnce) {
  // what comes first may already have ended it
  const Ended ended = run(
      {"impact", "rocking-block", "--law", "set", "--samples", "2^36", "--json", "-"}, {0.5, 0.15});
  EXPECT_TRUE(ended.code == 130 || ended.code == 3) << ended.code;
  EXPECT_LT(ended.seconds, kSoon);
}

// timeout(1) sends it to the process and to its group
TEST_F(Interrupt, OneThatIsSentTwiceIsOne) {
  const Ended ended = run(
      {"simulate", "stick-slip", "--step", "1e-6", "--end", "1000", "--every", "1", "--json", "-"},
      {0.5, 0});
  EXPECT_NE(ended.code, 130);
  EXPECT_LT(ended.seconds, kSoon);
  ASSERT_TRUE(json().is_object());
  EXPECT_EQ(json()["status"], "interrupted");
}

TEST_F(Interrupt, ASetKeepsItsBudgetOfTime) {
  for (const double budget : {0.5, 3.0}) {
    const Ended ended = run({"impact", "disk-stack", "--law", "exact", "--json", "-",
                             "--max-seconds", std::to_string(budget)});
    EXPECT_LT(ended.seconds, 1.2 * budget + 0.5 + 1);  // and a busy machine
    ASSERT_TRUE(json().is_object());
    const std::string status = json()["summary"]["status"];
    // a bound is a bound, and no bound is no success
    if (status == "bracket") {
      EXPECT_EQ(ended.code, 0);
      EXPECT_FALSE(json()["set"].empty());
    } else {
      EXPECT_EQ(status, "incomplete");
      EXPECT_EQ(ended.code, 3);
      EXPECT_TRUE(json()["set"].empty());
    }
  }
}

// The search, what confirms its paths, and the bounds beside them.
TEST_F(Interrupt, WitnessesKeepTheirBudgetOfTime) {
  const Ended ended =
      run({"impact", "disk-stack", "--law", "witnesses", "--json", "-", "--max-seconds", "0.5"});
  EXPECT_LT(ended.seconds, 1.2 * 0.5 + 0.5 + 1);  // and a busy machine
  ASSERT_TRUE(json().is_object());
  EXPECT_EQ(json()["summary"]["incomplete"], true);
}

TEST_F(Interrupt, ACheckAnswersInSeconds) {
  const Ended ended = run({"check", contacts(40), "--json", "-"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_LT(ended.seconds, 15);
  EXPECT_TRUE(json()["searched"].contains("samples"));
}

}  // namespace
}  // namespace routh
