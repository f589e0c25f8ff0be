#pragma once

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "routh/event_selected/solution.h"

namespace routh::event_selected {

/// The pool of candidate guards of P5 section 3.1: their h and ḣ = Dh f at a state, and from which
/// h on each counts as met.
///
/// Where the system names the few guards that can be next (see system.h) the pool has slots for
/// these only, chosen anew after every crossing; otherwise slot k is guard k. An empty slot looks
/// like a guard that was crossed.
template <class System, class State>
class Pool {
 public:
  Eigen::VectorXd h, hdot;            ///< at x
  Eigen::VectorXd h_next, hdot_next;  ///< at the end of a step
  /// From which h a guard is met: -ε while it can be projected to; 0 while it waits, armed, for x
  /// to leave its neighbourhood or to reach it on the dense output; infinity once it is crossed.
  Eigen::VectorXd edge;

  Pool(System& system, const State& x0) : system_(system) {
    system_.guards(x0, h);
    hdot.resize(h.size()), h_next.resize(h.size()), hdot_next.resize(h.size());
  }

  /// Arms what is not crossed, at h and ḣ.
  void start(const Options& options, const Crossed& crossed) {
    const Eigen::Index m = h.size();
    eps_ = options.eps_each.size() ? options.eps_each : Eigen::VectorXd::Constant(m, options.eps);
    if (options.exact) eps_.setZero();
    edge = crossed.select(Eigen::ArrayXd::Constant(m, HUGE_VAL), -eps_.array());
    update_waiting();
    if constexpr (kNamesNext) {
      if (options.eps_each.size() == 0) {
        few_ = true;
        edges_ = edge, all_h_ = h, all_hdot_ = hdot;
        choose(crossed);
      }
    }
  }

  int number(int slot) const { return few_ ? numbers_[slot] : slot; }  ///< of the guard

  void evaluate(const State& x, const State& dx) { guards(x, h), rates(x, dx, hdot); }
  void look_ahead(const State& x, const State& dx) { guards(x, h_next), rates(x, dx, hdot_next); }
  void advance() { h.swap(h_next), hdot.swap(hdot_next); }

  void guards(const State& x, Eigen::VectorXd& values) {
    if constexpr (kNamesNext) {
      if (few_) {
        values.setConstant(h.size(), -1);
        for (std::size_t i = 0; i < numbers_.size(); ++i)
          values[static_cast<Eigen::Index>(i)] = system_.guard(x, numbers_[i]);
        return;
      }
    }
    system_.guards(x, values);
  }
  double guard(const State& x, int slot) {
    if constexpr (requires { system_.guard(x, slot); }) {
      return system_.guard(x, number(slot));
    } else {
      system_.guards(x, single_);
      return single_[slot];
    }
  }
  double rate(const State& x, const State& dx, int slot) {
    return rate_of_guard(x, dx, number(slot));
  }
  double rate_of_guard(const State& x, const State& dx, int k) {
    if constexpr (requires { system_.rate(x, dx, k); }) {
      return system_.rate(x, dx, k);
    } else {
      single_.resize(h.size());
      system_.rates(x, dx, single_);
      return single_[k];
    }
  }

  bool armed(Eigen::Index slot) const { return edge[slot] <= 0; }
  bool waiting(Eigen::Index slot) const { return edge[slot] == 0 && eps_[slot] > 0; }
  void wait(Eigen::Index slot) { edge[slot] = 0; }

  /// Where a guard counts as met in a step that begins at h: at the edge of its neighbourhood, or
  /// at the guard itself when the step begins within.
  double level(Eigen::Index slot) const { return h[slot] < -eps_[slot] ? -eps_[slot] : 0; }
  /// As far beyond the level as the step may end.
  double slack(Eigen::Index slot) const { return h[slot] < -eps_[slot] ? 0.05 * eps_[slot] : 0; }

  /// Guard k was crossed; `crossed` is the mask afterwards.
  void cross(int k, const Reset& reset, const Crossed& crossed) {
    Eigen::VectorXd& edges = few_ ? edges_ : edge;
    edges[k] = HUGE_VAL;
    if (!reset.empty())
      for (const int other : reset[k]) edges[other] = 0;
    if (few_) choose(crossed);
  }

  /// A guard within ε that x moves away from has to leave before it is projected to again.
  void update_waiting() { update_waiting(h, hdot, edge); }
  /// The same for the guards that have no slot.
  void update_all_waiting(const State& x, const State& dx) {
    if (!few_ || eps_[0] == 0) return;
    system_.guards(x, all_h_);
    system_.rates(x, dx, all_hdot_);
    update_waiting(all_h_, all_hdot_, edges_);
  }

 private:
  static constexpr bool kNamesNext =
      requires(System & s, const State& x, const Crossed& c, std::vector<int>& list) {
    s.next_guards(c, list);
    s.guard(x, 0);
    s.rate(x, x, 0);
  };

  void rates(const State& x, const State& dx, Eigen::VectorXd& values) {
    if constexpr (kNamesNext) {
      if (few_) {
        for (std::size_t i = 0; i < numbers_.size(); ++i)
          values[static_cast<Eigen::Index>(i)] = system_.rate(x, dx, numbers_[i]);
        return;
      }
    }
    system_.rates(x, dx, values);
  }

  void update_waiting(const Eigen::VectorXd& at, const Eigen::VectorXd& speed,
                      Eigen::VectorXd& edges) const {
    for (Eigen::Index k = 0; k < at.size(); ++k) {
      const double eps = eps_[few_ ? 0 : k];
      const bool stays = at[k] >= -eps && (edges[k] == 0 || !(speed[k] > 0));
      if (edges[k] <= 0) edges[k] = stays ? 0 : -eps;
    }
  }

  /// What was learnt about the old slots is kept, and new ones are chosen.
  void choose(const Crossed& crossed) {
    if constexpr (kNamesNext) {
      for (std::size_t i = 0; i < numbers_.size(); ++i)
        if (edges_[numbers_[i]] <= 0) edges_[numbers_[i]] = edge[static_cast<Eigen::Index>(i)];
      numbers_.clear();
      system_.next_guards(crossed, numbers_);
      // slots come in eights, so that their number seldom changes
      const auto used = static_cast<Eigen::Index>(numbers_.size()), slots = (used + 7) / 8 * 8;
      if (edge.size() != slots) {
        h.resize(slots), hdot.resize(slots), h_next.resize(slots), hdot_next.resize(slots);
        edge.resize(slots);
        const double eps = eps_[0];
        eps_.setConstant(slots, eps);
      }
      edge.setConstant(HUGE_VAL), hdot.setZero(), hdot_next.setZero();
      for (Eigen::Index i = 0; i < used; ++i) edge[i] = edges_[numbers_[i]];
    }
  }

  System& system_;
  bool few_ = false;          ///< the system names the guards that can be next
  std::vector<int> numbers_;  ///< and these are they
  Eigen::VectorXd eps_, single_;
  Eigen::VectorXd edges_, all_h_, all_hdot_;  ///< of all guards, where few have slots
};

}  // namespace routh::event_selected
