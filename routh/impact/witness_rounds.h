#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "routh/impact/order_symmetry.h"
#include "routh/impact/witness.h"
#include "routh/impact/witness_search.h"

/// The search for all targets together: rounds of tasks for several threads, and what they found.
namespace routh {

/// Paths kept for a target, the best first, all of different value.
struct Elite {
  std::vector<std::pair<double, OrderPath>> list;

  double best() const;  ///< minus infinity where nothing is known
  /// Whether it is better than all before.
  bool add(double value, const OrderPath& path);
};

struct RoundTarget {
  SearchTarget sought;
  double enough = std::numeric_limits<double>::infinity();  ///< nothing exceeds this value
  double unit = 1;                                          ///< kLinear: of values [m/s]
};

/// Rounds of tasks, each independent of the others; what they found is taken in in their order, so
/// that threads do not matter. A good path is tried for the other targets too, and so are its
/// mirror images; of targets that are mirror images of each other one is worked on.
class Rounds {
 public:
  /// `prove` says what a path is worth to a target without rounding, nothing where it is none: it
  /// is forgotten. `ended` is asked by all threads.
  using Prove =
      std::function<std::optional<double>(std::size_t target, double value, const OrderPath&)>;
  Rounds(const OrderSpace& space, std::vector<RoundTarget> targets,
         std::vector<OrderSymmetry> symmetries, const WitnessOptions& options,
         std::function<bool()> ended, Prove prove);

  std::function<void()> after_round = {};

  void run(WitnessResult& result);
  /// Until the best path of each target is proven, or `late` says so.
  void prove_best(const std::function<bool()>& late);
  const std::vector<Elite>& elite() const { return elite_; }

 private:
  struct Found {
    std::optional<OrderPath> path;
    double value = 0;
    std::vector<std::tuple<std::size_t, double, OrderPath>> shared;  ///< with other targets
    std::int64_t programs = 0;
  };
  bool open(std::size_t target) const;
  void work(const std::vector<std::size_t>& tasks, int round, std::vector<Found>& found);
  Found task(OrderSearch& search, std::size_t target, int round, int number) const;
  void share(OrderSearch& search, const OrderPath& path, std::size_t own, Found& found) const;

  const OrderSpace& space_;
  std::vector<RoundTarget> targets_;
  std::vector<OrderSymmetry> symmetries_;
  const WitnessOptions& options_;
  std::function<bool()> ended_;
  Prove prove_;
  /// [target]: which it is the mirror image of, and the symmetry that carries paths from there.
  struct Leader {
    std::size_t target;
    const OrderSymmetry* symmetry = nullptr;
    double tried = -std::numeric_limits<double>::infinity();  ///< value of the last path carried
  };
  std::vector<Leader> leader_;
  std::vector<Elite> elite_;
  std::vector<double> proven_;  // [target]: of its best path
  std::vector<int> waited_;
  std::vector<OrderSearch> searches_;
};

}  // namespace routh
