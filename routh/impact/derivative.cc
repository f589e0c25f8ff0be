#include "routh/impact/derivative.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "routh/linear/decompose.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of normalised problems, whose velocities and impulses are of order one.
constexpr double kBorder = 1e-8;     // nearer than this to a border is on it
constexpr double kOutcome = 1e-6;    // largest residual of what counts as an outcome
constexpr double kSingular = 1e-11;  // singular values below this of the largest are zero
constexpr double kUnmoved = 1e-8;    // what impulses without effect may change of c⁺

/// The one or two edges of the polygon that brake a slip most.
std::vector<int> braking_edges(const MatrixXd& D, const VectorXd& slip) {
  const VectorXd along = D.transpose() * slip;
  std::vector<int> edges;
  for (int e = 0; e < along.size(); ++e) {
    if (along[e] <= along.minCoeff() + kBorder) edges.push_back(e);
  }
  return edges;
}

}  // namespace

OutcomeDerivative::OutcomeDerivative(const ImpactProblem& problem, const Outcome& outcome)
    : G_(problem.G), impulse_(outcome.impulse) {
  validate(problem, false);
  if (problem.bounces())
    throw std::invalid_argument(
        "derivative: contacts with a coefficient of restitution have two phases; this is for e = "
        "0");
  if (outcome.impulse.size() != problem.c.size())
    throw std::invalid_argument(
        "derivative: the impulse has " + std::to_string(outcome.impulse.size()) +
        " entries; it must have as many as c, " + std::to_string(problem.c.size()));
  if (!(residual(problem, outcome.impulse) <= kOutcome))
    throw std::invalid_argument(
        "derivative: the impulse is no outcome of the simultaneous law; take one of "
        "simultaneous()");

  const Normalised units(problem);
  const ImpactProblem& p = units.problem;
  speed_ = units.speed;
  unit_ = units.impulse_to(VectorXd::Ones(p.c.size()));
  const VectorXd impulse = units.impulse_from(outcome.impulse);
  read(p, impulse);
  if (!corners_.empty()) {
    // without the part of the impulses that cancels: solvers end in corners of what is possible
    const linear::SingularValues svd = linear::singular_values(p.G);
    VectorXd least = impulse;
    for (Eigen::Index k = 0; k < p.c.size(); ++k) {
      const auto cancels = svd.V.col(k);
      if (svd.values[k] <= kSingular * svd.values[0]) least -= cancels.dot(impulse) * cancels;
    }
    const std::vector<int> before = corners_;
    if (residual(p, least) <= kOutcome) read(p, least);
    if (corners_.size() < before.size())
      impulse_ = units.impulse_to(least);
    else
      read(p, impulse);
  }

  system_ = by_impulse_ + by_c_plus_ * p.G;
  const linear::SingularValues svd = linear::singular_values(system_);
  const VectorXd& size = svd.values;
  VectorXd inverse = VectorXd::Zero(size.size());
  for (Eigen::Index k = 0; k < size.size(); ++k) {
    if (size[k] > kSingular * size[0]) {
      inverse[k] = 1 / size[k];
    } else if ((p.G * svd.V.col(k)).cwiseAbs().maxCoeff() > kUnmoved) {
      determined_ = false;
    }
  }
  inverse_ = svd.V * inverse.asDiagonal() * svd.U.transpose();
}

void OutcomeDerivative::read(const ImpactProblem& p, const VectorXd& impulse) {
  const VectorXd c_plus = p.c + p.G * impulse;
  by_impulse_ = by_c_plus_ = MatrixXd::Zero(p.c.size(), p.c.size());
  by_mu_ = MatrixXd::Zero(p.c.size(), p.contacts());
  corners_.clear();
  for (int i = 0; i < p.contacts(); ++i) add_contact(p, i, impulse, c_plus);
}

void OutcomeDerivative::add_contact(const ImpactProblem& p, int contact, const VectorXd& impulse,
                                    const VectorXd& c_plus) {
  const bool presses = impulse[contact] > kBorder;
  if (!presses && c_plus[contact] <= kBorder) corners_.push_back(contact);
  (presses ? by_c_plus_ : by_impulse_)(contact, contact) = 1;
  if (presses && p.mu[contact] > 0) {
    add_friction(p, contact, impulse, c_plus);
  } else {
    for (int t = 0; t < p.tangents; ++t)
      by_impulse_(p.tangent(contact) + t, p.tangent(contact) + t) = 1;
  }
}

void OutcomeDerivative::add_friction(const ImpactProblem& p, int contact, const VectorXd& impulse,
                                     const VectorXd& c_plus) {
  const int at = p.tangent(contact), k = p.tangents;
  const double mu = p.mu[contact], load = impulse[contact];
  const VectorXd friction = impulse.segment(at, k), slip = c_plus.segment(at, k);
  const bool polygon = k == 2 && p.edges > 0;
  const MatrixXd D = polygon ? friction_edges(p) : MatrixXd();
  auto rows_impulse = by_impulse_.middleRows(at, k), rows_c = by_c_plus_.middleRows(at, k);
  const auto corner = [&](bool is) {
    if (is && (corners_.empty() || corners_.back() != contact)) corners_.push_back(contact);
  };

  if (slip.norm() <= kBorder) {  // sticks
    rows_c.middleCols(at, k).setIdentity();
    double grip = friction.norm();
    for (int e = 0; polygon && e < p.edges; ++e) {
      const VectorXd out = D.col(e) + D.col((e + 1) % p.edges);
      grip = std::max(e ? grip : 0, friction.dot(out) / D.col(e).dot(out));
    }
    corner(grip >= mu * load * (1 - kBorder) - kBorder);
    return;
  }
  if (!polygon) {
    const VectorXd u = slip.normalized();
    rows_impulse.middleCols(at, k).setIdentity();
    rows_impulse.col(contact) = mu * u;
    rows_c.middleCols(at, k) =
        mu * load / slip.norm() * (MatrixXd::Identity(k, k) - u * u.transpose());
    by_mu_.col(contact).segment(at, k) = load * u;
    return;
  }
  const std::vector<int> edges = braking_edges(D, slip);
  const VectorXd first = D.col(edges.front()), last = D.col(edges.back());
  if (edges.size() == 1) {
    rows_impulse.middleCols(at, k).setIdentity();
    rows_impulse.col(contact) = -mu * first;
    by_mu_.col(contact).segment(at, k) = -load * first;
    return;
  }
  const VectorXd out = first + last;
  rows_c.row(0).segment(at, k) = (first - last).transpose();
  rows_impulse.row(1).segment(at, k) = out.transpose();
  rows_impulse(1, contact) = -mu * out.dot(first);
  by_mu_(at + 1, contact) = -load * out.dot(first);
  const double end = kBorder * (1 + mu * load);
  corner((friction - mu * load * first).norm() <= end ||
         (friction - mu * load * last).norm() <= end);
}

OutcomeChange OutcomeDerivative::operator()(const VectorXd& dc, const MatrixXd& dG,
                                            const VectorXd& dmu) const {
  VectorXd before = dc.size() ? dc : VectorXd::Zero(impulse_.size());
  if (dG.size()) before += dG * impulse_;
  VectorXd change = by_c_plus_ * before / speed_;
  if (dmu.size()) change += by_mu_ * dmu;
  const VectorXd y = -inverse_ * change;
  OutcomeChange answer{.impulse = unit_.cwiseProduct(y)};
  answer.c_plus = before + G_ * answer.impulse;
  const double size = change.norm();
  if (size > 0) answer.broken = (system_ * y + change).norm() / size;
  return answer;
}

}  // namespace routh
