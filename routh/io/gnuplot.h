#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Figures by gnuplot, run as a program. Scripts come in by its standard input and pictures go out
/// by its standard output: no shell and no file name takes part. The one way of any other text
/// into a script is gnuplot_text().
namespace routh::io {

/// A string of gnuplot that shows the text, whatever is in it: every character that means anything
/// to gnuplot is written as its number, control characters become spaces, what is not UTF-8 a
/// question mark, and "]]>" gets a space that keeps SVG well-formed. Terminals with enhanced text
/// still read _ ^ { } @ & ~ in it: figures that show a user's words say noenhanced.
std::string gnuplot_text(std::string_view text);

/// Throws InputError with the package to install when gnuplot is not there.
void require_gnuplot();

/// The picture that a script draws; gnuplot's complaints become the error (std::runtime_error).
std::string run_gnuplot(const std::string& script);

/// Writes <folder>/<name>.png, .svg and .pdf from script(terminal) and returns their paths. Scripts
/// begin with "set terminal TERMINAL size W,H", in pixels of SVG; PNG has two for each of them.
std::vector<std::string> render(
    const std::string& folder, const std::string& name,
    const std::function<std::string(const std::string& terminal)>& script);

/// One curve as a data block of gnuplot, thinned out where a picture cannot show all its points and
/// broken where it is not finite.
using Series = std::vector<std::pair<double, double>>;
std::string curve_block(const std::string& name, const Series& series);
std::string curve_block(const std::string& name, const std::vector<double>& x,
                        const std::vector<double>& y);

/// A tick distance of 1, 2 or 5 times a power of ten that puts about five ticks on a range.
double tick(double low, double high);

}  // namespace routh::io
