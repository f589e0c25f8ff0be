#include "routh/impact/extreme_draws.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "routh/impact/cone.h"
#include "routh/impact/draws.h"
#include "routh/impact/witness_rounds.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr std::int64_t kPrograms = 4000;  // of the search for orders, for each velocity
constexpr int kGrown = 100;               // orders drawn at random beside it
constexpr std::size_t kOrders = 400;
constexpr std::size_t kWidened = 60;         // orders that are made to reach several extremes
constexpr int kClimbs = 5;                   // forms they climb along, one after the other
constexpr std::int64_t kClimbPrograms = 60;  // programs of one climb
constexpr std::size_t kPhases = 30;          // of an order that is made longer
constexpr std::size_t kCornersOfOrder = 40;  // of one order
constexpr int kMixtures = 12;         // forms that corners are looked for along, beside velocities
constexpr double kReplayed = 1e-9;    // a path that violates the inclusion by more is left out
constexpr double kSameCorner = 1e-9;  // corners nearer to each other, relative
constexpr double kLeast = 0.02;       // of the largest order: the share of an order of one corner

/// Impulses of the phases of a path, in the user's units.
std::vector<VectorXd> impulses(const OrderSpace& space, const OrderPath& path) {
  const RationalImpact& exact = space.exact;
  std::vector<VectorXd> phases;
  for (const VectorXd& alpha : path.alpha) {
    VectorXd& impulse =
        phases.emplace_back(VectorXd::Zero(static_cast<Eigen::Index>(exact.T.size())));
    for (std::size_t g = 0; g < space.edges.size(); ++g) {
      const auto& [i, e, scale] = space.edges[g];
      const double amount = std::ldexp(alpha[static_cast<Eigen::Index>(g)], scale);
      impulse[i] += amount;
      for (int t = 0; t < exact.tangents && e != OrderSpace::kAxis && !exact.frictionless[i]; ++t)
        impulse[exact.tangent(i) + t] += amount * Rational(exact.mu[i] * exact.D[e][t]).get_d();
    }
    for (Eigen::Index k = 0; k < impulse.size(); ++k)
      impulse[k] = std::ldexp(impulse[k], 2 * exact.speed - exact.unit[k]);
  }
  return phases;
}

/// A form over contact velocities as gains per edge.
VectorXd gains(const OrderSpace& space, const VectorXd& q) {
  VectorXd gain = VectorXd::Zero(static_cast<Eigen::Index>(space.edges.size()));
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    if (q[i] == 0) continue;
    const RationalVector rates = space.along_edges(space.exact.T[i]);
    for (std::size_t g = 0; g < rates.size(); ++g)
      gain[static_cast<Eigen::Index>(g)] += q[i] * rates[g].get_d();
  }
  const double largest = gain.lpNorm<Eigen::Infinity>();
  return largest > 0 ? VectorXd(gain / largest) : gain;
}

}  // namespace

ExtremeDraws::ExtremeDraws(const ImpactProblem& problem, std::uint64_t seed,
                           const std::function<bool()>& stop)
    : problem_(problem), seed_(seed) {
  if (!colliding(problem, problem.c) || !pointed(problem)) return;
  RationalImpact rational(problem);
  if (!rational.decided) return;
  const OrderSpace space(std::move(rational));
  const std::function<bool()> ended = [&] { return stop && stop(); };

  // what corners are looked for along: every velocity both ways, and mixtures
  const Eigen::Index size = problem.c.size();
  WalkRandom random(seed, ~std::uint64_t{0});
  std::vector<VectorXd> forms;
  for (Eigen::Index i = 0; i < size; ++i) {
    for (const double sign : {1.0, -1.0})
      forms.push_back(gains(space, sign * VectorXd::Unit(size, i)));
  }
  const std::size_t velocities = forms.size();
  for (int k = 0; k < kMixtures; ++k)
    forms.push_back(gains(space, VectorXd::NullaryExpr(size, [&] { return 2 * random() - 1; })));

  // orders: of the best paths, of others that were met, of any
  std::vector<RoundTarget> targets;
  for (std::size_t k = 0; k < velocities; ++k)
    targets.push_back({{SearchTarget::kLinear, forms[k]}});
  const WitnessOptions options{.max_programs = kPrograms * static_cast<std::int64_t>(size),
                               .patience = 2,
                               .seed = seed,
                               .threads = 1};
  Rounds rounds(space, targets, symmetries(space, problem), options, ended,
                [](std::size_t, double value, const OrderPath&) { return value; });
  WitnessResult found;
  rounds.run(found);
  std::set<Order> known;
  std::vector<OrderPath> paths;
  const auto take = [&](const OrderPath& path) {
    if (paths.size() < kOrders && known.insert(path.order).second) paths.push_back(path);
  };
  for (std::size_t place = 0; place < kOrders; ++place) {
    for (const Elite& elite : rounds.elite()) {
      if (place < elite.list.size()) take(elite.list[place].second);
    }
  }
  OrderSearch search(space, ended);
  SearchRandom drawn(seed, ~std::uint64_t{0});
  for (int k = 0; k < kGrown && !ended(); ++k) {
    if (const std::optional<OrderPath> path = search.grow(drawn)) take(*path);
  }

  // what lies between extremes is of orders that reach several of them: climbing from one to
  // another keeps all paths where no location is left out
  for (std::size_t k = 0, found_until_here = paths.size();
       k < std::min(kWidened, found_until_here) && !ended(); ++k) {
    OrderPath wide = paths[k];
    for (int times = 0; times < kClimbs && wide.order.size() < kPhases; ++times) {
      const SearchTarget towards{SearchTarget::kLinear,
                                 forms[drawn.below(static_cast<int>(forms.size()))]};
      OrderPath tried = wide;
      tried.mixture.clear();
      if (!search.optimise(tried, towards)) break;
      search.climb(tried, towards, drawn, search.programs() + kClimbPrograms,
                   OrderSearch::Keep::kOrder);
      wide = std::move(tried);
    }
    take(wide);
  }

  for (const OrderPath& path : paths) {
    Pool pool;
    for (const Location& location : path.order) {
      std::vector<ContactState>& states = pool.states.emplace_back();
      for (int i = 0; i < problem.contacts(); ++i) states.push_back(space.label(location, i).state);
    }
    for (const VectorXd& form : forms) {
      if (pool.corners.size() == kCornersOfOrder || ended()) break;
      OrderPath corner = path;
      corner.mixture.clear();
      if (search.optimise(corner, {SearchTarget::kLinear, form}))
        add(pool, {impulses(space, corner), {}});
    }
    if (!pool.corners.empty()) pools_.push_back(std::move(pool));
  }

  // larger orders get more samples
  double largest = 0, sum = 0;
  std::vector<double> width;
  for (const Pool& pool : pools_) {
    double most = 0;
    for (const Corner& a : pool.corners) {
      for (const Corner& b : pool.corners) most = std::max(most, (a.c_plus - b.c_plus).norm());
    }
    width.push_back(most);
    largest = std::max(largest, most);
  }
  for (std::size_t k = 0; k < pools_.size(); ++k) {
    sum += largest > 0 ? std::max(kLeast * largest, width[k]) : 1;
    pools_[k].share = sum;
  }
  for (Pool& pool : pools_) pool.share /= sum;
}

bool ExtremeDraws::add(Pool& pool, const Corner& corner) const {
  std::vector<WitnessPhase> phases;
  VectorXd impulse = VectorXd::Zero(problem_.c.size());
  for (std::size_t k = 0; k < corner.impulse.size(); ++k) {
    impulse += corner.impulse[k];
    phases.push_back({pool.states[k], corner.impulse[k], problem_.c + problem_.G * impulse});
  }
  if (!(replay(problem_, phases) <= kReplayed)) return false;
  const VectorXd& c = phases.back().c;
  for (const Corner& other : pool.corners) {
    if ((other.c_plus - c).norm() <= kSameCorner * problem_.c.norm()) return false;
  }
  pool.corners.push_back({corner.impulse, c});
  return true;
}

StepwiseSample ExtremeDraws::walk(std::uint64_t index, bool with_path) const {
  StepwiseSample result;
  SetSample& sample = result.sample;
  sample.index = index;
  sample.outcome = {VectorXd::Zero(problem_.c.size()), problem_.c, 0};
  if (with_path) result.path.push_back(problem_.c);
  sample.terminated = !colliding(problem_, problem_.c);
  if (pools_.empty()) return result;

  // some corners of one order, evenly mixed: corners and edges come as often as what is inside
  WalkRandom random(seed_, index);
  random.begin_step(0);
  const double lot = random();
  const auto pool =
      std::find_if(pools_.begin(), pools_.end() - 1, [&](const Pool& p) { return lot <= p.share; });
  const int count = static_cast<int>(pool->corners.size());
  const int most = std::min<int>(count, static_cast<int>(problem_.c.size()) + 1);
  const int mixed = std::min(most, 1 + static_cast<int>(4 * random()));
  std::vector<std::pair<int, double>> weights;
  double sum = 0;
  for (int k = 0; k < mixed; ++k) {
    const int corner = std::min(count - 1, static_cast<int>(count * random()));
    weights.emplace_back(corner, -std::log(random()));
    sum += weights.back().second;
  }
  const std::size_t phases = pool->states.size();
  std::vector<WitnessPhase> path;
  VectorXd total = VectorXd::Zero(problem_.c.size());
  for (std::size_t k = 0; k < phases; ++k) {
    VectorXd impulse = VectorXd::Zero(problem_.c.size());
    for (const auto& [corner, weight] : weights)
      impulse += weight / sum * pool->corners[corner].impulse[k];
    total += impulse;
    path.push_back({pool->states[k], impulse, problem_.c + problem_.G * total});
    if (with_path) result.path.push_back(path.back().c);
  }
  sample.outcome = {total, path.back().c, replay(problem_, path)};
  sample.steps = static_cast<int>(phases);
  sample.terminated = sample.outcome.residual <= kReplayed;
  result.unsolved = !sample.terminated;
  return result;
}

}  // namespace routh
