#include "routh/impact/solve_all.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "routh/impact/modes.h"
#include "routh/impact/precise.h"
#include "routh/impact/region.h"
#include "routh/impact/same_outcome.h"
#include "routh/lcp/linear_program.h"
#include "routh/lcp/square_system.h"

namespace routh {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;
using lcp::LinearStatus;

constexpr double kSameBranch = 1e-9;  // velocities of one branch that differ by less are one
constexpr double kStill = 1e-9;       // a velocity that vanishes at a given point
constexpr double kClear = 1e-6;       // by which a velocity is no outcome, however it was rounded
constexpr double kGained = 1e-9;  // of energy, and impulses of this size: the data decide by their
constexpr double kHuge = 1e10;    // last digits
constexpr double kCorners = 5e3;  // of a continuum that are tried; where there are more,
constexpr int kDirections = 3;    // extremes are taken in so many directions, both ways

/// What is left to decide about a contact, the coarsest first; 0: nothing. Decided in this order
/// the normals of a foot's corners, which are few in combination, leave little of the rest.
int open_questions(const ContactMode& mode) {
  if (mode.normal == Normal::kAny) return 3;
  if (mode.tangent == Tangent::kAny) return 2;
  return mode.tangent == Tangent::kSlip && mode.edges > 1 ? 1 : 0;
}

class Searcher {
 public:
  Searcher(const ImpactProblem& given, const SolveAllOptions& options)
      : options_(options),
        given_(given),
        units_(given),
        p_(units_.problem),
        m_(p_.contacts()),
        D_(friction_edges(p_)),
        look_(generic_direction(p_.c.size())) {
    // impulses as mixtures, λ = E α: of each contact the normal and the edges of its cone, for much
    // friction also of narrower ones, so that no mixture has to cancel
    std::vector<VectorXd> columns;
    const auto add = [&](int i, double mu, int e) {
      VectorXd push = VectorXd::Unit(p_.c.size(), i);
      push.segment(p_.tangent(i), p_.tangents) = mu * D_.col(e);
      columns.push_back(push.normalized());
      edge_.push_back(mu == p_.mu[i] ? e : -1);
    };
    for (int i = 0; i < m_; ++i) {
      first_.push_back(static_cast<int>(columns.size()));
      add(i, 0, 0);
      for (double mu = p_.mu[i]; mu > 0; mu = mu > kWide ? mu / kWide : 0) {
        for (int e = 0; e < D_.cols(); ++e) add(i, mu, e);
      }
    }
    first_.push_back(static_cast<int>(columns.size()));
    E_.resize(p_.c.size(), first_.back());
    for (int j = 0; j < first_.back(); ++j) E_.col(j) = columns[j];
    V_ = p_.G * E_;
  }

  SolveAllResult run() {
    most_ = policy::programs(options_.max_programs, static_cast<double>(p_.c.size()));
    branch(ContactModes(m_));
    result_.complete = result_.left == 0;
    // what another branch decides is not in doubt
    std::erase_if(result_.borderline, [&](const Outcome& o) { return known(o.c_plus); });
    for (std::vector<Outcome>* list : {&result_.outcomes, &result_.borderline}) {
      for (Outcome& outcome : *list) outcome = denormalised(units_, std::move(outcome));
    }
    return std::move(result_);
  }

 private:
  /// The column that pushes along an edge with all friction.
  void push_along(int contact, int edge, std::vector<int>& columns) const {
    for (int j = first_[contact]; j < first_[contact + 1]; ++j) {
      if (edge_[j] == edge) columns.push_back(j);
    }
  }

  /// A region and the edges that may push there.
  struct Part : Region {
    std::vector<int> columns;
  };
  RowVectorXd over_velocity(int i, const Eigen::Ref<const RowVectorXd>& row) const {
    RowVectorXd full = RowVectorXd::Zero(p_.c.size());
    full[i] = row[0];
    full.segment(p_.tangent(i), p_.tangents) = row.tail(p_.tangents);
    return full;
  }

  Part part(const ContactModes& modes) const {
    Part r;
    const int k = static_cast<int>(D_.cols());
    for (int i = 0; i < m_; ++i) {
      const auto [normal, tangent, e, edges] = modes[i];
      const VelocityRows rows = velocity_rows(D_, modes[i]);
      for (const auto& row : rows.zero.rowwise()) r.zero.push_back(over_velocity(i, row));
      for (const auto& row : rows.positive.rowwise()) {
        r.positive.push_back(over_velocity(i, row));
        r.least.push_back(normal == Normal::kAny ? 0 : kApart);
      }
      if (normal == Normal::kOpen) continue;
      if (tangent == Tangent::kSlip || tangent == Tangent::kTurn) {
        const int pushing = tangent == Tangent::kTurn ? 2 : edges;
        for (int j = 0; j < pushing; ++j) push_along(i, (e + j) % k, r.columns);
      } else {
        for (int c = first_[i]; c < first_[i + 1]; ++c) r.columns.push_back(c);
      }
    }
    return r;
  }
  lcp::LinearProgram program(const Part& r) const {
    return routh::program(r, E_(Eigen::all, r.columns), V_(Eigen::all, r.columns), p_.c);
  }

  lcp::LinearSolution solved(const lcp::LinearProgram& lp) {
    ++result_.programs;
    return lcp::solve(lp);
  }

  VectorXd impulse(const Part& r, const VectorXd& x) const {
    VectorXd lambda = VectorXd::Zero(p_.c.size());
    for (std::size_t k = 0; k < r.columns.size(); ++k)
      lambda += x[static_cast<Index>(k)] * E_.col(r.columns[k]);
    return lambda;
  }

  /// A velocity without what rounding left of those that vanish in these modes.
  VectorXd settled(const ContactModes& modes, VectorXd c) const {
    for (int i = 0; i < m_; ++i) {
      if (modes[i].normal == Normal::kClosed) c[i] = 0;
      if (modes[i].tangent == Tangent::kStick) c.segment(p_.tangent(i), p_.tangents).setZero();
    }
    return c;
  }

  bool known(const VectorXd& c) const {
    return std::any_of(result_.outcomes.begin(), result_.outcomes.end(),
                       [&](const Outcome& o) { return same_outcome(p_, o.c_plus, c); });
  }

  /// Is c an outcome? At a given velocity the impulses of the law are a convex set.
  void judge(const VectorXd& c) {
    if (known(c)) return;
    Part r;
    for (int i = 0; i < m_; ++i) {
      if (c[i] > kStill) continue;
      const auto ct = c.segment(p_.tangent(i), p_.tangents);
      const bool slips = p_.mu[i] > 0 && ct.lpNorm<Eigen::Infinity>() > kStill;
      const double most = slips ? (-D_.transpose() * ct).maxCoeff() : 0;
      for (int j = first_[i]; j < first_[i + 1]; ++j) {
        if (!slips || (edge_[j] >= 0 && -D_.col(edge_[j]).dot(ct) >= most - kStill))
          r.columns.push_back(j);
      }
    }
    lcp::LinearProgram lp{.A = V_(Eigen::all, r.columns), .b = c - p_.c, .q = {}};
    const lcp::LinearSolution found = solved(lp);
    if (found.status == LinearStatus::kInfeasible && found.margin > kClear) return;
    if (found.status != LinearStatus::kOptimal) {
      ++result_.left;
      return;
    }
    note(r, found.x, c);
  }

  /// Takes an outcome in, after the edges that push were solved for once more: the velocities that
  /// vanish do so to rounding.
  std::optional<int> note(const Part& r, const VectorXd& x, const VectorXd& c) {
    std::vector<int> columns;
    for (std::size_t k = 0; k < r.columns.size(); ++k) {
      if (x[static_cast<Index>(k)] > 1e-12) columns.push_back(static_cast<int>(k));
    }
    MatrixXd pushes(p_.c.size(), static_cast<Index>(columns.size()));
    VectorXd start(pushes.cols());
    for (Index k = 0; k < pushes.cols(); ++k) {
      pushes.col(k) = E_.col(r.columns[columns[k]]);
      start[k] = x[columns[k]];
    }
    std::vector<RowVectorXd> zero;
    for (int i = 0; i < m_; ++i) {
      if (std::abs(c[i]) > kStill) continue;
      zero.push_back(RowVectorXd::Unit(p_.c.size(), i));
      const auto ct = c.segment(p_.tangent(i), p_.tangents);
      const bool sticks = ct.lpNorm<Eigen::Infinity>() <= kStill;
      for (int t = 0; t < p_.tangents; ++t) {
        if (sticks || std::abs(ct[t]) <= kStill)
          zero.push_back(RowVectorXd::Unit(p_.c.size(), p_.tangent(i) + t));
      }
      // two edges that brake alike
      for (int e = 0; e < D_.cols() && p_.tangents == 2 && !sticks; ++e) {
        RowVectorXd side(3);
        side << 0, (D_.col((e + 1) % D_.cols()) - D_.col(e)).transpose();
        if (std::abs(side.tail(2).dot(ct)) <= kStill) zero.push_back(over_velocity(i, side));
      }
    }
    MatrixXd rows(static_cast<Index>(zero.size()), p_.c.size());
    for (Index k = 0; k < rows.rows(); ++k) rows.row(k) = zero[k];
    Outcome outcome = precise_mixture(p_, pushes, start, rows);
    if (outcome.residual > options_.tolerance) {
      ++result_.left;
      return {};
    }
    const bool decided =
        outcome.residual <= lcp::kConsistent && outcome.impulse.lpNorm<Eigen::Infinity>() <= kHuge;
    return take(std::move(outcome), decided);
  }

  /// An outcome, or one that rounding cannot confirm.
  std::optional<int> take(Outcome outcome, bool decided) {
    if (decided && energy_gain(given_, denormalised(units_, outcome)) <= kGained)
      return insert_distinct(p_, result_.outcomes, std::move(outcome));
    insert_distinct(p_, result_.borderline, std::move(outcome));
    return {};
  }

  /// How far a contact is from a decision that holds at this point.
  double doubt(int i, const ContactMode& mode, const VectorXd& lambda, const VectorXd& c) const {
    if (mode.normal == Normal::kAny) return std::min(std::max(0.0, lambda[i]), std::max(0.0, c[i]));
    const auto ct = c.segment(p_.tangent(i), p_.tangents);
    const auto friction = lambda.segment(p_.tangent(i), p_.tangents);
    return p_.mu[i] * std::max(0.0, lambda[i]) * ct.norm() + friction.dot(ct);
  }

  void branch(const ContactModes& modes) {
    if (result_.programs >= most_ || (options_.stop && options_.stop())) {
      ++result_.left;
      return;
    }
    // the range of velocities that is left, along one direction
    Part r = part(modes);
    lcp::LinearProgram lp = program(r);
    const RowVectorXd along = look_.transpose() * V_(Eigen::all, r.columns);
    const auto extreme = [&](double sign) {
      lp.q = VectorXd::Zero(lp.A.cols());
      lp.q.head(along.size()) = sign * along.transpose();
      return solved(lp);
    };
    const lcp::LinearSolution high = extreme(1);
    if (high.status == LinearStatus::kInfeasible || high.status == LinearStatus::kUndecided) {
      const bool proven = high.status == LinearStatus::kInfeasible;
      const MatrixXd pushes = E_(Eigen::all, r.columns), reach = V_(Eigen::all, r.columns);
      if (r.moves() ? !some_move(solved(fastest(r, pushes, reach, p_.c))) : proven) return;
      if (proven) {
        ++result_.left;
        return;
      }
    }
    std::optional<VectorXd> lambda, c;
    if (high.status == LinearStatus::kOptimal) {
      lambda = impulse(r, high.x);
      c = p_.c + p_.G * *lambda;
      const lcp::LinearSolution low = extreme(-1);
      if (low.status == LinearStatus::kOptimal && high.value + low.value <= kSameBranch &&
          (p_.c + p_.G * impulse(r, low.x) - *c).lpNorm<Eigen::Infinity>() <= 10 * kSameBranch)
        return judge(settled(modes, *c));
    }

    // the coarsest question, at the contact in most doubt
    int next = -1;
    std::pair<int, double> most{0, 0.0};
    for (int i = 0; i < m_; ++i) {
      const int open = open_questions(modes[i]);
      const std::pair<int, double> rank{open,
                                        open && lambda ? doubt(i, modes[i], *lambda, *c) : 0.0};
      if (open && (next < 0 || rank > most)) next = i, most = rank;
    }
    if (next < 0) return continuum(modes, std::move(r));
    for (const ContactMode& mode : decisions(next, modes[next])) {
      ContactModes further = modes;
      further[next] = mode;
      branch(further);
    }
  }

  std::vector<ContactMode> decisions(int i, const ContactMode& so_far) const {
    if (so_far.normal == Normal::kAny)
      return {{Normal::kClosed, p_.mu[i] > 0 ? Tangent::kAny : Tangent::kFree},
              {Normal::kOpen, Tangent::kFree}};
    // a turn in parts of at most half of it, a part in halves, and what lies between them
    const bool all_round = so_far.tangent == Tangent::kAny;
    const int k = static_cast<int>(D_.cols());
    const int edges = all_round ? k : so_far.edges;
    const int part = all_round ? k / 2 : (edges + 1) / 2;
    std::vector<ContactMode> all;
    if (all_round) all.push_back({Normal::kClosed, Tangent::kStick});
    for (int e = 0; e < edges; e += part) {
      const int n = std::min(part, edges - e), last = so_far.edge + e + n - 1;
      all.push_back({Normal::kClosed, Tangent::kSlip, (so_far.edge + e) % k, n});
      if (p_.tangents == 2 && (all_round || e + n < edges))
        all.push_back({Normal::kClosed, Tangent::kTurn, last % k});
    }
    return all;
  }

  /// All is decided and velocities are still many: the corners of their set, which has its border.
  void continuum(const ContactModes& modes, Part r) {
    std::vector<int> corners;
    ModeSolutions found = solve_mode(p_, modes, {}, options_.tolerance, kCorners);
    for (Outcome& outcome : found.outcomes) {
      if (const auto index = take(std::move(outcome), found.decided)) corners.push_back(*index);
    }
    r.close();
    if (!found.all) corners = extremes(r);
    std::sort(corners.begin(), corners.end());
    corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
    if (corners.size() > 1) result_.continua.push_back(std::move(corners));
  }

  /// Outcomes at the ends of a region in some directions.
  std::vector<int> extremes(const Part& r) {
    std::vector<int> ends;
    lcp::LinearProgram lp = program(r);
    for (int k = 0; k < kDirections; ++k) {
      for (const double sign : {1.0, -1.0}) {
        VectorXd look = look_;
        std::rotate(look.begin(), look.begin() + k % look.size(), look.end());
        lp.q = VectorXd::Zero(lp.A.cols());
        lp.q.head(static_cast<Index>(r.columns.size())) =
            sign * (look.transpose() * V_(Eigen::all, r.columns)).transpose();
        lcp::LinearSolution found = solved(lp);
        // velocities are bounded here: impulses that cancel only seem to move something
        if (found.status == LinearStatus::kUnbounded) {
          lp.q.resize(0);
          found = solved(lp);
        }
        if (found.status == LinearStatus::kInfeasible) continue;
        if (found.status != LinearStatus::kOptimal) {
          ++result_.left;
          continue;
        }
        const VectorXd c = p_.c + p_.G * impulse(r, found.x);
        if (const auto index = note(r, found.x, c)) ends.push_back(*index);
      }
    }
    return ends;
  }

  const SolveAllOptions& options_;
  const ImpactProblem& given_;
  Normalised units_;
  const ImpactProblem& p_;
  int m_;
  MatrixXd D_, E_, V_;
  std::vector<int> first_;  // column of each contact, then their number
  std::vector<int> edge_;   // of each column: the edge it pushes along with all friction, or -1
  VectorXd look_;
  int most_ = 0;  // programs
  SolveAllResult result_;
};

}  // namespace

SolveAllResult solve_all(const ImpactProblem& problem, const SolveAllOptions& options) {
  validate(problem);
  if (problem.circular()) return solve_all_circular(problem, options);
  return Searcher(problem, options).run();
}

}  // namespace routh
