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

constexpr int kHalvings = 40;      // of the multiplier of energy
constexpr int kTurnHalvings = 14;  // where there are two

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
    settle(gains, r, u);
    return true;
  }
  /// Moves what edges gain by r over to u; where `acts` is given, of those edges alone.
  void settle(const RationalVector& gains, RationalVector& r, RationalVector& u,
              const std::vector<char>* acts = nullptr) const {
    Rational most = 0;
    for (std::size_t g = 0; g < edges_.size(); ++g) {
      if (!acts || (*acts)[g])
        most = std::max(most, Rational(dot(r, *edges_[g].direction) + gains[g]));
    }
    for (std::size_t a = 0; a < r.size() && sgn(most) > 0; ++a)
      r[a] -= most * steady_[a], u[a] += most * steady_[a];
  }

  /// Edges that can act while the only velocity in q is positive: none of its own contact if it is
  /// normal, those that brake it if it is tangential, in the plane. Nothing of other forms.
  std::optional<std::vector<char>> after_turn(const VectorXd& q) const {
    Eigen::Index place = 0;
    if (std::count_if(q.begin(), q.end(), [](double x) { return x != 0; }) != 1) return {};
    q.cwiseAbs().maxCoeff(&place);
    const int m = exact_.contacts;
    if (place < m ? q[place] < 0 : exact_.tangents > 1) return {};
    std::vector<char> acts;
    for (const auto& [i, e, direction] : edges_) {
      const bool own = place < m ? i == place : exact_.tangent(i) == place;
      const bool brakes =
          place >= m && (exact_.frictionless[i] || sgn(exact_.D[e][0]) * q[place] < 0);
      acts.push_back(!own || brakes);
    }
    return acts;
  }

  struct TurnMultipliers {
    VectorXd end, turn;  ///< states
    VectorXd nu;         ///< of the normal velocities at the end
    double tau = 0;      ///< of q at the turn
  };
  /// The largest q y - κ/2 y² - κ'/2 p² over p = z⁻ + D α with q p ≤ b, y = p + D α' by the edges
  /// that act, and cn_i = 0 at y.
  std::optional<TurnMultipliers> solve_turn(const VectorXd& q, const std::vector<char>& acts,
                                            double kappa, double kappa_turn, int i) const {
    std::vector<Eigen::Index> which;
    for (std::size_t g = 0; g < acts.size(); ++g) {
      if (acts[g]) which.push_back(static_cast<Eigen::Index>(g));
    }
    const MatrixXd after = D_(Eigen::all, which);
    const Eigen::Index e = D_.cols(), f = after.cols(), m = N_.rows(), size = e + f + m + 2;
    MatrixXd N(m + 1, N_.cols());
    N << N_, -N_.row(i);
    lcp::Problem p{.W = MatrixXd::Zero(size, size), .w = VectorXd(size)};
    p.W.topLeftCorner(e, e) = (kappa + kappa_turn) * D_.transpose() * D_;
    p.W.block(0, e, e, f) = kappa * D_.transpose() * after;
    p.W.block(e, 0, f, e) = kappa * after.transpose() * D_;
    p.W.block(e, e, f, f) = kappa * after.transpose() * after;
    p.W.block(e + f, 0, m + 1, e) = N * D_;
    p.W.block(e + f, e, m + 1, f) = N * after;
    p.W.block(0, e + f, e + f, m + 1) = -p.W.block(e + f, 0, m + 1, e + f).transpose();
    p.W.block(size - 1, 0, 1, e) = -q.transpose() * D_;
    p.W.block(0, size - 1, e, 1) = D_.transpose() * q;
    const double before = q.dot(z_);
    p.w << D_.transpose() * ((kappa + kappa_turn) * z_ - q), after.transpose() * (kappa * z_ - q),
        N * z_, std::max(0.0, before) - before;
    const lcp::LemkeResult s = lcp::lemke(p);
    if (s.status != lcp::Status::kSolved || !s.z.allFinite()) return {};
    TurnMultipliers result;
    result.turn = z_ + D_ * s.z.head(e);
    result.end = result.turn + after * s.z.segment(e, f);
    result.nu = s.z.segment(e + f, m).cwiseMax(0);
    result.nu[i] -= s.z[e + f + m];
    result.tau = std::max(0.0, s.z[size - 1]);
    return result;
  }
  /// What these multipliers prove, upwards.
  double certify_turn(const RationalVector& q, const std::vector<char>& acts,
                      const TurnMultipliers& m, double kappa, double kappa_turn) const {
    const VectorXd end = rational_free(kappa * m.end), turn = rational_free(kappa_turn * m.turn);
    if (!end.allFinite() || !turn.allFinite() || !m.nu.allFinite()) return HUGE_VAL;
    const std::size_t n = q.size();
    const RationalVector none(edges_.size());
    RationalVector s = q, u(n), r(n), v(n);
    for (std::size_t a = 0; a < n; ++a) {
      u[a] = Rational(end[static_cast<Eigen::Index>(a)]);
      s[a] -= u[a];
      for (int i = 0; i < exact_.contacts; ++i) {
        if (m.nu[i] != 0) s[a] += Rational(m.nu[i]) * exact_.T[i][a];
      }
    }
    settle(none, s, u, &acts);
    const Rational tau(m.tau);
    for (std::size_t a = 0; a < n; ++a) {
      v[a] = Rational(turn[static_cast<Eigen::Index>(a)]);
      r[a] = s[a] - tau * q[a] - v[a];
    }
    settle(none, r, v);
    const Rational before = dot(q, exact_.start);
    return upwards(dot(r, exact_.start) + tau * std::max(Rational(0), before) + Rational(far(u)) +
                   Rational(far(v)));
  }
  /// The most that a form can be by energy alone, upwards.
  double far(const RationalVector& u) const {
    return std::nextafter(std::sqrt(upwards(energy_ * squared(u))), HUGE_VAL);
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
  if (chosen && program.certify(q, gains, *chosen, price, r, u))
    best = upwards(dot(r, exact.start) + Rational(program.far(u)));
  // energy alone
  r.assign(q.size(), 0), u = q;
  program.settle(gains, r, u);
  return std::min(best, upwards(dot(r, exact.start) + Rational(program.far(u))));
}

/// The bound of a single velocity with contact i closed at the end, from the last time when it was
/// not positive: what acts from then on is less, and energy bounds the state at that time too.
double bound_turned(const BoundProgram& program, const RationalVector& q,
                    const std::vector<char>& acts, int i, const std::function<bool()>& stop) {
  VectorXd form(static_cast<Eigen::Index>(q.size()));
  for (std::size_t a = 0; a < q.size(); ++a) form[static_cast<Eigen::Index>(a)] = q[a].get_d();
  const VectorXd metric = program.metric(form);
  const double size = program.start().norm(), gain = metric.norm();
  double best = HUGE_VAL;
  if (gain == 0) return best;
  // multipliers that make the end and, within, the turn as long as the start
  const double least = std::log(gain / size) - 15, most = std::log(gain / size) + 5;
  double low = least, high = most;
  for (int k = 0; k < kTurnHalvings && !(stop && stop()); ++k) {
    const double kappa = std::exp(0.5 * (low + high));
    double low_turn = least, high_turn = most, price = 0;
    std::optional<BoundProgram::TurnMultipliers> chosen;
    for (int j = 0; j < kTurnHalvings; ++j) {
      const double kappa_turn = std::exp(0.5 * (low_turn + high_turn));
      auto m = program.solve_turn(metric, acts, kappa, kappa_turn, i);
      const bool longer = m && m->turn.norm() >= size;
      (longer ? low_turn : high_turn) = 0.5 * (low_turn + high_turn);
      if (m) chosen = std::move(m), price = kappa_turn;
    }
    const bool longer = chosen && chosen->end.norm() >= size;
    (longer ? low : high) = 0.5 * (low + high);
    if (chosen) best = std::min(best, program.certify_turn(q, acts, *chosen, kappa, price));
  }
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
  const std::optional<std::vector<char>> acts =
      target.load.size() > 0 ? std::nullopt : program.after_turn(target.q);
  double most = -unbounded;
  for (int i = 0; i < m; ++i) {
    double bound = bound_closed(program, exact, q, gains, i, stop);
    if (acts && bound > 0) bound = std::min(bound, bound_turned(program, q, *acts, i, stop));
    most = std::max(most, bound);
  }
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
