#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "routh/impact/problem.h"

/// The step problem P1 (72)-(74) as a finite union of linear systems, one per contact mode. With
/// the data x = [c; λmax] a mode fixes some impulses and asks some velocities to vanish:
///
///   λ = S u + P x,        c' = X x + G λ          u: the impulses the mode leaves open
///   K u + R x = 0                                 the velocities that vanish
///   F_u u + F_x x ≥ 0                             when the mode is consistent
///
/// K, R, F depend on G and μ alone. Without the bound λmax (no saturated contacts) the same modes
/// describe the simultaneous law P1 (31).
namespace routh {

enum class Normal : std::uint8_t {
  kOpen,       ///< λn = 0, cn' ≥ 0
  kClosed,     ///< cn' = 0, 0 ≤ λn ≤ λmax
  kSaturated,  ///< λn = λmax, cn' ≤ 0
};

enum class Tangent : std::uint8_t {
  kFree,          ///< λt = 0: the contact is open or frictionless
  kStick,         ///< ct' = 0, |λt| ≤ μ λn
  kSlipPositive,  ///< λt = -μ λn, ct' ≥ 0
  kSlipNegative,  ///< λt = +μ λn, ct' ≤ 0
};

struct ContactMode {
  Normal normal;
  Tangent tangent;
};
using Modes = std::vector<ContactMode>;

/// With `bounded` seven modes per rough contact (three when frictionless), without it four (two).
std::vector<Modes> all_modes(const Eigen::VectorXd& mu, bool bounded);
/// Their number, as a floating-point number because it grows so fast.
double count_modes(const Eigen::VectorXd& mu, bool bounded);

struct ModeSystem {
  Eigen::MatrixXd S, P;    ///< 2m x k and 2m x 3m
  Eigen::MatrixXd K, R;    ///< k x k and k x 3m
  Eigen::MatrixXd Fu, Fx;  ///< inequalities, one per row
  std::vector<int> zeros;  ///< entries of c' that vanish
};
ModeSystem mode_system(const ImpactProblem& problem, const Modes& modes, bool bounded);

/// All solutions of one step problem, distinct in velocity.
struct [[nodiscard]] StepOutcomes {
  std::vector<Outcome> outcomes;
  /// Pieces where velocities form a continuum: indices of the outcomes at its corners.
  std::vector<std::vector<int>> continua;
};

/// Every solution by plain enumeration of modes: the yardstick for faster ways. `lambda_max` empty:
/// P1 (31).
StepOutcomes enumerate_modes(const ImpactProblem& problem, const Eigen::VectorXd& lambda_max = {},
                             double tolerance = 1e-10);

}  // namespace routh
