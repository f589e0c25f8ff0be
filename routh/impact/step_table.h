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
/// together. A few trial walks tell which inequalities reject most: these come first, and modes
/// that fail early share blocks. Singular modes are left out: their solution sets have corners in
/// regular modes; where they have none the walk falls back to enumerate_modes(). Planar problems of
/// up to kMaxWalkContacts contacts.
class StepTable {
 public:
  /// For steps of size h [N s].
  StepTable(const ImpactProblem& problem, double h);

  /// A task that points into this table; the caller adds draws, seed and limits.
  WalkTask task() const;

  double speed() const {
    return speed_;
  }  ///< velocities and impulses of the task are divided by this
  int modes() const { return static_cast<int>(zeros_.size()); }

 private:
  struct Mode {
    Eigen::MatrixXd inequalities;  ///< unit rows over x
    int needed = 0;                ///< rows after which no trial is left
  };
  void store(const std::vector<Mode>& modes);

  ImpactProblem scaled_;
  double speed_ = 1, h_ = 1;
  std::vector<double> first_row_, rows_, impulse_;
  std::vector<int> other_rows_;
  std::vector<std::int64_t> offset_;
  std::vector<std::int32_t> mode_;
  std::vector<std::uint32_t> zeros_;
};

}  // namespace routh
