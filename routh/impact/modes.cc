#include "routh/impact/modes.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "routh/impact/precise.h"
#include "routh/impact/same_outcome.h"
#include "routh/lcp/polyhedron.h"
#include "routh/lcp/square_system.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr double kZero = 1e-13;     // a velocity that vanishes, relative to the sums it comes from
constexpr double kDoubtful = 1e-6;  // a residual that rounding alone might have made
constexpr double kRounded = 1e-11;  // rounding of a velocity beyond which 113 bits are worth it
constexpr double kTabulated =
    1e-7;  // smallest pivot of a mode whose zeros are zeros when solved by a product
constexpr double kGain =
    1e-9;  // of energy, by an outcome: more means that G is not what it should be
constexpr double kLarge = 1e3;      // impulses of this size: corners need 113 bits
constexpr double kEnormous = 1e10;  // impulses of this size: the data decide by their last digits

std::vector<ContactMode> contact_modes(const ImpactProblem& problem, int contact, bool bounded) {
  const int edges = static_cast<int>(friction_edges(problem).cols());
  std::vector<ContactMode> modes{{Normal::kOpen, Tangent::kFree}};
  for (const Normal normal : {Normal::kClosed, Normal::kSaturated}) {
    if (normal == Normal::kSaturated && !bounded) continue;
    if (problem.mu[contact] == 0) {
      modes.push_back({normal, Tangent::kFree});
      continue;
    }
    modes.push_back({normal, Tangent::kStick});
    for (int e = edges - 1; e >= 0; --e) modes.push_back({normal, Tangent::kSlip, e});
    for (int e = 0; e < edges && problem.tangents > 1; ++e)
      modes.push_back({normal, Tangent::kTurn, e});
  }
  return modes;
}

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

std::vector<Modes> all_modes(const ImpactProblem& problem, bool bounded) {
  std::vector<Modes> all{{}};
  for (int i = 0; i < problem.contacts(); ++i) {
    std::vector<Modes> longer;
    for (const Modes& modes : all) {
      for (const ContactMode& mode : contact_modes(problem, i, bounded)) {
        longer.push_back(modes);
        longer.back().push_back(mode);
      }
    }
    all = std::move(longer);
  }
  return all;
}

double count_modes(const ImpactProblem& problem, bool bounded) {
  double count = 1;
  for (int i = 0; i < problem.contacts(); ++i)
    count *= static_cast<double>(contact_modes(problem, i, bounded).size());
  return count;
}

ModeSystem mode_system(const ImpactProblem& problem, const Modes& modes, bool bounded) {
  const int m = problem.contacts(), tangents = problem.tangents;
  const int size = (1 + tangents) * m, data = size + m;  // of c and of x
  const MatrixXd D = friction_edges(problem);
  const int edges = static_cast<int>(D.cols());
  // how much more one edge brakes than another, per unit of their distance
  const auto between = [&](int e, int f) -> RowVectorXd {
    return (D.col(f) - D.col(e)).normalized().transpose();
  };

  // which impulses are unknown (columns) and which velocities vanish (rows over c)
  ModeSystem s;
  std::vector<VectorXd> columns;
  std::vector<RowVectorXd> vanish;
  s.P = MatrixXd::Zero(size, data);
  for (int i = 0; i < m; ++i) {
    const auto [normal, tangent, e] = modes[i];
    const int t = problem.tangent(i);
    if (normal == Normal::kOpen) continue;
    VectorXd push = VectorXd::Unit(size, i);  // impulse per unit of normal impulse
    if (tangent == Tangent::kSlip || tangent == Tangent::kTurn)
      push.segment(t, tangents) = problem.mu[i] * D.col(e);
    if (normal == Normal::kClosed) {
      columns.push_back(push);
      vanish.push_back(RowVectorXd::Unit(size, i));
      s.zeros.push_back(i);
    } else {
      s.P.col(size + i) = push;
    }
    if (tangent == Tangent::kStick) {
      for (int k = 0; k < tangents; ++k) {
        columns.push_back(VectorXd::Unit(size, t + k));
        vanish.push_back(RowVectorXd::Unit(size, t + k));
        s.zeros.push_back(t + k);
      }
    }
    if (tangent == Tangent::kTurn) {
      VectorXd turn = VectorXd::Zero(size);
      turn.segment(t, tangents) = between(e, (e + 1) % edges).transpose();
      columns.push_back(turn);
      vanish.push_back(turn.transpose());
    }
  }
  const int k = static_cast<int>(columns.size());
  s.S.resize(size, k);
  s.Z.resize(k, size);
  for (int j = 0; j < k; ++j) s.S.col(j) = columns[j], s.Z.row(j) = vanish[j];

  // c' = Cu u + Cx x
  MatrixXd Cx = problem.G * s.P;
  Cx.leftCols(size) += MatrixXd::Identity(size, size);
  const MatrixXd Cu = problem.G * s.S;
  s.K = s.Z * Cu;
  s.R = s.Z * Cx;

  // inequalities; those that reject most come first
  std::vector<RowVectorXd> Fu, Fx;
  const auto require = [&](const RowVectorXd& u, const RowVectorXd& x) {
    Fu.push_back(u);
    Fx.push_back(x);
  };
  for (int i = 0; i < m; ++i) {
    const auto [normal, tangent, e] = modes[i];
    const int t = problem.tangent(i), next = (e + 1) % edges;
    const double mu = problem.mu[i];
    const auto ct = [&](const RowVectorXd& row) {
      require(row * Cu.middleRows(t, tangents), row * Cx.middleRows(t, tangents));
    };
    // factor μ λn + row λt ≥ 0
    const auto friction = [&](double factor, const RowVectorXd& row) {
      require(factor * mu * s.S.row(i) + row * s.S.middleRows(t, tangents),
              factor * mu * s.P.row(i) + row * s.P.middleRows(t, tangents));
    };
    if (normal == Normal::kOpen) require(Cu.row(i), Cx.row(i));
    if (normal == Normal::kSaturated) require(-Cu.row(i), -Cx.row(i));
    if (tangent == Tangent::kSlip) {
      ct(between(e, next));
      if (edges > 2) ct(between(e, (e + edges - 1) % edges));
    }
    if (tangent == Tangent::kTurn) ct(-(D.col(e) + D.col(next)).transpose());
    if (normal == Normal::kClosed) {
      require(s.S.row(i), s.P.row(i));
      if (bounded) require(-s.S.row(i), RowVectorXd::Unit(data, size + i) - s.P.row(i));
    }
    if (tangent == Tangent::kStick && tangents == 1) {
      for (const double sign : {1.0, -1.0}) friction(1, RowVectorXd::Constant(1, sign));
    }
    if (tangent == Tangent::kStick && tangents == 2) {
      for (int f = 0; f < edges; ++f) {
        const RowVectorXd out = 0.5 * (D.col(f) + D.col((f + 1) % edges)).transpose();
        friction(out.squaredNorm(), -out);
      }
    }
    if (tangent == Tangent::kTurn) {
      const RowVectorXd along = between(e, next);
      friction(-along.dot(D.col(e)), along);
      friction(along.dot(D.col(next)), -along);
    }
  }
  s.Fu.resize(static_cast<int>(Fu.size()), k);
  s.Fx.resize(static_cast<int>(Fx.size()), data);
  for (std::size_t r = 0; r < Fu.size(); ++r) s.Fu.row(r) = Fu[r], s.Fx.row(r) = Fx[r];
  return s;
}

StepOutcomes enumerate_modes(const ImpactProblem& given, const VectorXd& lambda_max,
                             double tolerance, const std::function<bool()>& stop) {
  const Normalised normalised(given);
  const ImpactProblem& problem = normalised.problem;
  const int m = problem.contacts();
  const bool bounded = lambda_max.size() > 0;
  const VectorXd bound = normalised.impulse_from(lambda_max);
  VectorXd x(problem.c.size() + m);
  x << problem.c, (bounded ? bound : VectorXd::Zero(m));

  StepOutcomes result;
  for (const Modes& modes : all_modes(problem, bounded)) {
    if (stop && stop()) {
      result.stopped = true;
      break;
    }
    const ModeSystem s = mode_system(problem, modes, bounded);
    const lcp::SquareSystem system = equations(problem, s);
    // one point where K is regular, the corners of a polyhedron where it is not
    std::vector<Outcome> candidates;
    bool decided = true;
    const auto consider = [&](const std::optional<Outcome>& outcome, double certain,
                              double possible) {
      if (!outcome || outcome->residual > possible) return;
      decided = decided && outcome->residual <= certain &&
                outcome->impulse.lpNorm<Eigen::Infinity>() < kEnormous;
      candidates.push_back(*outcome);
    };
    if (system.pivot() > lcp::kSafe) {
      const std::optional<Outcome> outcome =
          outcome_of(problem, s, x, system.solve(-s.R * x), bound);
      // what rounding may have made is looked at again
      if (!outcome || rounding(problem, outcome->impulse) > kRounded ||
          (outcome->residual > lcp::kConsistent && outcome->residual <= kDoubtful)) {
        consider(precise_outcome(problem, s, x, bound), lcp::kConsistent, tolerance);
      } else {
        consider(outcome, tolerance, tolerance);
      }
    } else if (system.pivot() > lcp::kSingular) {
      consider(precise_outcome(problem, s, x, bound), lcp::kConsistent, tolerance);
    } else {
      const VectorXd size = VectorXd::Ones(s.K.rows()) +
                            s.Z.cwiseAbs() * (problem.G.cwiseAbs() * (s.P * x).cwiseAbs());
      const auto [u, kernel, defect] = system.solve_singular(-s.R * x, size);
      if (defect > lcp::kInconsistent) continue;
      decided = defect <= lcp::kConsistent;
      const lcp::Corners all = lcp::corners(u, kernel, s.Fu, s.Fx * x, tolerance);
      for (std::size_t k = 0; k < all.x.size(); ++k) {
        const VectorXd& corner = all.x[k];
        if (decided && u.lpNorm<Eigen::Infinity>() > kLarge) {
          // zeros that only the last digits of G deny are neither confirmed nor excluded
          const std::optional<Outcome> precise = precise_corner(problem, s, x, all.tight[k], bound);
          const double rounded = precise ? rounding(problem, precise->impulse) : 0;
          consider(precise, kRounded, std::max(tolerance, rounded));
        } else if (decided) {
          consider(outcome_of(problem, s, x, corner, bound), tolerance, tolerance);
        } else {
          Outcome outcome{.impulse = s.S * corner + s.P * x, .c_plus = {}, .residual = defect};
          outcome.c_plus = problem.c + problem.G * outcome.impulse;
          outcome.c_plus(s.zeros).setZero();  // what the mode claims
          candidates.push_back(std::move(outcome));
        }
      }
    }

    std::vector<int> piece;
    for (Outcome& outcome : candidates) {
      outcome = denormalised(normalised, std::move(outcome));
      decided = decided && energy_gain(given, outcome) <= kGain;
    }
    for (Outcome& outcome : candidates)
      piece.push_back(insert_distinct(given, decided ? result.outcomes : result.borderline,
                                      std::move(outcome)));
    if (!decided) continue;
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

std::optional<MatrixXd> free_impulses(const ImpactProblem& problem, const ModeSystem& s) {
  const lcp::SquareSystem system = equations(problem, s);
  if (!(system.pivot() > kTabulated)) return {};
  return -system.solve(s.R);
}

ModeTable::ModeTable(const ImpactProblem& problem) : given_(problem), normalised_(problem) {
  const ImpactProblem& p = normalised_.problem;
  for (const Modes& modes : all_modes(p, true)) {
    ModeSystem s = mode_system(p, modes, true);
    const std::optional<MatrixXd> U = free_impulses(p, s);
    if (!U) continue;
    entries_.push_back({s.Fu * *U + s.Fx, s.S * *U + s.P, std::move(s.zeros)});
    MatrixXd size = entries_.back().F.cwiseAbs().rowwise().maxCoeff();
    for (int r = 0; r < size.rows(); ++r) {
      if (size(r) > 1e-13) entries_.back().F.row(r) /= size(r);
    }
  }
}

std::vector<Outcome> ModeTable::solve(const VectorXd& c, const VectorXd& lambda_max,
                                      double tolerance) const {
  ImpactProblem at = normalised_.problem;
  at.c = c / normalised_.speed;
  const VectorXd bound = normalised_.impulse_from(lambda_max);
  VectorXd x(c.size() + bound.size());
  x << at.c, bound;
  const double slack = 1e-9 * x.lpNorm<Eigen::Infinity>();
  std::vector<Outcome> outcomes;
  for (const Entry& entry : entries_) {
    bool holds = true;
    for (int r = 0; r < entry.F.rows() && holds; ++r) holds = entry.F.row(r).dot(x) >= -slack;
    if (!holds) continue;
    Outcome outcome{.impulse = entry.impulse * x, .c_plus = {}};
    outcome.residual = residual(at, outcome.impulse, bound);
    if (outcome.residual > tolerance) continue;
    outcome.c_plus = at.c + at.G * outcome.impulse;
    // velocities that the mode makes zero are exactly zero, if they are
    if (!(outcome.c_plus(entry.zeros).cwiseAbs().array() <= slack).all()) continue;
    outcome.c_plus(entry.zeros).setZero();
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
