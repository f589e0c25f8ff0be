#pragma once

#include "routh/impact/exact.h"

/// The exact set by the Parma Polyhedra Library: an independent referee. The signs of all cn_i and
/// ct_i cut contact space into cells with strict faces (9^m in the plane), where exact() has closed
/// locations; polyhedra, unions and linear programs are the library's.
namespace routh {

ExactResult exact_by_ppl(const ImpactProblem& problem, const ExactOptions& options = {});

}  // namespace routh
