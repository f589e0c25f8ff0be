#pragma once

#include <optional>
#include <vector>

#include "routh/impact/problem.h"

namespace routh {

/// Every outcome of the simultaneous law at a single contact in space with a circular cone. It
/// separates, sticks, or slides along some direction e, which friction opposes,
///
///   λn (Gnn - μ Gnt·e) = -cn,   ct⁺ = ct + λn (Gtn - μ Gtt e),   e × ct⁺ = 0,
///
/// so that directions are the roots of a trigonometric polynomial of degree two: no more than four,
/// and none is missed. Nothing where rounding decides how many there are, where the contact neither
/// approaches nor leaves, or where joints hold it.
std::optional<std::vector<Outcome>> outcomes_of_one(const ImpactProblem& problem, double tolerance);

}  // namespace routh
