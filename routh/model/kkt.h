#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace routh {

/// What impulses can do to a mechanism whose joints hold: M† of P4 (8), factored,
///
///   M† = N (Nᵀ M N)⁻¹ Nᵀ,    the columns of N span the motions that A allows,   A N = 0.
///
/// M may be singular (massless limbs) where the rows of A determine what the mass does not, and
/// rows of A may repeat each other. Coordinates are measured by their inertia and rows by their
/// length in that measure before anything is compared with rounding: neither units of mass nor of
/// coordinates decide what depends on what, and limbs much lighter than what they hang on cost no
/// digits.
class Mobility {
 public:
  /// Throws std::invalid_argument naming a velocity that neither mass nor bilateral row determines.
  Mobility(const Eigen::MatrixXd& M, const Eigen::MatrixXd& A);

  int rank() const { return rank_; }  ///< of A

  /// (J N)ᵀ for rows J over the velocities: what of them the joints leave. Entries that are
  /// rounding are zero, so that a row the joints immobilise is exactly zero.
  Eigen::MatrixXd free_part(const Eigen::MatrixXd& J) const;
  /// J M† Jᵀ and M† Jᵀ, of free_part(J).
  Eigen::MatrixXd delassus(const Eigen::MatrixXd& free) const;
  Eigen::MatrixXd response(const Eigen::MatrixXd& free) const;
  Eigen::MatrixXd Mdag() const;

  /// The motion of least energy with A v = b, A†ᵀ b; a column for each of b. Where rows repeat each
  /// other b has to agree with itself.
  Eigen::MatrixXd moving(const Eigen::MatrixXd& b) const;
  /// v̇ under the forces f where A v̇ + bias = 0: M† f - A†ᵀ bias.
  Eigen::VectorXd acceleration(const Eigen::VectorXd& f, const Eigen::VectorXd& bias) const;

 private:
  Eigen::MatrixXd M_, A_;
  Eigen::MatrixXd N_;
  Eigen::VectorXd scale_, row_;  // of the coordinates, v = scale · w, and of the rows of A
  Eigen::VectorXd unit_;         // of the free motions: makes the diagonal of Nᵀ M N about one
  Eigen::LDLT<Eigen::MatrixXd> inertia_;
  int rank_ = 0;
  double rounding_ = 0;  // of J N, relative
};

/// Blocks of the inverse, P4 (8)-(9):
///
///   [M  Aᵀ]⁻¹   [M†  A†ᵀ]
///   [A  0 ]   = [A†  Λ  ]
///
/// With M regular M† = M⁻¹ - M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹; with no rows it is M⁻¹.
struct Kkt {
  Eigen::MatrixXd Mdag;    ///< nv x nv: velocity per unit of generalised impulse, joints respected
  Eigen::MatrixXd Adag;    ///< na x nv
  Eigen::MatrixXd Lambda;  ///< na x na
};

/// Throws std::invalid_argument when the combined matrix is singular, saying whether rows of A
/// depend on each other or which velocities neither mass nor constraint determines.
Kkt kkt(const Eigen::MatrixXd& M, const Eigen::MatrixXd& A);

}  // namespace routh
