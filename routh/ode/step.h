#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

/// What the integrators of this folder share: tolerances, how a step ends, the length of the first.
namespace routh::ode {

struct StepOptions {
  double rtol = 1e-8;     ///< error of a step relative to each component of x
  double atol = 1e-10;    ///< and absolute, in the units of x
  double first_step = 0;  ///< [s]; 0: chosen from x, f and the tolerances
  double max_step = std::numeric_limits<double>::infinity();  ///< [s]
};

enum class StepStatus {
  kAccepted,
  kNotFinite,     ///< f or the state is not finite however small the step
  kStepTooSmall,  ///< the tolerances cannot be met at the resolution of the time
};

/// Root mean square of `error` in units of the tolerance for states of the `size` given.
template <class Error, class Size>
double in_tolerances(const Eigen::MatrixBase<Error>& error, const Eigen::ArrayBase<Size>& size,
                     const StepOptions& options) {
  const double sum = (error.array() / (options.atol + options.rtol * size)).square().sum();
  return std::sqrt(sum / static_cast<double>(error.size()));
}

/// Hairer, Nørsett, Wanner, II.4 (4.14): the first step from (t, x), at most to `limit`, of a
/// method whose estimate of the error falls as h^`order`; from the sizes of x, dxdt = f(t, x) and
/// its change along an Euler step, which is made in `moved` and `change`.
template <class F, class State>
double first_step(F&& f, double t, const State& x, const State& dxdt, double limit, double order,
                  const StepOptions& options, State& moved, State& change) {
  const auto size = [&](const State& v) { return in_tolerances(v, x.array().abs(), options); };
  const double d0 = size(x), d1 = size(dxdt);
  double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  h = std::min({h, options.max_step, limit - t});
  moved = x + h * dxdt;
  f(t + h, moved, change);
  change -= dxdt;
  const double d = std::max(d1, size(change) / h);
  const double longer = d <= 1e-15 ? std::max(1e-6, 1e-3 * h) : std::pow(0.01 / d, 1 / order);
  const double chosen = std::min({100 * h, longer, limit - t});
  return std::isfinite(chosen) && chosen > 0 ? chosen : 1e-6 * (limit - t);
}

}  // namespace routh::ode
