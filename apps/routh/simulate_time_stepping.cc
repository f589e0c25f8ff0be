#include <fmt/format.h>

#include <algorithm>

#include "routh/io/document.h"
#include "routh/simulate/time_stepping.h"
#include "simulate.h"
#include "terminal.h"

namespace routh::app {
namespace {

TimeSteppingOptions time_stepping_options(const io::Scenario& scenario,
                                          const SimulateArguments& a) {
  TimeSteppingOptions o;
  o.h = a.step != 0 ? a.step : scenario.simulation.step;
  o.alpha = a.alpha;
  if (a.gamma >= 0) o.gamma = a.gamma;
  o.end = a.end != 0 ? a.end : scenario.simulation.end;
  o.every = a.every;
  o.jacobians = a.jacobians == "start"      ? Jacobians::kStart
                : a.jacobians == "midpoint" ? Jacobians::kMidpoint
                                            : Jacobians::kDefault;
  o.detection = !a.no_detection;
  o.stabilise = !a.no_stabilise;
  o.edges = scenario.edges.value_or(0);
  o.touching = scenario.touching;
  if (scenario.model) {
    const auto refuse = [](bool given, const char* what) {
      if (given) throw io::InputError(what);
    };
    refuse(o.alpha.value_or(1) != 1, "--alpha: models in space are stepped with alpha = 1");
    refuse(o.gamma.value_or(1) != 1, "--gamma: models in space are stepped with gamma = 1");
    refuse(o.jacobians == Jacobians::kMidpoint,
           "--jacobians midpoint: models in space take rows at the start of a step");
    refuse(
        !o.detection,
        "--no-detection: models in space are stepped without it; it belongs to planar mechanisms");
  }
  o.impulses = a.domain == "s";
  if (a.law == "plastic") throw io::InputError("--law plastic: only --method hybrid has it");
  // in the plane it is the scheme's own law; in space impacts are found where a law is asked for
  if (!a.law.empty() && (a.law != "simultaneous" || scenario.model))
    o.law = impact_law(a.law, parse_count("--seed", a.seed));
  return o;
}

io::Json options_json(const io::Scenario& scenario, const TimeSteppingOptions& o,
                      const SimulateArguments& a) {
  const double alpha = o.alpha.value_or(scenario.model ? 1 : 0.5);
  return {
      {"step", o.h},
      {"alpha", alpha},
      {"gamma", o.gamma.value_or(alpha)},
      {"end", o.end},
      {"every", o.every},
      {"jacobians", a.jacobians == "default" ? (alpha == 0.5 ? "midpoint" : "start") : a.jacobians},
      {"detection", o.detection},
      {"stabilise", o.stabilise},
      {"law", a.law.empty() ? "simultaneous" : a.law}};
}

}  // namespace

void add_time_stepping_options(CLI::App& command, SimulateArguments& a) {
  command.add_option("--step", a.step, "step h [s] (default: the scenario's)")
      ->check(positive("a number of seconds"));
  command
      .add_option("--alpha", a.alpha,
                  "0.5 is second order (trapezoidal), 1 is Anitescu-Potra (default: "
                  "0.5, models in space 1)")
      ->check(within(0, 1));
  command
      .add_option("--gamma", a.gamma,
                  "weight of the new velocity in the position (default: alpha); "
                  "--gamma 0.5 --alpha 1 is Moreau's midpoint rule")
      ->check(from(0, 1));
  command
      .add_option("--jacobians", a.jacobians,
                  "take constraint rows at the start or the midpoint of the step "
                  "(default: midpoint when alpha is 0.5)")
      ->check(CLI::IsMember({"start", "midpoint"}));
  command.add_flag("--no-detection", a.no_detection, "do not look for the instants of collisions");
  command.add_flag("--no-stabilise", a.no_stabilise, "let joints and contacts drift");
}

Simulated simulate_time_stepping(const io::Scenario& scenario, const State& start,
                                 const SimulateArguments& a) {
  TimeSteppingOptions options = time_stepping_options(scenario, a);
  const auto shown = progress(static_cast<std::uint64_t>(options.end / options.h), "simulating");
  options.progress = [&](double time) {
    return shown(static_cast<std::uint64_t>(time / options.h));
  };
  Simulated done{simulate(*scenario.moving(), start, options), options_json(scenario, options, a)};
  clear_progress();
  // at the instant of a collision the other contacts are closed to the order of the scheme
  done.inclusion = {.gap = std::max(1e-6, 4 * options.h * options.h), .slow = options.h};
  return done;
}

}  // namespace routh::app
