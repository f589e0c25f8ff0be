#include "routh/impact/simultaneous.h"

#include <Random123/philox.h>

#include <Random123/uniform.hpp>
#include <algorithm>
#include <numeric>

#include "routh/impact/cone.h"
#include "routh/impact/modes.h"
#include "routh/impact/solve_all.h"
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
void search_by_lemke(const Normalised& units, const SimultaneousOptions& options,
                     std::vector<VectorXd>& impulses) {
  const lcp::Problem lcp = simultaneous_lcp(units.problem);
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    if (options.stop && options.stop()) return;
    Search random(attempt);
    lcp::LemkeOptions lemke{.tolerance = options.tolerance, .cover = VectorXd(lcp.size())};
    for (double& x : lemke.cover) x = attempt == 0 ? 1 : 0.01 + random();
    const lcp::LemkeResult found = lcp::lemke(lcp, lemke);
    impulses.push_back(units.impulse_to(impulse_from_lcp(units.problem, found.z)));
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
    solver.solve(problem.c, {}, order, {.tolerance = options.tolerance}, lambda);
    impulses.push_back(lambda);
  }
}

/// The impulse that comes closest: nothing at all, or what a few searches end with.
NothingFound closest(const ImpactProblem& problem, const std::vector<VectorXd>& impulses) {
  NothingFound nothing{.best = {VectorXd::Zero(problem.c.size()), problem.c, 0}};
  nothing.violation = violation(problem, nothing.best.impulse);
  for (const VectorXd& impulse : impulses) {
    const Violation v = violation(problem, impulse);
    if (!(v.size < nothing.violation.size)) continue;
    nothing.best = {impulse, problem.c + problem.G * impulse, v.size};
    nothing.violation = v;
  }
  nothing.best.residual = nothing.violation.size;
  nothing.exists = pointed(problem);
  return nothing;
}

}  // namespace

SimultaneousResult simultaneous(const ImpactProblem& problem, const SimultaneousOptions& options) {
  validate(problem);
  SimultaneousResult result;
  std::vector<VectorXd> impulses;
  const auto search = [&](const SimultaneousOptions& how) {
    if (problem.tangents == 1) {
      search_by_lemke(Normalised(problem), how, impulses);
    } else {
      search_by_sweeps(problem, how, impulses);
    }
  };

  result.enumerated = count_modes(problem, false) <= options.max_modes;
  if (result.enumerated) {
    StepOutcomes all = enumerate_modes(problem, {}, options.tolerance, options.stop);
    result.outcomes = std::move(all.outcomes);
    result.continua = std::move(all.continua);
    result.borderline = std::move(all.borderline);
    result.stopped = all.stopped;
    if (result.outcomes.empty())
      search({.tolerance = options.tolerance, .attempts = 4, .stop = options.stop});
  } else {
    SolveAllResult all = solve_all(problem, {.tolerance = options.tolerance,
                                             .max_programs = options.max_programs,
                                             .stop = options.stop});
    result.outcomes = std::move(all.outcomes);
    result.continua = std::move(all.continua);
    result.enumerated = all.complete;
    if (!all.complete || result.outcomes.empty()) search(options);
  }
  for (const VectorXd& impulse : impulses) {
    Outcome outcome{.impulse = impulse, .c_plus = problem.c + problem.G * impulse};
    outcome.residual = residual(problem, impulse);
    if (outcome.residual > options.tolerance) continue;
    const std::size_t known = result.outcomes.size();
    insert_distinct(problem, result.outcomes, std::move(outcome));
    if (result.outcomes.size() > known) result.enumerated = false;
  }
  result.stopped = result.stopped || (options.stop && options.stop());
  if (result.outcomes.empty()) {
    result.nothing = closest(problem, impulses);
    if (result.nothing->exists) result.enumerated = false;
  }
  return result;
}

}  // namespace routh
