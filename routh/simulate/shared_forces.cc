#include "routh/simulate/shared_forces.h"

#include <cmath>
#include <vector>

#include "routh/lcp/linear_program.h"
#include "routh/model/saddle.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

double spare_force(const Terms& terms, const VectorXd& acceleration, const Mode& mode,
                   const Mode& beside, double& scale) {
  const Eigen::Index nv = terms.M.rows();
  std::vector<RowVectorXd> edges;  // of the cones of the mode, then of those beside
  std::size_t own = 0;
  for (const Mode* modes : {&mode, &beside}) {
    for (std::size_t k = 0; k < modes->size(); ++k) {
      const Contact& c = terms.contacts[k];
      switch ((*modes)[k]) {
        case Grip::kOpen:
          break;
        case Grip::kSlide:
          edges.push_back(c.Jn);
          break;
        case Grip::kStick:
          edges.push_back(c.Jn + c.mu * c.Jt.row(0));
          if (c.mu > 0) edges.push_back(c.Jn - c.mu * c.Jt.row(0));
          break;
        case Grip::kSlidePositive:
          edges.push_back(c.Jn - c.mu * c.Jt.row(0));
          break;
        case Grip::kSlideNegative:
          edges.push_back(c.Jn + c.mu * c.Jt.row(0));
          break;
      }
    }
    if (modes == &mode) own = edges.size();
  }

  // in units in which inertia and forces are of order one
  Measures measures;
  measures.take(terms.M.diagonal(), terms.A);
  VectorXd wanted = measures.coordinate.cwiseProduct(terms.M * acceleration - terms.forces);
  const double size =
      std::max(measures.coordinate.cwiseProduct(terms.forces).lpNorm<Eigen::Infinity>(),
               wanted.lpNorm<Eigen::Infinity>());
  scale = size;
  if (!(size > 0)) return 0;
  wanted /= size;
  const auto joints = terms.A.rows(), count = static_cast<Eigen::Index>(edges.size());
  lcp::LinearProgram program;
  program.A.setZero(nv + 1, count + 2 * joints + 3);
  program.b.resize(nv + 1);
  program.b << wanted, 1;
  const Eigen::Index up = count + 2 * joints, down = up + 1;
  VectorXd all = VectorXd::Zero(nv);
  for (Eigen::Index e = 0; e < count; ++e) {
    VectorXd column = measures.coordinate.cwiseProduct(edges[e].transpose());
    const double length = column.norm();
    if (length > 0) column /= length;
    program.A.col(e).head(nv) = column;
    if (e < static_cast<Eigen::Index>(own)) all += column;
  }
  for (Eigen::Index r = 0; r < joints; ++r) {
    const VectorXd column =
        measures.row[r] * measures.coordinate.cwiseProduct(terms.A.row(r).transpose());
    program.A.col(count + 2 * r).head(nv) = column;
    program.A.col(count + 2 * r + 1).head(nv) = -column;
  }
  program.A.col(up).head(nv) = all;
  program.A.col(down).head(nv) = -all;
  program.A(nv, up) = program.A(nv, up + 2) = 1;  // s is at most one
  program.q = VectorXd::Zero(program.A.cols());
  program.q[up] = 1, program.q[down] = -1;
  const lcp::LinearSolution found = lcp::solve(program);
  return found.status == lcp::LinearStatus::kOptimal ? size * found.value : NAN;
}

}  // namespace routh
