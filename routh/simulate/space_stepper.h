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
///
/// With a law of impact the step holds only the contacts that touch. Where it would close another
/// one, it ends at that instant, and the law decides what the contacts that touch there do.
struct SpaceStepper final : Scheme {
  const System& system;
  TimeSteppingOptions o;

  SpaceStepper(const System& sys, const State& start, const TimeSteppingOptions& options);
  void begin() override;
  void advance(double target) override;

 private:
  /// The velocity without contacts, v_.
  void move_freely(double dt);
  /// The contacts that a step with about this velocity can close.
  void choose_near(const Eigen::VectorXd& v, double dt);
  void choose_touching();
  bool close_gaps();
  /// The velocity with those contacts, v_new_.
  void solve_step(double dt);
  void remember_modes();
  void step(double dt);
  void note_impact(const Eigen::VectorXd& v_minus);

  // with a law of impact
  void advance_by_law(double target);
  bool collides() const;
  /// The part of the trial step after which a contact outside it closes; 1: none does.
  double first_touch(double dt);
  bool is_near(std::int64_t key) const;
  void impact();

  void note_solved(bool solved, double residual);
  /// What tells a contact from others from step to step: its place, or its identity where they
  /// vary.
  std::int64_t key(const Terms& terms, int contact) const;
  /// As Event::contacts count.
  int index_of(int contact);
  const StepGuess* last_of(int contact) const;

  Terms terms_, terms_new_;
  std::vector<int> near_;                // contacts in the step
  std::vector<std::int64_t> near_keys_;  // sorted
  StepSolver solver_, gap_solver_;
  Eigen::MatrixXd inertia_;
  Eigen::VectorXd push_, v_, v_new_, v_minus_, q_new_;
  // contacts that pressed in the last step, by key
  struct Last {
    std::int64_t key;
    StepGuess guess;
  };
  std::vector<Last> last_, pressing_;
  std::map<std::int64_t, int> known_;  // place in log.contact_names
};

}  // namespace routh::stepping
