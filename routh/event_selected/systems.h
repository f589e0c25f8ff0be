#pragma once

#include <Eigen/Core>
#include <vector>

#include "routh/event_selected/solution.h"

/// The event-selected systems of P5, ready for integrate() and b_derivative(). Each has a fast
/// `field`, `guards` and `rates` (see system.h), `start()`, and `reset()`, its guard reset rule.
namespace routh::event_selected {

/// P5 Table 4.1: affine in each octant, read literally; x, y and -z rise through zero.
///
///          ẋ   x < 0    x ≥ 0     ẏ   x < 0    x ≥ 0      ż   z ≤ 0    z > 0
///   y < 0     -y + 1   -2y + 1        x + 1   x/2 + 2        3z - 1   -z - 1
///   y ≥ 0      y + 1   10x + 1       -x + 1    y + 1
///
/// The corner x, y ≥ 0 is live only for x > -0.1: ε of the first guard must stay below 0.1.
class OrderTest {
 public:
  using State = Eigen::Vector3d;
  static State start() { return {-0.4, -0.15, 0.3}; }
  static Reset reset() { return {}; }

  void field(const State& x, const Crossed& crossed, State& dx) const;
  void guards(const State& x, Eigen::VectorXd& h) const;
  void rates(const State& x, const State& dx, Eigen::VectorXd& hdot) const;
  void field_derivative(const State& x, const Crossed& crossed, const State& dx, State& ddx) const;
};

/// P5 section 5.1: a mass hopping on a spring leg, no damping.
///
///   z̈ = -g                          in flight
///   z̈ = -g + (k/m) (L0 - z)          in stance, from h_0 = L0 - z ≥ 0 until h_1 = z - L0 ≥ 0
///
/// P5 prints h_1 = z - z0 for touchdown, which has the wrong sign for its own requirement 4.
class Hopper {
 public:
  using State = Eigen::Vector2d;     ///< z, ż
  double stiffness_over_mass = 100;  ///< k/m [1/s²]; not given in P5
  double length = 1;                 ///< L0 [m]
  double height = 2;                 ///< z at the start, at rest [m]
  double gravity = 9.81;             ///< [m/s²]

  State start() const { return {height, 0}; }
  static Reset reset() { return alternate(1); }

  void field(const State& x, const Crossed& crossed, State& dx) const {
    dx = {x[1], -gravity + (crossed[0] ? stiffness_over_mass * (length - x[0]) : 0)};
  }
  void guards(const State& x, Eigen::VectorXd& h) const {
    h.resize(2);
    h << length - x[0], x[0] - length;
  }
  void rates(const State&, const State& dx, Eigen::VectorXd& hdot) const { hdot << -dx[0], dx[0]; }
  double guard(const State& x, int k) const { return k == 0 ? length - x[0] : x[0] - length; }
  double rate(const State&, const State& dx, int k) const { return k == 0 ? -dx[0] : dx[0]; }
  void field_derivative(const State&, const Crossed& crossed, const State& dx, State& ddx) const {
    ddx = {dx[1], crossed[0] ? -stiffness_over_mass * dx[0] : 0};
  }

  /// Per mass [J/kg]; the spring stores energy only below its length.
  double energy(const State& x) const;
  /// The motion in closed form: parabolas and harmonic arcs. For height above length.
  State exact(double t) const;
};

struct PlateParameters {
  int springs = 2;         ///< n, evenly on [-half_width, half_width]
  double stiffness = 200;  ///< of all springs together [N/m]
  double damping = 0;      ///< of all springs together [N s/m]
  double mass = 1;         ///< [kg]
  double inertia = 1;      ///< [kg m²]
  double length = 1;       ///< L0 of every spring [m]
  double half_width = 1;   ///< [m]
  double height = 2.5;     ///< z at the start, at rest [m]
  double angle = 0.05;     ///< θ at the start [rad]
  double gravity = 9.81;   ///< [m/s²]
};

/// P5 section 5.2: a plate in the plane falls on a bed of vertical springs with frictionless
/// rolling tips; x = (x, z, θ, ẋ, ż, θ̇).
///
///   h_i = L0 + tan θ (x - x_i) - z,    Dh_i = [tan θ, -1, sec² θ (x - x_i)],    h_{n+i} = -h_i
///   F_i = k h_i + b ḣ_i while spring i touches;   force on the plate -F_i Dh_iᵀ
///
/// h_i and ḣ_i are affine in x_i, so the sum of all touching springs is a function of Σ1, Σx_i and
/// Σx_i² over them. These change only when a guard is crossed: a field evaluation costs the same
/// for 2 and for 1000 springs. They are kept as integers, exactly. The model ends at |θ| = π/2,
/// where the field is NaN.
class Plate {
 public:
  using State = Eigen::Matrix<double, 6, 1>;
  /// Throws std::invalid_argument naming the parameter.
  explicit Plate(const PlateParameters& parameters);

  const PlateParameters& parameters() const { return p_; }
  State start() const;
  Reset reset() const { return alternate(p_.springs); }
  double spring_at(int i) const { return first_ + pitch_ * i; }  ///< x_i [m]

  void select(const Crossed& crossed, int k);
  void field(const State& x, const Crossed& crossed, State& dx) const;
  void guards(const State& x, Eigen::VectorXd& h) const;
  void rates(const State& x, const State& dx, Eigen::VectorXd& hdot) const;
  double guard(const State& x, int k) const;
  double rate(const State& x, const State& dx, int k) const;
  /// The springs at the ends of each run of neighbours that all touch or all do not: h_i is affine
  /// in i at any state, so whatever spring of a run is met, one at its ends is met as well.
  void next_guards(const Crossed& crossed, std::vector<int>& list) const;

  /// Kinetic, gravitational and of the springs that `crossed` says to touch [J].
  double energy(const State& x, const Crossed& crossed) const;

 private:
  double tangent(double angle) const;  ///< remembers the last

  PlateParameters p_;
  mutable double last_angle_ = 0, last_tangent_ = 0;
  double first_ = 0, pitch_ = 0, k_ = 0, b_ = 0;
  Eigen::ArrayXd index_;   ///< 0, 1, .. n - 1
  std::vector<int> ends_;  ///< sorted: spring i touches and spring i - 1 does not, or conversely
  long long count_ = 0, sum_ = 0, squares_ = 0;  ///< Σ1, Σi, Σi² over the touching springs i
};

}  // namespace routh::event_selected
