#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "routh/model/limb.h"
#include "routh/simulate/choice.h"
#include "routh/simulate/contact_logic.h"
#include "routh/simulate/impact_law.h"
#include "routh/simulate/trajectory.h"

/// Event-driven executions of the self-manipulation hybrid system. Follows P4 (Johnson, Burden,
/// Koditschek), sections 2 and 3:
///
///   flow    in mode I by (12)-(13), M singular or not                         ModeKernel
///   guards  a gap closes (21), U_k(λ_I) trends negative (78), a sliding contact comes to rest (70)
///   logic   the next mode by FA (38), IV (50) or PIV (58)                     ContactLogic
///   reset   the plastic map (23), or a law of the impact engine
///
/// Departures from the paper:
/// - (100)-(103) have the wrong sign in front of 2 I_b and (80) is opposite to (23); signs here
///   are those of (23), with λn ≥ 0 for contacts that push.
/// - A9 does not always hold for limbs without mass: several modes may solve FA. Contacts persist
///   (A4): the one without just the constraints whose forces trend negative is taken if it is among
///   them, and the event tells how many there were.
/// - Beyond A2 and A9: where no mode can be named, or too many could, the complementarity problem
/// of
///   the impact or of a short step of time decides; contacts whose normals depend on others that
///   press stay open beside them.
/// - Coulomb friction while sliding and sticking again, for bodies with mass (FrictionModel).
/// - With δt = 0 a Zeno execution is carried over its accumulation point: the point is predicted
///   from the geometric tail, and the execution goes on in the mode of corollary 1.
namespace routh {

struct HybridOptions {
  double end = 1;        ///< [s]
  double every = 0;      ///< record at these intervals [s]; 0: at every step
  double dt_pseudo = 0;  ///< δt of the pseudo-impulse [s], P4 (56)
  FrictionModel friction = FrictionModel::kAuto;
  /// None: the plastic map into the mode of IV or PIV; where contacts bounce, simultaneous.
  ImpactLaw law = {};
  bool strict = false;     ///< stop where several modes are consistent, even when A4 selects one,
                           ///< and in storms of events
  std::uint64_t seed = 0;  ///< draws where several are and none persists
  Choice choose = {};      ///< none: what persists goes on, else it is drawn
  std::vector<Limb> limbs = {};   ///< coordinates without mass
  std::optional<Mode> mode = {};  ///< at the start; none: whatever touches
  double rtol = 1e-9;             ///< error of a step, relative
  double atol = 1e-11;            ///< and absolute, in the units of q and v
  double max_step = 0.05;         ///< longest step [s], so that no guard is passed over
  double touching = 1e-6;         ///< gaps up to this are closed at the start [m]
  double simultaneous = 1e-10;    ///< gaps up to this close together with the one that closes [m]
  double trend_step = 1e-3;       ///< over which derivatives decide what trends where [s]
  double zeno_error = 1e-10;      ///< an accumulation point is accepted at this error [s]
  long max_steps = 200'000;       ///< of the integrator; then the execution ends
  int storm_events = 500;         ///< so many events ..
  double storm_time = 1e-3;       ///< .. within this time [s] are passed by short steps of as long
  /// Called after every step with the time reached; false stops the simulation.
  std::function<bool(double time)> progress = {};
};

/// Throws std::invalid_argument for options out of range; for a start that penetrates, is not in
/// its mode or has open joints; for dependent constraints of a given mode, naming the pair (A2);
/// for a limb whose motion nothing determines, naming it (A5).
[[nodiscard]] Trajectory simulate(const System& system, const State& start,
                                  const HybridOptions& options);

/// What acts at one state: mode, accelerations and contact forces right after it.
struct [[nodiscard]] Instant {
  Mode mode;
  Eigen::VectorXd acceleration;        ///< v̇
  Eigen::VectorXd normal, tangential;  ///< forces of all contacts [N]
};
/// In the mode that FA selects, or in `options.mode` as it is.
Instant instant(const System& system, const State& state, const HybridOptions& options);

}  // namespace routh
