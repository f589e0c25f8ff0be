#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "routh/impact/walk.h"

namespace routh {

/// What many walks come to, the same in whatever order they are counted.
struct WalkTotals {
  std::uint64_t walks = 0, terminated = 0, steps = 0, ambiguous_steps = 0, ambiguous_walks = 0;
  int most_steps = 0;
  double residual = 0;                                              ///< the worst
  double c_min[2 * kMaxWalkContacts], c_max[2 * kMaxWalkContacts];  ///< of those that ended
};

/// One impact of a batch, in the units of its task.
struct WalkItem {
  WalkTask task;                   ///< without tables: no modes, no hyperplanes
  const double* energy = nullptr;  ///< 2m: Σ energy_k λ_k (c0_k + c_k) is what an outcome gains
  const double* weight = nullptr;  ///< m: Σ weight_i λn_i is its impulse
  const double* forms = nullptr;   ///< [form][2m], rows over c
};

/// Many impacts of as many contacts each, and a number of walks of all of them alike.
struct WalkBatch {
  int contacts = 0, samples = 0, forms = 0;
  bool words = false;         ///< count what the contacts do
  bool simultaneous = false;  ///< and the outcomes of the simultaneous law
  std::vector<WalkItem> items;
};

/// What the walks of one of them came to.
struct WalkRanges {
  bool left = false;  ///< some walk is the CPU's: nothing else is known
  WalkTotals totals;
  std::uint64_t ended_steps = 0;  ///< of the walks that ended
  double impulse = 0;             ///< of these, summed
  double low_energy = 0, high_energy = 0;
  std::vector<double> low_forms, high_forms;
  /// How many ended with contacts that do so: contact i is digit i, to the base 4: 0 separates, 1
  /// sticks, 2 and 3 slide forth and back.
  std::vector<std::uint32_t> words;
  int simultaneous = -1;  ///< outcomes of that law; -1: a search must tell
};

inline constexpr int kMaxBatchContacts = 4;  ///< of WalkDevice::batch()

/// There is no such device, or it cannot do this: the message says why.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something beside the CPU that walks as walk.h says: with the same draws and the same sums, so
/// that its walks are those of the CPU up to rounding, until rounding decides a branch.
class WalkDevice {
 public:
  virtual ~WalkDevice() = default;
  virtual std::string name() const = 0;

  /// Walks first .. first + count - 1: their totals, and where `walks` is given each of them. Those
  /// that meet a step which no regular mode solves, or one with very many solutions, it leaves to
  /// the CPU: nothing is counted of them, their numbers are returned, in order. The same walks in
  /// any company have the same bits. Throws DeviceError.
  virtual std::vector<std::uint64_t> walk(const WalkTask& task, std::uint64_t first, int count,
                                          Walk* walks, WalkTotals& totals) = 0;

  /// The same for many impacts of up to kMaxBatchContacts contacts; tables are made where they are
  /// needed. An impulse is summed to 2^-30 of the largest weight.
  virtual std::vector<WalkRanges> batch(const WalkBatch& batch) = 0;
};

}  // namespace routh
