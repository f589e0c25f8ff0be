#pragma once

#include <Eigen/Core>
#include <limits>
#include <string_view>
#include <vector>

#include "routh/lcp/lcp.h"

/// Simultaneous frictional impacts in contact space. Follows P1 (Halm, Posa), sections 2.2, 3
/// and 5.
///
///   symbol   here        meaning
///   G        G           Delassus matrix J M† Jᵀ [1/kg]
///   J v      c           contact velocity [m/s], normals first, then tangents (P1 (26))
///   λ, Λ     lambda,     impulse of one step, total impulse [N s], ordered as c
///            impulse
///   μ        mu          Coulomb coefficient of each contact
///   λ_n,max  lambda_max  bound on the normal impulse of one step [N s], P1 (73)
///   e        e           coefficient of restitution of each contact; P1 is inelastic, e = 0
namespace routh {

/// What a coefficient of restitution is the ratio of, after the impact to before.
enum class Restitution {
  kByLaw,    ///< Poisson's for the simultaneous law, Stronge's for the others
  kNewton,   ///< normal velocities, -cn⁺/cn⁻ (kinematic)
  kPoisson,  ///< normal impulses, of restitution to compression (kinetic)
  kStronge,  ///< e²: of the works of the normal impulse (energetic)
};
std::string_view to_string(Restitution restitution);

/// One impact: which impulses change which contact velocities. c⁺ = c + G λ. What is called the
/// step problem, the residual and the LCPs below know nothing of e: laws with restitution are built
/// from them.
struct ImpactProblem {
  Eigen::MatrixXd G;       ///< (1 + tangents) m square, symmetric, positive semi-definite
  Eigen::VectorXd c;       ///< (1 + tangents) m: m normals, then the tangents contact by contact
  Eigen::VectorXd mu;      ///< m, not negative
  int tangents = 1;        ///< tangent directions per contact: 1 in the plane, 2 in space
  int edges = 8;           ///< in space: of the linearised friction cone, P1 (19)-(23); 0: circular
  Eigen::VectorXd e = {};  ///< m, between 0 and 1; empty: all zero
  Restitution restitution = Restitution::kByLaw;  ///< what e means

  int contacts() const { return static_cast<int>(mu.size()); }
  auto normal() const { return c.head(contacts()); }
  /// Index of the first tangent of a contact.
  int tangent(int contact) const { return contacts() + contact * tangents; }
  /// Indices of a contact: its normal, then its tangents.
  std::vector<int> rows(int contact) const {
    std::vector<int> all{contact};
    for (int t = 0; t < tangents; ++t) all.push_back(tangent(contact) + t);
    return all;
  }
  /// Is the friction cone Coulomb's own, in space?
  bool circular() const { return tangents == 2 && edges == 0; }
  /// Coefficient of restitution of a contact, and whether any has one.
  double bounce(int contact) const { return e.size() ? e[contact] : 0; }
  bool bounces() const { return e.size() && e.maxCoeff() > 0; }
  /// What e means to a law of this kind.
  Restitution meaning(Restitution otherwise) const {
    return restitution == Restitution::kByLaw ? otherwise : restitution;
  }
};

/// Edges of a friction cone in space, where a law needs a polygon and none is given.
constexpr int kEdges = 8;

/// D of P1 (19): the directions of friction as unit columns, ±1 in the plane, at equal angles in
/// space beginning with the first tangent. Friction of a contact is μ λn times a mixture of them.
/// Throws std::invalid_argument where the cone is circular: what asks for edges needs some.
Eigen::MatrixXd friction_edges(const ImpactProblem& problem);

/// Throws std::invalid_argument naming the field to change. G of an implicit step need not be
/// symmetric.
void validate(const ImpactProblem& problem, bool symmetric = true);

/// What a contact does at a given contact velocity.
enum class ContactState {
  kApproaching,
  kSeparating,
  kSticking,
  kSlidingPositive,
  kSlidingNegative,
  kSliding,  ///< in space, whatever the direction
};
std::string_view to_string(ContactState state);

/// Velocities below this count as zero [m/s]: 1e-9 of the largest contact velocity before the
/// impact.
double velocity_tolerance(const ImpactProblem& problem);

/// Two outcomes are the same when no contact velocity differs by more than this [m/s].
double same_velocity(const ImpactProblem& problem);

/// States of all contacts at the contact velocity c.
std::vector<ContactState> contact_states(const ImpactProblem& problem, const Eigen::VectorXd& c);

/// Does any contact still approach at c? P1 (28): c belongs to a colliding velocity.
bool colliding(const ImpactProblem& problem, const Eigen::VectorXd& c);

/// An impact in units of its own, so that solvers and their tolerances see numbers of order one
/// whatever the user's units: velocities relative to the largest c, the impulses of a contact as
/// the velocity they give to it. All units are powers of two: nothing is rounded.
///
///   c = speed ĉ,   λ_i = unit_i λ̂_i,   Ĝ_ij = G_ij unit_j / speed
///
/// Ĝ is no longer symmetric where contacts differ in mobility; its diagonal is about one.
struct Normalised {
  explicit Normalised(const ImpactProblem& problem);

  ImpactProblem problem;
  double speed = 1;      ///< [m/s]
  Eigen::VectorXd unit;  ///< [N s], per contact

  /// Impulses (or bounds on normal impulses, one per contact) from and to [N s].
  Eigen::VectorXd impulse_from(const Eigen::VectorXd& impulse) const;
  Eigen::VectorXd impulse_to(const Eigen::VectorXd& normalised) const;
};

/// What a solution violates most, and by how much.
enum class Quantity { kNothing, kNormalImpulse, kNormalVelocity, kFriction, kSlip };
std::string_view to_string(Quantity quantity);
struct Violation {
  double size = 0;  ///< relative to the largest contact velocity before the impact; no unit
  Quantity of = Quantity::kNothing;
  int contact = -1;
};

/// How far the impulse λ is from solving the step problem P1 (72)-(74) at the velocity p.c:
///
///   λn = proj_[0, λmax](λn - cn⁺),   λt = proj_{μ λn conv D}(λt - ct⁺),
///
/// conv D being the unit disk where the cone is circular.
/// Impulses are measured by the velocity they give to their own contact, so that the violation has
/// no unit. An empty lambda_max means no bound, which makes it the violation of the simultaneous
/// law P1 (31). What the rounding of the sum c⁺ = c + Gλ alone can make is not counted, as long as
/// it stays below 1e-6 of the velocities: contacts that nearly jam need impulses so large.
Violation violation(const ImpactProblem& problem, const Eigen::VectorXd& lambda,
                    const Eigen::VectorXd& lambda_max = {});
/// The same for a c⁺ known better than the sum would give it.
Violation violation(const ImpactProblem& problem, const Eigen::VectorXd& lambda,
                    const Eigen::VectorXd& lambda_max, const Eigen::VectorXd& c_plus);
/// Its size.
double residual(const ImpactProblem& problem, const Eigen::VectorXd& lambda,
                const Eigen::VectorXd& lambda_max = {});

/// The step problem as the LCP P1 (75), z = [β; λn; λD; γ], and the simultaneous law P1 (31)-(33)
/// as the LCP without β. λD are the friction impulses along the edges, contact by contact.
lcp::Problem step_lcp(const ImpactProblem& problem, const Eigen::VectorXd& lambda_max);
lcp::Problem simultaneous_lcp(const ImpactProblem& problem);

/// Impulse (normals, tangents) of a solution z of either LCP.
Eigen::VectorXd impulse_from_lcp(const ImpactProblem& problem, const Eigen::VectorXd& z);

/// One way an impact can end.
struct Outcome {
  Eigen::VectorXd impulse;  ///< total impulse [N s], ordered as c
  Eigen::VectorXd c_plus;   ///< contact velocity afterwards [m/s]
  double residual = 0;      ///< measured, relative; the worst step for laws with several steps
};

/// Kinetic energy that an outcome adds, λᵀ(c + c⁺)/2, relative to the works it is the sum of; zero
/// where it adds none, as it must.
double energy_gain(const ImpactProblem& problem, const Outcome& outcome);

/// The outcome of a normalised problem in the user's units.
Outcome denormalised(const Normalised& units, Outcome outcome);

/// What rounding can make of c⁺ = c + Gλ at the most [m/s].
double rounding(const ImpactProblem& problem, const Eigen::VectorXd& impulse);

/// Adds an outcome of the problem unless one with the same velocity, as far as rounding can tell,
/// is known, where the better residual stays; returns its index.
int insert_distinct(const ImpactProblem& problem, std::vector<Outcome>& outcomes,
                    Outcome candidate);

}  // namespace routh
