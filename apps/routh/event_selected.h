#pragma once

#include "routh/io/scenario.h"
#include "routh/simulate/trajectory.h"

/// `routh simulate --method event-selected`: the named systems of P5, and mechanisms on springs.
namespace routh::app {

struct EventSelectedArguments {
  double eps = 1e-3;
  bool exact = false;
  double end = 1;              ///< [s]
  double every = 0;            ///< [s]; 0: 500 samples
  double stiffness = 1e4;      ///< of a mechanism's contacts [N/m]
  double contact_damping = 0;  ///< of a mechanism's contacts [N s/m]
};

/// Moves the scenario's event-selected system, or its mechanism with its contacts as springs.
/// Throws InputError or std::invalid_argument naming the parameter.
Trajectory run_event_selected(const io::Scenario& scenario, const EventSelectedArguments& a);

/// Where they are at the end, for the terminal.
std::string describe_event_selected(const io::Scenario& scenario, const Trajectory& trajectory);

}  // namespace routh::app
