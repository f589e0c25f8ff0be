#include "routh/impact/witness.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "routh/impact/cone.h"
#include "routh/impact/outer_bound.h"
#include "routh/impact/quad.h"
#include "routh/impact/same_outcome.h"
#include "routh/impact/witness_rounds.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kReplayed = 1e-8;   // a path that violates the inclusion by more is refused
constexpr std::size_t kOthers = 64;  // corners kept beside the best
constexpr double kSearch = 0.8;      // of the time; the rest is for bounds and other corners
constexpr double kGrace = 0.15;      // seconds to confirm in what there is, when told to stop
constexpr double kNothing = 1e-12;   // velocities, relative

/// Amounts of all phases of a corner, exactly. Throws nothing; `why` where there are none.
std::optional<RationalMatrix> exact_corner(const OrderSpace& space, const Order& order,
                                           const WitnessCertificate::Corner& corner,
                                           const std::function<bool()>& stop, std::string& why) {
  const int K = static_cast<int>(order.size()), E = static_cast<int>(space.edges.size());
  const int n = static_cast<int>(corner.pushes.size());
  if (static_cast<int>(corner.tight.size()) != n)
    return why = "amounts and rows differ in number", std::nullopt;
  RationalMatrix A(n, RationalVector(n));
  RationalVector b(n);
  for (const auto& [phase, edge] : corner.pushes) {
    if (phase < 0 || phase >= K || edge < 0 || edge >= E)
      return why = "an amount of no edge", std::nullopt;
  }
  for (int r = 0; r < n; ++r) {
    const auto& [phase, form] = corner.tight[r];
    if (phase < 0 || phase >= K || form < OrderBasis::kProgress ||
        form >= static_cast<int>(space.exact_forms.size()))
      return why = "a row of no form", std::nullopt;
    // the forms that make the row
    std::vector<int> forms;
    if (form != OrderBasis::kProgress) forms.push_back(form);
    for (int i = 0; i < space.contacts() && form == OrderBasis::kProgress; ++i) {
      if (space.label(order[phase], i).closed()) forms.push_back(i);
    }
    b[r] = form == OrderBasis::kProgress ? Rational(-space.exact_tiny) : Rational(0);
    for (const int f : forms) {
      b[r] -= space.exact_start[f];
      for (int j = 0; j < n; ++j) {
        if (corner.pushes[j].first <= phase)
          A[r][j] += space.exact_rates[f][corner.pushes[j].second];
      }
    }
  }
  const std::optional<RationalVector> x = solve_exactly(A, b, stop);
  if (!x) return why = "the rows do not determine the amounts", std::nullopt;
  RationalMatrix alpha(K, RationalVector(E));
  for (int j = 0; j < n; ++j) alpha[corner.pushes[j].first][corner.pushes[j].second] += (*x)[j];
  return alpha;
}

/// Checks amounts exactly against their order; empty where they are a path.
std::string broken(const OrderSpace& space, const Order& order, const RationalMatrix& alpha,
                   const std::function<bool()>& stop) {
  const int K = static_cast<int>(order.size()), m = space.contacts();
  RationalVector forms = space.exact_start;
  const auto inside = [&](const Location& location) {
    for (int i = 0; i < m; ++i) {
      for (const auto& [form, sense] : space.label(location, i).rows) {
        const int sign = sgn(forms[form]);
        if (sense == 0 ? sign != 0 : sign * sense < 0) return false;
      }
    }
    return true;
  };
  for (int k = 0; k < K; ++k) {
    if (stop && stop()) return "there was no time to see";
    const std::string where = " of phase " + std::to_string(k + 1);
    if (!inside(order[k])) return "the start" + where + " is not in its location";
    // contacts still approach
    if (std::none_of(forms.begin(), forms.begin() + m, [](auto& x) { return sgn(x) < 0; }))
      return "nothing approaches at the start" + where;
    std::vector<char> pushes(space.edges.size(), 0);
    for (int i = 0; i < m; ++i) {
      for (const int g : space.label(order[k], i).edges) pushes[g] = 1;
    }
    for (std::size_t g = 0; g < space.edges.size(); ++g) {
      const Rational& amount = alpha[k][g];
      if (sgn(amount) == 0) continue;
      if (sgn(amount) < 0) return "an impulse" + where + " is negative";
      if (!pushes[g]) return "an impulse" + where + " does not belong to its location";
      for (std::size_t f = 0; f < forms.size(); ++f) forms[f] += amount * space.exact_rates[f][g];
    }
    if (!inside(order[k])) return "the end" + where + " is not in its location";
  }
  for (int i = 0; i < m; ++i) {
    if (sgn(forms[i]) < 0) return "a contact approaches at the end";
  }
  return "";
}

/// A path in the user's units.
std::vector<WitnessPhase> phases_of(const OrderSpace& space, const Order& order,
                                    const RationalMatrix& alpha) {
  const RationalImpact& exact = space.exact;
  std::vector<WitnessPhase> phases;
  RationalVector y = exact.start;
  for (std::size_t k = 0; k < order.size(); ++k) {
    WitnessPhase phase;
    RationalVector impulse(exact.T.size());
    for (std::size_t g = 0; g < space.edges.size(); ++g) {
      if (sgn(alpha[k][g]) == 0) continue;
      const OrderSpace::Edge& edge = space.edges[g];
      const RationalVector unit = space.impulse(edge);
      for (std::size_t i = 0; i < impulse.size(); ++i) impulse[i] += alpha[k][g] * unit[i];
      const Rational amount = alpha[k][g] * power_of_two(edge.scale);
      for (int a = 0; a < exact.dimension; ++a) y[a] += amount * space.direction(edge)[a];
    }
    phase.impulse.resize(static_cast<Eigen::Index>(impulse.size()));
    for (std::size_t i = 0; i < impulse.size(); ++i)
      phase.impulse[static_cast<Eigen::Index>(i)] =
          std::ldexp(impulse[i].get_d(), 2 * exact.speed - exact.unit[i]);
    phase.c = exact.velocity(y);
    for (int i = 0; i < space.contacts(); ++i)
      phase.states.push_back(space.label(order[k], i).state);
    phases.push_back(std::move(phase));
  }
  return phases;
}

Confirmation confirm_in(const OrderSpace& space, const WitnessCertificate& certificate,
                        const std::function<bool()>& stop = {}) {
  Confirmation result;
  const Order& order = certificate.locations;
  const auto refuse = [&](std::string why) { return result.why = std::move(why), result; };
  if (order.empty() || certificate.corners.empty()) return refuse("it has no phases");
  for (const Location& location : order) {
    if (static_cast<int>(location.size()) != space.contacts())
      return refuse("a location has not one label a contact");
    for (int i = 0; i < space.contacts(); ++i) {
      if (location[i] >= space.labels[i].size()) return refuse("a label is unknown");
    }
  }
  RationalMatrix alpha(order.size(), RationalVector(space.edges.size()));
  Rational left = 1;
  for (std::size_t k = 0; k < certificate.corners.size(); ++k) {
    const WitnessCertificate::Corner& corner = certificate.corners[k];
    if (!(corner.weight >= 0 && corner.weight <= 1)) return refuse("a weight is none");
    const bool last = k + 1 == certificate.corners.size();
    const Rational weight = last ? left : Rational(corner.weight);
    left -= weight;
    if (sgn(weight) < 0) return refuse("the weights exceed one");
    const auto amounts = exact_corner(space, order, corner, stop, result.why);
    if (!amounts) return result;
    for (std::size_t p = 0; p < order.size(); ++p) {
      if (stop && stop()) return refuse("there was no time to see");
      for (std::size_t g = 0; g < space.edges.size(); ++g) alpha[p][g] += weight * (*amounts)[p][g];
    }
  }
  result.why = broken(space, order, alpha, stop);
  result.holds = result.why.empty();
  if (result.holds) result.phases = phases_of(space, order, alpha);
  return result;
}

WitnessCertificate certificate_of(const OrderPath& path) {
  WitnessCertificate certificate{.locations = path.order};
  const auto add = [&](double weight, const OrderBasis& basis) {
    WitnessCertificate::Corner& corner = certificate.corners.emplace_back();
    corner.weight = weight;
    for (const auto& [phase, edge] : basis.pushes) corner.pushes.emplace_back(phase, edge);
    for (const auto& [phase, form] : basis.tight) corner.tight.emplace_back(phase, form);
  };
  if (path.mixture.empty()) add(1, path.basis);
  for (const auto& [weight, basis] : path.mixture) add(weight, basis);
  return certificate;
}

double number_of(const ImpactProblem& problem, const WitnessTarget& target,
                 const std::vector<WitnessPhase>& phases, const VectorXd& impulse) {
  if (target.kind == WitnessTarget::kLinear)
    return target.q.dot(phases.back().c) +
           (target.load.size() > 0 ? target.load.dot(impulse) : 0.0);
  return 0.5 * impulse.dot(problem.c + phases.back().c);
}

/// A path as a witness, if the exact and the independent check both hold.
std::optional<Witness> witness_of(const ImpactProblem& problem, const OrderSpace& space,
                                  OrderPath path, const SearchTarget& sought,
                                  const WitnessTarget& target, const std::function<bool()>& late) {
  Confirmation exact = confirm_in(space, certificate_of(path), late);
  if (!exact.holds && path.mixture.empty()) {
    // its corner, with more digits
    OrderProgram<Quad> precise(space, late);
    const VectorXd gain = OrderSearch(space).gains(path, sought);
    if (precise.solve(path, gain, OrderEnd::kFinal) != OrderStatus::kOptimal) return {};
    exact = confirm_in(space, certificate_of(path), late);
  }
  if (!exact.holds) return {};
  Witness witness;
  witness.certificate = certificate_of(path);
  witness.outcome.impulse = VectorXd::Zero(problem.c.size());
  for (const WitnessPhase& phase : exact.phases) witness.outcome.impulse += phase.impulse;
  witness.outcome.c_plus = exact.phases.back().c;
  witness.outcome.residual = replay(problem, exact.phases);
  if (!(witness.outcome.residual <= kReplayed)) return {};
  witness.value = number_of(problem, target, exact.phases, witness.outcome.impulse);
  witness.phases = std::move(exact.phases);
  return witness;
}

/// A target over the edges, at the scale of its largest gain: units do not decide what counts.
RoundTarget sought_of(const OrderSpace& space, const ImpactProblem& problem,
                      const WitnessTarget& target) {
  RoundTarget sought{{static_cast<SearchTarget::Kind>(target.kind)}};
  if (target.kind != WitnessTarget::kLinear) return sought;
  VectorXd& gain = sought.sought.gain;
  gain = VectorXd::Zero(static_cast<Eigen::Index>(space.edges.size()));
  for (Eigen::Index i = 0; i < target.q.size(); ++i) {
    if (target.q[i] == 0) continue;
    const double by = std::ldexp(target.q[i], space.exact.unit[i]);
    const RationalVector rates = space.along_edges(space.exact.T[i]);
    for (std::size_t g = 0; g < rates.size(); ++g)
      gain[static_cast<Eigen::Index>(g)] += by * rates[g].get_d();
  }
  for (std::size_t g = 0; g < space.edges.size() && target.load.size() > 0; ++g) {
    const RationalVector impulse = space.impulse(space.edges[g]);
    for (Eigen::Index i = 0; i < target.load.size(); ++i)
      gain[static_cast<Eigen::Index>(g)] +=
          std::ldexp(target.load[i], 2 * space.exact.speed - space.exact.unit[i]) *
          impulse[i].get_d();
  }
  const double largest = gain.lpNorm<Eigen::Infinity>();
  const double unit = largest > 0 ? std::exp2(std::ilogb(largest)) : 1;
  gain /= unit;
  sought.unit = unit;
  // no contact approaches at the end
  const int m = problem.contacts();
  if (target.load.size() == 0 && target.q.head(m).maxCoeff() <= 0 &&
      target.q.tail(target.q.size() - m).isZero(0))
    sought.enough = -target.q.dot(problem.c) / unit - kNothing;
  return sought;
}

}  // namespace

double replay(const ImpactProblem& problem, const std::vector<WitnessPhase>& phases) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const int m = problem.contacts();
  const double scale = problem.c.lpNorm<Eigen::Infinity>();
  const Eigen::MatrixXd D = friction_edges(problem);
  if (phases.empty() || !(scale > 0)) return kNone;
  double worst = 0;
  VectorXd from = problem.c;
  VectorXd impulse = VectorXd::Zero(problem.c.size());
  for (const WitnessPhase& phase : phases) {
    if (phase.impulse.size() != from.size() || phase.c.size() != from.size()) return kNone;
    if (!phase.impulse.allFinite() || !phase.c.allFinite()) return kNone;
    // nothing has ended yet
    if (!(from.head(m).minCoeff() < 0)) return kNone;
    // c⁺ = c + G λ, rounding of the sum apart
    impulse += phase.impulse;
    const VectorXd c = problem.c + problem.G * impulse;
    worst = std::max(worst, (c - phase.c).lpNorm<Eigen::Infinity>() / scale);
    for (int i = 0; i < m; ++i) {
      const double load = phase.impulse[i];
      const int t = problem.tangent(i);
      const VectorXd friction = phase.impulse.segment(t, problem.tangents);
      const double most = std::abs(load) + friction.lpNorm<Eigen::Infinity>();
      if (most == 0) continue;
      if (!(load > 0)) return kNone;
      // it approaches or touches, from the beginning to the end
      worst = std::max(worst, std::max(from[i], phase.c[i]) / scale);
      // friction dissipates as much as any of the cone: λt · ct = μ λn min_e d_e · ct
      for (const VectorXd& at : {from, phase.c}) {
        const VectorXd slip = at.segment(t, problem.tangents);
        const double least = (D.transpose() * slip).minCoeff();
        const double excess = friction.dot(slip) / load - problem.mu[i] * least;
        worst = std::max(worst, std::abs(excess) / (scale * std::max(1.0, problem.mu[i])));
      }
      // and lies in the cone
      const double around = problem.mu[i] * load;
      for (Eigen::Index e = 0; e < D.cols(); ++e) {
        const VectorXd middle = D.col(e) + D.col((e + 1) % D.cols());
        const double reach = problem.tangents == 1 ? 1 : middle.norm() / 2;
        const VectorXd out =
            problem.tangents == 1 ? VectorXd(D.col(e)) : VectorXd(middle.normalized());
        const double beyond = friction.dot(out) - around * reach;
        worst = std::max(worst, beyond / (most * std::max(1.0, problem.mu[i])));
      }
    }
    from = phase.c;
  }
  return std::max(worst, -from.head(m).minCoeff() / scale);
}

Confirmation confirm(const ImpactProblem& problem, const WitnessCertificate& certificate) {
  validate(problem);
  return confirm_in(OrderSpace(RationalImpact(problem)), certificate);
}

WitnessResult witnesses(const ImpactProblem& problem, const std::vector<WitnessTarget>& targets,
                        const WitnessOptions& options) {
  validate(problem);
  for (const WitnessTarget& target : targets) {
    if (target.kind == WitnessTarget::kLinear &&
        (target.q.size() != problem.c.size() || !target.q.allFinite()))
      throw std::invalid_argument("witnesses: q must have a finite number per contact velocity");
    if (target.load.size() > 0 &&
        (target.kind != WitnessTarget::kLinear || target.load.size() != problem.c.size() ||
         !target.load.allFinite()))
      throw std::invalid_argument(
          "witnesses: load must be empty, or have a finite number per impulse of a linear target");
  }
  if (options.threads < 0) throw std::invalid_argument("witnesses: threads must not be negative");
  if (!(options.max_seconds > 0))
    throw std::invalid_argument("witnesses: max_seconds must be positive");
  const auto began = std::chrono::steady_clock::now();
  WitnessResult result;
  const auto finish = [&](WitnessStatus status) {
    result.status = status;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
  };
  if (!pointed(problem)) return finish(WitnessStatus::kJammed);

  // no impact: the velocity stays as it is, without any phase
  if (!colliding(problem, problem.c)) {
    for (const WitnessTarget& target : targets) {
      const double value = target.kind == WitnessTarget::kLinear ? target.q.dot(problem.c) : 0;
      result.best.push_back(
          {.value = value, .outcome = {VectorXd::Zero(problem.c.size()), problem.c, 0}});
      result.at_most.push_back(value);
    }
    return finish(WitnessStatus::kFound);
  }
  RationalImpact rational(problem);
  if (!rational.decided) return finish(WitnessStatus::kHidden);
  const OrderSpace space(std::move(rational));

  std::vector<RoundTarget> sought;
  for (const WitnessTarget& target : targets) sought.push_back(sought_of(space, problem, target));
  // what was found has to be proven in time too
  double until = options.max_seconds;
  bool told = false;
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const std::function<bool()> late = [&] {
    if (!told && options.stop && options.stop()) {
      told = true;
      until = std::min(until, spent() + kGrace);
    }
    return spent() > until;
  };
  const std::function<bool()> ended = [&] {
    return spent() > kSearch * options.max_seconds || (options.stop && options.stop());
  };
  std::vector<std::optional<Witness>> proven(targets.size());
  const auto witness = [&](std::size_t t, const OrderPath& path) {
    return witness_of(problem, space, path, sought[t].sought, targets[t], late);
  };
  const auto prove = [&](std::size_t t, double value,
                         const OrderPath& path) -> std::optional<double> {
    std::optional<Witness> found = witness(t, path);
    if (!found) return {};
    const WitnessTarget& target = targets[t];
    if (target.kind == WitnessTarget::kLinear)
      value = (found->value - target.q.dot(problem.c)) / sought[t].unit;
    const double side = target.kind == WitnessTarget::kLeastEnergy ? -1 : 1;
    if (!proven[t] || side * found->value > side * proven[t]->value) proven[t] = std::move(found);
    return value;
  };
  Rounds rounds(space, sought, symmetries(space, problem), options, ended, prove);
  if (options.progress) {
    rounds.after_round = [&] {
      std::vector<double> values;
      for (const std::optional<Witness>& best : proven)
        values.push_back(best ? best->value : std::numeric_limits<double>::quiet_NaN());
      options.progress(values);
    };
  }
  rounds.run(result);

  // the best that is proven, then how much better there can be, then what else was found
  rounds.prove_best(late);
  WitnessStatus status = WitnessStatus::kFound;
  for (std::optional<Witness>& best : proven) {
    if (!best) status = WitnessStatus::kNothing;
    result.best.push_back(best ? *std::move(best)
                               : Witness{.value = std::numeric_limits<double>::quiet_NaN()});
  }
  result.at_most = outer_bounds(space.exact, targets, late);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const auto& list = rounds.elite()[t].list;
    for (std::size_t k = 1; k < list.size(); ++k) {
      if (result.others.size() >= kOthers || late()) break;
      std::optional<Witness> other = witness(t, list[k].second);
      if (!other) continue;
      const auto same = [&](const Witness& known) {
        return same_outcome(problem, other->outcome.c_plus, known.outcome.c_plus);
      };
      const bool known = std::any_of(result.others.begin(), result.others.end(), same) ||
                         (!result.best[t].phases.empty() && same(result.best[t]));
      if (!known) result.others.push_back(*std::move(other));
    }
  }
  result.stopped = result.stopped || late();
  return finish(status);
}

}  // namespace routh
