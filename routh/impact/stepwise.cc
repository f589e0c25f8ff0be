#include "routh/impact/stepwise.h"

#include <Random123/philox.h>

#include <algorithm>
#include <optional>

#include "routh/impact/modes.h"
#include "routh/impact/solve_one.h"

namespace routh {

using Eigen::VectorXd;

namespace {

constexpr double kSolved = 1e-10;  // residual of a step, relative

/// Numbers in (0, 1) that depend on seed, sample, step and their place alone.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t index)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
        index_(index) {}
  /// Draws of different parts have nothing to do with each other.
  void begin_step(int step, std::uint32_t part = 0) { step_ = step, place_ = part << 20; }
  double operator()() {
    if (place_ % 4 == 0) {
      const philox4x32_ctr_t counter = {{static_cast<std::uint32_t>(index_),
                                         static_cast<std::uint32_t>(index_ >> 32),
                                         static_cast<std::uint32_t>(step_), place_ / 4}};
      words_ = philox4x32(counter, key_);
    }
    return (words_.v[place_++ % 4] + 0.5) * 0x1p-32;
  }

 private:
  philox4x32_key_t key_;
  philox4x32_ctr_t words_{};
  std::uint64_t index_;
  int step_ = 0;
  std::uint32_t place_ = 0;
};

}  // namespace

/// How steps are solved.
class StepwiseWalk::Steps {
 public:
  virtual ~Steps() = default;
  struct Step {
    Outcome outcome;
    bool ambiguous = false;
  };
  virtual std::optional<Step> solve(const VectorXd& c, const VectorXd& bound, Random& random) = 0;
};

namespace {

/// Every solution; one is drawn.
class ByModes final : public StepwiseWalk::Steps {
 public:
  explicit ByModes(const ImpactProblem& problem) : table_(problem) {}
  std::optional<Step> solve(const VectorXd& c, const VectorXd& bound, Random& random) override {
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
  std::optional<Step> solve(const VectorXd& c, const VectorXd& bound, Random& random) override {
    const VectorXd from =
        solver_.start(c.lpNorm<Eigen::Infinity>() / mobility_, bound, [&] { return random(); });
    std::optional<Outcome> found = solver_.solve(c, bound, from, kSolved);
    if (!found) return {};
    return Step{std::move(*found)};
  }

 private:
  OneSolution solver_;
  double mobility_;
};

/// Bounds on the normal impulses of the steps of one walk, P1 Algorithm 1 line 3. With corners each
/// contact waits, pushes with all its might, or neither. Half of the walks never change their mind:
/// of these, half go by what was drawn in the beginning, the others let one contact push alone
/// until it is done, then another, as the sequential law does.
class Bounds {
 public:
  Bounds(const SetOptions& options, double zero, std::uint64_t index)
      : options_(options), zero_(zero), kinds_(options.seed, index) {
    kinds_.begin_step(0, kSort);
    const double sort = kinds_();
    keeps_ = sort < 0.5, alone_ = sort < 0.25;
  }

  void draw(int step, const VectorXd& c, Random& random, VectorXd& bound) {
    for (double& b : bound) b = options_.step * random();
    if (options_.draws != Draws::kCorners) return;
    const auto approaches = [&](Eigen::Index i) { return c[i] < -zero_; };
    if (alone_) {
      if (turn_ < 0 || !approaches(turn_)) choose(step, approaches, bound.size());
      bound.setZero();
      bound[turn_] = options_.step;
      return;
    }
    kinds_.begin_step(keeps_ ? 0 : step, kKind);
    bool pushes = false;
    for (Eigen::Index i = 0; i < bound.size(); ++i) {
      const double kind = 3 * kinds_();
      if (kind < 2) bound[i] = kind < 1 ? 0 : options_.step;
      pushes = pushes || (bound[i] > 0 && approaches(i));
    }
    // somebody who approaches has to push
    for (Eigen::Index i = 0; i < bound.size() && !pushes; ++i) {
      if (approaches(i)) bound[i] = options_.step;
    }
  }

 private:
  enum Part : std::uint32_t { kSort = 1, kKind, kTurn };

  /// One of those that approach; there is one, or the walk would be over.
  template <class Approaches>
  void choose(int step, const Approaches& approaches, Eigen::Index contacts) {
    kinds_.begin_step(step, kTurn);
    double best = -1;
    for (Eigen::Index i = 0; i < contacts; ++i) {
      const double lot = kinds_();
      if (approaches(i) && lot > best) best = lot, turn_ = i;
    }
  }

  const SetOptions& options_;
  double zero_;
  Random kinds_;
  bool keeps_ = false, alone_ = false;
  Eigen::Index turn_ = -1;  // who pushes alone
};

}  // namespace

bool StepwiseWalk::enumerates(const ImpactProblem& problem, const SetOptions& options) {
  return problem.tangents == 2 && count_modes(problem, true) <= std::min(2000., options.max_modes);
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
  Random random(options_.seed, index);
  StepwiseSample s;
  s.sample.index = index;
  Outcome& outcome = s.sample.outcome;
  outcome.impulse = VectorXd::Zero(problem_.c.size());
  outcome.c_plus = problem_.c;
  if (with_path) s.path.push_back(problem_.c);
  VectorXd bound(problem_.contacts());
  Bounds bounds(options_, velocity_tolerance(problem_), index);
  while (colliding(problem_, outcome.c_plus) && s.sample.steps <= options_.limit) {
    const bool last = s.sample.steps == options_.limit;
    if (last && options_.final_step <= 0) break;
    random.begin_step(s.sample.steps);
    bounds.draw(s.sample.steps, outcome.c_plus, random, bound);
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
