#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "routh/impact/policy.h"
#include "routh/impact/problem.h"
#include "routh/impact/walk.h"

namespace routh {

class WalkDevice;  // walk_device.h

struct SetOptions {
  std::uint64_t samples = 1 << 14;  ///< P1's M
  double step = 1;        ///< h [N s], the largest normal impulse of a contact in one step
  int limit = 1000;       ///< N, steps of a sample
  double final_step = 0;  ///< [N s] bound of the last step of Algorithm 2; 0: none
  Draws draws = Draws::kUniform;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: all cores. Results do not depend on it.
  /// What walks instead of the CPU, such as cuda_device(); null: nothing does. It takes planar
  /// problems whose modes are tabulated, see on_device(); the same samples up to rounding.
  WalkDevice* device = nullptr;
  std::uint64_t keep = 1000;  ///< outcomes returned: those of the first samples
  std::uint64_t paths = 0;    ///< paths returned: those of the first samples
  std::uint64_t pack = 0;     ///< outcomes returned as arrays: those of the first samples
  double max_modes =
      policy::kTabulated;  ///< above this many contact modes branches are not enumerated
  /// Called now and then with the number of samples done, from the calling thread; false stops the
  /// work.
  std::function<bool(std::uint64_t)> progress = {};
};

struct SetSample {
  Outcome outcome;
  std::uint64_t index = 0;  ///< seed and index replay this sample
  int steps = 0;
  bool terminated = false;
};

/// Outcomes of many samples as plain arrays, one column a sample.
struct PackedSamples {
  Eigen::MatrixXd impulse, c_plus;   ///< as of Outcome
  std::vector<std::uint64_t> index;  ///< of the sample
  std::vector<int> steps;
  std::vector<std::uint8_t> terminated;  ///< zero: the sample did not end, and is no outcome
  std::vector<double> residual;
};

/// Counts and ranges over samples, the same in whatever order they are added.
struct SetTotals {
  std::uint64_t samples = 0;     ///< done; fewer than asked for when stopped
  std::uint64_t terminated = 0;  ///< ended with no approaching contact
  /// Stopped at a step without a solution in tolerance, or ended where rounding hides whether
  /// energy was lost.
  std::uint64_t unsolved = 0;
  std::uint64_t steps = 0;              ///< step problems solved
  std::uint64_t ambiguous_steps = 0;    ///< of these, with several solutions
  std::uint64_t ambiguous_samples = 0;  ///< samples with such a step
  std::uint64_t fallback_steps = 0;     ///< solved outside the table of regular modes
  int most_steps = 0;                   ///< of one sample
  double max_residual = 0;              ///< relative, over all steps
  Eigen::VectorXd c_min, c_max;         ///< range of the terminated outcomes, empty without any

  void add(const SetTotals& other);  ///< of other samples
};

struct [[nodiscard]] SetResult : SetTotals {
  std::vector<SetSample> kept;  ///< by index; also samples that did not terminate
  PackedSamples packed;         ///< the same as arrays
  std::vector<std::vector<Eigen::VectorXd>> paths;  ///< contact velocities after every step
  bool stopped = false;                             ///< progress said so
  bool enumerated = true;  ///< false: each step took one solution, see stepwise.h
  std::string device;      ///< name of the device that walked; empty: the CPU alone
  /// Why the CPU did what a device was asked for, wholly or in part.
  std::string device_trouble;
  double seconds = 0;
};

/// Empty where a device can take such samples, else what it cannot.
std::string on_device(const ImpactProblem& problem, const SetOptions& options);

/// The set of outcomes by sampling, P1 Algorithms 1 and 2: bounds on the normal impulses are drawn
/// from a box, the step problem (72)-(74) is solved, until no contact approaches. The step problem
/// often has several solutions (on P1's compass gait and RAMone nearly always; P1's Assumption 6
/// fails): all are found, by contact mode, and one is drawn. Samples are reproducible one by one
/// from (seed, index), for any number of threads. With restitution compression and restitution of
/// all contacts interleave: bounce_walk.h.
SetResult set_valued(const ImpactProblem& problem, const SetOptions& options = {});

/// The same part by part: what all samples share is made once.
class SetSampler {
 public:
  SetSampler(const ImpactProblem& problem, const SetOptions& options);
  /// Samples first .. first + count - 1, whatever SetOptions::samples says; what is returned of the
  /// first samples of all is so here. `progress` hears of these alone.
  SetResult samples(std::uint64_t first, std::uint64_t count) const;

 private:
  struct Shared;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace routh
