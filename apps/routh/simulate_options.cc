#include "simulate.h"

/// Options of the methods of `routh simulate`.
namespace routh::app {

void add_time_stepping_options(CLI::App& command, io::Course& a) {
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

void add_hybrid_options(CLI::App& command, io::Course& a) {
  command
      .add_option("--pseudo-impulse", a.pseudo_impulse,
                  "forces of this duration [s] help contacts through an impact, P4 (56)")
      ->check(not_negative("a number of seconds"))
      ->capture_default_str();
  command
      .add_option("--friction", a.friction,
                  "p4 ends with the first slip, coulomb goes on; auto takes p4 on limbs "
                  "without mass")
      ->check(CLI::IsMember({"auto", "coulomb", "p4"}))
      ->capture_default_str();
  command.add_option("--rtol", a.rtol, "relative error of a step (default 1e-9)")
      ->check(positive("a number"));
  command.add_flag("--strict", a.strict,
                   "stop where several modes are consistent, even when contacts that "
                   "persist select one");
}

void add_event_selected_options(CLI::App& command, io::Course& a) {
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

void add_compliant_options(CLI::App& command, io::Course& a) {
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

}  // namespace routh::app
