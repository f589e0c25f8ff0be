#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <cstdint>
#include <vector>

#include "routh/model/system.h"
#include "routh/simulate/profile_lu.h"

namespace routh {

/// What a contact does in one time step.
enum class StepMode : std::uint8_t { kOpen, kStick, kSlidePositive, kSlideNegative };

/// The mixed complementarity problem of one time step, P3 (4.4c)-(4.4f), in the space of its
/// constraint rows J = [A; Jn; Jt]:
///
///   c⁺ = c + J W Jᵀ x,   W = M̃⁻¹,
///   bilateral  c⁺ = 0,     normal  0 ≤ xn ⊥ cn⁺ ≥ 0,     tangent  xt ∈ -μ xn Unit(ct⁺).
///
/// Solved by its active set: guess what every contact does, solve the linear equations of that
/// guess, correct the contacts whose inequalities fail, repeat. The guess comes from the last step,
/// so that a step without events costs one linear system; groups of velocities that the inertia
/// does not couple keep that system narrow (ProfileLu). Redundant rows (a box on two corners) are
/// met with a diagonal of 1e-9 and iterative refinement, which selects small impulses. When the
/// active set cycles, Gauss-Seidel sweeps give a better guess, and last Lemke's algorithm decides.
/// The residual is measured at the end, whatever found the answer.
class StepSolver {
 public:
  /// First velocity of each uncoupled group, as System::groups().
  StepSolver(std::vector<int> groups, int nv);

  /// 1. W = M̃⁻¹. Throws std::invalid_argument naming the velocity without inertia.
  void set_inertia(const Eigen::MatrixXd& inertia);
  /// out = W f.
  void apply_inverse(const Eigen::VectorXd& f, Eigen::VectorXd& out) const;

  /// 2. Rows, at the velocity they have when no impulse acts. `guess` starts the active set.
  void clear();
  using RowRef = Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>;
  void add_bilateral(const RowRef& row, double c);
  void add_contact(const Contact& contact, double cn, double ct, StepMode guess);

  /// 3. False when no answer with a residual below the tolerance was found; the best one is kept.
  bool solve(double tolerance = 1e-9);

  int contacts() const { return static_cast<int>(contacts_.size()); }
  StepMode mode(int contact) const { return contacts_[contact].mode; }
  double normal_impulse(int contact) const { return x_[contacts_[contact].n]; }
  double tangential_impulse(int contact) const {
    return contacts_[contact].t < 0 ? 0 : x_[contacts_[contact].t];
  }
  double normal_velocity(int contact) const { return c_plus_[contacts_[contact].n]; }
  double tangential_velocity(int contact) const {
    return contacts_[contact].t < 0 ? 0 : c_plus_[contacts_[contact].t];
  }
  /// Normal velocity per normal impulse of a contact that slides in the direction of `slip`;
  /// friction presses it on when that is not positive.
  double sliding_inertia(int contact, double slip) const;
  /// Normal velocity without the impulses of the contact itself.
  double free_normal_velocity(int contact) const;
  double scale() const { return scale_; }  ///< the largest velocity of a row before the impulses
  double residual() const { return residual_; }
  int systems() const { return systems_; }  ///< linear systems the last solve() took
  /// W Jᵀ x of the solution.
  const Eigen::VectorXd& velocity_change() const { return u_; }

  /// The smallest motion W Jᵀ y that changes the rows of bilateral constraints by `joint` and those
  /// of contacts that press by `contact` while sticking contacts stay in place. False when the last
  /// active set cannot.
  bool correction(const Eigen::VectorXd& joint, const std::vector<double>& contact,
                  Eigen::VectorXd& motion);

 private:
  struct Entry {
    int group, offset;  // of J_ and Y_
  };
  struct Row {
    Entry entries[4];
    int count = 0;
    int last = -1;  // highest group
  };
  struct StepContact {
    int n, t;  // rows; t is -1 without friction
    double mu;
    StepMode mode;
  };

  int add_row(const RowRef& row, double c);
  void assemble();
  bool factor_modes();
  bool solve_modes();
  bool active_set(int most);
  int correct_modes(bool all);
  void sweep(int sweeps);
  void lemke_search();
  void read_modes();
  void measure();
  void apply_rows();
  int size_of(int group) const { return starts_[group + 1] - starts_[group]; }

  std::vector<int> starts_;  // of the groups, then nv
  int nv_;
  std::vector<Eigen::MatrixXd> inverse_;  // of each group
  std::vector<Eigen::PartialPivLU<Eigen::MatrixXd>> decomposed_;
  Eigen::VectorXd u_;

  std::vector<Row> rows_;
  int bilateral_ = 0;
  std::vector<StepContact> contacts_;
  std::vector<double> J_, Y_;
  std::vector<double> c_, c_plus_, x_, best_;
  double scale_ = 0, residual_ = 0;
  int systems_ = 0;

  std::vector<int> order_, rank_, owner_;  // elimination order of the rows, contact of a row
  std::vector<std::vector<std::pair<int, int>>> touching_;  // of each group: row and entry
  std::vector<int> first_;                                  // profile of G by rank
  std::vector<double> G_;                                   // by rank, row-major
  std::vector<int> unknown_;                                // row of each unknown
  std::vector<double> slope_;  // tangential per normal impulse of each unknown
  std::vector<int> position_;  // first unknown at or after each rank
  ProfileLu lu_;
  std::vector<double> rhs_;
  bool factored_ = false;
};

}  // namespace routh
