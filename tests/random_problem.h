#pragma once

#include <Eigen/Dense>
#include <random>

#include "routh/impact/problem.h"

namespace routh::test {

/// A random impact. `rank` below 2 contacts makes rows of J depend on each other, as for a block on
/// two corners.
struct RandomImpact {
  ImpactProblem problem;
  Eigen::MatrixXd M, J;
  Eigen::VectorXd v;
};

inline RandomImpact random_impact(std::mt19937& random, int contacts, int velocities) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto matrix = [&](int rows, int columns) {
    return Eigen::MatrixXd(
        Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); }));
  };
  RandomImpact impact;
  const Eigen::MatrixXd root = matrix(velocities, velocities);
  impact.M = root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(velocities, velocities);
  impact.J = matrix(2 * contacts, velocities);
  impact.v = matrix(velocities, 1);
  // feet at rest and zeros in w are the normal case
  if (uniform(random) < 0.3 && velocities > 2) {
    const Eigen::MatrixXd rows = impact.J.topRows(1);
    impact.v -= rows.transpose() * (rows * rows.transpose()).inverse() * (rows * impact.v);
  }
  ImpactProblem& p = impact.problem;
  p.mu = Eigen::VectorXd::NullaryExpr(contacts, [&] {
    const double kind = uniform(random);
    return kind < 0.15 ? 0.0 : kind < 0.25 ? 50 * uniform(random) : 1.5 * uniform(random);
  });
  p.G = impact.J * impact.M.inverse() * impact.J.transpose();
  p.G = 0.5 * (p.G + p.G.transpose()).eval();
  p.c = impact.J * impact.v;
  for (double& c : p.c) c = std::abs(c) < 1e-13 ? 0 : c;
  return impact;
}

/// Change of kinetic energy by an impulse, from contact space alone: λᵀ(c + Gλ/2).
inline double energy_change(const ImpactProblem& p, const Eigen::VectorXd& lambda) {
  return lambda.dot(p.c + 0.5 * p.G * lambda);
}

/// The rocking block of P1 Table 4 by hand: normals of A and B, then tangents; v = (x, y, angle).
inline ImpactProblem rocking_block(double width = 1, double height = 2, double mass = 1,
                                   double friction = 1, double speed = 0.4429) {
  Eigen::MatrixXd J(4, 3);
  J << 0, 1, -width / 2,  //
      0, 1, width / 2,    //
      1, 0, height / 2,   //
      1, 0, height / 2;
  const double inertia = mass * (width * width + height * height) / 12;
  const Eigen::Vector3d inverse(1 / mass, 1 / mass, 1 / inertia);
  return {.G = J * inverse.asDiagonal() * J.transpose(),
          .c = J * Eigen::Vector3d(0, -speed, 0),
          .mu = Eigen::Vector2d(friction, friction),
          .tangents = 1};
}

/// The problem with its contacts renumbered: contact i of the result is contact order[i].
inline ImpactProblem permuted(const ImpactProblem& p, const std::vector<int>& order) {
  std::vector<int> rows = order;
  for (const int i : order) rows.push_back(p.contacts() + i);
  return {.G = p.G(rows, rows), .c = p.c(rows), .mu = p.mu(order), .tangents = 1};
}
inline Eigen::VectorXd permuted(const Eigen::VectorXd& c, const std::vector<int>& order) {
  std::vector<int> rows = order;
  for (const int i : order) rows.push_back(static_cast<int>(order.size()) + i);
  return c(rows);
}

/// Is c one of the outcomes, up to a tolerance?
template <class Outcomes>
bool among(const Outcomes& outcomes, const Eigen::VectorXd& c, double tolerance) {
  for (const auto& outcome : outcomes) {
    if ((outcome.c_plus - c).template lpNorm<Eigen::Infinity>() <= tolerance) return true;
  }
  return false;
}

}  // namespace routh::test
