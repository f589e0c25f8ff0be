#include "routh/simulate/recorder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "routh/simulate/reduce.h"

namespace routh {

Recorder::Recorder(double start, Recording options) : start_(start), options_(std::move(options)) {}

void Recorder::keep(double time, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                    std::optional<double> energy) {
  if (!options_.states) return;
  if (options_.impulses && !log.time.empty()) log.impulse.push_back(impulse);
  impulse.setZero();
  log.time.push_back(time);
  log.q.push_back(q);
  log.v.push_back(v);
  if (energy) log.energy.push_back(*energy);
  while (options_.every > 0 && due() <= time) ++next_;
  quiet_ = -1;
}

double Recorder::due() const {
  if (!(options_.every > 0)) return -std::numeric_limits<double>::infinity();
  return start_ + static_cast<double>(next_) * options_.every - options_.slack;
}

bool Recorder::goes_on(double time) {
  constexpr int kQuiet = 256;
  if (stopped()) return false;
  if (!options_.progress || (quiet_ >= 0 && ++quiet_ < kQuiet)) return true;
  quiet_ = 0;
  if (!options_.progress(time)) stop(SimulationStatus::kInterrupted, "interrupted" + at(time));
  return !stopped();
}

void Recorder::stop(SimulationStatus status, std::string message) {
  log.status = status;
  log.message = std::move(message);
}

std::string Recorder::at(double time) {
  char text[48];
  std::snprintf(text, sizeof text, ", at t = %.6g s", time);
  return text;
}

std::string Recorder::timed(const std::string& what, double time) {
  return what.find("t = ") == std::string::npos ? what + at(time) : what;
}

Trajectory Recorder::finish(State final) {
  // a change between stick and slip is told when it has lasted
  std::stable_sort(log.events.begin(), log.events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  log.final = std::move(final);
  log.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  return std::move(log);
}

double MechanicalEnergy::operator()(double time, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& v) {
  try {
    system_.evaluate(time, q, v, terms_);
    return kinetic_energy(terms_, v) + system_.potential_energy(q);
  } catch (const std::exception&) {
    return std::numeric_limits<double>::quiet_NaN();  // where a motion ended
  }
}

double largest_gain(const System& system, const std::vector<Event>& events) {
  constexpr double kOfBefore = 1e-9;  // a part of the energy that is rounding
  double largest = 0;
  for (const Event& e : events) {
    if (e.kind != EventKind::kImpact) continue;
    const Terms terms = system.terms(e.q, e.v_minus, e.time);
    const double before = kinetic_energy(terms, e.v_minus),
                 gain = kinetic_energy(terms, e.v_plus) - before;
    if (gain > kOfBefore * before) largest = std::max(largest, gain);
  }
  return largest;
}

void require_motion(const System& system, const Terms& terms, bool limbs) {
  const auto on = [&](Eigen::Index i) {
    const std::vector<std::string> names = system.velocity_names();
    return i < std::ssize(names) ? "'" + names[i] + "'" : std::to_string(i);
  };
  if (!terms.forces.allFinite()) {
    Eigen::Index i = 0;
    while (std::isfinite(terms.forces[i])) ++i;
    throw std::invalid_argument("the forces are not finite: that on " + on(i) + " is " +
                                std::to_string(terms.forces[i]));
  }
  const auto inertia = terms.M.diagonal();
  for (Eigen::Index i = 0; i < inertia.size(); ++i) {
    if (!(limbs ? inertia[i] >= 0 : inertia[i] > 0))
      throw std::invalid_argument("M is not positive definite: the inertia of " + on(i) + " is " +
                                  std::to_string(inertia[i]));
  }
}

}  // namespace routh
