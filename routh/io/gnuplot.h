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

/// Writes <folder>/<name>.png, .svg and .pdf from script(terminal), and what the script plots as
/// <name>-data.tex, tables of pgfplots; returns their paths. Scripts begin with "set terminal
/// TERMINAL size W,H", in pixels of SVG; PNG has two for each of them.
std::vector<std::string> render(
    const std::string& folder, const std::string& name,
    const std::function<std::string(const std::string& terminal)>& script);

/// The data blocks of a script as tables of pgfplots: \pgfplotstableread{..}{\routhNAME}, digits of
/// names as letters from a on, nan where a line is broken. Blocks without rows are left out, and
/// those that are not numbers.
std::string pgfplots_data(const std::string& script);

/// One curve as a data block of gnuplot, broken where it is not finite. Where there are more points
/// than a picture can show, each of its columns keeps the first, the lowest, the highest and the
/// last: what swings fast fills the band between its extremes, as the whole curve would.
using Series = std::vector<std::pair<double, double>>;
std::string curve_block(const std::string& name, const Series& series);
std::string curve_block(const std::string& name, const std::vector<double>& x,
                        const std::vector<double>& y);

/// A tick distance of 1, 2 or 5 times a power of ten that puts about five ticks on a range.
double tick(double low, double high);
/// The same on an axis of so many pixels of SVG, fewer where their labels would touch.
double tick(double low, double high, double pixels, bool across);

}  // namespace routh::io
