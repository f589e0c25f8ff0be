#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "routh/io/json.h"
#include "routh/io/scenario.h"
#include "routh/simulate/ensemble.h"
#include "routh/simulate/inclusion.h"
#include "routh/simulate/motion_derivative.h"

/// Scenarios through time, by any method: what `routh simulate`, `routh ensemble` and Python share.
namespace routh::io {

/// How a scenario is to be moved. Zeros and what is not given: the scenario's own, or the method's.
struct Course {
  std::string method;
  double end = 0, every = 0;  ///< [s]
  std::string law;            ///< of impacts: time-stepping, hybrid
  std::uint64_t seed = 0;     ///< of the law set
  bool impulses = false;      ///< record those of the contact forces
  bool derivative = false;    ///< of the end by the start; not of compliant contacts
  // time-stepping
  double step = 0;  ///< h [s]
  std::optional<double> alpha, gamma;
  std::string jacobians = "default", detection;  ///< start or midpoint; on or off
  bool no_stabilise = false;
  // hybrid
  double pseudo_impulse = 0;  ///< [s]
  double rtol = 0;
  std::string friction = "auto";  ///< coulomb or p4
  bool strict = false;
  // event-selected
  double eps = 0;
  bool exact = false;          ///< locates every event
  double contact_damping = 0;  ///< [N s/m]
  // event-selected and compliant
  double stiffness = 0;  ///< of a contact [N/m]
  // compliant
  double ratio = 1, damping_ratio = 5;
  bool impact_only = false;
  /// Called now and then with the time reached [s]; false ends the motion.
  std::function<bool(double time)> progress = {};
};

/// What a method made of a scenario.
struct Simulated {
  Trajectory trajectory;
  Json options;                       ///< it was made with
  InclusionTolerance inclusion = {};  ///< of the method's states, for P1 (53)
  std::optional<MotionDerivative> derivative = {};
};

/// A method of simulation. All of them stand in one list, from which follow the choices and their
/// help.
struct Method {
  std::string name, about;
  std::function<Simulated(const Scenario&, const State&, const Course&)> run;
  bool systems = false;  ///< moves named systems too, and all from where they begin
  bool springs = false;  ///< contacts are springs: they do not bounce by a coefficient
};
const std::vector<Method>& methods();
/// The method of a course, or the scenario's own. Throws InputError where there is none of that
/// name, or where it does not move what this scenario is.
const Method& method_of(const Scenario& scenario, const Course& course);

/// Throws InputError where P1 (53) does not speak of such motions, which --domain s asks for.
void check_inclusion(const Scenario& scenario, const Method& method);

/// Where the scenario begins, with joints closed by `project`. Throws InputError where they are
/// open.
State start_of(const Scenario& scenario, bool project);
/// How much the velocity at the start violates the joints [m/s]; 0: not by more than rounding.
double joint_rate(const Scenario& scenario, const State& start);

/// Refuses motions of more steps, or more recorded numbers, than a machine can hold: `step` and
/// `every` of 0 are not bounded by it, `numbers` are those of a recorded state.
void check_budget(double end, double step, double every, double numbers);

/// Between two records [s], where nobody says it: so many over the scenario's own time, as dense up
/// to forty times as long, so that what swings is not recorded once in a few swings.
double usual_every(const Scenario& scenario, double end, int records);

/// Moves the scenario. Throws InputError and std::invalid_argument naming what to change.
Simulated simulate(const Scenario& scenario, const State& start, const Course& course);

HybridOptions hybrid_options(const Scenario& scenario, const Course& course, int records);
/// Time-stepping, with what `law` and `detection` ask for.
TimeSteppingOptions time_stepping_options(const Scenario& scenario, const Course& course);

/// How every run of an ensemble moves.
struct Moves {
  std::string method;
  MotionByLaw motion;
  Json options;
  double end, every, step;
};
/// Hybrid; of models, and of mechanisms with more than a dozen contacts, time-stepping.
std::string ensemble_method(const Scenario& scenario);
/// By the method of the course, else by that one. Throws InputError where nothing moves, or not so.
Moves moves_of(const Scenario& scenario, const State& start, const Course& course);

}  // namespace routh::io
