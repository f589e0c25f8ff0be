#include "routh/impact/orders.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "routh/impact/quad.h"

namespace routh {

using Eigen::VectorXd;

namespace {

constexpr int kNoRow = 2;        // no row of a form
constexpr double kHolds = 1e-9;  // a path breaks its rows by no more than this
constexpr int kPatience = 8;     // pivots without progress before Bland's rule

/// What counts as zero.
template <class Real>
struct OrderTolerance {
  static constexpr double pivot = 1e-7, feasible = 1e-12, gain = 1e-11;
};
template <>
struct OrderTolerance<Quad> {
  static constexpr double pivot = 1e-20, feasible = 1e-28, gain = 1e-26;
};

/// What is left of x after a few numbers in double precision is beyond the digits of their sum.
template <class Real>
Real rounded(Rational x) {
  Real sum = 0;
  for (int k = 0; k < (std::is_same_v<Real, double> ? 1 : 3); ++k) {
    const double part = x.get_d();
    sum += part;
    x -= Rational(part);
  }
  return sum;
}

}  // namespace

OrderSpace::OrderSpace(RationalImpact impact) : exact(std::move(impact)) {
  const int m = exact.contacts, E = exact.edges;
  std::vector<VectorXd> over;
  const auto add_form = [&](RationalVector form, VectorXd over_velocities) {
    exact_forms.push_back(std::move(form));
    over.push_back(std::move(over_velocities));
    return static_cast<int>(exact_forms.size()) - 1;
  };
  const auto velocity = [&](int row) {
    return add_form(exact.T[row], VectorXd::Unit(static_cast<Eigen::Index>(exact.T.size()), row));
  };
  for (int i = 0; i < m; ++i) velocity(i);
  for (int i = 0; i < m; ++i) {
    const int first_edge = static_cast<int>(edges.size());
    const int count = exact.frictionless[i] ? 1 : E;
    for (int e = 0; e < count; ++e) edges.push_back({i, e, 0});
    const int axis = count;
    if (!exact.frictionless[i]) edges.push_back({i, kAxis, 0});
    std::vector<ContactLabel>& list = labels.emplace_back();
    using enum ContactState;
    list.push_back({kSeparating, {}, {{i, 1}}});
    const auto closed = [&](ContactState state, std::vector<int> which,
                            std::vector<ContactLabel::Row> rows) {
      for (int& e : which) e += first_edge;
      rows.insert(rows.begin(), {i, -1});
      list.push_back({state, std::move(which), std::move(rows)});
    };
    if (exact.frictionless[i]) {
      closed(kSliding, {0}, {});
    } else if (exact.tangents == 1) {
      const int slip = velocity(exact.tangent(i));
      const int brake = exact.D[0][0] < 0 ? 0 : 1;  // the edge against positive slip
      closed(kSlidingPositive, {brake}, {{slip, 1}});
      closed(kSlidingNegative, {1 - brake}, {{slip, -1}});
      closed(kSticking, {0, 1, axis}, {{slip, 0}});
    } else {
      std::vector<int> rest;
      std::vector<ContactLabel::Row> zero;
      for (int k = 0; k < 2; ++k) zero.push_back({velocity(exact.tangent(i) + k), 0});
      // opposite sides of the polygon share a line
      const int lines = E % 2 == 0 ? E / 2 : E;
      std::vector<int> line;
      for (int e = 0; e < lines; ++e) {
        VectorXd form = VectorXd::Zero(static_cast<Eigen::Index>(exact.T.size()));
        for (int k = 0; k < 2; ++k)
          form[exact.tangent(i) + k] = Rational(exact.D[(e + 1) % E][k] - exact.D[e][k]).get_d();
        line.push_back(add_form(exact.side(i, e), std::move(form)));
      }
      const auto side = [&](int e, int sense) {
        e = (e + E) % E;
        return ContactLabel::Row{line[e % lines], e < lines ? sense : -sense};
      };
      for (int e = 0; e < E; ++e) {
        rest.push_back(e);
        closed(kSliding, {e}, {side(e, 1), side(e - 1, -1)});
        closed(kSliding, {e, (e + 1) % E}, {side(e, 0), side(e - 1, -1), side(e + 1, 1)});
      }
      rest.push_back(axis);
      closed(kSticking, rest, zero);
    }
  }

  // rates and starts, edges in units that make their largest rate about one
  const auto F = static_cast<Eigen::Index>(exact_forms.size());
  rates.resize(F, static_cast<Eigen::Index>(edges.size()));
  start.resize(F);
  over_c.resize(F, static_cast<Eigen::Index>(exact.T.size()));
  for (std::size_t g = 0; g < edges.size(); ++g) {
    double most = 0;
    for (const RationalVector& form : exact.T)
      most = std::max(most, std::abs(dot(form, direction(edges[g])).get_d()));
    edges[g].scale = most > 0 ? -std::ilogb(most) : 0;
  }
  for (Eigen::Index f = 0; f < F; ++f) {
    exact_rates.push_back(along_edges(exact_forms[f]));
    exact_start.push_back(dot(exact_forms[f], exact.start));
    for (std::size_t g = 0; g < edges.size(); ++g)
      rates(f, static_cast<Eigen::Index>(g)) = exact_rates[f][g].get_d();
    start[f] = exact_start[f].get_d();
    over_c.row(f) = over[f].transpose();
  }
  // far above what rounding makes of a path, far below the fastest approach
  const double fastest = std::max(0.0, -start.head(m).minCoeff());
  const int exponent = std::min(-33, fastest > 0 ? std::ilogb(fastest) - 10 : -33);
  exact_tiny = power_of_two(exponent);
  tiny = std::exp2(exponent);
}

RationalVector OrderSpace::impulse(const Edge& edge) const {
  const int i = edge.contact;
  const Rational amount = power_of_two(edge.scale);
  RationalVector result(exact.T.size());
  result[i] = amount;
  for (int t = 0; t < exact.tangents && edge.edge != kAxis && !exact.frictionless[i]; ++t)
    result[exact.tangent(i) + t] = amount * exact.mu[i] * exact.D[edge.edge][t];
  return result;
}

RationalVector OrderSpace::along_edges(const RationalVector& form) const {
  RationalVector result;
  for (const Edge& edge : edges)
    result.push_back(dot(form, direction(edge)) * power_of_two(edge.scale));
  return result;
}

bool OrderSpace::fits(const ContactLabel& label, const VectorXd& forms, double tolerance) const {
  return std::all_of(label.rows.begin(), label.rows.end(), [&](const ContactLabel::Row& row) {
    const double x = forms[row.form];
    return row.sense > 0   ? x >= -tolerance
           : row.sense < 0 ? x <= tolerance
                           : std::abs(x) <= tolerance;
  });
}

std::vector<OrderRow> order_rows(const OrderSpace& space, const Order& order, OrderEnd end) {
  const int K = static_cast<int>(order.size()), m = space.contacts();
  const int F = static_cast<int>(space.start.size());
  std::vector<OrderRow> rows;
  std::vector<int> sense(F, kNoRow);
  for (int k = 0; k < K; ++k) {
    // the end of the phase lies in its location and in the next one
    const auto take = [&](const ContactLabel& label) {
      for (const auto& [form, side] : label.rows)
        sense[form] = sense[form] == kNoRow || sense[form] == side ? side : 0;
    };
    const bool last = k + 1 == K;
    for (int i = 0; i < m; ++i) {
      take(space.label(order[k], i));
      if (!last) take(space.label(order[k + 1], i));
      if (last && end == OrderEnd::kFinal && space.label(order[k], i).closed()) sense[i] = 0;
    }
    for (int f = 0; f < F; ++f) {
      if (sense[f] != kNoRow) rows.push_back({k, f, sense[f]});
      sense[f] = kNoRow;
    }
    if (!last) rows.push_back({k, OrderRow::kProgress, 1});
  }
  return rows;
}

template <class Real>
OrderProgram<Real>::OrderProgram(const OrderSpace& space, std::function<bool()> stop)
    : space_(space), stop_(std::move(stop)), kernel_(lcp::pivot_kernel()) {
  for (const RationalVector& form : space.exact_rates) {
    for (const Rational& x : form) rates_.push_back(rounded<Real>(x));
  }
  for (const Rational& x : space.exact_start) start_.push_back(rounded<Real>(x));
}

template <class Real>
void OrderProgram<Real>::build(const Order& order, OrderEnd end) {
  const int K = static_cast<int>(order.size()), m = space_.contacts();
  const int E = static_cast<int>(space_.edges.size());
  pushes_.clear();
  first_column_.clear();
  for (int k = 0; k < K; ++k) {
    first_column_.push_back(static_cast<int>(pushes_.size()));
    for (int i = 0; i < m; ++i) {
      for (const int g : space_.label(order[k], i).edges) pushes_.push_back({k, g});
    }
  }
  rows_ = order_rows(space_, order, end);
  first_column_.push_back(static_cast<int>(pushes_.size()));

  // the dictionary: slacks are basic
  columns_ = static_cast<int>(pushes_.size());
  const int R = static_cast<int>(rows_.size());
  stride_ = (R + 1 + 7) / 8 * 8;
  dictionary_.assign(static_cast<std::size_t>(columns_ + 1) * stride_, Real(0));
  basic_.resize(R);
  nonbasic_.resize(columns_);
  for (int j = 0; j < columns_; ++j) nonbasic_[j] = j;
  std::vector<Real> sum(E);
  for (int r = 0; r < R; ++r) {
    basic_[r] = columns_ + r;
    const auto& [phase, form, side] = rows_[r];
    const int until = first_column_[phase + 1];
    if (form == OrderBasis::kProgress) {
      Real left = -space_.tiny;
      std::fill(sum.begin(), sum.end(), Real(0));
      for (int i = 0; i < m; ++i) {
        if (!space_.label(order[phase], i).closed()) continue;
        left -= start_[i];
        for (int g = 0; g < E; ++g) sum[g] -= rates_[static_cast<std::size_t>(i) * E + g];
      }
      for (int j = 0; j < until; ++j) at(r, j) = sum[pushes_[j].index];
      value(r) = left;
    } else {
      const Real* rate = rates_.data() + static_cast<std::size_t>(form) * E;
      for (int j = 0; j < until; ++j)
        at(r, j) = side < 0 ? Real(-rate[pushes_[j].index]) : rate[pushes_[j].index];
      value(r) = side < 0 ? Real(-start_[form]) : start_[form];
    }
  }
}

template <class Real>
void OrderProgram<Real>::pivot(int r, int column) {
  if constexpr (std::is_same_v<Real, double>) {
    kernel_.exchange(dictionary_.data(), stride_, columns_ + 1, r, column);
  } else {
    // x_r = T_rs x_s + ..  becomes  x_s = x_r / T_rs - ..
    const int R = static_cast<int>(rows_.size());
    const Real inverse = 1 / at(r, column);
    for (int j = 0; j <= columns_; ++j) {
      const Real scale = -inverse * at(r, j);
      if (j == column || scale == 0) continue;
      for (int i = 0; i <= R; ++i) at(i, j) += scale * at(i, column);
      at(r, j) = scale;
    }
    for (int i = 0; i <= R; ++i) at(i, column) *= inverse;
    at(r, column) = inverse;
  }
  std::swap(basic_[r], nonbasic_[column]);
}

template <class Real>
void OrderProgram<Real>::crash(const OrderBasis& basis) {
  // which columns and rows are meant; a row may have moved to a phase that was put in behind it
  const int K = static_cast<int>(first_column_.size()) - 1;
  std::vector<char> wanted(columns_, 0);
  for (const auto& [phase, edge] : basis.pushes) {
    if (phase < 0 || phase >= K) continue;
    for (int j = first_column_[phase]; j < columns_ && pushes_[j].phase == phase; ++j) {
      if (pushes_[j].index == edge) wanted[j] = 1;
    }
  }
  std::vector<int> tight, later;
  for (const auto& asked : basis.tight) {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const OrderRow& candidate) {
      return candidate.phase >= asked.phase && candidate.form == asked.index;
    });
    if (found != rows_.end()) tight.push_back(static_cast<int>(found - rows_.begin()));
  }
  // phase by phase: what comes later is still zero there
  std::sort(tight.begin(), tight.end());
  const auto bring_in = [&](int r, double least) {
    if (basic_[r] < columns_) return true;
    int best = -1;
    Real most = least;
    for (int j = 0; j < columns_; ++j) {
      const int variable = nonbasic_[j];
      if (variable >= columns_ || !wanted[variable]) continue;
      using std::abs;
      const Real size = abs(at(r, j));
      if (size > most) most = size, best = j;
    }
    if (best < 0) return false;
    pivot(r, best);
    return true;
  };
  for (const int r : tight) {
    if (stopped(r)) return;
    if (!bring_in(r, 1e-3)) later.push_back(r);
  }
  for (const int r : later) bring_in(r, 1e-8);
}

template <class Real>
void OrderProgram<Real>::price(const VectorXd& q) {
  const int R = static_cast<int>(rows_.size());
  for (int j = 0; j <= columns_; ++j)
    at(R, j) = j < columns_ && nonbasic_[j] < columns_ ? q[pushes_[nonbasic_[j]].index] : 0;
  for (int r = 0; r < R; ++r) {
    const Real gain = basic_[r] < columns_ ? q[pushes_[basic_[r]].index] : 0;
    if (gain == 0) continue;
    for (int j = 0; j <= columns_; ++j) at(R, j) += gain * at(r, j);
  }
}

template <class Real>
bool OrderProgram<Real>::make_feasible() {
  using Tolerance = OrderTolerance<Real>;
  using std::abs;
  const int R = static_cast<int>(rows_.size());
  const int limit = 20 + R + columns_;
  for (int steps = 0; steps < limit && !stopped(steps); ++steps) {
    // how fast each column lessens what is violated
    bool violated = false;
    gain_.assign(columns_, Real(0));
    for (int r = 0; r < R; ++r) {
      const Real x = value(r);
      const bool low = x < -Tolerance::feasible;
      const bool high = x > Tolerance::feasible && fixed(basic_[r]);
      if (!low && !high) continue;
      violated = true;
      for (int j = 0; j < columns_; ++j) gain_[j] += low ? at(r, j) : Real(-at(r, j));
    }
    if (!violated) return true;
    int column = -1;
    Real most = Tolerance::pivot;
    for (int j = 0; j < columns_; ++j) {
      if (gain_[j] > most && !fixed(nonbasic_[j])) most = gain_[j], column = j;
    }
    if (column < 0) return false;

    // as far as what holds keeps holding, and no farther than the last violation is mended
    int blocking = -1, mended = -1;
    Real nearest = 0, farthest = 0;
    for (int r = 0; r < R; ++r) {
      const Real a = -at(r, column), x = value(r);
      if (abs(a) <= Tolerance::pivot) continue;
      const bool equal = fixed(basic_[r]);
      if (x < -Tolerance::feasible || (equal && x > Tolerance::feasible)) {
        const Real ratio = x / a;
        if (ratio < 0) continue;
        if (equal) {
          if (blocking < 0 || ratio < nearest) nearest = ratio, blocking = r;
        } else if (mended < 0 || ratio > farthest) {
          farthest = ratio, mended = r;
        }
      } else if (equal || a > 0) {
        const Real ratio = equal || x < 0 ? Real(0) : Real(x / a);
        if (blocking < 0 || ratio < nearest ||
            (ratio == nearest && abs(a) > abs(at(blocking, column))))
          nearest = ratio, blocking = r;
      }
    }
    const int leaving = blocking < 0 ? mended
                        : mended < 0 ? blocking
                                     : (nearest <= farthest ? blocking : mended);
    if (leaving < 0) return false;
    pivot(leaving, column);
  }
  return false;
}

template <class Real>
OrderStatus OrderProgram<Real>::improve() {
  using Tolerance = OrderTolerance<Real>;
  using std::abs;
  const int R = static_cast<int>(rows_.size());
  const int limit = 50 + 4 * (R + columns_);
  int stalled = 0;
  for (int steps = 0; steps < limit && !stopped(steps); ++steps) {
    // the column that gains most; the first one where nothing moves
    int column = -1;
    Real most = Tolerance::gain;
    for (int j = 0; j < columns_; ++j) {
      if (at(R, j) <= most || fixed(nonbasic_[j])) continue;
      if (stalled > kPatience) {
        if (column < 0 || nonbasic_[j] < nonbasic_[column]) column = j;
      } else {
        most = at(R, j), column = j;
      }
    }
    if (column < 0) return OrderStatus::kOptimal;
    int leaving = -1;
    Real least = 0;
    for (int r = 0; r < R; ++r) {
      const Real a = -at(r, column);
      const bool equal = fixed(basic_[r]);
      if (equal ? abs(a) <= Tolerance::pivot : a <= Tolerance::pivot) continue;
      const Real ratio = equal || value(r) < 0 ? Real(0) : Real(value(r) / a);
      const bool ties = leaving >= 0 && ratio == least;
      if (leaving < 0 || ratio < least ||
          (ties &&
           (stalled > kPatience ? basic_[r] < basic_[leaving] : abs(a) > abs(at(leaving, column)))))
        leaving = r, least = ratio;
    }
    if (leaving < 0) return OrderStatus::kUnbounded;
    stalled = least > Tolerance::feasible ? 0 : stalled + 1;
    pivot(leaving, column);
  }
  return OrderStatus::kUndecided;
}

template <class Real>
void OrderProgram<Real>::read(OrderPath& path) const {
  const int K = static_cast<int>(path.order.size()), R = static_cast<int>(rows_.size());
  const auto E = static_cast<Eigen::Index>(space_.edges.size());
  path.basis = {};
  path.multipliers.clear();
  path.alpha.assign(K, VectorXd::Zero(E));
  std::vector<std::vector<Real>> precise(K, std::vector<Real>(E, Real(0)));
  for (int r = 0; r < R; ++r) {
    if (basic_[r] >= columns_) continue;
    const OrderBasis::Item& push = pushes_[basic_[r]];
    path.basis.pushes.push_back(push);
    precise[push.phase][push.index] = value(r) > 0 ? value(r) : Real(0);
    path.alpha[push.phase][push.index] = static_cast<double>(precise[push.phase][push.index]);
  }
  for (int j = 0; j < columns_; ++j) {
    if (nonbasic_[j] < columns_) continue;
    const OrderRow& tight = rows_[nonbasic_[j] - columns_];
    path.basis.tight.push_back({tight.phase, tight.form});
    // by the sign of a row `form ≤ ..`
    const auto multiplier = -static_cast<double>(at(R, j));
    path.multipliers.push_back(
        tight.sense < 0 || tight.form == OrderBasis::kProgress ? multiplier : -multiplier);
  }
  // the breakpoints
  const auto F = static_cast<Eigen::Index>(start_.size());
  path.forms.assign(K, VectorXd(F));
  std::vector<Real> at(start_);
  for (int k = 0; k < K; ++k) {
    for (Eigen::Index g = 0; g < E; ++g) {
      const Real a = precise[k][g];
      if (a == 0) continue;
      for (Eigen::Index f = 0; f < F; ++f) at[f] += a * rates_[f * E + g];
    }
    for (Eigen::Index f = 0; f < F; ++f) path.forms[k][f] = static_cast<double>(at[f]);
  }
}

template <class Real>
bool OrderProgram<Real>::holds(const OrderPath& path) const {
  return std::all_of(rows_.begin(), rows_.end(), [&](const OrderRow& r) {
    if (r.form == OrderBasis::kProgress) return true;
    const double x = path.forms[r.phase][r.form];
    return r.sense > 0 ? x >= -kHolds : r.sense < 0 ? x <= kHolds : std::abs(x) <= kHolds;
  });
}

template <class Real>
OrderStatus OrderProgram<Real>::solve(OrderPath& path, const VectorXd& q, OrderEnd end) {
  build(path.order, end);
  crash(path.basis);
  if (!make_feasible()) return OrderStatus::kInfeasible;
  price(q);
  OrderStatus status = improve();
  if (status == OrderStatus::kOptimal) {
    read(path);
    if (!holds(path)) status = OrderStatus::kUndecided;
  }
  return status;
}

template <class Real>
OrderStatus OrderProgram<Real>::step(OrderPath& path, const VectorXd& q, const VectorXd& forms) {
  std::vector<Real> here(forms.begin(), forms.end());
  std::swap(start_, here);
  const OrderStatus status = solve(path, q, OrderEnd::kOpen);
  std::swap(start_, here);
  return status;
}

template class OrderProgram<double>;
template class OrderProgram<Quad>;

}  // namespace routh
