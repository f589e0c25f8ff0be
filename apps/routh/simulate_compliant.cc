#include <algorithm>

#include "routh/io/document.h"
#include "routh/simulate/compliant.h"
#include "simulate.h"
#include "terminal.h"

namespace routh::app {

void add_compliant_options(CLI::App& command, SimulateArguments& a) {
  command
      .add_option("--ratio", a.ratio,
                  "stiffness of the first contact over that of the others; the softer "
                  "has --stiffness")
      ->check(positive("a number"))
      ->capture_default_str();
  command
      .add_option("--damping-ratio", a.damping_ratio, "of the contacts; 5 makes impacts inelastic")
      ->check(not_negative("a number"))
      ->capture_default_str();
  command.add_flag("--impact-only", a.impact_only,
                   "stop when all contacts have touched and none approaches");
}

Simulated simulate_compliant(const io::Scenario& scenario, const State& start,
                             const SimulateArguments& a) {
  CompliantOptions o;
  const double soft = a.stiffness != 0 ? a.stiffness : 1e6;
  o.stiffness.assign(scenario.terms.contacts.size(), soft * std::max(1.0, 1 / a.ratio));
  if (!o.stiffness.empty()) o.stiffness.front() = soft * std::max(1.0, a.ratio);
  o.damping_ratio = a.damping_ratio;
  o.mass = 0;
  for (const Body& body : scenario.mechanism()->bodies()) o.mass += body.mass;
  o.end = a.end != 0 ? a.end : scenario.run.simulation.end;
  o.every = a.every;
  o.impulses = a.domain == "s";
  if (a.impact_only) o.resolved = 1e-3 * o.mass / soft;
  const auto shown = progress(1000, "simulating");
  o.progress = [&](double time) { return shown(static_cast<std::uint64_t>(1000 * time / o.end)); };
  Simulated done{simulate(*scenario.mechanism(), start, o), {}};
  clear_progress();
  // springs are pressed in, and throw back a little of the velocity: 1/(4 ζ²)
  double fastest = 0;
  for (const Eigen::VectorXd& v : done.trajectory.v)
    fastest = std::max(fastest, v.lpNorm<Eigen::Infinity>());
  done.inclusion = {.gap = std::max(1e-8, done.trajectory.max_penetration),
                    .slow = fastest / std::max(1.0, 4 * o.damping_ratio * o.damping_ratio)};
  done.options = {{"end", o.end},
                  {"every", o.every},
                  {"stiffness", o.stiffness},
                  {"damping_ratio", o.damping_ratio},
                  {"mass", o.mass},
                  {"eps", o.eps}};
  return done;
}

}  // namespace routh::app
