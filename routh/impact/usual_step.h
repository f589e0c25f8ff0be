#pragma once

#include "routh/impact/problem.h"

namespace routh {

/// Impulse that stops the contact that approaches fastest, alone: the measure of the set law's
/// steps [N s]. By the mean mobility of the contacts, which an ambiguous impact keeps when its
/// contacts are renamed; but a limit of a light joint, which counts in radians, does not outweigh a
/// body that falls. 1 where none approaches.
double stopping_impulse(const ImpactProblem& problem);

}  // namespace routh
