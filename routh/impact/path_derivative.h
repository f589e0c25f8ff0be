#pragma once

#include <memory>

#include "routh/impact/witness.h"

/// How the end of a witness moves with its problem. A corner of the paths through an order of
/// locations is where as many rows are tight as amounts α are not zero,
///
///   w_r · (c⁻ + Σ_{j ≤ r} G u_j α_j) = 0       (u_j(μ): impulse of the edge that amount j is of)
///
/// a square system whose derivative is that of the corner, with no step and no differences:
///
///   N dα = -w · (dc⁻ + Σ d(G u_j) α_j),        dc⁺ = dc⁻ + Σ d(G u_j) α_j + G u_j dα_j
///
/// It holds while the corner stays the best of its order: amounts and inequalities at zero must
/// stay there, and so must what other amounts could gain. Where they do not, the corner changes to
/// another and the extreme has a kink. Whether another order overtakes this one is not looked at.
namespace routh {

struct PathChange {
  Eigen::VectorXd impulse;  ///< total, of the whole path
  Eigen::VectorXd c_plus;   ///< where it ends
  bool smooth = true;       ///< false: the basis changes; the derivative is that of its own side
};

class PathDerivative {
 public:
  /// Of a witness of this target. Throws std::invalid_argument where the certificate has no path of
  /// this problem.
  PathDerivative(const ImpactProblem& problem, const WitnessTarget& target,
                 const WitnessCertificate& certificate);

  /// Does the path mix several corners, as the least energy may? Their weights are held: energy
  /// changes as if they moved too, because they are at their best, and c⁺ does not.
  bool mixed() const;

  /// Along a change of the problem: of c⁻, of G and of μ; empty: none.
  PathChange operator()(const Eigen::VectorXd& dc, const Eigen::MatrixXd& dG = {},
                        const Eigen::VectorXd& dmu = {}) const;

 private:
  struct Paths;
  std::shared_ptr<const Paths> paths_;
};

}  // namespace routh
