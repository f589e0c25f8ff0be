#include "routh/impact/step_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <stdexcept>

#include "routh/impact/modes.h"
#include "routh/impact/policy.h"
#include "routh/lcp/lemke.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAccepted = 1e-10, kSlack = 1e-9;
constexpr int kTrials = 256;

/// Steps that no regular mode solves: all modes with their singular solution sets, then Lemke.
int solve_slowly(const void* context, const double* c, const double* lambda_max,
                 StepSolution* solutions, int room) {
  ImpactProblem problem = *static_cast<const ImpactProblem*>(context);
  const int m = problem.contacts();
  problem.c = Eigen::Map<const VectorXd>(c, 2 * m);
  const VectorXd bound = Eigen::Map<const VectorXd>(lambda_max, m);
  std::vector<Outcome> outcomes;
  if (m <= policy::kTriedInWalks) outcomes = enumerate_modes(problem, bound, kAccepted).outcomes;
  if (outcomes.empty()) {
    const lcp::LemkeResult found = lcp::lemke(step_lcp(problem, bound), {.tolerance = kAccepted});
    if (found.status == lcp::Status::kSolved) {
      Outcome outcome{.impulse = impulse_from_lcp(problem, found.z)};
      outcome.c_plus = problem.c + problem.G * outcome.impulse;
      outcome.residual = residual(problem, outcome.impulse, bound);
      if (outcome.residual <= kAccepted) outcomes.push_back(std::move(outcome));
    }
  }
  const int count = std::min(room, static_cast<int>(outcomes.size()));
  for (int s = 0; s < count; ++s) {
    std::copy_n(outcomes[s].impulse.data(), 2 * m, solutions[s].lambda);
    std::copy_n(outcomes[s].c_plus.data(), 2 * m, solutions[s].c);
    solutions[s].residual = outcomes[s].residual;
  }
  return count;
}

/// Data x = [c; λmax] of steps that occur, one per column: the velocities on a few walks with fresh
/// bounds.
MatrixXd trial_steps(WalkTask task, int walks, const std::function<bool()>& stop) {
  const int m = task.contacts, limit = 20;
  task.limit = limit;
  constexpr int kTogether = 8;
  std::vector<Walk> ends(kTogether);
  std::vector<double> paths(static_cast<std::size_t>(kTogether) * (limit + 2) * 2 * m);
  MatrixXd trials(3 * m, kTrials);
  Eigen::Index count = 0;
  for (int w = 0; w < walks && count < kTrials; ++w) {
    if (w % kTogether == 0) {
      if (stop && stop()) break;
      walk_function_for("baseline")(task, w, std::min(kTogether, walks - w), ends.data(),
                                    paths.data());
    }
    const int one = w % kTogether;
    for (int k = 0; k < ends[one].steps && count < kTrials; ++k) {
      auto x = trials.col(count);
      x.head(2 * m) = Eigen::Map<const VectorXd>(&paths[(one * (limit + 2) + k) * 2 * m], 2 * m);
      // low-discrepancy bounds: any spread over the box does
      for (int i = 0; i < m; ++i)
        x[2 * m + i] =
            task.h[i] *
            std::fmod(0.5 + 0.6180339887 * (i + 1) * static_cast<double>(count + 1), 1.0);
      ++count;
    }
  }
  return trials.leftCols(count);
}

}  // namespace

/// A hyperplane r x = 0 of a block of modes.
struct StepTable::Plane {
  VectorXd r;
  std::uint64_t below = 0, above = 0;  ///< modes ruled out where r x is negative, positive
  std::bitset<kTrials> trials_below, trials_above;  ///< trials on either side
};

/// The distinct hyperplanes of modes first .. first + 63.
std::vector<StepTable::Plane> StepTable::distinct_planes(const std::vector<RegularMode>& modes,
                                                         std::size_t first) {
  constexpr double kSame = 1e-12;
  std::vector<Plane> planes;
  // one number of each, the same from both sides: those that differ in it need not be compared
  std::vector<double> keys;
  const std::size_t last = std::min(modes.size(), first + 64);
  for (std::size_t mode = first; mode < last; ++mode) {
    const std::uint64_t bit = std::uint64_t{1} << (mode - first);
    for (const auto& one : modes[mode].F.rowwise()) {
      const VectorXd row = one.transpose();
      const auto same = [&](const Plane& p, double sign) {
        const double *r = p.r.data(), *x = row.data();
        for (Eigen::Index k = 0; k < row.size(); ++k) {
          if (std::abs(r[k] - sign * x[k]) > kSame) return false;
        }
        return true;
      };
      double key = 0;
      for (Eigen::Index k = 0; k < row.size(); ++k) key += row[k] / static_cast<double>(k + 1);
      key = std::abs(key);
      const double near = kSame * static_cast<double>(row.size() + 1);
      std::size_t known = 0;
      for (; known < planes.size(); ++known) {
        if (std::abs(keys[known] - key) > near) continue;
        if (same(planes[known], 1) || same(planes[known], -1)) break;
      }
      if (known == planes.size()) {
        planes.push_back({.r = row, .below = bit});
        keys.push_back(key);
      } else {
        (same(planes[known], 1) ? planes[known].below : planes[known].above) |= bit;
      }
    }
  }
  return planes;
}

/// The hyperplanes that rule out modes at some trial, at each place the one that leaves fewest.
std::vector<StepTable::Plane> StepTable::most_useful(std::vector<Plane> planes,
                                                     const MatrixXd& trials) {
  for (Plane& p : planes) {
    const VectorXd side = trials.transpose() * p.r;
    for (Eigen::Index k = 0; k < side.size(); ++k) {
      p.trials_below[k] = side[k] < -kSlack;
      p.trials_above[k] = side[k] > kSlack;
    }
  }
  std::array<std::bitset<kTrials>, 64> ruled_out;  // per mode
  const auto each_mode = [](std::uint64_t bits, auto&& f) {
    for (; bits; bits &= bits - 1) f(std::countr_zero(bits));
  };
  const auto gain = [&](const Plane& p) {
    std::size_t count = 0;
    each_mode(p.below, [&](int m) { count += (p.trials_below & ~ruled_out[m]).count(); });
    each_mode(p.above, [&](int m) { count += (p.trials_above & ~ruled_out[m]).count(); });
    return count;
  };
  std::vector<Plane> useful;
  while (!planes.empty()) {
    std::size_t best = 0, best_gain = 0;
    for (std::size_t p = 0; p < planes.size(); ++p) {
      if (const std::size_t g = gain(planes[p]); g > best_gain) best = p, best_gain = g;
    }
    // a mode that slips through now and then costs less than one more hyperplane always
    if (100 * best_gain <= static_cast<std::size_t>(trials.cols())) break;
    each_mode(planes[best].below, [&](int m) { ruled_out[m] |= planes[best].trials_below; });
    each_mode(planes[best].above, [&](int m) { ruled_out[m] |= planes[best].trials_above; });
    useful.push_back(std::move(planes[best]));
    planes.erase(planes.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return useful;
}

StepTable::StepTable(const ImpactProblem& given, double h, double final_step,
                     const std::function<bool()>& stop, bool pruned)
    : normalised_(given),
      h_(h * normalised_.unit.cwiseInverse()),
      final_step_(final_step * normalised_.unit.cwiseInverse()) {
  validate(given);
  const ImpactProblem& problem = normalised_.problem;
  const int m = problem.contacts();
  if (problem.tangents != 1 || m > kMaxWalkContacts)
    throw std::invalid_argument("StepTable: planar problems of at most five contacts");

  // every regular mode: its impulse and its inequalities as rows over x
  const std::vector<RegularMode> regular = regular_modes(problem, stop);
  const auto stopped = [&] { return stop && stop(); };
  if (stopped()) return;
  for (const RegularMode& mode : regular) {
    impulse_.insert(impulse_.end(), mode.impulse.data(), mode.impulse.data() + mode.impulse.size());
    std::uint32_t zeros = 0;
    for (const int i : mode.zeros) zeros |= 1u << i;
    zeros_.push_back(zeros);
  }

  // blocks of 64 in the order of enumeration: modes that share hyperplanes are close
  std::vector<std::vector<Plane>> blocks;
  for (std::size_t first = 0; first < regular.size() && !stopped(); first += 64) {
    const std::size_t modes = std::min<std::size_t>(64, regular.size() - first);
    members_.push_back(~std::uint64_t{0} >> (64 - modes));
    blocks.push_back(distinct_planes(regular, first));
  }

  // stored with all hyperplanes for the trial walks, then with those that these show to be useful
  store(blocks);
  if (!pruned) return;
  const MatrixXd trials = trial_steps(task(), policy::trial_walks(m), stop);
  for (std::vector<Plane>& planes : blocks) {
    if (stopped()) return;
    planes = most_useful(std::move(planes), trials);
  }
  store(blocks);
}

void StepTable::store(const std::vector<std::vector<Plane>>& blocks) {
  begin_ = {0};
  planes_.clear(), below_.clear(), above_.clear();
  for (const std::vector<Plane>& planes : blocks) {
    for (const Plane& p : planes) {
      planes_.insert(planes_.end(), p.r.begin(), p.r.end());
      below_.push_back(p.below);
      above_.push_back(p.above);
    }
    begin_.push_back(static_cast<int>(below_.size()));
  }
}

WalkTask task_without_table(const ImpactProblem& problem, const VectorXd& h) {
  WalkTask task;
  task.contacts = problem.contacts();
  task.c0 = problem.c.data();
  task.G = problem.G.data();
  task.mu = problem.mu.data();
  task.h = h.data();
  task.slack = kSlack * std::max(1.0, h.maxCoeff());
  task.accepted = kAccepted * problem.c.lpNorm<Eigen::Infinity>();
  task.same = same_velocity(problem);
  task.zero = velocity_tolerance(problem);
  task.fallback = solve_slowly;
  task.context = &problem;
  return task;
}

WalkTask StepTable::task() const {
  WalkTask task = task_without_table(normalised_.problem, h_);
  task.blocks = static_cast<int>(members_.size());
  task.members = members_.data();
  task.begin = begin_.data();
  task.planes = planes_.data();
  task.below = below_.data();
  task.above = above_.data();
  task.impulse = impulse_.data();
  task.zeros = zeros_.data();
  task.final_step = final_step_[0] > 0 ? final_step_.data() : nullptr;
  return task;
}

}  // namespace routh
