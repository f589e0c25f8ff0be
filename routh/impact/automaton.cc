#include "routh/impact/automaton.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The simplest rational within `tolerance` of x, by continued fractions.
mpq_class rational(double x, double tolerance) {
  mpq_class exact_value(x), remainder = exact_value;
  mpz_class p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  for (int k = 0; k < 64; ++k) {
    mpz_class whole;
    mpz_fdiv_q(whole.get_mpz_t(), remainder.get_num_mpz_t(), remainder.get_den_mpz_t());
    const mpz_class p2 = whole * p1 + p0, q2 = whole * q1 + q0;
    p0 = p1, q0 = q1, p1 = p2, q1 = q2;
    mpq_class candidate(p1, q1);
    candidate.canonicalize();
    if (std::abs(mpq_class(candidate - exact_value).get_d()) <= tolerance) return candidate;
    remainder = 1 / (remainder - whole);
  }
  return exact_value;
}

/// A vector of rationals over one common denominator.
struct Scaled {
  std::vector<mpz_class> numerators;
  mpz_class denominator = 1;
};
Scaled scaled(const std::vector<mpq_class>& x) {
  Scaled s;
  for (const mpq_class& value : x) {
    mpz_lcm(s.denominator.get_mpz_t(), s.denominator.get_mpz_t(), value.get_den_mpz_t());
  }
  for (const mpq_class& value : x)
    s.numerators.push_back(value.get_num() * (s.denominator / value.get_den()));
  return s;
}

ppl::Linear_Expression expression(const std::vector<mpz_class>& coefficients) {
  ppl::Linear_Expression e;
  for (std::size_t k = 0; k < coefficients.size(); ++k) e += coefficients[k] * ppl::Variable(k);
  return e;
}

}  // namespace

Automaton::Automaton(const ImpactProblem& problem, double precision) : m_(problem.contacts()) {
  // independent rows, the most independent first
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
  qr.setThreshold(1e-10);
  qr.compute(problem.G);
  const int rank = static_cast<int>(qr.rank());
  std::vector<int> rows(rank);
  for (int k = 0; k < rank; ++k) rows[k] = qr.colsPermutation().indices()[k];
  std::sort(rows.begin(), rows.end());
  const MatrixXd basis = problem.G(rows, rows);
  MatrixXd T = problem.G(Eigen::all, rows) * basis.inverse();

  const auto number = [&](double x, double size) {
    return std::abs(x) <= precision * size ? mpq_class(0) : rational(x, precision * std::abs(x));
  };
  dimension_ = rank;
  T_.resize(2 * m_);
  for (int i = 0; i < 2 * m_; ++i) {
    const auto own = std::find(rows.begin(), rows.end(), i);
    for (int k = 0; k < rank; ++k) {
      T_[i].push_back(own != rows.end() ? mpq_class(own - rows.begin() == k ? 1 : 0)
                                        : number(T(i, k), 1));
    }
  }
  for (const std::vector<mpq_class>& row : T_) {
    const Scaled whole = scaled(row);
    rows_.push_back(expression(whole.numerators));
    row_scale_.push_back(whole.denominator);
  }
  // G restricted to the basis, rationalised symmetrically; all other entries follow from T
  std::vector<std::vector<mpq_class>> G(rank, std::vector<mpq_class>(rank));
  for (int a = 0; a < rank; ++a) {
    for (int b = a; b < rank; ++b)
      G[a][b] = G[b][a] = number(basis(a, b), std::sqrt(basis(a, a) * basis(b, b)));
  }
  const auto column = [&](int i) {
    std::vector<mpq_class> d(rank);
    for (int a = 0; a < rank; ++a) {
      for (int b = 0; b < rank; ++b) d[a] += G[a][b] * T_[i][b];
    }
    return d;
  };
  for (int i = 0; i < m_; ++i) {
    const std::vector<mpq_class> n = column(i), t = column(m_ + i);
    const mpq_class mu = number(problem.mu[i], 1);
    frictionless_.push_back(mu == 0);
    for (const int sign : {-1, 1}) {
      // sliding with the sign of ct, friction against it
      std::vector<mpq_class> d(rank);
      for (int a = 0; a < rank; ++a) d[a] = n[a] - sign * mu * t[a];
      Direction direction{expression(scaled(d).numerators), std::vector<mpq_class>(2 * m_)};
      for (int k = 0; k < 2 * m_; ++k) {
        for (int a = 0; a < rank; ++a) direction.rates[k] += T_[k][a] * d[a];
      }
      (sign < 0 ? sliding_negative_ : sliding_positive_).push_back(std::move(direction));
    }
  }
  const double speed = problem.c.lpNorm<Eigen::Infinity>();
  for (const int row : rows) start_.push_back(number(problem.c[row], speed));
}

Cell Automaton::start_cell() const {
  Cell cell(2 * m_);
  for (int i = 0; i < 2 * m_; ++i) {
    mpq_class c = 0;
    for (int k = 0; k < dimension_; ++k) c += T_[i][k] * start_[k];
    cell[i] = i >= m_ && frictionless_[i - m_] ? kAny : static_cast<signed char>(sgn(c));
  }
  return cell;
}

Polyhedron Automaton::start() const {
  const Scaled y = scaled(start_);
  Polyhedron p(dimension_, ppl::EMPTY);
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
  for (int i = 0; i < 2 * m_; ++i) {
    program.add_constraint(rate(list, i) == 0);
  }
  return !program.is_satisfiable();
}

bool Automaton::colliding(const Cell& cell) const {
  return std::any_of(cell.begin(), cell.begin() + m_, [](signed char s) { return s < 0; });
}

ppl::Constraint_System Automaton::region(const Cell& cell) const {
  ppl::Constraint_System system;
  for (int i = 0; i < 2 * m_; ++i) {
    if (cell[i] != kAny) system.insert(side(i, cell[i]));
  }
  return system;
}
ppl::Constraint Automaton::side(int i, int sign) const {
  return sign < 0 ? rows_[i] < 0 : sign > 0 ? rows_[i] > 0 : rows_[i] == 0;
}

Polyhedron Automaton::flow(const Cell& cell) const {
  ppl::Generator_System system;
  system.insert(ppl::point(0 * ppl::Variable(dimension_ - 1)));
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

bool Automaton::can_enter(const Cell& from, const Cell& to) const {
  const auto list = directions(to);
  ppl::MIP_Problem program(list.size());
  for (std::size_t g = 0; g < list.size(); ++g) program.add_constraint(ppl::Variable(g) >= 0);
  for (int i = 0; i < 2 * m_; ++i) {
    if (from[i] != 0) continue;
    const ppl::Linear_Expression change = rate(list, i);
    if (to[i] == 0) program.add_constraint(change == 0);
    if (to[i] > 0) program.add_constraint(change >= 1);
    if (to[i] < 0) program.add_constraint(change <= -1);
  }
  return program.is_satisfiable();
}

VectorXd Automaton::velocity(const ppl::Generator& point) const {
  VectorXd c = VectorXd::Zero(2 * m_);
  for (int i = 0; i < 2 * m_; ++i) {
    mpq_class sum = 0;
    for (int k = 0; k < dimension_; ++k) sum += T_[i][k] * point.coefficient(ppl::Variable(k));
    sum /= point.divisor();
    c[i] = sum.get_d();
  }
  return c;
}

ppl::Constraint_System Automaton::box(const VectorXd& bound) const {
  ppl::Constraint_System system;
  for (int i = 0; i < 2 * m_; ++i) {
    const mpz_class limit = mpz_class(std::ceil(bound[i] * 0x1p20) + 1) * row_scale_[i];
    const ppl::Linear_Expression c = (mpz_class(1) << 20) * rows_[i];
    system.insert(c <= limit);
    system.insert(c >= -limit);
  }
  return system;
}

std::vector<const Automaton::Direction*> Automaton::directions(const Cell& cell) const {
  std::vector<const Direction*> list;
  for (int i = 0; i < m_; ++i) {
    if (cell[i] > 0) continue;  // a separating contact does not push
    if (cell[m_ + i] >= 0) list.push_back(&sliding_positive_[i]);
    if (cell[m_ + i] <= 0) list.push_back(&sliding_negative_[i]);
  }
  return list;
}

ppl::Linear_Expression Automaton::rate(const std::vector<const Direction*>& list, int i) {
  std::vector<mpq_class> rates;
  for (const Direction* d : list) rates.push_back(d->rates[i]);
  return expression(scaled(rates).numerators);
}

}  // namespace routh
