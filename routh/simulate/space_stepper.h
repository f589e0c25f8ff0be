#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "routh/impact/step_solver.h"
#include "routh/simulate/stepper.h"

/// Time-stepping of systems whose contacts are found anew at every configuration. Used by
/// simulate() and TimeStepper of time_stepping.h alone.
namespace routh::stepping {

/// P3 (4.4) with α = γ = 1 and every contact within reach in the step:
///
///   M̃ (v⁺ - v) = h k + Aᵀ λ + Jnᵀ λn + Jtᵀ λt,    A v⁺ = 0,
///   0 ≤ Jn v⁺ + max(Φ, 0)/h ⊥ λn ≥ 0,    λt ∈ -μ λn Unit(Jt v⁺),
///   q⁺ = q ⊕ h v⁺
///
/// Before a step joints are closed and contacts that went below zero pushed out, by the shortest
/// motion in the metric of the inertia; velocities do not change by that.
struct SpaceStepper final : Scheme {
  const System& system;
  TimeSteppingOptions o;

  SpaceStepper(const System& sys, const State& start, const TimeSteppingOptions& options);
  void begin() override;
  void advance(double target) override;

 private:
  /// The contacts that a step with about this velocity can close.
  void choose_near(const Eigen::VectorXd& v, double dt);
  bool close_gaps();
  void step(double dt);
  void note_impact(const Eigen::VectorXd& v_minus);
  void note_solved(bool solved, double residual);
  /// What tells a contact from others from step to step: its place, or its identity where they
  /// vary.
  std::int64_t key(int contact) const;
  /// As Event::contacts count.
  int index_of(int contact);
  const StepGuess* last_of(int contact) const;

  Terms terms_;
  std::vector<int> near_;  // contacts in the step
  StepSolver solver_, gap_solver_;
  Eigen::MatrixXd inertia_;
  Eigen::VectorXd push_, v_, v_minus_;
  // contacts that pressed in the last step, by key
  struct Last {
    std::int64_t key;
    StepGuess guess;
  };
  std::vector<Last> last_, pressing_;
  std::map<std::int64_t, int> known_;  // place in log.contact_names
};

}  // namespace routh::stepping
