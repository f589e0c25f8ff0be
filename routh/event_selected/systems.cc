#include "routh/event_selected/systems.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace routh::event_selected {

void OrderTest::field(const State& x, const Crossed& crossed, State& dx) const {
  const bool px = crossed[0], py = crossed[1], low = crossed[2];
  dx[0] = py ? (px ? 10 * x[0] + 1 : x[1] + 1) : (px ? -2 * x[1] + 1 : -x[1] + 1);
  dx[1] = py ? (px ? x[1] + 1 : -x[0] + 1) : (px ? 0.5 * x[0] + 2 : x[0] + 1);
  dx[2] = low ? 3 * x[2] - 1 : -x[2] - 1;
}

void OrderTest::guards(const State& x, Eigen::VectorXd& h) const {
  h.resize(3);
  h << x[0], x[1], -x[2];
}

void OrderTest::rates(const State&, const State& dx, Eigen::VectorXd& hdot) const {
  hdot << dx[0], dx[1], -dx[2];
}

void OrderTest::field_derivative(const State&, const Crossed& crossed, const State& dx,
                                 State& ddx) const {
  const bool px = crossed[0], py = crossed[1], low = crossed[2];
  ddx[0] = py ? (px ? 10 * dx[0] : dx[1]) : (px ? -2 * dx[1] : -dx[1]);
  ddx[1] = py ? (px ? dx[1] : -dx[0]) : (px ? 0.5 * dx[0] : dx[0]);
  ddx[2] = low ? 3 * dx[2] : -dx[2];
}

double Hopper::energy(const State& x) const {
  const double squeeze = std::max(0.0, length - x[0]);
  return 0.5 * x[1] * x[1] + gravity * x[0] + 0.5 * stiffness_over_mass * squeeze * squeeze;
}

Hopper::State Hopper::exact(double t) const {
  // flight from the apex for `fall`, stance for `stance`, and up again: one period
  const double speed = std::sqrt(2 * gravity * (height - length)), fall = speed / gravity;
  const double w = std::sqrt(stiffness_over_mass);
  // stance: s = L0 - z obeys s̈ = g - w² s, s(0) = 0, ṡ(0) = speed
  const double rest = gravity / (w * w), phase = std::atan2(w * rest, speed);
  const double stance = (M_PI + 2 * phase) / w, period = 2 * fall + stance;
  t = std::fmod(t, period);
  if (t < fall) return {height - 0.5 * gravity * t * t, -gravity * t};
  if (t < fall + stance) {
    const double a = std::hypot(rest, speed / w), angle = w * (t - fall) - phase;
    return {length - rest - a * std::sin(angle), -a * w * std::cos(angle)};
  }
  const double back = period - t;
  return {height - 0.5 * gravity * back * back, gravity * back};
}

Plate::Plate(const PlateParameters& parameters) : p_(parameters) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
  };
  require(p_.springs >= 1 && p_.springs <= 1'000'000, "springs must be between 1 and 1000000");
  require(p_.stiffness > 0, "stiffness must be positive");
  require(p_.damping >= 0, "damping must not be negative");
  require(p_.mass > 0, "mass must be positive");
  require(p_.inertia > 0, "inertia must be positive");
  require(p_.half_width > 0, "half_width must be positive");
  require(std::abs(p_.angle) < M_PI / 2, "angle must be between -pi/2 and pi/2");
  require(std::isfinite(p_.length + p_.height + p_.gravity),
          "length, height and gravity must be finite");
  const int n = p_.springs;
  pitch_ = n > 1 ? 2 * p_.half_width / (n - 1) : 0;
  first_ = n > 1 ? -p_.half_width : 0;
  k_ = p_.stiffness / n;
  b_ = p_.damping / n;
  index_ = Eigen::ArrayXd::LinSpaced(n, 0, n - 1);
}

Plate::State Plate::start() const {
  return (State() << 0, p_.height, p_.angle, 0, 0, 0).finished();
}

void Plate::select(const Crossed& crossed, int k) {
  const int n = p_.springs;
  const auto add = [&](long long i, int sign) {
    count_ += sign, sum_ += sign * i, squares_ += sign * i * i;
  };
  if (k >= 0) {
    const int i = k < n ? k : k - n;
    add(i, k < n ? 1 : -1);
    // the spring now differs from the neighbours it was like, and conversely
    for (const int end : {i, i + 1}) {
      if (end == 0 || end == n) continue;
      const auto at = std::lower_bound(ends_.begin(), ends_.end(), end);
      if (at != ends_.end() && *at == end)
        ends_.erase(at);
      else
        ends_.insert(at, end);
    }
    return;
  }
  count_ = sum_ = squares_ = 0;
  ends_.clear();
  for (int i = 0; i < n; ++i) {
    if (crossed[i]) add(i, 1);
    if (i > 0 && crossed[i] != crossed[i - 1]) ends_.push_back(i);
  }
}

void Plate::next_guards(const Crossed& crossed, std::vector<int>& list) const {
  const int n = p_.springs;
  const auto add = [&](int i) { list.push_back(crossed[i] ? n + i : i); };
  add(0);
  for (const int end : ends_) {
    if (list.back() % n != end - 1) add(end - 1);
    add(end);
  }
  if (list.back() % n != n - 1) add(n - 1);
}

double Plate::tangent(double angle) const {
  if (angle != last_angle_) last_angle_ = angle, last_tangent_ = std::tan(angle);
  return last_tangent_;
}

void Plate::field(const State& x, const Crossed&, State& dx) const {
  // upright, the plate is above no spring
  if (!(std::abs(x[2]) < M_PI / 2)) {
    dx.setConstant(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const double slope = tangent(x[2]), secant2 = 1 + slope * slope;
  // over the touching springs, d = x - x_i = d0 - pitch i: how many, Σd, Σd²
  const double d0 = x[0] - first_, n = static_cast<double>(count_);
  const double si = static_cast<double>(sum_), sii = static_cast<double>(squares_);
  const double sd = n * d0 - pitch_ * si;
  const double sdd = n * d0 * d0 - 2 * d0 * pitch_ * si + pitch_ * pitch_ * sii;
  // F_i = p + q d
  const double p = k_ * (p_.length - x[1]) + b_ * (slope * x[3] - x[4]);
  const double q = k_ * slope + b_ * secant2 * x[5];
  const double force = p * n + q * sd, moment = p * sd + q * sdd;
  dx[0] = x[3];
  dx[1] = x[4];
  dx[2] = x[5];
  dx[3] = -slope * force / p_.mass;
  dx[4] = force / p_.mass - p_.gravity;
  dx[5] = -secant2 * moment / p_.inertia;
}

void Plate::guards(const State& x, Eigen::VectorXd& h) const {
  const int n = p_.springs;
  h.resize(2 * n);
  const double slope = tangent(x[2]), step = -slope * pitch_;
  const double base = p_.length + slope * (x[0] - first_) - x[1];
  h.head(n) = (base + step * index_).matrix();
  h.tail(n) = -h.head(n);
}

void Plate::rates(const State& x, const State& dx, Eigen::VectorXd& hdot) const {
  const int n = p_.springs;
  const double slope = tangent(x[2]), turn = (1 + slope * slope) * dx[2];
  const double base = slope * dx[0] - dx[1] + turn * (x[0] - first_), step = -turn * pitch_;
  hdot.head(n) = (base + step * index_).matrix();
  hdot.tail(n) = -hdot.head(n);
}

double Plate::guard(const State& x, int k) const {
  const int n = p_.springs, i = k < n ? k : k - n;
  const double h = p_.length + tangent(x[2]) * (x[0] - spring_at(i)) - x[1];
  return k < n ? h : -h;
}

double Plate::rate(const State& x, const State& dx, int k) const {
  const int n = p_.springs, i = k < n ? k : k - n;
  const double slope = tangent(x[2]);
  const double hdot = slope * dx[0] - dx[1] + (1 + slope * slope) * (x[0] - spring_at(i)) * dx[2];
  return k < n ? hdot : -hdot;
}

double Plate::energy(const State& x, const Crossed& crossed) const {
  double e = 0.5 * p_.mass * (x[3] * x[3] + x[4] * x[4]) + 0.5 * p_.inertia * x[5] * x[5] +
             p_.mass * p_.gravity * x[1];
  for (int i = 0; i < p_.springs; ++i) {
    const double h = guard(x, i);
    if (crossed[i]) e += 0.5 * k_ * h * h;
  }
  return e;
}

}  // namespace routh::event_selected
