#include "routh/impact/cone.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "routh/lcp/lemke.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

FrictionCone friction_cone(const MatrixXd& Mdag, const MatrixXd& J, const VectorXd& mu) {
  const int m = static_cast<int>(mu.size());
  // the two edges of each planar cone, scaled to a comparable length so that μ = 1e5 stays well
  // conditioned
  MatrixXd edges = MatrixXd::Zero(2 * m, 2 * m);
  VectorXd ones(2 * m);
  for (int i = 0; i < m; ++i) {
    for (const int side : {0, 1}) {
      const double scale = 1 / (1 + mu[i]);
      edges(i, 2 * i + side) = scale;
      edges(m + i, 2 * i + side) = (side ? -scale : scale) * mu[i];
      ones[2 * i + side] = scale;
    }
  }
  const MatrixXd B = edges.transpose() * J * Mdag;

  FrictionCone cone;
  const lcp::LemkeResult dual =
      lcp::lemke({.W = B * B.transpose(), .w = -ones}, {.tolerance = 1e-8});
  // r proves itself: every edge moves along it, by more than rounding; scaled, the least of them by
  // one
  const VectorXd r = B.transpose() * dual.z;
  const VectorXd along = B * r;
  const VectorXd rounding = 1e-11 * (B.cwiseAbs() * r.cwiseAbs());
  cone.pointed = dual.status != lcp::Status::kRay && (along.array() > rounding.array()).all();
  if (cone.pointed) {
    cone.r = r / along.cwiseQuotient(ones).minCoeff();
    return cone;
  }

  // impulses that cancel: the smallest singular direction of B within the cone, 0 ≤ y, 1ᵀy = 1, min
  // ‖Bᵀy‖²
  lcp::Problem kkt{.W = MatrixXd::Zero(2 * m + 1, 2 * m + 1), .w = VectorXd::Zero(2 * m + 1)};
  kkt.W.topLeftCorner(2 * m, 2 * m) = B * B.transpose();
  kkt.W.block(0, 2 * m, 2 * m, 1).setConstant(-1);
  kkt.W.block(2 * m, 0, 1, 2 * m).setConstant(1);
  kkt.w[2 * m] = -1;
  const lcp::LemkeResult nearest = lcp::lemke(kkt, {.tolerance = 1e-8});
  if (nearest.status == lcp::Status::kSolved) cone.jam = edges * nearest.z.head(2 * m);
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
