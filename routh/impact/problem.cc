#include "routh/impact/problem.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "routh/impact/same_outcome.h"
#include "routh/lcp/square_system.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The direction at the angle π part/whole, 0 ≤ part < 2 whole. Directions that mirror each other
/// at an axis or a diagonal do so exactly: what two edges have in common cancels in their
/// difference.
static std::pair<double, double> on_circle(int part, int whole) {
  const bool below = part > whole;
  if (below) part = 2 * whole - part;
  const bool behind = 2 * part > whole;
  if (behind) part = whole - part;
  const bool steep = 4 * part > whole;
  const double angle = steep ? M_PI * (whole - 2 * part) / (2 * whole) : M_PI * part / whole;
  double x = std::cos(angle), y = std::sin(angle);
  if (4 * part == whole) x = y = M_SQRT1_2;
  if (steep) std::swap(x, y);
  return {behind ? -x : x, below ? -y : y};
}

MatrixXd friction_edges(const ImpactProblem& problem) {
  if (problem.tangents == 1) return Eigen::RowVector2d(1, -1);
  if (problem.circular())
    throw std::invalid_argument(
        "impact problem: edges is 0, a circular cone; this needs a polygon");
  MatrixXd D(2, problem.edges);
  for (int e = 0; e < problem.edges; ++e) {
    const auto [x, y] = on_circle(2 * e, problem.edges);
    D.col(e) << x, y;
  }
  return D;
}

/// Beyond it mu times rounding is a force.
static constexpr double kMostFriction = 1e12;
/// Of c and G; products of larger ones are no numbers.
static constexpr double kLargest = 1e100;

void validate(const ImpactProblem& problem, bool symmetric) {
  const int m = problem.contacts(), size = (1 + problem.tangents) * m;
  const auto fail = [](const std::string& what) {
    throw std::invalid_argument("impact problem: " + what);
  };
  if (problem.tangents != 1 && problem.tangents != 2)
    fail("tangents is " + std::to_string(problem.tangents) + "; it must be 1 or 2");
  if (problem.tangents == 2 && problem.edges != 0 && (problem.edges < 3 || problem.edges > 64))
    fail("edges is " + std::to_string(problem.edges) +
         "; it must be between 3 and 64, or 0 for a circular cone");
  if (m == 0) fail("mu is empty; there must be at least one contact");
  if (problem.G.rows() != size || problem.G.cols() != size) {
    fail("G is " + std::to_string(problem.G.rows()) + " x " + std::to_string(problem.G.cols()) +
         "; with " + std::to_string(m) + " contacts it must be " + std::to_string(size) +
         " square");
  }
  if (problem.c.size() != size) {
    fail("c has " + std::to_string(problem.c.size()) + " entries; it must have " +
         std::to_string(size));
  }
  if (!problem.G.allFinite()) fail("G has an entry that is not finite");
  if (!problem.c.allFinite()) fail("c has an entry that is not finite");
  if (problem.c.cwiseAbs().maxCoeff() > kLargest)
    fail("c has an entry above 1e100; use other units");
  if (problem.G.cwiseAbs().maxCoeff() > kLargest)
    fail("G has an entry above 1e100; use other units");
  if ((problem.G.diagonal().array() > 0 && problem.G.diagonal().array() < 1 / kLargest).any())
    fail("G has an entry below 1e-100 on its diagonal; use other units");
  if (!problem.mu.allFinite()) fail("mu has an entry that is not finite");
  if (problem.mu.minCoeff() < 0) fail("mu has a negative entry; friction cannot be negative");
  if (problem.mu.maxCoeff() > kMostFriction)
    fail("mu has an entry above 1e12; with 1e6 nothing slides either");
  if (problem.e.size() != 0 && problem.e.size() != m)
    fail("e has " + std::to_string(problem.e.size()) + " entries; it must have " +
         std::to_string(m) + ", or none");
  for (Eigen::Index i = 0; i < problem.e.size(); ++i) {
    if (!(problem.e[i] >= 0 && problem.e[i] <= 1))
      fail("e[" + std::to_string(i) + "] is " + std::to_string(problem.e[i]) +
           "; a coefficient of restitution must be between 0 and 1");
  }
  // symmetric and, as far as two rows tell, not negative; relative to the rows themselves
  for (int i = 0; i < size; ++i) {
    if (problem.G(i, i) < 0) fail("G has a negative entry on its diagonal");
    for (int k = 0; k < i && symmetric; ++k) {
      const double most = std::sqrt(problem.G(i, i)) * std::sqrt(problem.G(k, k));
      if (std::abs(problem.G(i, k) - problem.G(k, i)) > 1e-9 * most) fail("G is not symmetric");
      if (std::abs(problem.G(i, k)) > (1 + 1e-9) * most)
        fail("G is not positive semi-definite: rows " + std::to_string(i) + " and " +
             std::to_string(k) + " contradict each other");
    }
  }
}

std::string_view to_string(Restitution restitution) {
  switch (restitution) {
    case Restitution::kByLaw:
      return "by law";
    case Restitution::kNewton:
      return "newton";
    case Restitution::kPoisson:
      return "poisson";
    case Restitution::kStronge:
      return "stronge";
  }
  return "unknown";
}

std::string_view to_string(ContactState state) {
  switch (state) {
    case ContactState::kApproaching:
      return "approaches";
    case ContactState::kSeparating:
      return "separates";
    case ContactState::kSticking:
      return "sticks";
    case ContactState::kSlidingPositive:
      return "slides+";
    case ContactState::kSlidingNegative:
      return "slides-";
    case ContactState::kSliding:
      return "slides";
  }
  return "unknown";
}

double velocity_tolerance(const ImpactProblem& problem) {
  return 1e-9 * problem.c.lpNorm<Eigen::Infinity>();
}
double same_velocity(const ImpactProblem& problem) { return 10 * velocity_tolerance(problem); }

std::vector<ContactState> contact_states(const ImpactProblem& problem, const VectorXd& c) {
  const double zero = velocity_tolerance(problem);
  std::vector<ContactState> states;
  for (int i = 0; i < problem.contacts(); ++i) {
    const double normal = c[i], tangential = c[problem.tangent(i)];
    if (normal < -zero) {
      states.push_back(ContactState::kApproaching);
    } else if (normal > zero) {
      states.push_back(ContactState::kSeparating);
    } else if (c.segment(problem.tangent(i), problem.tangents).norm() <= zero) {
      states.push_back(ContactState::kSticking);
    } else {
      states.push_back(problem.tangents > 1 ? ContactState::kSliding
                       : tangential > 0     ? ContactState::kSlidingPositive
                                            : ContactState::kSlidingNegative);
    }
  }
  return states;
}

bool colliding(const ImpactProblem& problem, const VectorXd& c) {
  return c.head(problem.contacts()).minCoeff() < -velocity_tolerance(problem);
}

std::string_view to_string(Quantity quantity) {
  switch (quantity) {
    case Quantity::kNothing:
      return "nothing";
    case Quantity::kNormalImpulse:
      return "normal impulse";
    case Quantity::kNormalVelocity:
      return "normal velocity";
    case Quantity::kFriction:
      return "friction";
    case Quantity::kSlip:
      return "slip";
  }
  return "unknown";
}

namespace {

/// Velocity that a unit of normal impulse gives to its own contact, as a power of two; for a
/// contact that cannot move in its normal direction some other of G's diagonal.
VectorXd mobilities(const ImpactProblem& problem) {
  const double largest = problem.G.diagonal().maxCoeff();
  VectorXd mobility(problem.contacts());
  for (int i = 0; i < problem.contacts(); ++i) {
    const double tangential =
        problem.G.diagonal().segment(problem.tangent(i), problem.tangents).maxCoeff();
    const double normal = problem.G(i, i);
    mobility[i] = lcp::power_of_two(normal > 0 ? normal : tangential > 0 ? tangential : largest);
  }
  return mobility;
}

/// The point of μ λn conv D nearest to x, `size` = μ λn.
Eigen::Vector2d nearest_friction(const Eigen::Vector2d& x, double size, int edges) {
  if (edges == 0) return x.norm() <= size ? x : Eigen::Vector2d(size / x.norm() * x);
  // the edge of the polygon that x lies over
  const double turn = 2 * M_PI / edges;
  const double middle = (std::floor(std::atan2(x.y(), x.x()) / turn) + 0.5) * turn;
  const Eigen::Vector2d out(std::cos(middle), std::sin(middle)), along(-out.y(), out.x());
  const double excess = x.dot(out) - size * std::cos(turn / 2);
  if (excess <= 0) return x;
  const double reach = size * std::sin(turn / 2);
  return size * std::cos(turn / 2) * out + std::clamp(x.dot(along), -reach, reach) * along;
}

}  // namespace

Normalised::Normalised(const ImpactProblem& given) : problem(given) {
  const double largest = given.c.lpNorm<Eigen::Infinity>();
  speed = lcp::power_of_two(largest);
  unit = speed * mobilities(given).cwiseInverse();
  problem.c /= speed;
  for (int i = 0; i < given.contacts(); ++i) {
    problem.G.col(i) *= unit[i] / speed;
    problem.G.middleCols(given.tangent(i), given.tangents) *= unit[i] / speed;
  }
}

VectorXd Normalised::impulse_from(const VectorXd& impulse) const {
  VectorXd normalised = impulse;
  const int m = problem.contacts();
  normalised.head(impulse.size() ? m : 0).array() /= unit.head(impulse.size() ? m : 0).array();
  for (int i = 0; i < m && impulse.size() > m; ++i)
    normalised.segment(problem.tangent(i), problem.tangents) /= unit[i];
  return normalised;
}

VectorXd Normalised::impulse_to(const VectorXd& normalised) const {
  VectorXd impulse = normalised;
  const int m = problem.contacts();
  impulse.head(m).array() *= unit.array();
  for (int i = 0; i < m; ++i) impulse.segment(problem.tangent(i), problem.tangents) *= unit[i];
  return impulse;
}

Outcome denormalised(const Normalised& units, Outcome outcome) {
  outcome.impulse = units.impulse_to(outcome.impulse);
  outcome.c_plus *= units.speed;
  return outcome;
}

namespace {

/// The same, row by row.
VectorXd roundings(const ImpactProblem& problem, const VectorXd& impulse) {
  return 4 * std::numeric_limits<double>::epsilon() *
         (problem.c.cwiseAbs() + problem.G.cwiseAbs() * impulse.cwiseAbs());
}

}  // namespace

double rounding(const ImpactProblem& problem, const VectorXd& impulse) {
  return roundings(problem, impulse).maxCoeff();
}

int insert_distinct(const ImpactProblem& problem, std::vector<Outcome>& outcomes,
                    Outcome candidate) {
  const double own = rounding(problem, candidate.impulse);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!same_outcome(problem, outcomes[i].c_plus, candidate.c_plus, own) &&
        !same_outcome(problem, outcomes[i].c_plus, candidate.c_plus,
                      own + rounding(problem, outcomes[i].impulse)))
      continue;
    if (candidate.residual < outcomes[i].residual) outcomes[i] = std::move(candidate);
    return static_cast<int>(i);
  }
  outcomes.push_back(std::move(candidate));
  return static_cast<int>(outcomes.size()) - 1;
}

namespace {

/// The violation as a sum of a known c⁺ with rounding errors up to `rounding`, row by row.
Violation violation_within(const ImpactProblem& problem, const VectorXd& lambda,
                           const VectorXd& lambda_max, const VectorXd& c_plus,
                           const VectorXd& rounding) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kTrusted = 1e-6;  // rounding above this proves nothing
  double scale = problem.c.lpNorm<Eigen::Infinity>();
  const VectorXd mobility = mobilities(problem);
  if (scale == 0)
    scale = (mobility.cwiseProduct(lambda.head(problem.contacts()))).cwiseAbs().maxCoeff();
  if (scale == 0) scale = 1;
  Violation worst;
  if (!lambda.allFinite() || !c_plus.allFinite()) return {kInfinity, Quantity::kNormalImpulse, 0};
  const auto note = [&](Quantity of, int contact, double size, double noise) {
    const bool known = std::isfinite(size) && std::isfinite(noise);
    const double counted =
        known ? std::max(0.0, std::abs(size) - noise) + (noise > kTrusted * scale ? noise : 0)
              : kInfinity;
    if (!(counted / scale <= worst.size)) worst = {counted / scale, of, contact};
  };

  for (int i = 0; i < problem.contacts(); ++i) {
    const int t = problem.tangent(i);
    const double g = mobility[i], load = g * lambda[i];
    const double bound = lambda_max.size() ? g * lambda_max[i] : kInfinity;
    // λn - proj(λn - cn⁺), without the detour where the answer is cn⁺ itself
    const double wanted = load - c_plus[i];
    if (wanted < 0) {
      note(Quantity::kNormalImpulse, i, load, 0);
    } else if (wanted > bound) {
      note(Quantity::kNormalImpulse, i, load - bound, 1e-15 * bound);
    } else {
      note(Quantity::kNormalVelocity, i, c_plus[i], rounding[i]);
    }

    // of what friction moves, too
    const double tangential = problem.G.diagonal().segment(t, problem.tangents).maxCoeff();
    const double gt = tangential > g ? lcp::power_of_two(tangential) : g;
    const double cone = problem.mu[i] * std::max(0.0, gt * lambda[i]);
    const auto friction = gt * lambda.segment(t, problem.tangents);
    const auto slip = c_plus.segment(t, problem.tangents);
    const double noise = rounding.segment(t, problem.tangents).maxCoeff();
    double beyond = 0;
    bool inside = false;
    if (problem.tangents == 1) {
      const double x = friction[0] - slip[0];
      inside = std::abs(x) <= cone;
      beyond = friction[0] - std::copysign(cone, x);
    } else {
      const Eigen::Vector2d x = friction - slip;
      const Eigen::Vector2d allowed = nearest_friction(x, cone, problem.edges);
      inside = allowed == x;
      beyond = (friction - allowed).lpNorm<Eigen::Infinity>();
    }
    if (inside) {
      note(Quantity::kSlip, i, slip.template lpNorm<Eigen::Infinity>(), noise);
    } else {
      note(Quantity::kFriction, i, beyond, 4e-15 * cone + (problem.tangents > 1 ? noise : 0));
    }
  }
  return worst;
}

}  // namespace

Violation violation(const ImpactProblem& problem, const VectorXd& lambda,
                    const VectorXd& lambda_max) {
  const VectorXd c_plus = problem.c + problem.G * lambda;
  return violation_within(problem, lambda, lambda_max, c_plus, roundings(problem, lambda));
}

Violation violation(const ImpactProblem& problem, const VectorXd& lambda,
                    const VectorXd& lambda_max, const VectorXd& c_plus) {
  return violation_within(problem, lambda, lambda_max, c_plus, VectorXd::Zero(c_plus.size()));
}

double energy_gain(const ImpactProblem& problem, const Outcome& outcome) {
  const VectorXd both = problem.c + outcome.c_plus;
  const VectorXd rounding =
      problem.c.cwiseAbs() + problem.G.cwiseAbs() * outcome.impulse.cwiseAbs();
  const double terms = outcome.impulse.cwiseAbs().dot(both.cwiseAbs() + 1e-5 * rounding);
  return terms > 0 ? std::max(0.0, outcome.impulse.dot(both) / terms) : 0;
}

double residual(const ImpactProblem& problem, const VectorXd& lambda, const VectorXd& lambda_max) {
  return violation(problem, lambda, lambda_max).size;
}

lcp::Problem simultaneous_lcp(const ImpactProblem& problem) {
  const MatrixXd D = friction_edges(problem);
  const int m = problem.contacts(), k = static_cast<int>(D.cols()), rows = (1 + k) * m;
  // λ = B [λn; λD] and [cn; J_D v] = Bᵀ c
  MatrixXd B = MatrixXd::Zero(problem.c.size(), rows);
  for (int i = 0; i < m; ++i) {
    B(i, i) = 1;
    B.block(problem.tangent(i), m + k * i, problem.tangents, k) = D;
  }
  lcp::Problem lcp{.W = MatrixXd::Zero(rows + m, rows + m), .w = VectorXd::Zero(rows + m)};
  lcp.W.topLeftCorner(rows, rows) = B.transpose() * problem.G * B;
  lcp.w.head(rows) = B.transpose() * problem.c;
  // 0 ≤ γ ⊥ μ λn - 1ᵀ λD ≥ 0, P1 (33)
  for (int i = 0; i < m; ++i) {
    lcp.W(rows + i, i) = problem.mu[i];
    lcp.W.block(rows + i, m + k * i, 1, k).setConstant(-1);
    lcp.W.block(m + k * i, rows + i, k, 1).setConstant(1);
  }
  return lcp;
}

lcp::Problem step_lcp(const ImpactProblem& problem, const VectorXd& lambda_max) {
  const int m = problem.contacts();
  const lcp::Problem inner = simultaneous_lcp(problem);
  const int n = inner.size();
  lcp::Problem lcp{.W = MatrixXd::Zero(m + n, m + n), .w = VectorXd::Zero(m + n)};
  lcp.W.bottomRightCorner(n, n) = inner.W;
  lcp.W.block(0, m, m, m) = -MatrixXd::Identity(m, m);
  lcp.W.block(m, 0, m, m) = MatrixXd::Identity(m, m);
  lcp.w << lambda_max, inner.w;
  return lcp;
}

VectorXd impulse_from_lcp(const ImpactProblem& problem, const VectorXd& z) {
  const MatrixXd D = friction_edges(problem);
  const int m = problem.contacts(), k = static_cast<int>(D.cols());
  const VectorXd own = z.tail((2 + k) * m);  // without β
  VectorXd lambda(problem.c.size());
  lambda.head(m) = own.head(m);
  for (int i = 0; i < m; ++i)
    lambda.segment(problem.tangent(i), problem.tangents) = D * own.segment(m + k * i, k);
  return lambda;
}

}  // namespace routh
