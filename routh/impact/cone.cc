#include "routh/impact/cone.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "routh/impact/polytopes.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

FrictionCone friction_cone(const MatrixXd& Mdag, const MatrixXd& J, const ImpactProblem& problem) {
  // velocity that each edge of the linearised cone gives per unit of normal impulse
  const MatrixXd D = friction_edges(problem);
  std::vector<VectorXd> impulses, moves;
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int e = 0; e < (problem.mu[i] > 0 ? D.cols() : 1); ++e) {
      impulses.push_back(VectorXd::Unit(problem.c.size(), i));
      impulses.back().segment(problem.tangent(i), problem.tangents) = problem.mu[i] * D.col(e);
      moves.push_back(Mdag * (J.transpose() * impulses.back()));
    }
  }
  const VectorXd weights = min_norm_weights(moves);
  VectorXd nearest = VectorXd::Zero(Mdag.rows()), impulse = VectorXd::Zero(problem.c.size());
  for (std::size_t k = 0; k < moves.size(); ++k) {
    nearest += weights[k] * moves[k];
    impulse += weights[k] * impulses[k];
  }

  // r proves itself: every edge moves along it, by more than rounding
  FrictionCone cone;
  cone.pointed = true;
  double least = HUGE_VAL;
  for (const VectorXd& move : moves) {
    const double along = nearest.dot(move);
    cone.pointed &= along > 1e-11 * nearest.cwiseAbs().dot(move.cwiseAbs());
    least = std::min(least, along);
  }
  if (cone.pointed) {
    cone.r = nearest / least;
  } else {
    cone.jam = impulse;
  }
  return cone;
}

double termination_constant(const FrictionCone& cone, int contacts, double h, double sigma) {
  return 4 * std::ceil((contacts + 1) * cone.r.norm() / (h * std::sqrt(sigma)));
}

Redundancy redundancy(const ImpactProblem& problem) {
  Redundancy result;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(problem.G);
  const double largest = eigen.eigenvalues().maxCoeff();
  std::vector<bool> involved(problem.contacts(), false);
  for (int k = 0; k < problem.G.rows(); ++k) {
    if (eigen.eigenvalues()[k] > 1e-11 * largest) continue;
    ++result.rows;
    for (int i = 0; i < problem.contacts(); ++i) {
      double part = std::abs(eigen.eigenvectors()(i, k));
      for (int t = 0; t < problem.tangents; ++t)
        part = std::max(part, std::abs(eigen.eigenvectors()(problem.tangent(i) + t, k)));
      if (part > 1e-7) involved[i] = true;
    }
  }
  for (int i = 0; i < problem.contacts(); ++i) {
    if (involved[i]) result.contacts.push_back(i);
  }
  return result;
}

}  // namespace routh
