// The linear equations of StepSolver's modes, and two ways to eliminate them.
//
// An unknown y_i is an impulse along the row p_i so that a velocity vanishes, that of the row e_i:
//
//   e_i · Σ p_j y_j + d_i y_i = r_i
//
// with a small diagonal d, in coordinates in which the inertia is the identity. By rows that is G
// between the unknowns. By velocities it is w = Pᵀ y and y = D⁻¹ (r - E w), so that
//
//   (1 + Pᵀ D⁻¹ E) w = Pᵀ D⁻¹ r
//
// which couples bodies instead of contacts: less where many contacts hold few bodies, and there is
// no need of G. Refinement makes up for the digits that d takes from either.

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "routh/impact/step_solver.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// added to the rows, relative; refinement removes its effect. By velocities rounding is divided by
// it.
constexpr double kDiagonal = 1e-9, kDiagonalByVelocities = 1e-8;
constexpr int kMostPivoted = 500;  // unknowns of a system whose rows change places

}  // namespace

/// The unknowns that stand at a row of a contact.
void StepSolver::add_unknowns(const StepContact& contact, int row) {
  if (contact.mode == Grip::kOpen || (contact.saturated && row == contact.n)) return;
  Unknown one{.count = 1, .rows = {row}, .push = {1}};
  const int t = contact.n + 1;
  if (contact.mode == Grip::kStick) {
    unknown_.push_back(one);
  } else if (row == contact.n) {
    if (contact.mode == Grip::kSlide) {
      one = {.count = 3,
             .rows = {row, t, t + 1},
             .push = {1, contact.mu * contact.u.x(), contact.mu * contact.u.y()}};
    } else {
      const double slope = contact.mode == Grip::kSlidePositive ? -contact.mu : contact.mu;
      one = {.count = 2, .rows = {row, t}, .push = {1, slope}};
    }
    unknown_.push_back(one);
  } else if (row == t && contact.mode == Grip::kSlide && contact.across) {
    one = {.count = 2,
           .rows = {t, t + 1},
           .push = {contact.w.x(), contact.w.y()},
           .weighed = 2,
           .eq = {contact.w.x(), contact.w.y()},
           .give = contact.give};
    unknown_.push_back(one);
  }
}

/// The equations of the current modes: bilateral rows, normals that press, tangents that stick. A
/// sliding contact's friction follows its normal impulse.
bool StepSolver::factor_modes() {
  const int n = static_cast<int>(rows_.size());
  unknown_.clear();
  position_.resize(n + 1);
  for (int k = 0; k < n; ++k) {
    position_[k] = static_cast<int>(unknown_.size());
    const int r = order_[k];
    if (r < bilateral_) {
      unknown_.push_back({.count = 1, .rows = {r}, .push = {1}});
    } else {
      add_unknowns(contacts_[owner_[r]], r);
    }
  }
  position_[n] = static_cast<int>(unknown_.size());
  ++systems_;
  elimination_ = velocities_pay() ? Elimination::kVelocities : Elimination::kRows;
  factored_ = (by_velocities() && factor_velocities()) || factor_rows();
  return factored_;
}

/// Velocity per impulse that is added to an unknown.
double StepSolver::diagonal_of(const Unknown& a) const {
  const double least = by_velocities() ? kDiagonalByVelocities : kDiagonal;
  return a.give + (least + proximal_) * own(a.rows[0]);
}

bool StepSolver::factor_rows() {
  const int n = static_cast<int>(rows_.size()), m = static_cast<int>(unknown_.size());
  elimination_ = Elimination::kRows;
  if (!assembled_) make_G();
  bool symmetric = symmetric_;
  for (const Unknown& a : unknown_) symmetric = symmetric && a.count == 1;
  lu_.reset(m);
  const auto entry = [&](const Unknown& a, const Unknown& b) {
    double value = 0;
    for (int i = 0; i < a.weighed; ++i) {
      const double* row = G_.data() + static_cast<std::size_t>(rank_[a.rows[i]]) * n;
      double sum = b.push[0] * row[rank_[b.rows[0]]];
      for (int j = 1; j < b.count; ++j) sum += b.push[j] * row[rank_[b.rows[j]]];
      value += a.eq[i] * sum;
    }
    return value;
  };
  const auto diagonal = [&](const Unknown& a) {
    return own(a.rows[0]) > 0 ? entry(a, a) + diagonal_of(a) : 1;
  };
  for (int i = 0; i < m; ++i) {
    const Unknown& a = unknown_[i];
    const int from = position_[first_[rank_[a.rows[0]]]];
    lu_.begin_row(i, from);
    for (int j = from; j < i; ++j) {
      lu_.below(i, j) = entry(a, unknown_[j]);
      if (!symmetric) lu_.above(i, j) = entry(unknown_[j], a);
    }
    lu_.diagonal(i) = diagonal(a);
  }
  if (lu_.factor(1e-12, symmetric)) return true;
  if (!may_pivot_ || m > kMostPivoted) return false;

  // much friction turns the sign of a pivot: rows have to change places
  MatrixXd K = MatrixXd::Zero(m, m);
  for (int i = 0; i < m; ++i) {
    for (int j = position_[first_[rank_[unknown_[i].rows[0]]]]; j < i; ++j) {
      K(i, j) = entry(unknown_[i], unknown_[j]);
      K(j, i) = entry(unknown_[j], unknown_[i]);
    }
    K(i, i) = diagonal(unknown_[i]);
  }
  dense_.compute(K);
  elimination_ = Elimination::kRowsPivoted;
  return dense_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

/// Do fewer products eliminate the velocities? Cubic costs, by the profiles of both.
bool StepSolver::velocities_pay() {
  if (pivoted_ || rows_.empty()) return false;
  // a group begins where the first begins that an unknown couples with it
  first_group_.resize(inertia_.size());
  for (std::size_t g = 0; g < inertia_.size(); ++g) first_group_[g] = static_cast<int>(g);
  double velocity_cost = 0;
  for (const Unknown& a : unknown_) {
    // the rows of a contact know the same groups, but for those that are zero
    double all = 0;
    for (int k = 0; k < a.count; ++k) {
      const Row& row = rows_[a.rows[k]];
      double size = 0;
      for (int e = 0; e < row.count; ++e) {
        int& first = first_group_[row.entries[e].group];
        first = std::min(first, row.entries[0].group);
        size += row.entries[e].size;
      }
      all = std::max(all, size);
    }
    velocity_cost += all * all + 8 * all;
  }
  for (std::size_t g = 0; g < inertia_.size(); ++g) {
    const int before = starts_[g] - starts_[first_group_[g]];
    for (int k = 1; k <= size_of(static_cast<int>(g)); ++k)
      velocity_cost += (before + k) * (before + k);
  }
  const double part = static_cast<double>(unknown_.size()) / static_cast<double>(rows_.size());
  const double row_cost = part * part * part * cost_by_rows_ + (assembled_ ? 0 : cost_of_G_);
  return velocity_cost < row_cost;
}

/// e and p of every unknown, group by group: those of one row as they are.
void StepSolver::gather_parts() {
  values_.resize(values_of_rows_);
  parts_.clear();
  part_of_.resize(unknown_.size() + 1);
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    const Unknown& a = unknown_[i];
    part_of_[i] = static_cast<int>(parts_.size());
    for (int k = 0; k < a.count; ++k) {
      const Row& row = rows_[a.rows[k]];
      for (int e = 0; e < row.count; ++e) {
        const Entry& entry = row.entries[e];
        if (a.count == 1) {
          parts_.push_back(entry);
        } else if (std::none_of(parts_.begin() + part_of_[i], parts_.end(),
                                [&](const Entry& p) { return p.group == entry.group; })) {
          add_part(a, entry);
        }
      }
    }
  }
  part_of_[unknown_.size()] = static_cast<int>(parts_.size());
}

/// What the rows of an unknown have in the group of one of their entries.
void StepSolver::add_part(const Unknown& a, const Entry& like) {
  const int size = size_of(like.group), start = starts_[like.group];
  const int eq = static_cast<int>(values_.size()), push = eq + size;
  values_.resize(push + size, 0);
  std::fill(values_.begin() + eq, values_.end(), 0.0);
  for (int k = 0; k < a.count; ++k) {
    const Row& row = rows_[a.rows[k]];
    for (int e = 0; e < row.count; ++e) {
      const Entry& entry = row.entries[e];
      if (entry.group != like.group) continue;
      const int at = entry.from - start;
      for (int s = 0; s < entry.size; ++s) {
        values_[push + at + s] += a.push[k] * values_[entry.y + s];
        if (k < a.weighed) values_[eq + at + s] += a.eq[k] * values_[entry.j + s];
      }
    }
  }
  parts_.push_back({like.group, eq, push, start, size, 0, size});
}

bool StepSolver::factor_velocities() {
  gather_parts();
  lu_.reset(nv_);
  for (std::size_t g = 0; g < inertia_.size(); ++g) {
    for (int i = starts_[g]; i < starts_[g + 1]; ++i) {
      lu_.begin_row(i, starts_[first_group_[g]]);
      lu_.diagonal(i) = 1;
    }
  }
  bool symmetric = symmetric_;
  for (const Unknown& a : unknown_) symmetric = symmetric && a.count == 1;
  for (std::size_t u = 0; u < unknown_.size(); ++u) {
    const double d = diagonal_of(unknown_[u]);
    if (!(d > 0)) continue;  // held fast
    const double give = 1 / d;
    for (int a = part_of_[u]; a < part_of_[u + 1]; ++a) {
      for (int b = part_of_[u]; b < part_of_[u + 1]; ++b) {
        const Entry &high = parts_[a], &low = parts_[b];
        if (low.group > high.group) continue;
        const double *e_high = &values_[high.j], *p_high = &values_[high.y],
                     *e_low = &values_[low.j], *p_low = &values_[low.y];
        for (int k = 0; k < high.size; ++k) {
          const int i = high.from + k;
          if (a == b) lu_.diagonal(i) += p_high[k] * give * e_high[k];
          // of a block on the diagonal what lies above is not read
          if (low.from == i) continue;
          const int most = low.size == 6 ? 6 : std::min(low.size, i - low.from);
          lcp::add(e_low, p_high[k] * give, &lu_.below(i, low.from), most);
          if (!symmetric) lcp::add(p_low, e_high[k] * give, &lu_.above(i, low.from), most);
        }
      }
    }
  }
  if (symmetric || !may_pivot_ || inertia_.size() > 1) return lu_.factor(1e-15, symmetric);

  // much friction turns the sign of a pivot
  MatrixXd K = MatrixXd::Zero(nv_, nv_);
  for (int i = 0; i < nv_; ++i) {
    for (int j = lu_.first(i); j < i; ++j) K(i, j) = lu_.below(i, j), K(j, i) = lu_.above(i, j);
    K(i, i) = lu_.diagonal(i);
  }
  dense_.compute(K);
  elimination_ = Elimination::kVelocitiesPivoted;
  return dense_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

void StepSolver::solve_velocities(std::vector<double>& y) {
  push_of_.assign(nv_, 0.0);
  for (std::size_t u = 0; u < y.size(); ++u) {
    const double d = diagonal_of(unknown_[u]);
    if (!(d > 0)) continue;
    const double part = y[u] / d;
    for (int a = part_of_[u]; a < part_of_[u + 1]; ++a) {
      lcp::add(&values_[parts_[a].y], part, &push_of_[parts_[a].from], parts_[a].size);
    }
  }
  if (elimination_ == Elimination::kVelocities) {
    lu_.solve(push_of_);
  } else {
    Eigen::Map<VectorXd> all(push_of_.data(), nv_);
    all = dense_.solve(VectorXd(all)).eval();
  }
  for (std::size_t u = 0; u < y.size(); ++u) {
    const double d = diagonal_of(unknown_[u]);
    if (!(d > 0)) {
      y[u] = 0;
      continue;
    }
    for (int a = part_of_[u]; a < part_of_[u + 1]; ++a)
      y[u] -= lcp::dot(&values_[parts_[a].j], &push_of_[parts_[a].from], parts_[a].size);
    y[u] /= d;
  }
}

void StepSolver::solve_factored(std::vector<double>& x) {
  if (by_velocities()) return solve_velocities(x);
  if (elimination_ == Elimination::kRows) return lu_.solve(x);
  Eigen::Map<VectorXd> all(x.data(), static_cast<Eigen::Index>(x.size()));
  all = dense_.solve(VectorXd(all)).eval();
}

bool StepSolver::solve_modes() {
  // from the impulses so far: what redundant rows leave open stays as it is
  y_.resize(unknown_.size());
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    const Unknown& a = unknown_[i];
    y_[i] = a.eq[0] * x_[a.rows[0]];
    if (a.weighed == 2) y_[i] += a.eq[1] * x_[a.rows[1]];
  }
  std::fill(x_.begin(), x_.end(), 0.0);
  for (const StepContact& contact : contacts_) {
    if (!contact.saturated || contact.mode == Grip::kOpen) continue;
    x_[contact.n] = contact.most;
    const double friction = contact.mu * contact.most;
    if (contact.mode == Grip::kSlide) {
      x_[contact.n + 1] = friction * contact.u.x(), x_[contact.n + 2] = friction * contact.u.y();
    } else if (contact.mode != Grip::kStick) {
      x_[contact.n + 1] = contact.mode == Grip::kSlidePositive ? -friction : friction;
    }
  }
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    const Unknown& a = unknown_[i];
    for (int k = 0; k < a.count; ++k) x_[a.rows[k]] += a.push[k] * y_[i];
  }
  apply_rows();
  double worst = 0;
  for (int pass = 0; pass < 8; ++pass) {
    worst = 0;
    rhs_.resize(unknown_.size());
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      const Unknown& a = unknown_[i];
      rhs_[i] = -a.eq[0] * c_plus_[a.rows[0]] - a.give * y_[i];
      if (a.weighed == 2) rhs_[i] -= a.eq[1] * c_plus_[a.rows[1]];
      worst = std::max(worst, std::abs(rhs_[i]));
    }
    if (worst <= 1e-14 * scale_) return true;
    if (pass > 2 && worst <= 1e-12 * scale_) return true;
    solve_factored(rhs_);
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      const Unknown& a = unknown_[i];
      y_[i] += rhs_[i];
      for (int k = 0; k < a.count; ++k) x_[a.rows[k]] += a.push[k] * rhs_[i];
    }
    apply_rows();
  }
  return worst <= 1e-9 * scale_;
}

}  // namespace routh
