#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "routh/io/family.h"
#include "routh/io/results.h"
#include "session.h"

/// The commands of the program. Each registers its options and, when chosen, leaves its exit code
/// in the session.
namespace routh::app {

inline constexpr int kDone = 0, kBadInput = 2, kUnfinished = 3;
inline constexpr const char* kExitCodes =
    "Exit codes: 0 done; 2 bad input, nothing was written; 3 not finished or not written, what "
    "there "
    "is says so; 130 after a second Ctrl-C.";

/// The whole program: reads the arguments, does what they ask, returns the exit code.
int run(int argc, char** argv);

void add_list(CLI::App& app, Session& session);
void add_show(CLI::App& app);
void add_impact(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_reproduce(CLI::App& app, Session& session);
void add_simulate(CLI::App& app, Session& session);
void add_ensemble(CLI::App& app, Session& session);
void add_map(CLI::App& app, Session& session);
void add_measured(CLI::App& app, Session& session);
void add_rerun(CLI::App& app, Session& session);
/// The manual page and the completion of shells, of all that was added before.
void add_manual(CLI::App& app);

/// All of them, as the program has them.
void define(CLI::App& app, Session& session);
/// Reads the arguments of a session, its command without the first, and does what they ask. Throws.
void obey(CLI::App& app, const Session& session);

/// A scenario with its overrides, as several commands take it.
struct ScenarioArguments {
  std::string name;
  std::vector<std::string> set;
  io::ModelStart start;
  std::string cone;
  int edges = 0;
  double touching = 0;
  bool patches = false;
  std::string restitution;
  const CLI::App* command = nullptr;  ///< whose options these are

  /// Options for scenarios and models alike.
  void add_to(CLI::App& command);
  /// Options of friction and touching, for commands about one impact.
  void add_contact_options(CLI::App& command);
  void add_restitution(CLI::App& command);
  /// Refuses options that do not belong to this kind of scenario.
  io::Scenario load() const;
  /// The same with these parameters left open; `option` names who asks.
  io::Family family(const std::string& option, const std::vector<std::string>& names) const;

 private:
  std::vector<io::Override> overrides() const;
  void prepare(io::Scenario& scenario) const;
};

/// Checks of options with messages a person can act on.
CLI::Validator positive(const std::string& what);  ///< "a number of seconds"
CLI::Validator not_negative(const std::string& what);
CLI::Validator within(double low, double high);  ///< above low, at most high
CLI::Validator from(double low, double high);    ///< both included

/// "1000", "2^20"; throws InputError naming the option.
std::uint64_t parse_count(const std::string& option, const std::string& text, double most = 0x1p63);

}  // namespace routh::app
