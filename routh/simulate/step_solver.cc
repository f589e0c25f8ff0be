#include "routh/simulate/step_solver.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "routh/impact/problem.h"
#include "routh/lcp/lemke.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDiagonal = 1e-9;  // added to the rows, relative; refinement removes its effect
constexpr double kSign = 1e-10;     // a velocity below this times the largest is zero
constexpr int kMostSystems = 24;    // before the active set counts as cycling
constexpr int kMostForLemke = 60;   // contacts

}  // namespace

StepSolver::StepSolver(std::vector<int> groups, int nv) : starts_(std::move(groups)), nv_(nv) {
  starts_.push_back(nv);
  inverse_.resize(starts_.size() - 1);
  touching_.resize(inverse_.size());
  for (std::size_t g = 0; g < inverse_.size(); ++g) {
    const int size = size_of(static_cast<int>(g));
    inverse_[g].resize(size, size);
    decomposed_.emplace_back(size);
  }
  u_.setZero(nv);
}

void StepSolver::set_inertia(const MatrixXd& inertia) {
  for (std::size_t g = 0; g < inverse_.size(); ++g) {
    const int start = starts_[g], size = size_of(static_cast<int>(g));
    const auto block = inertia.block(start, start, size, size);
    if (size == 3) {
      inverse_[g] = Eigen::Matrix3d(block).inverse();
    } else if (size == 2) {
      inverse_[g] = Eigen::Matrix2d(block).inverse();
    } else if (size == 1) {
      inverse_[g](0, 0) = 1 / block(0, 0);
    } else {
      decomposed_[g].compute(block);
      const auto& lu = decomposed_[g];
      inverse_[g] = lu.permutationP();
      lu.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(inverse_[g]);
      lu.matrixLU().triangularView<Eigen::Upper>().solveInPlace(inverse_[g]);
    }
    // each entry against the inertia of its row and column: units do not matter
    double condition = inverse_[g].allFinite() ? 0 : HUGE_VAL;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j)
        condition = std::max(
            condition, std::abs(inverse_[g](i, j) * inverse_[g](i, j) * block(i, i) * block(j, j)));
    }
    if (condition < 1e30) continue;
    Eigen::Index worst = 0;
    block.diagonal().cwiseAbs().minCoeff(&worst);
    throw std::invalid_argument("the inertia is singular at velocity " +
                                std::to_string(start + worst) +
                                ": time-stepping needs mass and inertia on every coordinate");
  }
}

void StepSolver::apply_inverse(const VectorXd& f, VectorXd& out) const {
  out.resize(nv_);
  for (std::size_t g = 0; g < inverse_.size(); ++g) {
    const int start = starts_[g], size = size_of(static_cast<int>(g));
    out.segment(start, size).noalias() = inverse_[g] * f.segment(start, size);
  }
}

void StepSolver::clear() {
  rows_.clear(), contacts_.clear(), J_.clear(), Y_.clear(), c_.clear(), owner_.clear();
  bilateral_ = 0;
  factored_ = false;
}

int StepSolver::add_row(const RowRef& row, double c) {
  Row r;
  for (std::size_t g = 0; g < inverse_.size(); ++g) {
    const int start = starts_[g], size = size_of(static_cast<int>(g));
    const auto part = row.segment(start, size);
    if (part.isZero(0)) continue;
    if (r.count == 4)
      throw std::invalid_argument("a constraint couples more than four groups of velocities");
    const int offset = static_cast<int>(J_.size());
    r.entries[r.count++] = {static_cast<int>(g), offset};
    r.last = static_cast<int>(g);
    J_.resize(offset + size);
    Y_.resize(offset + size);
    Eigen::Map<VectorXd>(J_.data() + offset, size) = part.transpose();
    Eigen::Map<VectorXd>(Y_.data() + offset, size).noalias() = inverse_[g] * part.transpose();
  }
  rows_.push_back(r);
  c_.push_back(c);
  return static_cast<int>(rows_.size()) - 1;
}

void StepSolver::add_bilateral(const RowRef& row, double c) {
  add_row(row, c);
  owner_.push_back(-1);
  bilateral_ = static_cast<int>(rows_.size());
}

void StepSolver::add_contact(const Contact& contact, double cn, double ct, StepMode guess) {
  const int index = static_cast<int>(contacts_.size());
  StepContact added{add_row(contact.Jn, cn), -1, contact.mu, guess};
  owner_.push_back(index);
  if (contact.mu > 0) {
    added.t = add_row(contact.Jt.row(0), ct);
    owner_.push_back(index);
  } else if (guess != StepMode::kOpen) {
    added.mode = StepMode::kStick;  // closed: there is nothing to hold or to slide
  }
  contacts_.push_back(added);
}

/// Elimination order, profile and G = J W Jᵀ within it.
void StepSolver::assemble() {
  const int n = static_cast<int>(rows_.size());
  order_.resize(n), rank_.resize(n), first_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    return rows_[a].last != rows_[b].last ? rows_[a].last < rows_[b].last : a < b;
  });
  for (int k = 0; k < n; ++k) rank_[order_[k]] = k;

  // a row begins where the first row begins that shares a group with it
  for (auto& list : touching_) list.clear();
  for (int k = 0; k < n; ++k) {
    const Row& row = rows_[order_[k]];
    for (int e = 0; e < row.count; ++e)
      touching_[row.entries[e].group].emplace_back(k, row.entries[e].offset);
  }
  for (int k = 0; k < n; ++k) {
    first_[k] = k;
    const Row& row = rows_[order_[k]];
    for (int e = 0; e < row.count; ++e)
      first_[k] = std::min(first_[k], touching_[row.entries[e].group].front().first);
  }

  if (G_.size() < static_cast<std::size_t>(n) * n) G_.resize(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i) {
    for (int j = first_[i]; j <= i; ++j) G_[i * n + j] = G_[j * n + i] = 0;
  }
  for (std::size_t g = 0; g < touching_.size(); ++g) {
    const int size = size_of(static_cast<int>(g));
    for (const auto& [i, offset_i] : touching_[g]) {
      for (const auto& [j, offset_j] : touching_[g]) {
        double sum = 0;
        for (int k = 0; k < size; ++k) sum += J_[offset_i + k] * Y_[offset_j + k];
        G_[i * n + j] += sum;
      }
    }
  }
}

/// The equations of the current modes: bilateral rows, normals that press, tangents that stick. A
/// sliding contact's friction follows its normal impulse.
bool StepSolver::factor_modes() {
  const int n = static_cast<int>(rows_.size());
  unknown_.clear(), slope_.clear();
  position_.resize(n + 1);
  for (int k = 0; k < n; ++k) {
    position_[k] = static_cast<int>(unknown_.size());
    const int r = order_[k];
    if (r < bilateral_) {
      unknown_.push_back(r), slope_.push_back(0);
      continue;
    }
    const StepContact& contact = contacts_[owner_[r]];
    if (contact.mode == StepMode::kOpen) continue;
    if (r == contact.n) {
      const double slope = contact.mode == StepMode::kSlidePositive   ? -contact.mu
                           : contact.mode == StepMode::kSlideNegative ? contact.mu
                                                                      : 0;
      unknown_.push_back(r), slope_.push_back(slope);
    } else if (contact.mode == StepMode::kStick) {
      unknown_.push_back(r), slope_.push_back(0);
    }
  }
  position_[n] = static_cast<int>(unknown_.size());

  const int m = static_cast<int>(unknown_.size());
  lu_.reset(m);
  const auto entry = [&](int i, int j) {
    const double* row = G_.data() + static_cast<std::size_t>(rank_[unknown_[i]]) * n;
    double value = row[rank_[unknown_[j]]];
    if (slope_[j] != 0) value += slope_[j] * row[rank_[contacts_[owner_[unknown_[j]]].t]];
    return value;
  };
  for (int i = 0; i < m; ++i) {
    const int rank = rank_[unknown_[i]], from = position_[first_[rank]];
    lu_.begin_row(i, from);
    for (int j = from; j < i; ++j) {
      lu_.below(i, j) = entry(i, j);
      lu_.above(i, j) = entry(j, i);
    }
    lu_.diagonal(i) = entry(i, i) + kDiagonal * G_[static_cast<std::size_t>(rank) * n + rank];
  }
  ++systems_;
  factored_ = lu_.factor(1e-12);
  return factored_;
}

double StepSolver::sliding_inertia(int contact, double slip) const {
  const StepContact& c = contacts_[contact];
  const std::size_t n = rows_.size(), row = static_cast<std::size_t>(rank_[c.n]) * n;
  if (c.t < 0) return G_[row + rank_[c.n]];
  return G_[row + rank_[c.n]] - c.mu * (slip > 0 ? 1 : -1) * G_[row + rank_[c.t]];
}

double StepSolver::free_normal_velocity(int contact) const {
  const StepContact& c = contacts_[contact];
  const std::size_t n = rows_.size(), row = static_cast<std::size_t>(rank_[c.n]) * n;
  const double own = G_[row + rank_[c.n]] * x_[c.n];
  return c_plus_[c.n] - own - (c.t < 0 ? 0 : G_[row + rank_[c.t]] * x_[c.t]);
}

/// c⁺ and W Jᵀ x of the impulses x.
void StepSolver::apply_rows() {
  u_.setZero();
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (x_[r] == 0) continue;
    for (int e = 0; e < rows_[r].count; ++e) {
      const auto [group, offset] = rows_[r].entries[e];
      for (int k = 0, s = starts_[group]; s < starts_[group + 1]; ++k, ++s)
        u_[s] += Y_[offset + k] * x_[r];
    }
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    double sum = c_[r];
    for (int e = 0; e < rows_[r].count; ++e) {
      const auto [group, offset] = rows_[r].entries[e];
      for (int k = 0, s = starts_[group]; s < starts_[group + 1]; ++k, ++s)
        sum += J_[offset + k] * u_[s];
    }
    c_plus_[r] = sum;
  }
}

bool StepSolver::solve_modes() {
  std::fill(x_.begin(), x_.end(), 0.0);
  u_.setZero();
  c_plus_ = c_;
  double worst = 0;
  for (int pass = 0; pass < 8; ++pass) {
    worst = 0;
    rhs_.resize(unknown_.size());
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      rhs_[i] = -c_plus_[unknown_[i]];
      worst = std::max(worst, std::abs(rhs_[i]));
    }
    if (worst <= 1e-14 * scale_) return true;
    if (pass > 2 && worst <= 1e-12 * scale_) return true;
    lu_.solve(rhs_);
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      x_[unknown_[i]] += rhs_[i];
      if (slope_[i] != 0) {
        const StepContact& contact = contacts_[owner_[unknown_[i]]];
        x_[contact.t] = slope_[i] * x_[contact.n];
      }
    }
    apply_rows();
  }
  return worst <= 1e-9 * scale_;
}

/// Corrects the contacts whose inequalities fail, all of them or only the first; returns how many
/// failed.
int StepSolver::correct_modes(bool all) {
  const int n = static_cast<int>(rows_.size());
  const auto own = [&](int row) { return G_[static_cast<std::size_t>(rank_[row]) * (n + 1)]; };
  const double zero = kSign * scale_;
  int failed = 0;
  for (StepContact& contact : contacts_) {
    if (failed && !all) break;
    const double xn = x_[contact.n];
    const StepMode before = contact.mode;
    if (before == StepMode::kOpen) {
      if (c_plus_[contact.n] < -zero) contact.mode = StepMode::kStick;
    } else if (xn * own(contact.n) < -zero) {
      contact.mode = StepMode::kOpen;
    } else if (contact.t >= 0) {
      const double xt = x_[contact.t], ct = c_plus_[contact.t];
      if (before == StepMode::kStick) {
        if ((std::abs(xt) - contact.mu * std::max(0.0, xn)) * own(contact.t) > zero)
          contact.mode = xt > 0 ? StepMode::kSlideNegative : StepMode::kSlidePositive;
      } else if (before == StepMode::kSlidePositive ? ct < -zero : ct > zero) {
        contact.mode = StepMode::kStick;
      }
    }
    failed += contact.mode != before;
  }
  return failed;
}

bool StepSolver::active_set(int most) {
  for (int k = 0; k < most; ++k) {
    if (!factor_modes() || !solve_modes()) return false;
    if (correct_modes(k < most / 2) == 0) return true;
  }
  return false;
}

/// Projected Gauss-Seidel from the current impulses, then the modes they suggest.
void StepSolver::sweep(int sweeps) {
  const int n = static_cast<int>(rows_.size());
  const auto velocity = [&](int r) {
    double sum = c_[r];
    for (int e = 0; e < rows_[r].count; ++e) {
      const auto [group, offset] = rows_[r].entries[e];
      for (int k = 0, s = starts_[group]; s < starts_[group + 1]; ++k, ++s)
        sum += J_[offset + k] * u_[s];
    }
    return sum;
  };
  const auto set = [&](int r, double x) {
    const double change = x - x_[r];
    if (change == 0) return;
    x_[r] = x;
    for (int e = 0; e < rows_[r].count; ++e) {
      const auto [group, offset] = rows_[r].entries[e];
      for (int k = 0, s = starts_[group]; s < starts_[group + 1]; ++k, ++s)
        u_[s] += Y_[offset + k] * change;
    }
  };
  const auto own = [&](int row) { return G_[static_cast<std::size_t>(rank_[row]) * (n + 1)]; };
  std::fill(x_.begin(), x_.end(), 0.0);
  u_.setZero();
  for (int k = 0; k < sweeps; ++k) {
    for (int r = 0; r < bilateral_; ++r) {
      if (own(r) > 0) set(r, x_[r] - velocity(r) / own(r));
    }
    for (const StepContact& contact : contacts_) {
      set(contact.n, std::max(0.0, x_[contact.n] - velocity(contact.n) / own(contact.n)));
      if (contact.t < 0) continue;
      const double limit = contact.mu * x_[contact.n];
      set(contact.t,
          std::clamp(x_[contact.t] - velocity(contact.t) / own(contact.t), -limit, limit));
    }
  }
  apply_rows();
  read_modes();
}

/// The modes that the impulses suggest.
void StepSolver::read_modes() {
  for (StepContact& contact : contacts_) {
    const double xn = x_[contact.n], xt = contact.t < 0 ? 0 : x_[contact.t];
    contact.mode = xn <= 0 ? StepMode::kOpen
                   : contact.t < 0 || std::abs(xt) < contact.mu * xn * (1 - 1e-12)
                       ? StepMode::kStick
                   : xt > 0 ? StepMode::kSlideNegative
                            : StepMode::kSlidePositive;
  }
}

/// Lemke's algorithm on the contacts alone, the bilateral rows eliminated.
void StepSolver::lemke_search() {
  const int n = static_cast<int>(rows_.size()), m = contacts();
  MatrixXd full(n, n);
  for (int r = 0; r < n; ++r) {
    for (int s = 0; s < n; ++s) {
      const int i = rank_[r], j = rank_[s];
      const bool inside = j >= i ? first_[j] <= i : first_[i] <= j;
      full(r, s) = inside ? G_[static_cast<std::size_t>(i) * n + j] : 0;
    }
  }
  VectorXd c = Eigen::Map<const VectorXd>(c_.data(), n);
  MatrixXd elimination = MatrixXd::Zero(bilateral_, n - bilateral_);
  VectorXd fixed = VectorXd::Zero(bilateral_);
  if (bilateral_ > 0) {
    // rows of the same size, whatever their units
    const auto own = full.diagonal().head(bilateral_);
    const VectorXd unit = own.unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 1; });
    const auto joints =
        MatrixXd(unit.asDiagonal() * full.topLeftCorner(bilateral_, bilateral_) * unit.asDiagonal())
            .fullPivLu();
    const auto solved = [&](const MatrixXd& right) -> MatrixXd {
      return unit.asDiagonal() * joints.solve(MatrixXd(unit.asDiagonal() * right));
    };
    elimination = solved(full.topRightCorner(bilateral_, n - bilateral_));
    fixed = solved(c.head(bilateral_));
  }
  const int k = n - bilateral_;
  const MatrixXd G =
      full.bottomRightCorner(k, k) - full.bottomLeftCorner(k, bilateral_) * elimination;
  const VectorXd cc = c.tail(k) - full.bottomLeftCorner(k, bilateral_) * fixed;

  // contact space orders normals before tangents; a contact without friction has an empty tangent
  ImpactProblem problem{MatrixXd::Zero(2 * m, 2 * m), VectorXd::Zero(2 * m), VectorXd::Zero(m)};
  std::vector<int> from, to;
  for (int i = 0; i < m; ++i) {
    problem.mu[i] = contacts_[i].mu;
    from.push_back(contacts_[i].n - bilateral_), to.push_back(i);
    if (contacts_[i].t >= 0) from.push_back(contacts_[i].t - bilateral_), to.push_back(m + i);
  }
  for (std::size_t a = 0; a < from.size(); ++a) {
    problem.c[to[a]] = cc[from[a]];
    for (std::size_t b = 0; b < from.size(); ++b) problem.G(to[a], to[b]) = G(from[a], from[b]);
  }
  // in units of its own: Lemke's ties are of order one
  const double mobility = problem.G.diagonal().head(m).mean(), speed = scale_;
  problem.G /= mobility, problem.c /= speed;
  const lcp::LemkeResult found = lcp::lemke(simultaneous_lcp(problem));
  const VectorXd impulse = speed / mobility * impulse_from_lcp(problem, found.z);
  VectorXd x = VectorXd::Zero(k);
  for (std::size_t a = 0; a < from.size(); ++a) x[from[a]] = impulse[to[a]];
  const VectorXd joints = -fixed - elimination * x;
  for (int r = 0; r < n; ++r) x_[r] = r < bilateral_ ? joints[r] : x[r - bilateral_];
  apply_rows();
  read_modes();
}

/// The natural map of the law: the largest amount by which an impulse differs from its projection,
/// as a velocity relative to the largest given one.
void StepSolver::measure() {
  const int n = static_cast<int>(rows_.size());
  const auto own = [&](int row) { return G_[static_cast<std::size_t>(rank_[row]) * (n + 1)]; };
  double worst = 0;
  for (int r = 0; r < bilateral_; ++r) worst = std::max(worst, std::abs(c_plus_[r]));
  for (const StepContact& contact : contacts_) {
    const double xn = x_[contact.n], gn = own(contact.n);
    if (!(gn > 0)) continue;
    worst = std::max(worst, gn * std::abs(xn - std::max(0.0, xn - c_plus_[contact.n] / gn)));
    if (contact.t < 0) continue;
    const double xt = x_[contact.t], gt = own(contact.t), limit = contact.mu * std::max(0.0, xn);
    if (!(gt > 0)) continue;
    worst = std::max(worst,
                     gt * std::abs(xt - std::clamp(xt - c_plus_[contact.t] / gt, -limit, limit)));
  }
  residual_ = scale_ > 0 ? worst / scale_ : worst;
  if (!std::isfinite(residual_)) residual_ = HUGE_VAL;
}

bool StepSolver::solve(double tolerance) {
  const std::size_t n = rows_.size();
  x_.assign(n, 0);
  c_plus_ = c_;
  u_.setZero();
  residual_ = 0;
  systems_ = 0;
  scale_ = 0;
  for (const double c : c_) scale_ = std::max(scale_, std::abs(c));
  if (n == 0 || scale_ == 0) return true;
  assemble();

  const bool settled = active_set(kMostSystems);
  measure();
  if (residual_ <= tolerance) {
    if (!settled) read_modes(), factor_modes();
    return true;
  }

  // other ways, and the best impulses that any of them found
  best_ = x_;
  double least = residual_;
  const auto keep_better = [&] {
    measure();
    if (residual_ < least) least = residual_, best_ = x_;
    return least <= tolerance;
  };
  for (const int sweeps : {30, 300}) {
    sweep(sweeps);
    if (keep_better()) return factor_modes(), true;
    active_set(kMostSystems);
    if (keep_better()) return true;
  }
  if (contacts() <= kMostForLemke) {
    lemke_search();
    factored_ = false;
    if (keep_better()) {
      factor_modes();
      return true;
    }
  }
  x_ = best_;
  apply_rows();
  measure();
  factored_ = false;
  return false;
}

bool StepSolver::correction(const VectorXd& joint, const std::vector<double>& contact,
                            VectorXd& motion) {
  if (!factored_) return false;
  rhs_.resize(unknown_.size());
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    const int r = unknown_[i];
    rhs_[i] = r < bilateral_ ? joint[r] : r == contacts_[owner_[r]].n ? contact[owner_[r]] : 0;
  }
  lu_.solve(rhs_);
  motion.setZero(nv_);
  const auto add = [&](int r, double y) {
    for (int e = 0; e < rows_[r].count; ++e) {
      const auto [group, offset] = rows_[r].entries[e];
      for (int k = 0, s = starts_[group]; s < starts_[group + 1]; ++k, ++s)
        motion[s] += Y_[offset + k] * y;
    }
  };
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    add(unknown_[i], rhs_[i]);
    if (slope_[i] != 0) add(contacts_[owner_[unknown_[i]]].t, slope_[i] * rhs_[i]);
  }
  return motion.allFinite();
}

}  // namespace routh
