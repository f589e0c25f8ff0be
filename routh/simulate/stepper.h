#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "routh/impact/step_solver.h"
#include "routh/simulate/recorder.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/time_stepping.h"

/// How time-stepping goes on from step to step and through its impacts. Used by simulate() and
/// TimeStepper of time_stepping.h alone.
namespace routh::stepping {

/// Velocities below this times the largest are rest.
constexpr double kStill = 1e-9;
/// Contacts that are found anew have gaps as accurate as this [m].
constexpr double kFound = 1e-9;

/// Jn v.
inline double normal_rate(const Contact& contact, const Eigen::VectorXd& v) {
  if (contact.spans.empty()) return contact.Jn.dot(v);
  double sum = 0;
  for (const auto& [from, to] : contact.spans)
    sum += contact.Jn.segment(from, to - from).dot(v.segment(from, to - from));
  return sum;
}

/// What a contact that touches does at the velocity v. Which way it slides in space the solver
/// finds out.
inline StepGuess sliding(const Contact& contact, const Eigen::VectorXd& v, double still) {
  if (contact.Jt.rows() == 2) return (contact.Jt * v).norm() > still ? Grip::kSlide : Grip::kStick;
  const double ct = contact.Jt.rows() == 1 ? contact.Jt.row(0).dot(v) : 0;
  return ct > still ? Grip::kSlidePositive : ct < -still ? Grip::kSlideNegative : Grip::kStick;
}

/// The contacts of a system, each with a number of its own that stays, whether they are listed once
/// or found anew at every configuration.
class Numbers {
 public:
  explicit Numbers(const System& system) : vary_(system.contacts_vary()) {}
  /// Of the contacts in the order of a list.
  void of(const Terms& terms, std::vector<int>& numbers);
  void of(const std::vector<std::int64_t>& ids, Eigen::Index count, std::vector<int>& numbers);
  int count() const { return count_; }

 private:
  int of(std::int64_t id);
  bool vary_;
  int count_ = 0;
  std::unordered_map<std::int64_t, int> known_;
};

class Tangent;

/// P3 (4.4) on manifolds, with collisions found inside the step or taken into it.
struct Stepper {
  State s;
  Eigen::VectorXd v_weighted;
  Recorder recorder;
  Tangent* tangent = nullptr;  ///< follows the derivative of the steps, where it is asked for

  /// `states`: are they kept, or only events and counts?
  Stepper(const System& sys, const State& start, const TimeSteppingOptions& options, bool states);
  /// Keeps the state.
  void keep();
  /// Refuses open joints and penetration; closes the contacts that touch, by an impact if needed.
  void begin();
  /// To the time `target`, through all impacts on the way.
  void advance(double target);
  /// Forces have changed: what was evaluated ahead is out of date.
  void forget() { known = false; }

 private:
  friend class Tangent;
  const System& system;
  TimeSteppingOptions o;
  Trajectory& log;
  TimeSteppingExtras& extras;
  MechanicalEnergy energy;
  bool vary;  // are contacts found anew at every configuration?
  double alpha, gamma;
  bool midpoint;
  bool detect;     // collisions are found inside the step
  bool take_near;  // or the step takes in what it could close

  // what the contacts do, by their numbers
  Numbers numbers;
  std::vector<double> phi, phi_new;  // infinite where a contact is not listed
  Eigen::VectorXd joint, joint_new;
  std::vector<char> active;  // contacts whose inequality is part of the step
  std::vector<char> joined;  // of them: taken in at a distance
  std::vector<StepGuess> guesses;
  struct Hold {
    bool pressed = false;  // is a lift-off to be told?
    bool slides = false;
    int steps = 0;  // for which it has done the other
    double since = 0;
    bool pushed = false;  // by its friction though it could open; told already
  };
  std::vector<Hold> grips;  // as reported
  std::vector<int> told;    // where contacts vary: place in log.contact_names, or -1
  int tangents = 1;
  int impacts_in_step = 0;
  double trial_end = 0;  // [s]
  double stride = 0;     // [m] the farthest that a gap has changed in a step so far: what is near

  // one trial step
  struct View {
    Terms terms;
    std::vector<int> number;  // of terms.contacts
    double time = 0;
  };
  View here, next;
  bool looked_ahead = false;  // `next` holds the end of the trial
  bool known = false;         // `here` holds the state
  std::vector<int> groups;    // of velocities that the inertia couples, then nv
  StepSolver solver, gap_solver;
  std::vector<int> in_solver;  // of here.terms.contacts, for each contact of the solver
  std::vector<char> apart;     // of them: may close by its gap before it presses
  Eigen::MatrixXd inertia;     // M̃
  Eigen::VectorXd push, dv, v_alpha, way, q_new, v_new, motion;
  Eigen::VectorXd listed;
  std::vector<std::int64_t> ids;
  std::vector<int> listed_numbers;
  std::vector<double> gap;

  const Contact& contact_of(int place) const { return here.terms.contacts[in_solver[place]]; }
  int number_of(int place) const { return here.number[in_solver[place]]; }

  // one step

  void look(double time, const Eigen::VectorXd& q, const Eigen::VectorXd& v, View& view,
            const Wanted& wanted = {});
  /// Room for all contacts seen so far.
  void make_room();
  /// Gaps at q, by number.
  void gaps_at(const Eigen::VectorXd& q, std::vector<double>& contact, Eigen::VectorXd& joints);
  /// Gaps at the end of the trial; where it pays, all that the next step needs.
  void measure_trial();
  /// P3 (4.4) over dt with the active contacts, from the state to q_new, v_new, v_alpha.
  void attempt(double dt);
  /// Where its rows and forces are taken, from (q, v).
  void go_ahead(double dt, const Eigen::VectorXd& v, Eigen::VectorXd& q) const;
  Wanted wanted() const;
  /// M̃ into `implicit`, block by block, and the impulse h k̃ of the forces. False: M̃ is M.
  bool linearise(const Terms& terms, const Eigen::VectorXd& v, double dt, Eigen::MatrixXd& implicit,
                 Eigen::VectorXd& impulse) const;
  /// Contacts nearer than this could be closed by the step [m].
  double reach_in(double dt) const;
  /// The trial becomes the state after a time dt.
  void accept(double dt);
  /// What a contact of the solver did in the step, and whether it stays.
  void follow(int place);
  /// Moves q_new so that joints and pressing contacts are closed. The velocity is not corrected,
  /// only scaled, so that the work of the motion against gravity and springs does not add energy.
  void close_gaps();
  /// The motion that closes joints and pressing contacts, and the smallest after which nothing
  /// overlaps. False when there is nothing to do, or no way to do it.
  bool close_pressing();
  bool push_out();
  bool plausible(const Contact& contact, double gap_found) const;
  /// Takes in the impulses of a part of the trial.
  void add_impulses(double part);
  /// Normal and tangential impulse of a contact of the solver, in turn.
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3, 1> solved_impulse(int place) const;
  /// How far a change of q moves contacts and joints at most, term by term [m].
  double reach_of(const Eigen::VectorXd& dq) const;
  /// Gaps below these are closed by the step without an impact, take part in the impact of others,
  /// or need no correction [m]. They follow the units of the mechanism.
  double touch() const;
  double together() const;
  double closed() const;
  /// As Event::contacts count.
  int told_as(const View& view, int listed);
  void note(EventKind kind, int place, double time);
  /// Painlevé: did friction press on a contact of the solver that slid before the step?
  bool pushed_on(int place, Grip before) const;
  /// Says where such a contact slides, lifts off or jams and could have done either.
  void tell_others(int place, Grip before);
  void note_solved(bool solved, double residual);

  // impacts

  /// Open contacts that the trial closes: moves to the first collision and resolves it, or takes
  /// the contact into the step. True when the rest of the step has to be tried again.
  bool collide(double dt);
  double first_touch(double dt, const std::vector<int>& closing);
  /// Painlevé: the step stops a slip at once, because friction presses the contact on harder than
  /// any force can push it out. With α < 1 its velocity would bounce: it is an impact, though
  /// without collision. True when the rest of the step has to be tried again.
  bool jam();
  /// All active contacts at once, at the current state.
  void impact();
  /// The state before a jump.
  Event begin_impact();
  void impact_by_law(const std::vector<int>& places, Event& event);
  /// The compression problem of P3: a step of length zero with α = γ = 1.
  void impact_by_step(const std::vector<int>& places, Event& event);
  void take_outcome(const ReducedImpact& reduced, const Eigen::VectorXd& v,
                    const ChosenOutcome& chosen, Event& event);
  /// Contacts of the solver and their impulses join an event.
  void take_solved(const std::vector<int>& places, Event& event);
  /// What the contacts do afterwards.
  void finish_impact(const std::vector<int>& places, Event event);
  /// Contacts that a step has taken in and stopped.
  void note_impact(const Eigen::VectorXd& v_minus, const Eigen::VectorXd& q_minus);
};

}  // namespace routh::stepping
