#include "routh/impact/rational_impact.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "routh/lcp/square_system.h"
#include "routh/linear/decompose.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Where mobilities spread more than this, the rounding of G hides the directions that hardly move.
constexpr double kDecided = 1e-11;

/// The simplest rational within `tolerance` of x, by continued fractions.
Rational simplest(double x, double tolerance) {
  const Rational exact_value(x);
  mpz_class p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  mpz_class left = exact_value.get_num(), right = exact_value.get_den();
  for (int k = 0; k < 64 && right != 0; ++k) {
    mpz_class whole, rest;
    mpz_fdiv_qr(whole.get_mpz_t(), rest.get_mpz_t(), left.get_mpz_t(), right.get_mpz_t());
    mpz_class p2 = whole * p1 + p0, q2 = whole * q1 + q0;
    p0 = std::move(p1), q0 = std::move(q1), p1 = std::move(p2), q1 = std::move(q2);
    // of a continued fraction they have no common factor
    const Rational candidate(p1, q1);
    if (std::abs(Rational(candidate - exact_value).get_d()) <= tolerance) return candidate;
    left = std::move(right), right = std::move(rest);
  }
  return exact_value;
}

/// The problem in units of its own: c_i = 2^unit_i c'_i, G_ij = 2^(unit_i + unit_j - 2 speed)
/// G'_ij. The tangents of a contact share theirs, because friction compares them.
ImpactProblem in_own_units(ImpactProblem p, std::vector<int>& unit, int& speed) {
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
  speed = p.c.any() ? fastest : 0;
  for (Eigen::Index i = 0; i < size; ++i) {
    unit[i] += speed;
    p.c[i] = std::ldexp(p.c[i], -unit[i]);
  }
  return p;
}

/// Numbers as the simplest rationals within a relative `precision`; what is smaller than that
/// `among` others, or only their rounding, is zero.
struct Simplest {
  double precision;
  Rational operator()(double x, double among) const {
    return std::abs(x) <= std::max(precision, 1e-15) * among ? Rational(0)
                                                             : simplest(x, precision * std::abs(x));
  }
};

/// A row t of T: g = basis t, where rounding leaves t uncertain by `noise`. Simple numbers within
/// it are the truth where g confirms them to rounding, and so are zeros; else contacts that move
/// together would be told apart.
RationalVector relation(const MatrixXd& basis, const VectorXd& g, double noise,
                        const Simplest& number) {
  const int rank = static_cast<int>(g.size());
  const VectorXd t = linear::solve(basis, g);
  const auto confirmed = [&](const VectorXd& x) {
    const VectorXd terms = g.cwiseAbs() + basis.cwiseAbs() * x.cwiseAbs();
    const double rounding = std::max(lcp::kSingular, 4 * number.precision);
    return ((g - basis * x).array().abs() <= rounding * terms.array()).all();
  };
  RationalVector row(rank);
  VectorXd x = VectorXd::Zero(rank);
  for (int k = 0; k < rank; ++k) {
    if (std::abs(t[k]) > noise) row[k] = simplest(t[k], noise * std::max(1.0, std::abs(t[k])));
    x[k] = row[k].get_d();
  }
  if (confirmed(x)) return row;
  // the others anew, with the zeros kept
  std::vector<int> rest;
  for (int k = 0; k < rank; ++k) {
    if (std::abs(t[k]) > noise) rest.push_back(k);
  }
  x.setZero();
  if (!rest.empty()) x(rest) = linear::basic_solution(MatrixXd(basis(Eigen::all, rest)), g);
  if (!confirmed(x)) x = t;
  for (int k = 0; k < rank; ++k) row[k] = number(x[k], 1);
  return row;
}

}  // namespace

Rational dot(const RationalVector& a, const RationalVector& b) {
  Rational sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (sgn(a[k]) != 0 && sgn(b[k]) != 0) sum += a[k] * b[k];
  }
  return sum;
}

Rational power_of_two(int exponent) {
  const Rational one = 1;
  return exponent < 0 ? Rational(one >> -exponent) : Rational(one << exponent);
}

std::optional<RationalVector> solve_exactly(const RationalMatrix& A, const RationalVector& b,
                                            const std::function<bool()>& stop) {
  const int n = static_cast<int>(b.size());
  std::vector<std::vector<mpz_class>> M(n, std::vector<mpz_class>(n + 1));
  for (int r = 0; r < n; ++r) {
    mpz_class common = b[r].get_den();
    for (const Rational& x : A[r]) common = lcm(common, x.get_den());
    const auto whole = [&](const Rational& x) {
      return mpz_class(x.get_num() * (common / x.get_den()));
    };
    for (int k = 0; k < n; ++k) M[r][k] = whole(A[r][k]);
    M[r][n] = whole(b[r]);
  }
  mpz_class last = 1;
  for (int k = 0; k < n; ++k) {
    // the shortest pivot keeps numbers short
    int best = -1;
    for (int r = k; r < n; ++r) {
      if (M[r][k] != 0 && (best < 0 || abs(M[r][k]) < abs(M[best][k]))) best = r;
    }
    if (best < 0) return {};
    std::swap(M[k], M[best]);
    for (int r = k + 1; r < n; ++r) {
      if (stop && stop()) return {};
      for (int j = k + 1; j <= n; ++j) M[r][j] = (M[r][j] * M[k][k] - M[r][k] * M[k][j]) / last;
      M[r][k] = 0;
    }
    last = M[k][k];
  }
  RationalVector x(n);
  for (int k = n - 1; k >= 0; --k) {
    Rational sum(M[k][n]);
    for (int j = k + 1; j < n; ++j) {
      if (M[k][j] != 0 && sgn(x[j]) != 0) sum -= Rational(M[k][j]) * x[j];
    }
    x[k] = sum / Rational(M[k][k]);
    if (stop && stop()) return {};
  }
  return x;
}

RationalImpact::RationalImpact(const ImpactProblem& given, double precision)
    : contacts(given.contacts()), tangents(given.tangents) {
  const ImpactProblem problem = in_own_units(given, unit, speed);
  const MatrixXd edge_columns = friction_edges(problem);
  edges = static_cast<int>(edge_columns.cols());
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
  const double energy = c.dot(linear::solve(basis, c));
  reach = (1 + 1e-6) * (problem.G.diagonal() * energy).cwiseAbs().cwiseSqrt();

  // bodies of very different mass: an error of G is larger in the directions that hardly move, and
  // an error of c as its energy, the square
  const VectorXd pivots = qr.matrixR().diagonal().head(rank).cwiseAbs();
  const double spread = rank > 0 ? pivots[rank - 1] / pivots[0] : 1;
  decided = spread > kDecided;
  const double noise = std::min(1e-3, std::max(precision, lcp::kSingular / spread));
  const Simplest number{std::max(1e-16, precision * std::min(1.0, 1e2 * spread))};
  const Simplest speeds{std::max(1e-16, precision * std::min(1.0, 10 * std::sqrt(spread)))};
  dimension = rank;
  T.resize(size);
  for (int i = 0; i < size; ++i) {
    const auto own = std::find(rows.begin(), rows.end(), i);
    if (own == rows.end()) {
      T[i] = relation(basis, problem.G(i, rows).transpose(), noise, number);
    } else {
      T[i].resize(rank);
      T[i][own - rows.begin()] = 1;
    }
  }
  // D once as rationals; opposite edges exactly opposite
  D.assign(edges, RationalVector(tangents));
  for (int e = 0; e < edges; ++e) {
    const bool opposite = edges % 2 == 0 && e >= edges / 2;
    for (int k = 0; k < tangents; ++k)
      D[e][k] = opposite ? Rational(-D[e - edges / 2][k]) : number(edge_columns(k, e), 1);
  }
  const double fastest = problem.c.lpNorm<Eigen::Infinity>();
  for (const int row : rows) start.push_back(speeds(problem.c[row], fastest));
  // a contact at rest is at rest exactly, though its row is known only to rounding
  for (int i = 0; i < size; ++i) {
    const Rational left = dot(T[i], start);
    if (problem.c[i] != 0 || sgn(left) == 0) continue;
    const auto most = std::max_element(start.begin(), start.end(),
                                       [](auto& a, auto& b) { return abs(a) < abs(b); });
    T[i][most - start.begin()] -= left / *most;
  }
  // G restricted to the basis, rationalised symmetrically; all other entries follow from T
  G.assign(rank, RationalVector(rank));
  for (int a = 0; a < rank; ++a) {
    for (int b = a; b < rank; ++b)
      G[a][b] = G[b][a] = number(basis(a, b), std::sqrt(basis(a, a) * basis(b, b)));
  }
  const auto column = [&](int i) {
    RationalVector d(rank);
    for (int a = 0; a < rank; ++a) d[a] = dot(G[a], T[i]);
    return d;
  };
  for (int i = 0; i < contacts; ++i) {
    const RationalVector n = column(i);
    RationalMatrix t;
    for (int k = 0; k < tangents; ++k) t.push_back(column(problem.tangent(i) + k));
    const Rational friction = number(problem.mu[i], 1);
    frictionless.push_back(sgn(friction) == 0);
    mu.push_back(friction * power_of_two(unit[problem.tangent(i)] - unit[i]));
    normal.push_back(n);
    direction.emplace_back();
    for (int e = 0; e < edges; ++e) {
      RationalVector d = n;
      for (int k = 0; k < tangents && !frictionless[i]; ++k) {
        const Rational by = mu[i] * D[e][k];
        for (int a = 0; a < rank; ++a) d[a] += by * t[k][a];
      }
      direction[i].push_back(std::move(d));
    }
  }
}

RationalVector RationalImpact::side(int contact, int edge) const {
  RationalVector form(dimension);
  for (int k = 0; k < tangents; ++k) {
    const Rational by = D[(edge + 1) % edges][k] - D[edge][k];
    for (int a = 0; a < dimension; ++a) form[a] += by * T[tangent(contact) + k][a];
  }
  return form;
}

VectorXd RationalImpact::velocity(const RationalVector& y) const {
  VectorXd c(static_cast<Eigen::Index>(T.size()));
  for (Eigen::Index i = 0; i < c.size(); ++i) c[i] = std::ldexp(dot(T[i], y).get_d(), unit[i]);
  return c;
}

}  // namespace routh
