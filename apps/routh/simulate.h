#pragma once

#include <optional>

#include "commands.h"
#include "output.h"
#include "routh/io/json.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/inclusion.h"
#include "routh/simulate/trajectory.h"

/// What the methods of `routh simulate` share.
namespace routh::app {

/// The hybrid method as `simulate` and `ensemble` offer it.
struct HybridArguments {
  double pseudo_impulse = 0, rtol = 0;
  std::string friction = "auto";
  bool strict = false;
};
void add_hybrid_options(CLI::App& command, HybridArguments& a);
/// `end` and `every` of 0: the scenario's end, and a number of records until then.
HybridOptions hybrid_options(const io::Scenario& scenario, const HybridArguments& a, double end,
                             double every, int records);

struct SimulateArguments {
  ScenarioArguments scenario;
  std::string method;
  double step = 0, end = 0, every = 0, gamma = -1;
  std::optional<double> alpha;
  std::string jacobians = "default", law, seed = "0";
  std::string detection;  // on, off or the method's own
  bool no_stabilise = false, project = false, raw = false;
  HybridArguments hybrid;
  bool at_start = false;
  double eps = 0, stiffness = 0, contact_damping = 0;
  bool exact = false;
  double ratio = 1, damping_ratio = 5;
  bool impact_only = false;
  std::string domain = "t";
  Places places;
};

/// What a method made of a scenario.
struct Simulated {
  Trajectory trajectory;
  io::Json options;                   ///< it was made with
  std::string text = {};              ///< for people, instead of the common description
  InclusionTolerance inclusion = {};  ///< of the method's states, for --domain s
};

/// Time-stepping, P3; its options for the command line.
void add_time_stepping_options(CLI::App& command, SimulateArguments& a);
Simulated simulate_time_stepping(const io::Scenario& scenario, const State& start,
                                 const SimulateArguments& a);

/// The event-selected integrator, P5.
void add_event_selected_options(CLI::App& command, SimulateArguments& a);
Simulated simulate_event_selected(const io::Scenario& scenario, const SimulateArguments& a);

/// Contacts as stiff springs, P1 section 5.4.1.
void add_compliant_options(CLI::App& command, SimulateArguments& a);
Simulated simulate_compliant(const io::Scenario& scenario, const State& start,
                             const SimulateArguments& a);

/// The hybrid method, P4.
Simulated simulate_hybrid(const io::Scenario& scenario, const State& start,
                          const SimulateArguments& a);
/// Mode, accelerations and contact forces at the start, as text or JSON.
void print_at_start(const io::Scenario& scenario, const State& start, const SimulateArguments& a);
/// The word, accumulation points and why it stopped, for people.
std::string describe_modes(const io::Scenario& scenario, const Trajectory& trajectory);

}  // namespace routh::app
