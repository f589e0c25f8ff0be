#pragma once

#include <cstdint>
#include <vector>

#include "routh/impact/problem.h"
#include "routh/impact/walk.h"

namespace routh {

/// The contact modes of the step problem P1 (72)-(74), factored once per impact. For a regular mode
/// the impulse is linear in the data x = [c; λmax], and the mode is consistent where a few linear
/// functions of x are not negative:
///
///   λ = -S K⁻¹ R x + P x,   F x ≥ 0      (S, P, K, R of modes.h)
///
/// so that a sample costs a few small matrix-vector products and no factorisation. Modes are stored
/// eight to a block, the same inequality of all eight side by side, for the kernel to test them
/// together. Singular modes are left out: their solution sets have corners in regular modes; where
/// they have none the walk falls back to enumerate_modes(). Planar problems of up to
/// kMaxWalkContacts contacts.
class StepTable {
 public:
  explicit StepTable(const ImpactProblem& problem);

  /// A task that points into this table, with the step h [N s]; the caller adds draws, seed and
  /// limits.
  WalkTask task(double h) const;

  double speed() const {
    return speed_;
  }  ///< velocities and impulses of the task are divided by this
  int modes() const { return static_cast<int>(zeros_.size()); }

 private:
  ImpactProblem scaled_;
  double speed_ = 1;
  std::vector<int> block_rows_;
  std::vector<double> rows_, impulse_, G_;
  std::vector<std::int32_t> mode_;
  std::vector<std::uint32_t> zeros_;
};

}  // namespace routh
