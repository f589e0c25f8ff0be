#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// What every mechanism tells the laws and integrators: its equations of motion at a state,
///
///   M(q) v̇ = forces(t, q, v) + Aᵀ λ_joints + Jnᵀ λn + Jtᵀ λt,     A v = 0,     P1 (10), P4 (12).
namespace routh {

struct Contact {
  std::string name;
  double phi = 0;         ///< gap [m], positive apart
  Eigen::RowVectorXd Jn;  ///< 1 x nv, Jn v < 0 approaches
  Eigen::MatrixXd Jt;     ///< tangents (1 or 2) x nv
  double mu = 0;          ///< Coulomb coefficient
  double e = 0;           ///< coefficient of restitution
  double bias_n = 0;      ///< d/dt(Jn) v [m/s²]: normal acceleration at v̇ = 0
  double bias_t = 0;      ///< d/dt(Jt) v [m/s²], of planar contacts
  /// Where, in world coordinates [m], and the direction from the second body to the first; for
  /// drawings.
  Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::UnitY();
  /// Velocities [first, second) beside which Jn and Jt are zero, in ascending order; where none is
  /// given, any may move the contact.
  std::vector<std::pair<int, int>> spans = {};
  int pair = -1;  ///< contacts between the same two shapes share this number; -1: not known
  /// Where contacts vary: what stays the same from one configuration to the next, as far as that
  /// can be told.
  std::int64_t id = -1;
};

struct Terms {
  Eigen::MatrixXd M;       ///< nv x nv, may be singular when limbs are massless
  Eigen::VectorXd forces;  ///< nv: gravity, Coriolis and centrifugal terms, springs, user forces
  /// Whose zeros M, Kq and Kv have: a note of the system that filled them for its next time.
  std::uint64_t zeros_of = 0;
  Eigen::MatrixXd Kq, Kv;  ///< ∂forces/∂q, ∂forces/∂v, nv x nv: exact or approximate; empty: zero
  Eigen::MatrixXd A;  ///< bilateral rows, na x nv
  /// na: how far each bilateral constraint is from closed [m]; zero of a row that is no derivative
  /// of a gap (a knife edge, a rolling wheel).
  Eigen::VectorXd joint_gap;
  Eigen::VectorXd joint_bias;  ///< na: d/dt(A) v [m/s²]
  /// All that can happen, touching or not, always in one order; of a system whose contacts vary
  /// those near enough, as they were found.
  std::vector<Contact> contacts;
};

/// What an evaluation need not do, and what it must do besides.
struct Wanted {
  /// Where contacts do not vary: those whose entry is zero may be left as they are.
  const std::vector<char>* contacts = nullptr;
  /// Kv with the terms of inertia (centrifugal, Coriolis, gyroscopic): a second-order step needs
  /// it whole. Without it a system may leave out what is dear.
  bool whole_Kv = false;
  bool joint_bias = true;  ///< otherwise it may be left out
  /// Which contacts are closed, of methods that know modes: for forces that depend on contact (P4
  /// 4.6). Without it those are closed whose gap is at most kClosedGap.
  const std::vector<char>* closed = nullptr;
  /// Where contacts vary: limits of joints far beyond what these velocities reach within such a
  /// time [s] may be left out.
  double horizon = HUGE_VAL;
};
constexpr double kClosedGap = 1e-6;  ///< [m]

/// What the coordinates of a motion do not exceed for a while.
struct MotionBounds {
  double time = 0;                ///< how long [s]
  Eigen::VectorXd q, rate, bend;  ///< |q|, |q̇|, |q̈|
};

/// Functions that are const may be called by many threads at once: an ensemble does. What they
/// write besides their arguments must be the thread's own, and must not change later answers.
class System {
 public:
  virtual ~System() = default;
  virtual int nq() const = 0;
  virtual int nv() const = 0;

  /// Fills `terms` at time t, reusing its memory: integrators call it in every step. Throws
  /// std::invalid_argument when q or v has the wrong size.
  virtual void evaluate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Terms& terms,
                        const Wanted& wanted = {}) const = 0;
  Terms terms(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t = 0) const {
    Terms filled;
    evaluate(t, q, v, filled);
    return filled;
  }

  /// Only the gaps of the contacts and of the bilateral constraints at q [m], in the order of
  /// evaluate(); into `id`, where contacts vary and it is given, Contact::id of each.
  virtual void gaps(const Eigen::VectorXd& q, Eigen::VectorXd& contact, Eigen::VectorXd& joint,
                    std::vector<std::int64_t>* id = nullptr) const;

  /// How gaps bend while a motion stays within `bounds`: of each contact a number [m/s²] with
  ///
  ///   φ(t + τ) ≥ φ(t) + φ̇(t) τ - bend τ²/2,
  ///
  /// from corner to edge as well, so that no gap can close and open again unseen. `gap`: those at
  /// the beginning. Infinite where it is not known, as it is of all contacts unless a system says.
  virtual void gap_bends(const MotionBounds& bounds, const Eigen::VectorXd& gap,
                         Eigen::VectorXd& bend) const;

  /// Of gravity and springs [J]; kinetic plus potential energy is what simulations report.
  virtual double potential_energy(const Eigen::VectorXd& /*q*/) const { return 0; }

  /// First velocity of each group of velocities that M, Kq and Kv do not couple with any other:
  /// free bodies, arms on a common base. {0}: one group.
  virtual std::vector<int> groups() const { return {0}; }

  /// Moves q by the velocity v for a time dt: q + dt v, unless coordinates such as quaternions live
  /// on a manifold and nq() differs from nv().
  virtual void integrate(Eigen::VectorXd& q, const Eigen::VectorXd& v, double dt) const;

  /// A copy in which every input that has a set of values, P1's U(x̄), keeps one: `where`, between 0
  /// and 1, says of the i-th how far it is from the one bound to the other. None where no input
  /// has a set.
  virtual std::unique_ptr<System> with_inputs(
      const std::function<double(std::size_t i)>& /*where*/) const {
    return {};
  }

  /// Can a contact have a coefficient of restitution above zero?
  virtual bool bounces() const { return false; }

  /// Are contacts found anew at every configuration, so that their number changes?
  virtual bool contacts_vary() const { return false; }

  /// Names of the coordinates in the order of q; "q0", "q1", .. when a system has none.
  virtual std::vector<std::string> coordinate_names() const;
  /// Names of the velocities in the order of v; those of the coordinates unless nq() and nv()
  /// differ.
  virtual std::vector<std::string> velocity_names() const;
};

}  // namespace routh
