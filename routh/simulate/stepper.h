#pragma once

#include <functional>
#include <vector>

#include "routh/impact/step_solver.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/time_stepping.h"

/// How time-stepping goes on from step to step and through its impacts. Used by simulate() and
/// TimeStepper of time_stepping.h alone.
namespace routh::stepping {

/// Velocities below this times the largest are rest.
constexpr double kStill = 1e-9;

inline StepMode sliding(double ct, double still) {
  return ct > still    ? StepMode::kSlidePositive
         : ct < -still ? StepMode::kSlideNegative
                       : StepMode::kStick;
}

/// What simulate() and TimeStepper need of a scheme: begin(), then advance() from one instant to
/// the next.
struct Scheme {
  State s;
  Eigen::VectorXd v_weighted;
  Eigen::VectorXd impulses;  // of the contact forces since the last record, as Trajectory::impulse
  Trajectory log;
  std::function<void()> record_impact = [] {};

  virtual ~Scheme() = default;
  /// Refuses open joints and penetration; closes the contacts that touch, by an impact if needed.
  virtual void begin() = 0;
  /// To the time `target`, through all impacts on the way.
  virtual void advance(double target) = 0;
};

/// P3 (4.4) with collisions found inside the step: systems whose contacts are always the same.
struct Stepper final : Scheme {
  const System& system;
  TimeSteppingOptions o;
  double alpha, gamma;
  bool midpoint;

  // what the contacts do
  Eigen::VectorXd phi, joint;
  std::vector<char> active;  // contacts whose inequality is part of the step
  std::vector<char> joined;  // of them: taken in at a distance
  std::vector<StepMode> modes;
  struct Hold {
    bool slides = false;
    int steps = 0;  // for which it has done the other
    double since = 0;
    bool pressed = false;  // by its friction though it could open; told already
  };
  std::vector<Hold> grips;  // stick or slip as reported
  int impacts_in_step = 0;
  double stride = 0;  // [m] the farthest that a gap has changed in a step so far: what is near

  // one trial step
  Terms terms;
  StepSolver solver;
  std::vector<int> in_solver;  // contact of each contact of the solver
  Eigen::MatrixXd inertia;     // M̃
  Eigen::VectorXd push, dv, v_alpha, q_new, v_new, phi_new, joint_new, motion;
  std::vector<double> gap;

  Stepper(const System& sys, const State& start, const TimeSteppingOptions& options);
  void begin() override;
  void advance(double target) override;

  // one step

  /// P3 (4.4) over dt with the active contacts, from the state to q_new, v_new, v_alpha.
  void attempt(double dt);
  /// The trial becomes the state.
  void accept();
  /// What a contact of the solver did in the step, and whether it stays.
  void follow(int place, int contact);
  /// Moves q_new so that joints and pressing contacts are closed. The velocity is not corrected,
  /// only scaled, so that the work of the motion against gravity and springs does not add energy.
  void close_gaps();
  /// Takes in the impulses of a part of the trial.
  void add_impulses(double part);
  /// How far a change of q moves contacts and joints at most, term by term [m].
  double reach_of(const Eigen::VectorXd& dq) const;
  /// Gaps below these take part in an impact, or need no correction [m]. They follow the units of
  /// the mechanism.
  double touch() const;
  double closed() const;
  void note(EventKind kind, int contact, double time);
  /// Painlevé: did friction press on a contact of the solver that slid before the step?
  bool pressed_on(int place, StepMode before) const;
  /// Says where such a contact slides, lifts off or jams and could have done either.
  void tell_others(int place, StepMode before);
  void note_solved(bool solved, double residual);

  // impacts

  /// Open contacts that the trial closes: moves to the first collision and resolves it, or takes
  /// the contact into the step. True when the rest of the step has to be tried again.
  bool collide(double dt);
  /// Painlevé: the step stops a slip at once, because friction presses the contact on harder than
  /// any force can push it out. With α < 1 its velocity would bounce: it is an impact, though
  /// without collision. True when the rest of the step has to be tried again.
  bool jam();
  /// All active contacts at once, at the current state.
  void impact();
  void impact_by_law(Event& event, Eigen::VectorXd& impulse);
  /// The compression problem of P3: a step of length zero with α = γ = 1.
  void impact_by_step(const Event& event, Eigen::VectorXd& impulse);
  void take_outcome(const ReducedImpact& reduced, const Eigen::VectorXd& v,
                    const ChosenOutcome& chosen, Event& event, Eigen::VectorXd& impulse);
  /// What the contacts do afterwards.
  void finish_impact(Event event, Eigen::VectorXd impulse);
};

}  // namespace routh::stepping
