#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "routh/model/limb.h"
#include "routh/model/saddle.h"
#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

/// What a mechanism does in a contact mode: one linear system for forces and for impulses. Follows
/// P4 (8), (12)-(13) and (23)-(25) with the signs of this library (contacts push with λn ≥ 0):
///
///   [M  -Bᵀ] [x]   [r ]      forces    x = v̇,  r = forces,           b = Ȧ v      (12), (13)
///   [A   0 ] [λ] = [-b]      impulses  x = v⁺, r = M v⁻ + forces δt,  b = 0        (23), (25),
///   (57)
///
/// A holds the joints, the normals of closed contacts and the tangents of sticking ones; B is A,
/// but a contact that slides against friction pushes along Jn ∓ μ Jt. M may be singular.
///
/// - Redundant tangents are dropped (P4 footnote 21). The friction that a dropped one could give
///   counts for the one it is parallel to.
/// - Limbs in the air leave the system: their rows become v̇ = law or v⁺ = v⁻ (A6). A limb that an
///   impact tears from what it touches moves as if a speck of mass sat at its contact: the joints
///   carry it along, and it separates where its contact would have pulled (theorem 2). A limb in
///   the air that touches gives way: without mass it cannot push, so its law is followed only as
///   far as it does not lead into what it touches (P4 4.6 warns of the endless switching
///   otherwise).
namespace routh {

class ModeKernel {
 public:
  /// Which rows a mode has at a state.
  struct Layout {
    struct Dropped {
      int contact, kept;  ///< kept: the contact of the parallel tangent, -1 when there is none
      double ratio;       ///< length of the dropped row over that of the kept one
    };
    Mode mode;
    std::vector<int> normals, tangents;  ///< contacts
    std::vector<Dropped> dropped;
    struct Skim {
      int limb, contact;
      bool operator==(const Skim&) const = default;
    };
    std::vector<int> in_air;      ///< limbs
    std::vector<Skim> skims;      ///< limbs in the air that give way to what they touch
    int dependent = -1, on = -1;  ///< a normal that depends on others, foremost on that of `on`
    bool regular() const { return dependent < 0; }
  };

  /// Motion and contact forces or impulses.
  struct Response {
    Eigen::VectorXd x;                   ///< v̇ or v⁺
    Eigen::VectorXd normal, tangential;  ///< of all contacts, zero where there is no row
    Eigen::VectorXd grip;                ///< of all contacts: what friction can hold, μ λn
    Eigen::VectorXd joint;               ///< multipliers of the joints
    double scale = 0;                    ///< the largest force or impulse around
  };

  ModeKernel(const System& system, std::vector<Limb> limbs);

  /// Tells the system which contacts are closed from now on: its forces may depend on it (P4 4.6).
  void tell(const Mode& mode);
  /// Terms at a state; all that follows is there.
  void evaluate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  double t() const { return t_; }
  const Eigen::VectorXd& q() const { return q_; }
  const Eigen::VectorXd& v() const { return v_; }
  const Terms& terms() const { return terms_; }
  double normal_velocity(int contact) const { return terms_.contacts[contact].Jn.dot(v_); }
  double tangential_velocity(int contact) const {
    return terms_.contacts[contact].Jt.row(0).dot(v_);
  }

  Layout layout(const Mode& mode) const;
  /// False when the system is singular.
  bool forces(const Layout& layout, Response& solution);
  bool impulses(const Layout& layout, double dt_pseudo, Response& solution);

  /// What rounding may leave of x along a row where forces cancel each other.
  double rounding(const Response& solution, const Eigen::RowVectorXd& row) const;

  /// Normal acceleration per normal force of a sliding contact while the other constraints of the
  /// layout hold. Not positive: friction presses it on harder than the force pushes it out
  /// (Painlevé), and where it slides with a force it could as well lift off or jam.
  double sliding_inertia(const Layout& layout, int contact);

  /// ẋ of the state x = [q; v].
  bool flow(const Layout& layout, double t, const Eigen::VectorXd& x, Eigen::VectorXd& dxdt);
  /// The force solution of the last flow().
  const Response& last() const { return last_; }

  /// Gives first-order limbs in the air the velocity of their law; the kernel is at the state then.
  void move_limbs(const Layout& layout, double t, const Eigen::VectorXd& q, Eigen::VectorXd& v);
  /// Stops limbs in the air that would move into what they touch; the kernel is at the state then.
  void give_way(const Layout& layout, double t, const Eigen::VectorXd& q, Eigen::VectorXd& v);
  /// Which limbs in the air of the layout touch and would move into it by their law.
  std::vector<Layout::Skim> skims(const Layout& layout) const;
  /// The nearest q with closed joints and closed normals of the layout, the nearest v with A v = 0.
  void project(const Layout& layout, double t, Eigen::VectorXd& q, Eigen::VectorXd& v);

  /// Throws std::invalid_argument: which constraints depend on each other (A2), or which limb
  /// neither mass nor constraint determines (A5).
  [[noreturn]] void explain_singular(const Layout& layout) const;

  const System& system() const { return system_; }
  const std::vector<Limb>& limbs() const { return limbs_; }
  /// Does the contact move with a limb, that is, with a coordinate without mass?
  bool on_limb(int contact) const;

 private:
  static constexpr double kOnGround = 1e-9;  // gaps of limbs that were on the ground until now [m]

  void refresh();
  void fill(const Layout& layout);
  bool solve(const Layout& layout, Response& solution);
  Eigen::VectorXd scales() const;
  bool limb_moves(const Limb& limb, int contact) const;
  void follow_laws(const Layout& layout);

  const System& system_;
  std::vector<Limb> limbs_;
  int contacts_ = -1;         // their number, once known
  std::vector<char> closed_;  // of each contact, once told
  double t_ = 0;
  Eigen::VectorXd q_, v_;
  Terms terms_;
  Response last_;

  Eigen::VectorXd push_;  // r
  SaddleSystem saddle_;
};

/// "{l, r}"; sliding contacts with friction as "l:slip".
std::string to_string(const Mode& mode, const std::vector<Contact>& contacts);
/// "goes on {l:slip}", "lifts off {}", "impact without collision {l}": how, and the mode after.
std::string to_string(const Continuation& continuation, const Mode& before,
                      const std::vector<Contact>& contacts);
/// The names in it.
std::vector<std::string> mode_names(const Mode& mode, const std::vector<Contact>& contacts);

}  // namespace routh
