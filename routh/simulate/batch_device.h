#pragma once

#include <vector>

#include "routh/simulate/batch.h"

/// The set law of a batch on a device: solve_batch() asks for what it can take.
namespace routh {

/// How the set law is applied to a problem of a batch.
SetOptions set_options(const BatchProblem& problem, const BatchOptions& options);
/// What its samples say of the impact: is the outcome unique, is there trouble?
void judge_set(const ImpactProblem& problem, const SetResult& found, BatchResult& result);

/// Samples all problems that the device takes; which they were. What the device leaves, or all
/// where it fails, is the CPU's.
std::vector<char> solve_on_device(const std::vector<BatchProblem>& problems,
                                  const BatchOptions& options, std::vector<BatchResult>& results);

}  // namespace routh
