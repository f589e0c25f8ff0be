#include "routh/impact/step_table.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "routh/impact/modes.h"
#include "routh/lcp/lemke.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAccepted = 1e-10;

/// Steps that no regular mode solves: all modes with their singular solution sets, then Lemke.
int solve_slowly(const void* context, const double* c, const double* lambda_max,
                 StepSolution* solutions, int room) {
  ImpactProblem problem = *static_cast<const ImpactProblem*>(context);
  const int m = problem.contacts();
  problem.c = Eigen::Map<const VectorXd>(c, 2 * m);
  const VectorXd bound = Eigen::Map<const VectorXd>(lambda_max, m);
  std::vector<Outcome> outcomes;
  if (m <= 3) outcomes = enumerate_modes(problem, bound, kAccepted).outcomes;
  if (outcomes.empty()) {
    const lcp::LemkeResult found = lcp::lemke(step_lcp(problem, bound), {.tolerance = kAccepted});
    if (found.status == lcp::Status::kSolved) {
      Outcome outcome{.impulse = impulse_from_step_lcp(m, found.z)};
      outcome.c_plus = problem.c + problem.G * outcome.impulse;
      outcome.residual = residual(problem, outcome.impulse, bound);
      outcomes.push_back(std::move(outcome));
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
MatrixXd trial_steps(WalkTask task, int walks) {
  const int m = task.contacts, limit = 20;
  task.limit = limit;
  std::vector<Walk> ends(walks);
  std::vector<double> paths(static_cast<std::size_t>(walks) * (limit + 2) * 2 * m);
  walk_function_for("baseline")(task, 0, walks, ends.data(), paths.data());
  std::vector<VectorXd> trials;
  for (int w = 0; w < walks; ++w) {
    for (int k = 0; k < ends[w].steps; ++k) {
      VectorXd x(3 * m);
      x.head(2 * m) = Eigen::Map<const VectorXd>(&paths[(w * (limit + 2) + k) * 2 * m], 2 * m);
      // low-discrepancy bounds: any spread over the box does
      for (int i = 0; i < m; ++i)
        x[2 * m + i] = task.h * std::fmod(0.5 + 0.6180339887 * (i + 1) * (trials.size() + 1), 1.0);
      trials.push_back(x);
    }
  }
  MatrixXd all(3 * m, trials.size());
  for (std::size_t k = 0; k < trials.size(); ++k) all.col(k) = trials[k];
  return all;
}

/// Puts the rows that reject most trials first; returns how many rows leave no trial.
int order_by_rejection(MatrixXd& rows, const MatrixXd& trials) {
  const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> holds = (rows * trials).array() >= -1e-9;
  Eigen::Array<bool, 1, Eigen::Dynamic> alive =
      Eigen::Array<bool, 1, Eigen::Dynamic>::Constant(trials.cols(), true);
  std::vector<int> order, left(rows.rows());
  std::iota(left.begin(), left.end(), 0);
  int needed = static_cast<int>(rows.rows());
  while (!left.empty()) {
    const auto survivors = [&](int r) { return (alive && holds.row(r)).count(); };
    const auto best = std::min_element(left.begin(), left.end(),
                                       [&](int a, int b) { return survivors(a) < survivors(b); });
    alive = (alive && holds.row(*best)).eval();
    order.push_back(*best);
    left.erase(best);
    if (!alive.any()) {
      needed = static_cast<int>(order.size());
      order.insert(order.end(), left.begin(), left.end());
      break;
    }
  }
  rows = MatrixXd(rows(order, Eigen::all));
  return needed;
}

}  // namespace

StepTable::StepTable(const ImpactProblem& problem, double h) : scaled_(problem), h_(h) {
  validate(problem);
  const int m = problem.contacts();
  if (problem.tangents != 1 || m > kMaxWalkContacts)
    throw std::invalid_argument("StepTable: planar problems of at most five contacts");
  speed_ = std::max(1e-300, problem.c.lpNorm<Eigen::Infinity>());
  scaled_.c /= speed_;

  // every regular mode: its impulse and its inequalities as rows over x
  std::vector<Mode> regular;
  for (const Modes& modes : all_modes(problem.mu, true)) {
    const ModeSystem s = mode_system(problem, modes, true);
    MatrixXd U(s.K.rows(), 3 * m);  // u = U x
    if (s.K.rows() > 0) {
      const Eigen::PartialPivLU<MatrixXd> lu(s.K);
      if (!(lu.rcond() > 1e-11)) continue;
      U = -lu.solve(s.R);
    }
    const MatrixXd impulse = s.S * U + s.P;
    const MatrixXd F = s.Fu * U + s.Fx;
    impulse_.insert(impulse_.end(), impulse.data(), impulse.data() + impulse.size());
    std::uint32_t zeros = 0;
    for (const int i : s.zeros) zeros |= 1u << i;
    zeros_.push_back(zeros);

    // unit rows; a row of zeros holds always
    MatrixXd unit(0, 3 * m);
    for (int r = 0; r < F.rows(); ++r) {
      const double size = F.row(r).cwiseAbs().maxCoeff();
      if (size < 1e-13) continue;
      unit.conservativeResize(unit.rows() + 1, 3 * m);
      unit.row(unit.rows() - 1) = F.row(r) / size;
    }
    regular.push_back({unit, static_cast<int>(unit.rows())});
  }

  // stored once as they are for the trial walks, then in the order these suggest
  store(regular);
  const MatrixXd trials = trial_steps(task(), m <= 3 ? 64 : 12);
  for (Mode& mode : regular) mode.needed = order_by_rejection(mode.inequalities, trials);
  store(regular);
}

/// Eight modes to a block, those that fail early together.
void StepTable::store(const std::vector<Mode>& modes) {
  const int size = 3 * scaled_.contacts();
  first_row_.clear(), other_rows_.clear(), rows_.clear(), offset_.clear(), mode_.clear();
  std::vector<int> order(modes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(modes[a].needed, modes[a].inequalities.rows()) <
           std::pair(modes[b].needed, modes[b].inequalities.rows());
  });
  for (std::size_t first = 0; first < order.size(); first += kLanes) {
    const std::size_t last = std::min(order.size(), first + kLanes);
    Eigen::Index rows = 1;
    for (std::size_t lane = first; lane < last; ++lane)
      rows = std::max(rows, modes[order[lane]].inequalities.rows());
    rows += (rows + 1) % 2;  // one and pairs
    other_rows_.push_back(static_cast<int>(rows) - 1);
    offset_.push_back(static_cast<std::int64_t>(rows_.size()));
    for (Eigen::Index r = 0; r < rows; ++r) {
      for (int k = 0; k < size; ++k) {
        for (std::size_t lane = first; lane < first + kLanes; ++lane) {
          // a missing row always holds
          const bool there = lane < last && r < modes[order[lane]].inequalities.rows();
          (r == 0 ? first_row_ : rows_)
              .push_back(there ? modes[order[lane]].inequalities(r, k) : 0);
        }
      }
    }
    for (std::size_t lane = first; lane < first + kLanes; ++lane)
      mode_.push_back(lane < last ? order[lane] : -1);
  }
}

WalkTask StepTable::task() const {
  WalkTask task;
  task.h = h_ / speed_;
  const double scale = std::max(1.0, task.h);  // of the data x
  task.contacts = scaled_.contacts();
  task.c0 = scaled_.c.data();
  task.G = scaled_.G.data();
  task.mu = scaled_.mu.data();
  task.blocks = static_cast<int>(other_rows_.size());
  task.first_row = first_row_.data();
  task.other_rows = other_rows_.data();
  task.rows = rows_.data();
  task.offset = offset_.data();
  task.mode = mode_.data();
  task.last_lanes = (1u << ((modes() - 1) % kLanes + 1)) - 1;
  task.impulse = impulse_.data();
  task.zeros = zeros_.data();
  task.slack = 1e-9 * scale;
  task.accepted = kAccepted * scale;
  task.same = 1e-8;
  task.zero = 1e-9;
  task.fallback = solve_slowly;
  task.context = &scaled_;
  return task;
}

}  // namespace routh
