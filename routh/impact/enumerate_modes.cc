#include <algorithm>
#include <cmath>
#include <optional>

#include "routh/impact/modes.h"
#include "routh/impact/precise.h"
#include "routh/impact/same_outcome.h"
#include "routh/lcp/polyhedron.h"
#include "routh/lcp/square_system.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kZero = 1e-13;     // a velocity that vanishes, relative to the sums it comes from
constexpr double kDoubtful = 1e-6;  // a residual that rounding alone might have made
constexpr double kRounded = 1e-11;  // rounding of a velocity beyond which 113 bits are worth it
constexpr double kGain = 1e-9;      // of energy, by an outcome: G is not what it should be
constexpr double kLarge = 1e3;      // impulses of this size: corners need 113 bits
constexpr double kEnormous = 1e10;  // impulses of this size: the data decide by their last digits

/// The equations of a mode, in units where velocities and mobilities are of order one.
lcp::SquareSystem equations(const ImpactProblem& problem, const ModeSystem& s) {
  return {s.K, s.Z.cwiseAbs() * (problem.G.cwiseAbs() * s.S.cwiseAbs())};
}

/// What the free impulses u of a mode make of the data x: nothing unless every velocity that the
/// mode asks to vanish does.
std::optional<Outcome> outcome_of(const ImpactProblem& problem, const ModeSystem& s,
                                  const VectorXd& x, const VectorXd& u,
                                  const VectorXd& lambda_max) {
  Outcome outcome{.impulse = s.S * u + s.P * x, .c_plus = {}};
  outcome.c_plus = problem.c + problem.G * outcome.impulse;
  const VectorXd terms = problem.G.cwiseAbs() * outcome.impulse.cwiseAbs();
  const VectorXd left = s.Z * outcome.c_plus, sum = s.Z.cwiseAbs() * terms;
  for (Eigen::Index r = 0; r < left.size(); ++r) {
    if (!(std::abs(left[r]) <= kZero * (1 + sum[r]))) return {};
  }
  outcome.c_plus(s.zeros).setZero();
  outcome.residual = violation(problem, outcome.impulse, lambda_max).size;
  return outcome;
}

}  // namespace

ModeSolutions solve_mode(const ImpactProblem& problem, const ContactModes& modes,
                         const VectorXd& bound, double tolerance, double most_corners) {
  const bool bounded = bound.size() > 0;
  VectorXd x(problem.c.size() + problem.contacts());
  x << problem.c, (bounded ? bound : VectorXd::Zero(problem.contacts()));
  const ModeSystem s = mode_system(problem, modes, bounded);
  const lcp::SquareSystem system = equations(problem, s);
  ModeSolutions result;
  const auto consider = [&](const std::optional<Outcome>& outcome, double certain,
                            double possible) {
    if (!outcome || outcome->residual > possible) return;
    result.decided = result.decided && outcome->residual <= certain &&
                     outcome->impulse.lpNorm<Eigen::Infinity>() < kEnormous;
    result.outcomes.push_back(*outcome);
  };
  if (system.pivot() > lcp::kSafe) {
    const std::optional<Outcome> outcome = outcome_of(problem, s, x, system.solve(-s.R * x), bound);
    // what rounding may have made is looked at again
    if (!outcome || rounding(problem, outcome->impulse) > kRounded ||
        (outcome->residual > lcp::kConsistent && outcome->residual <= kDoubtful)) {
      consider(precise_outcome(problem, s, x, bound), lcp::kConsistent, tolerance);
    } else {
      consider(outcome, tolerance, tolerance);
    }
    return result;
  }
  if (system.pivot() > lcp::kSingular) {
    consider(precise_outcome(problem, s, x, bound), lcp::kConsistent, tolerance);
    return result;
  }

  // singular: the corners of a polyhedron, if there is one
  const VectorXd size =
      VectorXd::Ones(s.K.rows()) + s.Z.cwiseAbs() * (problem.G.cwiseAbs() * (s.P * x).cwiseAbs());
  const auto [u, kernel, defect] = system.solve_singular(-s.R * x, size);
  if (defect > lcp::kInconsistent) {
    // regular perhaps: as G is given it has a solution, its last digits may deny it
    if (system.pivot() > lcp::kNoise)
      consider(precise_outcome(problem, s, x, bound), -1, tolerance);
    return result;
  }
  const bool consistent = defect <= lcp::kConsistent;
  result.decided = consistent;
  result.all = lcp::count_subsets(s.Fu.rows(), kernel.cols()) <= most_corners;
  if (!result.all) return result;
  const lcp::Corners all = lcp::corners(u, kernel, s.Fu, s.Fx * x, tolerance);
  for (std::size_t k = 0; k < all.x.size(); ++k) {
    const VectorXd& corner = all.x[k];
    if (result.decided && u.lpNorm<Eigen::Infinity>() > kLarge) {
      // zeros that only the last digits of G deny are neither confirmed nor excluded
      const std::optional<Outcome> precise = precise_corner(problem, s, x, all.tight[k], bound);
      const double rounded = precise ? rounding(problem, precise->impulse) : 0;
      consider(precise, kRounded, std::max(tolerance, rounded));
    } else if (result.decided) {
      consider(outcome_of(problem, s, x, corner, bound), tolerance, tolerance);
    } else {
      Outcome outcome{.impulse = s.S * corner + s.P * x, .c_plus = {}, .residual = defect};
      outcome.c_plus = problem.c + problem.G * outcome.impulse;
      outcome.c_plus(s.zeros).setZero();  // what the mode claims
      result.outcomes.push_back(std::move(outcome));
    }
  }
  return result;
}

StepOutcomes enumerate_modes(const ImpactProblem& given, const VectorXd& lambda_max,
                             double tolerance, const std::function<bool()>& stop) {
  const Normalised normalised(given);
  const VectorXd bound = normalised.impulse_from(lambda_max);
  StepOutcomes result;
  for (const ContactModes& modes : all_modes(given, lambda_max.size() > 0)) {
    if (stop && stop()) {
      result.stopped = true;
      break;
    }
    ModeSolutions found = solve_mode(normalised.problem, modes, bound, tolerance);
    for (Outcome& outcome : found.outcomes) {
      outcome = denormalised(normalised, std::move(outcome));
      found.decided = found.decided && energy_gain(given, outcome) <= kGain;
    }
    std::vector<int> piece;
    for (Outcome& outcome : found.outcomes)
      piece.push_back(insert_distinct(given, found.decided ? result.outcomes : result.borderline,
                                      std::move(outcome)));
    if (!found.decided) continue;
    std::sort(piece.begin(), piece.end());
    piece.erase(std::unique(piece.begin(), piece.end()), piece.end());
    if (piece.size() > 1) result.continua.push_back(std::move(piece));
  }
  // what another mode decides is not in doubt
  std::erase_if(result.borderline, [&](const Outcome& doubtful) {
    return std::any_of(result.outcomes.begin(), result.outcomes.end(), [&](const Outcome& o) {
      return same_outcome(given, o.c_plus, doubtful.c_plus);
    });
  });
  return result;
}

std::optional<RegularMode> regular_mode(const ImpactProblem& problem, const ContactModes& modes) {
  ModeSystem s = mode_system(problem, modes, true);
  const lcp::SquareSystem system = equations(problem, s);
  // zeros must be zeros when solved by a product
  if (!(system.pivot() > lcp::kSafe)) return {};
  const MatrixXd U = -system.solve(s.R);
  const MatrixXd F = s.Fu * U + s.Fx;
  const VectorXd size = F.cwiseAbs().rowwise().maxCoeff();
  std::vector<int> rows;
  for (int r = 0; r < F.rows(); ++r) {
    if (size[r] >= 1e-13) rows.push_back(r);
  }
  return RegularMode{size(rows).cwiseInverse().asDiagonal() * F(rows, Eigen::all), s.S * U + s.P,
                     std::move(s.zeros)};
}

std::vector<RegularMode> regular_modes(const ImpactProblem& problem,
                                       const std::function<bool()>& stop) {
  std::vector<RegularMode> regular;
  for (const ContactModes& modes : all_modes(problem, true)) {
    if (stop && stop()) break;
    if (std::optional<RegularMode> mode = regular_mode(problem, modes))
      regular.push_back(*std::move(mode));
  }
  return regular;
}

ModeTable::ModeTable(const ImpactProblem& problem)
    : given_(problem), normalised_(problem), modes_(regular_modes(normalised_.problem)) {}

std::vector<Outcome> ModeTable::solve(const VectorXd& c, const VectorXd& lambda_max,
                                      double tolerance) const {
  ImpactProblem at = normalised_.problem;
  at.c = c / normalised_.speed;
  const VectorXd bound = normalised_.impulse_from(lambda_max);
  VectorXd x(c.size() + bound.size());
  x << at.c, bound;
  const double slack = 1e-9 * x.lpNorm<Eigen::Infinity>();
  std::vector<Outcome> outcomes;
  for (const RegularMode& mode : modes_) {
    bool holds = true;
    for (int r = 0; r < mode.F.rows() && holds; ++r) holds = mode.F.row(r).dot(x) >= -slack;
    if (!holds) continue;
    Outcome outcome{.impulse = mode.impulse * x, .c_plus = {}};
    outcome.residual = residual(at, outcome.impulse, bound);
    if (outcome.residual > tolerance) continue;
    outcome.c_plus = at.c + at.G * outcome.impulse;
    // velocities that the mode makes zero are exactly zero, if they are
    if (!(outcome.c_plus(mode.zeros).cwiseAbs().array() <= slack).all()) continue;
    outcome.c_plus(mode.zeros).setZero();
    insert_distinct(given_, outcomes, denormalised(normalised_, std::move(outcome)));
  }
  if (outcomes.empty()) {
    ImpactProblem given = given_;
    given.c = c;
    outcomes = enumerate_modes(given, lambda_max, tolerance).outcomes;
  }
  return outcomes;
}

}  // namespace routh
