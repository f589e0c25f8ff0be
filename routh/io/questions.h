#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routh/impact/longest.h"
#include "routh/impact/polytopes.h"
#include "routh/impact/witness.h"
#include "routh/simulate/path_sensitivity.h"

/// Questions about an exact set of outcomes, and their answers.
namespace routh::io {

struct ImpactCase;

/// A number to make large or small over a set: "energy", or a linear form over contact and
/// generalised velocities such as "normal.A" or "v[2] - 0.5*tangential.B", or over the normal
/// impulses of contacts, "impulse.A", and their sum, "impulse".
struct Objective {
  std::string name;
  Eigen::VectorXd q = {};  ///< over c; empty: energy
  double constant = 0;     ///< the value is q · c + constant
  /// The same, as factors of contact velocities and of generalised ones.
  Eigen::VectorXd of_contacts = {}, of_velocity = {};
  Eigen::VectorXd load = {};  ///< over the total impulse, of what is over it
};
/// Normal and tangential velocities of all contacts, then energy: what --law witnesses looks at.
std::vector<Objective> every_objective(const ImpactCase& impact);
/// Throws InputError naming the option.
Objective parse_objective(const ImpactCase& impact, const std::string& option,
                          const std::string& text);
/// "0,0.1,0,-0.2": normals, then tangentials. Throws InputError naming the option.
Eigen::VectorXd parse_contact_velocity(const ImpactCase& impact, const std::string& option,
                                       const std::string& text);

struct Questions {
  std::vector<Objective> maximize = {}, minimize = {};
  std::vector<Eigen::VectorXd> contains = {};  ///< can the impact end there?
};

/// How an extreme moves with the impact; not a number where it is not smooth.
struct Sensitivity {
  Eigen::VectorXd velocity, friction, mass;  ///< of the value, by what went into the impact
  PathSensitivity path;                      ///< of the velocity where it is taken

  bool smooth() const { return path.smooth(); }
};

struct Extreme {
  double value = 0;
  Eigen::VectorXd c;      ///< the contact velocity where it is taken
  std::string name = {};  ///< of the objective
  std::string unit = {};  ///< of the value
  /// No outcome is beyond: an upper bound of a maximum, a lower bound of a minimum.
  std::optional<double> bound = {};
  std::optional<Witness> witness = {};  ///< how it is reached
  std::optional<Sensitivity> sensitivity = {};
};
Extreme maximize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective);
Extreme minimize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective);

struct Contained {
  Eigen::VectorXd c;  ///< that was asked for
  Nearest nearest;    ///< point of the set
  bool reachable = false;
};

struct Answers {
  std::vector<Extreme> maximize = {}, minimize = {};
  std::vector<Contained> contains = {};
};
/// From a set, exact or containing it, and from witnesses; either may be missing. What is asked of
/// impulses, of which a set of velocities says nothing, has its exact ranges in `impulses`, maxima
/// first, as far as they are known.
Answers answers(const ImpactCase& impact, const std::vector<Polytope>& pieces, bool exact,
                const Questions& questions, const std::optional<WitnessResult>& found = {},
                const std::vector<std::optional<ImpulseRange>>& impulses = {});

/// What makes an objective large, or small.
WitnessTarget witness_target(const Objective& objective, bool most);
/// The extremes that are asked for, maxima first, as the search takes them.
std::vector<WitnessTarget> witness_targets(const Questions& questions);
/// The best values of a search so far: "normal.A up to 0.0839, energy down to 0".
std::string search_text(const ImpactCase& impact, const Questions& questions,
                        const std::vector<double>& best);
/// "A and B push and stick, C pushes and slides +"
std::string phase_text(const ImpactCase& impact, const WitnessPhase& phase);

}  // namespace routh::io
