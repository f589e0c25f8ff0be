#include "routh/simulate/zeno.h"

#include <algorithm>
#include <cmath>

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kLongestPeriod = 4;
constexpr std::size_t kRemembered = 64;  // impacts
constexpr std::size_t kPeriods = 5;      // that have to be seen ..
constexpr double kShort = 1e-4;          // .. unless the last is shorter than this [s]: then three
constexpr double kSteady = 0.05;         // ratios may still change by this

}  // namespace

/// Of the period that ends at the impact `last`.
double ZenoWatch::period_span(std::size_t last, std::size_t period) const {
  double sum = 0;
  for (std::size_t i = 0; i < period; ++i) sum += impacts_[last - i].span;
  return sum;
}

std::optional<ZenoWatch::Prediction> ZenoWatch::impact(double span, const State& state,
                                                       const Mode& mode) {
  impacts_.push_back({span, state, mode});
  if (impacts_.size() > 2 * kRemembered)
    impacts_.erase(impacts_.begin(), impacts_.begin() + kRemembered);
  const std::size_t last = impacts_.size() - 1;
  for (std::size_t p = 1; p <= kLongestPeriod && 3 * p <= last; ++p) {
    bool repeats = true, at_once = true;
    for (std::size_t i = 0; i < 2 * p; ++i) {
      repeats = repeats && impacts_[last - i].mode == impacts_[last - i - p].mode;
      at_once = at_once && impacts_[last - i].span == 0;
    }
    if (!repeats || (kPeriods * p > last && period_span(last, p) > kShort)) continue;
    if (const auto found = at_once ? tail_at_an_instant(p) : tail(p)) return found;
  }
  return std::nullopt;
}

std::optional<ZenoWatch::Prediction> ZenoWatch::tail(std::size_t p) const {
  const std::size_t last = impacts_.size() - 1;
  // predictions of the time that is left, as seen from the last impact
  const double now = period_span(last, p), before = period_span(last - p, p),
               first = period_span(last - 2 * p, p);
  const double ratio = now / before, earlier = before / first;
  if (!(ratio > 0 && ratio < 1 && earlier > 0 && earlier < 1)) return {};
  if (std::abs(ratio - earlier) > kSteady) return {};
  const double c = now * ratio / (1 - ratio), b = before * earlier / (1 - earlier) - now;

  // their error shrinks with the square of the span; Aitken's extrapolation measures by how much
  double correction = 0, error = std::abs(c - b) * ratio;
  if (last >= 4 * p) {
    const double oldest = first / period_span(last - 3 * p, p);
    if (!(oldest > 0 && oldest < 1) || std::abs(earlier - oldest) > kSteady) return {};
    const double a = first * oldest / (1 - oldest) - before - now, bend = (c - b) - (b - a);
    const bool converges = std::abs(c - b) < std::abs(b - a);
    correction = converges && bend != 0 ? -(c - b) * (c - b) / bend : 0;
    error = converges ? std::abs(correction) : std::abs(c - b);
  }
  const Impact& here = impacts_[last];
  Prediction found{.ratio = ratio, .period = static_cast<int>(p)};
  found.error = error + 4e-16 * std::abs(here.state.time) + 1e-15 * now / (1 - ratio);

  // the rest of the state along the same geometric series
  const double left = ratio / (1 - ratio);
  found.state.time = here.state.time + std::max(0.0, c + correction);
  found.state.q = here.state.q + left * (here.state.q - impacts_[last - p].state.q);
  found.state.v = here.state.v + left * (here.state.v - impacts_[last - p].state.v);
  for (std::size_t i = 0; i < p; ++i) found.modes.push_back(impacts_[last - i].mode);
  return found;
}

std::optional<ZenoWatch::Prediction> ZenoWatch::tail_at_an_instant(std::size_t p) const {
  const std::size_t last = impacts_.size() - 1;
  const VectorXd now = impacts_[last].state.v - impacts_[last - p].state.v,
                 before = impacts_[last - p].state.v - impacts_[last - 2 * p].state.v;
  // one direction, by a steady ratio: the map of a period is linear, and this its slowest way
  const double ratio = now.dot(before) / before.squaredNorm();
  if (!(std::abs(ratio) < 1) || (now - ratio * before).norm() > 1e-9 * before.norm()) return {};
  Prediction found{.state = impacts_[last].state, .ratio = ratio, .period = static_cast<int>(p)};
  found.state.v += ratio / (1 - ratio) * now;
  for (std::size_t i = 0; i < p; ++i) found.modes.push_back(impacts_[last - i].mode);
  return found;
}

}  // namespace routh
