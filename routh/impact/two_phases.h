#pragma once

#include "routh/impact/simultaneous.h"

namespace routh {

/// Every outcome of the simultaneous law with restitution; simultaneous() comes here where contacts
/// bounce.
///
/// Poisson's, in two phases (Anitescu, Potra, *Formulating dynamic multi-rigid-body contact
/// problems with friction as solvable linear complementarity problems*, 1997): compression is the
/// inelastic law, with impulse λc and velocity c'; then each contact gives back at least e λc,n,
///
///   c⁺ = c' + G λ,   0 ≤ λn - e λc,n ⊥ cn⁺ ≥ 0,   λt ∈ -μ λn Unit(ct⁺).
///
/// Every outcome of the first phase is followed by every outcome of the second, unless there is
/// nothing to give back. Where contacts are redundant, or wedged by friction, the same c' has many
/// λc: those that press a contact least and most are followed as well, and `enumerated` is false,
/// for what lies between may end elsewhere.
///
/// Newton's (Moreau, *Unilateral contact and dry friction in finite freedom dynamics*, 1988), at
/// once, for the contacts that approach:
///
///   0 ≤ λn ⊥ cn⁺ + e cn ≥ 0,   λt ∈ -μ λn Unit(ct⁺).
///
/// Stronge's is refused: works of impulses that act at once depend on their rates (set_valued.h).
/// Both may add energy where there is friction: energy_gain().
SimultaneousResult two_phases(const ImpactProblem& problem, const SimultaneousOptions& options);

/// How far an impulse is from solving the second phase, relative to the velocities of `problem`;
/// problem.c is c', `given` is e λc,n.
double expansion_residual(const ImpactProblem& problem, const Eigen::VectorXd& given,
                          const Eigen::VectorXd& impulse, double speed);

}  // namespace routh
