#pragma once

#include <Eigen/Core>
#include <string>

/// Numbers for people: with units that fit their size, and without what rounding left over.
namespace routh::app {

/// "12 us", "0.12 s" as "120 ms", "36.3 s", "12 min", "2.1 h", "12 days", "1.3 million years"
std::string duration(double seconds);
/// "12 kB", "3.4 GB"
std::string bytes(double count);
/// 12345678 -> "12.3 million"
std::string amount(double x);
/// Zero for what is rounding beside the other numbers of its column, and never -0.
double rounded(double x, double largest, double level = 1e-12);
double largest_of(const Eigen::VectorXd& column);

/// Numbers of one column, ten characters wide: four decimals where that suits them.
class Column {
 public:
  explicit Column(double largest, double level = 1e-9);
  std::string operator()(double x) const;

 private:
  double largest_, level_;
  bool fixed_;
};

}  // namespace routh::app
