#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "routh/io/results.h"

/// What the commands show a person.
namespace routh::app {

std::string describe_before(const io::ImpactCase& impact);
/// One line a contact: velocities and state.
std::string describe_contacts(const io::ImpactCase& impact, const Eigen::VectorXd& c,
                              const std::vector<ContactState>& states);
std::string describe_outcomes(const io::ImpactCase& impact, const io::ImpactReport& report);
std::string describe_set(const io::ImpactCase& impact, const SetResult& result);

/// Ctrl-C asks for an end instead of forcing it; a second one forces it.
void catch_interrupt();
bool interrupted();

/// Rate and remaining time on standard error when that is a terminal; silent in a pipe. The
/// function fits SetOptions::progress: it is false once Ctrl-C was pressed.
std::function<bool(std::uint64_t)> progress(std::uint64_t total, const std::string& what);
void clear_progress();

}  // namespace routh::app
