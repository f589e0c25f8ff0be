#include "event_selected.h"
#include "routh/io/document.h"
#include "simulate.h"

namespace routh::app {

void add_event_selected_options(CLI::App& command, SimulateArguments& a) {
  command
      .add_option("--eps", a.eps,
                  "project to a guard from this far, in the units of its function "
                  "(default: the scenario's)")
      ->check(positive("a number"));
  command.add_flag("--exact", a.exact, "locate every event instead of projecting");
  command
      .add_option("--contact-damping", a.contact_damping, "of each contact of a mechanism [N s/m]")
      ->check(not_negative("a number"))
      ->capture_default_str();
}

Simulated simulate_event_selected(const io::Scenario& scenario, const SimulateArguments& a) {
  if (!a.places.animate.empty() && !scenario.picture())
    throw io::InputError("--animate: this system has no picture");
  EventSelectedArguments e{.eps = a.eps != 0 ? a.eps : scenario.run.simulation.eps,
                           .exact = a.exact,
                           .end = a.end != 0 ? a.end : scenario.run.simulation.end,
                           .every = a.every,
                           .contact_damping = a.contact_damping};
  if (a.stiffness != 0) e.stiffness = a.stiffness;
  io::Json options{{"exact", e.exact}, {"end", e.end}, {"every", e.every}};
  if (!e.exact) options["eps"] = e.eps;
  if (scenario.mechanism()) {
    options["stiffness"] = e.stiffness;
    options["contact_damping"] = e.contact_damping;
  }
  Trajectory trajectory = run_event_selected(scenario, e);
  std::string text = describe_event_selected(scenario, trajectory);
  return {std::move(trajectory), std::move(options), std::move(text)};
}

}  // namespace routh::app
