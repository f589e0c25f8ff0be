#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "routh/io/results.h"

/// The commands of the program. Each registers its options and, when chosen, leaves its exit code
/// in `code`.
namespace routh::app {

inline constexpr int kDone = 0, kBadInput = 2, kUnfinished = 3;

/// The whole program: reads the arguments, does what they ask, returns the exit code.
int run(int argc, char** argv);

void add_list(CLI::App& app);
void add_impact(CLI::App& app, int& code);
void add_check(CLI::App& app, int& code);
void add_reproduce(CLI::App& app, int& code);
void add_simulate(CLI::App& app, int& code);
void add_ensemble(CLI::App& app, int& code);

/// A scenario with its overrides, as several commands take it.
struct ScenarioArguments {
  std::string name;
  std::vector<std::string> set;
  io::ModelStart start;
  int edges = 0;
  double touching = 0;
  bool patches = false;

  /// Options for scenarios and models alike.
  void add_to(CLI::App& command);
  /// Options of friction and touching, for commands about one impact.
  void add_contact_options(CLI::App& command);
  io::Scenario load() const;
};

/// Checks of options with messages a person can act on.
CLI::Validator positive(const std::string& what);  ///< "a number of seconds"
CLI::Validator within(double low, double high);    ///< above low, at most high

/// "1000", "2^20"; throws InputError naming the option.
std::uint64_t parse_count(const std::string& option, const std::string& text);

}  // namespace routh::app
