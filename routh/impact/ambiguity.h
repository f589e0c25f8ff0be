#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "routh/impact/exact.h"
#include "routh/impact/problem.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"

namespace routh {

struct AmbiguityOptions {
  /// How much is searched where contacts are too many for everything: modes, orders and samples are
  /// counted, not timed, so that the answer is the same every time. 1 takes a second or two at the
  /// most; a loop that simulates gives less.
  double effort = 1;
  std::uint64_t samples = 0;      ///< of the set law; 0: by effort, up to 4096
  std::uint64_t seed = 0;         ///< of the samples
  Draws draws = Draws::kCorners;  ///< of the samples: extreme orders are among them
  double step = 0;  ///< of the set law [N s]; 0: a small part of what stops the fastest contact
  int threads = 0;  ///< of the set law; 0: all cores. Results do not depend on it.
  WalkDevice* device = nullptr;       ///< of the set law: what samples instead of the CPU
  SequentialOptions sequential = {};  ///< which orders, by which law at each contact
  int edges = kEdges;  ///< of the polygon that stands for a circular cone where one is needed
  bool exact = true;   ///< the exact set too, where it takes milliseconds: policy::kQuickSet
  /// Called now and then with the number of samples done; false ends the work.
  std::function<bool(std::uint64_t)> progress = {};
  /// Asked now and then; true ends the work with what was found.
  std::function<bool()> stop = {};
};

/// An outcome and which laws have it.
struct FoundOutcome : Outcome {
  bool simultaneous = false;
  std::optional<std::size_t> sequential = {};  ///< its place among the outcomes of that law
  std::optional<std::size_t> sample = {};      ///< its place among the samples kept
};

/// Outcomes of the simultaneous and the sequential law, each once.
std::vector<FoundOutcome> all_outcomes(const ImpactProblem& problem,
                                       const SimultaneousResult& at_once,
                                       const SequentialResult& in_turn);

/// A contact whose velocity differs from outcome to outcome.
struct ContactSpread {
  int contact = 0;
  double by = 0;                     ///< the widest range of its components [m/s]
  std::vector<ContactState> states;  ///< what it does after the impact, each once
};

/// What is known of whether an impact has one outcome, from the laws that were asked.
struct [[nodiscard]] Ambiguity {
  std::optional<SimultaneousResult> simultaneous = {};
  std::optional<SequentialResult> sequential = {};
  bool one_order = false;             ///< of the sequential law, a given one
  std::optional<SetResult> set = {};  ///< the samples, with their ranges
  double step = 0;                    ///< of the samples [N s]
  /// Samples differ only by what a step of finite size makes of them: see differ_by_step().
  bool coarse = false;
  std::optional<ExactResult> exact = {};  ///< of the law exact
  /// The exact set beside the samples, where it was computed to its end: how far velocities spread,
  /// and of the set law alone whether the outcome is unique, then follow from it.
  std::optional<ExactResult> whole = {};
  std::vector<Outcome> listed = {};  ///< of any other law
  bool all_listed = true;            ///< all it has
  bool stopped = false;              ///< told to end early

  // what follows from them, see judged()
  bool colliding = false;  ///< does any contact approach? If not there is no impact
  /// Of the simultaneous and the sequential law, or those listed, each once. Where modes or orders
  /// are too many, the samples most different from them as well.
  std::vector<FoundOutcome> outcomes = {};
  bool mixtures = false;  ///< the set has velocities that are not among the outcomes
  /// The widest range of a contact velocity over all that can come out [m/s]; not a number where
  /// nothing was found.
  double spread = std::numeric_limits<double>::quiet_NaN();
  std::vector<ContactSpread> contacts = {};  ///< that differ, the widest first

  /// The exact set that stands for the outcomes: of the law exact, or beside samples alone.
  const ExactResult* whole_set() const {
    return exact ? &*exact : whole && outcomes.empty() ? &*whole : nullptr;
  }
  /// Does `spread` come from samples alone, so that more can come out?
  bool sampled() const { return set && !whole; }
  bool all_modes() const { return !simultaneous || simultaneous->enumerated; }
  bool all_orders() const { return !sequential || (sequential->complete && !one_order); }
  /// Was everything searched that can be?
  bool searched() const { return all_modes() && (whole || all_orders()) && all_listed && !stopped; }
  /// Did every search end at an outcome?
  bool ended() const;
  /// Is the outcome unique, by these laws? Nothing: one was found, but others may exist.
  std::optional<bool> unique() const;
};

/// Is the outcome of an impact well defined? The outcomes of both finite laws, and how far a small
/// set that favours extreme orders spreads. For programs that ask between two steps of a
/// simulation, for `routh check` and `routh impact`.
Ambiguity ambiguity(const ImpactProblem& problem, const AmbiguityOptions& options = {});

/// The exact set of a few contacts in the plane, where that takes milliseconds: policy::kQuickSet.
std::optional<ExactResult> quick_set(const ImpactProblem& problem,
                                     const std::function<bool()>& stop = {});

/// A step of finite size ends its walks about as far from where they should as it is large. Do the
/// samples differ (from each other; of `outcomes`, if there are several, from the nearest) by that
/// alone? Then they differ far less with a finer step, which is tried.
bool differ_by_step(const ImpactProblem& problem, const SetResult& samples, SetOptions options,
                    const std::vector<FoundOutcome>& outcomes = {});

/// The same from results of some laws that are there already.
Ambiguity judged(const ImpactProblem& problem, Ambiguity results);

/// How far outcomes of a circular cone lie from those of a polygon in its place [m/s]; infinite
/// where the polygon has none.
double polygon_apart(const ImpactProblem& problem, const std::vector<Outcome>& outcomes,
                     const AmbiguityOptions& options = {});

}  // namespace routh
