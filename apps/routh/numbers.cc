#include "numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace routh::app {

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 90) return fmt::format("{:.3g} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds < 365 * 86400.0) return fmt::format("{:.0f} days", seconds / 86400);
  return fmt::format("{} years", amount(std::round(seconds / (365.25 * 86400))));
}

std::string bytes(double count) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  for (; count >= 1000 && unit < 5; ++unit) count /= 1000;
  return fmt::format("{:.3g} {}", count, kUnits[unit]);
}

std::string amount(double x) {
  if (x >= 1e12) return fmt::format("{:.3g}", x);
  if (x >= 1e6) return fmt::format("{:.4g} million", x / 1e6);
  if (x >= 1e4) return fmt::format("{:.4g} thousand", x / 1e3);
  return x == std::floor(x) || x >= 100 ? fmt::format("{:.0f}", x) : fmt::format("{:.2g}", x);
}

double rounded(double x, double largest, double level) {
  return std::abs(x) <= level * largest ? 0 : x + 0.0;
}

double largest_of(const Eigen::VectorXd& column) {
  return column.size() ? column.lpNorm<Eigen::Infinity>() : 0;
}

Column::Column(double largest, double level)
    : largest_(largest),
      level_(level),
      fixed_(largest == 0 || (largest >= 1e-2 && largest < 1e5)) {}

std::string Column::operator()(double x) const {
  const double shown = rounded(x, largest_, level_);
  if (!fixed_) return fmt::format("{:10.4g}", shown);
  return fmt::format("{:10.4f}", std::abs(shown) < 5e-5 ? 0 : shown);
}

}  // namespace routh::app
