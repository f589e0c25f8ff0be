#include "routh/simulate/motion_derivative.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "routh/ode/dormand_prince.h"
#include "routh/simulate/mode_kernel.h"
#include "routh/simulate/recorder.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr double kBeside = 1e-6;        // step of differences, relative to the state
constexpr double kSameVelocity = 1e-7;  // of a reset and what was simulated, relative
constexpr double kSameFlow = 1e-6;      // of flows on both sides of a lift-off, relative

/// Follows perturbations of a hybrid execution from event to event.
class Followed {
 public:
  Followed(const System& system, const HybridOptions& options)
      : options_(options), kernel_(system, {}), n_(2 * system.nv()) {}

  /// V over the flow of a mode. False: it ends, or cannot be integrated.
  bool flow(const Mode& mode, double t, const VectorXd& x, double end, MatrixXd& V) {
    if (!(end > t)) return true;
    at(t, x);
    const ModeKernel::Layout layout = kernel_.layout(mode);
    VectorXd z(n_ * (1 + V.cols()));
    z << x, V.reshaped();
    const auto f = [&](double time, const VectorXd& from, VectorXd& dz) {
      const VectorXd here = from.head(n_);
      dz.head(n_) = rate(layout, time, here);
      for (Eigen::Index j = 1; j <= V.cols(); ++j) {
        const VectorXd v = from.segment(j * n_, n_);
        const double size = v.lpNorm<Eigen::Infinity>();
        if (size == 0) {
          dz.segment(j * n_, n_).setZero();
          continue;
        }
        const double s = beside(here) / size;
        dz.segment(j * n_, n_) =
            (rate(layout, time, here + s * v) - rate(layout, time, here - s * v)) / (2 * s);
      }
    };
    ode::DormandPrince<VectorXd> solver({.rtol = options_.rtol, .atol = options_.atol});
    solver.start(f, t, z);
    while (solver.t() < end && solver.step(f, end) == ode::StepStatus::kAccepted) {
    }
    V = solver.x().tail(n_ * V.cols()).reshaped(n_, V.cols());
    return solver.t() >= end && V.allFinite();
  }

  /// Ξ of an event; empty, with the reason, where there is none.
  MatrixXd jump(const Event& e, const VectorXd& before, const VectorXd& after, std::string& why) {
    const VectorXd slow = rate(e.mode_before, e.time, before),
                   fast = rate(e.mode_after, e.time, after);
    if (e.kind == EventKind::kImpact) return impact(e, before, after, slow, fast, why);
    if (e.kind == EventKind::kStick) {
      const RowVectorXd Dg =
          gradient(before, [&] { return kernel_.tangential_velocity(e.contacts[0]); });
      return MatrixXd::Identity(n_, n_) + (fast - slow) * Dg / Dg.dot(slow);
    }
    if ((e.kind == EventKind::kLiftOff || e.kind == EventKind::kSlip) &&
        (fast - slow).norm() <= kSameFlow * (1 + slow.norm()))
      return MatrixXd::Identity(n_, n_);
    why = "a " + std::string(to_string(e.kind)) + " has no derivative";
    return {};
  }

 private:
  void at(double t, const VectorXd& x) { kernel_.evaluate(t, x.head(n_ / 2), x.tail(n_ / 2)); }
  static double beside(const VectorXd& x) { return kBeside * (1 + x.lpNorm<Eigen::Infinity>()); }
  VectorXd rate(const ModeKernel::Layout& layout, double t, const VectorXd& x) {
    VectorXd dx(n_);
    if (!kernel_.flow(layout, t, x, dx)) dx.setConstant(std::numeric_limits<double>::quiet_NaN());
    return dx;
  }
  VectorXd rate(const Mode& mode, double t, const VectorXd& x) {
    at(t, x);
    return rate(kernel_.layout(mode), t, x);
  }

  template <class Value>
  RowVectorXd gradient(const VectorXd& x, const Value& value) {
    RowVectorXd slope(n_);
    const double s = beside(x);
    for (Eigen::Index j = 0; j < n_; ++j) {
      at(kernel_.t(), x + s * VectorXd::Unit(n_, j));
      slope[j] = value();
      at(kernel_.t(), x - s * VectorXd::Unit(n_, j));
      slope[j] = (slope[j] - value()) / (2 * s);
    }
    return slope;
  }

  /// The plastic map into a mode.
  VectorXd reset(const Mode& mode, double t, const VectorXd& x) {
    at(t, x);
    ModeKernel::Response solution;
    VectorXd there = x;
    if (kernel_.impulses(kernel_.layout(mode), options_.dt_pseudo, solution))
      there.tail(n_ / 2) = solution.x;
    else
      there.setConstant(std::numeric_limits<double>::quiet_NaN());
    return there;
  }

  MatrixXd impact(const Event& e, const VectorXd& before, const VectorXd& after,
                  const VectorXd& slow, const VectorXd& fast, std::string& why) {
    at(e.time, before);
    int closes = -1;
    const double still = 1e-9 * (1 + before.tail(n_ / 2).lpNorm<Eigen::Infinity>());
    for (std::size_t i = 0; i < kernel_.terms().contacts.size(); ++i) {
      const Contact& c = kernel_.terms().contacts[i];
      if (c.phi > options_.touching || c.Jn.dot(before.tail(n_ / 2)) >= -still) continue;
      if (closes >= 0) {
        why = "contacts " + kernel_.terms().contacts[closes].name + " and " + c.name +
              " close at the same instant";
        return {};
      }
      closes = static_cast<int>(i);
    }
    const VectorXd there = reset(e.mode_after, e.time, before);
    if (closes < 0 || !((there - after).norm() <= kSameVelocity * (1 + before.norm()))) {
      why = "an impact is not the plastic map into the mode after it";
      return {};
    }
    MatrixXd DR(n_, n_);
    const double s = beside(before);
    for (Eigen::Index j = 0; j < n_; ++j) {
      const VectorXd by = s * VectorXd::Unit(n_, j);
      DR.col(j) =
          (reset(e.mode_after, e.time, before + by) - reset(e.mode_after, e.time, before - by)) /
          (2 * s);
    }
    at(e.time, before);
    RowVectorXd Dg = RowVectorXd::Zero(n_);
    Dg.head(n_ / 2) = kernel_.terms().contacts[closes].Jn;
    return DR + (fast - DR * slow) * Dg / Dg.dot(slow);
  }

  const HybridOptions& options_;
  ModeKernel kernel_;
  Eigen::Index n_;
};

}  // namespace

MotionDerivative derivative(const System& system, const State& start, HybridOptions options) {
  if (!options.limbs.empty())
    throw std::invalid_argument("derivative: limbs without mass have no variational equation here");
  if (system.nq() != system.nv() || system.contacts_vary())
    throw std::invalid_argument(
        "derivative: the system must have as many coordinates as velocities, and contacts that are "
        "always the same");
  options.every = 0;
  const Trajectory t = simulate(system, start, options);
  const HybridExtras& hybrid = *t.hybrid();
  const Eigen::Index nv = system.nv(), n = 2 * nv;
  const auto stacked = [&](const VectorXd& q, const VectorXd& v) {
    VectorXd x(n);
    x << q, v;
    return x;
  };

  Followed follow(system, options);
  MotionDerivative result{.D = MatrixXd::Identity(n, n), .end = t.final.time};
  const auto none = [&](const std::string& why, double time) {
    result.D.setConstant(std::numeric_limits<double>::quiet_NaN());
    result.differentiable = false;
    result.message = Recorder::timed(why, time);
    return result;
  };
  if (t.stopped()) return none(t.message, t.final.time);

  // smooth piece, event, smooth piece, ..
  double now = t.time.front();
  VectorXd x = stacked(t.q.front(), t.v.front());
  Mode mode = hybrid.modes[hybrid.mode_at.front()];
  for (const Event& e : t.events) {
    if (e.kind == EventKind::kAmbiguity) continue;
    if (!follow.flow(mode, now, x, e.time, result.D))
      return none("the variational equation cannot be integrated", now);
    if (e.kind == EventKind::kZeno) return none("impacts accumulate", e.time);
    const auto k = std::lower_bound(t.time.begin(), t.time.end(), e.time) - t.time.begin();
    const VectorXd before = stacked(t.q[k], e.v_minus), after = stacked(t.q[k], e.v_plus);
    std::string why;
    const MatrixXd matrix = follow.jump(e, before, after, why);
    if (matrix.size() == 0) return none(why, e.time);
    result.jumps.push_back({e.time, e.kind, e.contacts, matrix});
    result.D = matrix * result.D;
    now = e.time, x = after, mode = e.mode_after;
  }
  if (!follow.flow(mode, now, x, t.final.time, result.D))
    return none("the variational equation cannot be integrated", now);
  return result;
}

}  // namespace routh
