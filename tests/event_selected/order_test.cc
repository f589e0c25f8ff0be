#include <gtest/gtest.h>

#include "event_selected/order_reference.h"
#include "routh/event_selected/integrate.h"
#include "routh/event_selected/systems.h"

namespace routh::event_selected {
namespace {

using Eigen::Vector3d;
using test::OrderReference;

/// Root-mean-square difference to the exact motion over the samples on the grid.
double rms(const Solution<Vector3d>& s, const OrderReference& exact) {
  double sum = 0;
  for (std::size_t i = 0; i < s.times.size(); ++i)
    sum += (s.states[i] - exact.at(s.times[i])).squaredNorm();
  return std::sqrt(sum / static_cast<double>(s.times.size()));
}

Options tight(double eps) {
  return {.eps = eps, .t_end = 0.5, .step = {.rtol = 1e-12, .atol = 1e-13}, .sample_every = 5e-3};
}

/// Least-squares slope of log(error) over log(eps).
double fitted_slope(const std::vector<double>& eps, const std::vector<double>& error) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const double n = static_cast<double>(eps.size());
  for (std::size_t i = 0; i < eps.size(); ++i) {
    const double x = std::log(eps[i]), y = std::log(error[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

TEST(Order, ErrorFallsWithTheSquareOfEps) {
  OrderTest system;
  const OrderReference exact(OrderTest::start(), 0.5);
  ASSERT_EQ(exact.guards, (std::vector<int>{1, 2, 0}));
  std::vector<double> eps, error, error_at_end;
  for (int i = 0; i <= 16; ++i) {
    eps.push_back(std::pow(10, -4 + i / 8.0));
    const auto s = integrate(system, OrderTest::start(), tight(eps.back()));
    ASSERT_TRUE(s.finished());
    ASSERT_EQ(s.counts.projections, 3);
    error.push_back(rms(s, exact));
    error_at_end.push_back((s.x - exact.at(0.5)).norm());
  }
  EXPECT_NEAR(fitted_slope(eps, error), 2.0, 0.03);
  EXPECT_NEAR(fitted_slope(eps, error_at_end), 2.0, 0.03);
}

TEST(Order, ExactLocationAgreesWithMatrixExponentials) {
  OrderTest system;
  const OrderReference exact(OrderTest::start(), 0.5);
  Options options = tight(1e-3);
  options.exact = true;
  const auto s = integrate(system, OrderTest::start(), options);
  ASSERT_TRUE(s.finished());
  ASSERT_EQ(s.events.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(s.events[i].guard, exact.guards[i]);
    EXPECT_NEAR(s.events[i].time, exact.times[i], 1e-11);
    EXPECT_NEAR(s.events[i].x[s.events[i].guard], 0, 1e-12);
  }
  EXPECT_LT(rms(s, exact), 1e-10);
}

TEST(Order, OtherStartsKeepTheOrderToo) {
  OrderTest system;
  for (const Vector3d& x0 : {Vector3d(-0.3, -0.35, 0.1), Vector3d(-0.1, -0.4, 0.4)}) {
    const OrderReference exact(x0, 0.5);
    ASSERT_EQ(exact.guards.size(), 3u);
    const double coarse = rms(integrate(system, x0, tight(4e-3)), exact);
    const double fine = rms(integrate(system, x0, tight(4e-4)), exact);
    EXPECT_NEAR(std::log10(coarse / fine), 2.0, 0.1);
  }
}

}  // namespace
}  // namespace routh::event_selected
