#include "routh/impact/single.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "routh/linear/decompose.h"
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

/// How far the impact at one contact has come, and where it ends: compression where the normal
/// velocity vanishes, restitution where what was stored is spent (restitution in problem.h).
class Course {
 public:
  Course(const ImpactProblem& problem, int contact)
      : cn(problem.c[contact]),
        e_(problem.bounce(contact)),
        means_(problem.meaning(Restitution::kStronge)) {}

  double cn, s = 0, work = 0;  ///< normal velocity; normal impulse and its work so far

  bool done() const { return done_; }
  bool restitution() const { return restitution_; }

  /// Has the phase ended at these values? At zero it has, below not yet.
  double over(double cn_at, double s_at, double work_at) const {
    if (!restitution_ || means_ == Restitution::kNewton) return cn_at - cn_end_;
    return means_ == Restitution::kPoisson ? s_at - s_end_ : work_at - work_end_;
  }
  /// The normal impulse that is left of the phase while the normal velocity grows at this rate;
  /// infinite where it does not end so.
  double left(double rate, double cn_at, double s_at, double work_at) const {
    if (!restitution_ || means_ == Restitution::kNewton)
      return rate > 0 ? (cn_end_ - cn_at) / rate : HUGE_VAL;
    if (means_ == Restitution::kPoisson) return s_end_ - s_at;
    // cn x + rate x²/2 = what is left of the work
    const double rest = work_end_ - work_at, square = cn_at * cn_at + 2 * rate * rest;
    const double root = cn_at + std::sqrt(std::max(0.0, square));
    return square >= 0 && root > 0 ? 2 * rest / root : HUGE_VAL;
  }
  double left(double rate) const { return left(rate, cn, s, work); }

  /// Takes normal impulse along a straight line; `ends`: that was the rest of the phase.
  void go(double impulse, double rate, bool ends) {
    work += impulse * (cn + 0.5 * rate * impulse);
    s += impulse;
    cn += impulse * rate;
    if (ends) end();
  }
  void end() {
    if (restitution_ || e_ == 0) {
      if (!restitution_ || means_ == Restitution::kNewton) cn = cn_end_;
      done_ = true;
      return;
    }
    restitution_ = true;
    cn = 0;
    cn_end_ = e_ * began_;
    s_end_ = (1 + e_) * s;
    work_end_ = (1 - e_ * e_) * work;
  }

 private:
  double e_;
  Restitution means_;
  double began_ = -cn, cn_end_ = 0, s_end_ = 0, work_end_ = 0;
  bool restitution_ = false, done_ = cn >= 0;
};

/// The velocity afterwards and the residual, how far cn⁺ is from where the course ended and the
/// excess over the friction cone as the velocity it gives. Nothing is called finished that the
/// residual does not confirm.
void conclude(const ImpactProblem& problem, int contact, double cn, SingleResult& result) {
  result.c_plus = problem.c + problem.G * result.impulse;
  if (result.path.empty()) return;
  const double friction = result.impulse.segment(problem.tangent(contact), problem.tangents).norm();
  const double excess = friction - problem.mu[contact] * result.impulse[contact];
  const double scale = problem.c.lpNorm<Eigen::Infinity>();
  const double terms = problem.G.row(contact).cwiseAbs().dot(result.impulse.cwiseAbs());
  const double left = std::abs(result.c_plus[contact] - cn) - rounding(terms);
  result.residual =
      std::max({0.0, problem.G(contact, contact) * excess - rounding(terms), left}) / scale;
  result.finished = result.finished && result.residual <= kEnded;
  if (result.finished) result.c_plus[contact] = cn;
}

SingleResult in_plane(const ImpactProblem& problem, int contact) {
  const int n = contact, t = problem.tangent(contact);
  const double Gnn = problem.G(n, n), Gnt = problem.G(n, t), Gtt = problem.G(t, t);
  const double mu = problem.mu[contact];
  const double zero = velocity_tolerance(problem);
  Course course(problem, contact);
  double ct = problem.c[t];
  if (std::abs(ct) <= 1e-3 * zero) ct = 0;

  SingleResult result{.impulse = Eigen::VectorXd::Zero(problem.c.size()), .c_plus = problem.c};
  const bool can_stick = std::abs(Gnt) <= mu * Gtt;
  // a slip, one more piece and a change of phase make the longest path; the bound is for safety
  for (int pieces = 0; !course.done() && pieces < 6; ++pieces) {
    // direction of sliding and the impulse per unit of normal impulse
    const bool sticks = ct == 0 && can_stick;
    const double sigma = sticks ? 0 : ct != 0 ? std::copysign(1, ct) : std::copysign(1, Gnt);
    const double ratio = sticks ? (Gtt > 0 ? -Gnt / Gtt : 0) : -mu * sigma;
    const double rate_n = Gnn + ratio * Gnt;
    const double rate_t = sticks ? 0 : Gnt + ratio * Gtt;

    // to the end of the phase or of the slip, whichever is first
    const bool lifts = rate_n > rounding(Gnn + std::abs(ratio * Gnt));
    double s = course.left(lifts ? rate_n : std::min(rate_n, 0.0));
    bool ends = true;
    if (ct * rate_t < 0 && -ct / rate_t < s) s = -ct / rate_t, ends = false;
    if (!std::isfinite(s)) break;  // jammed: no impulse here lifts the contact

    if (!result.path.empty()) result.bends.push_back(problem.c + problem.G * result.impulse);
    result.impulse[n] += s;
    result.impulse[t] += ratio * s;
    result.path.push_back({sticks      ? ContactState::kSticking
                           : sigma > 0 ? ContactState::kSlidingPositive
                                       : ContactState::kSlidingNegative,
                           s, course.restitution()});
    course.go(s, rate_n, ends);
    ct = ends ? ct + s * rate_t : 0;
  }
  result.finished = course.done() || course.cn >= -kAtOnce * problem.c.lpNorm<Eigen::Infinity>();
  if (!result.finished) return result;
  conclude(problem, contact, course.done() || course.restitution() ? course.cn : 0, result);
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

  /// x = (φ, ln r, s, cn, λt, ∫cn ds).
  using State = Eigen::Matrix<double, 7, 1>;
  void operator()(double, const State& x, State& dx) const {
    const double r = std::exp(x[1]);
    const Vector2d a = pull(x[0]);
    dx << a.y(), a.x(), r, r * lift(x[0]), -mu * r * direction(x[0]), r * x[3];
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
    const linear::SymmetricEigen eigen = linear::symmetric_eigen(mu * Gtt);
    const Vector2d g = eigen.vectors.transpose() * Gtn;
    const auto slip = [&](double rho) -> Vector2d {
      return g.array() / (eigen.values.array().max(0) + rho);
    };
    double low = 0, high = g.norm();
    for (int i = 0; i < 200 && low < high; ++i) {
      const double middle = 0.5 * (low + high);
      if (middle == low || middle == high) break;
      (slip(middle).norm() > 1 ? low : high) = middle;
    }
    return (eigen.vectors * slip(high)).normalized();
  }
};

/// A contact in space on its way through one phase after the other.
class InSpace {
 public:
  InSpace(const ImpactProblem& problem, int contact)
      : problem_(problem),
        n_(contact),
        t_(problem.tangent(contact)),
        sliding_{problem.G(n_, n_), problem.mu[contact], problem.G.block<2, 1>(t_, n_),
                 problem.G.block<2, 2>(t_, t_)},
        speed_(problem.c.lpNorm<Eigen::Infinity>()),
        course_(problem, contact),
        ct_(problem.c.segment<2>(t_)),
        result_{.impulse = VectorXd::Zero(problem.c.size()), .c_plus = problem.c} {}

  SingleResult run() {
    result_.finished = course_.done();
    if (course_.done() || !(sliding_.Gnn > 0)) return result_;  // joints hold it fast
    for (int phase = 0; phase < 2 && !course_.done(); ++phase) {
      const bool restitution = course_.restitution();
      if (!slide()) return result_;
      if (!course_.done() && course_.restitution() == restitution && !rest()) return result_;
    }
    result_.finished = true;
    conclude(problem_, n_, course_.done() || course_.restitution() ? course_.cn : 0, result_);
    if (!result_.path.empty() && result_.path.back().state == ContactState::kSticking)
      result_.c_plus.segment<2>(t_).setZero();
    return result_;
  }

 private:
  void take(ContactState state, double s, const Vector2d& friction) {
    if (!result_.path.empty()) result_.bends.push_back(problem_.c + problem_.G * result_.impulse);
    result_.impulse[n_] += s;
    result_.impulse.segment<2>(t_) += friction;
    result_.path.push_back({state, s, course_.restitution()});
  }

  /// Sliding, until the phase or the slip ends; false where it jams.
  bool slide() {
    if (sliding_.mu == 0) {
      const double s = course_.left(sliding_.Gnn);
      take(ContactState::kSliding, s, Vector2d::Zero());
      course_.go(s, sliding_.Gnn, true);
      ct_ += s * sliding_.Gtn;
      return true;
    }
    if (ct_.norm() <= 1e-12 * speed_) return true;
    // in units of the speed and of G, so that tolerances mean the same for all components
    const double rate = sliding_.Gnn + sliding_.Gtt.norm(), unit = speed_ / rate;
    const Sliding scaled{sliding_.Gnn / rate, sliding_.mu, sliding_.Gtn / rate,
                         sliding_.Gtt / rate};
    const auto over = [&](const Sliding::State& at) {
      return course_.over(speed_ * at[3], course_.s + unit * at[2],
                          course_.work + speed_ * unit * at[6]);
    };
    ode::DormandPrince<Sliding::State> solver({.rtol = 1e-11, .atol = 1e-13});
    Sliding::State x;
    x << std::atan2(ct_.y(), ct_.x()), std::log(ct_.norm() / speed_), 0, course_.cn / speed_, 0, 0,
        0;
    const double slip_ends = x[1] + std::log(1e-15);
    solver.start(scaled, 0, x);
    bool ended = false;
    std::optional<double> straight = scaled.settled(x[0]);
    while (!ended && !straight && x[1] > slip_ends) {
      if (solver.steps() > 20'000 || solver.step(scaled, HUGE_VAL) != ode::StepStatus::kAccepted)
        return false;
      ended = over(solver.x()) >= 0;
      if (ended) {
        // where the phase ends: bisection of the dense output, then a step of full order to there
        double low = solver.t_old(), high = solver.t();
        for (int i = 0; i < 60; ++i) {
          const double middle = 0.5 * (low + high);
          solver.dense(middle, x);
          (over(x) < 0 ? low : high) = middle;
        }
        solver.dense(high, x);
        if (solver.shorten(scaled, high)) x = solver.x();
      } else {
        x = solver.x();
      }
      if (ended || x[1] <= slip_ends) break;
      result_.bends.push_back(
          problem_.c + problem_.G * result_.impulse +
          unit * (problem_.G.col(n_) * x[2] + problem_.G.middleCols<2>(t_) * x.segment<2>(4)));
      straight = scaled.settled(x[0]);
    }
    double slip = std::exp(x[1]);
    if (straight) {
      // the rest of the slip is a straight line, to its end or to that of the phase
      const double along = scaled.pull(*straight).x(), lift = scaled.lift(*straight);
      const double stops = along < 0 ? -slip / along : HUGE_VAL;
      const double lifts = course_.left(rate * lift, speed_ * x[3], course_.s + unit * x[2],
                                        course_.work + speed_ * unit * x[6]) /
                           unit;
      const double s = std::min(stops, lifts);
      if (!std::isfinite(s)) return false;  // jammed: no impulse here lifts the contact
      ended = lifts <= stops;
      slip += s * along;
      x[0] = *straight;
      x[6] += s * (x[3] + 0.5 * s * lift);
      x[2] += s;
      x[3] += s * lift;
      x.segment<2>(4) -= scaled.mu * s * Sliding::direction(*straight);
    }
    take(ContactState::kSliding, unit * x[2], unit * x.segment<2>(4));
    course_.s += unit * x[2];
    course_.work += speed_ * unit * x[6];
    course_.cn = speed_ * x[3];
    ct_ = ended ? Vector2d(speed_ * slip * Sliding::direction(x[0])) : Vector2d::Zero();
    if (ended) course_.end();
    return true;
  }

  /// At rest: friction holds, or the contact slides off in the one direction that stays. False
  /// where it jams.
  bool rest() {
    const Vector2d hold = -linear::least_squares(sliding_.Gtt, VectorXd(sliding_.Gtn));
    const bool sticks = hold.norm() <= sliding_.mu;
    const Vector2d ratio = sticks ? hold : Vector2d(-sliding_.mu * sliding_.departure());
    const double lift = sliding_.Gnn + sliding_.Gtn.dot(ratio);
    const bool jams =
        lift <= rounding(sliding_.Gnn + sliding_.Gtn.cwiseAbs().dot(ratio.cwiseAbs()));
    if (jams) return course_.cn >= -kAtOnce * speed_;  // no impulse here lifts the contact
    const double s = course_.left(lift);
    take(sticks ? ContactState::kSticking : ContactState::kSliding, s, s * ratio);
    course_.go(s, lift, true);
    ct_ = sticks ? Vector2d::Zero() : Vector2d(s * (sliding_.Gtn + sliding_.Gtt * ratio));
    return true;
  }

  const ImpactProblem& problem_;
  int n_, t_;
  Sliding sliding_;
  double speed_;
  Course course_;
  Vector2d ct_;
  SingleResult result_;
};

}  // namespace

SingleResult single(const ImpactProblem& problem, int contact) {
  if (contact < 0 || contact >= problem.contacts())
    throw std::invalid_argument("single: there is no contact " + std::to_string(contact));
  return problem.tangents == 1 ? in_plane(problem, contact) : InSpace(problem, contact).run();
}

}  // namespace routh
