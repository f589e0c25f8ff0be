#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

/// Boxes on a floor, one above the other, and the codes that step them. Every code gets the same
/// boxes and the same start, and shows where they are in the same coordinates.
namespace routh::bench {

struct Box {
  double width = 0, height = 0;  ///< [m]
  double mass = 0;               ///< [kg]
  double inertia = 0;            ///< about the centre [kg m²]
};

struct Stack {
  std::vector<Box> boxes;  ///< from the floor upwards, none wider than the one below
  double mu = 0;           ///< Coulomb coefficient of all contacts
  double gravity = 0;      ///< [m/s²], downwards
  Eigen::VectorXd q, v;    ///< start: x, y, angle (counter-clockwise) of each centre
};

class StackCode {
 public:
  virtual ~StackCode() = default;
  virtual std::string name() const = 0;
  virtual void run(int steps) = 0;
  virtual Eigen::VectorXd q() const = 0;
  virtual Eigen::VectorXd v() const = 0;
  /// That hold the boxes in the last step, as this code counts them.
  virtual int contacts() const = 0;
  /// Deepest gap [m] as this code sees it, positive when it penetrates.
  virtual double penetration() const = 0;
  /// Steps so far whose problem the code itself calls not solved.
  virtual long unsolved() const = 0;
};

}  // namespace routh::bench
