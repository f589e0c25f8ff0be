#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "routh/impact/grip.h"
#include "routh/impact/interior_point.h"
#include "routh/lcp/profile_lu.h"
#include "routh/lcp/split.h"

namespace routh {

/// Where the solver begins with a contact: what it did last.
struct StepGuess {
  Grip mode = Grip::kOpen;
  /// In space, of a contact that slides: the direction of its friction, and how fast it slides per
  /// impulse of friction [1/kg].
  Eigen::Vector2d friction = Eigen::Vector2d::Zero();
  double give = 0;
  Eigen::Vector3d impulse = Eigen::Vector3d::Zero();  ///< normal, then tangents

  StepGuess() = default;
  StepGuess(Grip m) : mode(m) {}  // NOLINT: in the plane the mode says it all
};

/// One solution of the mixed complementarity problem of a time step, P3 (4.4c)-(4.4f), in the space
/// of its constraint rows J = [A; Jn; Jt]:
///
///   c⁺ = c + J W Jᵀ x,   W = M̃⁻¹,
///   bilateral  c⁺ = 0,     normal  0 ≤ xn ⊥ cn⁺ ≥ 0,     tangent  xt ∈ -μ xn Unit(ct⁺)
///
/// for contacts with no tangent, one or two, their normal impulses bounded as in P1 (73) or not:
/// the step problem of all laws and methods. Solved by its active set: guess what every contact
/// does, solve the linear equations of that guess, correct the contacts whose inequalities fail,
/// repeat. The guess comes from the last step, so that a step without events costs one linear
/// system; groups of velocities that the inertia does not couple keep that system narrow
/// (ProfileLu). Redundant rows (a box on two corners) are met with a small diagonal and iterative
/// refinement, which selects the impulses nearest to those of the guess.
///
/// All is done in coordinates in which the inertia is the identity (lcp::Split): M̃ = R S, w = S u,
/// and G = (J S⁻¹)(R⁻¹ Jᵀ). The system is eliminated by rows, or by velocities where these are
/// fewer (step_solver_systems.cc); G is made only where it is needed.
///
/// In space the direction of a slip is unknown too. Newton's method on the natural map
/// xt = proj_{μ xn C}(z), z = xt - ct⁺/g, makes it linear once more: with u = z/|z| and w across
/// it,
///
///   xt = μ xn u + y w,     w·ct⁺ + d y = 0,     d = g (1 - κ)/κ,   κ = μ xn/|z|     (C a disk)
///
/// so that what slides sticks across its slip, with a diagonal d that the speed gives. Where C is a
/// polygon (`set_edges`), z is nearest to a corner, u, without y, or to a side, along w, with d =
/// 0.
///
/// When the active set cycles, or where many contacts come without a guess, an interior point
/// method comes close and the active set finishes (InteriorPoint). For few contacts the proximal
/// point method follows, a sequence of problems with a larger diagonal; then Gauss-Seidel sweeps
/// give a better guess; last Lemke's algorithm decides. The residual is measured at the end,
/// whatever found the answer.
class StepSolver {
 public:
  /// First velocity of each uncoupled group, as System::groups().
  StepSolver(std::vector<int> groups, int nv);
  /// Of the friction cones of contacts with two tangents; 0: circular.
  void set_edges(int edges);

  /// 1. W = M̃⁻¹. Throws std::invalid_argument naming the velocity without inertia.
  void set_inertia(const Eigen::MatrixXd& inertia);
  /// Or W itself: the G of contact space, where every row is a velocity.
  void set_inverse(const Eigen::MatrixXd& inverse);
  /// out = W f.
  void apply_inverse(const Eigen::VectorXd& f, Eigen::VectorXd& out) const;

  /// 2. Rows, at the velocity they have when no impulse acts. `guess` starts the active set.
  void clear();
  using RowRef = Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>;
  void add_bilateral(const RowRef& row, double c);
  struct ContactRows {
    const Eigen::RowVectorXd& Jn;
    const Eigen::MatrixXd& Jt;  // a row for every tangent
    double mu;
    /// Velocities [first, second) beside which the rows are zero, ascending; none given: all count.
    std::span<const std::pair<int, int>> spans = {};
  };
  /// At the velocity v; the contact may close by `distance` [m/s] before it presses.
  void add_contact(const ContactRows& rows, const Eigen::VectorXd& v, const StepGuess& guess,
                   double distance = 0);
  /// The largest normal impulse of a contact, P1 (73). None unless said.
  void bound_impulse(int contact, double most) { contacts_[contact].most = most; }
  /// Without friction.
  void add_normal(const RowRef& row, double c, Grip guess);

  /// Or the rows of the last solve once more, contacts alone, at other velocities (normal, then
  /// tangents), beginning with these impulses and the modes that they show: a contact without
  /// impulse is open, one with friction at the border of its cone slides.
  void restart(const std::vector<Eigen::Vector3d>& velocities,
               const std::vector<Eigen::Vector3d>& impulses);

  /// 3. False when no answer with a residual below the tolerance was found; the best one is kept.
  bool solve(double tolerance = 1e-9);

  int contacts() const { return static_cast<int>(contacts_.size()); }
  Grip mode(int contact) const { return contacts_[contact].mode; }
  /// For the next step.
  StepGuess guess(int contact) const;
  double normal_impulse(int contact) const { return x_[contacts_[contact].n]; }
  double normal_velocity(int contact) const { return c_plus_[contacts_[contact].n]; }
  /// Impulse and velocity along a tangent; zero without friction.
  double tangential_impulse(int contact, int tangent = 0) const {
    const StepContact& c = contacts_[contact];
    return tangent < c.tangents ? x_[c.n + 1 + tangent] : 0;
  }
  double tangential_velocity(int contact, int tangent = 0) const {
    const StepContact& c = contacts_[contact];
    return tangent < c.tangents ? c_plus_[c.n + 1 + tangent] : 0;
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
  const Eigen::VectorXd& velocity_change() const { return change_; }

  /// The smallest motion W Jᵀ y that changes the rows of bilateral constraints by `joint` and those
  /// of contacts that press by `contact` while sticking contacts stay in place. False when the last
  /// active set cannot.
  bool correction(const Eigen::VectorXd& joint, const std::vector<double>& contact,
                  Eigen::VectorXd& motion);

 private:
  static constexpr double kSign = 1e-10;  // a velocity below this times the largest is zero
  static constexpr int kCrowd = 64;       // contacts that only InteriorPoint brings together

  struct Entry {
    int group;
    int j, y;  // where J S⁻¹ and R⁻¹ Jᵀ begin in values_; the same where M̃ is symmetric
    int from, size;  // coordinates that they know
    int skip, seen;  // of these J S⁻¹ alone
  };
  struct Row {
    Entry entries[4];
    int count = 0;
    int last = -1;   // highest group
    double own = 0;  // entry of G
  };
  struct StepContact {
    int n;             // its row; those of its tangents follow
    int tangents = 0;  // with friction
    double mu = 0;
    Grip mode;
    Eigen::Vector2d u = Eigen::Vector2d::Zero(),
                    w = Eigen::Vector2d::Zero();  // of a slip: friction is μ xn u + y w
    double give = 0;                              // d
    bool across = false;                          // is there a y?
    double g = 1;                                 // velocity per impulse of the tangents, at least
    bool pulled = false;                          // when it stuck
    double most = std::numeric_limits<double>::infinity();
    bool saturated = false;  // the normal impulse is `most`
  };
  struct Side {
    Eigen::Vector2d out, along;
  };
  /// An impulse of the linear equations: along some rows, so that a velocity vanishes.
  struct Unknown {
    int count = 0;  // of rows
    int rows[3];
    double push[3];   // impulse of each row
    int weighed = 1;  // rows that make the velocity
    double eq[2] = {1, 0};
    double give = 0;  // velocity per impulse beside G
  };

  using Spans = std::span<const std::pair<int, int>>;
  int add_row(const RowRef& row, double c, Spans spans = {});
  void add_entry(const double* row, Eigen::Index apart, int group, Row& r);
  void add_normal(const RowRef& row, double c, Grip guess, Spans spans);
  void order_rows();
  void make_G();
  void add_unknowns(const StepContact& contact, int row);
  bool factor_modes();
  bool factor_rows();
  bool velocities_pay();
  bool by_velocities() const { return elimination_ >= Elimination::kVelocities; }
  bool factor_velocities();
  void gather_parts();
  void add_part(const Unknown& unknown, const Entry& like);
  void solve_velocities(std::vector<double>& y);
  double diagonal_of(const Unknown& unknown) const;
  void solve_factored(std::vector<double>& x);
  bool solve_modes();
  bool search(double tolerance);
  bool active_set(int most, double enough = kSign);
  int correct_modes(bool all);
  void close(StepContact& contact) const;
  bool bound_fails(const StepContact& contact) const;
  bool correct_slip(StepContact& contact, bool may_change);
  /// Makes z the direction of a slip; false where it lies inside the cone.
  bool slide_along(StepContact& contact, const Eigen::Vector2d& z, double slack) const;
  const Side& side_towards(const Eigen::Vector2d& z) const;
  Eigen::Vector2d into_cone(const StepContact& contact, const Eigen::Vector2d& z) const;
  Eigen::Vector2d pull(const StepContact& contact) const;  // z
  void sweep(int sweeps);
  void approach(double tolerance);
  bool interior(double tolerance, const InteriorPoint::Path& path);
  bool interior_serves() const;
  bool in_space() const;
  void lemke_search();
  void read_modes();
  void show_modes();
  void measure();
  void apply_rows();
  double row_times(int row, const Eigen::VectorXd& v) const;
  void add_push(int row, double x, Eigen::VectorXd& v) const;
  double own(int row) const { return rows_[row].own; }
  double coupling(int row, int other) const;  // entry of G
  void to_motion(Eigen::VectorXd& w) const;
  /// Can impulses move the contact along its normal? If not, none presses it.
  bool moves(const StepContact& contact) const { return own(contact.n) > 0; }
  int size_of(int group) const { return starts_[group + 1] - starts_[group]; }

  std::vector<int> starts_;    // of the groups, then nv
  std::vector<int> group_of_;  // of each velocity
  int nv_;
  struct Inertia {
    lcp::Split split;
    bool pivoted = false;  // not positive, or W is given: R = M̃ and S = 1
    Eigen::MatrixXd inverse;
    bool symmetric() const { return !pivoted && split.symmetric(); }
  };
  std::vector<Inertia> inertia_;             // of each group
  bool symmetric_ = true, pivoted_ = false;  // all of them, any of them
  Eigen::VectorXd u_, change_, column_;      // u_ in the coordinates w

  std::vector<Row> rows_;
  int bilateral_ = 0;
  std::vector<StepContact> contacts_;
  std::vector<double> values_;
  std::size_t values_of_rows_ = 0;  // mixed parts of unknowns follow
  std::vector<double> c_, c_plus_, start_, x_, best_;
  double scale_ = 0, residual_ = 0;
  int systems_ = 0;

  std::vector<int> order_, rank_, owner_;  // elimination order of the rows, contact of a row
  std::vector<std::vector<std::pair<int, const Entry*>>> touching_;  // of each group: rank, entry
  std::vector<int> first_;                                           // profile of G by rank
  std::vector<double> G_;                                            // by rank, row-major
  std::vector<Unknown> unknown_;
  std::vector<int> position_;  // first unknown at or after each rank
  lcp::ProfileLu lu_;
  Eigen::PartialPivLU<Eigen::MatrixXd> dense_;  // where a profile cannot be kept
  enum class Elimination { kRows, kRowsPivoted, kVelocities, kVelocitiesPivoted };
  Elimination elimination_ = Elimination::kRows;
  std::vector<Entry> parts_;  // of the unknowns
  std::vector<int> part_of_, first_group_;
  std::vector<double> push_of_;
  double cost_by_rows_ = 0, cost_of_G_ = 0;
  bool may_pivot_ = false;  // small impulses are looked for first: they need no pivots
  std::vector<double> rhs_, y_;
  bool restarted_ = false;  // from impulses that are not those of the last step
  bool factored_ = false;
  bool ordered_ = false, assembled_ = false;  // is there an order, is there a G?

  int edges_ = 0;
  std::vector<Side> sides_;      // of the polygon, whose corners are unit vectors
  double inner_ = 1, half_ = 0;  // distance of a side, and half its length
  double proximal_ = 0;          // diagonal of the proximal point method, relative
  std::vector<double> base_;     // and the impulses it begins with
};

}  // namespace routh
