#pragma once

#include <string>
#include <vector>

#include "routh/io/json.h"
#include "routh/io/scenario.h"
#include "routh/simulate/inclusion.h"
#include "routh/simulate/motion_derivative.h"
#include "routh/simulate/trajectory.h"

/// Simulations as JSON, CSV, figures and animations. docs/results-of-simulate in docs/simulate.md.
namespace routh::io {

/// A simulation and how it was made.
struct Motion {
  const Scenario& scenario;
  std::string method;
  Json options;
  const Trajectory& trajectory;
  const MotionDerivative* derivative = nullptr;  ///< none: not asked for

  /// Of Event::contacts.
  const std::string& contact_name(int contact) const {
    return trajectory.contact_names.empty() ? scenario.terms.contacts[contact].name
                                            : trajectory.contact_names[contact];
  }
  /// Of the state that the derivative is about.
  std::vector<std::string> state_names() const;
  /// The most energy that an impact adds [J].
  double largest_gain() const;
};

/// The keys of `routh simulate --json`; `raw` adds v^h of P3 (4.11) as v_raw.
Json to_json(const Motion& motion, bool raw = false);
/// One row per recorded state: time, coordinates, velocities, energy.
std::string to_csv(const Motion& motion);

/// Positions, velocities with the events marked, and energy; for planar mechanisms also a strip of
/// frames and an animation that browsers open. Writes files that begin with <folder>/<name> and
/// returns their paths.
std::vector<std::string> draw(const Motion& motion, const std::string& name,
                              const std::string& folder);

/// The moving mechanism as an animated .svg or .gif, or a film (.mp4, .webm; by ffmpeg), chosen by
/// the ending of the path. Throws InputError when it has another ending, or a program is missing.
void animate(const Motion& motion, const std::string& path);
/// Would it, for a model in space or a mechanism in the plane?
void check_animation(const std::string& path, bool in_space);

/// The same motion over s, P1 (53) and Fig. 8: one coordinate over t and over s, and the rates of
/// time and impulse.
Json to_json(const InclusionPath& path);
std::vector<std::string> draw(const Scenario& scenario, const InclusionPath& path,
                              const std::string& name, const std::string& folder);

}  // namespace routh::io
