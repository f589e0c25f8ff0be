#include "routh/io/written_system.h"

#include <algorithm>

namespace routh::io {

using Eigen::VectorXd;

constexpr double kGuardStep = 1e-3;  // of differences, relative to the state

event_selected::Reset WrittenSystem::reset() const {
  event_selected::Reset reset;
  bool any = false;
  for (const Guard& guard : guards_) {
    reset.push_back(guard.rearms);
    any |= !guard.rearms.empty();
  }
  return any ? reset : event_selected::Reset{};
}

void WrittenSystem::field(const State& x, const event_selected::Crossed& crossed, State& dx) const {
  VectorXd at(x.size() + crossed.size());
  at << x, crossed.cast<double>().matrix();
  dx.resize(x.size());
  for (Eigen::Index k = 0; k < x.size(); ++k)
    dx[k] = field_[k]({at.data(), static_cast<std::size_t>(at.size())});
}

void WrittenSystem::guards(const State& x, VectorXd& h) const {
  h.resize(static_cast<Eigen::Index>(guards_.size()));
  for (std::size_t k = 0; k < guards_.size(); ++k)
    h[static_cast<Eigen::Index>(k)] =
        guards_[k].value({x.data(), static_cast<std::size_t>(x.size())});
}

void WrittenSystem::rates(const State& x, const State& dx, VectorXd& hdot) const {
  const double speed = dx.lpNorm<Eigen::Infinity>();
  hdot.setZero(static_cast<Eigen::Index>(guards_.size()));
  if (!(speed > 0)) return;
  const double s = kGuardStep * std::max(1e-3, x.lpNorm<Eigen::Infinity>()) / speed;
  VectorXd h;
  for (const auto& [at, weight] : {std::pair{-2.0, 1.0}, {-1.0, -8.0}, {1.0, 8.0}, {2.0, -1.0}}) {
    guards(x + at * s * dx, h);
    hdot += weight / (12 * s) * h;
  }
}

}  // namespace routh::io
