#include "routh/impact/two_phases.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "routh/impact/modes.h"
#include "routh/impact/solve_one.h"
#include "routh/lcp/linear_program.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr int kStarts = 8;           // of a search where modes are too many
constexpr double kImmobile = 1e-12;  // a normal beside its tangents
constexpr double kAlike = 1e-7;      // of impulses, relative: linear programs are solved to 1e-9

/// Modes of the second phase: λn = e λc,n and open, or closed.
std::vector<ContactMode> phase_modes(const ImpactProblem& problem, int contact, double given) {
  std::vector<ContactMode> modes;
  for (const Normal normal : {Normal::kSaturated, Normal::kClosed}) {
    const bool open = normal == Normal::kSaturated && given == 0;
    if (open || problem.mu[contact] == 0) {
      modes.push_back({open ? Normal::kOpen : normal, Tangent::kFree});
      continue;
    }
    const int edges = static_cast<int>(friction_edges(problem).cols());
    modes.push_back({normal, Tangent::kStick});
    for (int e = 0; e < edges; ++e) modes.push_back({normal, Tangent::kSlip, e});
    for (int e = 0; e < edges && problem.tangents > 1; ++e)
      modes.push_back({normal, Tangent::kTurn, e});
  }
  return modes;
}

/// The second phase at c', by all its modes or, where these are too many, by a search.
class Expansion {
 public:
  Expansion(const ImpactProblem& problem, const SimultaneousOptions& options)
      : problem_(problem), options_(options), speed_(problem.c.lpNorm<Eigen::Infinity>()) {
    problem_.e = {};
  }

  struct Found {
    std::vector<Outcome> outcomes;
    bool all = true;
  };
  Found from(const Outcome& compressed, const VectorXd& given) const {
    ImpactProblem at = problem_;
    at.c = compressed.c_plus;
    Found found;
    double count = 1;
    std::vector<std::vector<ContactMode>> modes;
    for (int i = 0; i < at.contacts() && !at.circular(); ++i) {
      modes.push_back(phase_modes(at, i, given[i]));
      count *= static_cast<double>(modes.back().size());
    }
    if (!at.circular() && count <= 4 * options_.max_modes) {
      by_modes(at, given, modes, found.outcomes);
      found.all = !held(at);
    } else {
      found.all = false;
    }
    if (!found.all || found.outcomes.empty()) by_search(at, given, found.outcomes);
    for (Outcome& outcome : found.outcomes) {
      outcome.impulse += compressed.impulse;
      outcome.residual = std::max(outcome.residual, compressed.residual);
    }
    return found;
  }

 private:
  /// Does friction hold a contact whose normal cannot move, with as much as it takes? Its modes are
  /// all singular, and none of them is tried.
  bool held(const ImpactProblem& at) const {
    for (int i = 0; i < at.contacts(); ++i) {
      const double mobility = at.G.diagonal().segment(at.tangent(i), at.tangents).maxCoeff();
      if (at.mu[i] > 0 && at.G(i, i) <= kImmobile * mobility &&
          at.c[i] <= velocity_tolerance(problem_))
        return true;
    }
    return false;
  }

  void consider(const ImpactProblem& at, const VectorXd& given, const VectorXd& impulse,
                const std::vector<int>& zeros, std::vector<Outcome>& outcomes) const {
    if (!impulse.allFinite()) return;
    Outcome outcome{.impulse = impulse, .c_plus = at.c + at.G * impulse};
    outcome.residual = expansion_residual(at, given, impulse, speed_);
    if (outcome.residual > options_.tolerance) return;
    outcome.c_plus(zeros).setZero();
    insert_distinct(problem_, outcomes, std::move(outcome));
  }

  void by_modes(const ImpactProblem& at, const VectorXd& given,
                const std::vector<std::vector<ContactMode>>& modes,
                std::vector<Outcome>& outcomes) const {
    Normalised units(problem_);
    ImpactProblem& p = units.problem;
    p.c = at.c / units.speed;
    VectorXd x(p.c.size() + p.contacts());
    x << p.c, units.impulse_from(given);
    ContactModes chosen(modes.size());
    std::vector<std::size_t> place(modes.size(), 0);
    for (bool more = true; more && !(options_.stop && options_.stop());) {
      for (std::size_t i = 0; i < modes.size(); ++i) chosen[i] = modes[i][place[i]];
      if (const auto mode = regular_mode(p, chosen))
        consider(at, given, units.impulse_to(mode->impulse * x), mode->zeros, outcomes);
      // the next combination
      std::size_t i = 0;
      while (i < modes.size() && ++place[i] == modes[i].size()) place[i++] = 0;
      more = i < modes.size();
    }
  }

  /// Each contact twice: one that pushes as it is asked to, one that must give e λc,n, pressed so
  /// hard that it does. Their friction together is that of the law, for both see one ct⁺.
  void by_search(const ImpactProblem& at, const VectorXd& given,
                 std::vector<Outcome>& outcomes) const {
    const int m = at.contacts(), k = at.tangents;
    std::vector<int> rows;
    for (int i = 0; i < 2 * m; ++i) rows.push_back(i % m);
    for (int i = 0; i < 2 * m; ++i) {
      for (int t = 0; t < k; ++t) rows.push_back(at.tangent(i % m) + t);
    }
    const std::vector<int> all = rows;
    ImpactProblem twice{.G = at.G(all, all),
                        .c = at.c(all),
                        .mu = VectorXd(2 * m),
                        .tangents = k,
                        .edges = at.edges};
    twice.mu << at.mu, at.mu;
    const double reach = (at.G.cwiseAbs() * VectorXd::Ones(at.c.size())).maxCoeff() *
                         given.maxCoeff() * (1 + at.mu.maxCoeff());
    twice.c.segment(m, m).array() -= 4 * speed_ + reach;
    VectorXd bound(2 * m);
    bound << VectorXd::Constant(m, 1e3 * (given.sum() + speed_ / at.G.diagonal().maxCoeff())),
        given;
    OneSolver solver(twice);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int start = 0; start < kStarts && !(options_.stop && options_.stop()); ++start) {
      const VectorXd begin =
          start == 0 ? VectorXd::Zero(twice.c.size())
                     : solver.start(given.maxCoeff(), bound, [&] { return uniform(random); });
      if (!solver.solve(twice.c, bound, begin, options_.tolerance)) continue;
      VectorXd impulse = VectorXd::Zero(at.c.size());
      for (std::size_t r = 0; r < all.size(); ++r) impulse[all[r]] += solver.impulse()[r];
      consider(at, given, impulse, {}, outcomes);
    }
  }

  ImpactProblem problem_;
  const SimultaneousOptions& options_;
  double speed_;
};

/// The impulses of compression that lead to the same c'.
struct Compressions {
  std::vector<VectorXd> impulses;  ///< the one that was found, then others
  bool one = true;                 ///< no other presses differently where contacts bounce
};

/// Contacts that are redundant, or wedged by friction, share an impulse in many ways: a polytope
///
///   G λ = G λc,   λn ≥ 0 where c'n = 0,   λt in μ λn conv D, all of it against a slip c't,
///
/// whose points with the least and the most λn of each contact that bounces linear programs find.
class SharedImpulse {
 public:
  SharedImpulse(const ImpactProblem& problem, const Outcome& compressed)
      : problem_(problem), units_(problem), found_(compressed.impulse) {
    const ImpactProblem& p = units_.problem;
    const int m = p.contacts(), k = p.tangents;
    const VectorXd c = compressed.c_plus / units_.speed;
    const double zero = velocity_tolerance(p);
    ImpactProblem edged = p;
    if (p.circular()) edged.edges = kEdges;
    const Eigen::MatrixXd D = friction_edges(edged);
    normal_.assign(m, -1);
    for (int i = 0; i < m; ++i) {
      if (c[i] > zero) continue;
      const double mu = p.mu[i], share = 1 / (1 + mu);
      normal_[i] = add(VectorXd::Unit(c.size(), i), i, -mu * share);
      if (mu == 0) continue;
      const VectorXd slip = c.segment(p.tangent(i), k);
      const auto push = [&](const VectorXd& direction) {
        VectorXd impulse = VectorXd::Zero(c.size());
        impulse.segment(p.tangent(i), k) = direction;
        add(impulse, i, share);
      };
      if (slip.norm() <= zero) {
        for (Eigen::Index e = 0; e < D.cols(); ++e) push(D.col(e));
        push(VectorXd::Zero(k));  // what is left of the cone
      } else if (p.circular()) {
        push(-slip.normalized());
      } else {
        const VectorXd brakes = -D.transpose() * slip;
        for (Eigen::Index e = 0; e < D.cols(); ++e) {
          if (brakes[e] >= brakes.maxCoeff() - zero) push(D.col(e));
        }
      }
    }
  }

  Compressions corners() const {
    Compressions all{.impulses = {found_}};
    const ImpactProblem& p = units_.problem;
    const auto variables = static_cast<Eigen::Index>(impulses_.size());
    Eigen::MatrixXd S(p.c.size(), variables), A(p.c.size() + p.contacts(), variables);
    for (Eigen::Index j = 0; j < variables; ++j) {
      S.col(j) = impulses_[j];
      A.col(j) << p.G * impulses_[j], cones_[j];
    }
    const VectorXd found = units_.impulse_from(found_);
    const double size = 1 + found.lpNorm<Eigen::Infinity>();
    VectorXd b = VectorXd::Zero(A.rows());
    b.head(p.c.size()) = p.G * found / size;
    for (int i = 0; i < p.contacts(); ++i) {
      if (normal_[i] < 0 || problem_.bounce(i) == 0) continue;
      for (const double sign : {-1.0, 1.0}) {
        const lcp::LinearSolution corner =
            lcp::solve({A, b, sign * VectorXd::Unit(variables, normal_[i])});
        if (corner.status != lcp::LinearStatus::kOptimal) {
          all.one = false;
          continue;
        }
        const VectorXd impulse = units_.impulse_to(size * (S * corner.x));
        const bool known =
            std::any_of(all.impulses.begin(), all.impulses.end(), [&](const VectorXd& other) {
              const VectorXd by = units_.impulse_from(impulse - other).head(p.contacts());
              return by.lpNorm<Eigen::Infinity>() <= kAlike * size;
            });
        if (!known) all.impulses.push_back(impulse);
      }
    }
    all.one = all.one && all.impulses.size() == 1;
    return all;
  }

 private:
  int add(const VectorXd& impulse, int contact, double share) {
    impulses_.push_back(impulse);
    cones_.push_back(share * VectorXd::Unit(problem_.contacts(), contact));
    return static_cast<int>(impulses_.size()) - 1;
  }

  const ImpactProblem& problem_;
  Normalised units_;
  const VectorXd& found_;
  std::vector<VectorXd> impulses_, cones_;  // of each variable: λ, and its part of a cone
  std::vector<int> normal_;                 // variables
};

SimultaneousResult by_poisson(const ImpactProblem& problem, const SimultaneousOptions& options) {
  ImpactProblem plastic = problem;
  plastic.e = {};
  SimultaneousResult result = simultaneous(plastic, options);
  const std::vector<Outcome> compressed = std::move(result.outcomes);
  result.outcomes.clear();
  result.enumerated = result.enumerated && result.continua.empty();
  result.continua.clear();
  // what rounding left in doubt is no compression to go on from
  result.enumerated = result.enumerated && result.borderline.empty();
  result.borderline.clear();
  const Expansion expansion(problem, options);
  for (Outcome outcome : compressed) {
    if (options.stop && options.stop()) break;
    const Compressions alike = SharedImpulse(problem, outcome).corners();
    result.enumerated = result.enumerated && alike.one;
    for (const VectorXd& impulse : alike.impulses) {
      outcome.impulse = impulse;
      const VectorXd given = problem.e.cwiseProduct(impulse.head(problem.contacts()).cwiseMax(0));
      if (given.maxCoeff() == 0) {
        insert_distinct(problem, result.outcomes, outcome);
        continue;
      }
      Expansion::Found found = expansion.from(outcome, given);
      result.enumerated = result.enumerated && found.all && !found.outcomes.empty();
      for (Outcome& after : found.outcomes)
        insert_distinct(problem, result.outcomes, std::move(after));
    }
  }
  return result;
}

SimultaneousResult by_newton(const ImpactProblem& problem, const SimultaneousOptions& options) {
  // in velocities cn + e cn⁻ it is the inelastic law
  ImpactProblem shifted = problem;
  shifted.e = {};
  const VectorXd shift = problem.e.cwiseProduct(problem.c.head(problem.contacts()).cwiseMin(0));
  shifted.c.head(problem.contacts()) += shift;
  SimultaneousResult result = simultaneous(shifted, options);
  for (auto* outcomes : {&result.outcomes, &result.borderline}) {
    for (Outcome& outcome : *outcomes) outcome.c_plus.head(problem.contacts()) -= shift;
  }
  if (result.nothing) result.nothing->best.c_plus.head(problem.contacts()) -= shift;
  return result;
}

}  // namespace

double expansion_residual(const ImpactProblem& problem, const VectorXd& given,
                          const VectorXd& impulse, double speed) {
  const int m = problem.contacts();
  const VectorXd c_plus = problem.c + problem.G * impulse;
  // friction, as in the inelastic law whose normal impulses are right
  ImpactProblem scaled = problem;
  scaled.c.setConstant(speed);
  VectorXd sliding = c_plus;
  sliding.head(m).setZero();
  double worst = violation(scaled, impulse, {}, sliding).size;
  const double noise = rounding(problem, impulse);
  for (int i = 0; i < m; ++i) {
    const double more = problem.G(i, i) * (impulse[i] - given[i]);
    worst = std::max(worst, (std::abs(std::min(more, c_plus[i])) - noise) / speed);
  }
  return worst;
}

SimultaneousResult two_phases(const ImpactProblem& problem, const SimultaneousOptions& options) {
  switch (problem.meaning(Restitution::kPoisson)) {
    case Restitution::kNewton:
      return by_newton(problem, options);
    case Restitution::kStronge:
      throw std::invalid_argument(
          "simultaneous: restitution stronge has no meaning where impulses act at once; take "
          "poisson or newton");
    default:
      return by_poisson(problem, options);
  }
}

}  // namespace routh
