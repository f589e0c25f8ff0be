#pragma once

#include <functional>
#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// How one contact of a sequence is resolved.
enum class SingleLaw {
  kRouth,      ///< friction at the velocity during the impact, P1 (36)
  kAlgebraic,  ///< friction at the velocity after it, P1 (31) with one contact: the rule of P1's
               ///< figures
  /// Chatterjee, Ruina, *A new algebraic rigid-body collision law based on impulse space
  /// considerations*, 1998, without tangential restitution. PI stops the approach without friction,
  /// PII stops all motion of the contact:
  ///
  ///   λ = (1 + e) PI + κ (PII - PI),   κ = 1, or less where the friction cone asks for it.
  ///
  /// e has Newton's meaning, cn⁺ = -e cn, and yet no impact adds energy.
  kImpulseSpace,
};

struct SequentialOptions {
  /// Contacts in the order they are hit, repeated until none approaches; contacts that do not
  /// approach when their turn comes are passed over. Empty: every order.
  std::vector<int> order = {};
  SingleLaw single = SingleLaw::kRouth;
  int max_impacts = 1000;  ///< longest sequence
  /// Most distinct intermediate velocities explored over all orders. When there are more, the
  /// orders explored so far are completed by the cyclic ones: every permutation, repeated. 0: 20
  /// 000 in the plane, 80 000/m² for m contacts in space, where each impact is an integration.
  int max_states = 0;
  /// Asked before every impact; true ends the work with what was found.
  std::function<bool()> stop = {};
};

struct SequentialOutcome {
  Outcome outcome;
  std::vector<int> order;  ///< contacts in the order they were hit, the shortest such order
  std::vector<Eigen::VectorXd>
      path;               ///< contact velocity before, between (also where a slip ends) and after
  bool finished = false;  ///< false: contacts still approach after max_impacts, or one is jammed
  /// With restitution: the order goes on for ever and this is its limit. The impacts repeat, and
  /// what each round changes shrinks by this ratio; 0: it ends.
  double zeno = 0;
};

struct [[nodiscard]] SequentialResult {
  std::vector<SequentialOutcome> outcomes;    ///< finished, distinct in velocity
  std::vector<SequentialOutcome> unfinished;  ///< orders that did not end, where they were given up
  bool complete =
      true;  ///< false: max_states was reached or the work was stopped, there are more orders
  bool stopped = false;  ///< `stop` said so
  int states = 0;        ///< distinct velocities met
  double seconds = 0;
};

/// Sequences of single impacts, P1 section 2.2.2: pick an approaching contact, resolve it alone,
/// repeat until none approaches. Orders that reach the same velocity are merged, so that all orders
/// of a few contacts, not only the cyclic ones of P1's figures, are followed to their ends. With
/// restitution a contact may be hit again and again: rounds that shrink geometrically are summed.
SequentialResult sequential(const ImpactProblem& problem, const SequentialOptions& options = {});

}  // namespace routh
