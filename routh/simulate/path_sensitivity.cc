#include "routh/simulate/path_sensitivity.h"

#include <cmath>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// One column: where the end goes, v⁺ by its impulse and what `moved` of it does not come from
/// there.
void put(PathSensitivity::Moves& moves, Eigen::Index column, const PathChange& change,
         const MatrixXd& W, const VectorXd& moved) {
  if (change.smooth) {
    moves.c_plus.col(column) = change.c_plus;
    moves.velocity.col(column) = moved + W * change.impulse;
    moves.impulse.col(column) = change.impulse;
  } else {
    moves.c_plus.col(column).setConstant(NAN);
    moves.velocity.col(column).setConstant(NAN);
    moves.impulse.col(column).setConstant(NAN);
  }
}

}  // namespace

PathSensitivity sensitivity(const ReducedImpact& reduced, const PathDerivative& path,
                            const VectorXd& impulse, const std::vector<MassSlope>& masses) {
  const Eigen::Index nv = reduced.W.rows(), n = reduced.problem.c.size(),
                     m = reduced.problem.contacts(),
                     bodies = static_cast<Eigen::Index>(masses.size());
  const auto sized = [&](Eigen::Index columns) {
    return PathSensitivity::Moves{MatrixXd(n, columns), MatrixXd(nv, columns),
                                  MatrixXd(n, columns)};
  };
  PathSensitivity s{sized(nv), sized(m), sized(bodies), {}, path.mixed()};
  for (Eigen::Index j = 0; j < nv; ++j)
    put(s.v, j, path(reduced.J.col(j)), reduced.W, VectorXd::Unit(nv, j));
  for (Eigen::Index i = 0; i < m; ++i)
    put(s.friction, i, path({}, {}, VectorXd::Unit(m, i)), reduced.W, VectorXd::Zero(nv));
  for (Eigen::Index b = 0; b < bodies; ++b) {
    const MassSlope& slope = masses[static_cast<std::size_t>(b)];
    const MatrixXd heavier = slope.dM * reduced.W;
    put(s.mass, b, path({}, -reduced.W.transpose() * heavier), reduced.W,
        -reduced.Mdag * (heavier * impulse));
    s.bodies.push_back(slope.body);
  }
  return s;
}

}  // namespace routh
