#include "routh/impact/same_outcome.h"

#include <algorithm>
#include <limits>

namespace routh {

using Eigen::VectorXd;

bool same_outcome(const ImpactProblem& problem, const VectorXd& c, const VectorXd& other,
                  double rounding) {
  return (c - other).lpNorm<Eigen::Infinity>() <= same_velocity(problem) + rounding;
}

double between_laws(const ImpactProblem& problem) { return 100 * same_velocity(problem); }

std::vector<std::size_t> most_different(const ImpactProblem& problem,
                                        const std::vector<VectorXd>& velocities, std::size_t most,
                                        const std::vector<VectorXd>& known) {
  std::vector<std::size_t> chosen;
  std::vector<double> apart(velocities.size(), std::numeric_limits<double>::infinity());
  const auto measure = [&](const VectorXd& from) {
    for (std::size_t k = 0; k < apart.size(); ++k)
      apart[k] = std::min(apart[k], (velocities[k] - from).lpNorm<Eigen::Infinity>());
  };
  for (const VectorXd& c : known) measure(c);
  while (chosen.size() < std::min(most, velocities.size())) {
    const std::size_t next = std::max_element(apart.begin(), apart.end()) - apart.begin();
    if (apart[next] <= between_laws(problem)) break;
    chosen.push_back(next);
    measure(velocities[next]);
  }
  return chosen;
}

}  // namespace routh
