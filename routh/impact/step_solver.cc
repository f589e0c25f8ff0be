#include "routh/impact/step_solver.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
namespace routh {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

StepSolver::StepSolver(std::vector<int> groups, int nv) : starts_(std::move(groups)), nv_(nv) {
  starts_.push_back(nv);
  inertia_.resize(starts_.size() - 1);
  touching_.resize(inertia_.size());
  for (std::size_t g = 0; g < inertia_.size(); ++g)
    group_of_.resize(starts_[g + 1], static_cast<int>(g));
  u_.setZero(nv);
  change_.setZero(nv);
}

void StepSolver::set_edges(int edges) {
  edges_ = edges;
  const double side = std::numbers::pi / std::max(1, edges);  // half the angle of one
  inner_ = edges > 0 ? std::cos(side) : 1;
  half_ = std::sin(side);
  sides_.clear();
  for (int e = 0; e < edges; ++e) {
    const double angle = (2 * e + 1) * side;
    const Vector2d out(std::cos(angle), std::sin(angle));
    sides_.push_back({out, {-out.y(), out.x()}});
  }
}

void StepSolver::set_inertia(const MatrixXd& inertia) {
  constexpr double kSingular = 1e-15, kLopsided = 1e-6;
  symmetric_ = true, pivoted_ = false;
  for (std::size_t g = 0; g < inertia_.size(); ++g) {
    const int start = starts_[g], size = size_of(static_cast<int>(g));
    const auto block = inertia.block(start, start, size, size);
    Inertia& own = inertia_[g];
    own.pivoted = !own.split.factor(block, kSingular);
    if (!own.pivoted && !own.split.symmetric()) own.pivoted = !own.split.factor(block, kLopsided);
    symmetric_ = symmetric_ && own.symmetric();
    pivoted_ = pivoted_ || own.pivoted;
    if (!own.pivoted) continue;

    // each entry against the inertia of its row and column: units do not matter
    own.inverse = block.partialPivLu().inverse();
    double condition = own.inverse.allFinite() ? 0 : HUGE_VAL;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j)
        condition = std::max(
            condition, std::abs(own.inverse(i, j) * own.inverse(i, j) * block(i, i) * block(j, j)));
    }
    if (condition < 1e30) continue;
    Eigen::Index worst = 0;
    block.diagonal().cwiseAbs().minCoeff(&worst);
    throw std::invalid_argument("the inertia is singular at velocity " +
                                std::to_string(start + worst) +
                                ": time-stepping needs mass and inertia on every coordinate");
  }
}

void StepSolver::set_inverse(const MatrixXd& inverse) {
  symmetric_ = false, pivoted_ = true;
  for (std::size_t g = 0; g < inertia_.size(); ++g) {
    const int start = starts_[g], size = size_of(static_cast<int>(g));
    inertia_[g].pivoted = true;
    inertia_[g].inverse = inverse.block(start, start, size, size);
  }
}

void StepSolver::apply_inverse(const VectorXd& f, VectorXd& out) const {
  out = f;
  for (std::size_t g = 0; g < inertia_.size(); ++g) {
    const Inertia& inertia = inertia_[g];
    const int start = starts_[g], size = size_of(static_cast<int>(g));
    if (inertia.pivoted) {
      out.segment(start, size).noalias() = inertia.inverse * f.segment(start, size);
    } else {
      inertia.split.solve_right(out.data() + start);
    }
  }
  to_motion(out);
}

/// u of w = S u.
void StepSolver::to_motion(VectorXd& w) const {
  for (std::size_t g = 0; g < inertia_.size(); ++g) {
    if (!inertia_[g].pivoted) inertia_[g].split.solve_motion(w.data() + starts_[g]);
  }
}

void StepSolver::clear() {
  rows_.clear(), contacts_.clear(), values_.clear(), c_.clear(), start_.clear(), owner_.clear();
  values_of_rows_ = 0;
  bilateral_ = 0;
  factored_ = ordered_ = assembled_ = may_pivot_ = restarted_ = false;
}

int StepSolver::add_row(const RowRef& row, double c, Spans spans) {
  Row& r = rows_.emplace_back();
  values_.resize(values_of_rows_);
  int next = 0;  // group
  const auto add_groups = [&](int end) {
    for (; next < end; ++next) add_entry(row.data(), row.innerStride(), next, r);
  };
  if (spans.empty()) add_groups(static_cast<int>(inertia_.size()));
  for (const auto& [from, to] : spans) {
    if (from == to) continue;
    next = std::max(next, group_of_[from]);
    add_groups(group_of_[to - 1] + 1);
  }
  values_of_rows_ = values_.size();
  ordered_ = assembled_ = false;
  c_.push_back(c);
  start_.push_back(0);
  return static_cast<int>(rows_.size()) - 1;
}

/// What a row, of entries so far apart in memory, has in a group.
void StepSolver::add_entry(const double* row, Eigen::Index apart, int group, Row& r) {
  const int start = starts_[group], size = size_of(group);
  const Inertia& inertia = inertia_[group];
  const double* part = row + start * apart;
  int from = 0, to = size;
  while (from < size && part[from * apart] == 0) ++from;
  if (from == size) return;
  if (r.count == 4) {
    rows_.pop_back();
    throw std::invalid_argument("a constraint couples more than four groups of velocities");
  }
  const int j = static_cast<int>(values_.size()), y = inertia.symmetric() ? j : j + size;
  values_.resize(y + size);
  double *J = values_.data() + j, *Y = values_.data() + y;
  for (int k = 0; k < size; ++k) J[k] = part[k * apart];
  if (y != j) std::copy(J, J + size, Y);
  if (inertia.pivoted) {
    Eigen::Map<VectorXd>(Y, size).noalias() = inertia.inverse * Eigen::Map<const VectorXd>(J, size);
  } else {
    if (y != j) inertia.split.solve_right(Y);
    inertia.split.solve_left(J);
  }
  from = 0;
  while (J[from] == 0 && Y[from] == 0) ++from;
  while (J[to - 1] == 0 && Y[to - 1] == 0) --to;
  int skip = from, end = to;
  while (J[skip] == 0 && skip < end - 1) ++skip;
  while (J[end - 1] == 0 && skip < end - 1) --end;
  r.entries[r.count++] = {group,     j + from,    y + from,  start + from,
                          to - from, skip - from, end - skip};
  r.own += lcp::dot(J + from, Y + from, to - from);
  r.last = group;
}

void StepSolver::add_bilateral(const RowRef& row, double c) {
  add_row(row, c);
  owner_.push_back(-1);
  bilateral_ = static_cast<int>(rows_.size());
}

void StepSolver::add_contact(const ContactRows& rows, const VectorXd& v, const StepGuess& guess,
                             double distance) {
  const auto rate = [&](const auto& row) {
    if (rows.spans.empty()) return row.dot(v);
    double sum = 0;
    for (const auto& [from, to] : rows.spans)
      sum += row.segment(from, to - from).dot(v.segment(from, to - from));
    return sum;
  };
  add_normal(rows.Jn, rate(rows.Jn) + distance, guess.mode, rows.spans);
  if (!(rows.mu > 0)) return;
  start_.back() = guess.impulse[0];
  StepContact& added = contacts_.back();
  added.tangents = static_cast<int>(rows.Jt.rows());
  added.mu = rows.mu;
  for (int k = 0; k < added.tangents; ++k) {
    add_row(rows.Jt.row(k), rate(rows.Jt.row(k)), rows.spans);
    start_.back() = guess.impulse[k + 1];
  }
  owner_.resize(rows_.size(), contacts() - 1);
  // a slip in space needs its direction
  const bool known = added.tangents == 1 || (edges_ == 0 && guess.friction.squaredNorm() > 0.5);
  if (guess.mode == Grip::kOpen || guess.mode == Grip::kStick || !known) return;
  added.mode = guess.mode;
  added.u = guess.friction;
  added.w = {-guess.friction.y(), guess.friction.x()};
  added.give = guess.give;
  added.across = true;
}

void StepSolver::add_normal(const RowRef& row, double c, Grip guess) {
  add_normal(row, c, guess, {});
}

void StepSolver::add_normal(const RowRef& row, double c, Grip guess, Spans spans) {
  const int n = add_row(row, c, spans);
  owner_.push_back(contacts());
  // without friction there is nothing to hold or to slide
  contacts_.push_back({.n = n, .mode = guess == Grip::kOpen ? Grip::kOpen : Grip::kStick});
}

void StepSolver::restart(const std::vector<Eigen::Vector3d>& velocities,
                         const std::vector<Eigen::Vector3d>& impulses) {
  if (!ordered_) order_rows();
  for (int i = 0; i < contacts(); ++i) {
    for (int k = 0; k <= contacts_[i].tangents; ++k) {
      c_[contacts_[i].n + k] = velocities[i][k];
      start_[contacts_[i].n + k] = impulses[i][k];
    }
    contacts_[i].pulled = false;
  }
  x_ = start_;
  c_plus_ = c_;
  apply_rows();
  show_modes();
  restarted_ = may_pivot_ = true;  // the modes are to be tried as they are
}

StepGuess StepSolver::guess(int contact) const {
  const StepContact& c = contacts_[contact];
  StepGuess guess(c.mode);
  if (c.mode == Grip::kSlide) guess.friction = c.u, guess.give = c.give;
  for (int k = 0; k <= c.tangents; ++k) guess.impulse[k] = x_[c.n + k];
  return guess;
}

/// J v of one row.
double StepSolver::row_times(int row, const VectorXd& v) const {
  double sum = 0;
  for (int e = 0; e < rows_[row].count; ++e) {
    const Entry& entry = rows_[row].entries[e];
    sum += lcp::dot(values_.data() + entry.j + entry.skip, v.data() + entry.from + entry.skip,
                    entry.seen);
  }
  return sum;
}

/// v += W Jᵀ x of an impulse along one row.
void StepSolver::add_push(int row, double x, VectorXd& v) const {
  for (int e = 0; e < rows_[row].count; ++e) {
    const Entry& entry = rows_[row].entries[e];
    lcp::add(values_.data() + entry.y, x, v.data() + entry.from, entry.size);
  }
}

double StepSolver::coupling(int row, int other) const {
  double sum = 0;
  for (int e = 0; e < rows_[row].count; ++e) {
    for (int f = 0; f < rows_[other].count; ++f) {
      const Entry &a = rows_[row].entries[e], &b = rows_[other].entries[f];
      if (a.group != b.group) continue;
      const int from = std::max(a.from + a.skip, b.from),
                to = std::min(a.from + a.skip + a.seen, b.from + b.size);
      if (from < to)
        sum += lcp::dot(&values_[a.j + from - a.from], &values_[b.y + from - b.from], to - from);
    }
  }
  return sum;
}

/// Elimination order and profile of the rows.
void StepSolver::order_rows() {
  ordered_ = true;
  const int n = static_cast<int>(rows_.size());
  order_.resize(n), rank_.resize(n), first_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  const auto before = [&](int a, int b) {
    return rows_[a].last != rows_[b].last ? rows_[a].last < rows_[b].last : a < b;
  };
  if (inertia_.size() > 1) std::sort(order_.begin(), order_.end(), before);
  for (int k = 0; k < n; ++k) rank_[order_[k]] = k;

  // a row begins where the first row begins that shares a group with it
  for (auto& list : touching_) list.clear();
  for (int k = 0; k < n; ++k) {
    const Row& row = rows_[order_[k]];
    for (int e = 0; e < row.count; ++e)
      touching_[row.entries[e].group].emplace_back(k, &row.entries[e]);
  }
  cost_by_rows_ = cost_of_G_ = 0;
  for (int k = 0; k < n; ++k) {
    first_[k] = k;
    const Row& row = rows_[order_[k]];
    for (int e = 0; e < row.count; ++e)
      first_[k] = std::min(first_[k], touching_[row.entries[e].group].front().first);
    const double width = k - first_[k] + 1;
    cost_by_rows_ += width * width + 8 * width;
  }
  for (const auto& list : touching_) {
    const double count = static_cast<double>(list.size());
    if (count > 0) cost_of_G_ += count * count * list.front().second->size;
  }
  for (StepContact& contact : contacts_) {
    if (contact.tangents != 2) continue;
    const int t = contact.n + 1;
    contact.g = std::max(own(t), own(t + 1)) + std::abs(coupling(t, t + 1));
  }
}

/// G = J W Jᵀ within the profile.
void StepSolver::make_G() {
  assembled_ = true;
  const int n = static_cast<int>(rows_.size());
  if (G_.size() < static_cast<std::size_t>(n) * n) G_.resize(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i) {
    for (int j = first_[i]; j <= i; ++j) G_[i * n + j] = G_[j * n + i] = 0;
  }
  for (const auto& list : touching_) {
    for (const auto& [i, a] : list) {
      for (const auto& [j, b] : list) {
        if (symmetric_ && j > i) break;
        const int from = std::max(a->from + a->skip, b->from),
                  to = std::min(a->from + a->skip + a->seen, b->from + b->size);
        if (from >= to) continue;
        const double sum =
            lcp::dot(&values_[a->j + from - a->from], &values_[b->y + from - b->from], to - from);
        G_[i * n + j] += sum;
        if (symmetric_ && j < i) G_[j * n + i] += sum;
      }
    }
  }
}

double StepSolver::sliding_inertia(int contact, double slip) const {
  const StepContact& c = contacts_[contact];
  if (c.tangents == 0) return own(c.n);
  return own(c.n) - c.mu * (slip > 0 ? 1 : -1) * coupling(c.n, c.n + 1);
}

double StepSolver::free_normal_velocity(int contact) const {
  const StepContact& c = contacts_[contact];
  double others = c_plus_[c.n];
  for (int r = c.n; r <= c.n + c.tangents; ++r) others -= coupling(c.n, r) * x_[r];
  return others;
}

/// c⁺ and W Jᵀ x of the impulses x; what the proximal point method adds to c⁺ is taken for a part
/// of it.
void StepSolver::apply_rows() {
  u_.setZero();
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (x_[r] != 0) add_push(static_cast<int>(r), x_[r], u_);
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    double sum = c_[r] + row_times(static_cast<int>(r), u_);
    if (proximal_ > 0) sum += proximal_ * own(static_cast<int>(r)) * (x_[r] - base_[r]);
    c_plus_[r] = sum;
  }
}

/// Does a contact press more than it may, or less than it has to?
bool StepSolver::bound_fails(const StepContact& contact) const {
  const double zero = kSign * scale_;
  if (contact.saturated) return c_plus_[contact.n] > zero;
  return (x_[contact.n] - contact.most) * own(contact.n) > zero;
}

/// Corrects the contacts whose inequalities fail, all of them or only the first; returns how many
/// failed.
int StepSolver::correct_modes(bool all) {
  const double zero = kSign * scale_;
  int failed = 0;
  for (StepContact& contact : contacts_) {
    if (!moves(contact)) continue;
    const bool may_change = all || failed == 0;
    const double xn = x_[contact.n];
    const Grip before = contact.mode;
    if (may_change && before != Grip::kOpen && bound_fails(contact)) {
      contact.saturated = !contact.saturated;
      ++failed;
      continue;
    }
    if (contact.tangents == 2 && before != Grip::kOpen && xn * own(contact.n) >= -zero) {
      failed += correct_slip(contact, may_change);
      continue;
    }
    if (!may_change) continue;
    if (before == Grip::kOpen) {
      if (c_plus_[contact.n] < -zero) close(contact);
    } else if (xn * own(contact.n) < -zero) {
      contact.pulled = contact.pulled || before == Grip::kStick;
      contact.mode = Grip::kOpen;
    } else if (contact.tangents == 1) {
      const int t = contact.n + 1;
      const double xt = x_[t], ct = c_plus_[t];
      if (before == Grip::kStick) {
        if ((std::abs(xt) - contact.mu * std::max(0.0, xn)) * own(t) > zero)
          contact.mode = xt > 0 ? Grip::kSlideNegative : Grip::kSlidePositive;
      } else if (before == Grip::kSlidePositive ? ct < -zero : ct > zero) {
        contact.mode = Grip::kStick;
      }
    }
    failed += contact.mode != before;
  }
  return failed;
}

/// Until no inequality fails, or the residual is good enough.
bool StepSolver::active_set(int most, double enough) {
  int stuck = 0;
  for (int k = 0; k < most; ++k) {
    if (!factor_modes() || !solve_modes()) {
      // modes without a solution of their own: others near the start
      if (proximal_ > 0 || may_pivot_ || ++stuck > 3) return false;
      x_ = start_;
      sweep(30);
      continue;
    }
    if (correct_modes(k < most / 2) == 0) return true;
    // contacts that change from one to the other without moving
    measure();
    if (residual_ <= enough) return true;
  }
  return false;
}

/// The modes that impulses and velocities suggest: where the natural map leads.
void StepSolver::read_modes() {
  for (StepContact& contact : contacts_) {
    const auto free = [&](int r) { return own(r) > 0 ? x_[r] - c_plus_[r] / own(r) : x_[r]; };
    const double pressed = free(contact.n), load = contact.mu * std::max(0.0, x_[contact.n]);
    const bool open = pressed <= 0 || !moves(contact);
    contact.mode = open ? Grip::kOpen : Grip::kStick;
    contact.saturated = pressed >= contact.most * (1 - 1e-12);
    if (open || contact.tangents == 0) continue;
    if (contact.tangents == 1) {
      const double pulled = free(contact.n + 1);
      if (std::abs(pulled) >= load * (1 - 1e-12))
        contact.mode = pulled > 0 ? Grip::kSlideNegative : Grip::kSlidePositive;
    } else if (slide_along(contact, pull(contact), -1e-12 * load)) {
      contact.mode = Grip::kSlide;
    }
  }
}

/// The modes that the impulses alone show.
void StepSolver::show_modes() {
  constexpr double kBeyond = 1 + 1e-9;
  for (StepContact& contact : contacts_) {
    const int t = contact.n + 1;
    const double xn = x_[contact.n], load = contact.mu * std::max(0.0, xn);
    contact.mode = xn <= 0 ? Grip::kOpen : Grip::kStick;
    contact.saturated = kBeyond * xn >= contact.most;
    if (xn <= 0) continue;
    if (contact.tangents == 1 && kBeyond * std::abs(x_[t]) > load)
      contact.mode = x_[t] > 0 ? Grip::kSlideNegative : Grip::kSlidePositive;
    if (contact.tangents == 2 && slide_along(contact, kBeyond * Vector2d(x_[t], x_[t + 1]), 0)) {
      contact.mode = Grip::kSlide;
      if (edges_ == 0)
        contact.give = std::min(std::hypot(c_plus_[t], c_plus_[t + 1]) / std::max(load, 1e-300),
                                1e9 * contact.g);
    }
  }
}

/// The natural map of the law: the largest amount by which an impulse differs from its projection,
/// as a velocity relative to the largest given one.
void StepSolver::measure() {
  double worst = 0, sum = 0;  // a maximum forgets what is no number
  for (std::size_t r = 0; r < rows_.size(); ++r) sum += std::abs(x_[r]) + std::abs(c_plus_[r]);
  for (int r = 0; r < bilateral_; ++r) worst = std::max(worst, std::abs(c_plus_[r]));
  for (const StepContact& contact : contacts_) {
    const double xn = x_[contact.n], gn = own(contact.n);
    if (!(gn > 0)) continue;
    const double pressed = std::clamp(xn - c_plus_[contact.n] / gn, 0.0, contact.most);
    worst = std::max(worst, gn * std::abs(xn - pressed));
    const int t = contact.n + 1;
    if (contact.tangents == 1 && own(t) > 0) {
      const double xt = x_[t], limit = contact.mu * std::max(0.0, xn);
      const double free = xt - c_plus_[t] / own(t);
      worst = std::max(worst, own(t) * std::abs(xt - std::clamp(free, -limit, limit)));
    } else if (contact.tangents == 2 && contact.g > 0) {
      const Vector2d xt(x_[t], x_[t + 1]);
      worst = std::max(worst, contact.g * (xt - into_cone(contact, pull(contact))).norm());
    }
  }
  residual_ = scale_ > 0 ? worst / scale_ : worst;
  if (!std::isfinite(residual_ + sum)) residual_ = HUGE_VAL;
}

bool StepSolver::correction(const VectorXd& joint, const std::vector<double>& contact,
                            VectorXd& motion) {
  if (!factored_) return false;
  rhs_.resize(unknown_.size());
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    const int r = unknown_[i].rows[0];
    rhs_[i] = r < bilateral_ ? joint[r] : r == contacts_[owner_[r]].n ? contact[owner_[r]] : 0;
  }
  solve_factored(rhs_);
  motion.setZero(nv_);
  for (std::size_t i = 0; i < unknown_.size(); ++i) {
    for (int q = 0; q < unknown_[i].count; ++q)
      add_push(unknown_[i].rows[q], unknown_[i].push[q] * rhs_[i], motion);
  }
  to_motion(motion);
  return motion.allFinite();
}

}  // namespace routh
