#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "routh/impact/problem.h"
#include "routh/impact/set_valued.h"

/// Many impacts at once: a batch of problems in, a batch of results out. Each result depends on its
/// problem and the options alone, whatever the batch, the threads and their order.
namespace routh {

/// One impact, and numbers whose range over all its outcomes is wanted: rows over c⁺.
struct BatchProblem {
  ImpactProblem impact;
  Eigen::MatrixXd forms = {};
  double step = 0;  ///< of the set law [N s]; 0: what stops the fastest contact alone
  int limit = 0;    ///< steps of a sample; 0: that of SetOptions
};

struct BatchOptions {
  std::string law = "set";       ///< of laws(), see batch_laws()
  std::uint64_t samples = 1024;  ///< of the laws set and all; of all, 0: by the number of contacts
  std::uint64_t seed = 0;        ///< the same for all problems: neighbours differ by what they are
  Draws draws = Draws::kUniform;
  bool simultaneous = true;  ///< count the outcomes of the simultaneous law under any law
  bool words = false;        ///< count what the contacts do, BatchResult::words
  int threads = 0;           ///< 0: all cores
  /// What samples instead of the CPU where the law is set: planar impacts without restitution of up
  /// to kMaxWalkContacts contacts. Null: nothing does.
  WalkDevice* device = nullptr;
  /// Told once why the CPU did what the device was asked for.
  std::function<void(const std::string&)> device_trouble = {};
  /// Called now and then with the number of problems done, from the calling thread; false stops.
  std::function<bool(std::uint64_t)> progress = {};
  /// Asked now and then by all threads; true ends the work with the problems that are done.
  std::function<bool()> stop = {};
};

/// The lowest and the highest; without any value low is above high.
struct Between {
  double low = HUGE_VAL, high = -HUGE_VAL;

  void include(double x) { low = std::min(low, x), high = std::max(high, x); }
  bool known() const { return low <= high; }
  double width() const { return high - low; }
};

struct BatchResult {
  bool done = false;    ///< false: the batch was stopped before
  std::string trouble;  ///< why the law could not decide, wholly or in part; empty: it did
  int outcomes = 0;     ///< listed by the law; of the set law, which lists none, 0
  std::optional<int> simultaneous = {};  ///< outcomes of that law; nothing where the search for
                                         ///< them did not end
  std::optional<bool> unique = {};       ///< Ambiguity::unique()
  // over the outcomes of the law, listed and sampled
  std::vector<Between> c;      ///< contact velocities [m/s]
  std::vector<Between> forms;  ///< of BatchProblem
  Between energy;              ///< change of the kinetic energy [J], not above zero
  double residual = 0;         ///< the worst
  // of samples, where there are any
  std::uint64_t samples = 0, ended = 0, ambiguous = 0;
  double steps = 0;    ///< mean number of steps of the samples that ended
  double impulse = 0;  ///< mean sum of their normal impulses [N s]
  /// How many samples ended with contacts that do so: a letter per contact, 'a' + ContactState.
  std::map<std::string, std::uint64_t> words;

  /// The widest range of a contact velocity [m/s]; not a number without outcomes.
  double spread() const;
};

/// Laws that serve a batch: all that list their outcomes or are sampled.
std::vector<std::string> batch_laws();

/// Throws std::invalid_argument naming the option, or the problem by its number.
std::vector<BatchResult> solve_batch(const std::vector<BatchProblem>& problems,
                                     const BatchOptions& options = {});

}  // namespace routh
