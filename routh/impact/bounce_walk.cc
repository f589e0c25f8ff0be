#include "routh/impact/bounce_walk.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/impact/policy.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kTurn = 0.02;  // of a slip in space, in one straight piece [rad]
constexpr double kSlow = 1e-5;  // of the velocities: a slip in space that can be stopped at once
constexpr double kStop = 1.0 / 64;       // the least part of a step in which it is
constexpr double kStopped = 1e-12;       // and that has been
constexpr int kMostPieces = 2'000;       // of a step
constexpr int kSweeps = 400;             // of the problem of the rates
constexpr double kBalanced = 1e-14;      // of rates, relative
constexpr double kThere = 1e-6;          // of the velocities: a path leads where it should
constexpr std::uint64_t kAttempts = 16;  // to find one, where several answers fit

/// The part of a step after which a value that changes at this rate is zero.
double until_zero(double value, double rate) { return value * rate < 0 ? -value / rate : HUGE_VAL; }

/// One or two tangents.
using Tangents = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 2, 1>;

}  // namespace

BounceWalk::BounceWalk(const ImpactProblem& problem, const SetOptions& options)
    : problem_(problem),
      options_(options),
      energy_(problem.meaning(Restitution::kStronge) == Restitution::kStronge),
      zero_(velocity_tolerance(problem)),
      still_(1e-3 * zero_),
      nothing_(problem.contacts()),
      rate_(problem.c.size()),
      change_(problem.c.size()),
      decided_(problem.contacts()) {
  if (problem.meaning(Restitution::kStronge) == Restitution::kNewton)
    throw std::invalid_argument(
        "set: restitution newton has no meaning between contacts that push at once; take poisson "
        "or stronge");
  for (int i = 0; i < problem.contacts(); ++i) {
    const double mobility = std::max(problem.G(i, i), 1e-300);
    nothing_[i] = (energy_ ? 0.5 * zero_ * zero_ : zero_) / mobility;
  }
}

bool BounceWalk::pushes(int i) const { return c_[i] < -still_ || store_[i] > nothing_[i]; }

bool BounceWalk::over() const {
  return c_.head(problem_.contacts()).minCoeff() >= -zero_ &&
         (store_.array() <= nothing_.array()).all();
}

bool BounceWalk::slides(int i) const {
  const double slow = problem_.tangents == 1 ? still_ : kSlow * speed_;
  return c_.segment(problem_.tangent(i), problem_.tangents).norm() > slow;
}

void BounceWalk::measure_speed() {
  speed_ = c_.lpNorm<Eigen::Infinity>();
  for (int i = 0; i < problem_.contacts(); ++i) {
    const double g = problem_.G(i, i);
    speed_ = std::max(speed_, energy_ ? std::sqrt(2 * g * store_[i]) : g * store_[i]);
  }
}

void BounceWalk::find_rates(const VectorXd& bound) {
  const int m = problem_.contacts(), k = problem_.tangents;
  const Eigen::MatrixXd& G = problem_.G;
  rate_.setZero();
  stops_ = HUGE_VAL;
  measure_speed();
  std::vector<char> sticks(m);
  bool open_questions = false;
  const auto along = [&](int i) -> Tangents {
    return c_.segment(problem_.tangent(i), k).normalized();
  };
  for (int i = 0; i < m; ++i) {
    const int t = problem_.tangent(i);
    decided_[i] = pushes(i) || c_[i] > still_;
    if (pushes(i)) rate_[i] = bound[i];
    sticks[i] = !slides(i);
    if (!sticks[i]) rate_.segment(t, k) = -problem_.mu[i] * rate_[i] * along(i);
    open_questions = open_questions || !decided_[i] || (sticks[i] && rate_[i] > 0);
    // what friction needs to stop a slow slip
    const double most = 0.5 * problem_.mu[i] * rate_[i] * G.diagonal().segment(t, k).maxCoeff();
    if (k == 2 && sticks[i] && most > 0 && c_.segment(t, k).norm() > 0)
      stops_ = std::min(stops_, std::max(kStop, c_.segment(t, k).norm() / most));
  }
  change_ = G * rate_;
  if (!open_questions) return;
  if (random_ && table_ && draw_rates(bound, sticks)) return;
  if (random_ && !table_) {
    for (int i = 0; i < m; ++i) {
      const int t = problem_.tangent(i);
      if (!decided_[i]) rate_[i] = (*random_)() * bound[i];
      if (!sticks[i]) rate_.segment(t, k) = -problem_.mu[i] * rate_[i] * along(i);
      if (!sticks[i] || rate_[i] == 0) continue;
      const double angle = 2 * M_PI * (*random_)();
      const Tangents direction = k == 1
                                     ? Tangents(Tangents::Constant(1, std::cos(angle)))
                                     : Tangents(Eigen::Vector2d(std::cos(angle), std::sin(angle)));
      rate_.segment(t, k) = problem_.mu[i] * rate_[i] * direction;
    }
    change_ = G * rate_;
  }

  // resting contacts: 0 ≤ λ̇n ≤ bound, ċn ≥ 0 unless at the bound; sticking ones: λ̇t in its cone
  // brakes ċt as much as it can, and stops what is left of a slip. One contact after the other
  // until nothing changes.
  const double scale = bound.maxCoeff();
  Eigen::MatrixXd columns =
      G.leftCols(m);  // velocity per normal impulse, with the friction of slip
  for (int i = 0; i < m; ++i) {
    if (!sticks[i])
      columns.col(i) -= problem_.mu[i] * G.middleCols(problem_.tangent(i), k) * along(i);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double most = 0;
    for (int i = 0; i < m; ++i) {
      const int t = problem_.tangent(i);
      const double mu = problem_.mu[i];
      if (!decided_[i]) {
        const auto column = columns.col(i);
        const double next = column[i] > 0
                                ? std::clamp(rate_[i] - change_[i] / column[i], 0.0, bound[i])
                            : change_[i] < 0 ? bound[i]
                                             : rate_[i];
        const double by = next - rate_[i];
        rate_[i] = next;
        if (!sticks[i]) rate_.segment(t, k) = -mu * next * along(i);
        change_ += by * column;
        most = std::max(most, std::abs(by));
      }
      if (!sticks[i] || mu == 0) continue;
      const double mobility = G.diagonal().segment(t, k).sum();
      if (!(mobility > 0)) continue;
      Tangents next =
          rate_.segment(t, k) - (change_.segment(t, k) + c_.segment(t, k) / stops_) / mobility;
      const double size = next.norm(), cone = mu * rate_[i];
      if (size > cone) next *= size > 0 ? cone / size : 0;
      const Tangents by = next - rate_.segment(t, k);
      rate_.segment(t, k) = next;
      for (int j = 0; j < k; ++j) change_ += by[j] * G.col(t + j);
      most = std::max(most, by.norm());
    }
    if (most <= kBalanced * scale) break;
  }
  change_ = G * rate_;
}

bool BounceWalk::draw_rates(const VectorXd& bound, const std::vector<char>& sticks) {
  // a step so short that what moves keeps its direction: velocities that are far from zero, or zero
  const int m = problem_.contacts();
  const double most = bound.maxCoeff() * (1 + problem_.mu.maxCoeff());
  const double far = 4 * problem_.G.cwiseAbs().rowwise().sum().maxCoeff() * most;
  if (!(far > 0)) return false;
  VectorXd c = VectorXd::Zero(c_.size());
  for (int i = 0; i < m; ++i) {
    if (decided_[i]) c[i] = pushes(i) ? -far : far;
    const int t = problem_.tangent(i);
    if (!sticks[i]) c[t] = std::copysign(far, c_[t]);
  }
  const std::vector<Outcome> all = table_->solve(c, bound);
  if (all.empty()) return false;
  const auto pick = static_cast<std::size_t>((*random_)() * static_cast<double>(all.size()));
  rate_ = all[pick].impulse;
  change_ = problem_.G * rate_;
  return true;
}

double BounceWalk::until_event(const VectorXd& bound, double left) const {
  const int m = problem_.contacts(), k = problem_.tangents;
  double part = std::min(left, stops_);
  for (int i = 0; i < m; ++i) {
    const double cn = c_[i], by = change_[i];
    // a change of phase, or contact again
    if (std::abs(cn) > still_) part = std::min(part, until_zero(cn, by));
    // nothing is left: r (cn x + ċn x²/2) = E or r x = P
    if (pushes(i) && cn >= -still_ && bound[i] > 0) {
      if (!energy_) {
        part = std::min(part, store_[i] / bound[i]);
      } else {
        const double root = cn * cn + 2 * by * store_[i] / bound[i];
        const double divisor = root >= 0 ? cn + std::sqrt(root) : 0;
        if (divisor > 0) part = std::min(part, 2 * store_[i] / bound[i] / divisor);
      }
    }
    // a slip ends; in space it turns
    const int t = problem_.tangent(i);
    const auto slip = c_.segment(t, k), turn = change_.segment(t, k);
    const double size = slip.norm();
    if (!slides(i)) continue;
    const double slower = slip.dot(turn) / size;
    part = std::min(part, until_zero(size, slower));
    if (k == 2) {
      const double across = std::abs(slip[0] * turn[1] - slip[1] * turn[0]) / size;
      if (across > 0) part = std::min(part, kTurn * size / across);
    }
  }
  return part;
}

void BounceWalk::take(double part) {
  const int m = problem_.contacts(), k = problem_.tangents;
  for (int i = 0; i < m; ++i) {
    const double pushed = part * rate_[i], after = c_[i] + part * change_[i];
    const double work = pushed * 0.5 * (c_[i] + after), e = problem_.bounce(i);
    const bool compresses = c_[i] < -still_ || after < -still_ || !decided_[i];
    if (compresses)
      store_[i] += energy_ ? std::max(0.0, -e * e * work) : e * pushed;
    else
      store_[i] -= energy_ ? work : pushed;
    if (store_[i] <= nothing_[i]) store_[i] = 0;
    if (compresses)
      spring_[i] += std::max(0.0, -work);
    else
      spring_[i] = e > 0 ? store_[i] / (e * e) : 0;
  }
  impulse_ += part * rate_;
  c_ += part * change_;
  // what the events make zero is zero
  for (int i = 0; i < m; ++i) {
    if (std::abs(c_[i]) <= still_) c_[i] = 0;
    auto slip = c_.segment(problem_.tangent(i), k);
    if (slip.norm() <= (k == 1 ? still_ : kStopped * speed_)) slip.setZero();
  }
}

void BounceWalk::make_table() {
  if (!table_ && problem_.tangents == 1 && count_modes(problem_, true) <= policy::kTabulatedBounces)
    table_.emplace(problem_);
}

StepwiseSample BounceWalk::walk(std::uint64_t index, bool with_path) {
  make_table();
  WalkRandom random(options_.seed, index);
  random_ = &random;
  WalkBounds bounds(options_, index);
  StepwiseSample s = follow(
      [&](int step, VectorXd& bound) {
        random.begin_step(step);
        bounds.draw(
            step, [&](Eigen::Index i) { return pushes(static_cast<int>(i)); }, random, bound);
        return true;
      },
      with_path);
  s.sample.index = index;
  random_ = nullptr;
  return s;
}

StepwiseSample BounceWalk::press(const VectorXd& normal, std::uint64_t index) {
  make_table();
  WalkRandom random(options_.seed, index);
  if (index > 0) random_ = &random;
  random.begin_step(0);
  StepwiseSample s = follow(
      [&](int step, VectorXd& bound) {
        bound = normal;
        return step == 0;
      },
      true);
  random_ = nullptr;
  return s;
}

std::vector<VectorXd> path_to(ImpactProblem problem, const Outcome& outcome) {
  problem.e.resize(0), problem.restitution = Restitution::kByLaw;
  const int m = problem.contacts();
  const VectorXd normal = outcome.impulse.head(m).cwiseMax(0);
  // an impact without collision begins with the slightest
  const double slightest = 4 * velocity_tolerance(problem);
  for (int i = 0; i < m; ++i) {
    if (normal[i] > 0 && std::abs(problem.c[i]) < slightest) problem.c[i] = -slightest;
  }
  BounceWalk walk(problem, {.seed = 1});
  const double near = kThere * problem.c.cwiseAbs().maxCoeff();
  for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    StepwiseSample s = walk.press(normal, attempt);
    if ((s.sample.outcome.c_plus - outcome.c_plus).cwiseAbs().maxCoeff() <= near)
      return std::move(s.impulses);
  }
  return {};
}

StepwiseSample BounceWalk::follow(const Bounds& bounds, bool with_path) {
  StepwiseSample s;
  c_ = problem_.c;
  impulse_ = VectorXd::Zero(c_.size());
  store_ = spring_ = VectorXd::Zero(problem_.contacts());
  if (with_path) s.path.push_back(c_);
  VectorXd bound(problem_.contacts());
  while (!over() && s.sample.steps <= options_.limit && !s.unsolved) {
    const bool last = s.sample.steps == options_.limit;
    if (last && options_.final_step <= 0) break;
    if (!bounds(static_cast<int>(s.sample.steps), bound)) break;
    if (last) bound.setConstant(options_.final_step);

    double left = 1;
    for (int piece = 0; left > 0 && !over(); ++piece) {
      if (piece == kMostPieces) {
        s.unsolved = true;
        break;
      }
      find_rates(bound);
      if (!(rate_.cwiseAbs().maxCoeff() > 0)) break;  // those who may push are done
      const double part = until_event(bound, left);
      take(part);
      left -= part;
      if (with_path) s.path.push_back(c_), s.impulses.push_back(impulse_);
    }
    ++s.sample.steps;
  }
  // velocities were added up on the way: what the impulses say of them
  const VectorXd c_plus = problem_.c + problem_.G * impulse_;
  s.sample.outcome.residual =
      (c_plus - c_).lpNorm<Eigen::Infinity>() / problem_.c.lpNorm<Eigen::Infinity>();
  s.sample.outcome.impulse = impulse_;
  s.sample.outcome.c_plus = c_;
  s.sample.terminated = over();
  return s;
}

}  // namespace routh
