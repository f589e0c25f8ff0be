#include "routh/impact/region.h"

#include <algorithm>
#include <cmath>

namespace routh {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

bool Region::moves() const {
  return std::any_of(least.begin(), least.end(), [](double x) { return x > 0; });
}

lcp::LinearProgram program(const Region& r, const MatrixXd& pushes, const MatrixXd& reach,
                           const VectorXd& c) {
  const Index zero = static_cast<Index>(r.zero.size()), cuts = static_cast<Index>(r.cuts.size());
  const Index positive = static_cast<Index>(r.positive.size());
  const Index over = zero + positive, unknowns = pushes.cols(), slacks = positive + cuts;
  MatrixXd rows(over, c.size());
  for (Index k = 0; k < zero; ++k) rows.row(k) = r.zero[k];
  for (Index k = 0; k < positive; ++k) rows.row(zero + k) = r.positive[k];
  lcp::LinearProgram lp{.A = MatrixXd::Zero(over + cuts, unknowns + slacks),
                        .b = VectorXd::Zero(over + cuts),
                        .q = {}};
  lp.A.topLeftCorner(over, unknowns) = rows * reach;
  for (Index k = 0; k < cuts; ++k) lp.A.row(over + k).head(unknowns) = r.cuts[k] * pushes;
  lp.A.bottomRightCorner(slacks, slacks).diagonal().setConstant(-1);
  lp.b.head(over) = -rows * c;
  lp.b.segment(zero, positive) += Eigen::Map<const VectorXd>(r.least.data(), positive);
  return lp;
}

lcp::LinearProgram fastest(Region r, const MatrixXd& pushes, const MatrixXd& reach,
                           const VectorXd& c) {
  const std::vector<double> least = r.least;
  r.close();
  lcp::LinearProgram lp = program(r, pushes, reach, c);
  lp.A.conservativeResize(Eigen::NoChange, lp.A.cols() + 1);
  lp.A.rightCols(1).setZero();
  for (std::size_t k = 0; k < least.size(); ++k) {
    if (least[k] > 0) lp.A(static_cast<Index>(r.zero.size() + k), lp.A.cols() - 1) = -1;
  }
  lp.q = VectorXd::Unit(lp.A.cols(), lp.A.cols() - 1);
  return lp;
}

bool some_move(const lcp::LinearSolution& most) {
  return !(most.status == lcp::LinearStatus::kInfeasible ||
           (most.status == lcp::LinearStatus::kOptimal && most.value <= kTouch));
}

VectorXd generic_direction(Index size) {
  VectorXd look(size);
  double angle = 1;
  for (double& x : look) x = std::cos(angle), angle += 2.399963;
  return look;
}

}  // namespace routh
