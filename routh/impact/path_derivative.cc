#include "routh/impact/path_derivative.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "routh/impact/orders.h"

namespace routh {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAtZero = 1e-9;  // amounts, slacks and gains below this are zero
constexpr double kStays = 1e-7;   // changes of them below this part of all changes are none

/// A change of the problem in its own units: of c, of the velocities that edges give, of their
/// impulses.
struct Moved {
  VectorXd c;
  MatrixXd rates, impulses;  // n x edges
  bool broken = false;       // a contact without friction gets some
};

}  // namespace

/// The order of a certificate in floating point, in the units of the order's space.
struct PathDerivative::Paths {
  /// A corner: N α = b, and what it is worth.
  struct Corner {
    double weight = 1;
    std::vector<std::pair<int, int>> pushes, tight;
    VectorXd alpha;
    Eigen::FullPivLU<MatrixXd> N;
    std::vector<VectorXd> breakpoints;  // at the end of each phase
    VectorXd impulse;
  };
  /// A corner along a change.
  struct Slope {
    VectorXd alpha, impulse;
    std::vector<VectorXd> breakpoints;
    double size = 0;  // of the largest change on the way
  };

  Paths(const ImpactProblem& problem, const WitnessTarget& of, const WitnessCertificate& of_path);

  VectorXd row(int phase, int form) const;
  bool acts(int phase, const std::pair<int, int>& push) const { return push.first <= phase; }
  Moved moved(const VectorXd& dc, const MatrixXd& dG, const VectorXd& dmu) const;
  Slope slope(const Corner& corner, const Moved& by) const;
  bool keeps(const Corner& corner, const Slope& slope, const Moved& by) const;
  bool stays_best(const Corner& corner, const Slope& slope, const Moved& by) const;

  OrderSpace space;
  WitnessTarget target;
  Order order;
  std::vector<OrderRow> rows;
  MatrixXd G, impulses, rates;  // in own units; velocities and impulses of a unit of each edge
  VectorXd c, q, load;
  std::vector<Corner> corners;
  VectorXd c_plus;  // of the whole path
};

PathDerivative::Paths::Paths(const ImpactProblem& problem, const WitnessTarget& of,
                             const WitnessCertificate& of_path)
    : space(RationalImpact(problem)), target(of), order(of_path.locations) {
  const RationalImpact& exact = space.exact;
  const Index n = problem.c.size();
  c = problem.c, G = problem.G;
  q = target.kind == WitnessTarget::kLinear ? target.q : VectorXd::Zero(n);
  load = target.load.size() > 0 ? target.load : VectorXd::Zero(n);
  for (Index i = 0; i < n; ++i) {
    c[i] = std::ldexp(c[i], -exact.unit[i]);
    q[i] = std::ldexp(q[i], exact.unit[i]);
    load[i] = std::ldexp(load[i], 2 * exact.speed - exact.unit[i]);
    for (Index k = 0; k < n; ++k)
      G(i, k) = std::ldexp(G(i, k), 2 * exact.speed - exact.unit[i] - exact.unit[k]);
  }
  const double largest = std::max(q.lpNorm<Eigen::Infinity>(), load.lpNorm<Eigen::Infinity>());
  if (largest > 0) q /= largest, load /= largest;
  impulses.resize(n, static_cast<Index>(space.edges.size()));
  for (Index g = 0; g < impulses.cols(); ++g) {
    const RationalVector unit = space.impulse(space.edges[g]);
    for (Index i = 0; i < n; ++i) impulses(i, g) = unit[i].get_d();
  }
  rates = G * impulses;
  rows = order_rows(space, order, OrderEnd::kFinal);

  c_plus = VectorXd::Zero(n);
  for (const WitnessCertificate::Corner& given : of_path.corners) {
    Corner& corner = corners.emplace_back();
    corner.weight = given.weight;
    corner.pushes = given.pushes, corner.tight = given.tight;
    const auto size = static_cast<Index>(given.pushes.size());
    MatrixXd N = MatrixXd::Zero(size, size);
    VectorXd b(size);
    for (Index r = 0; r < size; ++r) {
      const auto& [phase, form] = given.tight[r];
      const VectorXd w = row(phase, form);
      b[r] = (form == OrderRow::kProgress ? space.tiny : 0) - w.dot(c);
      for (Index j = 0; j < size; ++j) {
        if (acts(phase, given.pushes[j])) N(r, j) = w.dot(rates.col(given.pushes[j].second));
      }
    }
    corner.N.compute(N);
    corner.alpha = size > 0 ? VectorXd(corner.N.solve(b)) : b;
    corner.impulse = VectorXd::Zero(n);
    for (int k = 0; k < static_cast<int>(order.size()); ++k) {
      for (Index j = 0; j < size; ++j) {
        if (given.pushes[j].first == k)
          corner.impulse += corner.alpha[j] * impulses.col(given.pushes[j].second);
      }
      corner.breakpoints.push_back(c + G * corner.impulse);
    }
    c_plus += corner.weight * corner.breakpoints.back();
  }
}

/// A row as a form over c; of progress Σ_{closed} -cn, which is at least tiny.
VectorXd PathDerivative::Paths::row(int phase, int form) const {
  if (form != OrderRow::kProgress) return space.over_c.row(form).transpose();
  VectorXd sum = VectorXd::Zero(c.size());
  for (int i = 0; i < space.contacts(); ++i) {
    if (space.label(order[phase], i).closed()) sum[i] = -1;
  }
  return sum;
}

Moved PathDerivative::Paths::moved(const VectorXd& dc, const MatrixXd& dG,
                                   const VectorXd& dmu) const {
  const RationalImpact& exact = space.exact;
  const Index n = c.size();
  Moved by{VectorXd::Zero(n), MatrixXd::Zero(n, rates.cols()), MatrixXd::Zero(n, rates.cols())};
  for (Index i = 0; i < dc.size(); ++i) by.c[i] = std::ldexp(dc[i], -exact.unit[i]);
  for (Index g = 0; g < rates.cols() && dmu.size() > 0; ++g) {
    const auto& [i, edge, scale] = space.edges[g];
    if (exact.frictionless[i]) by.broken = by.broken || dmu[i] != 0;
    if (edge == OrderSpace::kAxis || exact.frictionless[i]) continue;
    const int t = exact.tangent(i);
    for (int k = 0; k < exact.tangents; ++k)
      by.impulses(t + k, g) =
          std::ldexp(dmu[i] * exact.D[edge][k].get_d(), scale + exact.unit[t] - exact.unit[i]);
  }
  by.rates = G * by.impulses;
  if (dG.size() > 0) {
    MatrixXd own = dG;
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < n; ++k)
        own(i, k) = std::ldexp(own(i, k), 2 * exact.speed - exact.unit[i] - exact.unit[k]);
    }
    by.rates += own * impulses;
  }
  return by;
}

PathDerivative::Paths::Slope PathDerivative::Paths::slope(const Corner& corner,
                                                          const Moved& by) const {
  const auto size = static_cast<Index>(corner.pushes.size());
  Slope s;
  VectorXd b(size);
  for (Index r = 0; r < size; ++r) {
    VectorXd change = by.c;
    for (Index j = 0; j < size; ++j) {
      if (acts(corner.tight[r].first, corner.pushes[j]))
        change += corner.alpha[j] * by.rates.col(corner.pushes[j].second);
    }
    b[r] = -row(corner.tight[r].first, corner.tight[r].second).dot(change);
  }
  s.alpha = size > 0 ? VectorXd(corner.N.solve(b)) : b;
  s.impulse = VectorXd::Zero(c.size());
  s.size = by.c.lpNorm<Eigen::Infinity>();
  VectorXd at = by.c;
  for (int k = 0; k < static_cast<int>(order.size()); ++k) {
    for (Index j = 0; j < size; ++j) {
      const auto& [phase, g] = corner.pushes[j];
      if (phase != k) continue;
      s.impulse += corner.alpha[j] * by.impulses.col(g) + s.alpha[j] * impulses.col(g);
      const VectorXd own = corner.alpha[j] * by.rates.col(g), more = s.alpha[j] * rates.col(g);
      at += own + more;
      s.size = std::max({s.size, own.lpNorm<Eigen::Infinity>(), more.lpNorm<Eigen::Infinity>()});
    }
    s.breakpoints.push_back(at);
  }
  return s;
}

/// Does the path stay one through its order, on both sides of the change?
bool PathDerivative::Paths::keeps(const Corner& corner, const Slope& slope, const Moved& by) const {
  const auto still = [&](double change) { return std::abs(change) <= kStays * slope.size; };
  for (std::size_t j = 0; j < corner.pushes.size(); ++j) {
    const auto k = static_cast<Index>(j);
    const double reach = rates.col(corner.pushes[j].second).lpNorm<Eigen::Infinity>();
    if (corner.alpha[k] * reach <= kAtZero && !still(slope.alpha[k] * reach)) return false;
    // friction appears where there was none
    if (by.broken && corner.alpha[k] * reach > kAtZero) {
      const int i = space.edges[corner.pushes[j].second].contact;
      if (space.exact.frictionless[i]) return false;
    }
  }
  for (int i = 0; i < space.contacts(); ++i) {
    for (const ContactLabel::Row& r : space.label(order[0], i).rows) {
      const VectorXd w = row(0, r.form);
      if (std::abs(w.dot(c)) <= kAtZero && !still(w.dot(by.c))) return false;
    }
  }
  return std::all_of(rows.begin(), rows.end(), [&](const OrderRow& r) {
    const VectorXd w = row(r.phase, r.form);
    const double left =
        w.dot(corner.breakpoints[r.phase]) - (r.form == OrderRow::kProgress ? space.tiny : 0);
    const std::pair<int, int> own{r.phase, r.form};
    const bool tight =
        std::find(corner.tight.begin(), corner.tight.end(), own) != corner.tight.end();
    return tight || std::abs(left) > kAtZero || still(w.dot(slope.breakpoints[r.phase]));
  });
}

/// Does no other amount begin to gain, and no tight row to cost?
bool PathDerivative::Paths::stays_best(const Corner& corner, const Slope& slope,
                                       const Moved& by) const {
  const bool linear = target.kind == WitnessTarget::kLinear;
  const double side = target.kind == WitnessTarget::kLeastEnergy ? -1 : 1;
  const auto size = static_cast<Index>(corner.pushes.size());
  const VectorXd gain = linear ? VectorXd(rates.transpose() * q + impulses.transpose() * load)
                               : VectorXd(side * impulses.transpose() * c_plus);
  const VectorXd change = linear
                              ? VectorXd(by.rates.transpose() * q + by.impulses.transpose() * load)
                              : VectorXd(side * (by.impulses.transpose() * c_plus +
                                                 impulses.transpose() * slope.breakpoints.back()));
  // Nᵀ y = gain, and its derivative
  VectorXd g(size), dg(size);
  MatrixXd N = MatrixXd::Zero(size, size), dN = N;
  for (Index j = 0; j < size; ++j) {
    g[j] = gain[corner.pushes[j].second], dg[j] = change[corner.pushes[j].second];
    for (Index r = 0; r < size; ++r) {
      if (!acts(corner.tight[r].first, corner.pushes[j])) continue;
      const VectorXd w = row(corner.tight[r].first, corner.tight[r].second);
      N(r, j) = w.dot(rates.col(corner.pushes[j].second));
      dN(r, j) = w.dot(by.rates.col(corner.pushes[j].second));
    }
  }
  if (size == 0) return true;
  const Eigen::FullPivLU<MatrixXd> Nt(N.transpose());
  const VectorXd y = Nt.solve(g), dy = Nt.solve(dg - dN.transpose() * y);
  const double most = std::max(gain.lpNorm<Eigen::Infinity>(), 1e-300);
  const double moves = std::max({change.lpNorm<Eigen::Infinity>(), dy.lpNorm<Eigen::Infinity>(),
                                 (dN.transpose() * y).lpNorm<Eigen::Infinity>()});
  const auto kink = [&](double value, double by_change) {
    return std::abs(value) <= kAtZero * most && std::abs(by_change) > kStays * moves;
  };
  for (Index r = 0; r < size; ++r) {
    const std::pair<int, int>& own = corner.tight[r];
    const bool equal = std::any_of(rows.begin(), rows.end(), [&](const OrderRow& known) {
      return known.phase == own.first && known.form == own.second && known.sense == 0;
    });
    if (!equal && kink(y[r], dy[r])) return false;
  }
  for (int k = 0; k < static_cast<int>(order.size()); ++k) {
    for (int i = 0; i < space.contacts(); ++i) {
      for (const int e : space.label(order[k], i).edges) {
        const std::pair<int, int> push{k, e};
        const auto in = [&](const Corner& some) {
          return std::find(some.pushes.begin(), some.pushes.end(), push) != some.pushes.end();
        };
        if (std::any_of(corners.begin(), corners.end(), in)) continue;
        double left = gain[e], slopes = change[e];
        for (Index r = 0; r < size; ++r) {
          if (!acts(corner.tight[r].first, push)) continue;
          const VectorXd w = row(corner.tight[r].first, corner.tight[r].second);
          left -= y[r] * w.dot(rates.col(e));
          slopes -= dy[r] * w.dot(rates.col(e)) + y[r] * w.dot(by.rates.col(e));
        }
        if (kink(left, slopes)) return false;
      }
    }
  }
  return true;
}

PathDerivative::PathDerivative(const ImpactProblem& problem, const WitnessTarget& target,
                               const WitnessCertificate& certificate) {
  const Confirmation path = confirm(problem, certificate);
  if (!path.holds)
    throw std::invalid_argument("PathDerivative: certificate: no path of this problem: " +
                                path.why);
  paths_ = std::make_shared<const Paths>(problem, target, certificate);
}

bool PathDerivative::mixed() const { return paths_->corners.size() > 1; }

PathChange PathDerivative::operator()(const VectorXd& dc, const MatrixXd& dG,
                                      const VectorXd& dmu) const {
  const Paths& p = *paths_;
  const Index n = p.c.size();
  if ((dc.size() != 0 && dc.size() != n) || (dG.size() != 0 && dG.rows() != n) ||
      dG.rows() != dG.cols() || (dmu.size() != 0 && dmu.size() != p.space.contacts()))
    throw std::invalid_argument("PathDerivative: changes must have the sizes of c, G and mu");
  const Moved by = p.moved(dc, dG, dmu);
  PathChange change{VectorXd::Zero(n), VectorXd::Zero(n)};
  for (const Paths::Corner& corner : p.corners) {
    const Paths::Slope slope = p.slope(corner, by);
    change.impulse += corner.weight * slope.impulse;
    change.c_plus += corner.weight * slope.breakpoints.back();
    change.smooth = change.smooth && p.keeps(corner, slope, by) && p.stays_best(corner, slope, by);
  }
  const RationalImpact& exact = p.space.exact;
  for (Index i = 0; i < n; ++i) {
    change.impulse[i] = std::ldexp(change.impulse[i], 2 * exact.speed - exact.unit[i]);
    change.c_plus[i] = std::ldexp(change.c_plus[i], exact.unit[i]);
  }
  return change;
}

}  // namespace routh
