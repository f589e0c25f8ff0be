#include "routh/impact/stepwise.h"

#include <algorithm>
#include <optional>

#include "routh/impact/draws.h"
#include "routh/impact/modes.h"
#include "routh/impact/solve_one.h"

namespace routh {

using Eigen::VectorXd;

namespace {

constexpr double kSolved = 1e-10;  // residual of a step, relative

}  // namespace

/// How steps are solved.
class StepwiseWalk::Steps {
 public:
  virtual ~Steps() = default;
  struct Step {
    Outcome outcome;
    bool ambiguous = false;
  };
  virtual std::optional<Step> solve(const VectorXd& c, const VectorXd& bound,
                                    WalkRandom& random) = 0;
};

namespace {

/// Every solution; one is drawn.
class ByModes final : public StepwiseWalk::Steps {
 public:
  explicit ByModes(const ImpactProblem& problem) : table_(problem) {}
  std::optional<Step> solve(const VectorXd& c, const VectorXd& bound, WalkRandom& random) override {
    std::vector<Outcome> all = table_.solve(c, bound, kSolved);
    if (all.empty()) return {};
    const auto pick = static_cast<std::size_t>(random() * static_cast<double>(all.size()));
    return Step{std::move(all[pick]), all.size() > 1};
  }

 private:
  ModeTable table_;
};

/// The solution that a random start leads to; nothing is kept from step to step, so that samples
/// depend on their index alone.
class ByStarts final : public StepwiseWalk::Steps {
 public:
  explicit ByStarts(const ImpactProblem& problem)
      : solver_(problem), mobility_(problem.G.diagonal().head(problem.contacts()).mean()) {}
  std::optional<Step> solve(const VectorXd& c, const VectorXd& bound, WalkRandom& random) override {
    const VectorXd from =
        solver_.start(c.lpNorm<Eigen::Infinity>() / mobility_, bound, [&] { return random(); });
    std::optional<Outcome> found = solver_.solve(c, bound, from, kSolved);
    if (!found) return {};
    return Step{std::move(*found)};
  }

 private:
  OneSolver solver_;
  double mobility_;
};

}  // namespace

bool StepwiseWalk::enumerates(const ImpactProblem& problem, const SetOptions& options) {
  return problem.tangents == 2 &&
         count_modes(problem, true) <= std::min(policy::kTabulatedInSpace, options.max_modes);
}

StepwiseWalk::StepwiseWalk(const ImpactProblem& problem, const SetOptions& options)
    : problem_(problem), options_(options) {
  if (enumerates(problem, options)) {
    steps_ = std::make_unique<ByModes>(problem);
  } else {
    steps_ = std::make_unique<ByStarts>(problem);
  }
}
StepwiseWalk::~StepwiseWalk() = default;

StepwiseSample StepwiseWalk::walk(std::uint64_t index, bool with_path) {
  WalkRandom random(options_.seed, index);
  StepwiseSample s;
  s.sample.index = index;
  Outcome& outcome = s.sample.outcome;
  outcome.impulse = VectorXd::Zero(problem_.c.size());
  outcome.c_plus = problem_.c;
  if (with_path) s.path.push_back(problem_.c);
  VectorXd bound(problem_.contacts());
  WalkBounds bounds(options_, index);
  const double zero = velocity_tolerance(problem_);
  const auto approaches = [&](Eigen::Index i) { return outcome.c_plus[i] < -zero; };
  while (colliding(problem_, outcome.c_plus) && s.sample.steps <= options_.limit) {
    const bool last = s.sample.steps == options_.limit;
    if (last && options_.final_step <= 0) break;
    random.begin_step(s.sample.steps);
    bounds.draw(s.sample.steps, approaches, random, bound);
    if (last) bound.setConstant(options_.final_step);
    const auto step = steps_->solve(outcome.c_plus, bound, random);
    s.unsolved = !step;
    if (s.unsolved) break;
    outcome.impulse += step->outcome.impulse;
    outcome.c_plus = step->outcome.c_plus;
    outcome.residual = std::max(outcome.residual, step->outcome.residual);
    s.ambiguous += step->ambiguous;
    ++s.sample.steps;
    if (with_path) s.path.push_back(outcome.c_plus);
  }
  s.sample.terminated = !colliding(problem_, outcome.c_plus);
  return s;
}

}  // namespace routh
