#include "referee/automaton.h"

#include <algorithm>
#include <cmath>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A vector of rationals over one common denominator.
struct Scaled {
  std::vector<mpz_class> numerators;
  mpz_class denominator = 1;
};
Scaled scaled(const RationalVector& x) {
  Scaled s;
  for (const Rational& value : x) {
    mpz_lcm(s.denominator.get_mpz_t(), s.denominator.get_mpz_t(), value.get_den_mpz_t());
  }
  for (const Rational& value : x)
    s.numerators.push_back(value.get_num() * (s.denominator / value.get_den()));
  return s;
}

ppl::Linear_Expression expression(const std::vector<mpz_class>& coefficients) {
  ppl::Linear_Expression e;
  for (std::size_t k = 0; k < coefficients.size(); ++k) e += coefficients[k] * ppl::Variable(k);
  return e;
}

}  // namespace

Automaton::Automaton(const ImpactProblem& problem, double precision)
    : p_(problem, precision), m_(p_.contacts), tangents_(p_.tangents), edges_(p_.edges) {
  lines_ = edges_ % 2 == 0 ? edges_ / 2 : edges_;  // opposite sides share a line
  for (const RationalVector& row : p_.T) {
    const Scaled whole = scaled(row);
    c_rows_.push_back(expression(whole.numerators));
    c_scale_.push_back(whole.denominator);
  }
  // the forms: cn, then (d_e+1 - d_e) ct
  for (int i = 0; i < m_; ++i) forms_.push_back(p_.T[i]);
  for (int i = 0; i < m_; ++i) {
    for (int e = 0; e < lines_; ++e) forms_.push_back(p_.side(i, e));
  }
  for (const RationalVector& form : forms_) rows_.push_back(expression(scaled(form).numerators));
  for (int i = 0; i < m_; ++i) {
    directions_.emplace_back();
    for (const RationalVector& d : p_.direction[i]) {
      ppl::maybe_abandon();
      Direction direction{expression(scaled(d).numerators), {}};
      for (const RationalVector& form : forms_) direction.rates.push_back(dot(form, d));
      directions_[i].push_back(std::move(direction));
    }
  }
}

Cell Automaton::start_cell() const {
  Cell cell(forms_.size());
  for (std::size_t f = 0; f < forms_.size(); ++f) {
    const int contact = (static_cast<int>(f) - m_) / lines_;
    const bool any = static_cast<int>(f) >= m_ && p_.frictionless[contact];
    cell[f] = any ? kAny : static_cast<signed char>(sgn(dot(forms_[f], p_.start)));
  }
  return cell;
}

int Automaton::side_sign(const Cell& cell, int contact, int edge) const {
  const bool opposite = edge >= lines_;
  const int sign = cell[slip_forms(contact) + edge % lines_];
  return opposite ? -sign : sign;
}

bool Automaton::possible(const Cell& cell) const {
  if (tangents_ == 1) return true;
  for (int i = 0; i < m_; ++i) {
    if (p_.frictionless[i]) continue;
    // around the circle the sides are positive on one half: rest, or two changes of sign with at
    // most one zero each
    int zeros = 0, changes = 0;
    for (int e = 0; e < edges_; ++e) {
      const int sign = side_sign(cell, i, e), next = side_sign(cell, i, (e + 1) % edges_);
      zeros += sign == 0;
      changes += sign > 0 && next <= 0;
    }
    const bool rests = zeros == edges_;
    if (!rests && (changes != 1 || zeros > (edges_ % 2 == 0 ? 2 : 1))) return false;
  }
  return true;
}

ContactState Automaton::state(const Cell& cell, int i, const std::vector<VectorXd>& corners) const {
  if (cell[i] > 0) return ContactState::kSeparating;
  const auto first = cell.begin() + slip_forms(i);
  if (tangents_ > 1) {
    const bool rests = p_.frictionless[i]
                           ? std::all_of(corners.begin(), corners.end(),
                                         [&](const VectorXd& c) {
                                           return !c.segment(m_ + tangents_ * i, tangents_).any();
                                         })
                           : std::all_of(first, first + lines_, [](int s) { return s == 0; });
    return rests ? ContactState::kSticking : ContactState::kSliding;
  }
  int slip = -*first;  // the form is (d_1 - d_0) ct = -2 ct
  if (p_.frictionless[i]) {
    // the sign of the tangential velocity in the middle of the piece
    double middle = 0;
    for (const VectorXd& c : corners) middle += c[m_ + i];
    slip = middle > 0 ? 1 : middle < 0 ? -1 : 0;
  }
  return slip > 0   ? ContactState::kSlidingPositive
         : slip < 0 ? ContactState::kSlidingNegative
                    : ContactState::kSticking;
}

Polyhedron Automaton::start() const {
  const Scaled y = scaled(p_.start);
  Polyhedron p(p_.dimension, ppl::EMPTY);
  p.add_generator(ppl::point(expression(y.numerators), y.denominator));
  return p;
}

bool Automaton::pointed() const {
  const auto list = directions(anywhere());
  ppl::MIP_Problem program(list.size());
  ppl::Linear_Expression sum;
  for (std::size_t g = 0; g < list.size(); ++g) {
    program.add_constraint(ppl::Variable(g) >= 0);
    sum += ppl::Variable(g);
  }
  program.add_constraint(sum == 1);
  for (std::size_t f = 0; f < forms_.size(); ++f)
    program.add_constraint(rate(list, static_cast<int>(f)) == 0);
  return !program.is_satisfiable();
}

bool Automaton::colliding(const Cell& cell) const {
  return std::any_of(cell.begin(), cell.begin() + m_, [](signed char s) { return s < 0; });
}

ppl::Constraint_System Automaton::region(const Cell& cell) const {
  ppl::Constraint_System system;
  for (std::size_t f = 0; f < cell.size(); ++f) {
    if (cell[f] != kAny) system.insert(side(static_cast<int>(f), cell[f]));
  }
  return system;
}
ppl::Constraint Automaton::side(int i, int sign) const {
  return sign < 0 ? rows_[i] < 0 : sign > 0 ? rows_[i] > 0 : rows_[i] == 0;
}

Polyhedron Automaton::flow(const Cell& cell) const {
  ppl::Generator_System system;
  system.insert(ppl::point(0 * ppl::Variable(p_.dimension - 1)));
  for (const Direction* d : directions(cell)) {
    if (!d->ray.all_homogeneous_terms_are_zero()) system.insert(ppl::ray(d->ray));
  }
  return Polyhedron(system);
}

bool Automaton::can_move(const Cell& cell, int i, int sign) const {
  const auto list = directions(cell);
  return std::any_of(list.begin(), list.end(),
                     [&](const Direction* d) { return sgn(d->rates[i]) == sign; });
}

bool Automaton::leaves(const Polyhedron& p, int i, int sign) const {
  const ppl::Generator_System& all = p.generators();
  return std::any_of(all.begin(), all.end(), [&](const ppl::Generator& g) {
    mpz_class along = 0;
    for (int k = 0; k < p_.dimension; ++k)
      along += rows_[i].coefficient(ppl::Variable(k)) * g.coefficient(ppl::Variable(k));
    const int side = sgn(along);
    // a ray may run along a face, a point may not lie in it
    return side != sign && !(g.is_ray() && side == 0) && !(g.is_line() && side == 0);
  });
}

bool Automaton::can_enter(const Cell& from, const Cell& to) const {
  const auto list = directions(to);
  ppl::MIP_Problem program(list.size());
  for (std::size_t g = 0; g < list.size(); ++g) program.add_constraint(ppl::Variable(g) >= 0);
  for (std::size_t f = 0; f < from.size(); ++f) {
    if (from[f] != 0) continue;
    const ppl::Linear_Expression change = rate(list, static_cast<int>(f));
    if (to[f] == 0) program.add_constraint(change == 0);
    if (to[f] > 0) program.add_constraint(change >= 1);
    if (to[f] < 0) program.add_constraint(change <= -1);
  }
  return program.is_satisfiable();
}

VectorXd Automaton::velocity(const ppl::Generator& point) const {
  RationalVector y;
  for (int k = 0; k < p_.dimension; ++k) {
    y.emplace_back(point.coefficient(ppl::Variable(k)), point.divisor());
    y.back().canonicalize();
  }
  return p_.velocity(y);
}

ppl::Constraint_System Automaton::energy_bounds() const {
  ppl::Constraint_System system;
  for (std::size_t i = 0; i < c_rows_.size(); ++i) {
    const mpz_class limit = mpz_class(std::ceil(p_.reach[i] * 0x1p20) + 1) * c_scale_[i];
    const ppl::Linear_Expression c = (mpz_class(1) << 20) * c_rows_[i];
    system.insert(c <= limit);
    system.insert(c >= -limit);
  }
  return system;
}

std::vector<const Automaton::Direction*> Automaton::directions(const Cell& cell) const {
  std::vector<const Direction*> list;
  for (int i = 0; i < m_; ++i) {
    if (cell[i] > 0) continue;  // a separating contact does not push
    for (int e = 0; e < edges_; ++e) {
      // an edge pushes where no other brakes more
      if (p_.frictionless[i]
              ? e == 0
              : side_sign(cell, i, e) >= 0 && side_sign(cell, i, (e + edges_ - 1) % edges_) <= 0)
        list.push_back(&directions_[i][e]);
    }
  }
  return list;
}

ppl::Linear_Expression Automaton::rate(const std::vector<const Direction*>& list, int i) {
  RationalVector rates;
  for (const Direction* d : list) rates.push_back(d->rates[i]);
  return expression(scaled(rates).numerators);
}

}  // namespace routh
