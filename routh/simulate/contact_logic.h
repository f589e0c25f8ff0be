#pragma once

#include <array>
#include <map>
#include <vector>

#include "routh/simulate/mode_kernel.h"

/// Which contact mode follows: the complementarity problems of P4, solved by trying every mode J
/// within the scope.
///
///   FA  (38)  k ∈ J ⇔ U_k(λ_{J ∪ k}) ⪰ 0                  nothing collides: forces decide
///   IV  (50)  k ∈ J ⇔ U_k(P̂_{J ∪ k}) ≥ 0                  an impact: impulses decide
///   PIV (58)  the same, with U_k(P̂ + P̃) ≥ 0 sufficing too; P̃ is what forces do in δt
///
/// U is λn of a normal constraint and μ λn - |λt| of a tangential one. ⪰ and ≺ are the trending
/// relation of definition 1: where a value vanishes its derivatives along the flow decide.
///
/// Two kinds of friction:
/// - P4 A12, for limbs without mass: a contact that leaves the cone slides without friction and
///   never sticks again; at an impact a contact is taken or left as a whole.
/// - Coulomb, for bodies with mass: sliding contacts push against their motion with μ λn and stick
///   when they come to rest and the cone holds them (70). An open contact has to separate, which
///   is the same as (38) and (50) where there is no friction (theorems 1 and 2).
namespace routh {

enum class FrictionModel {
  kAuto,     ///< P4's on limbs, Coulomb's elsewhere
  kCoulomb,  ///< Coulomb's everywhere
  kPaper,    ///< P4's everywhere
};

/// Consistent modes that differ in their motion; exactly one is expected. None: friction jams, the
/// constraints of all that could be depend on each other (A2), or there are too many to try.
struct [[nodiscard]] ModeChoice {
  std::vector<Mode> modes;
  std::vector<ModeKernel::Response> solutions;  ///< v̇ and forces, or v⁺ and impulses
};

class ContactLogic {
 public:
  ContactLogic(ModeKernel& kernel, FrictionModel friction, double trend_step)
      : kernel_(kernel), friction_(friction), trend_step_(trend_step) {}

  /// Is the state outside the outlet set (78), so that the mode goes on (82)? Contacts persist
  /// until a force of theirs trends negative (A4), even where other modes would be consistent too.
  bool persists(const Mode& mode, const std::vector<int>& scope);
  /// The same but for what forces say: open contacts separate, sliding ones slide as they should.
  bool moves_as(const Mode& mode, const std::vector<int>& scope);
  /// Modes the forces allow at the kernel's state, among the contacts in scope; the others are
  /// open. `mode` is the one before.
  ModeChoice force_acceleration(const Mode& mode, const std::vector<int>& scope);
  /// The mode without the constraints whose force trends negative in it: what A4 asks for where
  /// several modes are consistent.
  Mode least_change(const Mode& mode, const std::vector<int>& scope);
  /// Modes an impact at the kernel's state leads to.
  ModeChoice impulse_velocity(const Mode& mode, const std::vector<int>& scope, double dt_pseudo);

  bool paper_friction(int contact) const;
  /// Contact velocities below this are zero [m/s].
  double still(int contact) const;
  long problems() const { return problems_; }

 private:
  enum class Level { kForce, kImpulse };
  enum class Measure { kNormal, kConePositive, kConeNegative, kSeparation, kSlip };
  struct Candidate {
    ModeKernel::Layout layout;
    bool solved = false;
    ModeKernel::Response plain, pseudo;  ///< pseudo: P̂ + P̃
  };

  std::vector<std::vector<Grip>> options(const Mode& mode, const std::vector<int>& scope,
                                         Level level) const;
  ModeChoice enumerate(const Mode& mode, const std::vector<int>& scope, Level level);
  const Candidate& candidate(const Mode& mode);
  const Candidate& with(Mode mode, int contact, Grip grip);
  bool consistent(const Mode& mode, int contact, const std::vector<Grip>& options);
  bool closed_holds(const Candidate& c, int contact);
  bool cone_holds(const Candidate& c, int contact);
  bool open_holds(const Candidate& c, int contact, const std::vector<Grip>& options);
  double measure(const ModeKernel::Response& s, Measure what, int contact, double& zero) const;
  int sign(const Candidate& c, Measure what, int contact, bool pseudo = false);
  int trend(const Candidate& c, Measure what, int contact);
  bool sample(const Candidate& c, Measure what, int contact, const State& from, double step,
              std::array<double, 5>& h, double& scale);

  ModeKernel& kernel_;
  FrictionModel friction_;
  double trend_step_;
  Level level_ = Level::kForce;
  double dt_pseudo_ = 0;
  std::map<Mode, Candidate> candidates_;
  long problems_ = 0, trends_ = 0;
};

}  // namespace routh
