#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "routh/impact/problem.h"
#include "routh/impact/set_valued.h"

namespace routh {

struct AmbiguityOptions {
  double step = 0;               ///< of the set law [N s]; 0: what stops the fastest contact alone
  std::uint64_t samples = 4096;  ///< of the set law, a part of them in extreme orders
  /// For each search: every mode, every order, the samples [s]. A loop that simulates gives less.
  double seconds = 2;
  int edges = kEdges;  ///< of the polygon that stands for a circular cone where one is needed
  /// Asked now and then; true ends the work with what was found.
  std::function<bool()> stop = {};
};

/// A contact whose velocity differs from outcome to outcome.
struct ContactSpread {
  int contact = 0;
  double by = 0;                     ///< the widest range of its components [m/s]
  std::vector<ContactState> states;  ///< what it does after the impact, each once
};

/// What is known of whether an impact has one outcome.
struct [[nodiscard]] Ambiguity {
  bool colliding = false;         ///< does any contact approach? If not there is no impact
  std::vector<Outcome> outcomes;  ///< distinct, of the simultaneous and the sequential law
  std::size_t simultaneous = 0, sequential = 0;  ///< how many each of them has
  std::size_t unfinished = 0;                    ///< orders that do not end
  bool all_modes = false, all_orders = false;    ///< was every one tried?
  SetResult set;                                 ///< the samples, with their ranges
  bool stopped = false;                          ///< `stop` said so
  /// The widest range of a contact velocity over outcomes and samples [m/s]; not a number without
  /// any.
  double spread = std::numeric_limits<double>::quiet_NaN();
  std::vector<ContactSpread> contacts;  ///< the widest first
  /// With a circular cone: how far the outcomes lie from those of the polygon [m/s]; not a number
  /// where that is not known.
  double polygon_apart = std::numeric_limits<double>::quiet_NaN();

  /// Was everything searched that can be?
  bool searched() const { return all_modes && all_orders && !set.stopped && !stopped; }
  /// Did every search end at an outcome?
  bool ended() const;
  /// Is the outcome unique? Nothing: one was found, but others may exist.
  std::optional<bool> unique() const;
};

/// Is the outcome of an impact well defined? The outcomes of both finite laws, and how far a small
/// set that favours extreme orders spreads. For programs that ask between two steps of a
/// simulation, and for `routh check`.
Ambiguity ambiguity(const ImpactProblem& problem, const AmbiguityOptions& options = {});

}  // namespace routh
