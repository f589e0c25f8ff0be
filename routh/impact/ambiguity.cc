#include "routh/impact/ambiguity.h"

#include <algorithm>
#include <cmath>

#include "routh/impact/modes.h"
#include "routh/impact/same_outcome.h"
#include "routh/impact/usual_step.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kSamplesShown = 8;  // samples that join the outcomes where these are not all
constexpr std::uint64_t kKept = 4096;
constexpr double kFiner = 8;  // a step that tells what a step's size does
constexpr std::uint64_t kFinerSamples = 256;
constexpr double kCheap = 1.0 / 16;  // a part of a step at which samples cost little

/// Searches of about a second, by their number alone (policy.h).
struct Budget {
  SimultaneousOptions simultaneous;
  SequentialOptions sequential;
  SetOptions set;
};

Budget budget_of(const ImpactProblem& problem, const AmbiguityOptions& options) {
  const double m = problem.contacts();
  const auto counted = [&](double most, double all, double least) {
    return std::clamp(options.effort * most, least, all);
  };
  Budget budget;
  SimultaneousOptions& at_once = budget.simultaneous;
  at_once.max_programs = static_cast<int>(counted(at_once.max_programs, at_once.max_programs, 1));
  at_once.stop = options.stop;

  SequentialOptions& in_turn = budget.sequential;
  in_turn = options.sequential;
  if (in_turn.max_states == 0 && problem.tangents == 2)
    in_turn.max_states = static_cast<int>(counted(policy::judged_states(m), 40'000, 10));
  in_turn.stop = options.stop;

  SetOptions& set = budget.set;
  const double samples = policy::judged_samples(count_modes(problem, true), m);
  set.samples = options.samples > 0 ? options.samples
                                    : static_cast<std::uint64_t>(counted(samples, 4096, 32));
  set.keep = std::min(set.samples, kKept);
  set.seed = options.seed;
  set.draws = options.draws;
  set.threads = options.threads;
  set.device = options.device;
  const double part = policy::judged_step(problem.tangents, m);
  set.step = options.step > 0 ? options.step : part * stopping_impulse(problem);
  set.limit += static_cast<int>(40 / part);
  set.progress = [options](std::uint64_t done) {
    return !(options.stop && options.stop()) && !(options.progress && !options.progress(done));
  };
  return budget;
}

/// Places of the samples that ended.
std::vector<std::size_t> ended_samples(const SetResult& set) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < set.kept.size(); ++k) {
    if (set.kept[k].terminated) places.push_back(k);
  }
  return places;
}

/// The samples most different from the outcomes become outcomes themselves.
void join_samples(const ImpactProblem& problem, Ambiguity& a) {
  std::vector<VectorXd> known, velocities;
  for (const Outcome& outcome : a.outcomes) known.push_back(outcome.c_plus);
  const std::vector<std::size_t> places = ended_samples(*a.set);
  for (const std::size_t place : places) velocities.push_back(a.set->kept[place].outcome.c_plus);
  for (const std::size_t k : most_different(problem, velocities, kSamplesShown, known)) {
    a.outcomes.push_back({a.set->kept[places[k]].outcome});
    a.outcomes.back().sample = places[k];
  }
}

/// How far samples are from each other or, where outcomes are several, from the nearest of these.
double apart(const SetResult& set, const std::vector<FoundOutcome>& outcomes) {
  if (set.terminated == 0) return 0;
  if (outcomes.size() < 2) return (set.c_max - set.c_min).lpNorm<Eigen::Infinity>();
  double farthest = 0;
  for (const std::size_t place : ended_samples(set)) {
    double nearest = HUGE_VAL;
    for (const Outcome& known : outcomes)
      nearest = std::min(nearest,
                         (set.kept[place].outcome.c_plus - known.c_plus).lpNorm<Eigen::Infinity>());
    farthest = std::max(farthest, nearest);
  }
  return farthest;
}

/// Is something in the set, or some sample, none of the outcomes?
bool has_mixtures(const ImpactProblem& problem, const Ambiguity& a) {
  const auto unknown = [&](const VectorXd& c) {
    return std::none_of(a.outcomes.begin(), a.outcomes.end(), [&](const Outcome& known) {
      return same_outcome(problem, known.c_plus, c, between_laws(problem));
    });
  };
  if (a.whole) {
    return std::any_of(a.whole->pieces.begin(), a.whole->pieces.end(), [&](const Polytope& piece) {
      return piece.corners.size() > 1 ||
             std::any_of(piece.corners.begin(), piece.corners.end(), unknown);
    });
  }
  const std::vector<std::size_t> places = ended_samples(*a.set);
  return std::any_of(places.begin(), places.end(),
                     [&](std::size_t place) { return unknown(a.set->kept[place].outcome.c_plus); });
}

/// The lowest and the highest of each contact velocity.
struct Range {
  VectorXd low, high;

  void include(const VectorXd& from, const VectorXd& to) {
    low = low.size() ? VectorXd(low.cwiseMin(from)) : from;
    high = high.size() ? VectorXd(high.cwiseMax(to)) : to;
  }
  VectorXd width() const { return high - low; }
};

/// Of the exact set, by whichever law it was asked for.
const std::vector<Polytope>& pieces_of(const Ambiguity& a) {
  static const std::vector<Polytope> none;
  return a.exact ? a.exact->pieces : a.whole ? a.whole->pieces : none;
}

/// How far each contact velocity varies; empty where nothing was found. Outcomes and samples apart
/// from each other: those of a circular cone lie a little off those of its polygon.
VectorXd widths(const Ambiguity& a) {
  Range points, set;
  for (const Outcome& outcome : a.outcomes) points.include(outcome.c_plus, outcome.c_plus);
  if (a.sampled() && a.set->terminated > 0 && !(a.coarse && points.low.size()))
    set.include(a.set->c_min, a.set->c_max);
  for (const Polytope& piece : pieces_of(a)) {
    for (const VectorXd& c : piece.corners) set.include(c, c);
  }
  if (!points.low.size()) return set.width();
  if (!set.low.size()) return points.width();
  return points.width().cwiseMax(set.width());
}

/// Contacts by how far they differ, and what they do.
std::vector<ContactSpread> differing(const ImpactProblem& p, const Ambiguity& a,
                                     const VectorXd& widths) {
  std::vector<ContactSpread> contacts;
  for (int i = 0; i < p.contacts(); ++i) {
    const double slip = widths.segment(p.tangent(i), p.tangents).lpNorm<Eigen::Infinity>();
    const double by = std::max(widths[i], slip);
    if (by > between_laws(p)) contacts.push_back({.contact = i, .by = by});
  }
  const auto take = [&](const std::vector<ContactState>& states) {
    for (ContactSpread& spread : contacts) {
      const ContactState state = states[spread.contact];
      if (std::find(spread.states.begin(), spread.states.end(), state) == spread.states.end())
        spread.states.push_back(state);
    }
  };
  for (const Outcome& outcome : a.outcomes) take(contact_states(p, outcome.c_plus));
  if (a.sampled() && !a.coarse) {
    for (const std::size_t place : ended_samples(*a.set))
      take(contact_states(p, a.set->kept[place].outcome.c_plus));
  }
  for (const Polytope& piece : pieces_of(a)) {
    if (!piece.modes.empty()) take(piece.modes);
    for (const VectorXd& c : piece.corners) take(contact_states(p, c));
  }
  std::stable_sort(contacts.begin(), contacts.end(),
                   [](const ContactSpread& x, const ContactSpread& y) { return x.by > y.by; });
  return contacts;
}

}  // namespace

std::vector<FoundOutcome> all_outcomes(const ImpactProblem& problem,
                                       const SimultaneousResult& at_once,
                                       const SequentialResult& in_turn) {
  std::vector<FoundOutcome> found;
  for (const Outcome& outcome : at_once.outcomes) found.push_back({outcome, true});
  for (std::size_t k = 0; k < in_turn.outcomes.size(); ++k) {
    const Outcome& outcome = in_turn.outcomes[k].outcome;
    const auto known = std::find_if(found.begin(), found.end(), [&](const Outcome& other) {
      return same_outcome(problem, other.c_plus, outcome.c_plus, between_laws(problem));
    });
    if (known == found.end())
      found.push_back({outcome, false, k});
    else if (!known->sequential)
      known->sequential = k;
  }
  return found;
}

bool Ambiguity::ended() const {
  if (const ExactResult* known = whole_set()) return !known->pieces.empty();
  return outcomes.size() == 1 && (!sequential || whole || sequential->unfinished.empty()) &&
         (!sampled() || (set->samples > 0 && set->terminated == set->samples));
}

std::optional<bool> Ambiguity::unique() const {
  const bool bracket = exact && exact->status == ExactStatus::kBracket;  // and more than the set
  if (!bracket && (outcomes.size() > 1 || (!contacts.empty() && !coarse))) return false;
  if (contacts.empty() && ended() && searched()) return true;
  // samples end where they begin
  const bool alone = set && !simultaneous && !sequential && listed.empty();
  if (alone && !colliding && !stopped) return true;
  return {};
}

Ambiguity ambiguity(const ImpactProblem& problem, const AmbiguityOptions& options) {
  validate(problem);
  ImpactProblem polygon = problem;
  if (problem.circular()) polygon.edges = options.edges;
  const Budget budget = budget_of(polygon, options);
  Ambiguity a;
  a.simultaneous = simultaneous(problem, budget.simultaneous);
  a.sequential = sequential(problem, budget.sequential);
  a.one_order = !options.sequential.order.empty();
  a.set = set_valued(polygon, budget.set);
  a.step = budget.set.step;
  if (options.exact && (!a.simultaneous->outcomes.empty() || !a.sequential->outcomes.empty()))
    a.whole = quick_set(problem, options.stop);
  a.stopped = options.stop && options.stop();
  a.coarse = !a.stopped && !a.whole &&
             differ_by_step(polygon, *a.set, budget.set,
                            all_outcomes(problem, *a.simultaneous, *a.sequential));
  return judged(problem, std::move(a));
}

std::optional<ExactResult> quick_set(const ImpactProblem& problem,
                                     const std::function<bool()>& stop) {
  if (problem.tangents != 1 || problem.contacts() > policy::kQuickSet || problem.bounces())
    return {};
  ExactResult set = exact(problem, {.max_polyhedra = policy::kQuickPolyhedra, .stop = stop});
  if (set.status != ExactStatus::kExact || set.pieces.empty()) return {};
  return set;
}

bool differ_by_step(const ImpactProblem& problem, const SetResult& samples, SetOptions options,
                    const std::vector<FoundOutcome>& outcomes) {
  if (options.draws == Draws::kExtremes) return false;  // they have none
  const double now = apart(samples, outcomes);
  if (now <= between_laws(problem)) return false;
  if (problem.contacts() == 1) return true;  // there is no order to choose
  // among several outcomes of many contacts the answer is not worth its price
  if (outcomes.size() > 1 && policy::judged_step(problem.tangents, problem.contacts()) > kCheap)
    return false;
  options.step /= kFiner;
  options.limit = static_cast<int>(std::min(1e6, kFiner * options.limit));
  options.samples = options.keep =
      std::clamp<std::uint64_t>(options.samples / 8, 16, kFinerSamples);
  options.paths = options.pack = 0;
  const SetResult finer = set_valued(problem, options);
  return finer.terminated > 0 && apart(finer, outcomes) < 3 / kFiner * now;
}

Ambiguity judged(const ImpactProblem& problem, Ambiguity a) {
  a.colliding = colliding(problem, problem.c);
  a.outcomes = all_outcomes(problem, a.simultaneous.value_or(SimultaneousResult{}),
                            a.sequential.value_or(SequentialResult{}));
  for (const Outcome& outcome : a.listed) a.outcomes.push_back({outcome});
  a.stopped = a.stopped || (a.simultaneous && a.simultaneous->stopped) ||
              (a.sequential && a.sequential->stopped) || (a.set && a.set->stopped);
  // samples that all end alike are no more than what the polygon makes of a circular cone
  if (a.whole) {
    a.mixtures = has_mixtures(problem, a);
  } else if (a.set && a.set->terminated > 0 && !a.coarse &&
             !same_outcome(problem, a.set->c_min, a.set->c_max, between_laws(problem))) {
    const bool finite = a.simultaneous || a.sequential;
    if (finite && !(a.all_modes() && a.all_orders())) join_samples(problem, a);
    a.mixtures = has_mixtures(problem, a);
  }
  if (const VectorXd by = widths(a); by.size()) {
    a.spread = by.lpNorm<Eigen::Infinity>();
    a.contacts = differing(problem, a, by);
  }
  return a;
}

double polygon_apart(const ImpactProblem& problem, const std::vector<Outcome>& outcomes,
                     const AmbiguityOptions& options) {
  ImpactProblem polygon = problem;
  polygon.edges = options.edges;
  const SimultaneousResult other = simultaneous(polygon, budget_of(polygon, options).simultaneous);
  double farthest = 0;
  for (const Outcome& outcome : outcomes) {
    double nearest = HUGE_VAL;
    for (const Outcome& o : other.outcomes)
      nearest = std::min(nearest, (o.c_plus - outcome.c_plus).lpNorm<Eigen::Infinity>());
    farthest = std::max(farthest, nearest);
  }
  return farthest;
}

}  // namespace routh
