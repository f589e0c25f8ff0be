#pragma once

#include "commands.h"
#include "output.h"
#include "routh/io/methods.h"
#include "routh/io/motion.h"

/// What the methods of `routh simulate` share.
namespace routh::app {

struct SimulateArguments : io::Course {
  ScenarioArguments scenario;
  std::string seed_text = "0";
  bool project = false, raw = false, at_start = false;
  std::string domain = "t";
  Places places;
};

void add_time_stepping_options(CLI::App& command, io::Course& a);
void add_event_selected_options(CLI::App& command, io::Course& a);
void add_compliant_options(CLI::App& command, io::Course& a);
/// As `simulate` and `ensemble` offer it.
void add_hybrid_options(CLI::App& command, io::Course& a);

/// Mode, accelerations and contact forces at the start, as text or JSON.
void print_at_start(const io::Scenario& scenario, const State& start, const SimulateArguments& a);
/// The derivative of the end by the start, and what events do to it.
std::string describe_derivative(const io::Motion& motion);
/// The word, accumulation points and why it stopped, for people.
std::string describe_modes(const io::Scenario& scenario, const Trajectory& trajectory);

}  // namespace routh::app
