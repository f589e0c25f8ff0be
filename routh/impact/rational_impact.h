#pragma once

#include <gmpxx.h>

#include <functional>
#include <optional>
#include <vector>

#include "routh/impact/problem.h"

/// An impact in rational numbers: what exact sets are computed with and witnesses are confirmed by.
namespace routh {

using Rational = mpq_class;
using RationalVector = std::vector<Rational>;
using RationalMatrix = std::vector<RationalVector>;

Rational dot(const RationalVector& a, const RationalVector& b);
Rational power_of_two(int exponent);
/// x of A x = b, by Bareiss' elimination; nothing where A is singular, or `stop` says
/// that there is no time for it.
std::optional<RationalVector> solve_exactly(const RationalMatrix& A, const RationalVector& b,
                                            const std::function<bool()>& stop = {});

/// States y are the velocities of independent rows of J, so that the others, c = T y, depend on
/// them exactly. Velocities are counted in units of their own, powers of two for the normal and the
/// tangents of each contact that bring the diagonal of G and the fastest contact near one: signs
/// and directions stay what they are, and neither kilograms nor metres decide what is small.
///
///   c_i = 2^unit_i (T y)_i,   λ_i = 2^(2 speed - unit_i) λ'_i
struct RationalImpact {
  /// Numbers become the simplest rationals within `precision`, relative; within less where bodies
  /// of very different mass demand it.
  explicit RationalImpact(const ImpactProblem& problem, double precision = 1e-12);

  int contacts, tangents, edges;
  int dimension = 0;  ///< of y
  bool decided =
      true;  ///< false: mobilities differ so much that rounding decides what moves together
  std::vector<int> unit;  ///< per velocity
  int speed = 0;          ///< exponent of the unit of the fastest contact
  RationalMatrix T;       ///< c = T y
  RationalMatrix G;       ///< of the independent rows
  RationalMatrix D;       ///< [edge][tangent]: directions of friction, opposite ones exactly so
  RationalVector mu;      ///< between units of tangential and normal impulses
  RationalVector start;   ///< y before the impact
  /// Energy only falls, and so |c_i| ≤ √(G_ii c⁻ᵀ G⁺ c⁻): how far any velocity can get, in its
  /// unit.
  Eigen::VectorXd reach;
  std::vector<bool> frictionless;
  /// [contact][edge]: how y changes by a unit of normal impulse with friction along an edge. A
  /// contact without friction has the same on every edge.
  std::vector<RationalMatrix> direction;
  RationalMatrix normal;  ///< [contact]: the same without friction

  /// (d_e+1 - d_e) ct of a contact as a form over y: where edge e brakes more than the next it is
  /// not negative.
  RationalVector side(int contact, int edge) const;
  int tangent(int contact) const { return contacts + contact * tangents; }
  /// Contact velocity in m/s.
  Eigen::VectorXd velocity(const RationalVector& y) const;
};

}  // namespace routh
