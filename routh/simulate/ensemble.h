#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "routh/simulate/hybrid.h"
#include "routh/simulate/time_stepping.h"

/// Many motions from one start: where an impact has a set of outcomes, every run draws its own, or
/// all extreme ones are followed as a tree.
namespace routh {

struct EnsembleOptions {
  std::uint64_t runs = 1024;
  std::uint64_t seed = 0;
  std::string law = "set";  ///< of impact_law(); the others give every run the same motion
  Restitution restitution = Restitution::kByLaw;  ///< what coefficients of restitution mean
  int threads = 0;                                ///< 0: all cores. Results do not depend on it.
  std::uint64_t keep = 0;  ///< trajectories returned: those of the first runs
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
  std::uint64_t early = 0;       ///< runs that stopped before their end; each says why
  bool stopped = false;
  double seconds = 0;
};

/// One motion: with this law at its impacts, until `progress` says false.
using MotionByLaw = std::function<Trajectory(const ImpactLaw& law,
                                             const std::function<bool(double time)>& progress)>;
/// By simulate() with HybridOptions or TimeSteppingOptions.
template <class Options>
MotionByLaw motion_by(const System& system, const State& start, const Options& options) {
  return
      [&system, start, options](const ImpactLaw& law, const std::function<bool(double)>& progress) {
        Options own = options;
        own.law = law;
        own.progress = progress;
        return simulate(system, start, own);
      };
}

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

/// One extreme outcome of an impact, followed to the next.
struct Branch {
  int parent = -1;   ///< in BranchTree::branches; -1: the start
  int depth = 0;     ///< impacts behind it
  int choice = 0;    ///< which outcome of the impact
  int ways = 1;      ///< paths that lead here, merged
  State state;       ///< right after the impact
  int outcomes = 0;  ///< extreme outcomes of the impact that follows; 0: there is none
  State final;       ///< without further impacts, or taking the first outcome of each
  std::string word;  ///< from the start to there
};

struct [[nodiscard]] BranchTree {
  std::vector<Branch> branches;  ///< parents before their children; the first is the start
  bool complete = true;          ///< false: `most` was reached, or `stop` said so
};

/// Every extreme outcome (simultaneous and sequential in every order) of the first `depth` impacts.
/// Branches that reach the same state after the same number of impacts are merged. `stop` is asked
/// now and then; true ends the tree with the branches it has.
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
