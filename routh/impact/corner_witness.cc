#include "routh/impact/corner_witness.h"

#include <algorithm>
#include <cmath>

#include "routh/impact/same_outcome.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kExposed = 1e-7;  // from the hull of the others, relative to the velocities

/// A form that is larger at a corner than at all of these; nothing where it lies among them.
std::optional<VectorXd> exposing(const VectorXd& corner, const std::vector<VectorXd>& others,
                                 double size) {
  if (others.empty()) return VectorXd::Unit(corner.size(), 0);
  const VectorXd away = -nearest_in_hull(others, corner).offset;
  if (!(away.norm() > kExposed * size)) return {};
  return away.normalized();
}

}  // namespace

std::vector<CornerWitness> corner_witnesses(const ImpactProblem& problem,
                                            const std::vector<Polytope>& pieces,
                                            const WitnessOptions& options) {
  // contacts in units of their own, in which forms are sought
  VectorXd unit = VectorXd::Ones(problem.c.size());
  for (Eigen::Index i = 0; i < unit.size(); ++i) {
    if (problem.G(i, i) > 0) unit[i] = 1 / std::sqrt(problem.G(i, i));
  }
  std::vector<CornerWitness> corners;
  std::vector<VectorXd> points;
  for (const Polytope& piece : pieces) {
    for (const VectorXd& c : piece.corners) {
      if (std::any_of(corners.begin(), corners.end(), [&](const CornerWitness& known) {
            return same_outcome(problem, known.c, c);
          }))
        continue;
      corners.push_back({c, {}});
      points.push_back(unit.cwiseProduct(c));
    }
  }
  const double size = unit.cwiseProduct(problem.c).norm();
  std::vector<WitnessTarget> targets;
  std::vector<std::size_t> of;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    std::vector<VectorXd> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    std::optional<VectorXd> form = exposing(points[k], others, size);
    for (std::size_t piece = 0; piece < pieces.size() && !form; ++piece) {
      std::vector<VectorXd> beside;
      bool own = false;
      for (const VectorXd& c : pieces[piece].corners) {
        if (same_outcome(problem, corners[k].c, c)) {
          own = true;
        } else {
          beside.push_back(unit.cwiseProduct(c));
        }
      }
      if (own) form = exposing(points[k], beside, size);
    }
    if (!form) continue;
    corners[k].target.q = unit.cwiseProduct(*form);
    targets.push_back(corners[k].target);
    of.push_back(k);
  }
  if (targets.empty()) return corners;

  const WitnessResult found = witnesses(problem, targets, options);
  for (std::size_t t = 0; t < of.size() && t < found.best.size(); ++t) {
    CornerWitness& corner = corners[of[t]];
    const Witness& own = found.best[t];
    if (!own.phases.empty() && own.certificate.corners.size() == 1 &&
        same_outcome(problem, own.outcome.c_plus, corner.c))
      corner.witness = own;
  }
  return corners;
}

}  // namespace routh
