#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "routh/impact/problem.h"

/// P1 Assumption 6: whatever the velocity and the bounds on normal impulses, every solution of the
/// step problem (72)-(74) has the same velocity after. Decided in the plane, in rational
/// arithmetic.
///
/// Two solutions of one step differ by δλ and δc = G δλ with, for each contact,
///
///   δλn δcn ≤ 0                       λn = proj_[0, λmax](λn - cn⁺) falls with cn⁺
///   δλt = ±μ δλn                      both slide the same way
///   δct ≥ 0,  δλt ≤ μ δλn or -μ δλn   one slides or rests, the other rests or slides back
///   δct ≤ 0,  δλt ≥ μ δλn or -μ δλn   the same the other way round
///
/// That is a union of finitely many cones. Where G δλ = 0 on each, found by double description, the
/// assumption is certified; sign patterns take the place of a search for a copositive matrix, and
/// nothing is lost by them: where a ray of some cone moves a velocity it gives a step with two
/// solutions, which the residual confirms.
namespace routh {

enum class StepUniqueness {
  kUnique,     ///< proven: every step has one velocity after
  kAmbiguous,  ///< refuted: `example` is a step with two
  kUnknown,    ///< not decided: `why` says why
};
std::string_view to_string(StepUniqueness uniqueness);

/// A step with two solutions.
struct AmbiguousStep {
  Eigen::VectorXd c;           ///< before [m/s]
  Eigen::VectorXd lambda_max;  ///< [N s], one a contact
  Outcome first, second;       ///< with their residuals
};

struct [[nodiscard]] UniquenessResult {
  StepUniqueness status = StepUniqueness::kUnknown;
  std::optional<AmbiguousStep> example = {};
  std::string why = {};
  int cones = 0;  ///< looked at
};

/// In the plane, for up to kMostUniqueness contacts, without restitution; others are unknown.
/// `stop`, asked now and then, ends the work.
constexpr int kMostUniqueness = 4;
UniquenessResult step_uniqueness(const ImpactProblem& problem,
                                 const std::function<bool()>& stop = {});

}  // namespace routh
