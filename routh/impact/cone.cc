#include "routh/impact/cone.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

#include "routh/impact/polytopes.h"
#include "routh/lcp/square_system.h"
#include "routh/linear/decompose.h"

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
  const linear::SymmetricEigen eigen = linear::symmetric_eigen(scaled);
  const double largest = eigen.values.maxCoeff();
  const VectorXd root = eigen.values.unaryExpr(
      [&](double x) { return x > kRounding * largest ? std::sqrt(x) : 0.0; });
  std::vector<VectorXd> edges = edges_of(problem), moves;
  for (VectorXd& edge : edges) {
    // in the scaled units; contacts scale as a whole, so the cone stays what it is
    VectorXd move = root.asDiagonal() * (eigen.vectors.transpose() * edge);
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

namespace {

/// Contacts that have nothing to do with those of other groups: a row for each contact, a column
/// for each thing that it may touch, zero where it does not. What costs the cube of a size is done
/// for each group alone, many robots or dominoes at once.
std::vector<std::vector<int>> groups_of(const MatrixXd& touches) {
  const auto m = static_cast<int>(touches.rows());
  std::vector<std::vector<int>> groups;
  std::vector<bool> taken(m, false), reached(touches.cols(), false);
  for (int first = 0; first < m; ++first) {
    if (taken[first]) continue;
    std::vector<int> group{first};
    taken[first] = true;
    for (std::size_t k = 0; k < group.size(); ++k) {
      for (int thing = 0; thing < touches.cols(); ++thing) {
        if (touches(group[k], thing) == 0 || reached[thing]) continue;
        reached[thing] = true;
        for (int i = 0; i < m; ++i) {
          if (taken[i] || touches(i, thing) == 0) continue;
          taken[i] = true;
          group.push_back(i);
        }
      }
    }
    std::sort(group.begin(), group.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Groups that do not move each other.
std::vector<std::vector<int>> groups_of(const ImpactProblem& problem) {
  const int m = problem.contacts();
  MatrixXd moved = MatrixXd::Zero(m, m);
  for (int i = 0; i < m; ++i) {
    const std::vector<int> own = problem.rows(i);
    for (int k = 0; k < m; ++k)
      moved(i, k) = problem.G(own, problem.rows(k)).lpNorm<Eigen::Infinity>();
  }
  return groups_of(moved);
}

/// Rows of some contacts, their normals first.
std::vector<int> rows_of(const ImpactProblem& problem, const std::vector<int>& contacts) {
  std::vector<int> rows = contacts;
  for (const int i : contacts) {
    for (int t = 0; t < problem.tangents; ++t) rows.push_back(problem.tangent(i) + t);
  }
  return rows;
}

/// The impact of some contacts alone.
ImpactProblem part_of(const ImpactProblem& problem, const std::vector<int>& contacts) {
  const std::vector<int> rows = rows_of(problem, contacts);
  ImpactProblem part = problem;
  part.mu = problem.mu(contacts);
  if (problem.G.size()) part.G = problem.G(rows, rows);
  if (problem.c.size()) part.c = problem.c(rows);
  if (problem.e.size()) part.e = problem.e(contacts);
  return part;
}

}  // namespace

bool pointed(const ImpactProblem& problem) {
  for (const std::vector<int>& group : groups_of(problem)) {
    const ImpactProblem part = part_of(problem, group);
    if (!(least_motion(part.G, part).square > kPointed)) return false;
  }
  return true;
}

namespace {

/// Of rows J and W = M†Jᵀ.
FrictionCone cone_of_group(const MatrixXd& J, const MatrixXd& W, const ImpactProblem& problem) {
  const LeastMotion least = least_motion(J * W, problem);
  FrictionCone cone{.pointed = least.square > kPointed};
  if (!cone.pointed) {
    cone.jam = least.impulse;
    return cone;
  }
  // the shortest r, if it proves itself: every edge moves along it; else the one of least motion
  std::vector<VectorXd> moves;
  for (const VectorXd& edge : edges_of(problem)) moves.push_back(W * edge);
  const VectorXd weights = min_norm_weights(moves);
  VectorXd nearest = VectorXd::Zero(W.rows());
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

}  // namespace

// Groups that move different coordinates move along r without each other: the shortest r of all is
// the sum of theirs.
FrictionCone friction_cone(const MatrixXd& J, const MatrixXd& W, const ImpactProblem& problem) {
  MatrixXd touches = MatrixXd::Zero(problem.contacts(), J.cols());
  for (int i = 0; i < problem.contacts(); ++i) {
    for (const int row : problem.rows(i))
      touches.row(i) += W.col(row).transpose().cwiseAbs() + J.row(row).cwiseAbs();
  }
  FrictionCone cone{.pointed = true, .r = VectorXd::Zero(J.cols())};
  for (const std::vector<int>& group : groups_of(touches)) {
    const std::vector<int> rows = rows_of(problem, group);
    std::vector<int> moved;
    for (int k = 0; k < touches.cols(); ++k) {
      if ((touches(group, k).array() != 0).any()) moved.push_back(k);
    }
    const FrictionCone own = cone_of_group(J(rows, moved), W(moved, rows), part_of(problem, group));
    if (!own.pointed) {
      VectorXd jam = VectorXd::Zero(J.rows());
      jam(rows) = own.jam;
      return {.pointed = false, .r = {}, .jam = jam};
    }
    cone.r(moved) += own.r;
  }
  return cone;
}

double termination_constant(const FrictionCone& cone, int contacts, double h, double sigma) {
  return 4 * std::ceil((contacts + 1) * cone.r.norm() / (h * std::sqrt(sigma)));
}

namespace {

Redundancy redundancy_of_group(const ImpactProblem& problem) {
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
  const linear::SymmetricEigen eigen = linear::symmetric_eigen(G);
  const double largest = eigen.values.maxCoeff();
  std::vector<bool> involved(problem.contacts(), false);
  for (int k = 0; k < G.rows(); ++k) {
    if (eigen.values[k] > 1e-11 * largest) continue;
    ++result.rows;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (std::abs(eigen.vectors(static_cast<int>(r), k)) > 1e-7) involved[contact[r]] = true;
    }
  }
  for (int i = 0; i < problem.contacts(); ++i) {
    if (involved[i]) result.contacts.push_back(i);
  }
  return result;
}

}  // namespace

Redundancy redundancy(const ImpactProblem& problem) {
  Redundancy result;
  for (const std::vector<int>& group : groups_of(problem)) {
    const Redundancy own = redundancy_of_group(part_of(problem, group));
    result.rows += own.rows;
    for (const int i : own.contacts) result.contacts.push_back(group[i]);
  }
  std::sort(result.contacts.begin(), result.contacts.end());
  return result;
}

}  // namespace routh
