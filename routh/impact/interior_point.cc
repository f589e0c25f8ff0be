#include "routh/impact/interior_point.h"

#include <algorithm>
#include <cmath>

#include "routh/lcp/profile_lu.h"

namespace routh {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using lcp::dot;

constexpr int kStepsHere = 30, kCentres = 12;  // steps with one λ̄, and how many of these
constexpr double kSettled = 1e-7;              // residual that is λ̄'s if it no longer falls
constexpr double kAim = 0.01;                  // of the residual that a centre begins with
constexpr double kLeastProximal = 1e-7, kJoint = 1e-8;
constexpr double kRoundedBy = 0.1;  // of the distance of y from its cone
constexpr double kCentral = 1e-3;   // a product of eigenvalues, of the mean
constexpr double kBack = 0.99;      // of the way to the border
constexpr double kPace = 0.1;       // of the equations' squared error is the least gap

double det(const Vector3d& x) {
  const double t = x.tail<2>().norm();
  return (x[0] - t) * (x[0] + t);
}

Vector3d product(const Vector3d& a, const Vector3d& b) {
  Vector3d c;
  c << a.dot(b), a[0] * b.tail<2>() + b[0] * a.tail<2>();
  return c;
}

/// x of v ∘ x = b.
Vector3d quotient(const Vector3d& v, const Vector3d& b) {
  Vector3d x;
  x[0] = (v[0] * b[0] - v.tail<2>().dot(b.tail<2>())) / det(v);
  x.tail<2>() = (b.tail<2>() - x[0] * v.tail<2>()) / v[0];
  return x;
}

/// How far x + a d stays in the cone.
double reach(const Vector3d& x, const Vector3d& d) {
  const double a = d[0] * d[0] - d.tail<2>().squaredNorm(),
               b = x[0] * d[0] - x.tail<2>().dot(d.tail<2>()), c = det(x), root = b * b - a * c;
  double most = d[0] < 0 ? -x[0] / d[0] : HUGE_VAL;
  if (root < 0) return most;
  const double q = -(b + std::copysign(std::sqrt(root), b));
  for (const double length : {a != 0 ? q / a : HUGE_VAL, q != 0 ? c / q : HUGE_VAL}) {
    if (length > 0) most = std::min(most, length);
  }
  return most;
}

}  // namespace

Vector3d InteriorPoint::Cone::scaled(const Vector3d& x) const {
  return basis * stretch.cwiseProduct(basis.transpose() * x);
}
Vector3d InteriorPoint::Cone::unscaled(const Vector3d& x) const {
  return basis * (basis.transpose() * x).cwiseQuotient(stretch);
}
double InteriorPoint::Cone::slip(const Vector2d& ut) const {
  return std::sqrt(ut.squaredNorm() + rounded * rounded) - rounded;
}

/// Rows that know the same bodies side by side, the normal's in units of friction.
void InteriorPoint::pack(const Constraint& constraint) {
  const std::size_t first = parts_.size();
  const auto own = [&](int group) {
    return std::find_if(parts_.begin() + static_cast<std::ptrdiff_t>(first), parts_.end(),
                        [&](const Packed& p) { return p.group == group; });
  };
  for (int k = 0; k <= constraint.tangents; ++k) {
    const Row& row = rows[constraint.first + k];
    for (const Part& part : std::span(row.parts, row.count)) {
      const auto known = own(part.group);
      if (known == parts_.end()) {
        parts_.push_back({part.group, part.from, part.size, 0});
        continue;
      }
      const int end = std::max(known->from + known->size, part.from + part.size);
      known->from = std::min(known->from, part.from);
      known->size = end - known->from;
    }
  }
  const int count = 1 + constraint.tangents;
  for (std::size_t p = first; p < parts_.size(); ++p) {
    parts_[p].at = static_cast<int>(packed_.size());
    packed_.resize(packed_.size() + 2 * static_cast<std::size_t>(count * parts_[p].size), 0.0);
  }
  for (int k = 0; k < count; ++k) {
    const double unit = k == 0 && constraint.tangents > 0 ? constraint.mu : 1;
    const Row& row = rows[constraint.first + k];
    for (const Part& part : std::span(row.parts, row.count)) {
      const Packed& to = *own(part.group);
      double* j = &packed_[to.at + k * to.size + part.from - to.from];
      double* y = j + static_cast<std::ptrdiff_t>(count) * to.size;
      for (int i = 0; i < part.size; ++i) j[i] = part.j[i] / unit, y[i] = part.y[i] / unit;
    }
  }
}

Vector3d InteriorPoint::rates(std::size_t constraint, const VectorXd& w) const {
  Vector3d u = Vector3d::Zero();
  for (const Packed& part : parts_of(constraint)) {
    const double* j = &packed_[part.at];
    for (int k = 0; k <= constraints[constraint].tangents; ++k, j += part.size)
      u[k] += dot(j, w.data() + part.from, part.size);
  }
  return u;
}

void InteriorPoint::push(std::size_t constraint, const Vector3d& l, VectorXd& w) const {
  const int count = 1 + constraints[constraint].tangents;
  for (const Packed& part : parts_of(constraint)) {
    const double* y = &packed_[part.at + count * part.size];
    for (int k = 0; k < count; ++k, y += part.size)
      lcp::add(y, l[k], w.data() + part.from, part.size);
  }
}

void InteriorPoint::impulses(std::vector<double>& x) const {
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Constraint& constraint = constraints[i];
    for (int k = 0; k <= constraint.tangents; ++k) x[constraint.first + k] = cones_[i].l[k];
    if (constraint.tangents > 0) x[constraint.first] /= constraint.mu;
  }
}

void InteriorPoint::begin(double scale, const Path& path) {
  path_ = path, scale_ = scale;
  proximal_ = path.proximal;
  here_ = centres_ = 0;
  aim_ = kAim, last_ = 1;
  w_.setZero(starts.back());
  cones_.assign(constraints.size(), {});
  parts_.clear(), packed_.clear(), first_part_.assign(1, 0);
  std::vector<std::pair<int, int>> couples;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Constraint& constraint = constraints[i];
    pack(constraint);
    first_part_.push_back(parts_.size());
    for (const Packed& a : parts_of(i)) {
      for (const Packed& b : parts_of(i)) {
        if (a.group < b.group) couples.emplace_back(a.group, b.group);
      }
    }
    Cone& cone = cones_[i];
    cone.g = rows[constraint.first].own;
    if (constraint.joint) continue;
    cone.l[0] = scale / cone.g, cone.y[0] = scale;
  }
  std::sort(couples.begin(), couples.end());
  couples.erase(std::unique(couples.begin(), couples.end()), couples.end());
  lu_.analyse(starts, couples);
}

/// What the equations miss.
void InteriorPoint::look() {
  gap_ = miss_ = 0;
  int count = 0;
  drift_ = w_;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Constraint& constraint = constraints[i];
    Cone& cone = cones_[i];
    push(i, -cone.l, drift_);
    cone.u = rates(i, w_);
    for (int k = 0; k <= constraint.tangents; ++k) {
      const double c = rows[constraint.first + k].c;
      cone.u[k] += k == 0 && constraint.tangents > 0 ? c / constraint.mu : c;
    }
    cone.miss = cone.u;
    if (constraint.joint) {
      cone.r = kJoint * cone.g;
      continue;
    }
    cone.r = proximal_ * cone.g;
    cone.rounded = kRoundedBy * (cone.y[0] - cone.y.tail<2>().norm());
    if (constraint.tangents > 0) cone.miss[0] += cone.slip(cone.u.tail<2>());
    cone.miss += cone.r * (cone.l - cone.centre) - cone.y;
    miss_ = std::max(miss_, cone.miss.cwiseAbs().maxCoeff());
    gap_ += cone.g * cone.l.dot(cone.y);
    ++count;
  }
  gap_ /= std::max(1, count);
}

/// λ̄ goes to λ, which moves back from the border of its cone.
void InteriorPoint::move_centre(double residual) {
  const double back = std::min(residual, 1.0) * scale_;
  const auto inside = [](Vector3d& x, double distance) {
    x[0] = std::max(x[0], x.tail<2>().norm()) + distance;
  };
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    if (constraints[i].joint) continue;
    Cone& cone = cones_[i];
    cone.centre = cone.l;
    inside(cone.l, back / cone.g), inside(cone.y, back);
  }
  proximal_ = std::max(kLeastProximal, path_.shrink * proximal_);
  aim_ = kAim * std::min(1.0, residual);
  here_ = 0, ++centres_;
}

/// The scaling of Nesterov and Todd, W y = W⁻¹ λ, and what it makes of the step.
void InteriorPoint::prepare(Cone& cone, double mu) const {
  const double sl = std::sqrt(std::max(det(cone.l), 1e-300)),
               sy = std::sqrt(std::max(det(cone.y), 1e-300));
  const Vector3d a = cone.l / sl, b = cone.y / sy;
  const Vector2d t = (a.tail<2>() - b.tail<2>()) / (2 * std::sqrt((1 + a.dot(b)) / 2));
  const double size = t.norm(), long_axis = std::sqrt(1 + size * size) + size, half = M_SQRT1_2;
  const Vector2d d = size > 0 ? Vector2d(t / size) : Vector2d(1, 0);
  cone.basis << half, half, 0, half * d[0], -half * d[0], -d[1], half * d[1], -half * d[1], d[0];
  cone.stretch = std::sqrt(sl / sy) * Vector3d(long_axis, 1 / long_axis, 1);
  const Vector3d give = (cone.stretch.array().square().inverse() + cone.r).inverse();
  cone.give = cone.basis * give.asDiagonal() * cone.basis.transpose();
  cone.v = cone.scaled(cone.y);
  cone.slope.setIdentity();
  if (mu > 0) {
    const Vector2d ut = cone.u.tail<2>();
    const double length = std::sqrt(ut.squaredNorm() + cone.rounded * cone.rounded);
    if (length > 0) cone.slope.topRightCorner<1, 2>() = path_.follow / length * ut.transpose();
  }
}

void InteriorPoint::add_block(std::size_t constraint, const Matrix3d& middle) {
  const int count = 1 + constraints[constraint].tangents;
  for (const Packed& column : parts_of(constraint)) {
    // the middle times J
    const int n = column.size;
    const double* j = &packed_[column.at];
    across_.assign(3 * static_cast<std::size_t>(n), 0.0);
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) lcp::add(j + b * n, middle(a, b), &across_[a * n], n);
    }
    for (const Packed& row : parts_of(constraint)) {
      const double* y = &packed_[row.at + count * row.size];
      lcp::BlockLu::Block block = lu_.block(row.group, column.group);
      double* to = &block(row.from - starts[row.group], column.from - starts[column.group]);
      // along what lies side by side in memory
      if (block.row_stride == 1) {
        for (int m = 0; m < n; ++m, to += block.column_stride) {
          for (int a = 0; a < count; ++a)
            lcp::add(y + a * row.size, across_[a * n + m], to, row.size);
        }
      } else {
        for (int k = 0; k < row.size; ++k, to += block.row_stride) {
          for (int a = 0; a < count; ++a) lcp::add(&across_[a * n], y[a * row.size + k], to, n);
        }
      }
    }
  }
}

/// 1 + Y (W⁻² + r)⁻¹ S J.
bool InteriorPoint::factor() {
  lu_.reset();
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    Cone& cone = cones_[i];
    if (constraints[i].joint) {
      cone.give.setZero();
      cone.give(0, 0) = 1 / cone.r;
      cone.slope.setIdentity();
    } else {
      prepare(cone, constraints[i].mu);
    }
    add_block(i, cone.give * cone.slope);
  }
  return lu_.factor();
}

/// dw, dλ and dy towards the targets of the cones, W⁻¹ dλ + W dy = target.
void InteriorPoint::direction() {
  right_ = -drift_;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    Cone& cone = cones_[i];
    if (constraints[i].joint) {
      push(i, -cone.give * cone.miss, right_);
    } else {
      cone.target = cone.unscaled(cone.target);
      push(i, cone.give * (cone.target - cone.bent), right_);
    }
  }
  // what the elimination without pivots loses comes back once
  dw_ = right_;
  lu_.solve(dw_.data());
  VectorXd left = right_ - dw_;
  for (std::size_t i = 0; i < constraints.size(); ++i)
    push(i, -cones_[i].give * (cones_[i].slope * rates(i, dw_)), left);
  lu_.solve(left.data());
  dw_ += left;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    Cone& cone = cones_[i];
    cone.du = rates(i, dw_);
    if (constraints[i].joint) {
      cone.dl = -cone.give * (cone.du + cone.miss);
      continue;
    }
    const Vector3d rate = cone.slope * cone.du + cone.bent;
    cone.dl = cone.give * (cone.target - rate);
    cone.dy = rate + cone.r * cone.dl;
  }
}

double InteriorPoint::longest() const {
  double most = HUGE_VAL;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Cone& cone = cones_[i];
    if (!constraints[i].joint)
      most = std::min({most, reach(cone.l, cone.dl), reach(cone.y, cone.dy)});
  }
  return most;
}

double InteriorPoint::gap(double length) const {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Cone& cone = cones_[i];
    if (constraints[i].joint) continue;
    sum += cone.g * (cone.l + length * cone.dl).dot(cone.y + length * cone.dy);
    ++count;
  }
  return sum / std::max(1, count);
}

bool InteriorPoint::step(double residual) {
  look();
  const double aim = aim_ * scale_;
  const bool near = gap_ < aim * aim && miss_ < aim && drift_.lpNorm<Eigen::Infinity>() < aim;
  const bool settled = residual < kSettled && residual > 0.5 * last_;
  last_ = residual;
  if (near || settled || here_ == kStepsHere) {
    if (centres_ == kCentres) return false;
    move_centre(residual);
    look();
  }
  ++here_;
  if (!std::isfinite(gap_) || !factor()) return false;

  // predictor: how much of the gap can go
  double squares = 0;
  for (Cone& cone : cones_) {
    cone.bent = cone.miss, cone.target = -cone.v;
    squares += cone.miss.squaredNorm();
  }
  direction();
  const double ahead = std::min(1.0, longest());
  double part = std::pow(std::clamp(gap(ahead) / gap_, 0.0, 1.0), 3);
  // the gap closes no faster than the equations come true
  part = std::max({part, 1e-8, kPace * squares / static_cast<double>(cones_.size()) / gap_});

  // corrector, with what bends on the way
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    if (constraints[i].joint) continue;
    Cone& cone = cones_[i];
    Vector3d rest =
        -product(cone.v, cone.v) - product(cone.unscaled(cone.dl), cone.scaled(cone.dy));
    rest[0] += part * gap_ / cone.g;
    cone.target = quotient(cone.v, rest);
    if (constraints[i].tangents == 0) continue;
    const Vector2d ut = cone.u.tail<2>(), dut = ahead * cone.du.tail<2>();
    cone.bent[0] +=
        cone.slip(ut + dut) - cone.slip(ut) - cone.slope.topRightCorner<1, 2>().dot(dut);
  }
  direction();
  double length = std::min(1.0, kBack * longest());
  const auto central = [&] {
    const double mean = gap(length);
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const Cone& cone = cones_[i];
      if (constraints[i].joint) continue;
      const double d = det(cone.l + length * cone.dl) * det(cone.y + length * cone.dy);
      if (!(cone.g * std::sqrt(std::max(0.0, d)) >= kCentral * mean)) return false;
    }
    return true;
  };
  for (int k = 0; k < 20 && !central(); ++k) length *= 0.8;
  w_ += length * dw_;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    Cone& cone = cones_[i];
    cone.l += length * cone.dl;
    if (!constraints[i].joint) cone.y += length * cone.dy;
  }
  return w_.allFinite() && std::all_of(cones_.begin(), cones_.end(), [](const Cone& cone) {
           return cone.l.allFinite() && cone.y.allFinite();
         });
}

}  // namespace routh
