#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "routh/event_selected/solution.h"
#include "routh/impact/grip.h"

namespace routh {

/// Where a mechanism is and how it moves.
struct State {
  double time = 0;  ///< [s]
  Eigen::VectorXd q, v;
};

/// A mode of the hybrid system: what each contact does, in the order of Terms::contacts.
using Mode = std::vector<Grip>;

enum class EventKind {
  kImpact,     ///< contacts close or collide: the velocity jumps
  kLiftOff,    ///< a contact stops pressing and opens
  kSlip,       ///< a sticking contact begins to slide
  kStick,      ///< a sliding contact comes to rest
  kTouchdown,  ///< a contact closes without a jump of the velocity
  kZeno,       ///< infinitely many impacts accumulate here and are passed over
  kStorm,      ///< more impacts than are worth telling: what led here went by short steps of time
  kCrossing,   ///< a guard of an event-selected system is crossed
  kAmbiguity,  ///< nothing happens, but something else could: see `continuations`
};
std::string_view to_string(EventKind kind);

/// A way on from a state that the laws of contact allow.
struct Continuation {
  Mode mode;            ///< that follows
  bool impact = false;  ///< by an impact without collision (Painlevé), else by forces alone
};

struct Event {
  double time = 0;
  EventKind kind = EventKind::kImpact;
  std::vector<int> contacts;        ///< of Terms::contacts
  Eigen::VectorXd v_minus, v_plus;  ///< equal unless it is an impact
  Eigen::VectorXd q;                ///< of an impact: where it happens
  Eigen::VectorXd impulse;          ///< [N s] normal and tangential of each contact in turn
  /// Impulses up to where the law's own path bends, the last up to its end; empty: straight.
  std::vector<Eigen::VectorXd> path = {};
  int outcomes = 1;                              ///< how many the law found; the first was taken
  Mode mode_before, mode_after;                  ///< hybrid: contact modes
  std::vector<Continuation> continuations = {};  ///< where there are several, the one taken first
};

/// Where impacts accumulate, P4 theorem 10: predicted from their geometric tail.
struct ZenoPoint {
  State state;       ///< the limit, in the mode of P4 corollary 1
  double ratio = 0;  ///< of the times between impacts, from one impact to the next
  int period = 1;    ///< impacts after which the modes repeat
  double error = 0;  ///< estimate of the error of the time [s], of the tail and of the steps
  int event = 0;     ///< of Trajectory::events
};

enum class SimulationStatus {
  kDone,
  kInterrupted,  ///< the caller asked for an end
  kInaccurate,   ///< done, but some steps were not solved to the tolerance
  kStopped,      ///< the method could not go on: `message` says why
  kInvalid,      ///< reached a state that would be refused as a start: forces that are not finite,
                 ///< M that is not positive definite, constraints that depend on each other
  kAmbiguous,    ///< several modes are consistent; stopped there
  kJammed,       ///< no mode is consistent; stopped there
  kTooStiff,     ///< the tolerances need shorter or more steps than there are; stopped there
  kEventStorm,   ///< more events than allowed in a short time; stopped there
};
std::string_view to_string(SimulationStatus status);
inline bool ends_early(SimulationStatus status) {
  return status != SimulationStatus::kDone && status != SimulationStatus::kInaccurate;
}

/// What time-stepping tells besides.
struct TimeSteppingExtras {
  std::vector<Eigen::VectorXd> v_raw;  ///< at each recorded state v^h of P3 (4.11); v is (4.9)
  long lcps = 0;                       ///< complementarity problems solved, impacts included
  long inaccurate = 0;                 ///< of them not solved to the tolerance
  double max_residual = 0;             ///< of them, relative
};

/// What hybrid executions tell besides.
struct HybridExtras {
  std::vector<Mode> modes;      ///< the contact word, P4 definition 4
  std::vector<int> mode_at;     ///< of each recorded state, index of its mode
  std::vector<ZenoPoint> zeno;  ///< accumulation points passed
  long lcps = 0;                ///< complementarity problems solved
};

/// What event-selected integrations tell besides.
struct EventSelectedExtras {
  event_selected::Counts counts;
};

/// What a simulation returns, by any method and however it ended; recorder.h says what is kept.
struct [[nodiscard]] Trajectory {
  SimulationStatus status = SimulationStatus::kDone;
  std::string message;                ///< why it stopped before the end, and when
  std::vector<double> time;           ///< [s], beginning with the start
  std::vector<Eigen::VectorXd> q, v;  ///< at these times
  std::vector<double> energy;         ///< kinetic and potential [J]; empty: the system has none
  /// Where the options ask for it: of the contact forces from each recorded state to the next,
  /// normal and tangential of each contact in turn [N s]. Impacts are among the events.
  std::vector<Eigen::VectorXd> impulse;
  std::vector<Event> events;
  /// Of systems whose contacts vary: what Event::contacts count, instead of Terms::contacts.
  std::vector<std::string> contact_names;
  State final;
  long steps = 0;
  double max_penetration = 0;  ///< deepest gap [m]
  double max_joint_error = 0;  ///< [m]
  double seconds = 0;          ///< of computing

  /// Of the method; none tells more of compliant contacts.
  std::variant<std::monostate, TimeSteppingExtras, HybridExtras, EventSelectedExtras> extras;
  const TimeSteppingExtras* stepping() const { return std::get_if<TimeSteppingExtras>(&extras); }
  const HybridExtras* hybrid() const { return std::get_if<HybridExtras>(&extras); }
  const EventSelectedExtras* selected() const { return std::get_if<EventSelectedExtras>(&extras); }

  /// Before its end?
  bool stopped() const { return ends_early(status); }
};

}  // namespace routh
