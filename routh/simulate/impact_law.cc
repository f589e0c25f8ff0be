#include "routh/simulate/impact_law.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/impact/bounce_walk.h"
#include "routh/impact/lzb.h"
#include "routh/impact/same_outcome.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/linear/decompose.h"
#include "routh/simulate/laws.h"

namespace routh {

using Eigen::VectorXd;

namespace {

[[noreturn]] void no_outcome(const std::string& law) {
  throw std::runtime_error("the " + law +
                           " law found no outcome of an impact; the contacts may be jammed");
}

/// Impulses of a path of single impacts, from its velocities: each piece belongs to one contact.
std::vector<VectorXd> impulses_of(const ImpactProblem& problem, const SequentialOutcome& sequence) {
  std::vector<VectorXd> impulses;
  VectorXd sum = VectorXd::Zero(problem.c.size());
  for (std::size_t k = 0; k + 1 < sequence.path.size(); ++k) {
    const VectorXd change = sequence.path[k + 1] - sequence.path[k];
    double nearest = HUGE_VAL;
    VectorXd best = VectorXd::Zero(sum.size());
    for (int i = 0; i < problem.contacts(); ++i) {
      const int t = problem.tangent(i), tangents = problem.tangents;
      Eigen::MatrixXd columns(sum.size(), 1 + tangents);
      columns << problem.G.col(i), problem.G.middleCols(t, tangents);
      const VectorXd x = linear::basic_solution(columns, change);
      const double distance = (columns * x - change).norm();
      if (distance >= nearest) continue;
      nearest = distance;
      best.setZero();
      best[i] = x[0], best.segment(t, tangents) = x.tail(tangents);
    }
    impulses.push_back(sum += best);
  }
  return impulses;
}

ChosenOutcome choose_sequential(const ImpactProblem& problem, std::uint64_t) {
  SequentialResult result = sequential(problem);
  if (result.outcomes.empty()) no_outcome("sequential");
  const SequentialOutcome& first = result.outcomes.front();
  return {first.outcome, static_cast<int>(result.outcomes.size()), impulses_of(problem, first)};
}

ChosenOutcome choose_sample(ImpactProblem problem, std::uint64_t seed, std::uint64_t impact) {
  if (!colliding(problem, problem.c)) return impact_law("simultaneous")(problem, impact);
  if (problem.circular()) problem.edges = kEdges;  // steps of the set are for polygons
  // steps of the size of the impulse that stops the fastest contact alone
  const int m = problem.contacts();
  const double step = -problem.normal().minCoeff() / problem.G.diagonal().head(m).mean();
  const SetOptions options{.samples = 1,
                           .step = step,
                           .limit = 100'000,
                           .seed = seed + 0x9e3779b97f4a7c15ull * impact,
                           .threads = 1,
                           .keep = 1};
  if (problem.tangents == 1) {
    // with its path, which the steps of Algorithm 1 have only to the order of their size
    if (!problem.bounces()) problem.restitution = Restitution::kByLaw;
    StepwiseSample sample = BounceWalk(problem, options).walk(0, true);
    if (problem.bounces()) sample.impulses.clear();
    if (sample.sample.terminated)
      return {std::move(sample.sample.outcome), 1, std::move(sample.impulses)};
  }
  const SetResult result = set_valued(problem, options);
  if (result.kept.empty() || !result.kept.front().terminated) no_outcome("set");
  return {result.kept.front().outcome, 1};
}

}  // namespace

ImpactLaw with_restitution(ImpactLaw law, Restitution means) {
  return [law = std::move(law), means](const ImpactProblem& problem, std::uint64_t impact) {
    ImpactProblem meant = problem;
    meant.restitution = means;
    return law(meant, impact);
  };
}

std::optional<ChosenOutcome> impact_without_collision(ImpactProblem problem,
                                                      const std::vector<int>& sliding) {
  const double fastest = problem.c.cwiseAbs().maxCoeff();
  // the slightest approach; the impulse does not shrink with it
  for (const int i : sliding) problem.c[i] = -1e-9 * fastest;

  // outcomes that change the motion: one contact after the other, or all at once
  std::vector<Outcome> found;
  const auto consider = [&](const Outcome& outcome) {
    if (same_outcome(problem, outcome.c_plus, problem.c)) return;
    for (const Outcome& known : found) {
      if (same_outcome(problem, outcome.c_plus, known.c_plus)) return;
    }
    found.push_back(outcome);
  };
  for (const SequentialOutcome& outcome : sequential(problem).outcomes) consider(outcome.outcome);
  for (const Outcome& outcome : simultaneous(problem).outcomes) consider(outcome);
  if (found.empty()) return {};
  return ChosenOutcome{found.front(), static_cast<int>(found.size())};
}

const std::vector<Law>& laws() {
  using Stop = std::function<bool()>;
  static const std::vector<Law> list{
      {.name = "all",
       .about = "every outcome of simultaneous and sequential, and a few samples of set",
       .options = {"samples", "seed", "threads", "draws", "device", "order", "single"},
       .restitution = {Restitution::kPoisson}},
      {.name = "simultaneous",
       .about = "all contacts at once, P1 (31)",
       .outcomes =
           [](const ImpactProblem& p, const Stop& stop) {
             SimultaneousResult found = simultaneous(p, {.stop = stop});
             return Listed{std::move(found.outcomes), found.enumerated && !found.stopped};
           },
       .restitution = {Restitution::kNewton, Restitution::kPoisson},
       .colours = {"#1f5fbf"}},
      {.name = "sequential",
       .about = "one contact after the other, in every order",
       .options = {"order", "single"},
       .drawn = [](std::uint64_t) { return ImpactLaw(choose_sequential); },
       .colours = {"#c8281e", "#e8a200", "#7b3fa0", "#2a8c4a", "#00838f"}},
      {.name = "set",
       .about = "impulses in any interleaving, sampled by P1 Algorithms 1 and 2",
       .options = {"samples", "seed", "threads", "draws", "step", "limit", "final-step", "keep",
                   "coverage", "device", "epsilon", "delta"},
       .drawn =
           [](std::uint64_t seed) {
             return [seed](const ImpactProblem& problem, std::uint64_t impact) {
               return choose_sample(problem, seed, impact);
             };
           },
       .polygon = true,
       .restitution = {Restitution::kPoisson, Restitution::kStronge}},
      {.name = "exact",
       .about = "the whole of that set, computed",
       .options = {"maximize", "minimize", "contains", "seed", "threads", "sensitivity"},
       .polygon = true},
      {.name = "witnesses",
       .about = "extremes of that set, each with a path that reaches it",
       .options = {"seed", "threads", "sensitivity"},
       .polygon = true,
       .colours = {"#1b7f79"}},
      {.name = "binary",
       .about = "one contact after the other, each by the algebraic law of Chatterjee and Ruina "
                "(1998)",
       .outcomes =
           [](const ImpactProblem& p, const Stop& stop) {
             SequentialResult found =
                 sequential(p, {.single = SingleLaw::kImpulseSpace, .stop = stop});
             Listed listed{{}, found.complete && found.unfinished.empty()};
             for (SequentialOutcome& s : found.outcomes)
               listed.outcomes.push_back(std::move(s.outcome));
             return listed;
           },
       .restitution = {Restitution::kNewton},
       .colours = {"#8a5a2b"}},
      {.name = "lzb",
       .about = "all contacts by the distributing rule of Liu, Zhao and Brogliato (2008)",
       .options = {"stiffness", "exponent"},
       .outcomes =
           [](const ImpactProblem& p, const Stop& stop) {
             LzbResult one = lzb(p, {.stop = stop});
             if (!one.finished) return Listed{{}, false};
             return Listed{{std::move(one.outcome)}};
           },
       .restitution = {Restitution::kStronge},
       .colours = {"#c2185b"}},
      {.name = "single",
       .about = "Routh's law at one contact",
       .options = {"contact"},
       .colours = {"#c8281e", "#e8a200"}},
  };
  return list;
}

const Law& law_named(const std::string& name) {
  std::string known;
  for (const Law& one : laws()) {
    if (one.name == name) return one;
    known += (known.empty() ? "" : ", ") + one.name;
  }
  throw std::invalid_argument("law '" + name + "': must be one of " + known);
}

std::vector<std::string> impact_law_names() {
  std::vector<std::string> names;
  for (const Law& one : laws()) {
    if (one.through_time()) names.push_back(one.name);
  }
  return names;
}

ImpactLaw impact_law(const Law& of, std::uint64_t seed) {
  if (of.drawn) return of.drawn(seed);
  if (!of.outcomes)
    throw std::invalid_argument("law '" + of.name + "': simulations need one that gives outcomes");
  return [all = of.outcomes, name = of.name](const ImpactProblem& problem, std::uint64_t) {
    const std::vector<Outcome> outcomes = all(problem, {}).outcomes;
    if (outcomes.empty()) no_outcome(name);
    return ChosenOutcome{outcomes.front(), static_cast<int>(outcomes.size())};
  };
}

ImpactLaw impact_law(const std::string& name, std::uint64_t seed) {
  return impact_law(law_named(name), seed);
}

}  // namespace routh
