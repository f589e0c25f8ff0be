#include "routh/simulate/batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "routh/impact/ambiguity.h"
#include "routh/impact/modes.h"
#include "routh/impact/policy.h"
#include "routh/impact/walk_device.h"
#include "routh/simulate/batch_device.h"
#include "routh/simulate/laws.h"
#include "routh/simulate/parallel.h"

namespace routh {

void judge_set(const ImpactProblem& problem, const SetResult& found, BatchResult& result) {
  if (found.unsolved > 0)
    result.trouble = std::to_string(found.unsolved) + " of " + std::to_string(found.samples) +
                     " samples met a step without a solution, or one that rounding hides";
  else if (found.terminated == 0)
    result.trouble = "no sample ended within the limit of steps";
  Ambiguity known;
  known.set = found;
  result.unique = judged(problem, std::move(known)).unique();
}

SetOptions set_options(const BatchProblem& problem, const BatchOptions& options) {
  SetOptions set{.samples = options.samples,
                 .step = problem.step,
                 .draws = options.draws,
                 .seed = options.seed,
                 .threads = 1,
                 .keep = 0,
                 .pack = options.samples};
  if (problem.limit > 0) set.limit = problem.limit;
  if (!(set.step > 0)) {
    const ImpactProblem& p = problem.impact;
    const double mobility = p.G.diagonal().head(p.contacts()).mean();
    const double most = -p.normal().minCoeff();
    set.step = most > 0 && mobility > 0 ? most / mobility : 1;
  }
  return set;
}

namespace {

using Eigen::VectorXd;

constexpr std::uint64_t kSoon = 1 << 16;  // samples by a table that are drawn before anyone waits

/// Takes outcomes into the ranges of a result.
class Ranges {
 public:
  Ranges(const BatchProblem& problem, BatchResult& result) : problem_(problem), result_(result) {
    result_.c.resize(static_cast<std::size_t>(problem.impact.c.size()));
    result_.forms.resize(static_cast<std::size_t>(problem.forms.rows()));
  }
  template <class C, class Impulse>
  void include(const C& c_plus, const Impulse& impulse) {
    for (std::size_t k = 0; k < result_.c.size(); ++k)
      result_.c[k].include(c_plus[static_cast<Eigen::Index>(k)]);
    for (std::size_t k = 0; k < result_.forms.size(); ++k)
      result_.forms[k].include(problem_.forms.row(static_cast<Eigen::Index>(k)).dot(c_plus));
    // the work of the impulse: at the mean of the velocities before and after
    result_.energy.include(0.5 * impulse.dot(problem_.impact.c + c_plus));
  }
  void include(const Outcome& outcome) {
    include(outcome.c_plus, outcome.impulse);
    result_.residual = std::max(result_.residual, outcome.residual);
  }

 private:
  const BatchProblem& problem_;
  BatchResult& result_;
};

/// Letters of what the contacts do.
std::string word_of(const ImpactProblem& problem, const VectorXd& c) {
  std::string word;
  for (const ContactState state : contact_states(problem, c))
    word += static_cast<char>('a' + static_cast<int>(state));
  return word;
}

/// What `samples` say; `wide`: of the ranges too.
void take(const BatchProblem& problem, const SetResult& set, const BatchOptions& options, bool wide,
          BatchResult& result) {
  Ranges ranges(problem, result);
  const int m = problem.impact.contacts();
  const PackedSamples& packed = set.packed;
  result.samples = set.samples;
  result.ended = set.terminated;
  result.ambiguous = set.ambiguous_samples;
  result.residual = std::max(result.residual, set.max_residual);
  std::uint64_t steps = 0;
  double impulse = 0;
  for (std::size_t k = 0; k < packed.index.size(); ++k) {
    if (!packed.terminated[k]) continue;
    const auto column = static_cast<Eigen::Index>(k);
    if (wide) ranges.include(packed.c_plus.col(column), packed.impulse.col(column));
    steps += static_cast<std::uint64_t>(packed.steps[k]);
    impulse += packed.impulse.col(column).head(m).sum();
    if (options.words) ++result.words[word_of(problem.impact, packed.c_plus.col(column))];
  }
  const auto ended = static_cast<double>(std::max<std::uint64_t>(1, set.terminated));
  result.steps = static_cast<double>(steps) / ended;
  result.impulse = impulse / ended;
}

ImpactProblem with_edges(ImpactProblem problem) {
  if (problem.circular()) problem.edges = kEdges;
  return problem;
}

void solve_set(const BatchProblem& problem, const BatchOptions& options, BatchResult& result) {
  const ImpactProblem polygon = with_edges(problem.impact);
  SetOptions set = set_options(problem, options);
  // long work listens; what takes milliseconds need not
  if (options.stop && (count_modes(polygon, true) > policy::kTriedAfter || polygon.bounces() ||
                       options.samples > kSoon))
    set.progress = [&](std::uint64_t) { return !options.stop(); };
  // smaller ones it took already
  if (polygon.contacts() > kMaxBatchContacts) set.device = options.device;
  const SetResult found = set_valued(polygon, set);
  take(problem, found, options, true, result);
  judge_set(polygon, found, result);
}

/// Everything that ambiguity() knows.
void solve_known(const BatchProblem& problem, const BatchOptions& options, Ambiguity known,
                 BatchResult& result) {
  result.outcomes = static_cast<int>(known.outcomes.size());
  result.unique = known.unique();
  if (known.set) take(problem, *known.set, options, !known.coarse, result);
  Ranges ranges(problem, result);
  for (const Outcome& outcome : known.outcomes) ranges.include(outcome);
  if (known.outcomes.empty())
    result.trouble = "no outcome was found";
  else if (!known.searched())
    result.trouble = "not everything was searched: other outcomes may exist";
  else if (known.sequential && !known.sequential->unfinished.empty())
    result.trouble = "orders of single impacts do not end";
}

/// `sampled`: the set law was applied already, perhaps the simultaneous one too.
void solve(const BatchProblem& problem, const BatchOptions& options, bool sampled,
           BatchResult& result) {
  const ImpactProblem& p = problem.impact;
  const std::function<bool()>& stop = options.stop;
  std::optional<SimultaneousResult> at_once;
  if ((options.simultaneous && !result.simultaneous) || options.law == "simultaneous")
    at_once = simultaneous(p, {.stop = stop});
  if (sampled) {
    // nothing is left to do
  } else if (options.law == "set") {
    solve_set(problem, options, result);
  } else {
    Ambiguity known;
    if (options.law == "all") {
      known = ambiguity(p, {.samples = options.samples,
                            .seed = options.seed,
                            .draws = options.draws,
                            .threads = 1,
                            .exact = false,
                            .stop = stop});
    } else if (options.law == "simultaneous") {
      known.simultaneous = at_once;
    } else if (options.law == "sequential") {
      known.sequential = sequential(p, {.stop = stop});
    } else {
      Listed listed = law_named(options.law).outcomes(p, stop);
      known.listed = std::move(listed.outcomes);
      known.all_listed = listed.all;
    }
    if (options.law != "all") known = judged(p, std::move(known));
    solve_known(problem, options, std::move(known), result);
  }
  if (at_once && at_once->enumerated)
    result.simultaneous = static_cast<int>(at_once->outcomes.size());
}

}  // namespace

double BatchResult::spread() const {
  double widest = std::numeric_limits<double>::quiet_NaN();
  for (const Between& range : c) {
    if (range.known() && !(widest >= range.width())) widest = range.width();
  }
  return widest;
}

std::vector<std::string> batch_laws() {
  std::vector<std::string> names;
  for (const Law& law : laws()) {
    if (law.outcomes || law.name == "all" || law.name == "sequential" || law.name == "set")
      names.push_back(law.name);
  }
  return names;
}

std::vector<BatchResult> solve_batch(const std::vector<BatchProblem>& problems,
                                     const BatchOptions& options) {
  const std::vector<std::string> known = batch_laws();
  if (std::find(known.begin(), known.end(), options.law) == known.end())
    throw std::invalid_argument("batch: law '" + options.law + "' is not for many impacts at once");
  if (options.law == "set" && options.samples == 0)
    throw std::invalid_argument("batch: samples must be at least 1");
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const auto fail = [&](const std::string& what) {
      throw std::invalid_argument("problem " + std::to_string(k) + ": " + what);
    };
    try {
      validate(problems[k].impact);
    } catch (const std::invalid_argument& e) {
      fail(e.what());
    }
    if (problems[k].forms.rows() > 0 && problems[k].forms.cols() != problems[k].impact.c.size())
      fail("forms must have a column for every contact velocity");
  }
  std::vector<BatchResult> results(problems.size());
  // a device takes what it can at once; of those it is told the simultaneous law alone
  const std::vector<char> sampled = solve_on_device(problems, options, results);
  in_parallel(
      problems.size(), options.threads,
      [&](std::uint64_t k) {
        if (options.stop && options.stop()) return;
        BatchResult result = std::move(results[k]);
        solve(problems[k], options, sampled[k], result);
        if (options.stop && options.stop()) return;
        result.done = true;
        results[k] = std::move(result);
      },
      options.progress);
  return results;
}

}  // namespace routh
