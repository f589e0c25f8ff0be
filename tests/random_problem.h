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

inline RandomImpact random_impact(std::mt19937& random, int contacts, int velocities,
                                  int tangents = 1, int edges = 8) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto matrix = [&](int rows, int columns) {
    return Eigen::MatrixXd(
        Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); }));
  };
  RandomImpact impact;
  const Eigen::MatrixXd root = matrix(velocities, velocities);
  impact.M = root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(velocities, velocities);
  impact.J = matrix((1 + tangents) * contacts, velocities);
  impact.v = matrix(velocities, 1);
  // feet at rest and zeros in w are the normal case
  if (uniform(random) < 0.3 && velocities > 2) {
    const Eigen::MatrixXd rows = impact.J.topRows(1);
    impact.v -= rows.transpose() * (rows * rows.transpose()).inverse() * (rows * impact.v);
  }
  ImpactProblem& p = impact.problem;
  p.tangents = tangents;
  p.edges = edges;
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

/// The problem with its first tangents turned round.
inline ImpactProblem mirrored(ImpactProblem p) {
  for (int i = 0; i < p.contacts(); ++i) {
    const int t = p.tangent(i);
    p.c[t] = -p.c[t];
    p.G.row(t) *= -1;
    p.G.col(t) *= -1;
  }
  return p;
}

/// The problem in other units, one for all masses and one for all velocities.
inline ImpactProblem in_units(ImpactProblem p, double mass, double speed) {
  p.G /= mass;
  p.c *= speed;
  return p;
}

/// A planar problem in space: its tangent is the first of two, nothing moves along the second
/// unless pushed there.
inline ImpactProblem in_space(const ImpactProblem& p, int edges = 8) {
  const int m = p.contacts();
  ImpactProblem q{.G = Eigen::MatrixXd::Zero(3 * m, 3 * m),
                  .c = Eigen::VectorXd::Zero(3 * m),
                  .mu = p.mu,
                  .tangents = 2,
                  .edges = edges};
  const auto place = [&](int row) { return row < m ? row : m + 2 * (row - m); };
  for (int i = 0; i < 2 * m; ++i) {
    q.c[place(i)] = p.c[i];
    for (int k = 0; k < 2 * m; ++k) q.G(place(i), place(k)) = p.G(i, k);
  }
  const double across = p.G.diagonal().tail(m).mean();
  for (int i = 0; i < m; ++i) {
    for (int k = 0; k < m; ++k) q.G(m + 2 * i + 1, m + 2 * k + 1) = across;
  }
  return q;
}
/// Its contact velocities or impulses without the second tangents.
inline Eigen::VectorXd in_plane(const Eigen::VectorXd& c) {
  const Eigen::Index m = c.size() / 3;
  Eigen::VectorXd planar(2 * m);
  for (Eigen::Index i = 0; i < m; ++i) planar[i] = c[i], planar[m + i] = c[m + 2 * i];
  return planar;
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
