#pragma once

#include <Random123/philox.h>

#include <functional>

#include "routh/impact/orders.h"

/// The search for orders whose paths end at extremes; witness.h is the way in.
///
/// A location that contains a breakpoint can be put in there without moving the path: it takes no
/// time. So every change begins at a feasible path whose basis is known, the program is never
/// without a solution, and its value never falls. Multipliers tell beforehand which locations can
/// gain anything.
namespace routh {

/// What is made as large as possible at the end of a path.
struct SearchTarget {
  enum Kind { kLinear, kMostEnergy, kLeastEnergy };
  Kind kind = kLinear;
  Eigen::VectorXd gain = {};  ///< kLinear: per edge
};

/// Random numbers that depend on seed, task and their place alone.
class SearchRandom {
 public:
  SearchRandom(std::uint64_t seed, std::uint64_t task)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
        task_(task) {}
  std::uint32_t word() {
    if (place_ % 4 == 0) {
      const philox4x32_ctr_t counter = {
          {static_cast<std::uint32_t>(task_), static_cast<std::uint32_t>(task_ >> 32),
           static_cast<std::uint32_t>(place_ / 4), static_cast<std::uint32_t>(place_ >> 34)}};
      words_ = philox4x32(counter, key_);
    }
    return words_.v[place_++ % 4];
  }
  double uniform() { return (word() + 0.5) * 0x1p-32; }
  int below(int n) { return static_cast<int>(static_cast<std::uint64_t>(word()) * n >> 32); }

 private:
  philox4x32_key_t key_;
  philox4x32_ctr_t words_{};
  std::uint64_t task_, place_ = 0;
};

/// For use by one thread.
class OrderSearch {
 public:
  /// `stop` is asked now and then; true ends searches with the paths they have.
  explicit OrderSearch(const OrderSpace& space, std::function<bool()> stop = {});

  /// A path from the start to some end, by locations drawn at random; nothing where it got lost.
  std::optional<OrderPath> grow(SearchRandom& random) { return grow({}, random); }
  /// The same from somewhere on the way of another.
  std::optional<OrderPath> regrow(const OrderPath& path, SearchRandom& random);
  /// The best path of an order, from wherever its basis is.
  bool optimise(OrderPath& path, const SearchTarget& target);
  /// Puts locations in as long as that gains anything. Ends early when `programs()` exceeds
  /// `until`. Phases that take no time any more are left out, unless the order is to keep all the
  /// paths that it had.
  enum class Keep { kPath, kOrder };
  void climb(OrderPath& path, const SearchTarget& target, SearchRandom& random, std::int64_t until,
             Keep keep = Keep::kPath);
  /// Goes to another path of about the same value, through another order.
  void disturb(OrderPath& path, const SearchTarget& target, SearchRandom& random);
  /// What the edges gain where the path ends.
  Eigen::VectorXd gains(const OrderPath& path, const SearchTarget& target) const;

  double value(const OrderPath& path, const SearchTarget& target) const;
  std::int64_t programs() const { return programs_; }

 private:
  struct Insertion {
    int at;  ///< before this phase
    std::vector<Location> locations;
    double order = 0;  ///< of trial
  };
  std::optional<OrderPath> grow(OrderPath path, SearchRandom& random);
  Eigen::VectorXd state(const OrderPath& path) const;
  const Eigen::VectorXd& forms_before(const OrderPath& path, int phase) const;
  std::vector<std::vector<int>> choices(const Eigen::VectorXd& forms) const;
  Location draw(const std::vector<std::vector<int>>& choices, SearchRandom& random) const;
  void insert(OrderPath& path, const Insertion& what) const;
  bool prune(OrderPath& path) const;
  /// Another order, which need not have a path.
  void change(OrderPath& path, SearchRandom& random) const;
  bool tidy(OrderPath& path, const SearchTarget& target);
  bool least_energy(OrderPath& path);
  /// What edges put in before or inside a phase gain, the price of rows behind them deducted. Rows
  /// at the breakpoint before the phase may stand before or behind what is put in.
  struct Gains {
    Eigen::VectorXd without, with, inside, all;
  };
  Gains reduced(const OrderPath& path, const Eigen::VectorXd& gain, int phase) const;
  /// Rates of a row along the edges.
  Eigen::VectorXd rate(const OrderPath& path, const OrderBasis::Item& row) const;
  /// Locations that contain a state: all, or where these are many those `like` one and some drawn.
  void each_location(const Eigen::VectorXd& forms, const Location& like, SearchRandom& random,
                     const std::function<void(const Location&)>& take) const;
  std::vector<Insertion> candidates(const OrderPath& path, const Eigen::VectorXd& gain,
                                    SearchRandom& random) const;
  /// Can the flow of a location gain anything without leaving it at once?
  bool rises(const Location& location, const Eigen::VectorXd& forms,
             const Eigen::VectorXd& gain) const;
  OrderStatus solve(OrderPath& path, const Eigen::VectorXd& gain, OrderEnd end);

  bool stopped() const { return stop_ && stop_(); }

  const OrderSpace& space_;
  std::function<bool()> stop_;
  OrderProgram<double> program_;
  Eigen::MatrixXd directions_;  // y by edge
  Eigen::MatrixXd inertia_;     // inverse of G of y
  Eigen::MatrixXd root_;        // rootᵀ root = inertia
  Eigen::VectorXd start_;       // y
  std::vector<int> owner_;      // [form]: its contact
  std::int64_t programs_ = 0;
};

}  // namespace routh
