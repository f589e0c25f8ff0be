#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <limits>

#include "routh/impact/set_valued.h"

namespace routh {

/// Is the energy that an impulse takes known? Of bodies whose contacts lie far from each other,
/// compared with what they move by, rounding of G alone makes more of it than there was: then no
/// one can tell whether a sample lost energy or gained some.
class EnergyKnown {
 public:
  EnergyKnown(const ImpactProblem& problem, const SetOptions& options) : G_(problem.G.cwiseAbs()) {
    const Eigen::VectorXd mobility = G_.diagonal();
    for (Eigen::Index k = 0; k < mobility.size(); ++k) {
      // what a row alone says of the energy before
      if (mobility[k] > 0) least_ = std::max(least_, problem.c[k] * problem.c[k] / mobility[k] / 2);
    }
    const double all = (options.limit * options.step + options.final_step) *
                       (1 + problem.mu.maxCoeff()) * mobility.cwiseSqrt().sum();
    always_ = kNoise * all * all <= kPart * least_;
  }
  /// Impulses of all samples are too small to matter.
  bool always() const { return always_; }
  bool operator()(const Eigen::VectorXd& impulse) const {
    const Eigen::VectorXd size = impulse.cwiseAbs();
    return always_ || kNoise * size.dot(G_ * size) <= kPart * least_;
  }

 private:
  static constexpr double kNoise = 2 * std::numeric_limits<double>::epsilon(), kPart = 0.1;
  Eigen::MatrixXd G_;
  double least_ = 0;
  bool always_ = false;
};

}  // namespace routh
