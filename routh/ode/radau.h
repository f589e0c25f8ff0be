#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "routh/ode/step.h"

/// Radau IIA with three stages, for stiff equations: order 5, L-stable, step by step.
/// Follows Hairer, Wanner, *Solving Ordinary Differential Equations II*, sections IV.5 and IV.8;
/// coefficients, Newton's method and step control as in their RADAU5, but a step always has its
/// own derivative and factors.
///
///   x_i = x + Z_i,   Z_i = h Σ_j a_ij f(t + c_j h, x_j),   c = ((4 - √6)/10, (4 + √6)/10, 1)
///
/// In W = T⁻¹ Z, where T makes the inverse of (a_ij) block-diagonal, Newton's method solves one
/// real and one complex system of the size of x.
///
///   Radau solver({.rtol = 1e-8});
///   solver.start(f, t0, x0);                        // f(t, x, dxdt) writes dxdt
///   while (solver.t() < t1 && solver.step(f, df, t1) == StepStatus::kAccepted)
///     solver.dense(0.5 * (solver.t_old() + solver.t()), middle);
///
/// df(t, x, J) writes J = ∂f/∂x; an approximation costs iterations, not accuracy. The estimate of
/// the error has order 3: where the motion is smooth the answer is far better than it says.
namespace routh::ode {

class Radau {
 public:
  using State = Eigen::VectorXd;

  explicit Radau(const StepOptions& options) : options_(options) {}

  /// Begins at (t, x). The step size is chosen anew: what follows an event may be far stiffer.
  template <class F>
  void start(F&& f, double t, const State& x) {
    t_ = t_old_ = t;
    x_ = x_old_ = x;
    for (State* s : {&dxdt_, &dxdt_old_, &trial_, &error_, &real_}) s->setZero(x.size());
    J_.setZero(x.size(), x.size());
    for (Stages* s : {&Z_, &W_, &F_, &polynomial_}) s->setZero(x.size(), 3);
    f(t, x_, dxdt_);
    next_step_ = options_.first_step;
    h_ = 0;
    finite_ = true;
  }

  /// One accepted step, at most to `limit` > t().
  template <class F, class DF>
  StepStatus step(F&& f, DF&& df, double limit) {
    t_old_ = t_, x_old_ = x_, dxdt_old_ = dxdt_;
    if (!(next_step_ > 0))
      next_step_ = first_step(f, t_old_, x_old_, dxdt_old_, limit, 4, options_, trial_, error_);
    df(t_old_, x_old_, J_);
    bool rejected = false;
    const double shortest = 4 * std::numeric_limits<double>::epsilon() * std::abs(t_old_);
    for (double h = std::max(shortest, std::min(next_step_, options_.max_step));;) {
      // the last step ends exactly at the limit
      const bool last = t_old_ + 1.01 * h >= limit;
      if (last) h = limit - t_old_;

      // the polynomial of the last step goes on, as a first guess
      Z_.setZero();
      if (h_ > 0 && h < 10 * h_)
        for (int i = 0; i < 3; ++i) Z_.col(i) = displacement(1 + kC[i] * h / h_) - displacement(1);
      const double error = attempt(f, h, rejected || h_ == 0);
      // what is faster than time is resolved has decayed after one step
      if (error <= (h <= shortest ? 1e3 : 1)) {
        const double growth = std::clamp(safety() * predicted(h, error), 0.2, rejected ? 1.0 : 8.0);
        // a step cut short by the limit says nothing against the longer one
        next_step_ = last ? std::max(next_step_, h * growth) : h * growth;
        error_last_ = std::max(error, 1e-2);
        accept(f, h, last ? limit : t_old_ + h);
        ++steps_;
        return StepStatus::kAccepted;
      }
      if (h <= shortest || h == 0)
        return finite_ ? StepStatus::kStepTooSmall : StepStatus::kNotFinite;
      h *= std::isfinite(error) ? std::clamp(safety() * std::pow(error, -0.25), 0.1, 0.9) : 0.2;
      next_step_ = h = std::max(h, shortest);
      rejected = true;
      ++rejected_;
    }
  }

  /// Repeats the last step with the length `t` - t_old(): the state there to full order, where
  /// dense output has two orders less.
  template <class F>
  void shorten(F&& f, double t) {
    for (int i = 0; i < 3; ++i) Z_.col(i) = displacement(kC[i] * (t - t_old_) / h_);
    const Stages guess = Z_;
    if (!std::isfinite(attempt(f, t - t_old_, false))) Z_ = guess;
    accept(f, t - t_old_, t);
  }

  double t_old() const { return t_old_; }
  double t() const { return t_; }
  const State& x_old() const { return x_old_; }
  const State& x() const { return x_; }
  const State& dxdt() const { return dxdt_; }      ///< f at (t, x)
  double next_step() const { return next_step_; }  ///< that will be tried [s]; 0 before the first

  /// The state at a time within the last step, on the polynomial through its stages.
  void dense(double t, State& x) const { x = x_old_ + displacement((t - t_old_) / h_); }

  /// The first time of the last step at which g(t, x) > 0, where it is positive at the end and
  /// changes its sign once: by bisection on dense output. Never the beginning itself, so that
  /// events that follow each other take time.
  template <class G>
  double first_positive(G&& g) const {
    State x;
    double low = 0, high = 1;
    while (high - low > 1e-12 && high > 1e-6) {
      const double middle = 0.5 * (low + high), t = t_old_ + middle * h_;
      dense(t, x);
      (g(t, x) > 0 ? high : low) = middle;
    }
    return high == 1 ? t_ : t_old_ + high * h_;
  }

  /// Adds ∫ g(t, x) dt over the last step to `integral`, by the quadrature of the method.
  template <class G, class Integral>
  void integrate(G&& g, Integral& integral) {
    constexpr double weights[] = {(16 - kRoot6) / 36, (16 + kRoot6) / 36, 1.0 / 9};
    for (int i = 0; i < 3; ++i) {
      trial_ = x_old_ + Z_.col(i);
      integral += h_ * weights[i] * g(t_old_ + kC[i] * h_, trial_);
    }
  }

  long steps() const { return steps_; }
  long rejected() const { return rejected_; }

 private:
  using Stages = Eigen::Matrix<double, Eigen::Dynamic, 3>;
  static constexpr int kIterations = 7;
  static constexpr double kRoot6 = 2.449489742783178;
  static constexpr double kC[] = {(4 - kRoot6) / 10, (4 + kRoot6) / 10, 1};
  // of the inverse of (a_ij): the eigenvalues, and T with its inverse
  static constexpr double kReal = 3.6378342527444957;
  static constexpr std::complex<double> kComplex{2.6810828736277521, -3.0504301992474105};
  static Eigen::Matrix3d T() {
    return Eigen::Matrix3d{{0.09443876248897524, -0.14125529502095421, 0.03002919410514742},
                           {0.25021312296533332, 0.20412935229379994, -0.38294211275726192},
                           {1, 1, 0}};
  }
  static Eigen::Matrix3d inverse_T() {
    return Eigen::Matrix3d{{4.17871859155190428, 0.32768282076106237, 0.52337644549944951},
                           {-4.17871859155190428, -0.32768282076106237, 0.47662355450055044},
                           {0.50287263494578682, -2.57192694985560522, 0.59603920482822492}};
  }

  /// Of the polynomial through 0 and the stages of the last step, at t_old + s h.
  State displacement(double s) const { return polynomial_ * Eigen::Vector3d(s, s * s, s * s * s); }

  /// Stages of a step of length h from (t_old, x_old), from the guess in Z_. Its error in units of
  /// the tolerance; infinite where Newton's method does not converge.
  template <class F>
  double attempt(F&& f, double h, bool look_twice) {
    if (!solve_stages(f, h)) return std::numeric_limits<double>::infinity();
    trial_ = x_old_ + Z_.col(2);
    const auto size = x_old_.array().abs().max(trial_.array().abs()).eval();

    // (8.17)-(8.20): the difference to an embedded formula, without what is merely stiff
    const State embedded = Z_ * Eigen::Vector3d(-13 - 7 * kRoot6, -13 + 7 * kRoot6, -1) / (3 * h);
    error_ = real_lu_.solve(dxdt_old_ + embedded);
    double error = in_tolerances(error_, size, options_);
    if (error > 1 && look_twice) {
      trial_ = x_old_ + error_;
      f(t_old_, trial_, real_);
      error_ = real_lu_.solve(real_ + embedded);
      error = in_tolerances(error_, size, options_);
    }
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }

  /// Simplified Newton iterations (8.13)-(8.16). False: they do not converge.
  template <class F>
  bool solve_stages(F&& f, double h) {
    const Eigen::Index n = x_old_.size();
    const auto identity = Eigen::MatrixXd::Identity(n, n);
    real_lu_.compute(kReal / h * identity - J_);
    complex_lu_.compute((kComplex / h) * identity.cast<std::complex<double>>() -
                        J_.cast<std::complex<double>>());
    // below the tolerance, but not below rounding
    const double enough = std::max(10 * std::numeric_limits<double>::epsilon() / options_.rtol,
                                   std::min(0.03, std::sqrt(options_.rtol)));
    W_ = Z_ * inverse_T().transpose();
    double last = 0;
    for (iterations_ = 1; iterations_ <= kIterations; ++iterations_) {
      for (int i = 0; i < 3; ++i) {
        trial_ = x_old_ + Z_.col(i);
        f(t_old_ + kC[i] * h, trial_, real_);
        F_.col(i) = real_;
      }
      finite_ = F_.allFinite();
      if (!finite_) return false;
      F_ = (F_ * inverse_T().transpose()).eval();
      real_ = F_.col(0) - kReal / h * W_.col(0);
      complex_.resize(n);
      complex_.real() = F_.col(1), complex_.imag() = F_.col(2);
      for (Eigen::Index i = 0; i < n; ++i)
        complex_[i] -= kComplex / h * std::complex<double>(W_(i, 1), W_(i, 2));
      F_.col(0) = real_lu_.solve(real_);
      complex_ = complex_lu_.solve(complex_).eval();
      F_.col(1) = complex_.real(), F_.col(2) = complex_.imag();
      W_ += F_;
      Z_ = W_ * T().transpose();

      const double change =
          in_tolerances(F_.reshaped(), x_old_.array().abs().replicate(3, 1), options_);
      if (!std::isfinite(change)) return false;
      const double rate = iterations_ > 1 ? change / last : 0.5;
      if (change == 0 || (rate < 1 && rate / (1 - rate) * change <= enough)) return true;
      if (iterations_ > 1 &&
          (rate >= 1 || std::pow(rate, kIterations - iterations_) / (1 - rate) * change > enough))
        return change <= 0.1;  // what goes on changing is rounding
      last = change;
    }
    return false;
  }

  template <class F>
  void accept(F&& f, double h, double t) {
    h_ = h, t_ = t;
    x_ = x_old_ + Z_.col(2);
    f(t_, x_, dxdt_);
    const Eigen::Matrix3d P{{(13 + 7 * kRoot6) / 3, (-23 - 22 * kRoot6) / 3, 10.0 / 3 + 5 * kRoot6},
                            {(13 - 7 * kRoot6) / 3, (-23 + 22 * kRoot6) / 3, 10.0 / 3 - 5 * kRoot6},
                            {1.0 / 3, -8.0 / 3, 10.0 / 3}};
    polynomial_ = Z_ * P;
  }

  double safety() const { return 0.9 * (2 * kIterations + 1) / (2 * kIterations + iterations_); }
  /// Factor to the next step from the error of this one and its trend, (8.25).
  double predicted(double h, double error) const {
    const double e = std::max(error, 1e-10), factor = std::pow(e, -0.25);
    if (h_ == 0) return factor;
    return factor * std::min(1.0, h / h_ * std::pow(error_last_ / e, 0.25));
  }

  StepOptions options_;
  double t_ = 0, t_old_ = 0, h_ = 0, next_step_ = 0, error_last_ = 1;
  bool finite_ = true;
  int iterations_ = 0;
  long steps_ = 0, rejected_ = 0;
  State x_, x_old_, dxdt_, dxdt_old_, trial_, error_, real_;
  Eigen::VectorXcd complex_;
  Eigen::MatrixXd J_;
  Stages Z_, W_, F_, polynomial_;
  Eigen::PartialPivLU<Eigen::MatrixXd> real_lu_;
  Eigen::PartialPivLU<Eigen::MatrixXcd> complex_lu_;
};

}  // namespace routh::ode
