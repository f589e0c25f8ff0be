#pragma once

#include <Random123/philox.h>

#include <Eigen/Core>
#include <cstdint>

#include "routh/impact/set_valued.h"

/// What the walks of the set law draw: numbers, and bounds on the normal impulses of their steps.
namespace routh {

/// Numbers in (0, 1) that depend on seed, sample, step and their place alone.
class WalkRandom {
 public:
  WalkRandom(std::uint64_t seed, std::uint64_t index)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
        index_(index) {}
  /// Draws of different parts have nothing to do with each other.
  void begin_step(int step, std::uint32_t part = 0) { step_ = step, place_ = part << 20; }
  double operator()() {
    if (place_ % 4 == 0) {
      const philox4x32_ctr_t counter = {{static_cast<std::uint32_t>(index_),
                                         static_cast<std::uint32_t>(index_ >> 32),
                                         static_cast<std::uint32_t>(step_), place_ / 4}};
      words_ = philox4x32(counter, key_);
    }
    return (words_.v[place_++ % 4] + 0.5) * 0x1p-32;
  }

 private:
  philox4x32_key_t key_;
  philox4x32_ctr_t words_{};
  std::uint64_t index_;
  int step_ = 0;
  std::uint32_t place_ = 0;
};

/// Bounds on the normal impulses of the steps of one walk, P1 Algorithm 1 line 3. With corners each
/// contact waits, pushes with all its might, or neither. Half of the walks never change their mind:
/// of these, half go by what was drawn in the beginning, the others let one contact push alone
/// until it is done, then another, as the sequential law does.
class WalkBounds {
 public:
  WalkBounds(const SetOptions& options, std::uint64_t index)
      : options_(options), kinds_(options.seed, index) {
    kinds_.begin_step(0, kSort);
    const double sort = kinds_();
    keeps_ = sort < 0.5, alone_ = sort < 0.25;
  }

  /// `pushes(i)`: can contact i push at all? One can, or the walk would be over.
  template <class Pushes>
  void draw(int step, const Pushes& pushes, WalkRandom& random, Eigen::VectorXd& bound) {
    for (double& b : bound) b = options_.step * random();
    if (options_.draws != Draws::kCorners) return;
    if (alone_) {
      if (turn_ < 0 || !pushes(turn_)) choose(step, pushes, bound.size());
      bound.setZero();
      bound[turn_] = options_.step;
      return;
    }
    kinds_.begin_step(keeps_ ? 0 : step, kKind);
    bool any = false;
    for (Eigen::Index i = 0; i < bound.size(); ++i) {
      const double kind = 3 * kinds_();
      if (kind < 2) bound[i] = kind < 1 ? 0 : options_.step;
      any = any || (bound[i] > 0 && pushes(i));
    }
    // somebody who can has to push
    for (Eigen::Index i = 0; i < bound.size() && !any; ++i) {
      if (pushes(i)) bound[i] = options_.step;
    }
  }

 private:
  enum Part : std::uint32_t { kSort = 1, kKind, kTurn };

  template <class Pushes>
  void choose(int step, const Pushes& pushes, Eigen::Index contacts) {
    kinds_.begin_step(step, kTurn);
    double best = -1;
    for (Eigen::Index i = 0; i < contacts; ++i) {
      const double lot = kinds_();
      if (pushes(i) && lot > best) best = lot, turn_ = i;
    }
  }

  const SetOptions& options_;
  WalkRandom kinds_;
  bool keeps_ = false, alone_ = false;
  Eigen::Index turn_ = -1;  // who pushes alone
};

}  // namespace routh
