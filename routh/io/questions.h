#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routh/impact/polytopes.h"
#include "routh/impact/witness.h"

/// Questions about an exact set of outcomes, and their answers.
namespace routh::io {

struct ImpactCase;

/// A number to make large or small over a set: "energy", or a linear form over contact and
/// generalised velocities such as "normal.A" or "v[2] - 0.5*tangential.B".
struct Objective {
  std::string name;
  Eigen::VectorXd q = {};  ///< over c; empty: energy
  double constant = 0;     ///< the value is q · c + constant
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

struct Extreme {
  double value = 0;
  Eigen::VectorXd c;      ///< the contact velocity where it is taken
  std::string name = {};  ///< of the objective
  /// No outcome is beyond: an upper bound of a maximum, a lower bound of a minimum.
  std::optional<double> bound = {};
  std::optional<Witness> witness = {};  ///< how it is reached
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
/// From a set, exact or containing it, and from witnesses; either may be missing.
Answers answers(const ImpactCase& impact, const std::vector<Polytope>& pieces, bool exact,
                const Questions& questions, const std::optional<WitnessResult>& found = {});

/// The extremes that are asked for, maxima first, as the search takes them.
std::vector<WitnessTarget> witness_targets(const Questions& questions);
/// The best values of a search so far: "normal.A up to 0.0839, energy down to 0".
std::string search_text(const ImpactCase& impact, const Questions& questions,
                        const std::vector<double>& best);
/// "A and B push and stick, C pushes and slides +"
std::string phase_text(const ImpactCase& impact, const WitnessPhase& phase);

}  // namespace routh::io
