#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "routh/model/system.h"
#include "routh/simulate/impact_law.h"
#include "routh/simulate/trajectory.h"

/// Linearly implicit time-stepping with joints, contact and friction. Follows P3 (Gavrea, Anitescu,
/// Potra), section 4:
///
///   q⁺ = q + h ((1 - γ) v + γ v⁺)                                                         (4.4a)
///   M̃ (v⁺ - v) = h k + Aᵀ λ + Jnᵀ λn + Jtᵀ λt,   M̃ = M - α h k_v - α γ h² k_q             (4.4b)
///   A v^α = 0,   0 ≤ Jn v^α ⊥ λn ≥ 0,   λt ∈ -μ λn Unit(Jt v^α)                      (4.4c)-(4.4f)
///   v^α = (1 - α) v + α v⁺                                                                (4.10)
///
/// one complementarity problem a step, in the space of the constraint rows (StepSolver).
///
/// Departures from the paper, each because the printed scheme is wrong or slower to converge:
/// - k, M, A, Jn, Jt are evaluated at q + (h/2) v when `jacobians` is midpoint. With rows at q the
///   scheme is first order on curved joints and contacts even at α = γ = ½.
/// - Forces are taken once, at t + α h, instead of (1 - α) k(t) + α k(t + h): equal for forces
///   linear in time, of the same order for all.
/// - Velocity forces of minimal coordinates enter k and, by their whole derivative, k_v: second
///   order for inertia that depends on q. (4.5) prints a factor 1 - α that (4.2) does not have.
/// - A contact stays active while it presses, not while Φ ≤ 0; collisions keep their true instant
///   in the time grid, and the step goes on from there to the next multiple of h. Between the ends
///   of a step lies the paper's cubic; for a law of impact, unless γ is ½, a straight line.
///
/// Plane and space are stepped alike: contacts have one tangent or two (friction cones are then
/// circular, or have `edges` edges), are listed once or found anew at every configuration, and
/// q + h v is System::integrate().
///
/// Without `detection` and with α = 1 the step takes in every contact that it could close,
/// 0 ≤ Φ/h + Jn v⁺ ⊥ λn ≥ 0: contacts close at its end, and impacts are inelastic and simultaneous.
/// That is how contacts found anew are stepped unless the options say otherwise: one evaluation of
/// the system a step, however many contacts come and go. (With α < 1 and without detection they
/// become active after they were passed, as in P3, and bounce.)
///
/// Contacts with restitution bounce at their impacts. Where they bounce again within the same step,
/// or more than `impacts_per_step` times, they are taken into the step: a ball comes to rest.
namespace routh {

namespace stepping {
struct Stepper;
}

enum class Jacobians {
  kDefault,   ///< midpoint when α = ½, start otherwise
  kStart,     ///< at q, as printed in P3
  kMidpoint,  ///< at q + (h/2) v
};

struct TimeSteppingOptions {
  double h = 1e-3;  ///< step [s]
  /// Weight of v⁺ in the constraints, in (0, 1]; when not given ½, or 1 where contacts vary.
  std::optional<double> alpha = {};
  std::optional<double> gamma = {};  ///< weight of v⁺ in the position; α when not given
  double end = 1;                    ///< [s]
  double every = 0;                  ///< record at these intervals [s]; 0: at every step and impact
  Jacobians jacobians = Jacobians::kDefault;
  /// Find collisions inside the step by interpolation; when not given yes, except where contacts
  /// vary, α is 1 and no law is given. A law and restitution need it.
  std::optional<bool> detection = {};
  bool stabilise = true;      ///< close joints and pressing contacts after every step
  bool impulses = false;      ///< record Trajectory::impulse, and every impact
  ImpactLaw law = {};         ///< none: simultaneous, one LCP above three contacts
  int edges = 0;              ///< in space: of a friction cone; 0: Coulomb's own, circular
  int impacts_per_step = 20;  ///< then the rest of the step joins what touches next
  double touching = 1e-6;     ///< gaps up to this are closed at the start [m]
  double tolerance = 1e-9;    ///< residual of a step's problem, relative
  /// Called now and then with the time reached; false stops the simulation.
  std::function<bool(double time)> progress = {};
};

/// The options with what was not given.
TimeSteppingOptions completed(const System& system, TimeSteppingOptions options);

/// Throws std::invalid_argument for options out of range or without effect, for a start that
/// penetrates or whose joints are open (by more than `touching`), and for forces that are not
/// finite.
Trajectory simulate(const System& system, const State& start, const TimeSteppingOptions& options);

/// The same step by step, for programs with a loop of their own. Nothing is allocated once warm,
/// except by impacts.
class TimeStepper {
 public:
  TimeStepper(const System& system, const State& start, const TimeSteppingOptions& options);
  ~TimeStepper();
  TimeStepper(TimeStepper&&) noexcept;

  /// To the next multiple of h after the start, through all impacts on the way.
  void step();
  /// The forces of the system are others from here on, as a controller's are: what was evaluated
  /// ahead of time is evaluated again.
  void forces_changed();

  double time() const;
  const Eigen::VectorXd& q() const;
  const Eigen::VectorXd& v() const;           ///< v of the scheme, P3 (4.11)
  const Eigen::VectorXd& v_weighted() const;  ///< v^α of the last step, P3 (4.9)
  /// Counts, extremes and events so far; no states.
  const Trajectory& log() const;

 private:
  std::unique_ptr<stepping::Stepper> stepper_;
  double h_;
};

/// The nearest configuration with closed joints, by Newton's method in the metric of the inertia
/// and on the manifold of the coordinates, and the nearest velocity with A v = 0. Throws
/// std::invalid_argument when it does not converge.
State project_joints(const System& system, State state);

}  // namespace routh
