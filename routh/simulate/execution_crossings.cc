#include <algorithm>
#include <cmath>
#include <utility>

#include "routh/simulate/execution.h"
#include "routh/simulate/root.h"

/// Where in a step of the integrator a guard is reached. Steps may be long: in free flight a corner
/// enters a box and leaves it between two of them. So the signs of a guard at the ends are not
/// enough.
///
/// - Gaps bend no more than the motion does (System::gap_bends), which excludes that one closes in
///   between, or tells where to look closer.
/// - Forces and velocities of slip are seen at every stage of the step; where they vary by as much
///   as they are away from zero, the dense output is searched for the lowest value.
namespace routh::hybrid {

using Eigen::VectorXd;

namespace {

constexpr double kThrough = 1e-9;  // gaps below this are an event in any case [m]
constexpr double kShared = 1e-6;   // forces that are shared and fail by this, relative
constexpr int kHalvings = 40;      // of a step, in the search for a gap that closes
constexpr int kLooks = 8;          // into a step, for other guards that dip
constexpr int kMeasured = 4;       // parts of a step at whose ends penetration is measured

/// Where f changes its sign, to 1e-13 s: the last instant before and the first after it.
template <typename F>
std::pair<double, double> root(const F& f, double a, double b, double fa, double fb) {
  return bracketed_root(f, a, b, fa, fb,
                        [](double t) { return std::max(1e-13, 4e-16 * std::abs(t)); });
}

/// Below which a gap cannot fall between two instants.
double lowest(const Sight& a, const Sight& b, double bend) {
  // two parabolas from the ends, as low as they may run: where they meet
  const double h = b.at - a.at, rise = b.gap - b.rate * h - 0.5 * bend * h * h - a.gap;
  const double steepness = a.rate - b.rate - bend * h;
  const double meet = steepness < 0 ? std::clamp(rise / steepness, 0.0, h) : 0.5 * h;
  const double there = a.gap + meet * (a.rate - 0.5 * bend * meet);
  return std::min({a.gap, b.gap, there});
}

}  // namespace

double Execution::guard_at(const Guard& g, double at, VectorXd& state, VectorXd& rate) {
  solver.dense(at, state);
  if (g.kind == Guard::kGap) {
    system.gaps(state.head(q.size()), phi, joint_gap);
    if (phi.size() != contacts()) kernel.evaluate(at, state.head(q.size()), state.tail(v.size()));
    return phi[g.contact];
  }
  elsewhere = true;
  if (!flow(at, state, rate)) return 0;
  return guard_value(g);
}

void Execution::glimpse(double at) {
  // an earlier stage begins another attempt
  const bool again = at < glimpsed;
  glimpsed = at;
  for (Guard& g : guards) {
    if (!g.armed || !g.dips()) continue;
    const double value = guard_value(g);
    if (again) g.least = g.most = g.value;
    g.least = std::min(g.least, value), g.most = std::max(g.most, value);
  }
}

Sight Execution::sight(int contact, double at) {
  elsewhere = true;
  VectorXd state(x.size()), rate(x.size());
  solver.dense(at, state);
  solver.dense_rate(at, rate);
  kernel.evaluate(at, state.head(q.size()), rate.head(q.size()));
  const Contact& c = kernel.terms().contacts[contact];
  return {at, c.phi, c.Jn.dot(rate.head(q.size()))};
}

double Execution::bend_of(int contact) {
  if (bends.size() == 0) {
    MotionBounds bounds{.time = solver.t() - solver.t_old()};
    VectorXd rate(x.size()), bend(x.size()), gap = VectorXd::Zero(contacts());
    solver.dense_bounds(rate, bend);
    bounds.rate = rate.head(q.size()), bounds.bend = bend.head(q.size());
    bounds.q = solver.x_old().head(q.size()).cwiseAbs() + bounds.time * bounds.rate;
    for (const Guard& g : guards) {
      if (g.kind == Guard::kGap) gap[g.contact] = g.value;
    }
    system.gap_bends(bounds, gap, bends);
  }
  if (std::isfinite(bends[contact])) return bends[contact];

  // not known: from how the rate changes over quarters of the step
  const double h = (solver.t() - solver.t_old()) / 4;
  double most = 0;
  Sight before = sight(contact, solver.t_old());
  for (int i = 1; i <= 4; ++i) {
    const Sight next = sight(contact, solver.t_old() + i * h);
    most = std::max(most, std::abs(next.rate - before.rate) / h);
    before = next;
  }
  return bends[contact] = 2 * most;
}

double Execution::first_dip(int contact, double level, const Sight& a, const Sight& b,
                            int halvings) {
  if (b.gap < level) {
    // where it closes, unless it did so before
    VectorXd state(x.size()), unused;
    const Guard gap{Guard::kGap, contact};
    const auto [before, after] =
        root([&](double at) { return guard_at(gap, at, state, unused) - level; }, a.at, b.at,
             a.gap - level, b.gap - level);
    if (!(before > a.at)) return after;
    const Sight last = sight(contact, before);
    return last.gap < level ? after : std::min(after, first_dip(contact, level, a, last, halvings));
  }
  if (halvings == 0 || lowest(a, b, bend_of(contact)) >= level - kThrough) return HUGE_VAL;
  const Sight middle = sight(contact, 0.5 * (a.at + b.at));
  // bodies that stay within rounding of each other touch
  const auto touch = [&](const Sight& end) {
    return end.gap < kThrough && std::abs(middle.gap) < kThrough;
  };
  if (!touch(a)) {
    const double first = first_dip(contact, level, a, middle, halvings - 1);
    if (first < HUGE_VAL) return first;
  }
  return middle.gap < level || touch(b) ? HUGE_VAL
                                        : first_dip(contact, level, middle, b, halvings - 1);
}

double Execution::first_fall(const Guard& g, double end) {
  const double zero = zero_of(g);
  if (!g.dips() || !g.armed || g.least > 0.5 * (g.most - g.least)) return HUGE_VAL;
  VectorXd state(x.size()), rate(x.size());
  const auto value_at = [&](double at) { return guard_at(g, at, state, rate); };
  const double t0 = solver.t_old(), part = (solver.t() - t0) / kLooks;
  double values[kLooks + 1] = {g.value};
  values[kLooks] = end;
  int least = 0;
  for (int i = 1; i <= kLooks; ++i) {
    if (i < kLooks) values[i] = value_at(t0 + i * part);
    const double before = t0 + (i - 1) * part;
    if (values[i] < -zero && !(values[i - 1] > 0)) return before;
    if (values[i] < -zero)
      return root(value_at, before, t0 + i * part, values[i - 1], values[i]).second;
    if (values[i] < values[least]) least = i;
  }
  // the parabola through the lowest and its neighbours
  const int middle = std::clamp(least, 1, kLooks - 1);
  const double left = values[middle - 1] - values[middle],
               right = values[middle + 1] - values[middle];
  const double place = middle + 0.5 * (left - right) / (left + right);
  if (!(left + right > 0) || !(place > 0 && place < kLooks)) return HUGE_VAL;
  const double at = t0 + place * part, there = value_at(at);
  if (!(there < -zero)) return HUGE_VAL;
  const int above = static_cast<int>(std::ceil(place)) - 1;
  return root(value_at, t0 + above * part, at, values[above], there).second;
}

double Execution::first_crossing(const Guard& g, double end, double rate0, double rate1) {
  const double t0 = solver.t_old(), t1 = solver.t(), h = t1 - t0;
  const double zero = zero_of(g);
  VectorXd state(x.size()), rate(x.size());
  const auto value_at = [&](double at) { return guard_at(g, at, state, rate); };
  if (g.kind == Guard::kPressed && !g.armed)
    return HUGE_VAL;  // it has been so since the last event
  if (g.muted && !g.armed) {
    // it touches without an event; but nothing passes through
    const bool shared = g.kind == Guard::kShared;
    const double through = shared ? kShared : kThrough;
    const bool enters =
        end < -through && g.value > -through &&
        (shared || (g.kind == Guard::kGap && !kernel.on_limb(g.contact) && rate1 < 0));
    if (!enters) return HUGE_VAL;
    return root([&](double at) { return value_at(at) + through; }, t0, t1, g.value + through,
                end + through)
        .second;
  }
  if (end >= -zero && g.kind != Guard::kGap) return first_fall(g, end);

  Sight from{t0, g.value, rate0};
  if (end < -zero && !(g.value > zero)) {
    // it began at zero: find where it was above, if it ever was
    for (int part = 1; part <= 24 && !(from.gap > 0); ++part) {
      from.at = t0 + h * std::ldexp(1.0, -part);
      from.gap = value_at(from.at);
    }
    if (!(from.gap > 0)) return t0;
    if (g.kind == Guard::kGap) from = sight(g.contact, from.at);
  }
  if (g.kind == Guard::kGap) {
    if (from.gap < -zero) return HUGE_VAL;  // what was open by less than nothing opens further
    const Sight to{t1, end, rate1};
    if (end >= -zero && lowest(from, to, bend_of(g.contact)) >= -zero - kThrough) return HUGE_VAL;
    return first_dip(g.contact, -zero, from, to, kHalvings);
  }
  return root(value_at, from.at, t1, from.gap, end).second;
}

void Execution::measure_between(double until) {
  VectorXd state(x.size());
  const double from = solver.t_old();
  for (int i = 1; i < kMeasured; ++i) {
    solver.dense(from + i * (until - from) / kMeasured, state);
    system.gaps(state.head(q.size()), phi, joint_gap);
    measure_gaps();
  }
}

void Execution::measure_gaps() {
  if (phi.size() > 0) log.max_penetration = std::max(log.max_penetration, -phi.minCoeff());
  if (joint_gap.size() > 0)
    log.max_joint_error = std::max(log.max_joint_error, joint_gap.cwiseAbs().maxCoeff());
}

}  // namespace routh::hybrid
