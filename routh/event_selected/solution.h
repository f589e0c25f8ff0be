#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "routh/ode/dormand_prince.h"

/// What goes into and comes out of an event-selected integration. Follows P5 (Anderson, Revzen).
///
///   symbol   here      meaning
///   x        x         state, n
///   h        h         event functions, m; guard k is the set h_k(x) = 0, crossed upwards
///   Dh       Dh        their Jacobian, m x n
///   f(x, b)  field     vector field; b is the crossed mask, not the sign of h (see below)
///   ε        eps       a guard is projected to once h_k ≥ -ε_k
///   c        c         liveness: a guard is met with ∇h_k f > c on both its sides
namespace routh::event_selected {

/// One entry per guard: has it been crossed? It alone selects the field. P5's Listing 1 takes the
/// sign of h, which is a rounded zero just after a projection; the error then stalls near 5e-4.
using Crossed = Eigen::Array<bool, Eigen::Dynamic, 1>;

/// The guard reset rule, P5's future work: reset[k] lists the guards that crossing guard k re-arms.
/// Empty: a guard is crossed once. A re-armed guard is not met again before its h_k rises.
using Reset = std::vector<std::vector<int>>;

/// Guards k and k + pairs re-arm each other: contact made and contact broken, h_{k+pairs} = -h_k.
Reset alternate(int pairs);

struct Options {
  double eps = 1e-3;              ///< ε of all guards, in the units of h
  Eigen::VectorXd eps_each = {};  ///< m, ε of each guard instead
  /// Locate every event on the dense output instead of projecting from ε away; eps is not used.
  bool exact = false;
  double t_start = 0;  ///< [s]
  double t_end = 1;    ///< [s]
  Reset reset = {};    ///< m lists, or none
  /// m, the mask at the start. Empty: crossed where h > 0, or h = 0 and not falling.
  Crossed crossed = {};
  double c = 1e-9;  ///< liveness, in the units of h per second; not negative
  /// Guards met within this time of each other count as one simultaneous crossing where events are
  /// located exactly, and for derivatives [s].
  double simultaneous = 1e-9;
  ode::StepOptions step = {};  ///< of the smooth pieces
  double sample_every = 0;     ///< [s]; 0: samples at the start, at events and at the end only
  bool record = true;          ///< false: no samples, no events, only the final state and counts
  long max_events = 1'000'000;
  long max_steps = 100'000'000;
};

enum class Status {
  kFinished,
  kNotLive,  ///< a guard was met with ∇h f ≤ c on one of its sides: tangential, or f points back
  kNotFinite,     ///< f or h is NaN or infinite
  kStepTooSmall,  ///< f cannot be integrated to the tolerance
  kEventLimit,    ///< max_events spent: perhaps infinitely many in finite time
  kStepLimit,     ///< max_steps spent
};
std::string_view to_string(Status status);

template <class State>
struct Event {
  double time = 0;  ///< [s]
  int guard = 0;
  State x;          ///< on the guard
  Crossed crossed;  ///< afterwards
};

struct Counts {
  long events = 0;
  long projections = 0;   ///< events reached by a projection from within ε
  long located = 0;       ///< events located on the dense output
  long out_of_order = 0;  ///< guards already behind when their turn came: ε was large for them
  long steps = 0, rejected_steps = 0;
  long field_evaluations = 0, guard_evaluations = 0;
};

template <class State>
struct [[nodiscard]] Solution {
  Status status = Status::kFinished;
  int guard = -1;    ///< where liveness failed
  double value = 0;  ///< ∇h f there
  double time = 0;   ///< reached [s]
  State x;           ///< there
  Crossed crossed;   ///< there
  Crossed crossed_start;
  std::vector<double> times;  ///< of the samples
  std::vector<State> states;
  std::vector<Event<State>> events;
  Counts counts;

  bool finished() const { return status == Status::kFinished; }
};

/// A sentence for a person: "guard 1 is not live at t = 0.31: ∇h·f = -2 is not above c = 1e-09".
std::string describe(Status status, double time, int guard, double value, double c);
template <class State>
std::string describe(const Solution<State>& s, const Options& options) {
  return describe(s.status, s.time, s.guard, s.value, options.c);
}

/// Throws std::invalid_argument naming the option to change; `guards` is the size of h.
void validate(const Options& options, int guards);

}  // namespace routh::event_selected
