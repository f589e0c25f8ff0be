#pragma once

#include "routh/impact/problem.h"

namespace routh::test {

/// Newton's cradle: balls of unit mass in a row, the first with unit speed, the others at rest and
/// touching.
inline ImpactProblem cradle(int balls) {
  const int m = balls - 1;
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(2 * m, balls);
  for (int i = 0; i < m; ++i) J(i, i) = -1, J(i, i + 1) = 1;
  return {.G = J * J.transpose(),
          .c = J * Eigen::VectorXd::Unit(balls, 0),
          .mu = Eigen::VectorXd::Zero(m)};
}
/// Their velocities.
inline Eigen::VectorXd balls_after(const ImpactProblem& p, const Eigen::VectorXd& impulse) {
  const int m = p.contacts();
  Eigen::VectorXd v = Eigen::VectorXd::Unit(m + 1, 0);
  for (int i = 0; i < m; ++i) v[i] -= impulse[i], v[i + 1] += impulse[i];
  return v;
}

}  // namespace routh::test
