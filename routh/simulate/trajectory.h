#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

namespace routh {

/// Where a mechanism is and how it moves.
struct State {
  double time = 0;  ///< [s]
  Eigen::VectorXd q, v;
};

enum class EventKind {
  kImpact,    ///< contacts close or collide: the velocity jumps
  kTouch,     ///< a contact that gives closes: the velocity does not jump
  kLiftOff,   ///< a contact stops pressing and opens
  kSlip,      ///< a sticking contact begins to slide
  kStick,     ///< a sliding contact comes to rest
  kCrossing,  ///< a guard of an event-selected system is crossed
};
std::string_view to_string(EventKind kind);

struct Event {
  double time = 0;
  EventKind kind = EventKind::kImpact;
  std::vector<int> contacts;        ///< of Terms::contacts
  Eigen::VectorXd v_minus, v_plus;  ///< equal unless it is an impact
  Eigen::VectorXd impulse;          ///< [N s] normal and tangential of each contact in turn
  int outcomes = 1;                 ///< how many the law found; the first was taken
};

enum class SimulationStatus {
  kDone,
  kInterrupted,  ///< the caller asked for an end
  kInaccurate,   ///< done, but some steps were not solved to the tolerance
  kStopped,      ///< the method could not go on: `message` says why
};
std::string_view to_string(SimulationStatus status);

/// What a simulation returns, by any method.
struct [[nodiscard]] Trajectory {
  SimulationStatus status = SimulationStatus::kDone;
  std::string message;                 ///< of kStopped
  std::vector<double> time;            ///< [s], beginning with the start
  std::vector<Eigen::VectorXd> q, v;   ///< at these times
  std::vector<Eigen::VectorXd> v_raw;  ///< time-stepping: v^h of P3 (4.11), while v is (4.9)
  std::vector<double> energy;          ///< kinetic and potential [J]
  std::vector<Event> events;
  State final;

  long steps = 0;
  long lcps = 0;               ///< complementarity problems solved, impacts included
  long inaccurate = 0;         ///< of them not solved to the tolerance
  double max_residual = 0;     ///< of them, relative
  double max_penetration = 0;  ///< deepest gap [m]
  double max_joint_error = 0;  ///< [m]
  double seconds = 0;          ///< of computing
};

}  // namespace routh
