#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "routh/event_selected/integrate.h"

/// How the end of an event-selected trajectory depends on its start: the orbital derivative.
///
/// Between guards a perturbation v of x obeys the variational equation v̇ = Df(x, crossed) v. Across
/// one guard it changes by the saltation matrix,
///
///   v⁺ = v + (f⁺ - f⁻) (Dh_k v) / (Dh_k f⁻).
///
/// Where m guards are crossed at the same point ρ the flow has no derivative but a Bouligand
/// derivative: positively homogeneous, continuous and linear on up to m! pieces, one per order in
/// which a perturbed trajectory meets the guards. For one direction v only one order matters, and
/// following the perturbed trajectory finds it (after Council, Revzen, Burden 2022, P5 [13]): in
/// the fields frozen at ρ it starts at y = v and, guard after guard,
///
///   Δ = min_k -Dh_k y / (Dh_k F),   y ← y + F Δ,   τ ← τ + Δ,   k is crossed, F ← f(ρ, crossed),
///
/// until all are crossed; then v⁺ = y - τ F. That is m evaluations of f, not 2^m or m!. For m = 1
/// it is the saltation matrix.
namespace routh::event_selected {

/// One crossing, of one guard or of several at once.
struct Jump {
  double time = 0;  ///< [s]
  std::vector<int> guards;
  /// n x n: what it does to perturbations along the axes. Of one guard the saltation matrix; of
  /// several one-sided, along the positive axes.
  Eigen::MatrixXd matrix;
};

template <class State>
struct [[nodiscard]] Derivative {
  Status status = Status::kFinished;  ///< of the trajectory, and kNotLive for a perturbed one
  Eigen::MatrixXd D;                  ///< n x directions: one column per direction
  bool differentiable = true;  ///< false: some crossing was simultaneous; D is one-sided, and
                               ///< linear only on the pieces its directions belong to
  std::vector<Jump> jumps;     ///< in their order
  Solution<State> solution;    ///< the trajectory itself, events located exactly
};

template <class System, class State>
class Perturbation {
 public:
  Perturbation(System& system, const Options& options, const State& x0,
               const Eigen::MatrixXd& directions)
      : system_(system), options_(options), n_(x0.size()), V_(directions) {
    options_.exact = options_.record = true;
    options_.sample_every = 0;
    x_.resizeLike(x0), v_.resizeLike(x0), F_.resizeLike(x0), low_.resizeLike(x0);
    high_.resizeLike(x0);
  }

  Derivative<State> run(const State& x0) {
    Derivative<State> result;
    result.solution = Integrator<System, State>(system_, x0, options_).run();
    const std::vector<Event<State>>& events = result.solution.events;
    result.status = result.solution.status;
    crossed_ = result.solution.crossed_start;

    // guards that x0 lies on belong to the first crossing
    double t = options_.t_start;
    State x = x0;
    leave_start(x0, result);

    // smooth piece, crossing, smooth piece, ..
    std::vector<int> group;
    for (std::size_t i = 0; i < events.size();) {
      flow(t, x, events[i].time);
      const std::size_t first = i;
      group.clear();
      for (; i < events.size() && events[i].time - events[first].time <= options_.simultaneous; ++i)
        group.push_back(events[i].guard);
      if (group.size() > 1) result.differentiable = false;
      result.jumps.push_back({events[first].time, group, jump_matrix(events[first].x, group)});
      if (!jump(events[first].x, group)) result.status = Status::kNotLive;
      t = events[i - 1].time, x = events[i - 1].x, crossed_ = events[i - 1].crossed;
      select();
    }
    flow(t, x, result.solution.time);
    result.D = V_;
    return result;
  }

 private:
  void select() {
    if constexpr (requires { system_.select(crossed_, -1); }) system_.select(crossed_, -1);
  }

  void leave_start(const State& x0, Derivative<State>& result) {
    Eigen::VectorXd h;
    system_.guards(x0, h);
    const Crossed after = crossed_;
    std::vector<int> group;
    for (int k = 0; k < static_cast<int>(h.size()); ++k)
      if (h[k] == 0 && after[k] && options_.crossed.size() == 0) {
        group.push_back(k);
        crossed_[k] = false;
        if (!options_.reset.empty())
          for (const int other : options_.reset[k]) crossed_[other] = true;
      }
    select();
    if (group.empty()) return;
    result.differentiable = false;
    if (!jump(x0, group, true)) result.status = Status::kNotLive;
    crossed_ = after;
    select();
  }

  /// The variational equation along ẋ = f(x, crossed) from (t, x) to `end`.
  void flow(double t, const State& x, double end) {
    if (!(end > t)) return;
    Eigen::VectorXd z(n_ * (1 + V_.cols()));
    z << x, V_.reshaped();
    const auto f = [this](double, const Eigen::VectorXd& at, Eigen::VectorXd& dz) {
      x_ = at.head(n_);
      system_.field(x_, crossed_, F_);
      dz.head(n_) = F_;
      for (Eigen::Index j = 1; j <= V_.cols(); ++j) {
        v_ = at.segment(j * n_, n_);
        differentiate();
        dz.segment(j * n_, n_) = F_;
      }
    };
    ode::DormandPrince<Eigen::VectorXd> solver(options_.step);
    solver.start(f, t, z);
    while (solver.t() < end && solver.step(f, end) == ode::StepStatus::kAccepted) {
    }
    V_ = solver.x().tail(n_ * V_.cols()).reshaped(n_, V_.cols());
    if (solver.t() < end) V_.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  /// F = Df(x, crossed) v: by the system, or by central differences.
  void differentiate() {
    if constexpr (requires { system_.field_derivative(x_, crossed_, v_, F_); }) {
      system_.field_derivative(x_, crossed_, v_, F_);
    } else {
      const double size = v_.norm();
      if (size == 0) {
        F_.setZero();
        return;
      }
      const double s = 6e-6 * (1 + x_.norm()) / size;
      low_ = x_ - s * v_;
      system_.field(low_, crossed_, F_);
      low_ = F_;
      high_ = x_ + s * v_;
      system_.field(high_, crossed_, F_);
      F_ = (F_ - low_) / (2 * s);
    }
  }

  /// Every direction across the guards of `group`, crossed together at rho. At the start of the
  /// trajectory a perturbed one begins behind some guards and has no past in front of them. False:
  /// a perturbed trajectory does not get across.
  bool jump(const State& rho, const std::vector<int>& group, bool at_start = false) {
    const Crossed before = crossed_;
    for (Eigen::Index j = 0; j < V_.cols(); ++j) {
      std::vector<int> left = group;
      State y = V_.col(j);
      double tau = 0;
      if (at_start) {
        system_.rates(rho, y, hy_ = Eigen::VectorXd(before.size()));
        std::erase_if(left, [&](int k) {
          if (hy_[k] >= 0) cross(system_, k, options_.reset, crossed_);
          return hy_[k] >= 0;
        });
      }
      system_.field(rho, crossed_, F_);
      while (!left.empty()) {
        // the next guard of the perturbed trajectory
        system_.rates(rho, y, hy_ = Eigen::VectorXd(before.size()));
        system_.rates(rho, F_, hF_ = Eigen::VectorXd(before.size()));
        std::size_t next = left.size();
        double delta = HUGE_VAL;
        for (std::size_t i = 0; i < left.size(); ++i) {
          const int k = left[i];
          if (!(hF_[k] > options_.c)) continue;
          if (const double d = -hy_[k] / hF_[k]; d < delta) delta = d, next = i;
        }
        if (next == left.size()) {
          crossed_ = before;
          select();
          return false;
        }
        y += delta * F_;
        tau += delta;
        cross(system_, left[next], options_.reset, crossed_);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
        system_.field(rho, crossed_, F_);
      }
      V_.col(j) = y - tau * F_;
      crossed_ = before;
      select();
    }
    return true;
  }

  /// The same of the axes.
  Eigen::MatrixXd jump_matrix(const State& rho, const std::vector<int>& group) {
    Eigen::MatrixXd axes = Eigen::MatrixXd::Identity(n_, n_);
    std::swap(axes, V_);
    if (!jump(rho, group)) V_.setConstant(std::numeric_limits<double>::quiet_NaN());
    std::swap(axes, V_);
    return axes;
  }

  System& system_;
  Options options_;
  Eigen::Index n_;
  Eigen::MatrixXd V_;
  Crossed crossed_;
  State x_, v_, F_, low_, high_;
  Eigen::VectorXd hy_, hF_;
};

namespace detail {
template <class System, class State>
Derivative<State> b_derivative(System& system, const State& x0, const Eigen::MatrixXd& directions,
                               const Options& options) {
  if (directions.rows() != x0.size() || !directions.allFinite())
    throw std::invalid_argument("directions must be finite columns of " +
                                std::to_string(x0.size()) + " values, as x0");
  return Perturbation<System, State>(system, options, x0, directions).run(x0);
}
}  // namespace detail

/// The directional derivative of x(t_end) with respect to x0, for each column of `directions`:
///
///   lim over s ↓ 0 of (x(t_end; x0 + s d) - x(t_end; x0)) / s.
///
/// The trajectory's events are located exactly, whatever options.exact says; events within
/// options.simultaneous of each other count as one crossing. Df is the system's field_derivative,
/// f.derivative (see with_derivative), or else central differences of f.
template <class System, class Derived>
auto b_derivative(System&& system, const Eigen::MatrixBase<Derived>& x0,
                  const Eigen::MatrixXd& directions, const Options& options = {}) {
  const typename Derived::PlainObject start = x0;
  return detail::b_derivative(system, start, directions, options);
}
template <class F, class H, class D, class Derived>
auto b_derivative(F&& f, H&& h, D&& Dh, const Eigen::MatrixBase<Derived>& x0,
                  const Eigen::MatrixXd& directions, const Options& options = {}) {
  using State = typename Derived::PlainObject;
  const State start = x0;
  Callables<State, std::remove_reference_t<F>, std::remove_reference_t<H>,
            std::remove_reference_t<D>>
      system(f, h, Dh);
  check_shapes(system, start);
  return detail::b_derivative(system, start, directions, options);
}

/// The n x n derivative of x(t_end) with respect to x0; where `differentiable` is false its columns
/// are one-sided derivatives along the positive axes.
template <class System, class Derived>
auto orbital_derivative(System&& system, const Eigen::MatrixBase<Derived>& x0,
                        const Options& options = {}) {
  return b_derivative(system, x0, Eigen::MatrixXd::Identity(x0.size(), x0.size()), options);
}
template <class F, class H, class D, class Derived>
auto orbital_derivative(F&& f, H&& h, D&& Dh, const Eigen::MatrixBase<Derived>& x0,
                        const Options& options = {}) {
  return b_derivative(f, h, Dh, x0, Eigen::MatrixXd::Identity(x0.size(), x0.size()), options);
}

}  // namespace routh::event_selected
