#include "routh/impact/automaton.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "routh/lcp/square_system.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Where mobilities spread more than this, the rounding of G hides the directions that hardly move.
constexpr double kDecided = 1e-11;

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

/// The problem in units of its own: c_i = 2^unit_i c'_i, G_ij = 2^(unit_i + unit_j - v) G'_ij. The
/// tangents of a contact share theirs, because friction compares them.
ImpactProblem in_own_units(ImpactProblem p, std::vector<int>& unit) {
  const Eigen::Index size = p.c.size();
  unit.assign(size, 0);
  const auto root = [](double mobility) {
    return mobility > 0 ? static_cast<int>(std::floor(std::ilogb(mobility) / 2.0)) : 0;
  };
  for (int i = 0; i < p.contacts(); ++i) {
    const double normal = p.G(i, i);
    const double tangential =
        p.G.diagonal().segment(p.tangent(i), p.tangents).cwiseAbs().maxCoeff();
    unit[i] = root(normal > 0 ? normal : tangential);
    std::fill_n(unit.begin() + p.tangent(i), p.tangents,
                root(tangential > 0 ? tangential : normal));
  }
  int fastest = std::numeric_limits<int>::min();
  for (Eigen::Index i = 0; i < size; ++i) {
    if (p.c[i] != 0) fastest = std::max(fastest, std::ilogb(p.c[i]) - unit[i]);
    for (Eigen::Index k = 0; k < size; ++k) p.G(i, k) = std::ldexp(p.G(i, k), -unit[i] - unit[k]);
  }
  for (Eigen::Index i = 0; i < size && p.c.any(); ++i) {
    unit[i] += fastest;
    p.c[i] = std::ldexp(p.c[i], -unit[i]);
  }
  return p;
}

/// Numbers as the simplest rationals within a relative `precision`; what is smaller than that
/// `among` others, or only their rounding, is zero.
struct Rationals {
  double precision;
  mpq_class operator()(double x, double among) const {
    return std::abs(x) <= std::max(precision, 1e-15) * among ? mpq_class(0)
                                                             : rational(x, precision * std::abs(x));
  }
};

/// A row t of T: g = basis t, where rounding leaves t uncertain by `noise`. Simple numbers within
/// it are the truth where g confirms them to rounding, and so are zeros; else contacts that move
/// together would be told apart.
std::vector<mpq_class> relation(const MatrixXd& basis, const VectorXd& g, double noise,
                                const Rationals& number) {
  const int rank = static_cast<int>(g.size());
  const VectorXd t = basis.fullPivLu().solve(g);
  const auto confirmed = [&](const VectorXd& x) {
    const VectorXd terms = g.cwiseAbs() + basis.cwiseAbs() * x.cwiseAbs();
    const double rounding = std::max(lcp::kSingular, 4 * number.precision);
    return ((g - basis * x).array().abs() <= rounding * terms.array()).all();
  };
  std::vector<mpq_class> row(rank);
  VectorXd x = VectorXd::Zero(rank);
  for (int k = 0; k < rank; ++k) {
    if (std::abs(t[k]) > noise) row[k] = rational(t[k], noise * std::max(1.0, std::abs(t[k])));
    x[k] = row[k].get_d();
  }
  if (confirmed(x)) return row;
  // the others anew, with the zeros kept
  std::vector<int> rest;
  for (int k = 0; k < rank; ++k) {
    if (std::abs(t[k]) > noise) rest.push_back(k);
  }
  x.setZero();
  if (!rest.empty())
    x(rest) = MatrixXd(basis(Eigen::all, rest)).colPivHouseholderQr().solve(g).eval();
  if (!confirmed(x)) x = t;
  for (int k = 0; k < rank; ++k) row[k] = number(x[k], 1);
  return row;
}

}  // namespace

Automaton::Automaton(const ImpactProblem& given, double precision)
    : m_(given.contacts()), tangents_(given.tangents) {
  const ImpactProblem problem = in_own_units(given, unit_);
  const MatrixXd D = friction_edges(problem);
  edges_ = static_cast<int>(D.cols());
  lines_ = edges_ % 2 == 0 ? edges_ / 2 : edges_;  // opposite sides share a line
  const int size = static_cast<int>(problem.c.size());
  // independent rows, the most independent first
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
  qr.setThreshold(lcp::kSingular);
  qr.compute(problem.G);
  const int rank = static_cast<int>(qr.rank());
  std::vector<int> rows(rank);
  for (int k = 0; k < rank; ++k) rows[k] = qr.colsPermutation().indices()[k];
  std::sort(rows.begin(), rows.end());
  const MatrixXd basis = problem.G(rows, rows);
  const VectorXd c = problem.c(rows);
  const double energy = c.dot(basis.fullPivLu().solve(c));
  energy_bound_ = (1 + 1e-6) * (problem.G.diagonal() * energy).cwiseAbs().cwiseSqrt();

  // bodies of very different mass: an error of G is larger in the directions that hardly move, and
  // an error of c as its energy, the square
  const VectorXd pivots = qr.matrixR().diagonal().head(rank).cwiseAbs();
  const double spread = rank > 0 ? pivots[rank - 1] / pivots[0] : 1;
  decided_ = spread > kDecided;
  const double noise = std::min(1e-3, std::max(precision, lcp::kSingular / spread));
  const Rationals number{std::max(1e-16, precision * std::min(1.0, 1e2 * spread))};
  const Rationals speeds{std::max(1e-16, precision * std::min(1.0, 10 * std::sqrt(spread)))};
  dimension_ = rank;
  T_.resize(size);
  for (int i = 0; i < size; ++i) {
    ppl::maybe_abandon();
    const auto own = std::find(rows.begin(), rows.end(), i);
    if (own == rows.end()) {
      T_[i] = relation(basis, problem.G(i, rows).transpose(), noise, number);
    } else {
      T_[i].resize(rank);
      T_[i][own - rows.begin()] = 1;
    }
    const Scaled whole = scaled(T_[i]);
    c_rows_.push_back(expression(whole.numerators));
    c_scale_.push_back(whole.denominator);
  }
  // D once as rationals; opposite edges exactly opposite
  std::vector<std::vector<mpq_class>> edges(edges_, std::vector<mpq_class>(tangents_));
  for (int e = 0; e < edges_; ++e) {
    const bool opposite = edges_ % 2 == 0 && e >= edges_ / 2;
    for (int k = 0; k < tangents_; ++k)
      edges[e][k] = opposite ? mpq_class(-edges[e - edges_ / 2][k]) : number(D(k, e), 1);
  }
  // the forms: cn, then (d_e+1 - d_e) ct
  for (int i = 0; i < m_; ++i) forms_.push_back(T_[i]);
  for (int i = 0; i < m_; ++i) {
    for (int e = 0; e < lines_; ++e) {
      std::vector<mpq_class> form(rank);
      for (int k = 0; k < tangents_; ++k) {
        const mpq_class by = edges[(e + 1) % edges_][k] - edges[e][k];
        for (int a = 0; a < rank; ++a) form[a] += by * T_[problem.tangent(i) + k][a];
      }
      forms_.push_back(form);
    }
  }
  for (const std::vector<mpq_class>& form : forms_)
    rows_.push_back(expression(scaled(form).numerators));
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
    const std::vector<mpq_class> n = column(i);
    std::vector<std::vector<mpq_class>> t;
    for (int k = 0; k < tangents_; ++k) t.push_back(column(problem.tangent(i) + k));
    mpq_class mu = number(problem.mu[i], 1);
    frictionless_.push_back(mu == 0);
    const int units = unit_[problem.tangent(i)] - unit_[i];
    mu = units < 0 ? mpq_class(mu >> -units) : mpq_class(mu << units);
    directions_.emplace_back();
    for (int e = 0; e < edges_; ++e) {
      ppl::maybe_abandon();
      std::vector<mpq_class> d = n;
      for (int a = 0; a < rank; ++a) {
        for (int k = 0; k < tangents_; ++k) d[a] += mu * edges[e][k] * t[k][a];
      }
      Direction direction{expression(scaled(d).numerators), std::vector<mpq_class>(forms_.size())};
      for (std::size_t f = 0; f < forms_.size(); ++f) {
        for (int a = 0; a < rank; ++a) direction.rates[f] += forms_[f][a] * d[a];
      }
      directions_[i].push_back(std::move(direction));
    }
  }
  const double speed = problem.c.lpNorm<Eigen::Infinity>();
  for (const int row : rows) start_.push_back(speeds(problem.c[row], speed));
}

Cell Automaton::start_cell() const {
  Cell cell(forms_.size());
  for (std::size_t f = 0; f < forms_.size(); ++f) {
    mpq_class value = 0;
    for (int k = 0; k < dimension_; ++k) value += forms_[f][k] * start_[k];
    const int contact = (static_cast<int>(f) - m_) / lines_;
    const bool any = static_cast<int>(f) >= m_ && frictionless_[contact];
    cell[f] = any ? kAny : static_cast<signed char>(sgn(value));
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
    if (frictionless_[i]) continue;
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
    const bool rests = frictionless_[i]
                           ? std::all_of(corners.begin(), corners.end(),
                                         [&](const VectorXd& c) {
                                           return !c.segment(m_ + tangents_ * i, tangents_).any();
                                         })
                           : std::all_of(first, first + lines_, [](int s) { return s == 0; });
    return rests ? ContactState::kSticking : ContactState::kSliding;
  }
  int slip = -*first;  // the form is (d_1 - d_0) ct = -2 ct
  if (frictionless_[i]) {
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
  VectorXd c = VectorXd::Zero(static_cast<Eigen::Index>(T_.size()));
  for (Eigen::Index i = 0; i < c.size(); ++i) {
    mpq_class sum = 0;
    for (int k = 0; k < dimension_; ++k) sum += T_[i][k] * point.coefficient(ppl::Variable(k));
    sum /= point.divisor();
    c[i] = std::ldexp(sum.get_d(), unit_[i]);
  }
  return c;
}

ppl::Constraint_System Automaton::energy_bounds() const {
  ppl::Constraint_System system;
  for (Eigen::Index i = 0; i < energy_bound_.size(); ++i) {
    const mpz_class limit = mpz_class(std::ceil(energy_bound_[i] * 0x1p20) + 1) * c_scale_[i];
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
      if (frictionless_[i]
              ? e == 0
              : side_sign(cell, i, e) >= 0 && side_sign(cell, i, (e + edges_ - 1) % edges_) <= 0)
        list.push_back(&directions_[i][e]);
    }
  }
  return list;
}

ppl::Linear_Expression Automaton::rate(const std::vector<const Direction*>& list, int i) {
  std::vector<mpq_class> rates;
  for (const Direction* d : list) rates.push_back(d->rates[i]);
  return expression(scaled(rates).numerators);
}

}  // namespace routh
