#include "routh/impact/simultaneous.h"

#include <Random123/philox.h>

#include <Random123/uniform.hpp>
#include <algorithm>
#include <chrono>

#include "routh/impact/cone.h"
#include "routh/impact/modes.h"
#include "routh/impact/one_circular.h"
#include "routh/impact/solve_all.h"
#include "routh/impact/solve_one.h"
#include "routh/impact/two_phases.h"

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

/// Different starts lead to different solutions.
void search(const ImpactProblem& problem, const SimultaneousOptions& options,
            std::vector<VectorXd>& impulses) {
  const int m = problem.contacts();
  OneSolver solver(problem);
  const double size = problem.c.norm() / problem.G.diagonal().head(m).mean();
  const int attempts = policy::attempts(options.attempts, m);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (options.stop && options.stop()) return;
    Search random(attempt);
    const VectorXd from = attempt == 0 ? VectorXd::Zero(problem.c.size())
                                       : solver.start(size, {}, [&] { return random(); });
    solver.solve(problem.c, {}, from, options.tolerance);
    impulses.push_back(solver.impulse());
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

constexpr double kBlurred = 1e-10;  // of a velocity: then a residual says little

/// The circular cone. Where the search does not come to its end the solutions with polygons lead to
/// more; that none is missed is not proven then.
SimultaneousResult with_circular_cones(const ImpactProblem& problem,
                                       const SimultaneousOptions& options) {
  SimultaneousResult result;
  if (problem.contacts() == 1) {
    if (auto all = outcomes_of_one(problem, options.tolerance); all && !all->empty()) {
      result.outcomes = *std::move(all);
      return result;
    }
  }
  OneSolver solver(problem);
  std::vector<VectorXd> impulses;
  const auto take = [&](const VectorXd& from) {
    // what slides does so at the border of the disk
    VectorXd start = from;
    const VectorXd c = problem.c + problem.G * from;
    for (int i = 0; i < problem.contacts(); ++i) {
      auto friction = start.segment<2>(problem.tangent(i));
      if (c.segment<2>(problem.tangent(i)).norm() > velocity_tolerance(problem) &&
          friction.norm() > 0)
        friction *= problem.mu[i] * from[i] / friction.norm();
    }
    std::optional<Outcome> found = solver.solve(problem.c, {}, start, options.tolerance);
    impulses.push_back(solver.impulse());
    if (found) insert_distinct(problem, result.outcomes, std::move(*found));
  };
  SolveAllResult all =
      solve_all(problem, {.tolerance = options.tolerance,
                          .max_programs = static_cast<int>(policy::kArcs * options.max_programs),
                          .stop = options.stop});
  result.outcomes = std::move(all.outcomes);
  if (all.complete) {
    if (result.outcomes.empty()) {
      result.nothing = closest(problem, {});
      result.enumerated = !result.nothing->exists;
    }
    return result;
  }
  // without friction a polygon is as good, and its enumeration a proof
  result.enumerated = (problem.mu.array() == 0).all();
  for (const int edges : policy::polygons(problem.contacts())) {
    ImpactProblem polygon = problem;
    polygon.edges = edges;
    SimultaneousResult found = simultaneous(polygon, options);
    result.stopped = result.stopped || found.stopped;
    result.enumerated = result.enumerated && found.enumerated;
    for (const Outcome& o : found.outcomes) take(o.impulse);
    if (options.stop && options.stop()) break;
  }
  take(VectorXd::Zero(problem.c.size()));
  if (result.outcomes.empty()) result.nothing = closest(problem, impulses);
  return result;
}

SimultaneousResult with_polygons(const ImpactProblem& problem, const SimultaneousOptions& options) {
  SimultaneousResult result;
  std::vector<VectorXd> impulses;
  const auto take = [&](auto&& all) {
    result.outcomes = std::move(all.outcomes);
    result.continua = std::move(all.continua);
    result.borderline = std::move(all.borderline);
  };
  const double modes = count_modes(problem, false);
  result.enumerated = false;
  if (modes > std::min(policy::kTried, options.max_modes)) {
    SolveAllResult all = solve_all(problem, {.tolerance = options.tolerance,
                                             .max_programs = options.max_programs,
                                             .stop = options.stop});
    // what rounding leaves in doubt, singular modes may decide with all their digits
    result.enumerated = all.complete && (all.borderline.empty() || modes > options.max_modes);
    take(std::move(all));
  }
  if (!result.enumerated && modes <= options.max_modes) {
    StepOutcomes all = enumerate_modes(problem, {}, options.tolerance, options.stop);
    result.enumerated = true;
    result.stopped = all.stopped;
    take(std::move(all));
  }
  if (!result.enumerated) {
    search(problem, options, impulses);
  } else if (result.outcomes.empty()) {
    search(problem,
           {.tolerance = options.tolerance,
            .attempts = policy::kAttemptsForNothing,
            .stop = options.stop},
           impulses);
  }
  for (const VectorXd& impulse : impulses) {
    Outcome outcome{.impulse = impulse, .c_plus = problem.c + problem.G * impulse};
    outcome.residual = residual(problem, impulse);
    if (outcome.residual > options.tolerance) continue;
    if (rounding(problem, impulse) > kBlurred * problem.c.lpNorm<Eigen::Infinity>()) {
      insert_distinct(problem, result.borderline, std::move(outcome));
      continue;
    }
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

}  // namespace

SimultaneousResult simultaneous(const ImpactProblem& problem, const SimultaneousOptions& options) {
  validate(problem);
  const auto began = std::chrono::steady_clock::now();
  SimultaneousResult result = problem.bounces()    ? two_phases(problem, options)
                              : problem.circular() ? with_circular_cones(problem, options)
                                                   : with_polygons(problem, options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh
