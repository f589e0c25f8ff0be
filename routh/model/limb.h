#pragma once

#include <functional>
#include <string>

namespace routh {

/// A coordinate without mass, P4 A5 and A6. While a contact that moves with it is closed, contacts
/// determine its motion; otherwise it leaves the dynamics and follows its own law in the air. With
/// neither rate nor acceleration it holds its value.
struct Limb {
  using Law = std::function<double(double t, double q, double v)>;
  std::string name;
  int coordinate = 0;
  Law rate = {};          ///< first order: v = rate(t, q, v) [rad/s] or [m/s]
  Law acceleration = {};  ///< second order: v̇ [rad/s²] or [m/s²]
};

/// Turns or slides at a constant rate [rad/s] or [m/s].
inline Limb::Law retract(double rate) {
  return [rate](double, double, double) { return rate; };
}
/// Critically damped towards a value, as fast as `frequency` [rad/s].
inline Limb::Law follow(double target, double frequency) {
  return [target, frequency](double, double q, double v) {
    return frequency * (frequency * (target - q) - 2 * v);
  };
}

}  // namespace routh
