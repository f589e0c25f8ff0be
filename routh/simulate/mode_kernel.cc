#include "routh/simulate/mode_kernel.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/linear/decompose.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kUnmoved = 1e-9;  // rows this short, of the longest
constexpr int kMostClosings = 6;
constexpr double kCancelled = 1e-13;  // of terms that cancel
/// Rows that depend on each other this nearly, as those of a loop that lies flat, are closed as far
/// as they agree: the rest would move bodies ten thousand times as far as it is open, and lift
/// them.
constexpr double kDepends = 1e-4;

double friction_sign(Grip grip) {
  return grip == Grip::kSlidePositive ? -1 : grip == Grip::kSlideNegative ? 1 : 0;
}

}  // namespace

ModeKernel::ModeKernel(const System& system, std::vector<Limb> limbs)
    : system_(system), limbs_(std::move(limbs)) {
  for (const Limb& limb : limbs_) {
    if (limb.coordinate < 0 || limb.coordinate >= system.nv()) {
      throw std::invalid_argument("limb '" + limb.name + "': coordinate must be between 0 and " +
                                  std::to_string(system.nv() - 1));
    }
  }
}

void ModeKernel::tell(const Mode& mode) {
  closed_.resize(mode.size());
  for (std::size_t k = 0; k < mode.size(); ++k) closed_[k] = closed(mode[k]);
}

void ModeKernel::evaluate(double t, const VectorXd& q, const VectorXd& v) {
  t_ = t, q_ = q, v_ = v;
  refresh();
}

/// Terms at the kernel's state. Modes count the contacts, so that none may come or go.
void ModeKernel::refresh() {
  system_.evaluate(t_, q_, v_, terms_, {.closed = closed_.empty() ? nullptr : &closed_});
  const int count = static_cast<int>(terms_.contacts.size());
  if (contacts_ < 0) contacts_ = count;
  if (count != contacts_) {
    throw std::invalid_argument(
        "the system had " + std::to_string(contacts_) + " contacts and has " +
        std::to_string(count) + " at t = " + std::to_string(t_) +
        " s: hybrid simulation needs all of them always; use time-stepping");
  }
}

bool ModeKernel::limb_moves(const Limb& limb, int contact) const {
  const Contact& c = terms_.contacts[contact];
  return c.Jn[limb.coordinate] != 0 || c.Jt(0, limb.coordinate) != 0;
}

bool ModeKernel::on_limb(int contact) const {
  return std::any_of(limbs_.begin(), limbs_.end(),
                     [&](const Limb& limb) { return limb_moves(limb, contact); });
}

/// The matrix for a layout; right-hand sides come later.
void ModeKernel::fill(const Layout& layout) {
  const int nv = static_cast<int>(v_.size()), joints = static_cast<int>(terms_.A.rows());
  const int normals = static_cast<int>(layout.normals.size());
  const int tangents = static_cast<int>(layout.tangents.size());
  saddle_.begin(terms_.M, joints + normals + tangents);
  for (int r = 0; r < joints; ++r) {
    for (int j = 0; j < nv; ++j) saddle_.constrain(r, j, terms_.A(r, j), terms_.A(r, j));
  }
  for (int r = 0; r < normals; ++r) {
    const Contact& c = terms_.contacts[layout.normals[r]];
    const double slope = friction_sign(layout.mode[layout.normals[r]]) * c.mu;
    for (int j = 0; j < nv; ++j)
      saddle_.constrain(joints + r, j, c.Jn[j],
                        slope == 0 ? c.Jn[j] : c.Jn[j] + slope * c.Jt(0, j));
  }
  for (int r = 0; r < tangents; ++r) {
    const Contact& c = terms_.contacts[layout.tangents[r]];
    for (int j = 0; j < nv; ++j) saddle_.constrain(joints + normals + r, j, c.Jt(0, j), c.Jt(0, j));
  }
  for (const int l : layout.in_air) saddle_.give(limbs_[l].coordinate);
}

/// Solves what fill() and a right-hand side prepared.
bool ModeKernel::solve(const Layout& layout, Response& s) {
  const int nv = static_cast<int>(v_.size()), joints = static_cast<int>(terms_.A.rows());
  const int normals = static_cast<int>(layout.normals.size());
  const auto m = static_cast<Eigen::Index>(terms_.contacts.size());
  s.scale = 0;
  for (int i = 0; i < nv; ++i) {
    s.scale = std::max(s.scale, std::abs(push_[i]));
    saddle_.r(i) = push_[i];
  }
  if (!saddle_.solve()) return false;

  s.x.resize(nv);
  for (int i = 0; i < nv; ++i) s.x[i] = saddle_.x(i);
  s.joint.resize(joints);
  for (int r = 0; r < joints; ++r) s.joint[r] = saddle_.lambda(r);
  s.normal.setZero(m);
  s.tangential.setZero(m);
  s.grip.setZero(m);
  for (int r = 0; r < normals; ++r) {
    const int k = layout.normals[r];
    s.normal[k] = saddle_.lambda(joints + r);
    s.grip[k] = terms_.contacts[k].mu * s.normal[k];
    s.tangential[k] = friction_sign(layout.mode[k]) * s.grip[k];
    s.scale = std::max(s.scale, std::abs(s.normal[k]));
  }
  for (std::size_t r = 0; r < layout.tangents.size(); ++r)
    s.tangential[layout.tangents[r]] = saddle_.lambda(joints + normals + static_cast<int>(r));
  // a kept tangent may use the friction of those dropped for it; they do not hold by themselves
  for (const Layout::Dropped& d : layout.dropped) {
    if (d.kept >= 0)
      s.grip[d.kept] += d.ratio * terms_.contacts[d.contact].mu * s.normal[d.contact];
  }
  return std::isfinite(s.x.sum());
}

double ModeKernel::rounding(const Response& s, const Eigen::RowVectorXd& row) const {
  double sum = 0;
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    if (row[i] == 0 || !(terms_.M(i, i) > 0)) continue;
    double push = std::abs(push_[i]);
    for (Eigen::Index r = 0; r < s.joint.size(); ++r) push += std::abs(terms_.A(r, i) * s.joint[r]);
    for (std::size_t k = 0; k < terms_.contacts.size(); ++k) {
      if (s.normal[k] == 0 && s.tangential[k] == 0) continue;
      const Contact& c = terms_.contacts[k];
      push += std::abs(c.Jn[i] * s.normal[k]) + std::abs(c.Jt(0, i) * s.tangential[k]);
    }
    sum += std::abs(row[i]) * push / terms_.M(i, i);
  }
  return kCancelled * sum;
}

bool ModeKernel::forces(const Layout& layout, Response& solution) {
  const int joints = static_cast<int>(terms_.A.rows());
  const int normals = static_cast<int>(layout.normals.size());
  fill(layout);
  push_ = terms_.forces;
  for (const int l : layout.in_air) {
    const Limb& limb = limbs_[l];
    const int k = limb.coordinate;
    push_[k] = limb.acceleration ? limb.acceleration(t_, q_[k], v_[k]) : 0;
  }
  for (int r = 0; r < joints; ++r) saddle_.s(r) = -terms_.joint_bias[r];
  for (int r = 0; r < normals; ++r)
    saddle_.s(joints + r) = -terms_.contacts[layout.normals[r]].bias_n;
  for (std::size_t r = 0; r < layout.tangents.size(); ++r)
    saddle_.s(joints + normals + static_cast<int>(r)) = -terms_.contacts[layout.tangents[r]].bias_t;
  if (!solve(layout, solution)) return false;

  // second-order limbs give way to what they touch
  for (const Layout::Skim& skim : layout.skims) {
    const int k = limbs_[skim.limb].coordinate;
    const Contact& c = terms_.contacts[skim.contact];
    if (limbs_[skim.limb].acceleration)
      solution.x[k] -= (c.Jn.dot(solution.x) + c.bias_n) / c.Jn[k];
  }
  return true;
}

double ModeKernel::sliding_inertia(const Layout& layout, int contact) {
  const auto place = std::find(layout.normals.begin(), layout.normals.end(), contact);
  const int row =
      static_cast<int>(terms_.A.rows()) + static_cast<int>(place - layout.normals.begin());
  // the force of a unit of normal acceleration
  fill(layout);
  saddle_.s(row) = 1;
  return saddle_.solve() ? 1 / saddle_.lambda(row) : 0;
}

bool ModeKernel::impulses(const Layout& layout, double dt_pseudo, Response& solution) {
  fill(layout);
  push_.noalias() = terms_.M * v_;
  if (dt_pseudo > 0) push_ += dt_pseudo * terms_.forces;
  for (const int l : layout.in_air) {
    const int k = limbs_[l].coordinate;
    push_[k] = v_[k];
    for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
      const Contact& c = terms_.contacts[i];
      if (std::abs(c.phi) > kOnGround || !limb_moves(limbs_[l], static_cast<int>(i))) continue;
      // Jcᵀ Jc (v⁺ - v⁻) = 0 in the row of the limb
      push_[k] = c.Jn[k] * c.Jn.dot(v_) + c.Jt(0, k) * c.Jt.row(0).dot(v_);
      for (int j = 0; j < v_.size(); ++j)
        saddle_.equation(k, j) = c.Jn[k] * c.Jn[j] + c.Jt(0, k) * c.Jt(0, j);
      break;
    }
  }
  return solve(layout, solution);
}

bool ModeKernel::flow(const Layout& layout, double t, const VectorXd& x, VectorXd& dxdt) {
  const Eigen::Index nv = x.size() / 2;
  t_ = t;
  q_ = x.head(nv), v_ = x.tail(nv);
  follow_laws(layout);
  if (!forces(layout, last_)) return false;
  dxdt.head(nv) = v_;
  dxdt.tail(nv) = last_.x;
  return true;
}

void ModeKernel::project(const Layout& layout, double t, VectorXd& q, VectorXd& v) {
  move_limbs(layout, t, q, v);
  // positions: Newton's method, each time by the shortest motion as inertia measures it, as long as
  // that closes what is open
  VectorXd before;
  double open = HUGE_VAL;
  for (int iteration = 0; iteration < kMostClosings; ++iteration) {
    evaluate(t, q, v);
    const Eigen::Index joints = terms_.A.rows(),
                       normals = static_cast<Eigen::Index>(layout.normals.size());
    if (joints + normals == 0) break;
    MatrixXd A(joints + normals, v.size());
    VectorXd gap(joints + normals);
    A.topRows(joints) = terms_.A;
    gap.head(joints) = terms_.joint_gap;
    for (Eigen::Index r = 0; r < normals; ++r) {
      A.row(joints + r) = terms_.contacts[layout.normals[r]].Jn;
      gap[joints + r] = terms_.contacts[layout.normals[r]].phi;
    }
    if (gap.isZero(0)) break;
    const VectorXd unit = scales();
    A = (A * unit.asDiagonal()).eval();
    // rows that nothing moves, as those of loops that fold flat, are left
    const VectorXd length = A.rowwise().norm();
    for (Eigen::Index r = 0; r < A.rows(); ++r) {
      const double part = length[r] > kUnmoved * length.maxCoeff() ? 1 / length[r] : 0;
      A.row(r) *= part, gap[r] *= part;
    }
    const double now = gap.lpNorm<Eigen::Infinity>();
    if (!(now < 0.5 * open)) {
      if (now > open) evaluate(t, q = before, v);
      break;
    }
    open = now, before = q;
    q -= unit.cwiseProduct(linear::least_squares(A, MatrixXd(gap), kDepends).col(0));
  }
  // velocities: the plastic map without friction changes nothing but what the rows forbid
  Layout without_friction = layout;
  for (Grip& grip : without_friction.mode) {
    if (grip == Grip::kSlidePositive || grip == Grip::kSlideNegative) grip = Grip::kSlide;
  }
  Response s;
  if (impulses(without_friction, 0, s)) v = s.x;
}

}  // namespace routh
