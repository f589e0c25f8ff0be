#pragma once

#include <cmath>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "routh/ode/dormand_prince.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/recorder.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/zeno.h"

/// How a hybrid execution goes on from event to event. Used by simulate() of hybrid.h alone.
namespace routh::hybrid {

inline bool slides(Grip grip) {
  return grip == Grip::kSlidePositive || grip == Grip::kSlideNegative;
}
/// Throws std::invalid_argument unless it holds.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

/// What is watched in a mode: its value crosses zero downwards at an event.
struct Guard {
  enum Kind { kGap, kNormal, kConePositive, kConeNegative, kRest, kPressed, kShared } kind;
  int contact;                 // -1: all that share their forces
  double value = 0;            // at the beginning of the step
  bool armed = false;          // has it been clearly positive since the last event?
  bool muted = false;          // until then
  double least = 0, most = 0;  // of the stages of the step

  /// May it fall below zero and rise again within a step?
  bool dips() const {
    return kind == kNormal || kind == kConePositive || kind == kConeNegative || kind == kRest;
  }
};

/// A gap at an instant of a step.
struct Sight {
  double at, gap, rate;  // [s], [m], [m/s]
};

/// One execution. run() settles the first instant, then takes steps of the integrator, each cut at
/// the first guard that is reached; settle() makes all transitions there.
struct Execution {
  const System& system;
  const HybridOptions& o;
  ModeKernel kernel;
  ContactLogic logic;
  ode::DormandPrince<Eigen::VectorXd> solver;
  ZenoWatch zeno;
  Recorder recorder;
  Trajectory& log;
  HybridExtras& extras;
  MechanicalEnergy energy;

  double t;
  Eigen::VectorXd q, v, x;
  Mode mode;
  ModeKernel::Layout layout;
  std::vector<Guard> guards;
  std::vector<double> gap_rates;   // of the guards that are gaps
  std::deque<double> recent;       // times of the last events
  std::string trouble;             // why the last flow that failed did
  Eigen::VectorXd phi, joint_gap;  // of gaps alone
  Eigen::VectorXd bends;           // of gaps in this step; empty: not yet asked for
  double glimpsed = 0;             // the stage seen last [s]
  bool elsewhere = false;          // is the kernel not at the end of the step any more?
  double since_impact = 0;         // time passed [s]; not lost where time itself hardly moves
  double stride = 0;               // of the last short step over a state without a mode [s]
  bool stormy = false;             // are there more events than allowed in a short time?
  double calm = 0;                 // end of the last storm [s]
  double weathered = 0;            // how long it was passed [s]
  double told = -HUGE_VAL;         // when other ways than a slide were told [s]
  bool begins = false;             // has the flow just begun?
  int futile = 0;                  // guards that fired at the beginning of a step without an event

  Execution(const System& s, const State& start, const HybridOptions& options);

  int contacts() const { return static_cast<int>(mode.size()); }
  /// False, and nothing finite, where there is no motion.
  bool flow(double at, const Eigen::VectorXd& state, Eigen::VectorXd& dxdt);
  auto field() {
    return [this](double at, const Eigen::VectorXd& state, Eigen::VectorXd& dxdt) {
      flow(at, state, dxdt);
    };
  }
  /// The same for a step, whose stages guards see.
  auto watched_field() {
    return [this](double at, const Eigen::VectorXd& state, Eigen::VectorXd& dxdt) {
      if (flow(at, state, dxdt)) glimpse(at);
    };
  }
  std::string name(const Mode& m) const { return to_string(m, kernel.terms().contacts); }

  // the start

  /// Closed is what touches and does not separate; the first instant is settled by run().
  void begin();

  /// Contacts at rest grip, others slide.
  Grip start_grip(int k) const;

  void check_mode(const Mode& wanted) const;

  // events

  /// Takes a mode: its rows, its guards, the state on its constraints.
  void enter(const Mode& next);

  /// All transitions at this instant: an impact, then what the forces ask for (P4 theorem 8).
  /// `near`: gaps up to this are closed.
  void settle(double near);

  void impact(const std::vector<int>& scope);

  /// Any law of the engine; the mode is read off its outcome.
  void law_impact(const std::vector<int>& scope, Event& event, Mode& next);
  void take_outcome(const ReducedImpact& reduced, const Outcome& outcome, Event& event, Mode& next);
  Mode mode_after(const ReducedImpact& reduced, const Outcome& outcome) const;

  /// An impulse where no force keeps the sliding contacts; false where it does not change the
  /// motion.
  bool without_collision(const std::vector<int>& scope);

  /// Painlevé: where friction presses on a contact that slides with a consistent force, lifting off
  /// and an impact without collision may be consistent too. Says so, or stops when strict. True
  /// where another way than sliding on was chosen, and has begun.
  bool leave_slide();

  /// A transition without impulse when the forces ask for one.
  bool release(const std::vector<int>& scope);

  /// The transition, among all that were consistent.
  void change_to(const Mode& next, const std::vector<Mode>& all, std::size_t taken);
  static EventKind kind_of(const Mode& after, const Mode& before);

  void note(Event event);

  /// The end: events without number at one instant.
  void storm();
  /// More events than allowed in a short time, as many bodies have that rock on each other until
  /// they rest: on by short steps of time, for which it does not matter how many there are. False
  /// where such steps cannot be taken.
  bool weather();

  // where the logic does not decide

  /// Which of several modes follows: the one in which most grips persist (A4), of those one drawn
  /// by the seed; or the one of these `ways` that is chosen.
  std::size_t decide(const std::vector<Mode>& modes) const;
  std::size_t persisting(const std::vector<Mode>& modes) const;
  std::size_t choose(const std::vector<Continuation>& among) const;
  static std::vector<Continuation> ways(const std::vector<Mode>& modes, std::size_t taken);
  /// Strict executions end where several modes are consistent.
  bool several(const ModeChoice& choice, const char* problem);
  /// The end, where nothing else is left.
  void blocked(const char* problem);

  /// IV as the simultaneous law of P1 (31), which has a solution also where contacts depend on each
  /// other (A2 fails) or are many. False where friction jams.
  bool complementary_impact(const std::vector<int>& scope, Event& event, Mode& next);
  /// FA as a complementarity problem of accelerations: the modes its solutions show, where they
  /// hold. It has a solution also where contacts depend on each other or are many.
  std::vector<Mode> force_modes(const std::vector<int>& scope);
  /// Does a mode go on, by its own forces or by some that contacts share?
  bool holds(const Mode& wanted, const std::vector<int>& scope);
  /// Are there forces within the cones for the motion of a mode, where it does not say which?
  bool shares_forces(const Mode& wanted, const std::vector<int>& scope);
  /// Contacts that are open because others of the mode hold them already, and what they do under an
  /// acceleration: they may press all the same.
  Mode beside(const Mode& of, const ModeKernel::Response& now) const;
  bool held_by_others(Mode by, int contact) const;
  /// FA as the complementarity problem of a short step of time, which has a solution wherever the
  /// friction cone is pointed, be it an impulse: the mode that its solution shows where it holds,
  /// else the step itself. Steps that follow each other grow. False where friction jams.
  bool step_over(const std::vector<int>& scope);
  /// P3's step over a time h from the kernel's state, with contacts that may close in it: what
  /// forces do, what contacts add, gaps that may close but not more. Nothing where friction jams.
  struct ShortStep {
    std::vector<int> near;
    ReducedImpact reduced;
    Eigen::VectorXd a;              ///< of forces alone
    std::vector<Outcome> outcomes;  ///< the one that presses least first
  };
  std::optional<ShortStep> short_step(const std::vector<int>& scope, double h);
  /// The wanted mode without contacts whose normals depend on those of others that press more.
  Mode independent(Mode wanted, const ReducedImpact& reduced, const Outcome& outcome) const;
  /// Limbs have a speck of mass in them.
  Terms terms_with_mass() const;

  /// Past an accumulation point of impacts, when the last ones show its tail. `span`: since the
  /// impact before; `touched`: the mode after this one, with the contacts that bounced closed.
  void pass_zeno(double span, const Mode& touched);
  bool hop();

  // flow

  void start_flow();
  /// Throws std::invalid_argument: why there is no flow.
  [[noreturn]] void explain() const;

  /// Watches forces together where contacts share them and single ones say nothing.
  void share_forces();
  double guard_value(const Guard& g);
  /// Values of a guard up to this are zero.
  double zero_of(const Guard& g) const;
  void read_guards();
  /// A guard at a time within the last step; of gaps nothing else is computed.
  double guard_at(const Guard& g, double at, Eigen::VectorXd& state, Eigen::VectorXd& rate);

  /// One step of the integrator, cut at the first event in it.
  void advance();

  /// Where the force of a slide grows without bound: an impact without collision, if it changes the
  /// motion.
  bool jams();

  /// The first instant in the step at which a guard crosses zero downwards, or infinity.
  double first_crossing(const Guard& g, double end, double rate0, double rate1);
  /// The first instant between two of a step at which a gap is below the level, or infinity; it is
  /// not below at the first.
  double first_dip(int contact, double level, const Sight& a, const Sight& b, int halvings);
  /// The same for forces and slips that are not below zero at the ends.
  double first_fall(const Guard& g, double end);
  /// A gap on the dense output.
  Sight sight(int contact, double at);
  /// How far it bends in this step at most, System::gap_bends().
  double bend_of(int contact);
  /// What guards see of a stage.
  void glimpse(double at);

  /// No event in the step: its end becomes the state.
  void accept(const std::vector<double>& ends, const std::vector<double>& rates);

  /// Limbs in the air at the end of a step: by their law, and not below what they touch. True when
  /// one touches and forces ask for another mode.
  bool lift_limbs();

  /// Contacts that came to a corner, where their normal turned, are free to leave it or to hit
  /// what is behind it, where gaps are up to `near`. True where there are any: a new flow has
  /// begun.
  bool turns(double near);

  double drift = 0;
  /// How far the kernel's state is from the constraints of the mode.
  void measure_drift();

  /// How deep bodies are in each other, and how far joints open, from the beginning of the step.
  void measure_between(double until);
  void measure_gaps();

  void take_event(const Guard& g, double at);

  /// To the guard of an event, near `at`: never before the beginning of the step or behind its end.
  void land(const Guard& g, double at);

  /// Puts the state on the constraints of the mode and on that of the guard reached.
  void close(const Mode& touching, const Guard& g);

  // records

  void record(bool event);
  /// States at multiples of `every` up to a time within the last step.
  void record_between(double until);
  void push(double time, const Eigen::VectorXd& at, const Eigen::VectorXd& velocity);

  Trajectory run();
};

}  // namespace routh::hybrid
