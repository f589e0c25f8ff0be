#pragma once

#include <ppl.hh>
#include <vector>

#include "routh/impact/rational_impact.h"

/// An impact as a linear hybrid automaton in rational arithmetic: the half of exact.cc that knows
/// mechanics. The signs of linear forms of the contact velocities make cells; in each the flow has
/// constant directions, P1 (39). The forms are the normal velocities and, for each contact, those
/// that decide which edge of D brakes its slip most: ct in the plane, (d_e+1 - d_e) ct in space.
namespace routh {

namespace ppl = Parma_Polyhedra_Library;

/// Loading the PPL turns the processor's rounding mode upwards, for its floating-point domains that
/// are not used here; every other number in the program needs rounding to nearest.
namespace {
const struct RoundToNearest {
  RoundToNearest() { ppl::restore_pre_PPL_rounding(); }
} round_to_nearest;
}  // namespace

/// With strict faces: a state on the boundary of a cell is not in it.
using Polyhedron = ppl::NNC_Polyhedron;

/// Signs of the forms, those of the normal velocities first: -1, 0, 1; kAny where the sign does not
/// matter (no friction).
using Cell = std::vector<signed char>;
inline constexpr signed char kAny = 2;

/// States y are the velocities of independent rows of J, so that the others, c = T y, depend on
/// them exactly. Inside, velocities are counted in units of their own, powers of two for the normal
/// and the tangents of each contact that bring the diagonal of G and the fastest contact near one:
/// cells and flows stay what they are, and neither kilograms nor metres decide what is small.
class Automaton {
 public:
  /// Numbers become the simplest rationals within `precision`, relative; within less where bodies
  /// of very different mass demand it. Can be abandoned as the operations of the library beneath.
  Automaton(const ImpactProblem& problem, double precision);

  /// False where mobilities differ so much that rounding decides which contacts move together.
  bool decided() const { return p_.decided; }

  Cell start_cell() const;
  Polyhedron start() const;
  /// P1 Assumption 2, exactly: no convex combination of the edges of the friction cone moves
  /// nothing.
  bool pointed() const;
  /// Some contact approaches.
  bool colliding(const Cell& cell) const;
  /// Do the signs not contradict each other? Several forms of one contact may.
  bool possible(const Cell& cell) const;
  /// What contact i does in a cell with these velocities at the corners of a piece.
  ContactState state(const Cell& cell, int i, const std::vector<Eigen::VectorXd>& corners) const;

  /// The constraints of a cell, of one form having a sign, of a contact not approaching.
  ppl::Constraint_System region(const Cell& cell) const;
  ppl::Constraint side(int i, int sign) const;
  ppl::Constraint not_approaching(int contact) const { return rows_[contact] >= 0; }
  /// How far any contact velocity can get, by its energy.
  ppl::Constraint_System energy_bounds() const;

  /// The cone of the directions in a cell, with the origin.
  Polyhedron flow(const Cell& cell) const;
  /// A cell in which all contacts push in every way: its flow is the whole friction cone.
  Cell anywhere() const { return Cell(rows_.size(), 0); }
  /// Can the flow of a cell make the form i move towards a sign?
  bool can_move(const Cell& cell, int i, int sign) const;
  /// May a polyhedron have points where the form i does not have this sign, by its generators?
  bool leaves(const Polyhedron& p, int i, int sign) const;
  /// Can the flow of `to` carry a state of the lower cell `from` into `to`? Some combination of its
  /// directions must give every sign that is new and keep every form that stays zero.
  bool can_enter(const Cell& from, const Cell& to) const;

  /// Contact velocity of a point of a polyhedron.
  Eigen::VectorXd velocity(const ppl::Generator& point) const;

 private:
  /// A direction of the flow with the rates it gives to all forms.
  struct Direction {
    ppl::Linear_Expression ray;
    RationalVector rates;
  };
  std::vector<const Direction*> directions(const Cell& cell) const;
  /// The rate of a form under a combination of directions, times a positive number.
  static ppl::Linear_Expression rate(const std::vector<const Direction*>& list, int i);
  /// Place of the first form of a contact's slip.
  int slip_forms(int contact) const { return m_ + contact * lines_; }
  /// The sign of (d_e+1 - d_e) ct in a cell.
  int side_sign(const Cell& cell, int contact, int edge) const;

  RationalImpact p_;
  int m_, tangents_, edges_, lines_;            // lines_: forms of a contact's slip
  std::vector<ppl::Linear_Expression> rows_;    // the forms, times a positive number
  std::vector<ppl::Linear_Expression> c_rows_;  // c_i times c_scale_[i]
  std::vector<mpz_class> c_scale_;
  RationalMatrix forms_;                            // over y
  std::vector<std::vector<Direction>> directions_;  // of each contact, one an edge
};

}  // namespace routh
