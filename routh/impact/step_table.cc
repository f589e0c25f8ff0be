#include "routh/impact/step_table.h"

#include <Eigen/LU>
#include <algorithm>
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

}  // namespace

StepTable::StepTable(const ImpactProblem& problem) : scaled_(problem) {
  validate(problem);
  const int m = problem.contacts();
  if (problem.tangents != 1 || m > kMaxWalkContacts)
    throw std::invalid_argument("StepTable: planar problems of at most five contacts");
  speed_ = std::max(1e-300, problem.c.lpNorm<Eigen::Infinity>());
  scaled_.c /= speed_;

  // every regular mode: its impulse and its inequalities as rows over x
  std::vector<MatrixXd> inequalities;
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
    for (int i = 0; i < 2 * m; ++i) {
      for (int k = 0; k < 3 * m; ++k) impulse_.push_back(impulse(i, k));
    }
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
    inequalities.push_back(unit);
  }

  // eight modes to a block; modes with as many inequalities share one, so that little is padded
  std::vector<int> order(inequalities.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return inequalities[a].rows() < inequalities[b].rows(); });
  for (std::size_t first = 0; first < order.size(); first += kLanes) {
    const std::size_t last = std::min(order.size(), first + kLanes);
    const int rows = static_cast<int>(inequalities[order[last - 1]].rows());
    block_rows_.push_back(rows);
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < 3 * m; ++k) {
        for (std::size_t lane = first; lane < first + kLanes; ++lane) {
          const bool there = lane < last && r < inequalities[order[lane]].rows();
          rows_.push_back(there ? inequalities[order[lane]](r, k) : 0);
        }
      }
    }
    for (std::size_t lane = first; lane < first + kLanes; ++lane)
      mode_.push_back(lane < last ? order[lane] : -1);
  }
  for (int i = 0; i < 2 * m; ++i) {
    for (int k = 0; k < 2 * m; ++k) G_.push_back(problem.G(i, k));
  }
}

WalkTask StepTable::task(double h) const {
  WalkTask task;
  task.h = h / speed_;
  const double scale = std::max(1.0, task.h);  // of the data x
  task.contacts = scaled_.contacts();
  task.c0 = scaled_.c.data();
  task.G = G_.data();
  task.mu = scaled_.mu.data();
  task.blocks = static_cast<int>(block_rows_.size());
  task.block_rows = block_rows_.data();
  task.rows = rows_.data();
  task.mode = mode_.data();
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
