#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "routh/impact/policy.h"
#include "routh/impact/problem.h"

namespace routh {

struct SimultaneousOptions {
  double tolerance = 1e-10;  ///< largest residual of an outcome, relative
  /// Contact modes that are tried one by one where solve_all(), which searches all but the fewest,
  /// cannot decide (five rough contacts in the plane, two in space).
  double max_modes = policy::kTriedAfter;
  int max_programs = policy::kPrograms;  ///< of solve_all(), about a second
  /// Random searches where that did not come to an end; fewer above 8 contacts.
  int attempts = policy::kAttempts;
  /// Asked now and then; true ends the work with what was found.
  std::function<bool()> stop = {};
};

/// What is known where no outcome was found.
struct NothingFound {
  Outcome best;         ///< the impulse that comes closest
  Violation violation;  ///< what it violates
  bool exists =
      false;  ///< the friction cone is pointed: an outcome exists all the same, P1 Theorem 6
};

struct [[nodiscard]] SimultaneousResult {
  std::vector<Outcome> outcomes;        ///< distinct in velocity
  std::vector<Outcome> borderline;      ///< candidates that rounding can neither confirm nor refute
  std::optional<NothingFound> nothing;  ///< only where there is no outcome
  std::vector<std::vector<int>>
      continua;            ///< outcomes between which every mixture is an outcome as well
  bool enumerated = true;  ///< false: the search did not come to an end, others may exist
  bool stopped = false;    ///< `stop` said so: others may exist
  double seconds = 0;
};

/// Every outcome of the simultaneous inelastic law, P1 (31):
///
///   c⁺ = c + G λ,   0 ≤ λn ⊥ cn⁺ ≥ 0,   λt ∈ -μ λn Unit(ct⁺).
///
/// An ambiguous impact returns all its outcomes instead of a solver's favourite. With restitution:
/// two_phases.h.
SimultaneousResult simultaneous(const ImpactProblem& problem,
                                const SimultaneousOptions& options = {});

}  // namespace routh
