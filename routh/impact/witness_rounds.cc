#include "routh/impact/witness_rounds.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr int kDisturbances = 4;      // of a path in one task
constexpr std::size_t kElite = 8;     // paths kept for each target
constexpr int kTasks = 8;             // of each target in a round
constexpr std::int64_t kClimb = 400;  // programs of one climb
constexpr double kSame = 1e-10;       // values nearer to each other are the same
constexpr double kRounding = 1e-8;    // by which a value may turn out to be less

}  // namespace

double Elite::best() const {
  return list.empty() ? -std::numeric_limits<double>::infinity() : list.front().first;
}

bool Elite::add(double value, const OrderPath& path) {
  const bool better = value > best() + kSame;
  for (const auto& [known, other] : list) {
    if (std::abs(known - value) < kSame) return false;
  }
  const auto place =
      std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.first < value; });
  list.insert(place, {value, path});
  if (list.size() > kElite) list.pop_back();
  return better;
}

Rounds::Rounds(const OrderSpace& space, std::vector<RoundTarget> targets,
               std::vector<OrderSymmetry> symmetries, const WitnessOptions& options,
               std::function<bool()> ended, Prove prove)
    : space_(space),
      targets_(std::move(targets)),
      symmetries_(std::move(symmetries)),
      options_(options),
      ended_(std::move(ended)),
      prove_(std::move(prove)),
      leader_(targets_.size()),
      elite_(targets_.size()),
      proven_(targets_.size(), -std::numeric_limits<double>::infinity()),
      waited_(targets_.size(), 0) {
  const int threads = options.threads
                          ? options.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (int k = 0; k < threads; ++k) searches_.emplace_back(space, ended_);
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    const SearchTarget& own = targets_[t].sought;
    for (std::size_t u = 0; u < t && !leader_[t].symmetry; ++u) {
      const SearchTarget& other = targets_[u].sought;
      if (own.kind != SearchTarget::kLinear || other.kind != own.kind) continue;
      for (const OrderSymmetry& s : symmetries_) {
        if ((s.image(other.gain) - own.gain).lpNorm<Eigen::Infinity>() <
            kSame * own.gain.lpNorm<Eigen::Infinity>())
          leader_[t] = {u, &s};
      }
    }
  }
}

bool Rounds::open(std::size_t t) const {
  return !leader_[t].symmetry && waited_[t] < options_.patience &&
         elite_[t].best() < targets_[t].enough;
}

void Rounds::run(WitnessResult& result) {
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
      for (const auto& [t, value, path] : found[k].shared) better[t] |= elite_[t].add(value, path);
    }
    for (std::size_t t = 0; t < targets_.size(); ++t) waited_[t] = better[t] ? 0 : waited_[t] + 1;
    prove_best(ended_);
    if (after_round) after_round();
    if (ended_()) {
      result.stopped = true;
      break;
    }
  }
}

void Rounds::prove_best(const std::function<bool()>& late) {
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    auto& list = elite_[t].list;
    while (!list.empty() && list.front().first > proven_[t] + kSame) {
      auto [value, path] = list.front();
      const std::optional<double> worth = prove_(t, value, path);
      if (!worth && late()) break;  // there was no time to see
      if (worth) proven_[t] = std::max(proven_[t], *worth);
      if (worth && *worth > value - kRounding) break;
      // rounding made it too good
      list.erase(list.begin());
      if (worth) elite_[t].add(*worth, path);
    }
    // the mirror image of what its leader has
    Leader& leader = leader_[t];
    if (!leader.symmetry || elite_[leader.target].list.empty()) continue;
    const auto& [value, path] = elite_[leader.target].list.front();
    if (value <= std::max(proven_[t], leader.tried) + kSame || !path.mixture.empty() || late())
      continue;
    leader.tried = value;
    if (const std::optional<double> worth = prove_(t, value, leader.symmetry->image(space_, path)))
      proven_[t] = std::max(proven_[t], *worth);
  }
}

void Rounds::work(const std::vector<std::size_t>& tasks, int round, std::vector<Found>& found) {
  std::atomic<std::size_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;
  const auto one = [&](OrderSearch& search) {
    try {
      for (std::size_t k = next++; k < tasks.size() && !ended_(); k = next++)
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
Rounds::Found Rounds::task(OrderSearch& search, std::size_t target, int round, int number) const {
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
  const double fresh = round < 2 ? 0.5 : 0.15;
  const OrderPath* from = kind < fresh || round == 0 ? nullptr
                          : kind < fresh + 0.1
                              ? parent(random.below(static_cast<int>(elite_.size())))
                              : parent(target);
  std::optional<OrderPath> path;
  const SearchTarget& sought = targets_[target].sought;
  if (!from) {
    path = search.grow(random);
  } else if (kind < fresh + 0.1) {
    path = *from;
  } else if (kind < fresh + 0.25) {
    path = search.regrow(*from, random);
  } else {
    path = *from;
    search.disturb(*path, sought, random);
  }
  if (path && search.optimise(*path, sought)) {
    search.climb(*path, sought, random, search.programs() + kClimb);
    found.value = search.value(*path, sought);
    // on from there by disturbances that do no harm
    for (int k = 0; k < kDisturbances && !ended_(); ++k) {
      OrderPath tried = *path;
      search.disturb(tried, sought, random);
      if (!search.optimise(tried, sought)) continue;
      search.climb(tried, sought, random, search.programs() + kClimb);
      const double value = search.value(tried, sought);
      if (value < found.value - kSame) continue;
      path = std::move(tried);
      found.value = value;
    }
    const auto& known = elite_[target].list;
    if (std::none_of(known.begin(), known.end(),
                     [&](const auto& item) { return std::abs(item.first - found.value) < kSame; }))
      share(search, *path, target, found);
    found.path = std::move(path);
  }
  found.programs = search.programs() - before;
  return found;
}

/// What an order, or its mirror image, is worth to other targets.
void Rounds::share(OrderSearch& search, const OrderPath& path, std::size_t own,
                   Found& found) const {
  const auto with_all = [&](const OrderPath& from) {
    for (std::size_t t = 0; t < targets_.size() && !ended_(); ++t) {
      if (t == own || elite_[t].best() >= targets_[t].enough) continue;
      OrderPath tried = from;
      if (!search.optimise(tried, targets_[t].sought)) continue;
      const double value = search.value(tried, targets_[t].sought);
      if (value > elite_[t].best() + kSame) found.shared.emplace_back(t, value, std::move(tried));
    }
  };
  OrderPath plain = path;
  plain.mixture.clear();
  with_all(plain);
  for (const OrderSymmetry& s : symmetries_) with_all(s.image(space_, plain));
}

}  // namespace routh
