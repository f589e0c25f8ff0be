#include "routh/impact/ambiguity.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// Has the time been spent, or did the caller say so?
std::function<bool()> deadline(const AmbiguityOptions& options) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                             std::chrono::duration<double>(options.seconds));
  return [end, stop = options.stop] {
    return std::chrono::steady_clock::now() >= end || (stop && stop());
  };
}

double distance(const Outcome& a, const Outcome& b) {
  return (a.c_plus - b.c_plus).lpNorm<Eigen::Infinity>();
}

/// Samples end where a step of the set law ends: they are told apart less finely than outcomes.
double apart(const ImpactProblem& problem) { return 1000 * velocity_tolerance(problem); }

/// How far each contact velocity varies. Outcomes and samples apart from each other: those of a
/// circular cone lie a little off those of its polygon.
VectorXd range_of(const Ambiguity& a) {
  VectorXd range;
  if (a.set.terminated > 0) range = a.set.c_max - a.set.c_min;
  if (a.outcomes.empty()) return range;
  VectorXd low = a.outcomes[0].c_plus, high = low;
  for (const Outcome& outcome : a.outcomes)
    low = low.cwiseMin(outcome.c_plus), high = high.cwiseMax(outcome.c_plus);
  if (range.size() == 0) return high - low;
  return range.cwiseMax(high - low);
}

/// Contacts by how far they differ.
std::vector<ContactSpread> differing(const ImpactProblem& p, const Ambiguity& a,
                                     const VectorXd& range) {
  std::vector<ContactSpread> contacts;
  for (int i = 0; i < p.contacts(); ++i) {
    ContactSpread spread{.contact = i};
    spread.by =
        std::max(range[i], range.segment(p.tangent(i), p.tangents).lpNorm<Eigen::Infinity>());
    if (spread.by <= apart(p)) continue;
    const auto take = [&](const VectorXd& c) {
      const ContactState state = contact_states(p, c)[i];
      if (std::find(spread.states.begin(), spread.states.end(), state) == spread.states.end())
        spread.states.push_back(state);
    };
    for (const Outcome& outcome : a.outcomes) take(outcome.c_plus);
    for (const SetSample& sample : a.set.kept) {
      if (sample.terminated) take(sample.outcome.c_plus);
    }
    contacts.push_back(std::move(spread));
  }
  std::stable_sort(contacts.begin(), contacts.end(),
                   [](const ContactSpread& x, const ContactSpread& y) { return x.by > y.by; });
  return contacts;
}

}  // namespace

bool Ambiguity::ended() const {
  return outcomes.size() == 1 && unfinished == 0 && set.samples > 0 &&
         set.terminated == set.samples;
}

std::optional<bool> Ambiguity::unique() const {
  if (outcomes.size() > 1 || !contacts.empty()) return false;
  if (ended() && searched()) return true;
  return {};
}

Ambiguity ambiguity(const ImpactProblem& problem, const AmbiguityOptions& options) {
  validate(problem);
  Ambiguity a;
  a.colliding = colliding(problem, problem.c);
  ImpactProblem polygon = problem;
  if (problem.circular()) polygon.edges = options.edges;

  // every outcome of the finite laws
  const SimultaneousResult at_once = simultaneous(problem, {.stop = deadline(options)});
  const SequentialResult in_turn = sequential(problem, {.stop = deadline(options)});
  a.outcomes = at_once.outcomes;
  for (const SequentialOutcome& o : in_turn.outcomes) {
    const bool known = std::any_of(a.outcomes.begin(), a.outcomes.end(), [&](const Outcome& other) {
      return distance(o.outcome, other) <= apart(problem);
    });
    if (!known) a.outcomes.push_back(o.outcome);
  }
  a.simultaneous = at_once.outcomes.size(), a.sequential = in_turn.outcomes.size();
  a.unfinished = in_turn.unfinished.size();
  a.all_modes = at_once.enumerated, a.all_orders = in_turn.complete;

  // what lies between and beyond them
  const double most = -problem.normal().minCoeff();
  const double mobility = problem.G.diagonal().head(problem.contacts()).mean();
  SetOptions set{.samples = options.samples, .draws = Draws::kCorners};
  set.step = options.step > 0 ? options.step : most > 0 && mobility > 0 ? most / mobility : 1;
  set.progress = [stop = deadline(options)](std::uint64_t) { return !stop(); };
  a.set = set_valued(polygon, set);
  a.stopped = options.stop && options.stop();

  if (const VectorXd range = range_of(a); range.size()) {
    a.spread = range.lpNorm<Eigen::Infinity>();
    a.contacts = differing(problem, a, range);
  }

  // how far the polygon that stands for the circular cone leads away from it
  if (problem.circular() && !at_once.outcomes.empty()) {
    const SimultaneousResult other = simultaneous(polygon, {.stop = deadline(options)});
    a.polygon_apart = 0;
    for (const Outcome& outcome : at_once.outcomes) {
      double nearest = HUGE_VAL;
      for (const Outcome& o : other.outcomes) nearest = std::min(nearest, distance(o, outcome));
      a.polygon_apart = std::max(a.polygon_apart, nearest);
    }
  }
  return a;
}

}  // namespace routh
