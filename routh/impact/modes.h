#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
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
  kFree,   ///< λt = 0: the contact is open or frictionless
  kStick,  ///< ct' = 0, λt in μ λn conv D
  kSlip,   ///< λt = μ λn d_e, and no other edge brakes ct' more
  kTurn,   ///< in space: λt between μ λn d_e and μ λn d_e+1, which brake ct' equally
};

struct ContactMode {
  Normal normal;
  Tangent tangent;
  int edge = 0;  ///< e of D
};
using Modes = std::vector<ContactMode>;

/// Of a rough contact with k edges 1 + 2 (1 + k) modes in the plane and 1 + 2 (1 + 2 k) in space;
/// without `bounded` nothing is saturated, which leaves about half of them.
std::vector<Modes> all_modes(const ImpactProblem& problem, bool bounded);
/// Their number, as a floating-point number because it grows so fast.
double count_modes(const ImpactProblem& problem, bool bounded);

struct ModeSystem {
  Eigen::MatrixXd S, P;    ///< rows as c; P has a column for every entry of x
  Eigen::MatrixXd Z;       ///< the velocities that vanish: Z c' = 0
  Eigen::MatrixXd K, R;    ///< Z G S, square, and Z (X + G P)
  Eigen::MatrixXd Fu, Fx;  ///< inequalities, one per row
  std::vector<int> zeros;  ///< entries of c' that vanish
};
ModeSystem mode_system(const ImpactProblem& problem, const Modes& modes, bool bounded);

/// u = U x of a regular mode; nothing where K is singular or nearly so. The problem is normalised.
std::optional<Eigen::MatrixXd> free_impulses(const ImpactProblem& problem, const ModeSystem& s);

/// All solutions of one step problem, distinct in velocity.
struct [[nodiscard]] StepOutcomes {
  std::vector<Outcome> outcomes;
  /// Pieces where velocities form a continuum: indices of the outcomes at its corners.
  std::vector<std::vector<int>> continua;
  /// Solutions of modes that are singular, or nearly so, if they have any: rounding cannot decide.
  std::vector<Outcome> borderline;
  bool stopped = false;  ///< before all modes were tried
};

/// Every solution by plain enumeration of modes: the yardstick for faster ways. `lambda_max` empty:
/// P1 (31). Ends early, with the modes tried so far, when `stop` says so.
StepOutcomes enumerate_modes(const ImpactProblem& problem, const Eigen::VectorXd& lambda_max = {},
                             double tolerance = 1e-10, const std::function<bool()>& stop = {});

/// The regular modes of one problem, factored once, for many steps of it. Singular modes are left
/// out: corners of their solution sets lie in regular ones.
class ModeTable {
 public:
  explicit ModeTable(const ImpactProblem& problem);
  /// Every solution of the step at the contact velocity c, distinct in velocity. Where no regular
  /// mode has one, by enumerate_modes().
  std::vector<Outcome> solve(const Eigen::VectorXd& c, const Eigen::VectorXd& lambda_max,
                             double tolerance = 1e-10) const;

 private:
  struct Entry {
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> F;  ///< F x ≥ 0
    Eigen::MatrixXd impulse;                                                   ///< λ = impulse x
    std::vector<int> zeros;
  };
  ImpactProblem given_;
  Normalised normalised_;
  std::vector<Entry> entries_;
};

}  // namespace routh
