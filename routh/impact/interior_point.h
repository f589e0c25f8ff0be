#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "routh/lcp/block_lu.h"

namespace routh {

/// Hundreds of contacts from nothing: an interior point method on the circular friction law,
///
///   u = c + J w,   w = Y λ,   K ∋ λ ⊥ u + μ |u_t| e_n ∈ K*,   K = {|λ_t| ≤ μ λ_n}
///
/// which is Coulomb's law in the form of De Saxce. In the coordinates (μ λ_n, λ_t) and
/// y = (u_n/μ + |u_t|, u_t) both cones are that of Lorentz; each step solves the linearised law in
/// the scaling of Nesterov and Todd, a predictor first. Departures from the textbook:
///
/// - |u_t| is no constant: its derivative is a part of the equations, which are therefore not
///   symmetric, and it is rounded where u_t is small against the distance of y from its cone.
/// - Redundant contacts, and bodies that clamp each other, have impulses without end, so that there
///   is no central path. A proximal term r (λ - λ̄) gives one; λ̄ follows λ.
/// - All is measured by the velocity that an impulse gives to its own contact: units and masses do
///   not count.
///
/// The equations couple bodies (lcp::BlockLu). Memory is kept between uses.
class InteriorPoint {
 public:
  /// What a row has in a group of velocities: `size` entries of J and Y from velocity `from` on.
  struct Part {
    int group, from, size;
    const double *j, *y;
  };
  struct Row {
    Part parts[4];
    int count = 0;
    double c = 0, own = 0;  ///< velocity without impulses, entry of G
  };
  /// A contact: its normal, then up to two tangents; or a joint, whose one row keeps u = 0.
  struct Constraint {
    int first = 0, tangents = 0;
    double mu = 0;
    bool joint = false;
  };
  /// How the solution is approached.
  struct Path {
    double proximal = 1e-6;  ///< r at first, relative to G
    double shrink = 0.01;    ///< from one λ̄ to the next
    double follow = 1;       ///< part of the derivative of |u_t| that is taken into account
  };

  /// Groups begin at these velocities; then their number.
  std::vector<int> starts;
  std::vector<Row> rows;
  std::vector<Constraint> constraints;

  void begin(double scale, const Path& path);
  /// One step from impulses whose residual is this; false when it cannot go on.
  bool step(double residual);
  /// Impulses, row by row.
  void impulses(std::vector<double>& x) const;

 private:
  /// λ and y of a contact, and what a step knows of it.
  struct Cone {
    Eigen::Vector3d l = {0, 0, 0}, y = {0, 0, 0}, centre = {0, 0, 0};
    Eigen::Vector3d u, miss, bent, target, v, dl, dy, du;
    Eigen::Matrix3d basis, give, slope;  // of W; (W⁻² + r)⁻¹; ∂y/∂u
    Eigen::Vector3d stretch;             // W in its basis
    double g = 1, r = 0, rounded = 0;

    Eigen::Vector3d scaled(const Eigen::Vector3d& x) const;    // W x
    Eigen::Vector3d unscaled(const Eigen::Vector3d& x) const;  // W⁻¹ x
    double slip(const Eigen::Vector2d& ut) const;
  };

  /// What the rows of a constraint have in one group of velocities, in the coordinates of its cone:
  /// J, row by row, then Y.
  struct Packed {
    int group, from, size, at;  // at: in packed_
  };
  void pack(const Constraint& constraint);
  std::span<const Packed> parts_of(std::size_t constraint) const {
    return {parts_.data() + first_part_[constraint], parts_.data() + first_part_[constraint + 1]};
  }

  void look();
  void move_centre(double residual);
  void prepare(Cone& cone, double mu) const;
  bool factor();
  void add_block(std::size_t constraint, const Eigen::Matrix3d& middle);
  void direction();
  double longest() const;
  double gap(double length) const;
  /// J w of a constraint, in the coordinates of its cone.
  Eigen::Vector3d rates(std::size_t constraint, const Eigen::VectorXd& w) const;
  /// w += Y λ of one.
  void push(std::size_t constraint, const Eigen::Vector3d& l, Eigen::VectorXd& w) const;

  std::vector<Packed> parts_;
  std::vector<std::size_t> first_part_;
  std::vector<double> packed_, across_;
  std::vector<Cone> cones_;
  Eigen::VectorXd w_, dw_, drift_, right_;
  lcp::BlockLu lu_;
  Path path_;
  double scale_ = 1, gap_ = 1, miss_ = 1, proximal_ = 0, aim_ = 1, last_ = 1;
  int here_ = 0, centres_ = 0;
};

}  // namespace routh
