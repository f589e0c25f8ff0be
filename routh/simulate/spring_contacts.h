#pragma once

#include <Eigen/Core>
#include <string>

#include "routh/event_selected/integrate.h"
#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

namespace routh {

/// Contacts that give: one value for all contacts, or one per contact.
struct SpringContactOptions {
  Eigen::VectorXd stiffness = Eigen::VectorXd::Constant(1, 1e4);  ///< k [N/m], positive
  Eigen::VectorXd damping = Eigen::VectorXd::Zero(1);             ///< b [N s/m], not negative
  /// ε in metres of gap, end, tolerances, sampling; `reset` and `crossed` are not used.
  event_selected::Options integration = {};
};

/// A mechanism whose contacts are springs and dampers without friction, as an event-selected system
/// (routh/event_selected/system.h), x = (q, v, t):
///
///   M v̇ = forces(t, q, v) + Aᵀ λ + Σ over touching i of Jn_iᵀ F_i,    A v̇ = -Ȧ v,
///   F_i = -k φ_i - b φ̇_i while contact i touches: from h_i = -φ_i ≥ 0 until h_{m+i} = φ_i ≥ 0.
///
/// The system must have as many coordinates as velocities and must outlive this object.
class SpringContacts {
 public:
  /// Throws std::invalid_argument naming the option.
  SpringContacts(const System& system, const SpringContactOptions& options);

  using State = Eigen::VectorXd;
  State state(const routh::State& at) const;
  int contacts() const { return static_cast<int>(k_.size()); }
  event_selected::Reset reset() const { return event_selected::alternate(contacts()); }

  /// Not finite where nothing moves; trouble() then says why.
  void field(const State& x, const event_selected::Crossed& crossed, State& dx);
  void guards(const State& x, Eigen::VectorXd& h);
  void rates(const State& x, const State& dx, Eigen::VectorXd& hdot);

  const std::string& trouble() const { return trouble_; }

  /// Kinetic, potential and of the contacts that are pressed [J].
  double energy(const State& x);

 private:
  void evaluate(const State& x);
  void accelerate(const event_selected::Crossed& crossed, State& dx);

  const System& system_;
  Eigen::VectorXd k_, b_;
  Eigen::VectorXd q_, v_, force_, gap_, joint_gap_;
  Terms terms_;
  std::string trouble_;
};

/// Simulates a mechanism on spring contacts. Events are touches and lift-offs; velocities do not
/// jump. Throws std::invalid_argument naming the option, or what is wrong with the start.
Trajectory simulate(const System& system, const State& start, const SpringContactOptions& options);

}  // namespace routh
