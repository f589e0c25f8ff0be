#pragma once

#include "routh/io/scenario.h"
#include "routh/simulate/trajectory.h"

/// `routh simulate --method event-selected`: the named systems of P5, and mechanisms on springs.
namespace routh::app {

/// Where they are at the end, for the terminal.
std::string describe_event_selected(const io::Scenario& scenario, const Trajectory& trajectory);

}  // namespace routh::app
