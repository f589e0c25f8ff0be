#include "routh/simulate/contact_logic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "routh/impact/policy.h"
#include "routh/ode/dormand_prince.h"

namespace routh {

using Eigen::VectorXd;

namespace {

constexpr double kZero = 1e-10;    // values below this, relative to what they are made of
constexpr double kFlat = 1e-9;     // Taylor terms below this over a trend step
constexpr long kTrendSteps = 100;  // of the integrator
constexpr double kMostWork = 1e8;  // of trying modes one by one: about a tenth of a second
constexpr long kMostTrends = 200;  // of them meanwhile, a fraction of a millisecond each

/// Of the first Taylor term above `zero`, from values at 0, 1, .. 4 steps.
int leading_sign(const std::array<double, 5>& h, double zero) {
  const std::array<double, 4> taylor{
      (-25 * h[0] + 48 * h[1] - 36 * h[2] + 16 * h[3] - 3 * h[4]) / 12,
      (35 * h[0] - 104 * h[1] + 114 * h[2] - 56 * h[3] + 11 * h[4]) / 24,
      (-5 * h[0] + 18 * h[1] - 24 * h[2] + 14 * h[3] - 3 * h[4]) / 12,
      (h[0] - 4 * h[1] + 6 * h[2] - 4 * h[3] + h[4]) / 24};
  for (const double term : taylor) {
    if (std::abs(term) > zero) return term > 0 ? 1 : -1;
  }
  return 0;
}

}  // namespace

bool ContactLogic::paper_friction(int contact) const {
  return friction_ == FrictionModel::kPaper ||
         (friction_ == FrictionModel::kAuto && kernel_.on_limb(contact));
}

double ContactLogic::still(int contact) const {
  const Contact& c = kernel_.terms().contacts[contact];
  const double size = c.Jn.cwiseAbs().dot(kernel_.v().cwiseAbs()) +
                      c.Jt.row(0).cwiseAbs().dot(kernel_.v().cwiseAbs());
  return 1e-9 * size + 1e-14;
}

bool ContactLogic::persists(const Mode& mode, const std::vector<int>& scope) {
  level_ = Level::kForce;
  dt_pseudo_ = 0;
  candidates_.clear();
  const Candidate& c = candidate(mode);
  return c.solved && std::all_of(scope.begin(), scope.end(), [&](int k) {
           if (mode[k] == Grip::kOpen && !paper_friction(k))
             return sign(c, Measure::kSeparation, k) >= 0;
           return consistent(mode, k, {mode[k]});
         });
}

bool ContactLogic::moves_as(const Mode& mode, const std::vector<int>& scope) {
  level_ = Level::kForce;
  dt_pseudo_ = 0;
  candidates_.clear();
  const Candidate& c = candidate(mode);
  return c.solved && std::all_of(scope.begin(), scope.end(), [&](int k) {
           if (mode[k] == Grip::kOpen) return sign(c, Measure::kSeparation, k) >= 0;
           const bool slides = mode[k] == Grip::kSlidePositive || mode[k] == Grip::kSlideNegative;
           if (!slides || std::abs(kernel_.tangential_velocity(k)) > still(k)) return true;
           return sign(c, Measure::kSlip, k) == (mode[k] == Grip::kSlidePositive ? 1 : -1);
         });
}

Mode ContactLogic::least_change(const Mode& mode, const std::vector<int>& scope) {
  level_ = Level::kForce;
  dt_pseudo_ = 0;
  candidates_.clear();
  const Candidate& c = candidate(mode);
  Mode changed = mode;
  for (const int k : scope) {
    if (mode[k] == Grip::kOpen || !c.solved) continue;
    if (sign(c, Measure::kNormal, k) < 0)
      changed[k] = Grip::kOpen;
    else if (mode[k] == Grip::kStick && !cone_holds(c, k))
      changed[k] = paper_friction(k)           ? Grip::kSlide
                   : c.plain.tangential[k] > 0 ? Grip::kSlideNegative
                                               : Grip::kSlidePositive;
  }
  return changed;
}

ModeChoice ContactLogic::force_acceleration(const Mode& mode, const std::vector<int>& scope) {
  dt_pseudo_ = 0;
  return enumerate(mode, scope, Level::kForce);
}

ModeChoice ContactLogic::impulse_velocity(const Mode& mode, const std::vector<int>& scope,
                                          double dt_pseudo) {
  dt_pseudo_ = 0;
  ModeChoice plain = enumerate(mode, scope, Level::kImpulse);
  if (!(dt_pseudo > 0) || plain.modes.size() != 1) return plain;

  // PIV: only modes that keep what IV keeps
  dt_pseudo_ = dt_pseudo;
  ModeChoice all = enumerate(mode, scope, Level::kImpulse), chosen;
  for (std::size_t i = 0; i < all.modes.size(); ++i) {
    const bool keeps = std::all_of(scope.begin(), scope.end(), [&](int k) {
      return plain.modes[0][k] == Grip::kOpen || all.modes[i][k] != Grip::kOpen;
    });
    if (!keeps) continue;
    chosen.modes.push_back(all.modes[i]);
    chosen.solutions.push_back(all.solutions[i]);
  }
  return chosen;
}

/// What each contact in scope may do, the most closed first.
std::vector<std::vector<Grip>> ContactLogic::options(const Mode& mode,
                                                     const std::vector<int>& scope,
                                                     Level level) const {
  std::vector<std::vector<Grip>> all;
  for (const int k : scope) {
    const double ct = kernel_.tangential_velocity(k);
    const bool moves = std::abs(ct) > still(k);
    if (kernel_.terms().contacts[k].mu == 0) {
      all.push_back({Grip::kSlide, Grip::kOpen});
    } else if (paper_friction(k)) {
      // no way back from slip to stick; a new contact may grip
      if (mode[k] == Grip::kSlide || (level == Level::kForce && moves))
        all.push_back({Grip::kSlide, Grip::kOpen});
      else if (level == Level::kImpulse)
        all.push_back({Grip::kStick, Grip::kOpen});
      else
        all.push_back({Grip::kStick, Grip::kSlide, Grip::kOpen});
    } else if (level == Level::kForce && moves) {
      all.push_back({ct > 0 ? Grip::kSlidePositive : Grip::kSlideNegative, Grip::kOpen});
    } else {
      all.push_back({Grip::kStick, Grip::kSlidePositive, Grip::kSlideNegative, Grip::kOpen});
    }
  }
  return all;
}

ModeChoice ContactLogic::enumerate(const Mode& mode, const std::vector<int>& scope, Level level) {
  ++problems_;
  level_ = level;
  candidates_.clear();
  const std::vector<std::vector<Grip>> choices = options(mode, scope, level);
  double count = 1;
  for (const auto& c : choices) count *= static_cast<double>(c.size());
  ModeChoice found;
  // modes cost as the cube of their equations
  const double equations =
      static_cast<double>(kernel_.v().size()) + 2.0 * static_cast<double>(scope.size());
  if (count > std::min(policy::kHybridModes, kMostWork / std::pow(equations, 3))) return found;

  const long trends = trends_;
  std::vector<std::size_t> pick(scope.size(), 0);
  Mode J(mode.size(), Grip::kOpen);
  for (bool more = true; more;) {
    for (std::size_t i = 0; i < scope.size(); ++i) J[scope[i]] = choices[i][pick[i]];
    const Candidate& c = candidate(J);
    bool holds = c.solved;
    for (std::size_t i = 0; holds && i < scope.size(); ++i)
      holds = consistent(J, scope[i], choices[i]);
    if (holds) {
      // the same motion by other names is one solution
      const double size = c.plain.x.cwiseAbs().maxCoeff();
      const bool known = std::any_of(
          found.solutions.begin(), found.solutions.end(), [&](const ModeKernel::Response& s) {
            return (s.x - c.plain.x).cwiseAbs().maxCoeff() <= 1e-8 * (size + 1e-12);
          });
      if (!known) found.modes.push_back(J), found.solutions.push_back(c.plain);
    }
    // many contacts whose forces vanish
    if (trends_ - trends > kMostTrends) return {};
    // the next combination
    more = false;
    for (std::size_t i = 0; i < scope.size() && !more; ++i) {
      more = ++pick[i] < choices[i].size();
      if (!more) pick[i] = 0;
    }
  }
  return found;
}

const ContactLogic::Candidate& ContactLogic::candidate(const Mode& mode) {
  const auto [place, is_new] = candidates_.try_emplace(mode);
  Candidate& c = place->second;
  if (!is_new) return c;
  c.layout = kernel_.layout(mode);
  if (!c.layout.regular()) return c;
  if (level_ == Level::kForce) {
    c.solved = kernel_.forces(c.layout, c.plain);
  } else {
    c.solved = kernel_.impulses(c.layout, 0, c.plain);
    if (c.solved && dt_pseudo_ > 0) c.solved = kernel_.impulses(c.layout, dt_pseudo_, c.pseudo);
  }
  return c;
}

const ContactLogic::Candidate& ContactLogic::with(Mode mode, int contact, Grip grip) {
  mode[contact] = grip;
  return candidate(mode);
}

bool ContactLogic::consistent(const Mode& mode, int k, const std::vector<Grip>& allowed) {
  const Candidate& c = candidate(mode);
  switch (mode[k]) {
    case Grip::kOpen:
      return open_holds(c, k, allowed);
    case Grip::kStick:
      return closed_holds(c, k) && cone_holds(c, k);
    case Grip::kSlidePositive:
    case Grip::kSlideNegative:
      // the friction opposes the motion that follows
      if (!closed_holds(c, k)) return false;
      if (level_ == Level::kForce && std::abs(kernel_.tangential_velocity(k)) > still(k))
        return true;
      return sign(c, Measure::kSlip, k) == (mode[k] == Grip::kSlidePositive ? 1 : -1);
    case Grip::kSlide: {
      if (!closed_holds(c, k)) return false;
      // sliding although it could stick: only when the cone does not hold it
      if (std::find(allowed.begin(), allowed.end(), Grip::kStick) == allowed.end()) return true;
      const Candidate& held = with(mode, k, Grip::kStick);
      return !held.solved || !cone_holds(held, k);
    }
  }
  return false;
}

/// U_k of the normal constraint.
bool ContactLogic::closed_holds(const Candidate& c, int k) {
  return sign(c, Measure::kNormal, k) >= 0 ||
         (dt_pseudo_ > 0 && sign(c, Measure::kNormal, k, true) >= 0);
}

/// U_k of the tangential constraint.
bool ContactLogic::cone_holds(const Candidate& c, int k) {
  const auto inside = [&](bool pseudo) {
    return sign(c, Measure::kConePositive, k, pseudo) >= 0 &&
           sign(c, Measure::kConeNegative, k, pseudo) >= 0;
  };
  for (const ModeKernel::Layout::Dropped& d : c.layout.dropped) {
    if (d.contact == k) return true;  // counted where its parallel is
  }
  return inside(false) || (dt_pseudo_ > 0 && inside(true));
}

bool ContactLogic::open_holds(const Candidate& c, int k, const std::vector<Grip>& allowed) {
  const bool paper = paper_friction(k);
  // one that others keep from separating, without a force of its own, is as good as open
  if (!paper && sign(c, Measure::kSeparation, k) < 0) return false;
  if (!paper && !(dt_pseudo_ > 0)) return true;

  // no force or impulse could keep it closed: U_k in J ∪ k
  const bool grips = allowed.front() == Grip::kStick;
  if (level_ == Level::kForce || !grips) {
    const Candidate& normal = with(c.layout.mode, k, Grip::kSlide);
    if (normal.solved) return !closed_holds(normal, k);
  }
  const Candidate& whole = with(c.layout.mode, k, grips ? Grip::kStick : Grip::kSlide);
  return !whole.solved || !closed_holds(whole, k) || !cone_holds(whole, k);
}

/// The value asked for, and below which size it is rounding.
double ContactLogic::measure(const ModeKernel::Response& s, Measure what, int k,
                             double& zero) const {
  const Contact& c = kernel_.terms().contacts[k];
  const bool accelerations = level_ == Level::kForce;
  zero = kZero * s.scale;
  switch (what) {
    case Measure::kNormal:
      return s.normal[k];
    case Measure::kConePositive:
      return s.grip[k] - s.tangential[k];
    case Measure::kConeNegative:
      return s.grip[k] + s.tangential[k];
    case Measure::kSeparation: {
      const double bias = accelerations ? c.bias_n : 0;
      zero = kZero * (c.Jn.cwiseAbs().dot(s.x.cwiseAbs()) + std::abs(bias)) +
             kernel_.rounding(s, c.Jn);
      return c.Jn.dot(s.x) + bias;
    }
    case Measure::kSlip: {
      const double bias = accelerations ? c.bias_t : 0;
      zero = kZero * (c.Jt.row(0).cwiseAbs().dot(s.x.cwiseAbs()) + std::abs(bias)) +
             kernel_.rounding(s, c.Jt.row(0));
      return c.Jt.row(0).dot(s.x) + bias;
    }
  }
  return 0;
}

int ContactLogic::sign(const Candidate& c, Measure what, int k, bool pseudo) {
  double zero = 0;
  const double value = measure(pseudo ? c.pseudo : c.plain, what, k, zero);
  if (std::abs(value) > zero) return value > 0 ? 1 : -1;
  return level_ == Level::kForce ? trend(c, what, k) : 0;
}

/// Definition 1 for a value that vanishes: the sign of its first Taylor term that does not, from
/// values at five instants along the flow of the candidate's mode. 0: identically zero. Instants
/// ten times closer have to agree, or to be too close to tell; otherwise still closer ones are
/// tried.
int ContactLogic::trend(const Candidate& c, Measure what, int k) {
  ++trends_;
  const State here{kernel_.t(), kernel_.q(), kernel_.v()};
  std::array<double, 5> h{};
  double scale = 0;
  const auto at = [&](double step) {
    return sample(c, what, k, here, step, h, scale) ? leading_sign(h, kFlat * scale) : 0;
  };
  // a first derivative shows at close instants already
  int sign = at(trend_step_ / 10);
  if (sign == 0 || at(trend_step_ / 100) != sign) {
    sign = 0;
    for (double step = trend_step_; step > 1e-5 * trend_step_; step /= 10) {
      const int closer = at(step);
      if (sign != 0 && (closer == 0 || closer == sign)) break;
      sign = closer;
    }
  }
  kernel_.evaluate(here.time, here.q, here.v);
  return sign;
}

/// The measure at five instants, `step` apart, along the flow. False when the flow is too fast.
bool ContactLogic::sample(const Candidate& c, Measure what, int k, const State& from, double step,
                          std::array<double, 5>& h, double& scale) {
  VectorXd x(from.q.size() + from.v.size()), rate(x.size());
  x << from.q, from.v;
  const auto f = [&](double t, const VectorXd& at, VectorXd& dxdt) {
    dxdt.resize(at.size());
    if (!kernel_.flow(c.layout, t, at, dxdt)) dxdt.setConstant(NAN);
  };
  ode::DormandPrince<VectorXd> solver({.rtol = 1e-11, .atol = 1e-13, .first_step = step});
  solver.start(f, from.time, x);
  scale = 0;
  for (int i = 0; i < 5; ++i) {
    const double target = from.time + i * step;
    while (solver.t() < target) {
      if (solver.steps() > kTrendSteps) return false;
      if (solver.step(f, target) != ode::StepStatus::kAccepted) return false;
    }
    f(target, solver.x(), rate);
    double zero = 0;
    h[i] = measure(kernel_.last(), what, k, zero);
    if (!std::isfinite(h[i])) return false;
    scale = std::max(scale, zero / kZero);
  }
  return true;
}

}  // namespace routh
