#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "routh/event_selected/solution.h"

namespace routh::io {

/// An event-selected system whose field and guards are expressions of a scenario file
/// (docs/event-selected.md): over its states, and the field also over its guards, each 1 where it
/// was crossed and 0 where it is armed. For integrate() and b_derivative() of
/// routh/event_selected.
class WrittenSystem {
 public:
  using State = Eigen::VectorXd;
  using Formula = std::function<double(std::span<const double>)>;
  struct Guard {
    std::string name;
    Formula value;            ///< h, crossed where it rises through zero
    std::vector<int> rearms;  ///< guards that crossing this one re-arms
  };
  WrittenSystem(std::vector<std::string> states, std::vector<Formula> field,
                std::vector<Guard> guards)
      : states_(std::move(states)), field_(std::move(field)), guards_(std::move(guards)) {}

  const std::vector<std::string>& states() const { return states_; }
  const std::vector<Guard>& all_guards() const { return guards_; }
  /// Empty where no guard re-arms any.
  event_selected::Reset reset() const;

  void field(const State& x, const event_selected::Crossed& crossed, State& dx) const;
  void guards(const State& x, Eigen::VectorXd& h) const;
  /// Along dx, by differences of fourth order: exact for guards up to cubes of the state.
  void rates(const State& x, const State& dx, Eigen::VectorXd& hdot) const;

 private:
  std::vector<std::string> states_;
  std::vector<Formula> field_;
  std::vector<Guard> guards_;
};

}  // namespace routh::io
