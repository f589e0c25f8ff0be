#pragma once

#include <vector>

namespace routh::io {

/// A file of scenarios/, compiled into the program so that it runs from any folder.
struct BuiltinScenario {
  const char* name;
  const char* file;  ///< its path in the repository
  const char* text;
};
const std::vector<BuiltinScenario>& builtin_scenarios();

}  // namespace routh::io
