#pragma once

#include <cmath>
#include <vector>

namespace routh {

/// Slope of log(error) over log(h) by least squares: the order of a method.
inline double slope(const std::vector<double>& h, const std::vector<double>& error) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double x = std::log(h[i]), y = std::log(error[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const auto n = static_cast<double>(h.size());
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace routh
