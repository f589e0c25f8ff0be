#include "routh/simulate/zeno.h"

#include <algorithm>
#include <cmath>

namespace routh {
namespace {

constexpr std::size_t kLongestPeriod = 4;
constexpr std::size_t kPeriods = 4;  // that have to look alike
constexpr double kSteady = 0.05;     // ratios may still change by this

}  // namespace

/// t∞ as predicted at the impact `last`.
double ZenoWatch::limit(std::size_t last, std::size_t period, double& ratio) const {
  const double now = impacts_[last].time - impacts_[last - period].time;
  const double before = impacts_[last - period].time - impacts_[last - 2 * period].time;
  ratio = now / before;
  return impacts_[last].time + now * ratio / (1 - ratio);
}

std::optional<ZenoWatch::Prediction> ZenoWatch::impact(double time, const Eigen::VectorXd& q,
                                                       const Eigen::VectorXd& v, const Mode& mode) {
  impacts_.push_back({time, q, v, mode});
  if (impacts_.size() > 4 * kLongestPeriod * kPeriods)
    impacts_.erase(impacts_.begin(), impacts_.begin() + kLongestPeriod * kPeriods);
  const std::size_t last = impacts_.size() - 1;
  for (std::size_t p = 1; p <= kLongestPeriod && (kPeriods + 1) * p <= last; ++p) {
    // the same modes, at times that shrink steadily
    bool repeats = true;
    for (std::size_t i = 0; i < (kPeriods - 1) * p; ++i)
      repeats = repeats && impacts_[last - i].mode == impacts_[last - i - p].mode;
    if (!repeats) continue;
    double ratio = 0, earlier = 0, first = 0;
    const double a = limit(last - 2 * p, p, first), b = limit(last - p, p, earlier),
                 c = limit(last, p, ratio);
    if (!(ratio > 0 && ratio < 0.99 && first > 0 && first < 0.99)) continue;
    if (std::abs(ratio - earlier) > kSteady || std::abs(earlier - first) > kSteady) continue;

    // Aitken's extrapolation of the predictions, where they converge
    const double bend = (c - b) - (b - a);
    const bool converges = std::abs(c - b) < std::abs(b - a);
    const double correction = converges && bend != 0 ? -(c - b) * (c - b) / bend : 0;
    const double rounding = 4e-16 * std::abs(c) / (1 - ratio);
    Prediction found{
        .ratio = ratio, .error = std::abs(correction) + rounding, .period = static_cast<int>(p)};
    if (!converges) found.error = std::max(found.error, std::abs(c - b));

    // the rest of the state along the same geometric series
    const double tail = ratio / (1 - ratio);
    found.state.time = c + correction;
    found.state.q = q + tail * (q - impacts_[last - p].q);
    found.state.v = v + tail * (v - impacts_[last - p].v);
    for (std::size_t i = 0; i < p; ++i) found.modes.push_back(impacts_[last - i].mode);
    return found;
  }
  return std::nullopt;
}

}  // namespace routh
