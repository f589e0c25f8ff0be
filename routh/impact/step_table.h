#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "routh/impact/modes.h"
#include "routh/impact/walk.h"

namespace routh {

/// A task without modes: a normalised problem and a box of this width. Both must outlive it.
WalkTask task_without_table(const ImpactProblem& problem, const Eigen::VectorXd& h);

/// The contact modes of the step problem P1 (72)-(74), factored once per impact. For a regular mode
/// the impulse is linear in the data x = [c; λmax], and the mode is consistent where a few linear
/// functions of x are not negative:
///
///   λ = -S K⁻¹ R x + P x,   F x ≥ 0      (S, P, K, R of modes.h)
///
/// so that a sample costs a few small matrix-vector products and no factorisation. Neighbouring
/// modes lie on the two sides of one hyperplane: modes are stored in blocks of 64, with the
/// distinct hyperplanes of a block and the modes that each side of them rules out. A few trial
/// walks tell which hyperplanes rule out most; these come first and those that add nothing are left
/// out, because the residual confirms every solution anyway. That takes as long as a few thousand
/// samples: for fewer all hyperplanes stay, and the table depends on G and μ alone. Singular modes
/// are left out: their solution sets have corners in regular modes; where they have none the walk
/// falls back to enumerate_modes(). Planar problems of up to kMaxWalkContacts contacts.
class StepTable {
 public:
  /// For steps of size h [N s] and, where `final_step` is positive, one more of that size.
  /// A table that `stop` ended early is not whole and serves for nothing. `pruned`: trial walks
  /// choose hyperplanes.
  StepTable(const ImpactProblem& problem, double h, double final_step = 0,
            const std::function<bool()>& stop = {}, bool pruned = true);

  /// A task that points into this table; the caller adds draws, seed and limits.
  WalkTask task() const;

  const Normalised& units() const { return normalised_; }  ///< of the task
  int modes() const { return static_cast<int>(zeros_.size()); }

 private:
  struct Plane;
  static std::vector<Plane> distinct_planes(const std::vector<RegularMode>& modes,
                                            std::size_t first);
  static std::vector<Plane> most_useful(std::vector<Plane> planes, const Eigen::MatrixXd& trials);
  void store(const std::vector<std::vector<Plane>>& blocks);

  Normalised normalised_;
  Eigen::VectorXd h_, final_step_;
  std::vector<int> begin_;
  std::vector<double> planes_, impulse_;
  std::vector<std::uint64_t> members_, below_, above_;
  std::vector<std::uint32_t> zeros_;
};

}  // namespace routh
