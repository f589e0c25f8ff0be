#include "routh/lcp/lcp.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "routh/lcp/square_system.h"

namespace routh::lcp {

void validate(const Problem& problem) {
  const auto& [W, w] = problem;
  if (W.rows() != W.cols()) {
    throw std::invalid_argument("lcp: W is " + std::to_string(W.rows()) + " x " +
                                std::to_string(W.cols()) + "; it must be square");
  }
  if (W.rows() != w.size()) {
    throw std::invalid_argument("lcp: w has " + std::to_string(w.size()) + " entries but W has " +
                                std::to_string(W.rows()) + " rows");
  }
  // infinite or not a number: zero times it is not zero
  if (!((W.array() * 0).sum() == 0))
    throw std::invalid_argument("lcp: W has an entry that is not finite");
  if (!w.allFinite()) throw std::invalid_argument("lcp: w has an entry that is not finite");
}

Scaled::Scaled(const Problem& given) : problem(given) {
  Equilibrium e = equilibrium(given.W);
  row = std::move(e.row);
  column = std::move(e.column);
  problem.W = row.asDiagonal() * given.W * column.asDiagonal();
  problem.w = row.cwiseProduct(given.w);
  size = power_of_two(problem.w.size() ? problem.w.lpNorm<Eigen::Infinity>() : 0);
  problem.w /= size;
}

double residual(const Problem& problem, const Eigen::VectorXd& z) {
  if (problem.size() == 0) return 0;
  const Equilibrium e = equilibrium(problem.W);
  const double worst = z.cwiseQuotient(e.column)
                           .cwiseMin(e.row.cwiseProduct(problem.W * z + problem.w))
                           .lpNorm<Eigen::Infinity>();
  if (!std::isfinite(worst) || !z.allFinite()) return std::numeric_limits<double>::infinity();
  const double scale = e.row.cwiseProduct(problem.w).lpNorm<Eigen::Infinity>();
  return scale > 0 ? worst / scale : worst;
}

std::string_view to_string(Status status) {
  switch (status) {
    case Status::kSolved:
      return "solved";
    case Status::kRay:
      return "ended on a ray";
    case Status::kPivotLimit:
      return "pivot limit reached";
    case Status::kInaccurate:
      return "inaccurate";
  }
  return "unknown";
}

}  // namespace routh::lcp
