#include "routh/impact/single.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "routh/ode/dormand_prince.h"

namespace routh {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr double kEnded = 1e-9;  // residual of an impact that has ended
constexpr double kAtOnce =
    1e-10;  // a jam that leaves this much, relative, is the end: with the slip
constexpr double kSettled = 1e-10;  // distance to a direction of slip that stays [rad]

/// Rounding in the sum of terms of this size.
double rounding(double terms) { return 8 * std::numeric_limits<double>::epsilon() * terms; }

/// The velocity afterwards and the residual, |cn⁺| and the excess over the friction cone as the
/// velocity it gives. Nothing is called finished that the residual does not confirm.
void conclude(const ImpactProblem& problem, int contact, SingleResult& result) {
  result.c_plus = problem.c + problem.G * result.impulse;
  if (result.path.empty()) return;
  const double friction = result.impulse.segment(problem.tangent(contact), problem.tangents).norm();
  const double excess = friction - problem.mu[contact] * result.impulse[contact];
  const double scale = problem.c.lpNorm<Eigen::Infinity>();
  const double terms = problem.G.row(contact).cwiseAbs().dot(result.impulse.cwiseAbs());
  const double left = std::abs(result.c_plus[contact]) - rounding(terms);
  result.residual =
      std::max({0.0, problem.G(contact, contact) * excess - rounding(terms), left}) / scale;
  result.finished = result.finished && result.residual <= kEnded;
  if (result.finished) result.c_plus[contact] = 0;
}

SingleResult in_plane(const ImpactProblem& problem, int contact) {
  const int n = contact, t = problem.tangent(contact);
  const double Gnn = problem.G(n, n), Gnt = problem.G(n, t), Gtt = problem.G(t, t);
  const double mu = problem.mu[contact];
  const double zero = velocity_tolerance(problem);
  double cn = problem.c[n], ct = problem.c[t];
  if (std::abs(ct) <= 1e-3 * zero) ct = 0;

  SingleResult result{.impulse = Eigen::VectorXd::Zero(problem.c.size()), .c_plus = problem.c};
  const bool can_stick = std::abs(Gnt) <= mu * Gtt;
  // one slip and one more piece is the longest path; the loop's bound is for safety
  for (int pieces = 0; cn < 0 && pieces < 4; ++pieces) {
    // direction of sliding and the impulse per unit of normal impulse
    const bool sticks = ct == 0 && can_stick;
    const double sigma = sticks ? 0 : ct != 0 ? std::copysign(1, ct) : std::copysign(1, Gnt);
    const double ratio = sticks ? (Gtt > 0 ? -Gnt / Gtt : 0) : -mu * sigma;
    const double rate_n = Gnn + ratio * Gnt;
    const double rate_t = sticks ? 0 : Gnt + ratio * Gtt;

    // to the end of the impact or of the slip, whichever is first
    const bool lifts = rate_n > rounding(Gnn + std::abs(ratio * Gnt));
    double s = lifts ? -cn / rate_n : std::numeric_limits<double>::infinity();
    bool ends = true;
    if (ct * rate_t < 0 && -ct / rate_t < s) s = -ct / rate_t, ends = false;
    if (!std::isfinite(s)) break;  // jammed: no impulse here lifts the contact

    if (!result.path.empty()) result.bends.push_back(problem.c + problem.G * result.impulse);
    cn = ends ? 0 : cn + s * rate_n;
    ct = ends ? ct + s * rate_t : 0;
    result.impulse[n] += s;
    result.impulse[t] += ratio * s;
    result.path.push_back({sticks      ? ContactState::kSticking
                           : sigma > 0 ? ContactState::kSlidingPositive
                                       : ContactState::kSlidingNegative,
                           s});
  }
  result.finished = cn >= -kAtOnce * problem.c.lpNorm<Eigen::Infinity>();
  if (!result.finished) return result;
  conclude(problem, contact, result);
  if (!result.path.empty() && result.finished && ct == 0) result.c_plus[t] = 0;
  return result;
}

/// A sliding contact in space: the direction ct = r (cos φ, sin φ) turns while r changes. With
/// ds = r dτ its equations do not see r, so that they stay smooth where the slip ends (r → 0 as
/// τ → ∞):
///
///   φ' = e⊥ (Gtn - μ Gtt e),   (ln r)' = e (Gtn - μ Gtt e),   s' = r,   cn' = r (Gnn - μ Gnt e)
struct Sliding {
  double Gnn, mu;
  Vector2d Gtn;
  Matrix2d Gtt;

  static Vector2d direction(double phi) { return {std::cos(phi), std::sin(phi)}; }
  /// dct/ds, along the slip and across it.
  Vector2d pull(double phi) const {
    const Vector2d e = direction(phi), a = Gtn - mu * Gtt * e;
    return {e.dot(a), e.x() * a.y() - e.y() * a.x()};
  }
  double lift(double phi) const { return Gnn - mu * Gtn.dot(direction(phi)); }

  /// x = (φ, ln r, s, cn, λt).
  using State = Eigen::Matrix<double, 6, 1>;
  void operator()(double, const State& x, State& dx) const {
    const double r = std::exp(x[1]);
    const Vector2d a = pull(x[0]);
    dx << a.y(), a.x(), r, r * lift(x[0]), -mu * r * direction(x[0]);
  }

  /// The direction that a slip near φ has settled on: it stays there, and others turn towards it.
  std::optional<double> settled(double phi) const {
    for (int i = 0; i < 3; ++i) {
      const Vector2d across(-std::sin(phi), std::cos(phi));
      const double turn = pull(phi).y();
      const double stiffness = pull(phi).x() + mu * across.dot(Gtt * across);  // -d turn/dφ
      if (!(stiffness > 0) || std::abs(turn) > kSettled * stiffness) return {};
      phi += turn / stiffness;
    }
    return phi;
  }

  /// The direction e of a slip that begins where friction cannot hold. It stays: Gtn = (μ Gtt + ρ)
  /// e with ρ > 0, and the size of (μ Gtt + ρ)⁻¹ Gtn falls with ρ through one just once.
  Vector2d departure() const {
    const Eigen::SelfAdjointEigenSolver<Matrix2d> eigen(mu * Gtt);
    const Vector2d g = eigen.eigenvectors().transpose() * Gtn;
    const auto slip = [&](double rho) -> Vector2d {
      return g.array() / (eigen.eigenvalues().array().max(0) + rho);
    };
    double low = 0, high = g.norm();
    for (int i = 0; i < 200 && low < high; ++i) {
      const double middle = 0.5 * (low + high);
      if (middle == low || middle == high) break;
      (slip(middle).norm() > 1 ? low : high) = middle;
    }
    return (eigen.eigenvectors() * slip(high)).normalized();
  }
};

SingleResult in_space(const ImpactProblem& problem, int contact) {
  const int n = contact, t = problem.tangent(contact);
  const Sliding sliding{problem.G(n, n), problem.mu[contact], problem.G.block<2, 1>(t, n),
                        problem.G.block<2, 2>(t, t)};
  const double speed = problem.c.lpNorm<Eigen::Infinity>();
  double cn = problem.c[n];
  Vector2d ct = problem.c.segment<2>(t);

  SingleResult result{.impulse = VectorXd::Zero(problem.c.size()), .c_plus = problem.c};
  if (cn >= 0) {
    result.finished = true;
    return result;
  }
  if (!(sliding.Gnn > 0)) return result;  // joints hold it fast: no impulse moves it
  const auto take = [&](ContactState state, double s, const Vector2d& friction) {
    if (!result.path.empty()) result.bends.push_back(problem.c + problem.G * result.impulse);
    result.impulse[n] += s;
    result.impulse.segment<2>(t) += friction;
    result.path.push_back({state, s});
  };

  // sliding, until the impact or the slip ends
  if (sliding.mu == 0) {
    take(ContactState::kSliding, -cn / sliding.Gnn, Vector2d::Zero());
    cn = 0;
  } else if (ct.norm() > 1e-12 * speed) {
    // in units of the speed and of G, so that tolerances mean the same for all components
    const double rate = sliding.Gnn + sliding.Gtt.norm(), unit = speed / rate;
    const Sliding scaled{sliding.Gnn / rate, sliding.mu, sliding.Gtn / rate, sliding.Gtt / rate};
    ode::DormandPrince<Sliding::State> solver({.rtol = 1e-11, .atol = 1e-13});
    Sliding::State x;
    x << std::atan2(ct.y(), ct.x()), std::log(ct.norm() / speed), 0, cn / speed, 0, 0;
    const double slip_ends = x[1] + std::log(1e-15);
    solver.start(scaled, 0, x);
    bool ended = false;
    std::optional<double> straight = scaled.settled(x[0]);
    while (!ended && !straight && x[1] > slip_ends) {
      if (solver.steps() > 20'000 || solver.step(scaled, HUGE_VAL) != ode::StepStatus::kAccepted)
        return result;
      ended = solver.x()[3] >= 0;
      if (ended) {
        // where cn vanishes: bisection of the dense output, then a step of full order to there
        double low = solver.t_old(), high = solver.t();
        for (int i = 0; i < 60; ++i) {
          const double middle = 0.5 * (low + high);
          solver.dense(middle, x);
          (x[3] < 0 ? low : high) = middle;
        }
        solver.shorten(scaled, high);
      }
      x = solver.x();
      if (ended || x[1] <= slip_ends) break;
      result.bends.push_back(
          problem.c + unit * (problem.G.col(n) * x[2] + problem.G.middleCols<2>(t) * x.tail<2>()));
      straight = scaled.settled(x[0]);
    }
    if (straight) {
      // the rest of the slip is a straight line, to its end or to that of the impact
      const double r = std::exp(x[1]), along = scaled.pull(*straight).x();
      const double lift = scaled.lift(*straight);
      const double stops = along < 0 ? -r / along : HUGE_VAL,
                   lifts = lift > 0 ? -x[3] / lift : HUGE_VAL;
      const double s = std::min(stops, lifts);
      if (!std::isfinite(s)) return result;  // jammed: no impulse here lifts the contact
      ended = lifts <= stops;
      x[2] += s;
      x[3] += s * lift;
      x.tail<2>() -= scaled.mu * s * Sliding::direction(*straight);
    }
    take(ContactState::kSliding, unit * x[2], unit * x.tail<2>());
    cn = ended ? 0 : speed * x[3];
  }

  // at rest: friction holds, or the contact slides off in the one direction that stays
  if (cn < 0) {
    const Vector2d hold = -sliding.Gtt.completeOrthogonalDecomposition().solve(sliding.Gtn);
    const bool sticks = hold.norm() <= sliding.mu;
    const Vector2d ratio = sticks ? hold : Vector2d(-sliding.mu * sliding.departure());
    const double lift = sliding.Gnn + sliding.Gtn.dot(ratio);
    const bool jams = lift <= rounding(sliding.Gnn + sliding.Gtn.cwiseAbs().dot(ratio.cwiseAbs()));
    if (jams && cn < -kAtOnce * speed) return result;  // no impulse here lifts the contact
    if (!jams)
      take(sticks ? ContactState::kSticking : ContactState::kSliding, -cn / lift,
           -cn / lift * ratio);
  }
  result.finished = true;
  conclude(problem, contact, result);
  if (!result.path.empty() && result.path.back().state == ContactState::kSticking)
    result.c_plus.segment<2>(t).setZero();
  return result;
}

}  // namespace

SingleResult single(const ImpactProblem& problem, int contact) {
  if (contact < 0 || contact >= problem.contacts())
    throw std::invalid_argument("single: there is no contact " + std::to_string(contact));
  return problem.tangents == 1 ? in_plane(problem, contact) : in_space(problem, contact);
}

}  // namespace routh
