#pragma once

#include <string>
#include <vector>

#include "routh/impact/polytopes.h"

/// Questions about an exact set of outcomes, and their answers.
namespace routh::io {

struct ImpactCase;

/// A number to make large or small over a set: "normal.A", "tangential.B" or "energy".
struct Objective {
  std::string name;
  int index = -1;  ///< into c; -1: energy
};
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
Answers answers(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                const Questions& questions);

}  // namespace routh::io
