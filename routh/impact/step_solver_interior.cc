// Where StepSolver begins with nothing and contacts are many.

#include <algorithm>
#include <cmath>

#include "routh/impact/step_solver.h"

namespace routh {

/// An interior point method until the impulses are good, or no better for long. Where it comes
/// close, the active set of a few contacts may finish, which is exact; where it does not, the
/// method goes on.
bool StepSolver::interior(double tolerance, const InteriorPoint::Path& path) {
  constexpr int kPatience = 10, kPatienceWithMany = 100, kPatienceClose = 5;
  constexpr int kFinish = 6;                       // systems of an active set
  constexpr double kClose = 1e-6, kCloser = 1e-2;  // residual that it begins with
  InteriorPoint method;
  method.starts = starts_;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    InteriorPoint::Row row{.c = c_[r], .own = own(static_cast<int>(r))};
    for (int e = 0; e < rows_[r].count; ++e) {
      const Entry& entry = rows_[r].entries[e];
      row.parts[row.count++] = {entry.group, entry.from, entry.size, &values_[entry.j],
                                &values_[entry.y]};
    }
    method.rows.push_back(row);
  }
  for (int r = 0; r < bilateral_; ++r) {
    if (own(r) > 0) method.constraints.push_back({.first = r, .joint = true});
  }
  for (const StepContact& contact : contacts_) {
    if (moves(contact))
      method.constraints.push_back(
          {.first = contact.n, .tangents = contact.tangents, .mu = contact.mu});
  }
  method.begin(scale_, path);

  std::vector<double> nearest = start_;
  double least = HUGE_VAL, now = 1, close = kClose;
  std::fill(x_.begin(), x_.end(), 0.0);
  const bool few = contacts() < kCrowd && in_space();
  int patience = few ? kPatience : kPatienceWithMany;
  for (int waited = 0; waited < patience && method.step(now); ++waited) {
    ++systems_;
    method.impulses(x_);
    apply_rows();
    measure();
    now = residual_;
    if (now < 0.5 * least) waited = 0;
    if (now < least) least = now, nearest = x_;
    if (now <= tolerance) break;
    if (now > close) continue;
    if (!few) break;
    close = kCloser * now;
    patience = kPatienceClose;
    read_modes();
    active_set(kFinish);
    measure();
    if (residual_ <= tolerance) return true;
  }
  x_ = nearest;
  apply_rows();
  measure();
  read_modes();
  return residual_ <= tolerance;
}

}  // namespace routh
