#include "routh/impact/cone.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "routh/impact/polytopes.h"
#include "routh/lcp/square_system.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {
constexpr double kRounding = 2e-15;  // eigenvalues of G below this are rounding, relative
constexpr int kAround = 32;          // edges of a polygon around a circular cone
constexpr double kPointed = 1e-14;   // least motion of a mixture of unit edges, squared
}  // namespace

namespace {

/// The edges of the linearised cone: impulses with a normal part of one. A circular cone lies
/// inside a polygon around it.
std::vector<VectorXd> edges_of(const ImpactProblem& problem) {
  ImpactProblem polygon{.G = {}, .c = {}, .mu = {}, .tangents = problem.tangents};
  polygon.edges = problem.circular() ? kAround : problem.edges;
  MatrixXd D = friction_edges(polygon);
  if (problem.circular()) D /= std::cos(M_PI / kAround);
  std::vector<VectorXd> edges;
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int e = 0; e < (problem.mu[i] > 0 ? D.cols() : 1); ++e) {
      edges.push_back(VectorXd::Zero(D.rows() * problem.contacts() + problem.contacts()));
      edges.back()[i] = 1;
      edges.back().segment(problem.tangent(i), problem.tangents) = problem.mu[i] * D.col(e);
    }
  }
  return edges;
}

/// G with every contact in units of its own mobility, and these units.
std::pair<MatrixXd, VectorXd> equilibrated(const MatrixXd& G, const ImpactProblem& problem) {
  VectorXd s(G.rows());
  for (int i = 0; i < problem.contacts(); ++i) {
    const double mobility =
        std::max(G(i, i), G.diagonal().segment(problem.tangent(i), problem.tangents).maxCoeff());
    s[i] = 1 / std::sqrt(lcp::power_of_two(mobility));
    s.segment(problem.tangent(i), problem.tangents).setConstant(s[i]);
  }
  return {s.asDiagonal() * G * s.asDiagonal(), s};
}

/// The mixture of edges that moves least in the metric of kinetic energy, every edge measured by
/// its own motion, and the square of its motion. Edges that move nothing at all are such a mixture.
struct LeastMotion {
  VectorXd impulse;
  double square = 0;
};
LeastMotion least_motion(const MatrixXd& G, const ImpactProblem& problem) {
  const auto [scaled, s] = equilibrated(G, problem);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scaled);
  const double largest = eigen.eigenvalues().maxCoeff();
  const VectorXd root = eigen.eigenvalues().unaryExpr(
      [&](double x) { return x > kRounding * largest ? std::sqrt(x) : 0.0; });
  std::vector<VectorXd> edges = edges_of(problem), moves;
  for (VectorXd& edge : edges) {
    // in the scaled units; contacts scale as a whole, so the cone stays what it is
    VectorXd move = root.asDiagonal() * (eigen.eigenvectors().transpose() * edge);
    const double size = move.norm();
    if (!(size > std::sqrt(kRounding * largest) * edge.norm())) return {s.cwiseProduct(edge), 0};
    edge /= size;
    moves.push_back(move / size);
  }
  const VectorXd weights = min_norm_weights(moves);
  LeastMotion least{.impulse = VectorXd::Zero(G.rows())};
  VectorXd nearest = VectorXd::Zero(G.rows());
  for (std::size_t k = 0; k < edges.size(); ++k) {
    least.impulse += weights[k] * s.cwiseProduct(edges[k]);
    nearest += weights[k] * moves[k];
  }
  least.square = nearest.squaredNorm();
  return least;
}

}  // namespace

bool pointed(const ImpactProblem& problem) {
  return least_motion(problem.G, problem).square > kPointed;
}

FrictionCone friction_cone(const MatrixXd& Mdag, const MatrixXd& J, const ImpactProblem& problem) {
  const LeastMotion least = least_motion(J * Mdag * J.transpose(), problem);
  FrictionCone cone{.pointed = least.square > kPointed};
  if (!cone.pointed) {
    cone.jam = least.impulse;
    return cone;
  }
  // the shortest r, if it proves itself: every edge moves along it; else the one of least motion
  std::vector<VectorXd> moves;
  for (const VectorXd& edge : edges_of(problem)) moves.push_back(Mdag * (J.transpose() * edge));
  const VectorXd weights = min_norm_weights(moves);
  VectorXd nearest = VectorXd::Zero(Mdag.rows());
  for (std::size_t k = 0; k < moves.size(); ++k) nearest += weights[k] * moves[k];
  for (const VectorXd& r : {nearest, VectorXd(J.transpose() * least.impulse)}) {
    double along = HUGE_VAL;
    for (const VectorXd& move : moves) {
      const double m = r.dot(move);
      along = std::min(along, m > 1e-11 * r.cwiseAbs().dot(move.cwiseAbs()) ? m : 0);
    }
    cone.r = r / along;
    if (along > 0) break;
  }
  return cone;
}

double termination_constant(const FrictionCone& cone, int contacts, double h, double sigma) {
  return 4 * std::ceil((contacts + 1) * cone.r.norm() / (h * std::sqrt(sigma)));
}

Redundancy redundancy(const ImpactProblem& problem) {
  Redundancy result;
  // rows that carry impulses: a contact without friction has none along its tangents
  std::vector<int> rows, contact;
  for (int i = 0; i < problem.contacts(); ++i) {
    for (const int row : problem.rows(i)) {
      if (row != i && problem.mu[i] == 0) continue;
      rows.push_back(row), contact.push_back(i);
    }
  }
  const MatrixXd G = equilibrated(problem.G, problem).first(rows, rows);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(G);
  const double largest = eigen.eigenvalues().maxCoeff();
  std::vector<bool> involved(problem.contacts(), false);
  for (int k = 0; k < G.rows(); ++k) {
    if (eigen.eigenvalues()[k] > 1e-11 * largest) continue;
    ++result.rows;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (std::abs(eigen.eigenvectors()(static_cast<int>(r), k)) > 1e-7)
        involved[contact[r]] = true;
    }
  }
  for (int i = 0; i < problem.contacts(); ++i) {
    if (involved[i]) result.contacts.push_back(i);
  }
  return result;
}

}  // namespace routh
