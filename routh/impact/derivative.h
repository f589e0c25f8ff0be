#pragma once

#include <Eigen/Core>
#include <vector>

#include "routh/impact/problem.h"

/// How an outcome of the simultaneous law, P1 (31), depends on its problem. What its contacts do
/// turns the law into equations,
///
///   open                λ = 0
///   closed              cn⁺ = 0   and
///     sticking          ct⁺ = 0
///     sliding           λt + μ λn ct⁺/|ct⁺| = 0,   of a polygon  λt = μ λn d_e
///     turning           (d_e - d_e+1)·ct⁺ = 0,     λt on the side of the polygon between the two
///
/// which hold in a neighbourhood of the problem as long as no inequality of the mode is at its
/// border. There the outcome is a smooth function, and the derivative of these equations, one
/// linear system, is its derivative, with no step and no differences. Where redundant contacts
/// share their impulses in many ways, one that is at no border will do.
namespace routh {

/// How an outcome changes with its problem.
struct OutcomeChange {
  Eigen::VectorXd impulse, c_plus;
  /// What of the mode's equations no impulse can fulfil along this change, relative: above rounding
  /// the change breaks a mode of redundant contacts, and there is no derivative along it.
  double broken = 0;
};

class OutcomeDerivative {
 public:
  /// Throws std::invalid_argument where the impulse is no outcome of the law, or where contacts
  /// bounce: the law has two phases then. G need not be symmetric: a step's is not.
  OutcomeDerivative(const ImpactProblem& problem, const Outcome& outcome);

  /// Contacts at the border of two modes: the outcome has a kink there, and what is given is the
  /// derivative on one side of it.
  const std::vector<int>& corners() const { return corners_; }
  /// Do the equations determine c⁺? Impulses need not be unique: redundant contacts share them.
  bool determined() const { return determined_; }
  bool smooth() const { return corners_.empty() && determined_; }

  /// Along a change of the problem: of c, of G and of μ; empty: none. Where impulses are not unique
  /// theirs is the smallest change.
  OutcomeChange operator()(const Eigen::VectorXd& dc, const Eigen::MatrixXd& dG = {},
                           const Eigen::VectorXd& dmu = {}) const;

 private:
  void read(const ImpactProblem& p, const Eigen::VectorXd& impulse);
  void add_contact(const ImpactProblem& p, int contact, const Eigen::VectorXd& impulse,
                   const Eigen::VectorXd& c_plus);
  void add_friction(const ImpactProblem& p, int contact, const Eigen::VectorXd& impulse,
                    const Eigen::VectorXd& c_plus);

  Eigen::MatrixXd G_;
  Eigen::VectorXd impulse_;                 // [N s]
  double speed_;                            // units of normalised problems
  Eigen::VectorXd unit_;                    // of each impulse
  Eigen::MatrixXd by_impulse_, by_c_plus_;  // derivatives of the equations, normalised
  Eigen::MatrixXd by_mu_;
  Eigen::MatrixXd system_, inverse_;  // where it is singular the pseudo-inverse
  std::vector<int> corners_;
  bool determined_ = true;
};

}  // namespace routh
