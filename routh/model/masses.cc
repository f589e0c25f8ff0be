#include "routh/model/masses.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

/// dM = JcᵀJc: a column of Jc is how the centre moves at unit velocity of a coordinate.
std::vector<MassSlope> mass_slopes(const PlanarMechanism& mechanism, const VectorXd& q) {
  const auto n = static_cast<Eigen::Index>(mechanism.bodies().size());
  const Eigen::Index nv = mechanism.nv();
  MatrixXd moves(2 * n, nv);
  for (Eigen::Index k = 0; k < nv; ++k) {
    const std::vector<Frame> frames = mechanism.frames(q, VectorXd::Unit(nv, k));
    for (Eigen::Index b = 0; b < n; ++b) {
      const Vector2d r = frames[b].turn(mechanism.bodies()[b].centre);
      moves.block<2, 1>(2 * b, k) = frames[b].velocity + frames[b].omega * Vector2d(-r.y(), r.x());
    }
  }
  std::vector<MassSlope> slopes;
  for (Eigen::Index b = 0; b < n; ++b) {
    const MatrixXd Jc = moves.middleRows(2 * b, 2);
    const Body& body = mechanism.bodies()[b];
    if (body.mass > 0 && !Jc.isZero(0)) slopes.push_back({body.name, Jc.transpose() * Jc});
  }
  return slopes;
}

}  // namespace routh
