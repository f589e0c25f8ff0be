#include "routh/impact/simultaneous.h"

#include <Random123/philox.h>

#include <Random123/uniform.hpp>
#include <algorithm>
#include <stdexcept>

#include "routh/impact/modes.h"
#include "routh/lcp/lemke.h"

namespace routh {

using Eigen::VectorXd;

SimultaneousResult simultaneous(const ImpactProblem& problem, const SimultaneousOptions& options) {
  validate(problem);
  if (problem.tangents != 1)
    throw std::invalid_argument("simultaneous: only planar problems (tangents = 1)");
  SimultaneousResult result;
  if (count_modes(problem.mu, false) <= options.max_modes) {
    StepOutcomes all = enumerate_modes(problem, {}, options.tolerance);
    result.outcomes = std::move(all.outcomes);
    result.continua = std::move(all.continua);
    return result;
  }

  // too many modes: different covering vectors lead Lemke to different solutions
  result.enumerated = false;
  const lcp::Problem lcp = simultaneous_lcp(problem);
  const double same = 10 * velocity_tolerance(problem);
  r123::Philox4x32 generator;
  for (unsigned attempt = 0; attempt < static_cast<unsigned>(options.attempts); ++attempt) {
    lcp::LemkeOptions lemke{.tolerance = options.tolerance, .cover = VectorXd(lcp.size())};
    for (unsigned i = 0; i < static_cast<unsigned>(lcp.size()); ++i) {
      const double u = r123::u01<double>(generator({{i, attempt, 0, 0}}, {{0, 0}})[0]);
      lemke.cover[i] = attempt == 0 ? 1 : 0.01 + u;
    }
    const lcp::LemkeResult found = lcp::lemke(lcp, lemke);
    if (found.status != lcp::Status::kSolved) continue;
    Outcome outcome{.impulse = impulse_from_simultaneous_lcp(problem.contacts(), found.z)};
    outcome.c_plus = problem.c + problem.G * outcome.impulse;
    outcome.residual = residual(problem, outcome.impulse);
    const bool known =
        std::any_of(result.outcomes.begin(), result.outcomes.end(), [&](const Outcome& o) {
          return (o.c_plus - outcome.c_plus).lpNorm<Eigen::Infinity>() <= same;
        });
    if (!known && outcome.residual <= options.tolerance) result.outcomes.push_back(outcome);
  }
  return result;
}

}  // namespace routh
