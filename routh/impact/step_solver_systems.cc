// The linear equations of StepSolver's modes, and two ways to eliminate them.
//
// An unknown y_i is an impulse along the row p_i so that a velocity vanishes, that of the row e_i:
//
//   e_i · W Σ p_j y_j + d_i y_i = r_i,   W = M̃⁻¹
//
// with a small diagonal d. By rows that is G = J W Jᵀ between the unknowns. By velocities it is
// u = W Pᵀ y and y = D⁻¹ (r - E u), so that
//
//   (M̃ + Pᵀ D⁻¹ E) u = Pᵀ D⁻¹ r
//
// which couples bodies instead of contacts: less where many contacts hold few bodies. Refinement
// makes up for the digits that d takes from either.

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "routh/impact/step_solver.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDiagonal = 1e-9;  // added to the rows, relative; refinement removes its effect
constexpr int kMostPivoted = 500;   // unknowns of a system whose rows change places

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
  factored_ = (velocities_pay() && factor_velocities()) || factor_rows();
  return factored_;
}

/// Velocity per impulse that is added to an unknown.
double StepSolver::diagonal_of(const Unknown& a) const {
  return a.give + (kDiagonal + proximal_) * own(a.rows[0]);
}

bool StepSolver::factor_rows() {
  const int n = static_cast<int>(rows_.size()), m = static_cast<int>(unknown_.size());
  elimination_ = Elimination::kRows;
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
      lu_.above(i, j) = entry(unknown_[j], a);
    }
    lu_.diagonal(i) = diagonal(a);
  }
  if (lu_.factor(1e-12)) return true;
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
  if (inertia_.empty()) return false;  // contact space
  double by_rows = 0, by_velocities = 0;
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    const double width = static_cast<double>(i) - position_[first_[rank_[unknown_[i].rows[0]]]] + 1;
    by_rows += width * width + 4 * width;
  }
  // a group begins where the first begins that an unknown couples with it
  first_group_.resize(inverse_.size());
  for (std::size_t g = 0; g < inverse_.size(); ++g) first_group_[g] = static_cast<int>(g);
  for (const Unknown& a : unknown_) {
    int first = static_cast<int>(inverse_.size()), all = 0;
    const auto visit = [&](const auto& act) {
      for (int k = 0; k < std::max(a.count, a.weighed); ++k) {
        const Row& row = rows_[a.rows[k]];
        for (int e = 0; e < row.count; ++e) act(row.entries[e].group);
      }
    };
    visit([&](int g) { first = std::min(first, g); });
    visit([&](int g) { first_group_[g] = std::min(first_group_[g], first); });
    const Row& row = rows_[a.rows[0]];
    for (int e = 0; e < row.count; ++e) all += size_of(row.entries[e].group);
    by_velocities += all * all + 8 * all;
  }
  for (std::size_t g = 0; g < inverse_.size(); ++g) {
    for (int k = starts_[g]; k < starts_[g + 1]; ++k) {
      const double width = k - starts_[first_group_[g]] + 1;
      by_velocities += width * width;
    }
  }
  return by_velocities < 0.8 * by_rows;
}

/// e and p of every unknown, group by group.
void StepSolver::gather_parts() {
  parts_.clear(), eq_.clear(), push_.clear();
  part_of_.resize(unknown_.size() + 1);
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    const Unknown& a = unknown_[i];
    part_of_[i] = static_cast<int>(parts_.size());
    for (int k = 0; k < a.count; ++k) {
      const Row& row = rows_[a.rows[k]];
      for (int e = 0; e < row.count; ++e) {
        const Entry& entry = row.entries[e];
        const int size = size_of(entry.group);
        auto part = std::find_if(parts_.begin() + part_of_[i], parts_.end(),
                                 [&](const Part& p) { return p.group == entry.group; });
        if (part == parts_.end()) {
          parts_.push_back({entry.group, static_cast<int>(eq_.size())});
          eq_.resize(eq_.size() + size, 0), push_.resize(eq_.size(), 0);
          part = parts_.end() - 1;
        }
        for (int s = 0; s < size; ++s) {
          const double J = J_[entry.offset + s];
          push_[part->offset + s] += a.push[k] * J;
          if (k < a.weighed) eq_[part->offset + s] += a.eq[k] * J;
        }
      }
    }
  }
  part_of_[unknown_.size()] = static_cast<int>(parts_.size());
}

bool StepSolver::factor_velocities() {
  elimination_ = Elimination::kVelocities;
  gather_parts();
  lu_.reset(nv_);
  for (std::size_t g = 0; g < inertia_.size(); ++g) {
    const int start = starts_[g];
    for (int i = 0; i < size_of(static_cast<int>(g)); ++i) {
      lu_.begin_row(start + i, starts_[first_group_[g]]);
      for (int j = 0; j < i; ++j) {
        lu_.below(start + i, start + j) = inertia_[g](i, j);
        lu_.above(start + i, start + j) = inertia_[g](j, i);
      }
      lu_.diagonal(start + i) = inertia_[g](i, i);
    }
  }
  for (std::size_t u = 0; u < unknown_.size(); ++u) {
    const double d = diagonal_of(unknown_[u]);
    if (!(d > 0)) continue;  // held fast
    for (int a = part_of_[u]; a < part_of_[u + 1]; ++a) {
      for (int b = part_of_[u]; b < part_of_[u + 1]; ++b) {
        const Part &high = parts_[a], &low = parts_[b];
        if (low.group > high.group) continue;
        const double *e_high = &eq_[high.offset], *p_high = &push_[high.offset],
                     *e_low = &eq_[low.offset], *p_low = &push_[low.offset];
        const int from = starts_[low.group], size = size_of(low.group);
        for (int k = 0; k < size_of(high.group); ++k) {
          const int i = starts_[high.group] + k;
          const double p = p_high[k] / d, e = e_high[k] / d;
          if (p == 0 && e == 0) continue;
          const int most = a == b ? k : size;
          if (most > 0) {
            double *below = &lu_.below(i, from), *above = &lu_.above(i, from);
            for (int l = 0; l < most; ++l) {
              below[l] += p * e_low[l];
              above[l] += e * p_low[l];
            }
          }
          if (a == b) lu_.diagonal(i) += p * e_high[k];
        }
      }
    }
  }
  return lu_.factor(1e-15);
}

void StepSolver::solve_velocities(std::vector<double>& y) {
  push_of_.assign(nv_, 0.0);
  const auto visit = [&](std::size_t u, const auto& act) {
    for (int a = part_of_[u]; a < part_of_[u + 1]; ++a) {
      const Part& part = parts_[a];
      for (int k = 0; k < size_of(part.group); ++k) act(starts_[part.group] + k, part.offset + k);
    }
  };
  for (std::size_t u = 0; u < y.size(); ++u) {
    const double d = diagonal_of(unknown_[u]);
    if (!(d > 0)) continue;
    visit(u, [&](int i, int at) { push_of_[i] += push_[at] * y[u] / d; });
  }
  lu_.solve(push_of_);
  for (std::size_t u = 0; u < y.size(); ++u) {
    const double d = diagonal_of(unknown_[u]);
    if (!(d > 0)) {
      y[u] = 0;
      continue;
    }
    visit(u, [&](int i, int at) { y[u] -= eq_[at] * push_of_[i]; });
    y[u] /= d;
  }
}

void StepSolver::solve_factored(std::vector<double>& x) {
  if (elimination_ == Elimination::kVelocities) return solve_velocities(x);
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
