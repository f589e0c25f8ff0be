#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "routh/model/masses.h"
#include "routh/simulate/motion_derivative.h"
#include "routh/simulate/stepper.h"

/// How steps of time-stepping depend on the state before them, on friction and on masses. With what
/// its contacts do a step is a system of smooth equations, P3 (4.4) with w = v^α,
///
///   M̃ (w - v) = α h k̃ + Aᵀ a + Jᵀ x,    A w = 0,    c⁺ = J w + Φ/h,
///
/// x and c⁺ of the law of contact, whose derivative is that of routh/impact/derivative.h. Along any
/// change d of what stands in them
///
///   dw = M† r + T s + M†Jᵀ dx,    r = M̃ dv - dM̃ (w - v) + α d(h k̃) + dAᵀ a + dJᵀ x,   s = -dA w,
///   [M̃ -Aᵀ; A 0]⁻¹ = [M† T; ..].
///
/// Then joints and pressing contacts are closed, by the motion M̃⁻¹Pᵀ y that leaves their gaps at
/// zero; P are the directions of their impulses. Along the state the d's are central differences of
/// the system's terms, along a mass they are exact.
namespace routh::stepping {

class Tangent {
 public:
  Tangent(const System& system, const Masses& masses);

  /// A step is solved; its joints and contacts are not closed yet.
  void solved(const Stepper& stepper);
  /// They are, and it is about to become the state, after a time dt.
  void follow(const Stepper& stepper, double dt);
  /// From here on there is no derivative.
  void lost(const std::string& why, double time);

  /// Of all steps so far.
  MotionDerivative result() const;

 private:
  struct Manifold;
  struct Equations;
  struct Step;
  void not_smooth(const std::string& why, double time);
  /// Of the friction of a contact, the same for all contacts between two shapes.
  Eigen::Index friction_column(const Contact& contact);

  const System& system_;
  const Masses& masses_;
  MotionDerivative so_far_;
  bool lost_ = false;
  Eigen::VectorXd q_solved_, v_solved_;
  std::vector<double> gaps_solved_;
};

}  // namespace routh::stepping
