#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "routh/ode/step.h"

/// The Dormand-Prince pair of orders 5 and 4 with dense output of order 4, step by step.
/// Follows Hairer, Nørsett, Wanner, *Solving Ordinary Differential Equations I*, sections II.4 to
/// II.6; coefficients and step control as in their DOPRI5, without its stiffness test.
///
///   DormandPrince<Eigen::VectorXd> solver({.rtol = 1e-8});
///   solver.start(f, t0, x0);                        // f(t, x, dxdt) writes dxdt
///   while (solver.t() < t1 && solver.step(f, t1) == StepStatus::kAccepted)
///     solver.dense(0.5 * (solver.t_old() + solver.t()), middle);
///
/// A state is any Eigen column vector of doubles. Nothing is allocated after `start`.
namespace routh::ode {

template <class State>
class DormandPrince {
 public:
  explicit DormandPrince(const StepOptions& options)
      : options_(options), next_step_(options.first_step) {}

  /// Begins at (t, x). Keeps the step size of an earlier run, so that a restart after an event is
  /// cheap.
  template <class F>
  void start(F&& f, double t, const State& x) {
    resize(x);
    f(t, x, k1_);
    ++evaluations_;
    begin(t, x);
  }
  /// The same where dxdt = f(t, x) is known.
  void start(double t, const State& x, const State& dxdt) {
    resize(x);
    k1_ = dxdt;
    begin(t, x);
  }

  /// One accepted step, at most to `limit` > t().
  template <class F>
  StepStatus step(F&& f, double limit) {
    advance();
    if (!(next_step_ > 0)) {
      next_step_ = first_step(f, t_old_, x_old_, k1_, limit, 5, options_, trial_, k2_);
      ++evaluations_;
    }
    bool rejected = false;
    for (double h = std::min(next_step_, options_.max_step);;) {
      // the last step ends exactly at the limit
      const bool last = t_old_ + 1.01 * h >= limit;
      if (last) h = limit - t_old_;
      if (h <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t_old_) || h == 0)
        return finite_ ? StepStatus::kStepTooSmall : StepStatus::kNotFinite;
      const double error = attempt(f, h);
      finite_ = std::isfinite(error);
      if (error <= 1) {
        t_ = last ? limit : t_old_ + h;
        const double growth =
            std::clamp(0.9 * std::pow(std::max(error, 1e-10), -0.2), 0.2, rejected ? 1.0 : 8.0);
        // a step cut short by the limit says nothing against the longer one
        next_step_ = last ? std::max(next_step_, h * growth) : h * growth;
        if (!std::isfinite(next_step_)) next_step_ = h;
        ++steps_;
        return StepStatus::kAccepted;
      }
      h *= finite_ ? std::clamp(0.9 * std::pow(error, -0.2), 0.2, 0.9) : 0.1;
      next_step_ = h;
      rejected = true;
      ++rejected_;
    }
  }

  /// Repeats the last step with the length `t` - t_old(): the state there to full order, where
  /// dense output has one order less. False where that step is worse than the tolerance, because f
  /// is not smooth there: then the last step stays as it was.
  template <class F>
  bool shorten(F&& f, double t) {
    const bool good = attempt(f, t - t_old_) <= kGood;
    if (good)
      t_ = t;
    else
      (void)attempt(f, t_ - t_old_);
    return good;
  }

  double t_old() const { return t_old_; }
  double t() const { return t_; }
  const State& x_old() const { return x_old_; }
  const State& x() const { return x_; }
  const State& dxdt() const { return k7_; }        ///< f at (t, x)
  double next_step() const { return next_step_; }  ///< that will be tried [s]; 0 before the first

  /// The state at a time within the last step.
  void dense(double t, State& x) {
    if (!dense_ready_) prepare_dense();
    const double h = t_ - t_old_, s = (t - t_old_) / h, r = 1 - s;
    x = x_old_ + s * (difference_ + r * (bend_ + s * (twist_ + r * last_)));
  }

  /// The rate of that state.
  void dense_rate(double t, State& dxdt) {
    if (!dense_ready_) prepare_dense();
    const double h = t_ - t_old_, s = (t - t_old_) / h, r = 1 - s;
    dxdt =
        (difference_ + (r - s) * bend_ + s * (2 * r - s) * twist_ + 2 * s * r * (r - s) * last_) /
        h;
  }
  /// What |ẋ| and |ẍ| of dense() do not exceed within the last step: their control points.
  void dense_bounds(State& rate, State& bend) {
    if (!dense_ready_) prepare_dense();
    const double h = t_ - t_old_;
    const auto begins = 2 * (last_ + twist_ - bend_);
    const auto ends = 2 * (last_ - bend_) - 4 * twist_;
    bend = begins.cwiseAbs().cwiseMax(ends.cwiseAbs());
    bend = bend.cwiseMax((2 * bend_ + twist_ + 4 * last_).cwiseAbs()) / (h * h);
    const auto first = difference_ + bend_;
    const auto last = difference_ - bend_ - twist_;
    rate = first.cwiseAbs().cwiseMax(last.cwiseAbs());
    rate = rate.cwiseMax((first + begins / 3).cwiseAbs());
    rate = rate.cwiseMax((last - ends / 3).cwiseAbs()) / h;
  }

  long steps() const { return steps_; }
  long rejected() const { return rejected_; }
  long evaluations() const { return evaluations_; }

 private:
  static constexpr double kGood = 10;  // error of a part of a step that was accepted

  void resize(const State& x) {
    if (sized_ && x_.size() == x.size()) return;
    sized_ = true;
    for (State* s : {&x_, &x_old_, &k1_, &k2_, &k3_, &k4_, &k5_, &k6_, &k7_, &trial_, &difference_,
                     &bend_, &twist_, &last_})
      s->setZero(x.size());
  }
  void begin(double t, const State& x) {
    t_ = t_old_ = t;
    x_ = x;
    k7_ = k1_;
    finite_ = true;
  }
  /// The end of the last step becomes the beginning of the next; its k7 is the next k1.
  void advance() {
    t_old_ = t_;
    x_old_ = x_;
    k1_ = k7_;
    dense_ready_ = false;
  }

  /// Stages and error of a step of length h from (t_old, x_old).
  template <class F>
  double attempt(F&& f, double h) {
    const State& x = x_old_;
    const double t = t_old_;
    trial_ = x + h * (0.2 * k1_);
    f(t + 0.2 * h, trial_, k2_);
    trial_ = x + h * (3.0 / 40 * k1_ + 9.0 / 40 * k2_);
    f(t + 0.3 * h, trial_, k3_);
    trial_ = x + h * (44.0 / 45 * k1_ - 56.0 / 15 * k2_ + 32.0 / 9 * k3_);
    f(t + 0.8 * h, trial_, k4_);
    trial_ = x + h * (19372.0 / 6561 * k1_ - 25360.0 / 2187 * k2_ + 64448.0 / 6561 * k3_ -
                      212.0 / 729 * k4_);
    f(t + 8.0 / 9 * h, trial_, k5_);
    trial_ = x + h * (9017.0 / 3168 * k1_ - 355.0 / 33 * k2_ + 46732.0 / 5247 * k3_ +
                      49.0 / 176 * k4_ - 5103.0 / 18656 * k5_);
    f(t + h, trial_, k6_);
    x_ = x + h * (35.0 / 384 * k1_ + 500.0 / 1113 * k3_ + 125.0 / 192 * k4_ - 2187.0 / 6784 * k5_ +
                  11.0 / 84 * k6_);
    f(t + h, x_, k7_);
    evaluations_ += 6;
    dense_ready_ = false;
    // difference of the two orders, in units of the tolerance
    trial_ = h * (71.0 / 57600 * k1_ - 71.0 / 16695 * k3_ + 71.0 / 1920 * k4_ -
                  17253.0 / 339200 * k5_ + 22.0 / 525 * k6_ - 1.0 / 40 * k7_);
    return in_tolerances(trial_, x_old_.array().abs().max(x_.array().abs()), options_);
  }

  void prepare_dense() {
    const double h = t_ - t_old_;
    difference_ = x_ - x_old_;
    bend_ = h * k1_ - difference_;
    twist_ = difference_ - h * k7_ - bend_;
    last_ = h * (-12715105075.0 / 11282082432 * k1_ + 87487479700.0 / 32700410799 * k3_ -
                 10690763975.0 / 1880347072 * k4_ + 701980252875.0 / 199316789632 * k5_ -
                 1453857185.0 / 822651844 * k6_ + 69997945.0 / 29380423 * k7_);
    dense_ready_ = true;
  }

  StepOptions options_;
  double t_ = 0, t_old_ = 0, next_step_ = 0;
  bool sized_ = false, dense_ready_ = false, finite_ = true;
  long steps_ = 0, rejected_ = 0, evaluations_ = 0;
  State x_, x_old_, k1_, k2_, k3_, k4_, k5_, k6_, k7_, trial_;
  State difference_, bend_, twist_, last_;  ///< of the dense output
};

}  // namespace routh::ode
