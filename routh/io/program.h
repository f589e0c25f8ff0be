#pragma once

#include <string>
#include <vector>

/// Other programs, by their standard input and output: no shell and no file name takes part.
namespace routh::io {

/// Throws InputError with the package to install when the program is not there: "figures need ..".
void require_program(const std::string& program, const std::string& what,
                     const std::string& package);

/// What it writes; its complaints become the error (std::runtime_error).
std::string run_program(const std::string& program, std::vector<std::string> arguments,
                        const std::string& input);

}  // namespace routh::io
