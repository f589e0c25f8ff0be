#pragma once

#include <Eigen/Core>
#include <cmath>
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
  kAny,        ///< not decided: cn' ≥ 0
  kOpen,       ///< λn = 0, cn' ≥ 0
  kClosed,     ///< cn' = 0, 0 ≤ λn ≤ λmax
  kSaturated,  ///< λn = λmax, cn' ≤ 0
};

enum class Tangent : std::uint8_t {
  kAny,    ///< not decided
  kFree,   ///< λt = 0: the contact is open or frictionless
  kStick,  ///< ct' = 0, λt in μ λn conv D
  kSlip,   ///< λt = μ λn d_e, and no other edge brakes ct' more
  kTurn,   ///< in space: λt between μ λn d_e and μ λn d_e+1, which brake ct' equally
};

/// What one contact does. Searches decide it by and by: `edges` above one leaves open which of so
/// many edges, counted from e, brakes most.
struct ContactMode {
  Normal normal = Normal::kAny;
  Tangent tangent = Tangent::kAny;
  int edge = 0;  ///< e of D
  int edges = 1;
};
using ContactModes = std::vector<ContactMode>;

/// What a mode asks of the velocity (normal, then tangents) of its contact: rows that vanish and
/// rows, of unit length, that are not negative. `D` holds the friction_edges().
struct VelocityRows {
  Eigen::MatrixXd zero, positive;
};
VelocityRows velocity_rows(const Eigen::MatrixXd& D, const ContactMode& mode);

/// Of a rough contact with k edges 1 + 2 (1 + k) modes in the plane and 1 + 2 (1 + 2 k) in space;
/// without `bounded` nothing is saturated, which leaves about half of them.
std::vector<ContactModes> all_modes(const ImpactProblem& problem, bool bounded);
/// Their number, as a floating-point number because it grows so fast.
double count_modes(const ImpactProblem& problem, bool bounded);

/// The equations of decided modes.
struct ModeSystem {
  Eigen::MatrixXd S, P;    ///< rows as c; P has a column for every entry of x
  Eigen::MatrixXd Z;       ///< the velocities that vanish: Z c' = 0
  Eigen::MatrixXd K, R;    ///< Z G S, square, and Z (X + G P)
  Eigen::MatrixXd Fu, Fx;  ///< inequalities, one per row
  std::vector<int> zeros;  ///< entries of c' that vanish
};
ModeSystem mode_system(const ImpactProblem& problem, const ContactModes& modes, bool bounded);

/// All solutions of one step problem, distinct in velocity.
struct [[nodiscard]] StepOutcomes {
  std::vector<Outcome> outcomes;
  /// Pieces where velocities form a continuum: indices of the outcomes at its corners.
  std::vector<std::vector<int>> continua;
  /// Solutions of modes that are singular, or nearly so, if they have any: rounding cannot decide.
  std::vector<Outcome> borderline;
  bool stopped = false;  ///< before all modes were tried
};

/// The solutions of one mode: a point where its equations are regular, the corners of a polyhedron
/// where they are not.
struct ModeSolutions {
  std::vector<Outcome> outcomes;
  bool decided = true;  ///< false: rounding cannot tell whether these are solutions
  bool all = true;      ///< false: there are too many corners to try
};
/// Of a normalised problem, `bound` likewise (empty: none). Corners are tried by brute force, up to
/// so many sets of inequalities.
ModeSolutions solve_mode(const ImpactProblem& problem, const ContactModes& modes,
                         const Eigen::VectorXd& bound, double tolerance,
                         double most_corners = HUGE_VAL);

/// Every solution by plain enumeration of modes: the yardstick for faster ways. `lambda_max` empty:
/// P1 (31). Ends early, with the modes tried so far, when `stop` says so.
StepOutcomes enumerate_modes(const ImpactProblem& problem, const Eigen::VectorXd& lambda_max = {},
                             double tolerance = 1e-10, const std::function<bool()>& stop = {});

/// A mode whose equations are regular, solved for all data x at once.
struct RegularMode {
  /// The mode holds where F x ≥ 0; rows are scaled to a largest entry of one, rows of zeros left
  /// out.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> F;
  Eigen::MatrixXd impulse;  ///< λ = impulse x
  std::vector<int> zeros;   ///< entries of c' that vanish
};
/// Of the step problem, bounded, of a normalised problem; nothing where the mode is singular.
std::optional<RegularMode> regular_mode(const ImpactProblem& problem, const ContactModes& modes);
/// All of them. Singular modes are left out: corners of their solution sets lie in regular ones.
/// Ends early, with those found so far, when `stop` says so.
std::vector<RegularMode> regular_modes(const ImpactProblem& problem,
                                       const std::function<bool()>& stop = {});

/// The regular modes of one problem, for many steps of it.
class ModeTable {
 public:
  explicit ModeTable(const ImpactProblem& problem);
  /// Every solution of the step at the contact velocity c, distinct in velocity. Where no regular
  /// mode has one, by enumerate_modes().
  std::vector<Outcome> solve(const Eigen::VectorXd& c, const Eigen::VectorXd& lambda_max,
                             double tolerance = 1e-10) const;

 private:
  ImpactProblem given_;
  Normalised normalised_;
  std::vector<RegularMode> modes_;
};

}  // namespace routh
