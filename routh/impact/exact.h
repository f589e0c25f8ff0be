#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "routh/impact/polytopes.h"
#include "routh/impact/problem.h"

/// The exact set of outcomes of P1's differential inclusion (39), by polyhedral reachability.
/// docs/exact-sets.md explains the construction; tests/referee/ computes the same by another
/// library and another partition.
///
///   ċ ∈ conv{ G_n,i - μ_i G_t,i Unit(ct_i) : cn_i ≤ 0 }   while some cn_i < 0
///
/// Contacts that are open, slide one way or the other or rest make locations, closed and convex; in
/// one the directions d_1 .. d_k are constant. From a polytope E in it the flow reaches exactly
/// (E ⊕ cone(d_1 .. d_k)) ∩ L, because straight lines stay in convex sets; what it shares with
/// neighbouring locations enters those. Iterated to a fixed point, in rational arithmetic, this is
/// the set. States where no closed contact approaches are final.
namespace routh {

struct ExactOptions {
  /// Inputs are replaced once by the simplest rationals within this relative distance; from there
  /// on nothing is rounded.
  double precision = 1e-12;
  int max_polyhedra = 5000;  ///< budget of the exact iteration, and again of what contains the set
  /// Budget of all: half for the exact iteration, the rest for what contains the set.
  double max_seconds = 60;
  /// Asked every few milliseconds, from the same thread; true ends the work at once.
  std::function<bool()> stop = {};
};

enum class ExactStatus {
  kExact,       ///< the fixed point was reached: the pieces are the set
  kBracket,     ///< the budget was spent: the pieces contain the set, and more
  kJammed,      ///< the friction cone is not pointed: the impact need not end, nothing was computed
  kIncomplete,  ///< the time was spent, `stop` said so, or rounding hides the set: no pieces
};
/// In words, as JSON has them.
inline std::string_view to_string(ExactStatus status) {
  switch (status) {
    case ExactStatus::kExact:
      return "exact";
    case ExactStatus::kBracket:
      return "bracket";
    case ExactStatus::kJammed:
      return "jammed";
    case ExactStatus::kIncomplete:
      return "incomplete";
  }
  return "unknown";
}

struct [[nodiscard]] ExactResult {
  ExactStatus status = ExactStatus::kExact;
  /// None inside another, unless the time was spent before all were compared.
  std::vector<Polytope> pieces;
  int cells = 0;      ///< locations visited
  int polyhedra = 0;  ///< computed on the way
  double seconds = 0;
  bool stopped = false;  ///< `stop` said so
  /// Bodies differ so much in mass that the rounding of G hides the set; seen by its pivots, or by
  /// outcomes of other laws that a set in the plane must contain and does not.
  bool hidden = false;
};

/// In the plane for up to 100 contacts, in space, with the linearised friction cone, whose edges
/// multiply the cells, for one or two; throws std::invalid_argument for more. The order of contacts
/// does not matter; large friction (μ = 1e5) does not harm. Several threads may call it at once:
/// nothing is shared between calls.
ExactResult exact(const ImpactProblem& problem, const ExactOptions& options = {});

}  // namespace routh
