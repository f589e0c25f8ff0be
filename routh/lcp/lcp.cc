#include "routh/lcp/lcp.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

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

double residual(const Problem& problem, const Eigen::VectorXd& z) {
  if (problem.size() == 0) return 0;
  const double worst = z.cwiseMin(problem.W * z + problem.w).cwiseAbs().maxCoeff();
  if (!std::isfinite(worst) || !z.allFinite()) return std::numeric_limits<double>::infinity();
  const double scale = problem.w.cwiseAbs().maxCoeff();
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
