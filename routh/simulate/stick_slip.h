#pragma once

#include <vector>

namespace routh {

/// P3 Example 9.2 in closed form: m ẍ = a cos t - μ m g sign(ẋ) on a table, from rest. It slides
/// until ẋ returns to zero, then sticks until |a cos t| exceeds μ m g. The reference of the
/// time-stepping schemes.
class ExactStickSlip {
 public:
  struct Parameters {
    double mass = 1;  ///< [kg]
    double friction = 0.8;
    double amplitude = 8;  ///< a [N]
    double x0 = 3;         ///< [m]
    double gravity = 9.81;
  };
  /// All switching times up to `end`, each to rounding.
  ExactStickSlip(const Parameters& parameters, double end);

  double position(double t) const;
  double velocity(double t) const;
  /// Times at which slipping begins and ends, in turn, beginning with a slip.
  const std::vector<double>& switches() const { return switches_; }

 private:
  /// Velocity and position t seconds into a slip that began at time `start`.
  double slip_velocity(double start, double t) const;
  double slip_distance(double start, double t) const;

  Parameters p_;
  std::vector<double> switches_;
  std::vector<double> positions_;  // at the switches
};

}  // namespace routh
