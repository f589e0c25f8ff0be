#include "routh/impact/problem.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void validate(const ImpactProblem& problem) {
  const int m = problem.contacts(), size = (1 + problem.tangents) * m;
  const auto fail = [](const std::string& what) {
    throw std::invalid_argument("impact problem: " + what);
  };
  if (problem.tangents != 1 && problem.tangents != 2)
    fail("tangents is " + std::to_string(problem.tangents) + "; it must be 1 or 2");
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
    states.push_back(normal < -zero       ? ContactState::kApproaching
                     : normal > zero      ? ContactState::kSeparating
                     : tangential > zero  ? ContactState::kSlidingPositive
                     : tangential < -zero ? ContactState::kSlidingNegative
                                          : ContactState::kSticking);
  }
  return states;
}

bool colliding(const ImpactProblem& problem, const VectorXd& c) {
  return c.head(problem.contacts()).minCoeff() < -velocity_tolerance(problem);
}

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
    const double tangential = lambda[t] - std::clamp(lambda[t] - c_plus[t], -cone, cone);
    worst = std::max({worst, std::abs(normal), std::abs(tangential)});
  }
  if (!lambda.allFinite() || !std::isfinite(worst)) return std::numeric_limits<double>::infinity();
  return scale > 0 ? worst / scale : worst;
}

lcp::Problem simultaneous_lcp(const ImpactProblem& problem) {
  const int m = problem.contacts();
  // c = [cn; ct] and λ = [λn; λt] with λt = λD⁺ - λD⁻:  [cn; J_D v] = Bᵀ c, λ = B [λn; λD]
  MatrixXd B = MatrixXd::Zero(2 * m, 3 * m);
  for (int i = 0; i < m; ++i) {
    B(i, i) = 1;
    B(m + i, m + 2 * i) = 1;
    B(m + i, m + 2 * i + 1) = -1;
  }
  lcp::Problem lcp{.W = MatrixXd::Zero(4 * m, 4 * m), .w = VectorXd::Zero(4 * m)};
  lcp.W.topLeftCorner(3 * m, 3 * m) = B.transpose() * problem.G * B;
  lcp.w.head(3 * m) = B.transpose() * problem.c;
  // 0 ≤ γ ⊥ μ λn - 1ᵀ λD ≥ 0, P1 (33)
  for (int i = 0; i < m; ++i) {
    lcp.W(3 * m + i, i) = problem.mu[i];
    for (const int edge : {m + 2 * i, m + 2 * i + 1}) {
      lcp.W(3 * m + i, edge) = -1;
      lcp.W(edge, 3 * m + i) = 1;
    }
  }
  return lcp;
}

lcp::Problem step_lcp(const ImpactProblem& problem, const VectorXd& lambda_max) {
  const int m = problem.contacts();
  const lcp::Problem inner = simultaneous_lcp(problem);
  lcp::Problem lcp{.W = MatrixXd::Zero(5 * m, 5 * m), .w = VectorXd::Zero(5 * m)};
  lcp.W.bottomRightCorner(4 * m, 4 * m) = inner.W;
  lcp.W.block(0, m, m, m) = -MatrixXd::Identity(m, m);
  lcp.W.block(m, 0, m, m) = MatrixXd::Identity(m, m);
  lcp.w << lambda_max, inner.w;
  return lcp;
}

VectorXd impulse_from_simultaneous_lcp(int contacts, const VectorXd& z) {
  VectorXd lambda(2 * contacts);
  for (int i = 0; i < contacts; ++i) {
    lambda[i] = z[i];
    lambda[contacts + i] = z[contacts + 2 * i] - z[contacts + 2 * i + 1];
  }
  return lambda;
}

VectorXd impulse_from_step_lcp(int contacts, const VectorXd& z) {
  return impulse_from_simultaneous_lcp(contacts, z.tail(4 * contacts));
}

}  // namespace routh
