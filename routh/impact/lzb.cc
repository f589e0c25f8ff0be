#include "routh/impact/lzb.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "routh/impact/bounce_walk.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// The distributing rule by way of the depth δ of a contact, E = K δ^(η+1) / (η+1): where nothing
/// is stored yet the rule says 0 : 0, and δ says at which rates contacts begin.
struct Distribution {
  const ImpactProblem& problem;
  const LzbOptions& options;
  int steps;
  VectorXd K;              // relative to the largest
  double speed, mobility;  // units: the largest velocity, what an impulse gives at the most
  double unit;             // of works [J]

  Distribution(const ImpactProblem& p, const LzbOptions& o, int count)
      : problem(p),
        options(o),
        steps(count),
        K(o.stiffness.size() ? VectorXd(o.stiffness / o.stiffness.maxCoeff())
                             : VectorXd::Ones(p.contacts())) {
    speed = p.c.lpNorm<Eigen::Infinity>();
    mobility = p.G.diagonal().head(p.contacts()).maxCoeff();
    unit = speed * speed / mobility;
  }

  double depth(int i, double E) const {
    return std::pow((options.exponent + 1) * E / unit / K[i], 1 / (options.exponent + 1));
  }

  /// Impulses of the next step: forces at its middle.
  void bounds(const VectorXd& c, const VectorXd& E, VectorXd& bound) const {
    const double eta = options.exponent;
    const int m = problem.contacts();
    // how long the quickest contact takes to compress
    const double now =
        std::max(c.lpNorm<Eigen::Infinity>() / speed, std::sqrt(2 * E.maxCoeff() / unit));
    double time = HUGE_VAL;
    for (int i = 0; i < m; ++i) {
      const double quick = problem.G(i, i) / mobility * K[i];
      if (quick > 0) time = std::min(time, std::pow(std::pow(now, 1 - eta) / quick, 1 / (eta + 1)));
    }
    const double dt = time / steps;
    for (int i = 0; i < m; ++i) {
      const double d = depth(i, E[i]), e = problem.bounce(i), cn = c[i] / speed;
      const double change = cn < 0 ? -cn : e > 0 ? -cn / (e * e) : 0;
      // what is left is given back whole, however little it is
      const double middle = std::max(d + 0.5 * dt * change, 0.25 * d);
      bound[i] = dt * K[i] * std::pow(middle, eta) * speed / mobility;
    }
  }
};

constexpr int kFinerStep = 5;  // of the steps

LzbResult with_steps(const ImpactProblem& problem, const LzbOptions& options, int steps,
                     bool with_path) {
  BounceWalk walk(problem, {.limit = options.max_steps});
  const Distribution rule(problem, options, steps);
  StepwiseSample s = walk.follow(
      [&](int step, VectorXd& bound) {
        rule.bounds(walk.velocity(), walk.springs(), bound);
        return !(options.stop && step % 16 == 15 && options.stop());
      },
      with_path);
  return {.outcome = std::move(s.sample.outcome),
          .finished = s.sample.terminated,
          .path = std::move(s.path)};
}

}  // namespace

LzbResult lzb(const ImpactProblem& problem, const LzbOptions& options, bool with_path) {
  validate(problem);
  const int m = problem.contacts();
  if (problem.bounces() && problem.meaning(Restitution::kStronge) != Restitution::kStronge)
    throw std::invalid_argument(
        "lzb: coefficients of restitution are ratios of works here; take stronge");
  if (options.stiffness.size() != 0 && options.stiffness.size() != m)
    throw std::invalid_argument("lzb: stiffness must have one entry for each of " +
                                std::to_string(m) + " contacts");
  for (int i = 0; i < options.stiffness.size(); ++i) {
    if (!(options.stiffness[i] > 0) || !std::isfinite(options.stiffness[i]))
      throw std::invalid_argument("lzb: stiffness[" + std::to_string(i) +
                                  "] must be positive and finite");
  }
  if (!(options.exponent >= 1) || !(options.exponent <= 10))
    throw std::invalid_argument("lzb: exponent must be between 1 and 10");
  if (options.steps < 1 || options.steps > 1'000'000)
    throw std::invalid_argument("lzb: steps must be positive, and at most a million");
  if (!(options.tolerance > 0)) throw std::invalid_argument("lzb: tolerance must be positive");

  LzbResult result{.outcome = {VectorXd::Zero(problem.c.size()), problem.c}, .finished = true};
  if (with_path) result.path = {problem.c};
  if (!colliding(problem, problem.c)) return result;
  result = with_steps(problem, options, options.steps, with_path);
  const double speed = problem.c.lpNorm<Eigen::Infinity>();
  result.change = HUGE_VAL;
  for (int halving = 1; halving <= kFinerStep && result.change > options.tolerance; ++halving) {
    LzbResult finer = with_steps(problem, options, options.steps << halving, with_path);
    if (!finer.finished) break;
    finer.change = (finer.outcome.c_plus - result.outcome.c_plus).lpNorm<Eigen::Infinity>() / speed;
    result = std::move(finer);
  }
  return result;
}

}  // namespace routh
