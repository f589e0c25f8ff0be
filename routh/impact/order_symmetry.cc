#include "routh/impact/order_symmetry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kAlike = 1e-11;             // entries of G, c and μ, relative
constexpr int kTried = 5000;                 // renumberings, begun ones included
constexpr std::size_t kKept = 7;             // symmetries
constexpr int kPositive = 1, kNegative = 2;  // labels of planar contacts with friction

/// Contacts get their images one by one, as long as G, c and μ of those that have one agree.
class Renumbering {
 public:
  explicit Renumbering(const ImpactProblem& p) : p_(p), m_(p.contacts()) {
    root_ = p.G.diagonal().cwiseMax(0).cwiseSqrt();
    speed_ = p.c.lpNorm<Eigen::Infinity>();
  }

  std::vector<std::pair<std::vector<int>, std::vector<char>>> all() {
    place(0);
    return found_;
  }

 private:
  int row(int i, bool tangent) const { return tangent ? p_.tangent(i) : i; }
  bool agrees(int i, int k) const {
    for (const bool ti : {false, true}) {
      for (const bool tk : {false, true}) {
        const double sign = (ti && turned_[i] ? -1 : 1) * (tk && turned_[k] ? -1 : 1);
        const int a = row(i, ti), b = row(k, tk);
        const double here = p_.G(a, b), there = sign * p_.G(row(to_[i], ti), row(to_[k], tk));
        if (std::abs(here - there) > kAlike * root_[a] * root_[b]) return false;
      }
    }
    return true;
  }
  bool alone(int i) const {
    const int t = p_.tangent(i), u = p_.tangent(to_[i]);
    const double sign = turned_[i] ? -1 : 1;
    return std::abs(p_.mu[i] - p_.mu[to_[i]]) <= kAlike * p_.mu[i] &&
           std::abs(p_.c[i] - p_.c[to_[i]]) <= kAlike * speed_ &&
           std::abs(p_.c[t] - sign * p_.c[u]) <= kAlike * speed_;
  }
  void place(int i) {
    if (found_.size() == kKept || ++tried_ > kTried) return;
    if (i == m_) {
      bool moves = false;
      for (int k = 0; k < m_; ++k) moves = moves || to_[k] != k || turned_[k];
      if (moves) found_.emplace_back(to_, turned_);
      return;
    }
    for (int k = 0; k < m_; ++k) {
      if (std::find(to_.begin(), to_.end(), k) != to_.end()) continue;
      for (const char turned : {0, 1}) {
        to_.push_back(k), turned_.push_back(turned);
        bool fits = alone(i);
        for (int other = 0; other <= i && fits; ++other) fits = agrees(i, other);
        if (fits) place(i + 1);
        to_.pop_back(), turned_.pop_back();
      }
    }
  }

  const ImpactProblem& p_;
  int m_, tried_ = 0;
  VectorXd root_;
  double speed_;
  std::vector<int> to_;
  std::vector<char> turned_;
  std::vector<std::pair<std::vector<int>, std::vector<char>>> found_;
};

}  // namespace

std::vector<OrderSymmetry> symmetries(const OrderSpace& space, const ImpactProblem& problem) {
  std::vector<OrderSymmetry> all;
  if (problem.tangents != 1) return all;
  // where edges and forms of a contact begin
  const int m = space.contacts();
  std::vector<int> first_edge(m, -1), slip(m, -1);
  for (int g = static_cast<int>(space.edges.size()) - 1; g >= 0; --g)
    first_edge[space.edges[g].contact] = g;
  for (int i = 0; i < m; ++i) {
    if (!space.exact.frictionless[i]) slip[i] = space.labels[i][kPositive].rows.back().form;
  }
  for (const auto& [contact, turned] : Renumbering(problem).all()) {
    OrderSymmetry s{contact, turned, {}, std::vector<int>(space.start.size())};
    for (const OrderSpace::Edge& edge : space.edges) {
      const int i = edge.contact, place = static_cast<int>(s.edge.size()) - first_edge[i];
      const bool side = edge.edge != OrderSpace::kAxis && !space.exact.frictionless[i];
      s.edge.push_back(first_edge[contact[i]] + (side && turned[i] ? 1 - place : place));
    }
    for (int i = 0; i < m; ++i) {
      s.form[i] = contact[i];
      if (slip[i] >= 0) s.form[slip[i]] = slip[contact[i]];
    }
    all.push_back(std::move(s));
  }
  return all;
}

OrderPath OrderSymmetry::image(const OrderSpace& space, const OrderPath& path) const {
  OrderPath result;
  for (const Location& location : path.order) {
    Location& put = result.order.emplace_back(location.size());
    for (std::size_t i = 0; i < location.size(); ++i) {
      const std::uint8_t label = location[i];
      const bool slides =
          !space.exact.frictionless[i] && (label == kPositive || label == kNegative);
      put[contact[i]] = slides && turned[i] ? kPositive + kNegative - label : label;
    }
  }
  for (const auto& [phase, push] : path.basis.pushes)
    result.basis.pushes.push_back({phase, edge[push]});
  for (const auto& [phase, row] : path.basis.tight)
    result.basis.tight.push_back({phase, row == OrderBasis::kProgress ? row : form[row]});
  return result;
}

VectorXd OrderSymmetry::image(const VectorXd& gain) const {
  VectorXd result(gain.size());
  for (Eigen::Index g = 0; g < gain.size(); ++g) result[edge[g]] = gain[g];
  return result;
}

}  // namespace routh
