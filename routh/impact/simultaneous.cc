#include "routh/impact/simultaneous.h"

#include <Random123/philox.h>

#include <Random123/uniform.hpp>
#include <algorithm>
#include <numeric>

#include "routh/impact/cone.h"
#include "routh/impact/modes.h"
#include "routh/impact/solve_all.h"
#include "routh/impact/step_solver.h"
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

constexpr double kRounded = 1e-10;    // of a velocity: then a residual says little
constexpr int kPolygons[] = {8, 12};  // edges of the polygons that stand for a disk

/// One solution with a circular cone, from the modes and directions of an impulse.
std::optional<Outcome> refined(const Normalised& units, StepSolver& solver, const VectorXd& from,
                               double tolerance) {
  const ImpactProblem& p = units.problem;
  const int m = p.contacts();
  solver.clear();
  const VectorXd c = p.c + p.G * from;
  for (int i = 0; i < m; ++i) {
    StepGuess guess(from[i] > 0 ? StepMode::kStick : StepMode::kOpen);
    const Eigen::Vector2d friction = from.segment<2>(p.tangent(i)),
                          slip = c.segment<2>(p.tangent(i));
    if (from[i] > 0 && slip.norm() > 1e-9 && friction.norm() > 0) {
      guess.mode = StepMode::kSlide;
      guess.friction = friction.normalized();
      guess.give = slip.norm() / friction.norm();
    }
    const Eigen::RowVectorXd Jn = Eigen::RowVectorXd::Unit(p.c.size(), i);
    Eigen::MatrixXd Jt = Eigen::MatrixXd::Zero(2, p.c.size());
    Jt.rightCols(2 * m).middleCols(2 * i, 2).setIdentity();
    solver.add_contact({Jn, Jt, p.mu[i]}, p.c, guess);
  }
  if (!solver.solve(0.1 * tolerance) && solver.residual() > tolerance) return {};
  Outcome outcome{.impulse = VectorXd(p.c.size())};
  for (int i = 0; i < m; ++i) {
    outcome.impulse[i] = solver.normal_impulse(i);
    for (const int t : {0, 1}) outcome.impulse[p.tangent(i) + t] = solver.tangential_impulse(i, t);
  }
  return outcome;
}

/// The circular cone: the solutions with polygons lead to those of the disk. That none is missed is
/// not proven.
SimultaneousResult with_circular_cones(const ImpactProblem& problem,
                                       const SimultaneousOptions& options) {
  SimultaneousResult result;
  const Normalised units(problem);
  StepSolver solver({0}, static_cast<int>(problem.c.size()));
  solver.set_inverse(units.problem.G);
  std::vector<VectorXd> impulses;
  const auto take = [&](const VectorXd& from) {
    const std::optional<Outcome> found = refined(units, solver, from, options.tolerance);
    if (!found) return;
    Outcome outcome{.impulse = units.impulse_to(found->impulse)};
    outcome.c_plus = problem.c + problem.G * outcome.impulse;
    outcome.residual = residual(problem, outcome.impulse);
    impulses.push_back(outcome.impulse);
    if (outcome.residual <= options.tolerance)
      insert_distinct(problem, result.outcomes, std::move(outcome));
  };
  // without friction a polygon is as good, and its enumeration a proof
  result.enumerated = (problem.mu.array() == 0).all();
  for (const int edges : kPolygons) {
    ImpactProblem polygon = problem;
    polygon.edges = edges;
    SimultaneousResult found = simultaneous(polygon, options);
    result.stopped = result.stopped || found.stopped;
    result.enumerated = result.enumerated && found.enumerated;
    for (const Outcome& o : found.outcomes) take(units.impulse_from(o.impulse));
    if (options.stop && options.stop()) break;
  }
  take(VectorXd::Zero(problem.c.size()));
  if (result.outcomes.empty()) result.nothing = closest(problem, impulses);
  return result;
}

}  // namespace

SimultaneousResult simultaneous(const ImpactProblem& problem, const SimultaneousOptions& options) {
  validate(problem);
  if (problem.circular()) return with_circular_cones(problem, options);
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
    result.borderline = std::move(all.borderline);
    result.enumerated = all.complete;
    if (!all.complete || result.outcomes.empty()) search(options);
  }
  for (const VectorXd& impulse : impulses) {
    Outcome outcome{.impulse = impulse, .c_plus = problem.c + problem.G * impulse};
    outcome.residual = residual(problem, impulse);
    if (outcome.residual > options.tolerance) continue;
    if (rounding(problem, impulse) > kRounded * problem.c.lpNorm<Eigen::Infinity>()) {
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

}  // namespace routh
