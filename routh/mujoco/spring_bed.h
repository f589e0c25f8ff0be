#pragma once

#include <Eigen/Core>
#include <memory>

/// MuJoCo as a peer: P5's hopper and plate as MJCF, with contacts that act as linear springs.
///
/// MuJoCo's contacts are soft constraints whose force depends on solref, solimp and inertia. With
/// the least impedance MuJoCo allows (1e-4) the regularisation dwarfs the contact's inverse
/// inertia, and a contact is a linear spring and damper; solref is scaled until its stiffness and
/// damping are the wanted ones. One sphere per spring against the flat side of a box, frictionless
/// (condim 1): MuJoCo's fastest way to model such a bed. Forces act along the plate's normal, where
/// P5's act along Dh: the models differ by O(θ²).
namespace routh::mujoco {

class SpringBed {
 public:
  struct Setup {
    int springs = 1;
    double stiffness = 100, damping = 0;  ///< of all springs together
    double length = 1, half_width = 1, gravity = 9.81;
    double mass = 1, inertia = 1;
    double step = 0.002;  ///< [s]
    bool rk4 = false;     ///< semi-implicit Euler otherwise
    bool planar = true;   ///< x, z, θ; otherwise z alone (the hopper)
  };
  explicit SpringBed(const Setup& setup);
  ~SpringBed();
  SpringBed(SpringBed&&) noexcept;

  /// From rest at this height and angle.
  void reset(double height, double angle);
  void step();
  double time() const;
  /// x, z, θ of the plate, or z of the hopper.
  Eigen::VectorXd position() const;
  Eigen::VectorXd velocity() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace routh::mujoco
