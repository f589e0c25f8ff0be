#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "routh/impact/set_valued.h"

namespace routh {

/// One sample of the set, made step by step.
struct StepwiseSample {
  SetSample sample;
  int ambiguous = 0;  ///< steps with several solutions
  bool unsolved = false;
  std::vector<Eigen::VectorXd> path;  ///< when asked for: the velocity at the start and after steps
  /// Of BounceWalk, when asked for: the impulse at each velocity of the path but the first.
  std::vector<Eigen::VectorXd> impulses;
};

/// Walks of P1 Algorithm 1 for problems that the table of walk.h does not take: more contacts, or
/// contacts in space. In space every solution of a step is found while the modes are few (one or
/// two contacts with eight edges); otherwise each step takes the one that a random start leads to.
/// For use by one thread.
class StepwiseWalk {
 public:
  StepwiseWalk(const ImpactProblem& problem, const SetOptions& options);
  ~StepwiseWalk();

  /// Are all solutions of every step found?
  static bool enumerates(const ImpactProblem& problem, const SetOptions& options);
  StepwiseSample walk(std::uint64_t index, bool with_path);

  class Steps;

 private:
  ImpactProblem problem_;
  SetOptions options_;
  std::unique_ptr<Steps> steps_;
};

}  // namespace routh
