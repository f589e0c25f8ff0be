#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "routh/impact/region.h"
#include "routh/impact/solve_all.h"
#include "routh/impact/solve_one.h"
#include "routh/lcp/linear_program.h"
#include "routh/linear/decompose.h"

/// The search of solve_all.h with circular cones. A contact that slides does so somewhere in an
/// arc; arcs are halved until what is left of them is one velocity. The disk is between a polygon
/// around it, cut closer where a contact sticks, and of an arc the triangle over it:
///
///   θ in [a, b]:  λt = μ λn d(θ) is a mixture of μ λn d(a), μ λn d(b) and their tangents'
///   crossing,
///                 ct = -|ct| d(θ) lies between -d(a) and -d(b)
///
/// An outcome that is known excludes others of its modes around it. Two that differ by Δλn, Δ|ct|
/// and, d(θ') - d(θ) = τ ξ, by τ have
///
///   Δλt = μ (Δλn d(θ') + λn τ ξ),   Δct = -(Δ|ct| d(θ') + |ct| τ ξ),   Δc = G Δλ
///
/// a linear system in Δλn, Δ|ct| and τ, which is regular as long as θ' is near enough to θ: then
/// there are no two.
namespace routh {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
using lcp::LinearStatus;

constexpr double kNear = 1e-7;    // velocities of one branch that differ by less are one
constexpr double kNarrow = 1e-7;  // arcs that are not halved any more
constexpr int kAround = 16;       // edges of the polygon around a disk
constexpr int kCuts = 30;         // of it, that bring it closer
constexpr int kArcs = 4;          // that the directions of sliding are divided into first

/// What a contact does, as far as it is decided.
struct Does {
  enum { kAny, kOpen, kClosed, kSticks, kSlides } what = kAny;
  double from = 0, to = 0;  ///< directions of its friction, where it slides

  double width() const { return what == kSlides ? to - from : 0; }
};
using AllDo = std::vector<Does>;

Vector2d direction(double angle) { return {std::cos(angle), std::sin(angle)}; }

class CircularSearcher {
 public:
  CircularSearcher(const ImpactProblem& given, const SolveAllOptions& options)
      : options_(options),
        given_(given),
        units_(given),
        p_(units_.problem),
        m_(p_.contacts()),
        solver_(given),
        look_(generic_direction(p_.c.size())) {}

  SolveAllResult run() {
    most_ = policy::programs(options_.max_programs, static_cast<double>(p_.c.size()));
    seek(VectorXd::Zero(p_.c.size()));
    branch(AllDo(m_));
    result_.complete = result_.left == 0;
    return std::move(result_);
  }

 private:
  /// A region and what may push there, as columns.
  struct Part : Region {
    MatrixXd pushes, reach;

    VectorXd impulse(const VectorXd& x) const { return pushes * x.head(pushes.cols()); }
  };

  Part part(const AllDo& all) const {
    Part r;
    std::vector<VectorXd> columns;
    const Index size = p_.c.size();
    for (int i = 0; i < m_; ++i) {
      const Does& does = all[i];
      const Index t = p_.tangent(i);
      const auto push = [&](const Vector2d& friction) {
        VectorXd column = VectorXd::Unit(size, i);
        column.segment<2>(t) = friction;
        columns.push_back(column.normalized());
      };
      const auto tangential = [&](const Vector2d& along) {
        RowVectorXd row = RowVectorXd::Zero(size);
        row.segment<2>(t) = along.transpose();
        return row;
      };
      const RowVectorXd normal = RowVectorXd::Unit(size, i);
      if (does.what == Does::kAny || does.what == Does::kOpen) {
        r.positive.push_back(normal);
        r.least.push_back(does.what == Does::kOpen ? kApart : 0);
        if (does.what == Does::kOpen) continue;
      } else {
        r.zero.push_back(normal);
      }
      const double mu = p_.mu[i];
      if (does.what == Does::kSlides) {
        const double middle = 0.5 * (does.from + does.to);
        const Vector2d a = direction(does.from), b = direction(does.to), d = direction(middle);
        for (const Vector2d& side :
             {Vector2d(a.y(), -a.x()), Vector2d(-b.y(), b.x()), Vector2d(-d)}) {
          r.positive.push_back(tangential(side));
          r.least.push_back(0);
        }
        r.least.back() = kApart;
        push(mu * a);
        push(mu * b);
        push(mu / std::cos(0.5 * does.width()) * d);
        continue;
      }
      push(Vector2d::Zero());
      for (double k = mu; k > 0; k = k > kWide ? k / kWide : 0) {
        for (int e = 0; e < kAround; ++e)
          push(k / std::cos(M_PI / kAround) * direction(2 * M_PI * e / kAround));
      }
      if (does.what != Does::kSticks) continue;
      r.zero.push_back(RowVectorXd::Unit(size, t));
      r.zero.push_back(RowVectorXd::Unit(size, t + 1));
    }
    r.pushes.resize(size, static_cast<Index>(columns.size()));
    for (Index k = 0; k < r.pushes.cols(); ++k) r.pushes.col(k) = columns[k];
    r.reach = p_.G * r.pushes;
    return r;
  }

  lcp::LinearSolution solved(const lcp::LinearProgram& lp) {
    ++result_.programs;
    return lcp::solve(lp);
  }

  /// The end of a region along a direction of velocity; 0: any of its velocities.
  lcp::LinearSolution extreme(const Part& r, double sign) {
    lcp::LinearProgram lp = program(r, r.pushes, r.reach, p_.c);
    if (sign == 0) return solved(lp);
    lp.q = VectorXd::Zero(lp.A.cols());
    lp.q.head(r.reach.cols()) = sign * r.reach.transpose() * look_;
    return solved(lp);
  }

  /// The same where contacts that stick push no more than their disks allow.
  lcp::LinearSolution extreme_of_disks(const AllDo& all, Part& r, double sign) {
    for (int cut = 0;; ++cut) {
      lcp::LinearSolution found = extreme(r, sign);
      if (found.status != LinearStatus::kOptimal || cut == kCuts) return found;
      const VectorXd lambda = r.impulse(found.x);
      const std::size_t before = r.cuts.size();
      for (int i = 0; i < m_; ++i) {
        if (all[i].what != Does::kSticks || p_.mu[i] == 0) continue;
        const Vector2d friction = lambda.segment<2>(p_.tangent(i));
        if (friction.norm() <= p_.mu[i] * lambda[i] * (1 + 1e-9) + 1e-12) continue;
        RowVectorXd row = RowVectorXd::Zero(p_.c.size());
        row[i] = p_.mu[i];
        row.segment<2>(p_.tangent(i)) = -friction.normalized().transpose();
        r.cuts.push_back(row / row.norm());
      }
      if (r.cuts.size() == before) return found;
    }
  }

  /// Around a known outcome: no other of these modes has directions of friction this near.
  struct Zone {
    AllDo all;  ///< `from` is the direction
    double radius = 0;
  };
  Zone zone(const Outcome& outcome) const {
    const VectorXd lambda = units_.impulse_from(outcome.impulse), c = outcome.c_plus / units_.speed;
    Zone zone{.all = AllDo(m_)};
    // the rows that differences obey, those of the contacts that push
    std::vector<Index> rows;
    for (int i = 0; i < m_; ++i) {
      Does& does = zone.all[i];
      const Index t = p_.tangent(i);
      if (lambda[i] <= 0) {
        does.what = Does::kOpen;
        continue;
      }
      rows.push_back(i);
      does.what = Does::kClosed;
      if (p_.mu[i] == 0) continue;
      rows.insert(rows.end(), {t, t + 1});
      const Vector2d ct = c.segment<2>(t);
      does.what = ct.norm() > kApart ? Does::kSlides : Does::kSticks;
      if (does.what == Does::kSlides) does.from = std::atan2(-ct.y(), -ct.x());
    }
    // N of the differences, and by how much its entries change with a radian
    const Index n = static_cast<Index>(rows.size());
    if (n == 0) return zone;
    MatrixXd N(n, n), change = MatrixXd::Zero(n, n);
    Index column = 0;
    for (int i = 0; i < m_; ++i) {
      const Does& does = zone.all[i];
      const Index t = p_.tangent(i);
      const auto own = static_cast<Index>(std::find(rows.begin(), rows.end(), t) - rows.begin());
      const std::array<Index, 2> tangents{t, t + 1};  // the view refers to it
      const MatrixXd Gt = p_.G(rows, tangents);
      if (does.what == Does::kOpen) continue;
      if (does.what == Does::kSticks) {
        N.middleCols(column + 1, 2) = Gt;
      } else if (does.what == Does::kSlides) {
        const Vector2d d = direction(does.from), along(-d.y(), d.x());
        const double load = p_.mu[i] * lambda[i], speed = c.segment<2>(t).norm();
        const VectorXd reach = Gt.rowwise().norm();
        N.col(column) = p_.G(rows, i) + p_.mu[i] * Gt * d;
        N.col(column + 1).setZero();
        N.col(column + 1).segment<2>(own) = d;
        N.col(column + 2) = load * Gt * along;
        N.col(column + 2).segment<2>(own) += speed * along;
        change.col(column) = p_.mu[i] * reach;
        change.col(column + 1).segment<2>(own).setOnes();
        change.col(column + 2) = 0.5 * load * reach;
        change.col(column + 2).segment<2>(own).array() += 0.5 * speed;
        column += 3;
        continue;
      }
      N.col(column) = p_.G(rows, i);
      column += does.what == Does::kSticks ? 3 : 1;
    }
    const Eigen::FullPivLU<MatrixXd> lu(N);
    if (!lu.isInvertible()) return zone;
    const MatrixXd worst = lu.inverse().cwiseAbs() * change;
    zone.radius = 0.9 / linear::eigenvalues(worst).cwiseAbs().maxCoeff();
    return zone;
  }
  /// Has a known outcome all that these decisions leave to itself?
  bool excluded(const AllDo& all) const {
    return std::any_of(zones_.begin(), zones_.end(), [&](const Zone& zone) {
      for (int i = 0; i < m_; ++i) {
        if (all[i].what != zone.all[i].what) return false;
        if (all[i].what != Does::kSlides) continue;
        const double middle = 0.5 * (all[i].from + all[i].to);
        const double away = std::remainder(middle - zone.all[i].from, 2 * M_PI);
        if (std::abs(away) + 0.5 * all[i].width() > zone.radius) return false;
      }
      return true;
    });
  }

  bool known(const VectorXd& c, double near) const {
    return std::any_of(result_.outcomes.begin(), result_.outcomes.end(), [&](const Outcome& o) {
      return (o.c_plus / units_.speed - c).lpNorm<Eigen::Infinity>() <= near;
    });
  }

  void take(std::optional<Outcome> found) {
    if (!found) return;
    const std::size_t before = result_.outcomes.size();
    insert_distinct(given_, result_.outcomes, *std::move(found));
    if (result_.outcomes.size() > before) zones_.push_back(zone(result_.outcomes.back()));
  }
  /// Looks for an outcome, beginning with these impulses.
  void seek(const VectorXd& lambda) {
    take(solver_.solve(given_.c, {}, units_.impulse_to(lambda), options_.tolerance));
  }
  /// The same where nothing slides: contacts that push stop to rounding.
  void stop(const AllDo& all, VectorXd lambda) {
    std::vector<Index> rows;
    for (int i = 0; i < m_; ++i) {
      if (all[i].what != Does::kOpen) rows.push_back(i);
      if (all[i].what == Does::kSticks) rows.insert(rows.end(), {p_.tangent(i), p_.tangent(i) + 1});
    }
    const VectorXd left = p_.c + p_.G * lambda;
    const MatrixXd G = p_.G(rows, rows);
    const VectorXd change = linear::least_squares(G, VectorXd(left(rows)));
    for (std::size_t k = 0; k < rows.size(); ++k) lambda[rows[k]] -= change[k];
    Outcome outcome{.impulse = lambda, .c_plus = p_.c + p_.G * lambda};
    outcome.residual = residual(p_, lambda);
    if (!(outcome.residual <= options_.tolerance)) return seek(lambda);
    for (const Index row : rows) outcome.c_plus[row] = 0;
    take(denormalised(units_, std::move(outcome)));
  }

  /// The contact to ask about next, the coarsest question first; -1: there is none.
  int next(const AllDo& all) const {
    int best = -1;
    double most = kNarrow;
    for (int i = 0; i < m_; ++i) {
      const double doubt = all[i].what == Does::kAny                      ? 200
                           : all[i].what == Does::kClosed && p_.mu[i] > 0 ? 100
                                                                          : all[i].width();
      if (doubt > most) best = i, most = doubt;
    }
    return best;
  }

  /// Is c, the end of a region along a direction, its only velocity?
  bool one_velocity(const AllDo& all, Part& r, double value, const VectorXd& c) {
    const lcp::LinearSolution low = extreme_of_disks(all, r, -1);
    return low.status == LinearStatus::kOptimal && value + low.value <= kNear &&
           (p_.c + p_.G * r.impulse(low.x) - c).lpNorm<Eigen::Infinity>() <= kNear;
  }

  /// All but where to contacts slide?
  bool decided(const AllDo& all) const {
    for (int i = 0; i < m_; ++i) {
      if (all[i].what == Does::kAny || (all[i].what == Does::kClosed && p_.mu[i] > 0)) return false;
    }
    return true;
  }

  /// Does no contact slide?
  static bool rests(const AllDo& all) {
    return std::none_of(all.begin(), all.end(),
                        [](const Does& does) { return does.what == Does::kSlides; });
  }

  std::vector<Does> decisions(const Does& so_far) const {
    if (so_far.what == Does::kAny) return {{Does::kClosed}, {Does::kOpen}};
    if (so_far.what == Does::kSlides) {
      const double middle = 0.5 * (so_far.from + so_far.to);
      return {{Does::kSlides, so_far.from, middle}, {Does::kSlides, middle, so_far.to}};
    }
    std::vector<Does> all{{Does::kSticks}};
    for (int k = 0; k < kArcs; ++k)
      all.push_back({Does::kSlides, 2 * M_PI * k / kArcs, 2 * M_PI * (k + 1) / kArcs});
    return all;
  }

  void branch(const AllDo& all) {
    if (result_.programs >= most_ || (options_.stop && options_.stop())) {
      ++result_.left;
      return;
    }
    if (excluded(all)) return;
    // where nothing slides impulses that cancel change no velocity
    const bool sure = decided(all), still = sure && rests(all);
    Part r = part(all);
    lcp::LinearSolution high = extreme_of_disks(all, r, still ? 0 : 1);
    if (r.moves() &&
        (high.status == LinearStatus::kInfeasible || high.status == LinearStatus::kUndecided)) {
      if (!some_move(solved(fastest(r, r.pushes, r.reach, p_.c)))) return;
      r.close();
      high = extreme_of_disks(all, r, still ? 0 : 1);
    }
    if (high.status == LinearStatus::kInfeasible) return;
    if (high.status == LinearStatus::kOptimal || still) {
      const bool found = high.status == LinearStatus::kOptimal;
      const VectorXd lambda = found ? r.impulse(high.x) : VectorXd::Zero(p_.c.size());
      const VectorXd c = p_.c + p_.G * lambda;
      if (sure && !(found && known(c, 2 * kNear))) {
        still ? stop(all, lambda) : seek(lambda);
        if (excluded(all)) return;
      }
      if (found && known(c, 20 * kNear) && (still || one_velocity(all, r, high.value, c))) return;
    }
    const int asked = next(all);
    if (asked < 0) {
      ++result_.left;
      return;
    }
    for (const Does& decision : decisions(all[asked])) {
      AllDo further = all;
      further[asked] = decision;
      branch(further);
    }
  }

  const SolveAllOptions& options_;
  const ImpactProblem& given_;
  Normalised units_;
  const ImpactProblem& p_;
  int m_;
  OneSolver solver_;
  VectorXd look_;
  int most_ = 0;             // programs
  std::vector<Zone> zones_;  // of the outcomes
  SolveAllResult result_;
};

}  // namespace

SolveAllResult solve_all_circular(const ImpactProblem& problem, const SolveAllOptions& options) {
  return CircularSearcher(problem, options).run();
}

}  // namespace routh
