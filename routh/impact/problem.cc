#include "routh/impact/problem.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd friction_edges(const ImpactProblem& problem) {
  if (problem.tangents == 1) return Eigen::RowVector2d(1, -1);
  MatrixXd D(2, problem.edges);
  for (int e = 0; e < problem.edges; ++e) {
    const double angle = 2 * M_PI * e / problem.edges;
    D.col(e) << std::cos(angle), std::sin(angle);
  }
  // the axes exactly, where edges meet them
  D = (D.array().abs() < 1e-15).select(0, D);
  return D;
}

void validate(const ImpactProblem& problem) {
  const int m = problem.contacts(), size = (1 + problem.tangents) * m;
  const auto fail = [](const std::string& what) {
    throw std::invalid_argument("impact problem: " + what);
  };
  if (problem.tangents != 1 && problem.tangents != 2)
    fail("tangents is " + std::to_string(problem.tangents) + "; it must be 1 or 2");
  if (problem.tangents == 2 && (problem.edges < 3 || problem.edges > 64))
    fail("edges is " + std::to_string(problem.edges) + "; it must be between 3 and 64");
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
  if (!problem.mu.allFinite()) fail("mu has an entry that is not finite");
  if (problem.mu.minCoeff() < 0) fail("mu has a negative entry; friction cannot be negative");
  const double size_of_G = problem.G.cwiseAbs().maxCoeff();
  if ((problem.G - problem.G.transpose()).cwiseAbs().maxCoeff() > 1e-9 * size_of_G)
    fail("G is not symmetric");
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

namespace {

/// The point of μ λn conv D nearest to x, `size` = μ λn.
Eigen::Vector2d nearest_friction(const Eigen::Vector2d& x, double size, int edges) {
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

double residual(const ImpactProblem& problem, const VectorXd& lambda, const VectorXd& lambda_max) {
  const int m = problem.contacts();
  const VectorXd c_plus = problem.c + problem.G * lambda;
  double worst = 0, scale = problem.c.lpNorm<Eigen::Infinity>();
  if (lambda_max.size()) scale = std::max(scale, lambda_max.lpNorm<Eigen::Infinity>());
  for (int i = 0; i < m; ++i) {
    const int t = problem.tangent(i);
    const double bound =
        lambda_max.size() ? lambda_max[i] : std::numeric_limits<double>::infinity();
    const double cone = problem.mu[i] * std::max(0.0, lambda[i]);
    const double normal = lambda[i] - std::clamp(lambda[i] - c_plus[i], 0.0, bound);
    worst = std::max(worst, std::abs(normal));
    if (problem.tangents == 1) {
      const double tangential = lambda[t] - std::clamp(lambda[t] - c_plus[t], -cone, cone);
      worst = std::max(worst, std::abs(tangential));
    } else {
      const Eigen::Vector2d friction = lambda.segment<2>(t);
      const Eigen::Vector2d wanted =
          nearest_friction(friction - c_plus.segment<2>(t), cone, problem.edges);
      worst = std::max(worst, (friction - wanted).lpNorm<Eigen::Infinity>());
    }
  }
  if (!lambda.allFinite() || !std::isfinite(worst)) return std::numeric_limits<double>::infinity();
  return scale > 0 ? worst / scale : worst;
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
