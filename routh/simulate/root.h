#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

namespace routh {

/// Where f changes its sign between a and b, with fa and fb of opposite signs: the ends of an
/// interval no longer than `tolerance(x)` there, the lower first, or the root twice where f
/// vanishes on it. Inverse quadratic interpolation where it is safe, halving elsewhere: T. R.
/// Chandrupatla, *A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
/// function without using derivatives*, Advances in Engineering Software 28, 1997.
template <typename F, typename Tolerance>
std::pair<double, double> bracketed_root(const F& f, double a, double b, double fa, double fb,
                                         const Tolerance& tolerance) {
  if (fa == 0) return {a, a};
  if (fb == 0) return {b, b};
  double step = 0.5;  // from the newest point a to b, beyond the root
  for (int k = 0; k < 200; ++k) {
    const double x = a + step * (b - a), fx = f(x);
    if (fx == 0) return {x, x};
    // c: the point that leaves the bracket
    double c = a, fc = fa;
    if ((fx > 0) != (fa > 0)) c = std::exchange(b, a), fc = std::exchange(fb, fa);
    a = x, fa = fx;
    const double width = std::abs(b - a), most = tolerance(a);
    if (width <= most) break;
    const double at = (a - b) / (c - b), height = (fa - fb) / (fc - fb);
    const bool safe = height * height < at && (1 - height) * (1 - height) < 1 - at;
    step =
        safe ? fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
             : 0.5;
    // steps beyond a root that is known make the bracket short
    const double least = std::min(0.5, 0.5 * most / width);
    step = std::clamp(step, least, 1 - least);
  }
  return std::minmax(a, b);
}

}  // namespace routh
