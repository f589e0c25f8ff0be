#pragma once

#include <optional>
#include <vector>

#include "routh/simulate/trajectory.h"

namespace routh {

/// Watches the impacts of an execution for a geometric tail. When the modes repeat with a period p
/// and the spans D of successive periods shrink by a steady ratio R < 1, the impacts accumulate at
///
///   t∞ = t + D R / (1 - R),
///
/// and so do q and v. Impacts that shrink look the more alike the smaller they are, so that the
/// error of such a prediction shrinks with the square of the span: two predictions tell how far off
/// the last is, three by Aitken's extrapolation. Spans come as they are, not as differences of
/// times: those of a fast contraction are soon below the rounding of time.
///
/// Impacts that follow each other at one instant (a ball that touches two walls) have no spans;
/// their velocities tell the ratio.
class ZenoWatch {
 public:
  struct Prediction {
    State state;
    double ratio = 0, error = 0;
    int period = 1;
    std::vector<Mode> modes;  ///< visited in the last period
  };

  void clear() { impacts_.clear(); }
  /// Tells of an impact, `span` after the one before, that leads to a state; answers when a tail is
  /// recognised.
  std::optional<Prediction> impact(double span, const State& state, const Mode& mode);

 private:
  struct Impact {
    double span;
    State state;
    Mode mode;
  };
  double period_span(std::size_t last, std::size_t period) const;
  std::optional<Prediction> tail(std::size_t period) const;
  std::optional<Prediction> tail_at_an_instant(std::size_t period) const;
  std::vector<Impact> impacts_;
};

}  // namespace routh
