#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "routh/model/masses.h"
#include "routh/simulate/hybrid.h"
#include "routh/simulate/time_stepping.h"

namespace routh {

/// What an event does to perturbations: the saltation matrix.
struct MotionJump {
  double time = 0;  ///< [s]
  EventKind kind = EventKind::kCrossing;
  std::vector<int> contacts;  ///< or guards
  Eigen::MatrixXd matrix;     ///< n x n
};

/// How the state at the end of a motion depends on that at its start.
struct [[nodiscard]] MotionDerivative {
  Eigen::MatrixXd D;           ///< n x n; not finite where there is none
  bool differentiable = true;  ///< false: D is one-sided, or there is none
  std::string message = {};    ///< why
  std::vector<MotionJump> jumps = {};
  double end = 0;  ///< of the motion [s]
  /// Of time-stepping, n x contacts with friction that took part, and n x bodies with mass.
  Eigen::MatrixXd friction = {}, mass = {};
  std::vector<std::string> contacts = {}, bodies = {};
};

/// Of a hybrid execution, x = (q, v). Within a mode a perturbation obeys the variational equation
/// of the mode's flow (12)-(13); at an event with the guard g, the reset R and the flows f⁻, f⁺ on
/// its sides it changes by
///
///   Ξ = DR + (f⁺ - DR f⁻) Dg / (Dg f⁻).
///
///   impact               g = φ of the contact that closes, R the plastic map (23) into the mode
///                        after
///   a slip ends          g = the slip, R = 1
///   lift-off, slip       the force is continuous there: f⁺ = f⁻, Ξ = 1
///
/// Contacts that close at the same instant, touchdowns without a jump and accumulations of impacts
/// have no such matrix; the message says where the first was met. Perturbations that open or close
/// contacts of the start are followed in its mode. Throws std::invalid_argument for limbs without
/// mass, and for coordinates that are not as many as velocities.
MotionDerivative derivative(const System& system, const State& start, HybridOptions options);

/// Of time-stepping, x = (q, v), v that of P3 (4.11) and changes of q velocities times a time: of
/// one step where options.end is h, of a motion the product of its steps. The derivative is that of
/// the steps as they are taken, stabilisation included, as long as no contact changes what it does
/// in a step: contacts that press stay closed, open ones stay open (what pushing a closed one open
/// costs in energy is not part of it). A contact at the border of two modes is named, and D is that
/// on one side of it. With `detection` an impact inside a step has none; where the step takes its
/// impacts in (α = 1 without detection, as models do) they are contact modes like others. Systems
/// without masses of bodies leave `masses` out. Throws as simulate() does.
MotionDerivative derivative(const System& system, const State& start,
                            const TimeSteppingOptions& options, const Masses& masses = {});

}  // namespace routh
