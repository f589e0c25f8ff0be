#pragma once

#include <functional>
#include <string>
#include <vector>

/// Figures by gnuplot, run as a program.
namespace routh::io {

/// Throws InputError with the package to install when gnuplot is not there.
void require_gnuplot();

/// Runs a script; gnuplot's complaints become the error (std::runtime_error).
void run_gnuplot(const std::string& script);

/// Writes <folder>/<name>.png and .svg from script(terminal, output) and returns their paths.
/// Readers see a whole file or none.
std::vector<std::string> render(
    const std::string& folder, const std::string& name,
    const std::function<std::string(const std::string& terminal, const std::string& output)>&
        script);

/// A tick distance of 1, 2 or 5 times a power of ten that puts about five ticks on a range.
double tick(double low, double high);

}  // namespace routh::io
