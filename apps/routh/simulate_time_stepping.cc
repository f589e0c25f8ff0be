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
  o.h = a.step != 0 ? a.step : scenario.run.simulation.step;
  o.alpha = a.alpha;
  if (a.gamma >= 0) o.gamma = a.gamma;
  o.end = a.end != 0 ? a.end : scenario.run.simulation.end;
  o.every = a.every;
  o.jacobians = a.jacobians == "start"      ? Jacobians::kStart
                : a.jacobians == "midpoint" ? Jacobians::kMidpoint
                                            : Jacobians::kDefault;
  if (!a.detection.empty()) o.detection = a.detection == "on";
  o.stabilise = !a.no_stabilise;
  o.edges = scenario.run.edges.value_or(0);
  o.touching = scenario.run.touching;
  o.impulses = a.domain == "s";
  if (a.law == "plastic") throw io::InputError("--law plastic: only --method hybrid has it");
  // in the plane it is the scheme's own law; in space impacts are found where a law is asked for
  if (!a.law.empty() && (a.law != "simultaneous" || scenario.model())) {
    if (a.detection == "off")
      throw io::InputError("--law: needs the instants of impacts; leave out --detection off");
    o.law = impact_law(a.law, parse_count("--seed", a.seed));
  }
  if (scenario.run.restitution != Restitution::kByLaw)
    o.law = with_restitution(o.law ? o.law : impact_law("simultaneous"), scenario.run.restitution);
  return o;
}

io::Json options_json(const TimeSteppingOptions& o, const SimulateArguments& a) {
  io::Json json{{"step", o.h},
                {"alpha", *o.alpha},
                {"gamma", *o.gamma},
                {"end", o.end},
                {"every", o.every},
                {"jacobians", o.jacobians == Jacobians::kMidpoint ? "midpoint" : "start"},
                {"detection", *o.detection},
                {"stabilise", o.stabilise},
                {"tolerance", o.tolerance},
                {"law", a.law.empty() ? "simultaneous" : a.law}};
  if (a.law == "set") json["seed"] = parse_count("--seed", a.seed);
  return json;
}

}  // namespace

void add_time_stepping_options(CLI::App& command, SimulateArguments& a) {
  command.add_option("--step", a.step, "step h [s] (default: the scenario's)")
      ->check(positive("a number of seconds"));
  command
      .add_option("--alpha", a.alpha,
                  "0.5 is second order (trapezoidal), 1 is Anitescu-Potra (default: "
                  "0.5, models 1)")
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
  CLI::Option* detection =
      command
          .add_option("--detection", a.detection,
                      "look for the instants of collisions inside a step (default: on; models with "
                      "alpha 1 and without --law: off)")
          ->check(CLI::IsMember({"on", "off"}));
  command
      .add_flag_callback(
          "--no-detection", [&a] { a.detection = "off"; }, "the same as --detection off")
      ->excludes(detection);
  command.add_flag("--no-stabilise", a.no_stabilise, "let joints and contacts drift");
}

Simulated simulate_time_stepping(const io::Scenario& scenario, const State& start,
                                 const SimulateArguments& a) {
  TimeSteppingOptions options = time_stepping_options(scenario, a);
  const auto shown = progress(static_cast<std::uint64_t>(options.end / options.h), "simulating");
  options.progress = [&](double time) {
    return shown(static_cast<std::uint64_t>(time / options.h));
  };
  Simulated done{simulate(*scenario.moving(), start, options),
                 options_json(completed(*scenario.moving(), options), a)};
  clear_progress();
  // at the instant of a collision the other contacts are closed to the order of the scheme
  done.inclusion = {.gap = std::max(1e-6, 4 * options.h * options.h), .slow = options.h};
  return done;
}

}  // namespace routh::app
