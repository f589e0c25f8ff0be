#include "routh/io/questions.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "routh/impact/same_outcome.h"
#include "routh/io/document.h"
#include "routh/io/results.h"

namespace routh::io {

using Eigen::VectorXd;

Objective parse_objective(const ImpactCase& impact, const std::string& option,
                          const std::string& text) {
  if (text == "energy") return {text, -1};
  const std::size_t dot = text.find('.');
  const std::string kind = text.substr(0, dot);
  const std::string name = dot == std::string::npos ? "" : text.substr(dot + 1);
  const auto contact = std::find(impact.names.begin(), impact.names.end(), name);
  const bool space = impact.problem().tangents == 2;
  const std::vector<std::string> kinds =
      space ? std::vector<std::string>{"normal", "tangential1", "tangential2"}
            : std::vector<std::string>{"normal", "tangential"};
  const auto which = std::find(kinds.begin(), kinds.end(), kind);
  if (which == kinds.end() || contact == impact.names.end()) {
    throw InputError(fmt::format(
        "{} {}: must be energy, normal.NAME or {} with a contact of {}", option, text,
        space ? "tangential1.NAME, tangential2.NAME" : "tangential.NAME", join(impact.names)));
  }
  const int i = static_cast<int>(contact - impact.names.begin());
  const int k = static_cast<int>(which - kinds.begin());
  return {text, k == 0 ? i : impact.problem().tangent(i) + k - 1};
}

Extreme maximize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective) {
  // linear functions and the convex energy are largest at corners
  Extreme best{.value = -HUGE_VAL};
  for (const Polytope& piece : pieces) {
    for (const VectorXd& c : piece.corners) {
      const double value = objective.index >= 0
                               ? c[objective.index]
                               : kinetic_energy(impact.scenario.terms, lift_velocity(impact, c));
      if (value > best.value) best = {value, c, objective.name};
    }
  }
  return best;
}

Extreme minimize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective) {
  Extreme best{.value = HUGE_VAL};
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> M(impact.scenario.terms.M);
  const Eigen::MatrixXd root =
      M.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() * M.eigenvectors().transpose();
  for (const Polytope& piece : pieces) {
    if (objective.index >= 0) {
      for (const VectorXd& c : piece.corners) {
        if (c[objective.index] < best.value) best = {c[objective.index], c, objective.name};
      }
      continue;
    }
    // energy is least where √M v is nearest to the origin
    std::vector<VectorXd> points;
    for (const VectorXd& c : piece.corners) points.push_back(root * lift_velocity(impact, c));
    const VectorXd weights = min_norm_weights(points);
    VectorXd c = VectorXd::Zero(piece.corners[0].size()), point = VectorXd::Zero(points[0].size());
    for (std::size_t k = 0; k < points.size(); ++k) {
      c += weights[k] * piece.corners[k];
      point += weights[k] * points[k];
    }
    if (0.5 * point.squaredNorm() < best.value)
      best = {0.5 * point.squaredNorm(), c, objective.name};
  }
  return best;
}

VectorXd parse_contact_velocity(const ImpactCase& impact, const std::string& option,
                                const std::string& text) {
  constexpr double kFastest = 1e50;
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    try {
      numbers.push_back(evaluate(text.substr(at, end - at)));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{} {}: {}", option, text, e.what()));
    }
    at = end + 1;
  }
  const std::size_t wanted = impact.problem().c.size();
  if (numbers.size() != wanted) {
    throw InputError(
        fmt::format("{} {}: has {} numbers; {} contacts need {} (normals, then tangentials)",
                    option, text, numbers.size(), impact.names.size(), wanted));
  }
  for (const double x : numbers) {
    if (!(std::abs(x) <= kFastest))
      throw InputError(
          fmt::format("{} {}: velocities must be numbers up to {:.0e}", option, text, kFastest));
  }
  return Eigen::Map<VectorXd>(numbers.data(), static_cast<Eigen::Index>(wanted));
}

Answers answers(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                const Questions& questions) {
  Answers all;
  for (const Objective& o : questions.maximize) all.maximize.push_back(maximize(impact, pieces, o));
  for (const Objective& o : questions.minimize) all.minimize.push_back(minimize(impact, pieces, o));
  for (const VectorXd& c : questions.contains) {
    const Nearest nearest = nearest_point(pieces, c);
    all.contains.push_back({c, nearest, same_outcome(impact.problem(), c, nearest.point)});
  }
  return all;
}

}  // namespace routh::io
