#pragma once

#include <cstdint>
#include <functional>
#include <string>

/// A person at the terminal: Ctrl-C and progress.
namespace routh::app {

/// Ctrl-C asks for an end instead of forcing it: laws and methods poll interrupted() and end with
/// what they have, exit code 3. Work that does not hear it within 0.4 s is given up, with the same
/// code and nothing written; a second Ctrl-C ends the program at once, exit code 130.
void catch_interrupt();
bool interrupted();
/// As if Ctrl-C had been pressed once, or never.
void set_interrupted(bool value);
/// The work has ended and its results are about to be written: they are no longer given up.
void finishing();
/// They have been written, and figures of them follow, which are work like any other.
void drawing();
/// For `stop` of a law: true once Ctrl-C was pressed or the seconds are over.
std::function<bool()> after(double seconds);

/// Rate and remaining time on standard error when that is a terminal; silent in a pipe. The
/// function fits SetOptions::progress: it is false once Ctrl-C was pressed. With `lines`, for work
/// of many processes whose launcher stands between, a line now and then where there is no terminal.
std::function<bool(std::uint64_t)> progress(std::uint64_t total, const std::string& what,
                                            bool lines = false);
/// A line in its place.
void show_progress(const std::string& text);
void clear_progress();

}  // namespace routh::app
