#include "routh/simulate/mode_kernel.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/model/kkt.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

namespace {

constexpr double kDependent = 1e-9;  // a row this close to others counts as a sum of them
constexpr double kTouching = 1e-9;   // gaps of limbs that were on the ground until now [m]
constexpr double kSingular = 1e-12;  // pivots below this, relative to their row

bool closed(Grip grip) { return grip != Grip::kOpen; }
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

void ModeKernel::evaluate(double t, const VectorXd& q, const VectorXd& v) {
  t_ = t, q_ = q, v_ = v;
  refresh();
}

/// Terms at the kernel's state. Modes count the contacts, so that none may come or go.
void ModeKernel::refresh() {
  system_.evaluate(t_, q_, v_, terms_);
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

/// Of the velocities; those without mass by what holds them, joints or contacts.
VectorXd ModeKernel::scales() const {
  const bool all = terms_.M.rows() == 0 || terms_.M.diagonal().minCoeff() > 0;
  if (all) return coordinate_scales(terms_.M, terms_.A);
  MatrixXd rows(terms_.A.rows() + 2 * static_cast<Eigen::Index>(terms_.contacts.size()),
                terms_.M.rows());
  rows.topRows(terms_.A.rows()) = terms_.A;
  Eigen::Index r = terms_.A.rows();
  for (const Contact& c : terms_.contacts) {
    rows.row(r++) = c.Jn;
    rows.row(r++) = c.Jt.row(0);
  }
  return coordinate_scales(terms_.M, rows);
}

ModeKernel::Layout ModeKernel::layout(const Mode& mode) const {
  Layout result{.mode = mode};
  const int contacts = static_cast<int>(mode.size()), nv = static_cast<int>(v_.size());

  // limbs no closed contact moves with
  for (int l = 0; l < static_cast<int>(limbs_.size()); ++l) {
    bool held = false;
    for (int k = 0; k < contacts; ++k) held = held || (closed(mode[k]) && limb_moves(limbs_[l], k));
    if (!held) result.in_air.push_back(l);
  }

  result.skims = skims(result);

  // orthogonal rows so far, to see which new ones depend on them
  const VectorXd unit = scales();
  MatrixXd basis(nv, nv);
  int rank = 0;
  const auto extend = [&](const auto& row) {
    VectorXd rest = row.transpose().cwiseProduct(unit);
    const double length = rest.norm();
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = 0; i < rank; ++i) rest -= basis.col(i).dot(rest) * basis.col(i);
    }
    if (rank == nv || !(rest.norm() > kDependent * length)) return false;
    basis.col(rank++) = rest.normalized();
    return true;
  };
  for (Eigen::Index i = 0; i < terms_.A.rows(); ++i) (void)extend(terms_.A.row(i));
  const auto scaled = [&](const auto& row) -> RowVectorXd {
    return row.cwiseProduct(unit.transpose());
  };
  const auto alignment = [&](const RowVectorXd& a, const RowVectorXd& b) {
    return std::abs(scaled(a).dot(scaled(b))) / (scaled(a).norm() * scaled(b).norm());
  };
  for (int k = 0; k < contacts; ++k) {
    if (!closed(mode[k])) continue;
    const RowVectorXd& row = terms_.contacts[k].Jn;
    if (!extend(row) && result.regular()) {
      result.dependent = k;
      for (const int other : result.normals) {
        if (result.on < 0 || alignment(row, terms_.contacts[other].Jn) >
                                 alignment(row, terms_.contacts[result.on].Jn))
          result.on = other;
      }
    }
    result.normals.push_back(k);
  }
  for (int k = 0; k < contacts; ++k) {
    if (mode[k] != Grip::kStick) continue;
    const RowVectorXd row = terms_.contacts[k].Jt.row(0);
    if (extend(row)) {
      result.tangents.push_back(k);
      continue;
    }
    Layout::Dropped dropped{k, -1, 0};
    for (const int other : result.tangents) {
      const RowVectorXd kept = scaled(terms_.contacts[other].Jt.row(0)), gone = scaled(row);
      const double ratio = gone.dot(kept) / kept.squaredNorm();
      if ((gone - ratio * kept).norm() <= kDependent * gone.norm())
        dropped.kept = other, dropped.ratio = std::abs(ratio);
    }
    result.dropped.push_back(dropped);
  }
  return result;
}

/// The matrix for a layout; right-hand sides come later.
void ModeKernel::fill(const Layout& layout) {
  const int nv = static_cast<int>(v_.size()), joints = static_cast<int>(terms_.A.rows());
  const int normals = static_cast<int>(layout.normals.size());
  const int n = nv + joints + normals + static_cast<int>(layout.tangents.size()), w = n + 1;
  a_.assign(static_cast<std::size_t>(n) * w, 0);
  const auto at = [&](int i, int j) -> double& { return a_[static_cast<std::size_t>(i) * w + j]; };

  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < nv; ++j) at(i, j) = terms_.M(i, j);
  }
  const auto constrain = [&](int r, int j, double row, double push) {
    at(nv + r, j) = row;
    at(j, nv + r) = -push;
  };
  for (int r = 0; r < joints; ++r) {
    for (int j = 0; j < nv; ++j) constrain(r, j, terms_.A(r, j), terms_.A(r, j));
  }
  for (int r = 0; r < normals; ++r) {
    const Contact& c = terms_.contacts[layout.normals[r]];
    const double slope = friction_sign(layout.mode[layout.normals[r]]) * c.mu;
    for (int j = 0; j < nv; ++j)
      constrain(joints + r, j, c.Jn[j], slope == 0 ? c.Jn[j] : c.Jn[j] + slope * c.Jt(0, j));
  }
  for (std::size_t r = 0; r < layout.tangents.size(); ++r) {
    const Contact& c = terms_.contacts[layout.tangents[r]];
    for (int j = 0; j < nv; ++j)
      constrain(joints + normals + static_cast<int>(r), j, c.Jt(0, j), c.Jt(0, j));
  }
  for (const int l : layout.in_air) {
    const int k = limbs_[l].coordinate;
    for (int j = 0; j < n; ++j) at(k, j) = 0;
    for (int i = 0; i < nv; ++i) at(i, k) = 0;
    at(k, k) = 1;
  }
}

/// Measures velocities by their inertia and constraints by their rows, so that pivots of mixed
/// units can be compared. Powers of two: nothing rounds.
void ModeKernel::equilibrate(int n) {
  const int w = n + 1, nv = static_cast<int>(v_.size());
  const auto row = [&](int i) { return a_.data() + static_cast<std::size_t>(i) * w; };
  unit_.assign(n, 0);
  bool all = true;
  for (int j = 0; j < nv; ++j) {
    if (terms_.M(j, j) > 0)
      unit_[j] = inverse_power(std::sqrt(terms_.M(j, j)));
    else
      all = false;
  }
  const auto measure = [&](int i) {
    double largest = 0, any = 0;
    for (int j = 0; j < nv; ++j) {
      largest = std::max(largest, std::abs(row(i)[j]) * unit_[j]);
      any = std::max(any, std::abs(row(i)[j]));
    }
    if (largest == 0) largest = any;
    unit_[i] = largest > 0 ? inverse_power(largest) : 1;
  };
  for (int i = nv; i < n; ++i) measure(i);
  for (int j = 0; j < nv && !all; ++j) {
    if (unit_[j] > 0) continue;
    double held = 0;
    for (int i = nv; i < n; ++i) held = std::max(held, std::abs(row(i)[j]) * unit_[i]);
    unit_[j] = held > 0 ? inverse_power(held) : 1;
  }
  for (int i = 0; i < n; ++i) {
    double* r = row(i);
    const double own = unit_[i];
    for (int j = 0; j < n; ++j) r[j] *= own * unit_[j];
    r[n] *= own;
  }
}

/// Gaussian elimination with scaled partial pivoting; the solution replaces the last column.
bool ModeKernel::eliminate(int n) {
  const int w = n + 1;
  const auto row = [&](int i) { return a_.data() + static_cast<std::size_t>(i) * w; };
  equilibrate(n);
  row_size_.resize(n);
  for (int i = 0; i < n; ++i) {
    double largest = 0;
    for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(row(i)[j]));
    if (!(largest > 0)) return false;
    row_size_[i] = 1 / largest;
  }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    double best = 0;
    for (int i = k; i < n; ++i) {
      const double size = std::abs(row(i)[k]) * row_size_[i];
      if (size > best) best = size, pivot = i;
    }
    if (!(best > kSingular)) return false;
    if (pivot != k) {
      std::swap_ranges(row(k) + k, row(k) + w, row(pivot) + k);
      std::swap(row_size_[k], row_size_[pivot]);
    }
    const double* from = row(k);
    const double inverse = 1 / from[k];
    for (int i = k + 1; i < n; ++i) {
      double* to = row(i);
      if (to[k] == 0) continue;
      const double factor = to[k] * inverse;
      for (int j = k + 1; j < w; ++j) to[j] -= factor * from[j];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = row(i)[n];
    for (int j = i + 1; j < n; ++j) sum -= row(i)[j] * row(j)[n];
    row(i)[n] = sum / row(i)[i];
  }
  for (int i = 0; i < n; ++i) row(i)[n] *= unit_[i];
  return true;
}

/// Solves what fill() and a right-hand side prepared.
bool ModeKernel::solve(const Layout& layout, Solution& s) {
  const int nv = static_cast<int>(v_.size()), joints = static_cast<int>(terms_.A.rows());
  const int normals = static_cast<int>(layout.normals.size());
  const int tangents = static_cast<int>(layout.tangents.size());
  const int n = nv + joints + normals + tangents;
  const auto m = static_cast<Eigen::Index>(terms_.contacts.size());
  s.scale = 0;
  for (int i = 0; i < nv; ++i) s.scale = std::max(s.scale, std::abs(push_[i]));
  if (!eliminate(n)) return false;

  const auto value = [&](int i) { return a_[static_cast<std::size_t>(i) * (n + 1) + n]; };
  s.x.resize(nv);
  for (int i = 0; i < nv; ++i) s.x[i] = value(i);
  s.normal.setZero(m);
  s.tangential.setZero(m);
  s.grip.setZero(m);
  for (int r = 0; r < normals; ++r) {
    const int k = layout.normals[r];
    s.normal[k] = value(nv + joints + r);
    s.grip[k] = terms_.contacts[k].mu * s.normal[k];
    s.tangential[k] = friction_sign(layout.mode[k]) * s.grip[k];
    s.scale = std::max(s.scale, std::abs(s.normal[k]));
  }
  for (int r = 0; r < tangents; ++r)
    s.tangential[layout.tangents[r]] = value(nv + joints + normals + r);
  // a kept tangent may use the friction of those dropped for it; they do not hold by themselves
  for (const Layout::Dropped& d : layout.dropped) {
    if (d.kept >= 0)
      s.grip[d.kept] += d.ratio * terms_.contacts[d.contact].mu * s.normal[d.contact];
  }
  return std::isfinite(s.x.sum());
}

bool ModeKernel::forces(const Layout& layout, Solution& solution) {
  const int nv = static_cast<int>(v_.size()), joints = static_cast<int>(terms_.A.rows());
  fill(layout);
  push_ = terms_.forces;
  for (const int l : layout.in_air) {
    const Limb& limb = limbs_[l];
    const int k = limb.coordinate;
    push_[k] = limb.acceleration ? limb.acceleration(t_, q_[k], v_[k]) : 0;
  }
  const int normals = static_cast<int>(layout.normals.size());
  const int n = nv + joints + normals + static_cast<int>(layout.tangents.size());
  const auto side = [&](int i) -> double& { return a_[static_cast<std::size_t>(i) * (n + 1) + n]; };
  for (int i = 0; i < nv; ++i) side(i) = push_[i];
  for (int r = 0; r < joints; ++r) side(nv + r) = -terms_.joint_bias[r];
  for (int r = 0; r < normals; ++r)
    side(nv + joints + r) = -terms_.contacts[layout.normals[r]].bias_n;
  for (std::size_t r = 0; r < layout.tangents.size(); ++r) {
    side(nv + joints + normals + static_cast<int>(r)) = -terms_.contacts[layout.tangents[r]].bias_t;
  }
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
  const int nv = static_cast<int>(v_.size()), joints = static_cast<int>(terms_.A.rows());
  const int n = nv + joints + static_cast<int>(layout.normals.size() + layout.tangents.size());
  const auto place = std::find(layout.normals.begin(), layout.normals.end(), contact);
  const int row = nv + joints + static_cast<int>(place - layout.normals.begin());
  // the force of a unit of normal acceleration
  fill(layout);
  double& force = a_[static_cast<std::size_t>(row) * (n + 1) + n];
  force = 1;
  return eliminate(n) ? 1 / force : 0;
}

bool ModeKernel::impulses(const Layout& layout, double dt_pseudo, Solution& solution) {
  const int nv = static_cast<int>(v_.size());
  fill(layout);
  push_.noalias() = terms_.M * v_;
  if (dt_pseudo > 0) push_ += dt_pseudo * terms_.forces;
  const int n = nv + static_cast<int>(terms_.A.rows()) + static_cast<int>(layout.normals.size()) +
                static_cast<int>(layout.tangents.size());
  for (const int l : layout.in_air) {
    const int k = limbs_[l].coordinate;
    push_[k] = v_[k];
    for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
      const Contact& c = terms_.contacts[i];
      if (std::abs(c.phi) > kTouching || !limb_moves(limbs_[l], static_cast<int>(i))) continue;
      // Jcᵀ Jc (v⁺ - v⁻) = 0 in the row of the limb
      double* row = a_.data() + static_cast<std::size_t>(k) * (n + 1);
      push_[k] = c.Jn[k] * c.Jn.dot(v_) + c.Jt(0, k) * c.Jt.row(0).dot(v_);
      for (int j = 0; j < nv; ++j) row[j] = c.Jn[k] * c.Jn[j] + c.Jt(0, k) * c.Jt(0, j);
      break;
    }
  }
  for (int i = 0; i < nv; ++i) a_[static_cast<std::size_t>(i) * (n + 1) + n] = push_[i];
  return solve(layout, solution);
}

std::vector<ModeKernel::Layout::Skim> ModeKernel::skims(const Layout& layout) const {
  std::vector<Layout::Skim> found;
  for (const int l : layout.in_air) {
    const Limb& limb = limbs_[l];
    const int j = limb.coordinate;
    for (std::size_t k = 0; k < terms_.contacts.size(); ++k) {
      const Contact& c = terms_.contacts[k];
      if (closed(layout.mode[k]) || c.phi > kTouching || c.Jn[j] == 0) continue;
      const double cn = c.Jn.dot(v_);
      if (limb.acceleration) {
        // at rest there and pushed into it; what the body does is left to the impact
        const double still = 1e-9 * c.Jn.cwiseAbs().dot(v_.cwiseAbs()) + 1e-14;
        if (cn > still || c.Jn[j] * limb.acceleration(t_, q_[j], v_[j]) >= 0) continue;
      } else {
        const double rate = limb.rate ? limb.rate(t_, q_[j], v_[j]) : 0;
        if (cn + c.Jn[j] * (rate - v_[j]) >= 0) continue;
      }
      found.push_back({l, static_cast<int>(k)});
      break;
    }
  }
  return found;
}

/// First-order laws at the kernel's time and q, then the terms there.
void ModeKernel::follow_laws(const Layout& layout) {
  for (const int l : layout.in_air) {
    const Limb& limb = limbs_[l];
    const int k = limb.coordinate;
    if (!limb.acceleration) v_[k] = limb.rate ? limb.rate(t_, q_[k], v_[k]) : 0;
  }
  refresh();
  bool gave_way = false;
  for (const Layout::Skim& skim : layout.skims) {
    const Limb& limb = limbs_[skim.limb];
    if (limb.acceleration) continue;
    v_[limb.coordinate] -=
        normal_velocity(skim.contact) / terms_.contacts[skim.contact].Jn[limb.coordinate];
    gave_way = true;
  }
  if (gave_way) refresh();
}

void ModeKernel::give_way(const Layout& layout, double t, const VectorXd& q, VectorXd& v) {
  evaluate(t, q, v);
  for (const int l : layout.in_air) {
    const int j = limbs_[l].coordinate;
    for (std::size_t k = 0; k < terms_.contacts.size(); ++k) {
      const Contact& c = terms_.contacts[k];
      if (closed(layout.mode[k]) || c.phi > kTouching || c.Jn[j] == 0) continue;
      const double cn = c.Jn.dot(v);
      if (cn < 0) v[j] -= cn / c.Jn[j];
    }
  }
  evaluate(t, q, v);
}

void ModeKernel::move_limbs(const Layout& layout, double t, const VectorXd& q, VectorXd& v) {
  t_ = t, q_ = q, v_ = v;
  follow_laws(layout);
  v = v_;
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
  // positions: Newton's method, each time by the shortest motion as inertia measures it
  for (int iteration = 0; iteration < 5; ++iteration) {
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
    q -= unit.cwiseProduct(A.completeOrthogonalDecomposition().solve(gap));
  }
  // velocities: the plastic map without friction changes nothing but what the rows forbid
  Layout without_friction = layout;
  for (Grip& grip : without_friction.mode) {
    if (grip == Grip::kSlidePositive || grip == Grip::kSlideNegative) grip = Grip::kSlide;
  }
  Solution s;
  if (impulses(without_friction, 0, s)) v = s.x;
}

void ModeKernel::explain_singular(const Layout& layout) const {
  const auto name = [&](int k) {
    return std::string("'").append(terms_.contacts[k].name).append("'");
  };
  if (!layout.regular()) {
    throw std::invalid_argument(
        "contact " + name(layout.dependent) + " depends on " +
        (layout.on >= 0 ? "contact " + name(layout.on) : std::string("the joints")) +
        ": the constraints of a mode must be independent (P4 A2); remove one of them or use "
        "time-stepping");
  }
  // the motion that neither mass nor constraint determines
  const Eigen::Index nv = terms_.M.rows();
  MatrixXd rows(nv + terms_.A.rows() +
                    static_cast<Eigen::Index>(layout.normals.size() + layout.tangents.size()),
                nv);
  rows.topRows(nv) = terms_.M;
  for (const int l : layout.in_air) rows(limbs_[l].coordinate, limbs_[l].coordinate) = 1;
  rows.middleRows(nv, terms_.A.rows()) = terms_.A;
  Eigen::Index r = nv + terms_.A.rows();
  for (const int k : layout.normals) rows.row(r++) = terms_.contacts[k].Jn;
  for (const int k : layout.tangents) rows.row(r++) = terms_.contacts[k].Jt.row(0);
  const VectorXd unit = scales();
  rows = (rows * unit.asDiagonal()).eval();
  rows.topRows(nv) = (unit.asDiagonal() * rows.topRows(nv)).eval();
  for (Eigen::Index i = nv; i < rows.rows(); ++i) {
    if (!rows.row(i).isZero(0)) rows.row(i).normalize();
  }
  Eigen::FullPivLU<MatrixXd> lu(rows);
  lu.setThreshold(1e-10);
  const std::vector<std::string> names = system_.coordinate_names();
  if (lu.dimensionOfKernel() > 0) {
    const VectorXd free = lu.kernel().col(0);
    Eigen::Index worst = 0;
    free.cwiseAbs().maxCoeff(&worst);
    std::string what = "coordinate '" + names[worst] + "'";
    for (const Limb& limb : limbs_) {
      if (limb.coordinate == worst) what = "limb '" + limb.name + "'";
    }
    throw std::invalid_argument(
        what + ": neither mass nor a constraint determines its motion in mode " +
        to_string(layout.mode, terms_.contacts) +
        " (P4 A5); give it mass, friction at its contact, or a law in the air under 'limbs'");
  }
  throw std::invalid_argument("the equations of mode " + to_string(layout.mode, terms_.contacts) +
                              " are singular: friction jams its sliding contacts");
}

std::vector<std::string> mode_names(const Mode& mode, const std::vector<Contact>& contacts) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < mode.size(); ++k) {
    if (!closed(mode[k])) continue;
    const bool slips = mode[k] != Grip::kStick && contacts[k].mu > 0;
    names.push_back(contacts[k].name + (slips ? ":slip" : ""));
  }
  return names;
}

std::string to_string(const Continuation& continuation, const Mode& before,
                      const std::vector<Contact>& contacts) {
  const Mode& after = continuation.mode;
  bool lifts = false;
  for (std::size_t k = 0; k < after.size() && k < before.size(); ++k)
    lifts = lifts || (closed(before[k]) && !closed(after[k]));
  const char* how = continuation.impact ? "impact without collision "
                    : after == before   ? "goes on "
                    : lifts             ? "lifts off "
                                        : "changes to ";
  return how + to_string(after, contacts);
}

std::string to_string(const Mode& mode, const std::vector<Contact>& contacts) {
  std::string text;
  for (const std::string& name : mode_names(mode, contacts))
    text.append(text.empty() ? "{" : ", ").append(name);
  return text.empty() ? "{}" : text.append("}");
}

}  // namespace routh
