#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

/// What is kept of a motion, by every method alike:
///
/// - States: the start; every step, or where `every` is given each multiple of it after the start
///   (with steps of fixed length the first that gets there); both sides of every jump of the
///   velocity or of the mode; the last, however the motion ends. Time-stepping keeps of a jump the
///   side after it, and with `every` none: the side before lies on the cubic between two steps,
///   whose velocity, and energy, may swing beyond both.
/// - Of each its energy and, where asked for, the impulse of the contact forces since the one
///   before. Impulses of impacts are among the events.
/// - Events, in the order of time.
/// - How it ended, why and when. Bad input throws before anything is kept; after that whatever goes
///   wrong is a status, and what was kept stays.
namespace routh {

struct Recording {
  double every = 0;       ///< [s]; 0: every step
  double slack = 0;       ///< a state this early is on time [s]
  bool impulses = false;  ///< keep Trajectory::impulse
  bool states = true;     ///< false: only events and counts
  /// Called now and then with the time reached; false ends the motion.
  std::function<bool(double time)> progress = {};
};

class Recorder {
 public:
  Recorder(double start, Recording options);

  Trajectory log;           ///< so far
  Eigen::VectorXd impulse;  ///< of the contact forces since the last state [N s]

  /// Keeps a state, unless none are.
  void keep(double time, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
            std::optional<double> energy);
  bool keeps_states() const { return options_.states; }
  /// Is a state of this time kept?
  bool kept(double time) const { return !log.time.empty() && log.time.back() >= time; }
  /// From when on the next state is to be kept; long ago where all are.
  double due() const;

  /// Tells the caller how far it is. False: the motion is over.
  bool goes_on(double time);
  void stop(SimulationStatus status, std::string message);
  bool stopped() const { return log.stopped(); }

  /// Moves on from the time `now`, which moves along. Where that fails the motion stops there, with
  /// the reason; a start from which nothing happens is bad input, and throws. False: it is over.
  template <class Move>
  bool moves(const double& now, Move&& move) {
    try {
      move();
    } catch (const std::invalid_argument& refused) {
      if (!(now > start_) && log.events.empty()) throw;
      stop(SimulationStatus::kInvalid, timed(refused.what(), now));
    } catch (const std::runtime_error& trouble) {
      stop(SimulationStatus::kStopped, timed(trouble.what(), now));
    }
    return !stopped();
  }
  /// ", at t = 0.25 s"; the second adds it to a text that names no time of its own.
  static std::string at(double time);
  static std::string timed(const std::string& what, double time);

  /// The whole of it.
  Trajectory finish(State final);

 private:
  double start_;
  Recording options_;
  long next_ = 0;  // of the multiples of `every`
  int quiet_ = 0;  // steps since the caller was told
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Kinetic and potential energy of a mechanism [J]; NaN where it cannot be evaluated.
class MechanicalEnergy {
 public:
  explicit MechanicalEnergy(const System& system) : system_(system) {}
  double operator()(double time, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

 private:
  const System& system_;
  Terms terms_;
};

/// The most kinetic energy that an impact adds [J]; zero where that is rounding. Newton's meaning
/// of restitution may, with friction, and Poisson's with several contacts.
double largest_gain(const System& system, const std::vector<Event>& events);

/// Evaluates the motion by `f`. What throws at a state that is finite, and thus the reason why the
/// motion ends there, goes to `trouble`. False: there is none.
template <class F>
bool moves_at(const Eigen::VectorXd& state, std::string& trouble, F&& f) {
  try {
    f();
    return true;
  } catch (const std::invalid_argument& why) {
    if (state.allFinite()) trouble = why.what();
    return false;
  }
}

/// Throws std::invalid_argument where nothing moves by these terms, naming the velocity: a force
/// that is not finite, an inertia that is negative, or zero unless there are limbs without mass.
void require_motion(const System& system, const Terms& terms, bool limbs = false);

}  // namespace routh
