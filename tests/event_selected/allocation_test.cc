// An allocation by Eigen while it is not allowed throws.
#include <stdexcept>
#define EIGEN_RUNTIME_NO_MALLOC
#define eigen_assert(condition) \
  if (!(condition)) throw std::logic_error(#condition)

#include <gtest/gtest.h>

#include "routh/event_selected/integrate.h"

namespace routh::event_selected {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A hopper of dynamic size that forbids allocation from its thousandth evaluation on.
long evaluations = 0;
void field(const VectorXd& x, const Crossed& crossed, VectorXd& dx) {
  if (++evaluations == 1000) Eigen::internal::set_is_malloc_allowed(false);
  dx[0] = x[1], dx[1] = -9.81 + (crossed[0] ? 100 * (1 - x[0]) : 0);
}
void guards(const VectorXd& x, VectorXd& h) {
  h.resize(2);
  h << 1 - x[0], x[0] - 1;
}
void jacobian(const VectorXd&, MatrixXd& rows) {
  rows.resize(2, 2);
  rows << -1, 0, 1, 0;
}

TEST(Allocation, NothingIsAllocatedPerEvaluationOnceWarm) {
  const VectorXd x0 = Eigen::Vector2d(2, 0);
  for (const bool exact : {false, true}) {
    evaluations = 0;
    const Options options{.exact = exact, .t_end = 100, .reset = alternate(1), .record = false};
    EXPECT_NO_THROW((void)integrate(field, guards, jacobian, x0, options));
    Eigen::internal::set_is_malloc_allowed(true);
    EXPECT_GT(evaluations, 10000);
  }
}

TEST(Allocation, AFieldThatAllocatesIsNoticed) {
  const VectorXd x0 = Eigen::Vector2d(2, 0);
  evaluations = 0;
  const auto returned = [](const VectorXd& x, const Crossed& crossed) {
    VectorXd dx(2);
    field(x, crossed, dx);
    return dx;
  };
  EXPECT_THROW((void)integrate(returned, guards, jacobian, x0,
                               {.t_end = 100, .reset = alternate(1), .record = false}),
               std::logic_error);
  Eigen::internal::set_is_malloc_allowed(true);
}

}  // namespace
}  // namespace routh::event_selected
