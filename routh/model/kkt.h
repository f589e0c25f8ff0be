#pragma once

#include <Eigen/Core>

namespace routh {

/// Blocks of the inverse, P4 (8)-(9):
///
///   [M  Aᵀ]⁻¹   [M†  A†ᵀ]
///   [A  0 ]   = [A†  Λ  ]
///
/// With M regular M† = M⁻¹ - M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹; with no rows it is M⁻¹. M may be singular
/// (massless limbs) as long as the rows of A determine what the mass does not.
struct Kkt {
  Eigen::MatrixXd Mdag;    ///< nv x nv: velocity per unit of generalised impulse, joints respected
  Eigen::MatrixXd Adag;    ///< na x nv
  Eigen::MatrixXd Lambda;  ///< na x na
};

/// Throws std::invalid_argument when the combined matrix is singular, saying whether rows of A
/// depend on each other or which velocities neither mass nor constraint determines.
Kkt kkt(const Eigen::MatrixXd& M, const Eigen::MatrixXd& A);

}  // namespace routh
