#include "routh/simulate/ensemble.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>

#include "routh/impact/ambiguity.h"
#include "routh/simulate/parallel.h"
#include "routh/simulate/recorder.h"
#include "routh/simulate/reduce.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kTouching = 1e-6;  // gaps up to this are closed [m]

std::string braced(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return "{" + text + "}";
}

std::string word_of(const Trajectory& t, const std::vector<Contact>& contacts) {
  std::string word;
  const auto add = [&](const std::string& letter) { word += (word.empty() ? "" : " ") + letter; };
  if (t.hybrid()) {
    for (const Mode& mode : t.hybrid()->modes) add(to_string(mode, contacts));
    return word;
  }
  for (const Event& e : t.events) {
    if (e.kind != EventKind::kImpact) continue;
    std::vector<std::string> names;
    for (const int i : e.contacts)
      names.push_back(t.contact_names.empty() ? contacts[i].name : t.contact_names[i]);
    std::sort(names.begin(), names.end());
    add(braced(names));
  }
  return word;
}

std::string final_mode_of(const System& system, const Trajectory& t,
                          const std::vector<Contact>& contacts) {
  if (t.hybrid()) return to_string(t.hybrid()->modes.back(), contacts);
  std::vector<std::string> names;
  if (system.contacts_vary()) {
    for (const Contact& contact : system.terms(t.final.q, t.final.v, t.final.time).contacts) {
      if (contact.phi <= kTouching) names.push_back(contact.name);
    }
  } else {
    // gaps alone: where a motion ended there may be no forces
    VectorXd gaps, joints;
    system.gaps(t.final.q, gaps, joints);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      if (gaps[static_cast<Eigen::Index>(i)] <= kTouching) names.push_back(contacts[i].name);
    }
  }
  std::sort(names.begin(), names.end());
  return braced(names);
}

EnsembleRun summary(const System& system, const Trajectory& t, std::uint64_t index,
                    const std::vector<Contact>& contacts) {
  EnsembleRun run{.index = index,
                  .status = t.status,
                  .final = t.final,
                  .word = word_of(t, contacts),
                  .final_mode = final_mode_of(system, t, contacts),
                  .message = t.message,
                  .energy_start = t.energy.front(),
                  .energy_end = t.energy.back(),
                  .finished = true};
  run.impacts =
      static_cast<int>(std::count_if(t.events.begin(), t.events.end(),
                                     [](const Event& e) { return e.kind == EventKind::kImpact; }));
  run.largest_gain = largest_gain(system, t.events);
  return run;
}

std::vector<EnsembleGroup> grouped(const std::vector<EnsembleRun>& runs,
                                   const std::string EnsembleRun::*by) {
  std::map<std::string, EnsembleGroup> groups;
  for (const EnsembleRun& run : runs) {
    EnsembleGroup& group = groups[run.*by];
    if (group.count++ == 0) group.name = run.*by, group.first = run.index;
  }
  std::vector<EnsembleGroup> sorted;
  for (auto& [name, group] : groups) sorted.push_back(std::move(group));
  std::sort(sorted.begin(), sorted.end(), [](const EnsembleGroup& a, const EnsembleGroup& b) {
    return a.count != b.count ? a.count > b.count : a.first < b.first;
  });
  return sorted;
}

}  // namespace

EnsemblePart ensemble_part(const System& system, const State& start, const MotionByLaw& motion,
                           const EnsembleOptions& options, std::uint64_t first,
                           std::uint64_t count) {
  const std::vector<Contact> contacts = system.terms(start.q, start.v, start.time).contacts;
  EnsemblePart part;
  part.runs.resize(count);
  part.kept.resize(options.keep > first ? std::min(options.keep - first, count) : 0);
  std::vector<ModeGraph> graphs(options.graph ? count : 0);

  // every run depends on its index alone, whoever does it
  std::atomic<bool> stop = false;
  std::mutex trouble;
  std::uint64_t failed = count;
  const auto work = [&](std::uint64_t k) {
    const std::uint64_t index = first + k;
    try {
      // a seed of its own for every run; decisions add their number
      const std::uint64_t seed = mixed(options.seed, index);
      Trajectory t = motion({with_restitution(impact_law(options.law, seed), options.restitution),
                             drawn_ways(seed), seed, [&](double) { return !stop.load(); }});
      if (t.status == SimulationStatus::kInterrupted) return;
      part.runs[k] = summary(system, t, index, contacts);
      if (options.graph) graphs[k].add(t, contacts);
      if (k < part.kept.size()) part.kept[k] = std::move(t);
    } catch (const std::exception& e) {
      // one motion that cannot go on does not end the others
      part.runs[k] = {.index = index,
                      .status = SimulationStatus::kStopped,
                      .final = start,
                      .word = std::string("failed: ") + e.what(),
                      .final_mode = "failed",
                      .message = e.what(),
                      .finished = true};
      const std::lock_guard lock(trouble);
      if (k < failed) failed = k, part.failure = std::current_exception();
    }
  };
  std::function<bool(std::uint64_t)> progress;
  if (options.progress) {
    progress = [&](std::uint64_t done) {
      if (!options.progress(done)) stop = true;
      return !stop;
    };
  }
  in_parallel(count, options.threads, work, progress);
  std::erase_if(part.runs, [](const EnsembleRun& run) { return !run.finished; });
  for (std::size_t k = 0; k < graphs.size(); k += kEnsembleBlock) {
    ModeGraph block;
    for (std::size_t i = k; i < std::min<std::size_t>(graphs.size(), k + kEnsembleBlock); ++i)
      block.add(graphs[i]);
    part.graph.add(block);
  }
  return part;
}

void sum_up(const EnsembleOptions& options, EnsembleResult& result) {
  result.early = std::count_if(result.runs.begin(), result.runs.end(),
                               [](const EnsembleRun& run) { return ends_early(run.status); });
  result.stopped = result.runs.size() < options.runs;
  result.words = grouped(result.runs, &EnsembleRun::word);
  result.modes = grouped(result.runs, &EnsembleRun::final_mode);
  result.reasons = grouped(result.runs, &EnsembleRun::message);
  std::erase_if(result.reasons, [](const EnsembleGroup& group) { return group.name.empty(); });
}

EnsembleResult ensemble(const System& system, const State& start, const MotionByLaw& motion,
                        const EnsembleOptions& options) {
  if (options.runs == 0) throw std::invalid_argument("runs must be at least 1");
  const auto began = std::chrono::steady_clock::now();
  EnsemblePart all = ensemble_part(system, start, motion, options, 0, options.runs);
  if (all.failure && all_failed(all.runs)) std::rethrow_exception(all.failure);
  EnsembleResult result{
      .runs = std::move(all.runs), .kept = std::move(all.kept), .graph = std::move(all.graph)};
  sum_up(options, result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

bool all_failed(const std::vector<EnsembleRun>& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const EnsembleRun& run) { return run.final_mode == "failed"; });
}

namespace {

/// A run that goes the given ways from its first decisions, then the first of each.
struct Scripted {
  struct Decision {
    int ways = 1;
    std::string way;      ///< that was taken
    std::size_t event;    ///< of Trajectory::events
    bool impact = false;  ///< does an impact without collision follow?
  };
  Trajectory trajectory;
  std::vector<Decision> decisions;
};
Scripted follow(const MotionByLaw& motion, const std::vector<int>& choices,
                const std::vector<Contact>& contacts, const std::function<bool()>& stop) {
  Scripted run;
  const auto next = [&] {
    const std::size_t place = run.decisions.size();
    return place < choices.size() ? choices[place] : 0;
  };
  const ImpactLaw law = [&](const ImpactProblem& problem, std::uint64_t event) {
    const std::vector<FoundOutcome> found =
        all_outcomes(problem, simultaneous(problem), sequential(problem));
    if (found.empty()) throw std::runtime_error("an impact has no outcome");
    const int choice = next(), count = static_cast<int>(found.size());
    run.decisions.push_back(
        {count,
         count == 1 ? "the only outcome"
                    : "outcome " + std::to_string(choice + 1) + " of " + std::to_string(count),
         event});
    return ChosenOutcome{found.at(choice), count};
  };
  const Choice choose = [&](const Fork& at) {
    const auto choice = static_cast<std::size_t>(next());
    const Continuation& way = at.ways.at(choice);
    run.decisions.push_back({static_cast<int>(at.ways.size()), to_string(way, at.before, contacts),
                             at.event, way.impact});
    return choice;
  };
  run.trajectory =
      motion({.law = law, .choose = choose, .progress = [&](double) { return !stop || !stop(); }});
  return run;
}

/// Have two motions come to the same place, as far as the way there and their speed can tell?
bool same_state(const State& a, const State& b, const State& start) {
  constexpr double kSame = 1e-8;
  const double way = std::max((a.q - start.q).norm(), (b.q - start.q).norm());
  const double speed = std::max(a.v.norm(), b.v.norm());
  return std::abs(a.time - b.time) <= kSame * std::abs(a.time - start.time) &&
         (a.q - b.q).norm() <= kSame * way && (a.v - b.v).norm() <= kSame * speed;
}

}  // namespace

BranchTree branch(const System& system, const State& start, const MotionByLaw& motion, int depth,
                  int most, const std::function<bool()>& stop) {
  const std::vector<Contact> contacts = system.terms(start.q, start.v, start.time).contacts;
  BranchTree tree;
  std::vector<std::vector<int>> choices;  // that lead to each branch
  const auto grow = [&](int parent, std::vector<int> path) {
    const Scripted run = follow(motion, path, contacts, stop);
    if (run.trajectory.status == SimulationStatus::kInterrupted) return false;
    Branch b{.parent = parent,
             .depth = static_cast<int>(path.size()),
             .choice = path.empty() ? 0 : path.back(),
             .state = start,
             .final = run.trajectory.final,
             .word = word_of(run.trajectory, contacts),
             .message = run.trajectory.message};
    if (run.decisions.size() > path.size()) b.outcomes = run.decisions[path.size()].ways;
    // the state behind its last decision
    if (!path.empty() && run.decisions.size() >= path.size()) {
      const Scripted::Decision& last = run.decisions[path.size() - 1];
      const std::vector<Event>& events = run.trajectory.events;
      b.way = last.way;
      const std::size_t event = last.event + (last.impact ? 1 : 0);
      if (event < events.size()) {
        const Event& e = events[event];
        b.state = {e.time, e.q, e.v_plus};
        b.mode = e.continuations.empty() ? e.mode_after : e.continuations.front().mode;
      }
    }
    for (Branch& other : tree.branches) {
      if (other.depth != b.depth || b.depth == 0) continue;
      if (other.mode == b.mode && same_state(other.state, b.state, start)) {
        ++other.ways;
        return true;
      }
    }
    tree.branches.push_back(std::move(b));
    choices.push_back(std::move(path));
    return true;
  };

  tree.complete = grow(-1, {});
  for (std::size_t k = 0; k < tree.branches.size(); ++k) {
    if (tree.branches[k].depth == depth) continue;
    for (int choice = 0; choice < tree.branches[k].outcomes; ++choice) {
      std::vector<int> path = choices[k];
      path.push_back(choice);
      if (static_cast<int>(tree.branches.size()) >= most ||
          !grow(static_cast<int>(k), std::move(path))) {
        tree.complete = false;
        return tree;
      }
    }
  }
  return tree;
}

}  // namespace routh
