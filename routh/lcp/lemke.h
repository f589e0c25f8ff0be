#pragma once

#include <optional>

#include "routh/lcp/lcp.h"

namespace routh::lcp {

struct LemkeOptions {
  double tolerance = 1e-10;  ///< largest residual() that counts as solved
  int max_pivots = 0;        ///< 0: 20 n + 50
  /// Covering vector d > 0 of size n; ones when empty. Different vectors may lead to different
  /// solutions.
  Eigen::VectorXd cover = {};
};

struct [[nodiscard]] LemkeResult {
  Status status = Status::kPivotLimit;
  Eigen::VectorXd z;    ///< the last iterate, a solution only when status is kSolved
  double residual = 0;  ///< measured by residual()
  int pivots = 0;
};

/// Lemke's algorithm (Cottle, Pang, Stone, chapter 4) on the dictionary
///
///   y = w + W z + d z₀,
///
/// with the lexicographic rule against cycling: ties, which are the normal case for impacts (zeros
/// in w), are broken as if w were w + (ε, ε², ..). It ends with a solution for every copositive W
/// with wᵀz ≥ 0 on the solutions of the homogeneous problem, which P1 Theorem 6 proves for the step
/// problem P1 (75).
LemkeResult lemke(const Problem& problem, const LemkeOptions& options = {});

}  // namespace routh::lcp
