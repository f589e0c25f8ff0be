#include "routh/impact/sequential.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "routh/impact/policy.h"
#include "routh/impact/same_outcome.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/single.h"
#include "routh/linear/decompose.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// One contact hit alone.
struct Hit {
  bool finished = false;
  VectorXd impulse, c_plus;
  double residual = 0;
  std::vector<VectorXd> corners;  ///< velocities where the path bends, without its ends
};

constexpr double kHardly = 1e-10;  // of a tangent's mobility: what is left of it is rounding

/// Indices of a contact in arrays of the problem.
Eigen::VectorXi rows_of(const ImpactProblem& at, int contact) {
  Eigen::VectorXi rows(1 + at.tangents);
  rows[0] = contact;
  for (int t = 0; t < at.tangents; ++t) rows[1 + t] = at.tangent(contact) + t;
  return rows;
}

/// Routh's path, P1 (36).
Hit hit_by_routh(const ImpactProblem& at, int contact) {
  const SingleResult r = single(at, contact);
  return {r.finished, r.impulse, r.c_plus, r.residual, r.bends};
}

/// The contact alone under the simultaneous law; it has one outcome or, rarely, several: the first.
Hit hit_at_once(const ImpactProblem& at, int contact) {
  const Eigen::VectorXi rows = rows_of(at, contact);
  const ImpactProblem alone{.G = at.G(rows, rows),
                            .c = at.c(rows),
                            .mu = VectorXd::Constant(1, at.mu[contact]),
                            .tangents = at.tangents,
                            .edges = at.edges,
                            .e = VectorXd::Constant(1, at.bounce(contact)),
                            .restitution = at.restitution};
  const SimultaneousResult found = simultaneous(alone);
  Hit hit{false, VectorXd::Zero(at.c.size()), at.c, 0, {}};
  if (found.outcomes.empty()) return hit;
  const Outcome& outcome = found.outcomes.front();
  hit.finished = true;
  hit.impulse(rows) = outcome.impulse;
  hit.residual = outcome.residual;
  hit.c_plus = at.c + at.G * hit.impulse;
  hit.c_plus(rows) = outcome.c_plus;
  return hit;
}

/// x of A x = b, A positive semi-definite of one or two rows, with nothing along directions that A
/// moves by less than `none`: those of a body that can only move where its normal moves too.
VectorXd solve_where_it_moves(const Eigen::MatrixXd& A, const VectorXd& b, double none) {
  const linear::SymmetricEigen eigen = linear::symmetric_eigen(A);
  VectorXd x = VectorXd::Zero(b.size());
  for (Eigen::Index k = 0; k < b.size(); ++k) {
    if (const double by = eigen.values[k]; by > none)
      x += eigen.vectors.col(k) * (eigen.vectors.col(k).dot(b) / by);
  }
  return x;
}

/// SingleLaw::kImpulseSpace; friction keeps to the circular cone.
Hit hit_in_impulse_space(const ImpactProblem& at, int contact) {
  const int k = at.tangents;
  const Eigen::VectorXi rows = rows_of(at, contact);
  const Eigen::MatrixXd G = at.G(rows, rows);
  const VectorXd c = at.c(rows), Gtn = G.col(0).tail(k);
  const double mu = at.mu[contact], e = at.bounce(contact);
  Hit hit{G(0, 0) > 0, VectorXd::Zero(at.c.size()), at.c, 0, {}};
  if (!hit.finished) return hit;  // joints hold it fast
  const double stops = -c[0] / G(0, 0);
  // PII - PI: across the normal it stops what PI leaves of the slip, and leaves cn alone
  const Eigen::MatrixXd across = G.bottomRightCorner(k, k) - Gtn * Gtn.transpose() / G(0, 0);
  const VectorXd friction = -solve_where_it_moves(across, c.tail(k) + stops * Gtn,
                                                  kHardly * G.bottomRightCorner(k, k).trace());
  const double press = -Gtn.dot(friction) / G(0, 0), normal = (1 + e) * stops;
  // |λt| = μ λn where the whole of it is outside of the cone
  const double excess = friction.norm() - mu * press;
  const double kappa = excess > mu * normal ? mu * normal / excess : 1;
  VectorXd impulse(1 + k);
  impulse << normal + kappa * press, kappa * friction;
  hit.impulse(rows) = impulse;
  hit.c_plus = at.c + at.G * hit.impulse;
  hit.residual = std::abs(hit.c_plus[contact] + e * c[0]) / at.c.lpNorm<Eigen::Infinity>();
  hit.c_plus[contact] = -e * c[0];
  return hit;
}

Hit hit(const ImpactProblem& at, int contact, SingleLaw law) {
  switch (law) {
    case SingleLaw::kAlgebraic:
      return hit_at_once(at, contact);
    case SingleLaw::kImpulseSpace:
      return hit_in_impulse_space(at, contact);
    default:
      return hit_by_routh(at, contact);
  }
}

/// A velocity reached after some hits; sequences share their beginnings through `parent`.
struct Node {
  int parent = -1, contact = -1, depth = 0;
  Hit hit;           ///< the hit that led here
  VectorXd impulse;  ///< total so far
  double residual = 0;
  bool finished = false;  ///< no contact approaches any more
  double zeno = 0;        ///< the limit of rounds that shrink by this ratio
};

struct Tree {
  const ImpactProblem& problem;
  SingleLaw law;
  std::vector<Node> nodes;

  Tree(const ImpactProblem& p, SingleLaw single) : problem(p), law(single) {
    Node root;
    root.hit.finished = true;
    root.hit.c_plus = p.c;
    root.impulse = VectorXd::Zero(p.c.size());
    root.finished = !colliding(p, p.c);
    nodes.push_back(std::move(root));
  }

  /// Contact i is hit at a node.
  Node hit_at(int parent, int contact) const {
    const Node& before = nodes[parent];
    ImpactProblem at = problem;
    at.c = before.hit.c_plus;
    Node after{.parent = parent, .contact = contact, .depth = before.depth + 1};
    after.hit = hit(at, contact, law);
    after.impulse = before.impulse + after.hit.impulse;
    after.residual = std::max(before.residual, after.hit.residual);
    after.finished = after.hit.finished && !colliding(problem, after.hit.c_plus);
    if (after.hit.finished && !after.finished && problem.bounces()) sum_rounds(after);
    return after;
  }

  /// Zeno: where the last hits repeat and every round changes the velocities by the same ratio r <
  /// 1 of what the round before did, the rounds to come add r/(1 - r) of the last.
  void sum_rounds(Node& after) const {
    constexpr int kRounds = 4;
    const double zero = velocity_tolerance(problem);
    std::vector<const Node*> last{&after};
    while (last.back()->parent >= 0 &&
           static_cast<int>(last.size()) <= kRounds * problem.contacts())
      last.push_back(&nodes[last.back()->parent]);
    for (int period = 2; kRounds * period < static_cast<int>(last.size()); ++period) {
      bool repeats = true;
      for (int k = 0; k < (kRounds - 1) * period; ++k)
        repeats = repeats && last[k]->contact == last[k + period]->contact;
      if (!repeats) continue;
      const auto c = [&](int round) -> const VectorXd& { return last[round * period]->hit.c_plus; };
      const VectorXd now = c(0) - c(1), before = c(1) - c(2);
      const double ratio = now.dot(before) / before.squaredNorm();
      if (!(ratio > 0 && ratio < 0.999)) continue;
      const double more = ratio / (1 - ratio);
      if ((now - ratio * before).lpNorm<Eigen::Infinity>() * more / (1 - ratio) > zero) continue;
      const VectorXd limit = c(0) + more * now;
      if (colliding(problem, limit)) continue;
      after.impulse += more * (after.impulse - last[period]->impulse);
      after.hit.c_plus = limit;
      after.finished = true;
      after.zeno = ratio;
      return;
    }
  }

  /// Has the sequence that leads to a node met its velocity before?
  bool returns(const Node& node, double zero) const {
    for (int at = node.parent; at >= 0; at = nodes[at].parent) {
      const VectorXd difference = nodes[at].hit.c_plus - node.hit.c_plus;
      if (difference.lpNorm<Eigen::Infinity>() <= 2e-3 * zero) return true;
    }
    return false;
  }

  SequentialOutcome sequence_to(const Node& end) const {
    SequentialOutcome s;
    s.outcome = {end.impulse, end.hit.c_plus, end.residual};
    s.finished = end.finished;
    s.zeno = end.zeno;
    for (const Node* node = &end;; node = &nodes[node->parent]) {
      s.path.push_back(node->hit.c_plus);
      s.path.insert(s.path.end(), node->hit.corners.rbegin(), node->hit.corners.rend());
      if (node->parent < 0) break;
      s.order.push_back(node->contact);
    }
    std::reverse(s.path.begin(), s.path.end());
    std::reverse(s.order.begin(), s.order.end());
    return s;
  }
};

/// Velocities on a grid much finer than any difference that matters: equal keys are merged.
std::vector<long long> key_of(const VectorXd& c, double grid) {
  std::vector<long long> key(c.size());
  for (int i = 0; i < c.size(); ++i) key[i] = std::llround(c[i] / grid);
  return key;
}

/// Distinct outcomes; the first order that reached one names it.
void conclude(const ImpactProblem& problem, SequentialResult& result, SequentialOutcome s) {
  auto& list = s.finished ? result.outcomes : result.unfinished;
  const bool known = std::any_of(list.begin(), list.end(), [&](const SequentialOutcome& other) {
    return same_outcome(problem, other.outcome.c_plus, s.outcome.c_plus);
  });
  if (!known) list.push_back(std::move(s));
}

/// Asks whether to go on, and notes the answer.
bool told_to_stop(const SequentialOptions& options, SequentialResult& result) {
  if (options.stop && !result.stopped && options.stop()) result.stopped = true;
  if (result.stopped) result.complete = false;
  return result.stopped;
}

/// One order, repeated until no contact approaches.
void follow(const ImpactProblem& problem, const SequentialOptions& options,
            const std::vector<int>& order, SequentialResult& result) {
  const double zero = velocity_tolerance(problem);
  Tree tree(problem, options.single);
  std::size_t turn = 0, passed_over = 0;
  const auto goes_on = [&](const Node& last) {
    return !last.finished && last.hit.finished && last.depth < options.max_impacts;
  };
  while (goes_on(tree.nodes.back()) && passed_over < order.size()) {
    if (told_to_stop(options, result)) return;
    const int contact = order[turn++ % order.size()];
    const bool approaches = tree.nodes.back().hit.c_plus[contact] < -zero;
    passed_over = approaches ? 0 : passed_over + 1;
    if (approaches)
      tree.nodes.push_back(tree.hit_at(static_cast<int>(tree.nodes.size()) - 1, contact));
  }
  result.states += static_cast<int>(tree.nodes.size());
  conclude(problem, result, tree.sequence_to(tree.nodes.back()));
}

/// Every order, breadth first so that the shortest order names an outcome; equal velocities are
/// merged.
void explore(const ImpactProblem& problem, const SequentialOptions& options,
             SequentialResult& result) {
  const double zero = velocity_tolerance(problem);
  const int m = problem.contacts();
  const int max_states =
      options.max_states > 0 ? options.max_states : policy::states(problem.tangents, m);
  Tree tree(problem, options.single);
  std::set<std::vector<long long>> seen;
  for (int at = 0; at < static_cast<int>(tree.nodes.size()); ++at) {
    result.states = static_cast<int>(tree.nodes.size());
    if (tree.nodes[at].finished || tree.nodes[at].depth >= options.max_impacts) {
      conclude(problem, result, tree.sequence_to(tree.nodes[at]));
      continue;
    }
    for (int i = 0; i < m; ++i) {
      if (tree.nodes[at].hit.c_plus[i] >= -zero) continue;
      if (told_to_stop(options, result)) return;
      Node next = tree.hit_at(at, i);
      if (!next.hit.finished) {
        conclude(problem, result, tree.sequence_to(next));
      } else if (static_cast<int>(tree.nodes.size()) > max_states) {
        result.complete = false;
      } else if (seen.insert(key_of(next.hit.c_plus, 1e-3 * zero)).second) {
        tree.nodes.push_back(std::move(next));
      } else if (tree.returns(next, zero)) {
        conclude(problem, result, tree.sequence_to(next));  // for ever
      }
    }
  }
  // orders that run in circles through each other's velocities
  if (result.outcomes.empty() && result.unfinished.empty())
    conclude(problem, result, tree.sequence_to(tree.nodes.back()));
}

}  // namespace

SequentialResult sequential(const ImpactProblem& problem, const SequentialOptions& options) {
  validate(problem);
  for (const int contact : options.order) {
    if (contact < 0 || contact >= problem.contacts())
      throw std::invalid_argument("sequential: order names contact " + std::to_string(contact) +
                                  ", there are " + std::to_string(problem.contacts()));
  }
  if (options.single == SingleLaw::kImpulseSpace && problem.bounces() &&
      problem.meaning(Restitution::kNewton) != Restitution::kNewton)
    throw std::invalid_argument(
        "binary: coefficients of restitution are ratios of velocities here; take newton");
  const auto began = std::chrono::steady_clock::now();
  SequentialResult result;
  if (options.order.empty())
    explore(problem, options, result);
  else
    follow(problem, options, options.order, result);
  // too many orders to finish: at least the cyclic ones, P1's A, B, A, .. and B, A, B, ..
  if (!result.complete && options.order.empty() &&
      problem.contacts() <= policy::cyclic_orders(problem.tangents)) {
    std::vector<int> order(problem.contacts());
    std::iota(order.begin(), order.end(), 0);
    do {
      follow(problem, options, order, result);
    } while (!result.stopped && std::next_permutation(order.begin(), order.end()));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh
