#include "routh/impact/witness.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "routh/impact/cone.h"
#include "routh/impact/outer_bound.h"
#include "routh/impact/quad.h"
#include "routh/impact/same_outcome.h"
#include "routh/impact/witness_search.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kReplayed = 1e-8;    // a path that violates the inclusion by more is refused
constexpr int kDisturbances = 2;      // of a path in one task
constexpr int kElite = 8;             // paths kept for each target
constexpr int kTasks = 8;             // of each target in a round
constexpr std::size_t kOthers = 64;   // corners kept beside the best
constexpr double kSearch = 0.6;       // of the time; the rest is for confirmation
constexpr double kGrace = 0.15;       // seconds to confirm in what there is, when told to stop
constexpr std::int64_t kClimb = 400;  // programs of one task

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
      const auto& [i, e, scale] = space.edges[g];
      const Rational amount = alpha[k][g] * power_of_two(scale);
      impulse[i] += amount;
      for (int t = 0; t < exact.tangents && e != OrderSpace::kAxis && !exact.frictionless[i]; ++t)
        impulse[exact.tangent(i) + t] += amount * exact.mu[i] * exact.D[e][t];
      for (int a = 0; a < exact.dimension; ++a) y[a] += amount * space.direction(space.edges[g])[a];
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

/// Paths kept for a target, the best first, all different.
struct Elite {
  std::vector<std::pair<double, OrderPath>> list;

  bool add(double value, const OrderPath& path) {
    const bool better = list.empty() || value > list.front().first + 1e-10;
    for (const auto& [known, other] : list) {
      if (std::abs(known - value) < 1e-10) return false;
    }
    const auto place = std::find_if(list.begin(), list.end(),
                                    [&](const auto& item) { return item.first < value; });
    list.insert(place, {value, path});
    if (static_cast<int>(list.size()) > kElite) list.pop_back();
    return better;
  }
};

/// Rounds of tasks, each independent of the others; what they found is taken in in their order, so
/// that threads do not matter.
class Rounds {
 public:
  Rounds(const OrderSpace& space, std::vector<SearchTarget> targets, const WitnessOptions& options)
      : targets_(std::move(targets)),
        options_(options),
        elite_(targets_.size()),
        waited_(targets_.size(), 0),
        began_(std::chrono::steady_clock::now()) {
    int threads = options.threads
                      ? options.threads
                      : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (int k = 0; k < threads; ++k) searches_.emplace_back(space, [this] { return ended(); });
  }

  void run(WitnessResult& result) {
    const auto open = [&](std::size_t t) { return waited_[t] < options_.patience; };
    for (;; ++result.rounds) {
      std::vector<std::size_t> tasks;  // targets, kTasks times
      for (std::size_t t = 0; t < targets_.size(); ++t) {
        if (open(t)) tasks.insert(tasks.end(), kTasks, t);
      }
      if (tasks.empty() || result.programs >= options_.max_programs) break;
      std::vector<Found> found(tasks.size());
      work(tasks, result.rounds, found);
      std::vector<char> better(targets_.size(), 0);
      for (std::size_t k = 0; k < tasks.size(); ++k) {
        result.programs += found[k].programs;
        if (found[k].path) better[tasks[k]] |= elite_[tasks[k]].add(found[k].value, *found[k].path);
      }
      for (std::size_t t = 0; t < targets_.size(); ++t) waited_[t] = better[t] ? 0 : waited_[t] + 1;
      if (options_.progress) options_.progress(values());
      if (ended()) {
        result.stopped = true;
        break;
      }
    }
  }

  const std::vector<Elite>& elite() const { return elite_; }

 private:
  struct Found {
    std::optional<OrderPath> path;
    double value = 0;
    std::int64_t programs = 0;
  };

  bool ended() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
    return spent.count() > options_.max_seconds || (options_.stop && options_.stop());
  }

  std::vector<double> values() const {
    std::vector<double> best;
    for (const Elite& e : elite_)
      best.push_back(e.list.empty() ? std::numeric_limits<double>::quiet_NaN() : e.list[0].first);
    return best;
  }

  void work(const std::vector<std::size_t>& tasks, int round, std::vector<Found>& found) {
    std::atomic<std::size_t> next{0};
    std::mutex failing;
    std::exception_ptr failure;
    const auto one = [&](OrderSearch& search) {
      try {
        for (std::size_t k = next++; k < tasks.size() && !ended(); k = next++)
          found[k] = task(search, tasks[k], round, static_cast<int>(k));
      } catch (...) {
        const std::lock_guard lock(failing);
        failure = std::current_exception();
      }
    };
    std::vector<std::thread> pool;
    for (std::size_t k = 1; k < std::min(searches_.size(), tasks.size()); ++k)
      pool.emplace_back([&, k] { one(searches_[k]); });
    one(searches_[0]);
    for (std::thread& t : pool) t.join();
    if (failure) std::rethrow_exception(failure);
  }

  /// One path: grown from nothing, or a known one changed; then it climbs.
  Found task(OrderSearch& search, std::size_t target, int round, int number) {
    const std::int64_t before = search.programs();
    SearchRandom random(options_.seed, (static_cast<std::uint64_t>(round) << 32) +
                                           static_cast<std::uint64_t>(number % kTasks) * 0x10000 +
                                           target);
    Found found;
    const auto parent = [&](std::size_t of) -> const OrderPath* {
      const auto& list = elite_[of].list;
      if (list.empty()) return nullptr;
      // the better the likelier
      const int n = static_cast<int>(list.size());
      return &list[std::min(random.below(n), random.below(n))].second;
    };
    const double kind = random.uniform();
    const OrderPath* from = kind < 0.3 || round == 0 ? nullptr
                            : kind < 0.45 ? parent(random.below(static_cast<int>(elite_.size())))
                                          : parent(target);
    std::optional<OrderPath> path;
    if (!from) {
      path = search.grow(random);
    } else if (kind < 0.45) {
      path = *from;
    } else if (kind < 0.7) {
      path = search.regrow(*from, random);
    } else {
      path = *from;
      search.disturb(*path, targets_[target], random);
    }
    const SearchTarget& sought = targets_[target];
    if (path && search.optimise(*path, sought)) {
      search.climb(*path, sought, random, search.programs() + kClimb);
      found.value = search.value(*path, sought);
      // on from there by disturbances that do no harm
      for (int k = 0; k < kDisturbances && !ended(); ++k) {
        OrderPath tried = *path;
        search.disturb(tried, sought, random);
        if (!search.optimise(tried, sought)) continue;
        search.climb(tried, sought, random, search.programs() + kClimb);
        const double value = search.value(tried, sought);
        if (value < found.value - 1e-10) continue;
        path = std::move(tried);
        found.value = value;
      }
      found.path = std::move(path);
    }
    found.programs = search.programs() - before;
    return found;
  }

  std::vector<SearchTarget> targets_;
  const WitnessOptions& options_;
  std::vector<Elite> elite_;
  std::vector<int> waited_;
  std::vector<OrderSearch> searches_;
  std::chrono::steady_clock::time_point began_;
};

double number_of(const ImpactProblem& problem, const WitnessTarget& target,
                 const std::vector<WitnessPhase>& phases, const VectorXd& impulse) {
  if (target.kind == WitnessTarget::kLinear) return target.q.dot(phases.back().c);
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

  std::vector<SearchTarget> sought;
  for (const WitnessTarget& target : targets) {
    SearchTarget one{static_cast<SearchTarget::Kind>(target.kind)};
    if (target.kind == WitnessTarget::kLinear) {
      // over y, at the scale of its largest gain: units do not decide what counts
      one.gain = VectorXd::Zero(static_cast<Eigen::Index>(space.edges.size()));
      for (Eigen::Index i = 0; i < target.q.size(); ++i) {
        if (target.q[i] == 0) continue;
        const double by = std::ldexp(target.q[i], space.exact.unit[i]);
        const RationalVector rates = space.along_edges(space.exact.T[i]);
        for (std::size_t g = 0; g < rates.size(); ++g)
          one.gain[static_cast<Eigen::Index>(g)] += by * rates[g].get_d();
      }
      const double largest = one.gain.lpNorm<Eigen::Infinity>();
      if (largest > 0) one.gain /= std::exp2(std::ilogb(largest));
    }
    sought.push_back(std::move(one));
  }
  // what was found has to be confirmed in time too
  WitnessOptions search = options;
  search.max_seconds = kSearch * options.max_seconds;
  Rounds rounds(space, sought, search);
  rounds.run(result);
  double until = options.max_seconds;
  bool told = false;
  const std::function<bool()> late = [&] {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now() - began;
    if (!told && options.stop && options.stop()) {
      told = true;
      until = std::min(until, now.count() + kGrace);
    }
    return now.count() > until;
  };
  const auto confirmed = [&](std::size_t t, std::size_t place) {
    return witness_of(problem, space, rounds.elite()[t].list[place].second, sought[t], targets[t],
                      late);
  };

  // the best that is confirmed, then how much better there can be, then what else was found
  WitnessStatus status = WitnessStatus::kFound;
  std::vector<std::size_t> next(targets.size(), 0);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    std::optional<Witness> best;
    while (!best && next[t] < rounds.elite()[t].list.size() && !late())
      best = confirmed(t, next[t]++);
    if (!best) {
      status = WitnessStatus::kNothing;
      best.emplace();
      best->value = std::numeric_limits<double>::quiet_NaN();
    }
    result.best.push_back(std::move(*best));
  }
  result.at_most = outer_bounds(space.exact, targets, late);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    Witness& best = result.best[t];
    for (; next[t] < rounds.elite()[t].list.size(); ++next[t]) {
      if (result.others.size() >= kOthers || late()) break;
      std::optional<Witness> witness = confirmed(t, next[t]);
      if (!witness) continue;
      const auto same = [&](const Witness& other) {
        return same_outcome(problem, witness->outcome.c_plus, other.outcome.c_plus);
      };
      if (std::none_of(result.others.begin(), result.others.end(), same) && !same(best))
        result.others.push_back(*witness);
      if (witness->value > best.value) best = *std::move(witness);
    }
  }
  result.stopped = result.stopped || late();
  return finish(status);
}

}  // namespace routh
