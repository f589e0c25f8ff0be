#include "routh/impact/usual_step.h"

#include <algorithm>

namespace routh {

double stopping_impulse(const ImpactProblem& problem) {
  constexpr double kOutweighed = 8;
  int fastest = 0;
  const double most = -problem.normal().minCoeff(&fastest);
  double mobility = problem.G.diagonal().head(problem.contacts()).mean();
  if (const double own = problem.G(fastest, fastest); own > 0)
    mobility = std::min(mobility, kOutweighed * own);
  return most > 0 && mobility > 0 ? most / mobility : 1;
}

}  // namespace routh
