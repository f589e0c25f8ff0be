#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

/// What every mechanism tells the laws and integrators: its equations of motion at a state,
///
///   M(q) v̇ = forces(q, v) + Aᵀ λ_joints + Jnᵀ λn + Jtᵀ λt,     A v = 0,     P1 (10), P4 (12).
namespace routh {

struct Contact {
  std::string name;
  double phi = 0;         ///< gap [m], positive apart
  Eigen::RowVectorXd Jn;  ///< 1 x nv, Jn v < 0 approaches
  Eigen::MatrixXd Jt;     ///< tangents (1 or 2) x nv
  double mu = 0;          ///< Coulomb coefficient
  Eigen::Vector2d point =
      Eigen::Vector2d::Zero();  ///< where, in world coordinates [m]; for drawings
  Eigen::Vector2d normal = Eigen::Vector2d::UnitY();  ///< from the second body to the first
};

struct Terms {
  Eigen::MatrixXd M;          ///< nv x nv, may be singular when limbs are massless
  Eigen::VectorXd forces;     ///< nv: gravity, Coriolis and centrifugal terms
  Eigen::MatrixXd A;          ///< bilateral rows, na x nv
  Eigen::VectorXd joint_gap;  ///< na: how far each bilateral constraint is from closed [m]
  std::vector<Contact> contacts;
};

class System {
 public:
  virtual ~System() = default;
  virtual int nq() const = 0;
  virtual int nv() const = 0;
  virtual Terms terms(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const = 0;
};

}  // namespace routh
