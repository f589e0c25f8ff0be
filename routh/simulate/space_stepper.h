#pragma once

#include <Eigen/Cholesky>
#include <map>
#include <optional>
#include <string>

#include "routh/impact/sweep_solver.h"
#include "routh/simulate/stepper.h"

/// Time-stepping of systems whose contacts are found anew at every configuration. Used by
/// simulate() and TimeStepper of time_stepping.h alone.
namespace routh::stepping {

/// P3 (4.4) with α = γ = 1 and every contact within reach in the step:
///
///   M̃ (v⁺ - v) = h k + Aᵀ λ + Jnᵀ λn + Jtᵀ λt,    A v⁺ = 0,
///   0 ≤ Jn v⁺ + max(Φ, 0)/h ⊥ λn ≥ 0,    λt ∈ μ λn conv D, braking Jt v⁺ most,
///   q⁺ = q ⊕ h v⁺
///
/// in the space of the contacts, by SweepSolver. Before a step joints are closed and contacts that
/// went below zero pushed out, by the shortest motion in the metric of the inertia; velocities do
/// not change by that.
struct SpaceStepper final : Scheme {
  const System& system;
  TimeSteppingOptions o;

  SpaceStepper(const System& sys, const State& start, const TimeSteppingOptions& options);
  void begin() override;
  void advance(double target) override;

 private:
  /// W = M̃⁻¹ without the motions that the joints forbid, and a velocity likewise.
  void set_inertia(const Eigen::MatrixXd& inertia);
  /// Impulses of the joints that bring about these velocities of their rows.
  Eigen::MatrixXd joint_impulse(const Eigen::MatrixXd& rates) const;
  /// Rows of the contacts in the step, normals first.
  void assemble(int tangents);
  /// The contacts that a step with about this velocity can close.
  void choose_near(const Eigen::VectorXd& v, double dt);
  bool close_gaps();
  void step(double dt);
  void note_impact(const Eigen::VectorXd& v_minus, const Eigen::VectorXd& lambda);
  void note_solved(bool solved, double residual);
  /// What tells a contact from others from step to step: its place, or its name where they vary.
  std::string key(int contact) const;
  /// As Event::contacts count.
  int index_of(int contact);

  Terms terms_;
  std::vector<int> near_;  // contacts in the step
  Eigen::LLT<Eigen::MatrixXd> llt_;
  Eigen::MatrixXd J_, W_Jt_, W_At_, joints_;
  Eigen::VectorXd joint_unit_;
  Eigen::LDLT<Eigen::MatrixXd> joints_ldlt_;  // of the joints in these units
  // impulses and modes of the last step, by contact
  struct Last {
    Eigen::Vector3d impulse;
    ContactMode mode;
  };
  std::map<std::string, Last> last_;
  std::map<std::string, int> known_;  // place in log.contact_names
};

}  // namespace routh::stepping
