#pragma once

#include <Eigen/Core>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "routh/event_selected/solution.h"

/// What the integrator asks of an event-selected system, and how three callables become one.
///
/// A system has
///
///   s.field(x, crossed, dx)     dx = f(x, crossed)
///   s.guards(x, h)              h = h(x), m values
///   s.rates(x, dx, hdot)        hdot = Dh(x) dx
///
/// and, where it can do better than by these three,
///
///   s.select(crossed, k)        guard k was crossed (k = -1: any may have changed)
///   s.guard(x, k)               h_k(x) alone
///   s.rate(x, dx, k)            Dh_k(x) dx alone
///   s.next_guards(crossed, list)   appends the few guards among which the next is, wherever x is:
///                               whenever an armed guard has h ≥ -ε, a listed one has. Needs the
///                               two above and one ε for all; then an event costs the same for any
///                               number of guards
///   s.field_derivative(x, crossed, dx, ddx)   ddx = Df(x, crossed) dx
namespace routh::event_selected {

/// f, h and Dh as a system. Each may return its value or write it into a last argument:
///
///   f(x, crossed) -> n,    f(x, crossed, dx)
///   h(x) -> m,             h(x, values)
///   Dh(x) -> m x n,        Dh(x, rows),    Dh(x, dx, hdot) for the product Dh(x) dx
template <class State, class F, class H, class D>
class Callables {
 public:
  Callables(F& f, H& h, D& Dh) : f_(f), h_(h), Dh_(Dh) {}

  void field(const State& x, const Crossed& crossed, State& dx) {
    if constexpr (std::is_invocable_v<F&, const State&, const Crossed&, State&>)
      f_(x, crossed, dx);
    else
      dx = f_(x, crossed);
  }
  void guards(const State& x, Eigen::VectorXd& h) {
    if constexpr (std::is_invocable_v<H&, const State&, Eigen::VectorXd&>)
      h_(x, h);
    else
      h = h_(x);
  }
  void rates(const State& x, const State& dx, Eigen::VectorXd& hdot) {
    if constexpr (std::is_invocable_v<D&, const State&, const State&, Eigen::VectorXd&>) {
      Dh_(x, dx, hdot);
    } else if constexpr (std::is_invocable_v<D&, const State&, Eigen::MatrixXd&>) {
      Dh_(x, rows_);
      hdot.noalias() = rows_ * dx;
    } else {
      hdot.noalias() = Dh_(x) * dx;
    }
  }
  void field_derivative(const State& x, const Crossed& crossed, const State& dx,
                        State& ddx) requires requires(F& f) {
    f.derivative(x, crossed, dx, ddx);
  }
  { f_.derivative(x, crossed, dx, ddx); }

  /// Throws where Dh is a matrix of the wrong shape.
  void check_shapes(const State& x, Eigen::Index guards) {
    if constexpr (!std::is_invocable_v<D&, const State&, const State&, Eigen::VectorXd&>) {
      Eigen::MatrixXd rows;
      if constexpr (std::is_invocable_v<D&, const State&, Eigen::MatrixXd&>)
        Dh_(x, rows);
      else
        rows = Dh_(x);
      if (rows.rows() != guards || rows.cols() != x.size())
        throw std::invalid_argument(
            "Dh must be " + std::to_string(guards) + " x " + std::to_string(x.size()) +
            ", guards of h by states of x, not " + std::to_string(rows.rows()) + " x " +
            std::to_string(rows.cols()));
    }
  }

 private:
  F& f_;
  H& h_;
  D& Dh_;
  Eigen::MatrixXd rows_;
};

/// Throws where the sizes of f(x0), h(x0) and Dh(x0) disagree.
template <class System, class State>
void check_shapes(System& system, const State& x0) {
  Eigen::VectorXd h;
  system.guards(x0, h);
  system.check_shapes(x0, h.size());
}

/// A field with its derivative, for b_derivative: Df(x, crossed) returns the n x n Jacobian in x.
template <class F, class J>
struct FieldWithDerivative {
  F f;
  J Df;

  template <class State>
  void operator()(const State& x, const Crossed& crossed, State& dx) {
    if constexpr (std::is_invocable_v<F&, const State&, const Crossed&, State&>)
      f(x, crossed, dx);
    else
      dx = f(x, crossed);
  }
  template <class State>
  void derivative(const State& x, const Crossed& crossed, const State& dx, State& ddx) {
    ddx = Df(x, crossed) * dx;
  }
};
template <class F, class J>
FieldWithDerivative<F, J> with_derivative(F f, J Df) {
  return {std::move(f), std::move(Df)};
}

/// Marks guard k crossed and re-arms what the rule says; tells the system.
template <class System>
void cross(System& system, int k, const Reset& reset, Crossed& crossed) {
  crossed[k] = true;
  if (!reset.empty())
    for (const int other : reset[k]) crossed[other] = false;
  if constexpr (requires { system.select(crossed, k); }) system.select(crossed, k);
}

}  // namespace routh::event_selected
