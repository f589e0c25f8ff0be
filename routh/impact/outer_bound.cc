#include "routh/impact/outer_bound.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "routh/impact/polytopes.h"
#include "routh/lcp/lemke.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kHalvings = 40;  // of the multiplier of energy

/// A number not below x, in double precision.
double upwards(const Rational& x) {
  double y = x.get_d();
  while (Rational(y) < x) y = std::nextafter(y, HUGE_VAL);
  return y;
}

/// The problem with energy as the metric, z = L⁻¹ y and G = L Lᵀ.
class BoundProgram {
 public:
  BoundProgram(const RationalImpact& exact, const std::function<bool()>& stop) : exact_(exact) {
    const int n = exact.dimension, m = exact.contacts;
    MatrixXd G(n, n);
    VectorXd y(n);
    N_.resize(m, n);
    for (int a = 0; a < n; ++a) {
      y[a] = exact.start[a].get_d();
      for (int b = 0; b < n; ++b) G(a, b) = exact.G[a][b].get_d();
      for (int i = 0; i < m; ++i) N_(i, a) = exact.T[i][a].get_d();
    }
    const Eigen::LLT<MatrixXd> llt(G);
    usable_ = llt.info() == Eigen::Success;
    L_ = llt.matrixL();
    std::vector<VectorXd> moves;
    for (int i = 0; i < m; ++i) {
      for (int e = 0; e < (exact.frictionless[i] ? 1 : exact.edges); ++e) {
        VectorXd d(n);
        for (int a = 0; a < n; ++a) d[a] = exact.direction[i][e][a].get_d();
        d = L_.triangularView<Eigen::Lower>().solve(d).eval();
        lengths_.push_back(d.norm());
        moves.push_back(d.normalized());
        edges_.push_back({i, e, &exact.direction[i][e]});
      }
    }
    D_.resize(n, static_cast<Eigen::Index>(moves.size()));
    for (std::size_t g = 0; g < moves.size(); ++g) D_.col(static_cast<Eigen::Index>(g)) = moves[g];
    N_ = (N_ * L_).eval();
    z_ = L_.triangularView<Eigen::Lower>().solve(y);
    // a form that every edge increases by one at least: the cone is pointed
    const VectorXd weights = min_norm_weights(moves);
    const VectorXd steady = rational_free(D_ * weights);
    Rational least = -1;
    for (int a = 0; a < n; ++a) steady_.push_back(Rational(steady[a]));
    for (const BoundEdge& edge : edges_) {
      const Rational along = dot(steady_, *edge.direction);
      if (sgn(least) < 0 || along < least) least = along;
    }
    usable_ = usable_ && sgn(least) > 0;
    for (Rational& s : steady_) s /= usable_ ? least : Rational(1);
    const std::optional<RationalVector> inverse = solve_exactly(exact.G, exact.start, stop);
    usable_ = usable_ && inverse;
    if (inverse) energy_ = dot(exact.start, *inverse);
  }

  bool usable() const { return usable_; }
  const Rational& energy() const { return energy_; }

  /// load · λ of a unit of each edge; `load` in units of the impact.
  RationalVector gains(const RationalVector& load) const {
    RationalVector all;
    for (const auto& [i, e, direction] : edges_) {
      Rational sum = load[i];
      for (int k = 0; k < exact_.tangents && !exact_.frictionless[i]; ++k)
        sum += load[exact_.tangent(i) + k] * exact_.mu[i] * exact_.D[e][k];
      all.push_back(sum);
    }
    return all;
  }
  /// The same of unit motions.
  VectorXd gains_of_moves(const RationalVector& gains) const {
    VectorXd all(static_cast<Eigen::Index>(gains.size()));
    for (std::size_t g = 0; g < gains.size(); ++g)
      all[static_cast<Eigen::Index>(g)] = gains[g].get_d() / lengths_[g];
    return all;
  }

  struct Multipliers {
    VectorXd z;   ///< the end
    VectorXd nu;  ///< of the normal velocities
  };
  /// The largest q z + gain α - κ/2 z² over ends with cn_i = 0.
  std::optional<Multipliers> solve(const VectorXd& q, const VectorXd& gain, double kappa,
                                   int i) const {
    const Eigen::Index e = D_.cols(), m = N_.rows();
    MatrixXd N(m + 1, N_.cols());
    N << N_, -N_.row(i);
    lcp::Problem p{.W = MatrixXd::Zero(e + m + 1, e + m + 1), .w = VectorXd(e + m + 1)};
    p.W.topLeftCorner(e, e) = kappa * D_.transpose() * D_;
    p.W.topRightCorner(e, m + 1) = -(N * D_).transpose();
    p.W.bottomLeftCorner(m + 1, e) = N * D_;
    p.w << D_.transpose() * (kappa * z_ - q) - gain, N * z_;
    const lcp::LemkeResult s = lcp::lemke(p);
    if (s.status != lcp::Status::kSolved || !s.z.allFinite()) return {};
    Multipliers result{z_ + D_ * s.z.head(e), s.z.segment(e, m).cwiseMax(0)};
    result.nu[i] -= s.z[e + m];
    return result;
  }

  /// r and u of the multipliers, exactly, with r · d + gain ≤ 0 for all edges; false where that
  /// fails.
  bool certify(const RationalVector& q, const RationalVector& gains, const Multipliers& m,
               double kappa, RationalVector& r, RationalVector& u) const {
    const VectorXd ends = rational_free(kappa * m.z);
    if (!ends.allFinite() || !m.nu.allFinite()) return false;
    const int n = exact_.dimension;
    u.resize(n), r = q;
    for (int a = 0; a < n; ++a) {
      u[a] = Rational(ends[a]);
      r[a] -= u[a];
      for (int i = 0; i < exact_.contacts; ++i) {
        if (m.nu[i] != 0) r[a] += Rational(m.nu[i]) * exact_.T[i][a];
      }
    }
    Rational most = 0;
    for (std::size_t g = 0; g < edges_.size(); ++g)
      most = std::max(most, Rational(dot(r, *edges_[g].direction) + gains[g]));
    for (int a = 0; a < n && sgn(most) > 0; ++a)
      r[a] -= most * steady_[a], u[a] += most * steady_[a];
    return true;
  }
  Rational squared(const RationalVector& u) const {
    Rational sum = 0;
    for (int a = 0; a < exact_.dimension; ++a) sum += u[a] * dot(exact_.G[a], u);
    return sum;
  }

  VectorXd metric(const VectorXd& form) const { return L_.transpose() * form; }
  const VectorXd& start() const { return z_; }

 private:
  /// The form over y whose value is that of a form over z: L⁻ᵀ z.
  VectorXd rational_free(const VectorXd& z) const {
    return L_.transpose().triangularView<Eigen::Upper>().solve(z);
  }

  const RationalImpact& exact_;
  MatrixXd L_, N_, D_;
  VectorXd z_;
  struct BoundEdge {
    int contact, edge;
    const RationalVector* direction;
  };
  std::vector<BoundEdge> edges_;
  std::vector<double> lengths_;  // of their motions
  RationalVector steady_;
  Rational energy_;
  bool usable_ = true;
};

/// The bound of a linear form with contact i closed at the end; `gains` of impulses, by edge.
double bound_closed(const BoundProgram& program, const RationalImpact& exact,
                    const RationalVector& q, const RationalVector& gains, int i,
                    const std::function<bool()>& stop) {
  const int n = exact.dimension;
  VectorXd form(n);
  for (int a = 0; a < n; ++a) form[a] = q[a].get_d();
  const VectorXd metric = program.metric(form);
  const VectorXd by_moves = program.gains_of_moves(gains);
  const double size = program.start().norm(),
               gain = metric.norm() + by_moves.lpNorm<Eigen::Infinity>();
  if (gain == 0) return 0;
  // the multiplier that makes the end as long as the start
  double low = std::log(gain / size) - 25, high = std::log(gain / size) + 5;
  double best = HUGE_VAL;
  std::optional<BoundProgram::Multipliers> chosen;
  double price = 0;
  bool stopped = stop && stop();
  for (int k = 0; k < kHalvings && !stopped; ++k) {
    const double middle = 0.5 * (low + high), kappa = std::exp(middle);
    auto m = program.solve(metric, by_moves, kappa, i);
    const bool longer = m && m->z.norm() >= size;
    (longer ? low : high) = middle;
    if (m) chosen = std::move(m), price = kappa;
    stopped = stop && stop();
  }
  RationalVector r, u;
  // the best multipliers, and none: energy alone
  const BoundProgram::Multipliers none{VectorXd::Zero(n), VectorXd::Zero(exact.contacts)};
  const auto take = [&](const BoundProgram::Multipliers& m, double kappa) {
    if (!program.certify(q, gains, m, kappa, r, u)) return;
    const double square = upwards(program.energy() * program.squared(u));
    const double root = std::nextafter(std::sqrt(square), HUGE_VAL);
    best = std::min(best, upwards(dot(r, exact.start) + Rational(root)));
  };
  if (chosen) take(*chosen, price);
  take(none, 0);
  return best;
}

double outer_bound(const BoundProgram& program, const RationalImpact& exact,
                   const WitnessTarget& target, const std::function<bool()>& stop) {
  const double unbounded = std::numeric_limits<double>::infinity();
  const int m = exact.contacts;
  if (target.kind == WitnessTarget::kMostEnergy) return 0;
  if (target.kind == WitnessTarget::kLeastEnergy) {
    // ½ yᵀG⁻¹y ≥ u · y - ½ uᵀGu ≥ -r · y⁻ - ½ uᵀGu
    double least = unbounded;
    const RationalVector nothing = program.gains(RationalVector(exact.T.size()));
    for (int i = 0; i < m; ++i) {
      if (!program.usable() || (stop && stop())) return -unbounded;
      const auto end =
          program.solve(VectorXd::Zero(exact.dimension), program.gains_of_moves(nothing), 1, i);
      RationalVector r, u;
      if (!end || !program.certify(RationalVector(exact.dimension), nothing, *end, 1, r, u))
        return -unbounded;
      const Rational energy = -dot(r, exact.start) - program.squared(u) / 2;
      least = std::min(least, -upwards(-std::max(energy, Rational(0))));
    }
    const double before = upwards(program.energy() / 2);
    return std::ldexp(std::max(0.0, least) - before, 2 * exact.speed);
  }
  if (!program.usable()) return unbounded;
  // a form of order one, whatever its factors
  int scale = std::numeric_limits<int>::min();
  const auto count = [&](double factor, int unit) {
    if (factor != 0) scale = std::max(scale, std::ilogb(factor) + unit);
  };
  for (Eigen::Index i = 0; i < target.q.size(); ++i) count(target.q[i], exact.unit[i]);
  for (Eigen::Index i = 0; i < target.load.size(); ++i)
    count(target.load[i], 2 * exact.speed - exact.unit[i]);
  if (scale == std::numeric_limits<int>::min()) scale = 0;
  RationalVector q(exact.dimension);
  for (std::size_t i = 0; i < exact.T.size(); ++i) {
    const double by = std::ldexp(target.q[static_cast<Eigen::Index>(i)], exact.unit[i] - scale);
    for (int a = 0; a < exact.dimension && by != 0; ++a) q[a] += Rational(by) * exact.T[i][a];
  }
  RationalVector load(exact.T.size());
  for (Eigen::Index i = 0; i < target.load.size(); ++i)
    load[i] = Rational(std::ldexp(target.load[i], 2 * exact.speed - exact.unit[i] - scale));
  const RationalVector gains = program.gains(load);
  double most = -unbounded;
  for (int i = 0; i < m; ++i)
    most = std::max(most, bound_closed(program, exact, q, gains, i, stop));
  return std::ldexp(most, scale);
}

}  // namespace

std::vector<double> outer_bounds(const RationalImpact& exact,
                                 const std::vector<WitnessTarget>& targets,
                                 const std::function<bool()>& stop) {
  const BoundProgram program(exact, stop);
  std::vector<double> bounds;
  for (const WitnessTarget& target : targets)
    bounds.push_back(outer_bound(program, exact, target, stop));
  return bounds;
}

}  // namespace routh
