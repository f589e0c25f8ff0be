#include "routh/simulate/stick_slip.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "routh/simulate/root.h"

namespace routh {

double ExactStickSlip::slip_velocity(double start, double t) const {
  const double sign = std::cos(start) > 0 ? 1 : -1;
  return (p_.amplitude * (std::sin(t) - std::sin(start)) -
          sign * p_.friction * p_.mass * p_.gravity * (t - start)) /
         p_.mass;
}

double ExactStickSlip::slip_distance(double start, double t) const {
  const double sign = std::cos(start) > 0 ? 1 : -1, s = t - start;
  return (p_.amplitude * (std::cos(start) - std::cos(t) - std::sin(start) * s) -
          sign * p_.friction * p_.mass * p_.gravity * s * s / 2) /
         p_.mass;
}

ExactStickSlip::ExactStickSlip(const Parameters& parameters, double end) : p_(parameters) {
  const double pi = std::numbers::pi, held = p_.friction * p_.mass * p_.gravity;
  if (p_.amplitude <= held) return;  // never moves
  const double angle = std::acos(held / p_.amplitude);
  double t = 0, x = p_.x0;
  while (t < end) {
    // the push overcomes friction where |cos t| grows through held / a
    if (p_.amplitude * std::abs(std::cos(t)) <= held) {
      double begin = std::ceil(t / pi) * pi - angle;
      if (begin <= t) begin += pi;
      t = begin;
    }
    switches_.push_back(t);
    positions_.push_back(x);

    // the velocity first grows, then returns to zero; less than half a period later
    const double sign = std::cos(t) > 0 ? 1 : -1;
    double low = std::floor(t / pi + 0.5) * pi + angle, high = low;
    while (sign * slip_velocity(t, high) > 0) high += 0.01;
    if (high > low) {
      const auto slip = [&](double s) { return slip_velocity(t, s); };
      high = bracketed_root(slip, low, high, slip(low), slip(high), [](double s) {
               return 4e-16 * s;
             }).second;
    }
    x += slip_distance(t, high);
    t = high;
    switches_.push_back(t);
    positions_.push_back(x);
  }
}

double ExactStickSlip::position(double t) const {
  const auto after = std::upper_bound(switches_.begin(), switches_.end(), t);
  if (after == switches_.begin()) return p_.x0;
  const std::size_t phase = after - switches_.begin() - 1;
  const double x = positions_[phase];
  return phase % 2 ? x : x + slip_distance(switches_[phase], t);
}

double ExactStickSlip::velocity(double t) const {
  const auto after = std::upper_bound(switches_.begin(), switches_.end(), t);
  if (after == switches_.begin()) return 0;
  const std::size_t phase = after - switches_.begin() - 1;
  return phase % 2 ? 0 : slip_velocity(switches_[phase], t);
}

}  // namespace routh
