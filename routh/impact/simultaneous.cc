#include "routh/impact/simultaneous.h"

#include <Random123/philox.h>

#include <Random123/uniform.hpp>
#include <algorithm>
#include <numeric>

#include "routh/impact/modes.h"
#include "routh/impact/sweep_solver.h"
#include "routh/lcp/lemke.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// One search: the first begins in the middle, others at random.
class Search {
 public:
  explicit Search(unsigned attempt) : attempt_(attempt) {}
  double operator()() {
    return r123::u01<double>(generator_({{place_++, attempt_, 0, 0}}, {{0, 0}})[0]);
  }

 private:
  r123::Philox4x32 generator_;
  unsigned attempt_, place_ = 0;
};

/// In the plane: different covering vectors lead Lemke to different solutions.
void search_by_lemke(const ImpactProblem& problem, const SimultaneousOptions& options,
                     std::vector<VectorXd>& impulses) {
  const lcp::Problem lcp = simultaneous_lcp(problem);
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    if (options.stop && options.stop()) return;
    Search random(attempt);
    lcp::LemkeOptions lemke{.tolerance = options.tolerance, .cover = VectorXd(lcp.size())};
    for (double& x : lemke.cover) x = attempt == 0 ? 1 : 0.01 + random();
    const lcp::LemkeResult found = lcp::lemke(lcp, lemke);
    if (found.status == lcp::Status::kSolved)
      impulses.push_back(impulse_from_lcp(problem, found.z));
  }
}

/// In space: different starts and orders lead sweeps to different solutions.
void search_by_sweeps(const ImpactProblem& problem, const SimultaneousOptions& options,
                      std::vector<VectorXd>& impulses) {
  const int m = problem.contacts();
  std::vector<int> order(m);
  std::iota(order.begin(), order.end(), 0);
  SweepSolver solver(problem);
  const double size = problem.c.norm() / problem.G.diagonal().head(m).mean();
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    if (options.stop && options.stop()) return;
    Search random(attempt);
    VectorXd lambda = VectorXd::Zero(problem.c.size());
    for (int i = 0; i < m && attempt > 0; ++i) {
      lambda[i] = size * random();
      std::swap(order[i], order[static_cast<int>(random() * (i + 1))]);
    }
    solver.reset();
    if (solver.solve(problem.c, {}, order, {.tolerance = options.tolerance}, lambda))
      impulses.push_back(lambda);
  }
}

}  // namespace

SimultaneousResult simultaneous(const ImpactProblem& problem, const SimultaneousOptions& options) {
  validate(problem);
  SimultaneousResult result;
  if (count_modes(problem, false) <= options.max_modes) {
    StepOutcomes all = enumerate_modes(problem, {}, options.tolerance, options.stop);
    result.outcomes = std::move(all.outcomes);
    result.continua = std::move(all.continua);
    result.stopped = all.stopped;
    return result;
  }

  result.enumerated = false;
  std::vector<VectorXd> impulses;
  if (problem.tangents == 1) {
    search_by_lemke(problem, options, impulses);
  } else {
    search_by_sweeps(problem, options, impulses);
  }
  result.stopped = options.stop && options.stop();
  const double same = 10 * velocity_tolerance(problem);
  for (VectorXd& impulse : impulses) {
    Outcome outcome{.impulse = std::move(impulse)};
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
