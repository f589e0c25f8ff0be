// Friction cones of StepSolver: which way a contact slides, and when it begins and ends.

#include <algorithm>
#include <cmath>

#include "routh/impact/step_solver.h"

namespace routh {

using Eigen::Vector2d;

Vector2d StepSolver::pull(const StepContact& contact) const {
  const int t = contact.n + 1;
  const double mobile = contact.g > 0 ? 1 / contact.g : 0;  // joints may hold it fast
  return {x_[t] - mobile * c_plus_[t], x_[t + 1] - mobile * c_plus_[t + 1]};
}

/// The side of the polygon that z points at.
const StepSolver::Side& StepSolver::side_towards(const Vector2d& z) const {
  const Side* nearest = &sides_[0];
  for (const Side& side : sides_) {
    if (side.out.dot(z) > nearest->out.dot(z)) nearest = &side;
  }
  return *nearest;
}

bool StepSolver::slide_along(StepContact& contact, const Vector2d& z, double slack) const {
  const double load = contact.mu * std::max(0.0, x_[contact.n]), size = z.norm();
  if (edges_ == 0) {
    if (size <= load + slack) return false;
    contact.u = z / size;
    contact.w = {-contact.u.y(), contact.u.x()};
    contact.across = true;
    // without a load there is no friction, whatever its direction
    contact.give = std::min(contact.g * (size - load) / std::max(load, 1e-300), 1e9 * contact.g);
    return true;
  }
  const Side& side = side_towards(z);
  if (side.out.dot(z) <= inner_ * load + slack) return false;
  const double place = side.along.dot(z);
  contact.across = std::abs(place) < half_ * load;
  contact.u = inner_ * side.out;
  if (!contact.across) contact.u += (place > 0 ? half_ : -half_) * side.along;
  contact.w = side.along;
  contact.give = 0;
  return true;
}

Vector2d StepSolver::into_cone(const StepContact& contact, const Vector2d& z) const {
  const double load = contact.mu * std::max(0.0, x_[contact.n]);
  const double size = z.norm();
  if (size <= inner_ * load) return z;
  if (edges_ == 0) return load / size * z;
  const Side& side = side_towards(z);
  if (side.out.dot(z) <= inner_ * load) return z;
  const double half = half_ * load;
  return inner_ * load * side.out + std::clamp(side.along.dot(z), -half, half) * side.along;
}

/// The tangents of a contact in space that presses. True when something had to be corrected.
bool StepSolver::correct_slip(StepContact& contact, bool may_change) {
  const double zero = kSign * scale_, slack = contact.g > 0 ? zero / contact.g : 0;
  const bool slid = contact.mode == Grip::kSlide;
  if (!slid && !may_change) return slide_along(contact, pull(contact), slack);
  const Vector2d u = contact.u;
  const bool across = contact.across;
  if (!slide_along(contact, pull(contact), slid ? -slack : slack)) {
    if (slid && may_change) contact.mode = Grip::kStick;
    return slid;
  }
  contact.mode = Grip::kSlide;
  const double load = contact.mu * std::max(0.0, x_[contact.n]);
  return !slid || across != contact.across || (contact.u - u).norm() * load * contact.g > zero;
}

/// A contact that would have to pull in order to stick begins to slide.
void StepSolver::close(StepContact& contact) const {
  contact.mode = Grip::kStick;
  if (!contact.pulled) return;
  const double ct = contact.tangents == 1 ? c_plus_[contact.n + 1] : 0;
  if (ct != 0) contact.mode = ct > 0 ? Grip::kSlidePositive : Grip::kSlideNegative;
  if (contact.tangents == 2 && slide_along(contact, pull(contact), 0)) contact.mode = Grip::kSlide;
}

}  // namespace routh
