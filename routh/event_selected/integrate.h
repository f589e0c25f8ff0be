#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "routh/event_selected/pool.h"
#include "routh/event_selected/solution.h"
#include "routh/event_selected/system.h"
#include "routh/ode/dormand_prince.h"

/// The rapid integrator of P5, Listing 1, corrected.
///
/// Away from guards x follows ẋ = f(x, crossed) by Dormand-Prince steps, ended on the dense output
/// where the first armed guard k comes within h_k ≥ -ε_k. From there x moves in straight lines,
///
///   Δt = min over armed k of -h_k / (Dh_k f),    x ← x + f Δt,    guard k is crossed,
///
/// guard after guard through the whole complex, without root finding: the error is O(ε²).
///
/// Where a straight line cannot be trusted, the guard is located instead:
/// - a projection along which the speed Dh_k f towards the guard changes by more than 3 : 4 is not
///   made (below a half, x might turn back before the guard); x is integrated on, and the guard is
///   crossed where the dense output reaches it, or not at all;
/// - a guard that recedes within ε (it was just re-armed, or x turns back) waits in the same way
///   until it has left its neighbourhood;
/// - a guard that rises into its neighbourhood and falls back within one step is found by the
///   maximum of the cubic through the values and rates at the ends of the step.
///
/// Departures from Listing 1: the mask selects the field; guards re-arm by a rule; h and Dh f are
/// compared in time, never a rounded zero by sign; a guard overrun by an earlier projection is
/// crossed where x stands (Δt = 0) instead of going back in time.
namespace routh::event_selected {

template <class System, class State>
class Integrator {
 public:
  Integrator(System& system, const State& x0, const Options& options)
      : system_(system),
        options_(options),
        pool_(system, x0),
        solver_(options.step),
        x_(x0),
        t_(options.t_start) {
    if (!x0.allFinite()) throw std::invalid_argument("x0 must be finite");
    validate(options, static_cast<int>(pool_.h.size()));
    dx_.resizeLike(x0), x_next_.resizeLike(x0), dx_next_.resizeLike(x0), probe_.resizeLike(x0);
    back_ = options.exact ? options.simultaneous : 0;
    start_mask();
    pool_.start(options, crossed_);
    evaluate();
    solution_.crossed_start = solution_.crossed = crossed_;
    solution_.x = x0;
  }

  Solution<State> run() {
    const long most_events = options_.max_events, most_steps = options_.max_steps;
    keep_sample(t_, x_);
    if (!finite()) stop(Status::kNotFinite);
    while (running() && t_ < options_.t_end) {
      if (solution_.counts.events >= most_events) {
        stop(Status::kEventLimit);
      } else if (solver_.steps() >= most_steps) {
        stop(Status::kStepLimit);
      } else if (const int k = earliest(); k < 0 || !project(k)) {
        integrate_smooth();
      }
    }
    return finish();
  }

 private:
  static constexpr double kSteady = 0.75;  ///< least ratio of speeds along a projection
  bool running() const { return !stopped_; }
  void stop(Status status, int guard = -1, double value = 0) {
    stopped_ = true;
    solution_.status = status, solution_.guard = guard, solution_.value = value;
  }

  void start_mask() {
    crossed_ = options_.crossed.size() ? options_.crossed : Crossed(pool_.h.array() >= 0);
    select(-1);
    field(x_, dx_);
    if (dx_.size() != x_.size())
      throw std::invalid_argument(
          "f must give one value per state of x0: " + std::to_string(x_.size()) + ", not " +
          std::to_string(dx_.size()));
    evaluate();
    if (options_.crossed.size()) return;
    // of two guards that re-arm each other, both touched at rest, the first counts as crossed
    for (int k = 0; k < crossed_.size() && !options_.reset.empty(); ++k)
      if (crossed_[k] && pool_.h[k] == 0 && pool_.hdot[k] == 0)
        for (const int other : options_.reset[k])
          if (pool_.h[other] == 0) crossed_[other] = false;
    // a guard left downwards at the start was not crossed
    const Crossed falling = pool_.h.array() == 0 && pool_.hdot.array() < 0;
    crossed_ = crossed_ && !falling;
    select(-1);
    evaluate();
  }
  void select(int k) {
    if constexpr (requires { system_.select(crossed_, k); }) system_.select(crossed_, k);
  }
  void field(const State& x, State& dx) {
    system_.field(x, crossed_, dx);
    ++solution_.counts.field_evaluations;
  }
  /// f, h and Dh f at (t, x).
  void evaluate() {
    field(x_, dx_);
    pool_.evaluate(x_, dx_);
    ++solution_.counts.guard_evaluations;
    solver_fresh_ = false;
  }
  bool finite() const { return std::isfinite(dx_.sum()) && std::isfinite(pool_.h.sum()); }
  /// The guard that x reaches first along a straight line, if any armed guard is within ε.
  int earliest() {
    if (located_ >= 0) return located_;
    // branch-free, so that several guards share a register
    const auto h = pool_.h.array(), hdot = pool_.hdot.array(), edge = pool_.edge.array();
    const double slow = std::max(options_.c, 1e-200);
    const auto receding = 1e300 * (slow - hdot).max(0);
    time_to_edge_ = ((edge - h) / hdot.max(slow) + receding).minCoeff();
    if (time_to_edge_ > (options_.exact ? options_.simultaneous : 0)) return -1;

    // -h/ḣ, far away for crossed and receding guards
    scratch_ = edge.max(0) + receding - h / hdot.max(slow);
    int first = 0;
    for (const double least = scratch_.minCoeff(); scratch_[first] > least;) ++first;
    if (!(scratch_[first] < 1e80)) return -1;
    if (pool_.waiting(first) && h[first] < 0) return -1;
    return first;
  }

  /// Straight to guard k and across it. False: the straight line cannot be trusted.
  bool project(int k) {
    if (!(pool_.hdot[k] > options_.c)) {
      stop(Status::kNotLive, pool_.number(k), pool_.hdot[k]);
      return true;
    }
    double dt = -pool_.h[k] / pool_.hdot[k];
    const bool exact = std::exchange(located_, -1) == k || options_.exact;
    if (dt < -back_) {
      dt = -back_;
      if (!exact) ++solution_.counts.out_of_order;
    }
    back_ = options_.exact ? options_.simultaneous : 0;
    const int target = k;
    if (t_ + dt > options_.t_end) dt = options_.t_end - t_, k = -1;
    x_next_ = x_ + dt * dx_;

    // the speed towards the guard must not change much on the way, still in the field before it
    if (dt > 0 && !exact) {
      field(x_next_, dx_next_);
      if (!dx_next_.allFinite()) {
        stop(Status::kNotFinite);
        return true;
      }
      const double ratio = pool_.rate(x_next_, dx_next_, target) / pool_.hdot[target];
      if (!(ratio > kSteady && ratio * kSteady < 1)) {
        pool_.wait(target);
        return false;
      }
    }
    sample_line(dt);
    t_ = k < 0 ? options_.t_end : t_ + dt;
    x_ = x_next_;
    if (k >= 0) {
      ++(exact ? solution_.counts.located : solution_.counts.projections);
      cross_here(k);
    }
    return true;
  }

  /// x is on the guard of slot `slot`: the mask changes, and the new field must leave it behind.
  void cross_here(int slot) {
    const int k = pool_.number(slot);
    cross(system_, k, options_.reset, crossed_);
    pool_.cross(k, options_.reset, crossed_);
    ++solution_.counts.events;
    if (options_.record) {
      solution_.events.push_back({t_, k, x_, crossed_});
      keep_sample(t_, x_);
    }
    evaluate();
    if (!finite()) {
      stop(Status::kNotFinite);
      return;
    }
    const double after = pool_.rate_of_guard(x_, dx_, k);
    if (!(after > options_.c)) stop(Status::kNotLive, k, after);
  }
  /// One step of the smooth field, cut where the first guard is met or its neighbourhood entered.
  void integrate_smooth() {
    const auto f = [this](double, const State& x, State& dx) { field(x, dx); };
    if (!solver_fresh_) solver_.start(t_, x_, dx_);
    solver_fresh_ = true;
    // a little beyond the next guard, if that is much nearer than the end of a full step
    double limit = options_.t_end;
    const double full = solver_.next_step();
    const bool brief = time_to_edge_ > 0 && time_to_edge_ < 0.45 * full && !brief_;
    if (brief) limit = std::min(limit, t_ + std::max(1.05 * time_to_edge_, 1e-3 * full));
    brief_ = brief;
    const ode::StepStatus status = solver_.step(f, limit);
    if (status != ode::StepStatus::kAccepted) {
      stop(status == ode::StepStatus::kNotFinite ? Status::kNotFinite : Status::kStepTooSmall);
      return;
    }
    pool_.look_ahead(solver_.x(), solver_.dxdt());
    ++solution_.counts.guard_evaluations;
    if (!std::isfinite(pool_.h_next.sum())) {
      stop(Status::kNotFinite);
      return;
    }
    const double begin = solver_.t_old(), end = solver_.t();
    double cut = end;
    const int k = first_met(begin, cut);

    // the whole step is free of events
    if (k < 0) {
      sample_dense(end);
      t_ = end, x_ = solver_.x(), dx_ = solver_.dxdt();
      pool_.advance();
      pool_.update_waiting();
      pool_.update_all_waiting(x_, dx_);
      return;
    }

    // to the cut; full order where the dense output of a full step would be too coarse
    if (options_.exact && !brief && cut > begin && solver_.shorten(f, cut)) {
      x_ = solver_.x();
    } else {
      solver_.dense(cut, x_next_);
      x_ = x_next_;
    }
    const bool at_guard = pool_.level(k) == 0;
    t_ = cut;
    brief_ = false;
    if (options_.exact) {
      field(x_, dx_);
      solver_fresh_ = false;
      pool_.h[k] = pool_.guard(x_, k), pool_.hdot[k] = pool_.rate(x_, dx_, k);
      located_ = k, back_ = cut - begin;
      sample_dense(pool_.hdot[k] > options_.c ? t_ + std::min(0.0, -pool_.h[k] / pool_.hdot[k])
                                              : t_);
    } else {
      evaluate();
      pool_.update_waiting();
      if (at_guard) located_ = k;
      sample_dense(t_);
    }
  }

  /// The guard met first between `begin` and `end` of the last step, and the time in `end`; -1 when
  /// there is none. pool_.h and pool_.hdot are those of the beginning, pool_.h_next and
  /// pool_.hdot_next of the end.
  int first_met(double begin, double& end) {
    const double length = end - begin;
    const Eigen::Index m = pool_.h.size();
    int met = -1;
    double first = HUGE_VAL, to = end;
    // which armed guards can have been met: those at their edge at the end, and those that rise and
    // fall, whose tangents at both ends intersect above the edge
    const auto edge = pool_.edge.array(), rise = pool_.hdot.array();
    const auto fall = -pool_.hdot_next.array();
    scratch_ = (pool_.h_next.array() - edge)
                   .max((pool_.h.array() + length * rise - edge)
                            .min(pool_.h_next.array() + length * fall - edge)
                            .min(rise)
                            .min(fall));
    if (scratch_.maxCoeff() < 0) return -1;
    for (Eigen::Index k = 0; k < m; ++k) {
      if (!(scratch_[k] >= 0)) continue;
      const double l = pool_.level(k), h0 = pool_.h[k] - l, h1 = pool_.h_next[k] - l;
      double until = end, h_until = h1;
      if (h1 < 0) {
        // below at both ends: met only if it rises to a maximum in between
        if (!(pool_.hdot[k] > 0 && pool_.hdot_next[k] < 0 && h0 < 0)) continue;
        until = begin +
                length * cubic_maximum(h0, pool_.hdot[k] * length, h1, pool_.hdot_next[k] * length);
        solver_.dense(until, probe_);
        h_until = pool_.guard(probe_, static_cast<int>(k)) - l;
        if (h_until < 0) continue;
      } else if (h0 >= 0 && !(pool_.hdot[k] <= 0 && pool_.hdot_next[k] > 0)) {
        continue;  // just re-armed and still on its way down
      }
      const double estimate =
          h0 < 0 ? begin + (until - begin) * h0 / (h0 - h_until) : 0.5 * (begin + until);
      if (estimate < first) first = estimate, met = static_cast<int>(k), to = until;
    }
    if (met < 0) return -1;

    // the earliest by estimate, then any that is beyond its level there
    double cut = locate(met, begin, to);
    for (;;) {
      solver_.dense(cut, probe_);
      pool_.guards(probe_, scratch_);
      ++solution_.counts.guard_evaluations;
      const double soon = options_.exact ? options_.simultaneous : 0;
      if ((scratch_.array() - edge + 0.05 * edge.min(0) - soon * pool_.hdot.array().abs())
              .maxCoeff() <= 0)
        break;
      int earlier = -1;
      double excess = 0;
      for (Eigen::Index k = 0; k < m; ++k) {
        if (!pool_.armed(k) || k == met || pool_.h[k] >= pool_.level(k)) continue;
        const double beyond = scratch_[k] - pool_.level(k) - pool_.slack(k);
        if (beyond > excess) excess = beyond, earlier = static_cast<int>(k);
      }
      if (earlier < 0) break;
      const double sooner = locate(earlier, begin, cut);
      if (!(sooner < cut - 1e-14 * std::max(1.0, std::abs(cut)))) break;
      met = earlier, cut = sooner;
    }
    end = cut;
    return met;
  }

  /// Where in (0, 1) the cubic with values h0, h1 and slopes d0 > 0 > d1 has its maximum.
  static double cubic_maximum(double h0, double d0, double h1, double d1) {
    // derivative d0 + 2 b s + 3 a s²
    const double b = 3 * (h1 - h0) - 2 * d0 - d1, a = d0 + d1 - 2 * (h1 - h0);
    const double root = std::sqrt(std::max(0.0, b * b - 3 * a * d0));
    const double s = d0 / (-b + root);
    return s > 0 && s < 1 ? s : d0 / (d0 - d1);
  }

  /// The time in [begin, end] when guard k reaches its level on the dense output: by false position
  /// (Illinois), on the far side of the level.
  double locate(int k, double begin, double end) {
    const double l = pool_.level(k), width = pool_.slack(k), aim = l + 0.5 * width;
    const auto value = [&](double t) {
      solver_.dense(t, probe_);
      return pool_.guard(probe_, k) - aim;
    };
    double a = begin, b = end, ha = pool_.h[k] - aim, hb = value(end);
    if (ha >= 0) {
      // re-armed at a rounded zero: from the first of a few points where it is below
      for (int i = 1; i < 8 && ha >= 0; ++i) a = begin + (end - begin) * i / 8, ha = value(a);
      if (ha >= 0) return end;
    }
    if (hb < 0) return end;
    int side = 0;
    for (int i = 0; i < 100; ++i) {
      if (hb <= 0.5 * width || b - a <= 4e-16 * std::abs(b)) break;
      double t = (a * hb - b * ha) / (hb - ha);
      if (!(t > a && t < b)) t = 0.5 * (a + b);
      if (i > 20) t = 0.5 * (a + b);
      const double ht = value(t);
      if (ht >= 0 || ht >= -0.5 * width) {
        b = t, hb = ht;
        if (ht < 0) break;
        if (side == 1) ha *= 0.5;
        side = 1;
      } else {
        a = t, ha = ht;
        if (side == -1) hb *= 0.5;
        side = -1;
      }
    }
    return b;
  }

  void keep_sample(double t, const State& x) {
    if (!options_.record) return;
    solution_.times.push_back(t);
    solution_.states.push_back(x);
  }
  /// Samples on the grid in (t, until], along the last smooth step.
  void sample_dense(double until) {
    if (!(options_.record && options_.sample_every > 0)) return;
    for (double t = next_sample(); t <= until; t = next_sample()) {
      solver_.dense(t, probe_);
      keep_sample(t, probe_);
      ++grid_;
    }
  }
  /// Samples on the grid in (t, t + dt], along a projection.
  void sample_line(double dt) {
    if (!(options_.record && options_.sample_every > 0)) return;
    for (double t = next_sample(); t <= t_ + dt; t = next_sample()) {
      probe_ = x_ + (t - t_) * dx_;
      keep_sample(t, probe_);
      ++grid_;
    }
  }
  double next_sample() const {
    return options_.t_start + static_cast<double>(grid_) * options_.sample_every;
  }

  Solution<State> finish() {
    solution_.time = t_, solution_.x = x_, solution_.crossed = crossed_;
    solution_.counts.steps = solver_.steps(), solution_.counts.rejected_steps = solver_.rejected();
    if (options_.record && solution_.times.back() < t_) keep_sample(t_, x_);
    return std::move(solution_);
  }

  System& system_;
  const Options& options_;
  Pool<System, State> pool_;
  ode::DormandPrince<State> solver_;
  Solution<State> solution_;
  State x_, dx_;  ///< now, and f there
  State x_next_, dx_next_, probe_;
  double t_;
  Crossed crossed_;
  Eigen::VectorXd scratch_;
  double time_to_edge_ = 0;    ///< at its present speed x takes this long to the next edge [s]
  long grid_ = 1;              ///< index of the next sample of the grid
  int located_ = -1;           ///< the guard x was led to, to be crossed next
  double back_ = 0;            ///< how far back in time its remaining distance may lead [s]
  bool solver_fresh_ = false;  ///< the solver stands at (t, x) in this field
  bool brief_ = false;         ///< the last step was cut to the next guard, which was not met
  bool stopped_ = false;
};

/// Integrates a system (see system.h) from x0. Throws std::invalid_argument naming the argument.
template <class System, class Derived>
auto integrate(System&& system, const Eigen::MatrixBase<Derived>& x0, const Options& options = {}) {
  using State = typename Derived::PlainObject;
  const State start = x0;
  return Integrator<std::remove_reference_t<System>, State>(system, start, options).run();
}

/// Integrates ẋ = f(x, crossed) with guards h and Jacobian Dh (forms: see system.h) from x0.
template <class F, class H, class D, class Derived>
auto integrate(F&& f, H&& h, D&& Dh, const Eigen::MatrixBase<Derived>& x0,
               const Options& options = {}) {
  using State = typename Derived::PlainObject;
  const State start = x0;
  Callables<State, std::remove_reference_t<F>, std::remove_reference_t<H>,
            std::remove_reference_t<D>>
      system(f, h, Dh);
  check_shapes(system, start);
  return Integrator<decltype(system), State>(system, start, options).run();
}

}  // namespace routh::event_selected
