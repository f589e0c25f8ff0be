#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "routh/simulate/hybrid.h"
#include "routh/simulate/mode_graph.h"
#include "routh/simulate/time_stepping.h"

/// Many motions from one start: where an impact has a set of outcomes, or forces allow several
/// modes (Painlevé), or an input a set of values, every run draws its own, or all extreme ones are
/// followed as a tree.
namespace routh {

struct EnsembleOptions {
  std::uint64_t runs = 1024;
  std::uint64_t seed = 0;
  std::string law = "set";  ///< of impact_law(); the others give every run the same motion
  Restitution restitution = Restitution::kByLaw;  ///< what coefficients of restitution mean
  int threads = 0;                                ///< 0: all cores. Results do not depend on it.
  std::uint64_t keep = 0;  ///< trajectories returned: those of the first runs
  bool graph = false;      ///< EnsembleResult::graph is wanted
  /// Called now and then with the number of runs done, from the calling thread; false stops.
  std::function<bool(std::uint64_t)> progress = {};
};

/// How one run went; seed and index replay it.
struct EnsembleRun {
  std::uint64_t index = 0;
  SimulationStatus status = SimulationStatus::kDone;
  State final;
  /// The contact modes it went through; by time-stepping, the contacts of its impacts.
  std::string word;
  std::string final_mode;  ///< the last mode; by time-stepping, the contacts that touch at the end
  std::string message;     ///< why it stopped before the end
  int impacts = 0;
  double energy_start = 0, energy_end = 0;  ///< [J]
  double largest_gain = 0;                  ///< of energy in an impact [J]; never above rounding
  bool finished = false;                    ///< false: not begun when the ensemble was stopped
};

/// Runs that went the same way.
struct EnsembleGroup {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< index of a run that did
};

struct [[nodiscard]] EnsembleResult {
  std::vector<EnsembleRun> runs;            ///< finished, by index
  std::vector<EnsembleGroup> words, modes;  ///< by contact word and by final mode, largest first
  std::vector<EnsembleGroup> reasons;       ///< why runs stopped before the end, the same way
  std::vector<Trajectory> kept;  ///< by index; empty where the run failed or was not begun
  ModeGraph graph;               ///< of all runs, where it is wanted
  std::uint64_t early = 0;       ///< runs that stopped before their end; each says why
  bool stopped = false;
  double seconds = 0;
};

/// Graphs of this many runs are added up first, those of runs k·64 .. k·64 + 63, so that sums of
/// times have the same bits whoever made them.
inline constexpr std::uint64_t kEnsembleBlock = 64;

/// Some of the runs of an ensemble: each depends on its index alone.
struct [[nodiscard]] EnsemblePart {
  std::vector<EnsembleRun> runs;  ///< finished, by index
  std::vector<Trajectory> kept;   ///< as of EnsembleResult, of those among the first runs of all
  ModeGraph graph;
  std::exception_ptr failure;  ///< of the first run that was refused
};

/// What decides where a motion can go on in several ways, and when it ends.
struct Decisions {
  ImpactLaw law;                                   ///< at impacts
  Choice choose;                                   ///< elsewhere, by methods that know of it
  std::uint64_t seed = 0;                          ///< of inputs that have sets of values
  std::function<bool(double time)> progress = {};  ///< false ends the motion
};
/// One motion.
using MotionByLaw = std::function<Trajectory(const Decisions& decisions)>;
/// By simulate() with HybridOptions or TimeSteppingOptions.
template <class Options>
MotionByLaw motion_by(const System& system, const State& start, const Options& options) {
  return [&system, start, options](const Decisions& decisions) {
    Options own = options;
    own.law = decisions.law;
    own.progress = decisions.progress;
    if constexpr (requires { own.choose; }) own.choose = decisions.choose;
    const std::unique_ptr<System> drawn = with_drawn_inputs(system, decisions.seed);
    return simulate(drawn ? *drawn : system, start, own);
  };
}

/// Runs first .. first + count - 1, whatever EnsembleOptions::runs says; `first` is a multiple of
/// kEnsembleBlock where the graph is wanted. `progress` hears of these alone.
EnsemblePart ensemble_part(const System& system, const State& start, const MotionByLaw& motion,
                           const EnsembleOptions& options, std::uint64_t first,
                           std::uint64_t count);
/// Could none of them be run?
bool all_failed(const std::vector<EnsembleRun>& runs);
/// Groups, and how many stopped early, of the runs that are there.
void sum_up(const EnsembleOptions& options, EnsembleResult& result);

/// A run that stops before its end keeps its place, with its reason. One that is refused is kept as
/// failed; when all are, the first reason is thrown.
EnsembleResult ensemble(const System& system, const State& start, const MotionByLaw& motion,
                        const EnsembleOptions& options);
inline EnsembleResult ensemble(const System& system, const State& start,
                               const HybridOptions& hybrid, const EnsembleOptions& options) {
  return ensemble(system, start, motion_by(system, start, hybrid), options);
}
inline EnsembleResult ensemble(const System& system, const State& start,
                               const TimeSteppingOptions& stepping,
                               const EnsembleOptions& options) {
  return ensemble(system, start, motion_by(system, start, stepping), options);
}

/// One way on from a decision, followed to the next. Decisions are impacts, with their extreme
/// outcomes, and ambiguous states, with their continuations.
struct Branch {
  int parent = -1;           ///< in BranchTree::branches; -1: the start
  int depth = 0;             ///< decisions behind it
  int choice = 0;            ///< which way of the last one
  std::string way;           ///< what that is: "outcome 2 of 3", "lifts off {}"
  int ways = 1;              ///< paths that lead here, merged
  State state;               ///< right after the decision
  Mode mode = {};            ///< and its mode, where the method has modes
  int outcomes = 0;          ///< ways on from the decision that follows; 0: there is none
  State final;               ///< without further decisions, or taking the first way of each
  std::string word;          ///< from the start to there
  std::string message = {};  ///< why it ended early
};

struct [[nodiscard]] BranchTree {
  std::vector<Branch> branches;  ///< parents before their children; the first is the start
  bool complete = true;          ///< false: `most` was reached, or `stop` said so
};

/// Every extreme outcome (simultaneous and sequential in every order) and every continuation of the
/// first `depth` decisions. Branches that reach the same state and mode after the same number of
/// decisions are merged. A branch that cannot go on says why; the others do. `stop` is asked now
/// and then; true ends the tree with the branches it has.
BranchTree branch(const System& system, const State& start, const MotionByLaw& motion, int depth,
                  int most = 10'000, const std::function<bool()>& stop = {});
inline BranchTree branch(const System& system, const State& start, const HybridOptions& hybrid,
                         int depth, int most = 10'000) {
  return branch(system, start, motion_by(system, start, hybrid), depth, most);
}
inline BranchTree branch(const System& system, const State& start,
                         const TimeSteppingOptions& stepping, int depth, int most = 10'000) {
  return branch(system, start, motion_by(system, start, stepping), depth, most);
}

}  // namespace routh
