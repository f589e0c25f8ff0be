#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "routh/io/json.h"

namespace routh::app {

/// One command line while it runs.
struct Session {
  std::vector<std::string> command = {};  ///< as it was given, "routh" first
  int code = 0;                           ///< to exit with
  bool quiet = false;                     ///< --quiet
  /// Run again for comparison: JSON goes here, nothing to the screen and no file is written.
  std::string* again = nullptr;
};

/// The first keys of all JSON. `options` has effective values; what else was given to the command
/// is added.
io::Json top(const Session& session, const CLI::App& command, io::Json options);

/// Groups of options in the help, beside those of laws and methods.
inline constexpr const char *kStart = "Scenario", *kModels = "Models of MuJoCo",
                            *kResults = "Results";

/// Names of options that say where results go, which are no part of an answer.
bool names_output(const std::string& option);

}  // namespace routh::app
