#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "routh/impact/draws.h"
#include "routh/impact/modes.h"
#include "routh/impact/stepwise.h"

namespace routh {

/// Walks of the set law where contacts bounce: compression and restitution of all contacts
/// interleave at any rates. A contact keeps what it can give back as one more state, with Stronge's
/// meaning of e the work E, with Poisson's the impulse P:
///
///   cn < 0, compression:   dE = -e² cn dλn,   dP = e dλn
///   cn ≥ 0, restitution:   dE = -cn dλn,      dP = -dλn
///
/// It pushes while cn < 0 or something is left, and the impact is over when none does. Energy is
/// lost in compression, (1 - e²) of the work, and by friction: with Stronge's meaning no walk gains
/// any, whatever the order. A contact at rest with nothing left gives way or resists as much as it
/// is pressed, and one that sticks slides off or does not: where several answers fit, as they do on
/// walkers in nearly every step, one is drawn. In the plane all are found, with many contacts and
/// in space the one that a random start leads to. Friction follows Coulomb's law at the current
/// velocity, with circular cones in space, as in single.h. Bounds on the normal impulses are drawn
/// as in P1 Algorithm 1; within a step they are rates, and its path bends where a contact changes
/// phase, sticks, or slides back.
///
/// Without restitution nothing is stored, and a walk is a solution of P1's inclusion (39) to
/// rounding: each straight piece of it lies in one cell of the signs of the contact velocities.
///
/// Newton's meaning has no such state: a contact hit twice has no velocity "before". It is refused.
/// For use by one thread.
class BounceWalk {
 public:
  BounceWalk(const ImpactProblem& problem, const SetOptions& options);
  /// With bounds that are drawn.
  StepwiseSample walk(std::uint64_t index, bool with_path);

  /// Bounds on the normal impulses of a step, which contacts that push reach; false ends the walk.
  using Bounds = std::function<bool(int step, Eigen::VectorXd& bound)>;
  /// With any; they may ask for what follows, which is of the beginning of the step. Of several
  /// answers it takes the one that contacts at rest come to.
  StepwiseSample follow(const Bounds& bounds, bool with_path);
  /// Until contacts have pressed with these normal impulses, in proportion. Where several answers
  /// fit, those of an index above zero are drawn.
  StepwiseSample press(const Eigen::VectorXd& normal, std::uint64_t index);
  const Eigen::VectorXd& velocity() const { return c_; }
  /// Works of compression that are not given back yet, 1/e² of what they will give.
  const Eigen::VectorXd& springs() const { return spring_; }

 private:
  void make_table();
  bool pushes(int contact) const;
  bool slides(int contact) const;
  /// What moves, or could by what is stored [m/s].
  void measure_speed();
  bool over() const;
  /// Impulses per unit of the step, λ̇, and the change of velocity, ċ.
  void find_rates(const Eigen::VectorXd& bound);
  /// The same where contacts that rest or stick leave a choice: all answers, and one is drawn.
  /// False: there is none among regular modes.
  bool draw_rates(const Eigen::VectorXd& bound, const std::vector<char>& sticks);
  /// How much of the step passes before a contact changes what it does.
  double until_event(const Eigen::VectorXd& bound, double left) const;
  void take(double part);

  ImpactProblem problem_;
  SetOptions options_;
  bool energy_;              // Stronge's meaning, else Poisson's
  double zero_, still_;      // velocities that count as none: of outcomes, on the way
  Eigen::VectorXd nothing_;  // what may be left of a store

  // on the way
  Eigen::VectorXd c_, impulse_, store_, spring_;
  Eigen::VectorXd rate_, change_;  // λ̇, ċ
  double speed_ = 0;
  double stops_ = 0;                // part of the step in which slow slips are stopped
  std::optional<ModeTable> table_;  // in the plane
  WalkRandom* random_ = nullptr;    // of the walk, or nothing is drawn
  std::vector<char> decided_;       // does the contact push, or is it open? else it rests
};

/// Impulses where a solution of P1 (39) bends that ends in this outcome of an inelastic impact, the
/// last at its end: contacts press in proportion to what they press in all, and slip and stick on
/// the way as Coulomb's law says. Empty where such a path ends elsewhere.
std::vector<Eigen::VectorXd> path_to(ImpactProblem problem, const Outcome& outcome);

}  // namespace routh
