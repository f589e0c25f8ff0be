#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "routh/io/scenario.h"

/// Which laws, methods and scenarios an option is for: one table, from which the help has its
/// groups and by which an option given elsewhere is refused instead of ignored.
namespace routh::app {

/// A choice that scenarios make: their --seed draws these too.
inline constexpr const char* kInputs = "inputs with a set of values";

/// Options of --law set are a group of the help, and so on.
void group_by_scopes(CLI::App& command);

/// Throws InputError when an option was given that does not belong to what was chosen `by` --law,
/// --method or another choice of the table. Choices may have several names: "set", "set
/// --coverage".
void refuse_foreign(const CLI::App& command, const std::string& by,
                    const std::vector<std::string>& chosen);

/// The same for the kind of scenario.
void refuse_foreign(const CLI::App& command, const io::Scenario& scenario);

}  // namespace routh::app
