#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "routh/impact/problem.h"

/// Extremes of the set of outcomes with witnesses, for any number of contacts, in the plane and in
/// space with the edges of linearised cones. docs/exact-sets.md explains it.
///
/// A witness is a path of P1's inclusion (39) that ends where a number is large: phases of
/// impulses, each in a region where the flow is constant. It proves that the number can be reached.
/// That nothing larger can is not proven by it: `at_most` bounds it from above.
namespace routh {

/// What is made as large as possible over all outcomes.
struct WitnessTarget {
  enum Kind { kLinear, kMostEnergy, kLeastEnergy };
  Kind kind = kLinear;
  Eigen::VectorXd q = {};     ///< kLinear: q · c⁺, ordered as c
  Eigen::VectorXd load = {};  ///< kLinear: and load · λ of the total impulse; empty: nothing
};

struct WitnessOptions {
  /// The search is counted, so that its answer is the same on every machine and any number of
  /// threads; it ends earlier where nothing has become better for long.
  std::int64_t max_programs = 2'000'000;  ///< linear programs, of all targets together
  int patience = 12;                      ///< rounds without anything better
  std::uint64_t seed = 0;
  int threads = 0;           ///< 0: all cores
  double max_seconds = 1e9;  ///< ends the search wherever it is
  std::function<bool()> stop = {};
  /// Called after each round with the best values so far, not a number where none is known.
  std::function<void(const std::vector<double>&)> progress = {};
};

/// Contacts while impulses act: all that push slide or stick as `states` says throughout.
struct WitnessPhase {
  std::vector<ContactState> states;
  Eigen::VectorXd impulse;  ///< [N s], ordered as c
  Eigen::VectorXd c;        ///< contact velocity at its end [m/s]
};

/// From which the path can be computed again in rational arithmetic: the location of each phase
/// (the number of each contact's label) and the corners of the path's polytope that it is a mixture
/// of, each by the amounts that are not zero and as many tight rows, pairs of a phase and an edge
/// or a form.
struct WitnessCertificate {
  struct Corner {
    double weight = 1;
    std::vector<std::pair<int, int>> pushes, tight;
  };
  std::vector<std::vector<std::uint8_t>> locations;
  std::vector<Corner> corners;
};

struct Witness {
  double value =
      0;  ///< q · c⁺ + load · λ [m/s, N s]; of energy what the impact adds [J], not positive
  Outcome outcome;  ///< its residual is that of the replay
  std::vector<WitnessPhase> phases;
  WitnessCertificate certificate;
};

enum class WitnessStatus {
  kFound,    ///< each target has its witness
  kJammed,   ///< the friction cone is not pointed: nothing was searched
  kHidden,   ///< bodies differ so much in mass that rounding hides the set
  kNothing,  ///< no path that can be confirmed was found for some target
};

struct [[nodiscard]] WitnessResult {
  WitnessStatus status = WitnessStatus::kFound;
  std::vector<Witness> best;    ///< one a target, in their order; empty without any
  std::vector<double> at_most;  ///< proven bounds of the values, one a target
  std::vector<Witness> others;  ///< corners found on the way, distinct in velocity
  std::int64_t programs = 0;    ///< solved
  int rounds = 0;
  double seconds = 0;
  bool stopped = false;  ///< by `stop` or the time: more might have been found
};

/// Throws std::invalid_argument where the problem or a target is none, or the cone is circular.
WitnessResult witnesses(const ImpactProblem& problem, const std::vector<WitnessTarget>& targets,
                        const WitnessOptions& options = {});

/// How far a path is from P1 (39), step by step from G, c and μ as they are given: impulses of
/// approaching or touching contacts alone, friction of the edges that brake most at both ends of a
/// phase, no end before the last. Relative to the largest velocity before the impact; infinite
/// where the path is none. Knows nothing of how it was found.
double replay(const ImpactProblem& problem, const std::vector<WitnessPhase>& phases);

/// The path of a certificate, computed anew in rational arithmetic; every inequality is checked
/// without rounding. `why` names the first that fails.
struct [[nodiscard]] Confirmation {
  bool holds = false;
  std::string why = {};
  std::vector<WitnessPhase> phases = {};
};
Confirmation confirm(const ImpactProblem& problem, const WitnessCertificate& certificate);

}  // namespace routh
