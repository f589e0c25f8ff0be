#include "routh/simulate/batch_device.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "routh/impact/energy_known.h"
#include "routh/impact/step_table.h"
#include "routh/impact/walk_device.h"
#include "routh/simulate/parallel.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kAtOnce = 1 << 16;  // problems that the device is given together

/// A problem as the device sees it.
struct Prepared {
  explicit Prepared(const BatchProblem& problem, const SetOptions& options)
      : units(problem.impact),
        h(options.step * units.unit.cwiseInverse()),
        most(units.unit.maxCoeff()),
        weight(units.unit / most),
        energy(0.5 * units.speed * units.unit.replicate(2, 1)),
        forms(units.speed * problem.forms.transpose()) {}

  WalkItem item(const SetOptions& options) const {
    WalkItem item{task_without_table(units.problem, h), energy.data(), weight.data(), forms.data()};
    item.task.limit = options.limit;
    item.task.draws = options.draws;
    item.task.seed = options.seed;
    return item;
  }

  Normalised units;
  VectorXd h;
  double most;  // the largest unit of an impulse
  VectorXd weight, energy;
  MatrixXd forms;  // a column each
};

/// "ab..": a letter per contact of a word in digits.
std::string letters(std::size_t word, int contacts) {
  constexpr ContactState kStates[] = {ContactState::kSeparating, ContactState::kSticking,
                                      ContactState::kSlidingPositive,
                                      ContactState::kSlidingNegative};
  std::string text;
  for (int i = 0; i < contacts; ++i)
    text += static_cast<char>('a' + static_cast<int>(kStates[word >> 2 * i & 3]));
  return text;
}

Between between(double low, double high) {
  Between range;
  range.include(low), range.include(high);
  return range;
}

/// As the samples of the CPU would fill it.
void fill(const BatchProblem& problem, const Prepared& prepared, const WalkRanges& ranges,
          BatchResult& result) {
  const ImpactProblem& p = problem.impact;
  const Normalised& units = prepared.units;
  const auto size = static_cast<std::size_t>(p.c.size());
  const WalkTotals& totals = ranges.totals;
  SetResult found;
  found.samples = totals.walks, found.terminated = totals.terminated, found.steps = totals.steps;
  found.ambiguous_steps = totals.ambiguous_steps;
  found.ambiguous_samples = totals.ambiguous_walks;
  found.most_steps = totals.most_steps;
  found.max_residual =
      totals.residual / std::max(1e-300, units.problem.c.lpNorm<Eigen::Infinity>());
  result.samples = found.samples, result.ended = found.terminated;
  result.ambiguous = found.ambiguous_samples;
  result.residual = found.max_residual;
  if (ranges.simultaneous > 0) result.simultaneous = ranges.simultaneous;
  result.c.resize(size);
  result.forms.resize(static_cast<std::size_t>(problem.forms.rows()));
  if (found.terminated > 0) {
    const auto ended = static_cast<double>(found.terminated);
    found.c_min = units.speed * Eigen::Map<const VectorXd>(totals.c_min, p.c.size());
    found.c_max = units.speed * Eigen::Map<const VectorXd>(totals.c_max, p.c.size());
    for (std::size_t k = 0; k < size; ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      result.c[k] = between(found.c_min[at], found.c_max[at]);
    }
    for (std::size_t k = 0; k < result.forms.size(); ++k)
      result.forms[k] = between(ranges.low_forms[k], ranges.high_forms[k]);
    result.energy = between(ranges.low_energy, ranges.high_energy);
    result.steps = static_cast<double>(ranges.ended_steps) / ended;
    result.impulse = prepared.most * ranges.impulse / ended;
  }
  for (std::size_t word = 0; word < ranges.words.size(); ++word) {
    if (ranges.words[word] > 0) result.words[letters(word, p.contacts())] += ranges.words[word];
  }
  judge_set(p, found, result);
}

}  // namespace

std::vector<char> solve_on_device(const std::vector<BatchProblem>& problems,
                                  const BatchOptions& options, std::vector<BatchResult>& results) {
  std::vector<char> taken(problems.size(), 0);
  if (!options.device || options.law != "set" ||
      options.samples > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    return taken;

  // of as many contacts and forms each; tables of five are too large to be made for a few samples
  std::map<std::pair<int, Eigen::Index>, std::vector<std::size_t>> alike;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const BatchProblem& problem = problems[k];
    const ImpactProblem& p = problem.impact;
    if (p.contacts() > 0 && p.contacts() <= kMaxBatchContacts && colliding(p, p.c) &&
        on_device(p, set_options(problem, options)).empty())
      alike[{p.contacts(), problem.forms.rows()}].push_back(k);
  }
  try {
    for (const auto& group : alike) {
      const auto& shape = group.first;
      const std::vector<std::size_t>& all = group.second;
      for (std::size_t first = 0; first < all.size(); first += kAtOnce) {
        if (options.stop && options.stop()) return taken;
        const std::size_t count = std::min(kAtOnce, all.size() - first);
        std::vector<std::optional<Prepared>> prepared(count);
        std::vector<char> clear(count, 0);
        in_parallel(count, options.threads, [&](std::uint64_t i) {
          const BatchProblem& problem = problems[all[first + i]];
          const SetOptions set = set_options(problem, options);
          prepared[i].emplace(problem, set);
          clear[i] = EnergyKnown(problem.impact, set).always();
        });
        WalkBatch batch{.contacts = shape.first,
                        .samples = static_cast<int>(options.samples),
                        .forms = static_cast<int>(shape.second),
                        .words = options.words,
                        .simultaneous = options.simultaneous};
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < count; ++i) {
          if (!clear[i]) continue;
          places.push_back(i);
          batch.items.push_back(prepared[i]->item(set_options(problems[all[first + i]], options)));
        }
        const std::vector<WalkRanges> ranges = options.device->batch(batch);
        in_parallel(places.size(), options.threads, [&](std::uint64_t i) {
          if (ranges[i].left) return;
          const std::size_t k = all[first + places[i]];
          fill(problems[k], *prepared[places[i]], ranges[i], results[k]);
          taken[k] = 1;
        });
      }
    }
  } catch (const DeviceError& e) {
    if (options.device_trouble) options.device_trouble(e.what());
  }
  return taken;
}

}  // namespace routh
