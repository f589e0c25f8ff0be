#include "routh/impact/exact.h"

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <ppl.hh>
#include <stdexcept>

namespace routh {
namespace {

namespace ppl = Parma_Polyhedra_Library;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Polyhedron =
    ppl::NNC_Polyhedron;  // with strict faces: a state on the boundary of a cell is not in it

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

/// Signs of cn_1 .. cn_m, ct_1 .. ct_m: -1, 0, 1; kAny where the sign does not matter (no
/// friction).
using Cell = std::vector<signed char>;
constexpr signed char kAny = 2;

/// The impact as a linear hybrid automaton. States y are the velocities of independent rows of J,
/// so that the others, c = T y, depend on them exactly.
class Automaton {
 public:
  Automaton(const ImpactProblem& problem, double precision) : m_(problem.contacts()) {
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

  Cell start_cell() const {
    Cell cell(2 * m_);
    for (int i = 0; i < 2 * m_; ++i) {
      mpq_class c = 0;
      for (int k = 0; k < dimension_; ++k) c += T_[i][k] * start_[k];
      cell[i] = i >= m_ && frictionless_[i - m_] ? kAny : static_cast<signed char>(sgn(c));
    }
    return cell;
  }

  Polyhedron start() const {
    const Scaled y = scaled(start_);
    Polyhedron p(dimension_, ppl::EMPTY);
    p.add_generator(ppl::point(expression(y.numerators), y.denominator));
    return p;
  }

  /// P1 Assumption 2, exactly: no convex combination of the edges of the friction cone moves
  /// nothing.
  bool pointed() const {
    const auto list = directions(anywhere());
    ppl::MIP_Problem program(list.size());
    ppl::Linear_Expression sum;
    for (std::size_t g = 0; g < list.size(); ++g) {
      program.add_constraint(ppl::Variable(g) >= 0);
      sum += ppl::Variable(g);
    }
    program.add_constraint(sum == 1);
    for (int i = 0; i < 2 * m_; ++i) {
      std::vector<mpq_class> rates;
      for (const Direction* d : list) rates.push_back(d->rates[i]);
      program.add_constraint(expression(scaled(rates).numerators) == 0);
    }
    return !program.is_satisfiable();
  }

  /// Some contact approaches.
  bool colliding(const Cell& cell) const {
    return std::any_of(cell.begin(), cell.begin() + m_, [](signed char s) { return s < 0; });
  }

  /// The constraints of a cell.
  ppl::Constraint_System region(const Cell& cell) const {
    ppl::Constraint_System system;
    for (int i = 0; i < 2 * m_; ++i) {
      if (cell[i] != kAny) system.insert(side(i, cell[i]));
    }
    return system;
  }
  ppl::Constraint not_approaching(int contact) const { return rows_[contact] >= 0; }
  /// Velocity i has a sign.
  ppl::Constraint side(int i, int sign) const {
    return sign < 0 ? rows_[i] < 0 : sign > 0 ? rows_[i] > 0 : rows_[i] == 0;
  }

  /// The cone of the directions in a cell, with the origin.
  Polyhedron flow(const Cell& cell) const {
    ppl::Generator_System system;
    system.insert(ppl::point(0 * ppl::Variable(dimension_ - 1)));
    for (const Direction* d : directions(cell)) {
      if (!d->ray.all_homogeneous_terms_are_zero()) system.insert(ppl::ray(d->ray));
    }
    return Polyhedron(system);
  }

  /// Can the flow of a cell make the velocity i move towards a sign?
  bool can_move(const Cell& cell, int i, int sign) const {
    const auto list = directions(cell);
    return std::any_of(list.begin(), list.end(),
                       [&](const Direction* d) { return sgn(d->rates[i]) == sign; });
  }

  /// Can the flow of `to` carry a state of the lower cell `from` into `to`? Some combination of its
  /// directions must give every sign that is new and keep every velocity that stays zero.
  bool can_enter(const Cell& from, const Cell& to) const {
    const auto list = directions(to);
    ppl::MIP_Problem program(list.size());
    for (std::size_t g = 0; g < list.size(); ++g) program.add_constraint(ppl::Variable(g) >= 0);
    for (int i = 0; i < 2 * m_; ++i) {
      if (from[i] != 0) continue;
      std::vector<mpq_class> rates;
      for (const Direction* d : list) rates.push_back(d->rates[i]);
      const ppl::Linear_Expression rate = expression(scaled(rates).numerators);
      if (to[i] == 0) program.add_constraint(rate == 0);
      if (to[i] > 0) program.add_constraint(rate >= 1);
      if (to[i] < 0) program.add_constraint(rate <= -1);
    }
    return program.is_satisfiable();
  }

  /// Contact velocity of a point of a polyhedron.
  VectorXd velocity(const ppl::Generator& point) const {
    VectorXd c = VectorXd::Zero(2 * m_);
    for (int i = 0; i < 2 * m_; ++i) {
      mpq_class sum = 0;
      for (int k = 0; k < dimension_; ++k) sum += T_[i][k] * point.coefficient(ppl::Variable(k));
      sum /= point.divisor();
      c[i] = sum.get_d();
    }
    return c;
  }

  /// |c_i| ≤ bound_i.
  ppl::Constraint_System box(const VectorXd& bound) const {
    ppl::Constraint_System system;
    for (int i = 0; i < 2 * m_; ++i) {
      const mpz_class limit = mpz_class(std::ceil(bound[i] * 0x1p20) + 1) * row_scale_[i];
      const ppl::Linear_Expression c = (mpz_class(1) << 20) * rows_[i];
      system.insert(c <= limit);
      system.insert(c >= -limit);
    }
    return system;
  }

  /// A cell in which all contacts push in every way: its flow is the whole friction cone.
  Cell anywhere() const { return Cell(2 * m_, 0); }

 private:
  /// A direction of the flow with the rates it gives to all contact velocities.
  struct Direction {
    ppl::Linear_Expression ray;
    std::vector<mpq_class> rates;
  };

  std::vector<const Direction*> directions(const Cell& cell) const {
    std::vector<const Direction*> list;
    for (int i = 0; i < m_; ++i) {
      if (cell[i] > 0) continue;  // a separating contact does not push
      if (cell[m_ + i] >= 0) list.push_back(&sliding_positive_[i]);
      if (cell[m_ + i] <= 0) list.push_back(&sliding_negative_[i]);
    }
    return list;
  }

  int m_, dimension_ = 0;
  std::vector<std::vector<mpq_class>> T_;
  std::vector<ppl::Linear_Expression> rows_;  // c_i times row_scale_[i]
  std::vector<mpz_class> row_scale_;
  std::vector<Direction> sliding_positive_, sliding_negative_;
  std::vector<mpq_class> start_;
  std::vector<bool> frictionless_;
};

/// Reachability: a list of (cell, polyhedron from which it is entered) still to be followed, and
/// what was reached in each cell.
class Reachability {
 public:
  /// Nothing that is reached lies outside of `bounds`.
  Reachability(const Automaton& automaton, ppl::Constraint_System bounds)
      : automaton_(automaton), bounds_(std::move(bounds)) {
    open_.emplace_back(automaton_.start_cell(), automaton_.start());
  }

  /// Follows the flow until nothing new is found; false when the budget is spent before. With
  /// `merging` all that is reached in a cell is replaced by its convex hull and, if that keeps
  /// growing, widened: more than the truth, but it comes to an end.
  bool run(int max_polyhedra, double max_seconds, bool merging) {
    const auto began = std::chrono::steady_clock::now();
    const int first = polyhedra_;
    merging_ = merging;
    while (!open_.empty()) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
      if (polyhedra_ - first >= max_polyhedra || spent.count() >= max_seconds) return false;
      auto [cell, entered] = std::move(open_.front());
      open_.pop_front();
      follow(cell, entered);
    }
    return true;
  }

  const std::map<Cell, std::vector<Polyhedron>>& final() const { return final_; }
  int cells() const { return static_cast<int>(reached_.size() + final_.size()); }
  int polyhedra() const { return polyhedra_; }

 private:
  /// Keeps p unless it is known; forgets what it contains.
  bool insert(const Cell& cell, Polyhedron& p, std::vector<Polyhedron>& list) {
    for (const Polyhedron& known : list) {
      if (known.contains(p)) return false;
    }
    if (merging_ && !list.empty()) {
      for (const Polyhedron& known : list) p.poly_hull_assign(known);
      if (list.size() == 1 && ++merged_[cell] > 3) {
        p.limited_H79_extrapolation_assign(list.front(), bounds_);
        p.add_constraints(automaton_.region(cell));
      }
    }
    std::erase_if(list, [&](const Polyhedron& known) { return p.contains(known); });
    list.push_back(p);
    return true;
  }

  /// P ⊕ cone of the flow of a cell.
  Polyhedron carried(const Polyhedron& p, const Cell& cell) {
    auto known = flows_.find(cell);
    if (known == flows_.end()) known = flows_.emplace(cell, automaton_.flow(cell)).first;
    Polyhedron result = p;
    result.time_elapse_assign(known->second);
    return result;
  }

  void follow(const Cell& cell, Polyhedron& entered) {
    ++polyhedra_;
    if (!automaton_.colliding(cell)) {
      insert(cell, entered, final_[cell]);
      return;
    }
    // all that the flow reaches inside the cell; a hull may have made that more
    Polyhedron beyond = carried(entered, cell);
    Polyhedron inside = beyond;
    inside.add_constraints(automaton_.region(cell));
    if (inside.is_empty() || !insert(cell, inside, reached_[cell])) return;
    if (merging_) beyond = carried(inside, cell);

    // onto the cell's faces: some velocities become zero
    leave_to_faces(cell, 0, cell, beyond);
    // into the cells around it: some velocities that were zero take a sign
    enter_around(cell, 0, cell, inside);
  }

  /// Every way to make some of the nonzero signs from index i on zero; `there` obeys the signs
  /// before i.
  void leave_to_faces(const Cell& from, std::size_t i, const Cell& to, const Polyhedron& there) {
    if (there.is_empty()) return;
    if (i == from.size()) {
      if (to != from) open_.emplace_back(to, there);
      return;
    }
    if (from[i] == kAny) return leave_to_faces(from, i + 1, to, there);
    Polyhedron kept = there;
    kept.add_constraint(automaton_.side(static_cast<int>(i), from[i]));
    leave_to_faces(from, i + 1, to, kept);
    if (from[i] != 0 && automaton_.can_move(from, static_cast<int>(i), -from[i])) {
      Cell face = to;
      face[i] = 0;
      Polyhedron on_face = there;
      on_face.add_constraint(automaton_.side(static_cast<int>(i), 0));
      leave_to_faces(from, i + 1, face, on_face);
    }
  }

  /// Every way to give some of the zero signs from index i on a sign that the flow there can give
  /// them.
  void enter_around(const Cell& from, std::size_t i, const Cell& to, const Polyhedron& inside) {
    if (i == from.size()) {
      if (to != from && enterable(from, to)) open_.emplace_back(to, inside);
      return;
    }
    enter_around(from, i + 1, to, inside);
    if (from[i] != 0) return;
    for (const signed char sign : {-1, 1}) {
      Cell around = to;
      around[i] = sign;
      enter_around(from, i + 1, around, inside);
    }
  }

  bool enterable(const Cell& from, const Cell& to) {
    const auto [known, fresh] = enterable_.try_emplace({from, to}, false);
    if (fresh) known->second = automaton_.can_enter(from, to);
    return known->second;
  }

  const Automaton& automaton_;
  ppl::Constraint_System bounds_;
  bool merging_ = false;
  std::deque<std::pair<Cell, Polyhedron>> open_;
  std::map<Cell, std::vector<Polyhedron>> reached_, final_;
  std::map<Cell, Polyhedron> flows_;
  std::map<Cell, int> merged_;
  std::map<std::pair<Cell, Cell>, bool> enterable_;
  int polyhedra_ = 0;
};

/// A closed piece with its cell, which is empty where the piece spans several.
struct Piece {
  Cell cell;
  ppl::C_Polyhedron closed;
};

ppl::C_Polyhedron closed(Polyhedron p) {
  p.topological_closure_assign();
  return ppl::C_Polyhedron(p);
}

/// Energy only falls, and so |c_i| ≤ √(G_ii c⁻ᵀ G⁺ c⁻): how far any contact velocity can get.
VectorXd energy_bound(const ImpactProblem& problem) {
  const double energy = problem.c.dot(problem.G.completeOrthogonalDecomposition().solve(problem.c));
  return (1 + 1e-6) * (problem.G.diagonal() * energy).cwiseSqrt();
}

/// Joins pieces of one cell whose union is convex, then drops what lies inside another piece.
void simplify(std::vector<Piece>& pieces) {
  const auto erase = [&](std::size_t j, std::size_t& i) {
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(j));
    if (j < i) --i;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t j = 0; j < pieces.size();) {
      if (i != j && pieces[i].cell == pieces[j].cell &&
          pieces[i].closed.upper_bound_assign_if_exact(pieces[j].closed)) {
        erase(j, i);
        j = 0;  // what did not fit before may fit now
      } else {
        ++j;
      }
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t j = 0; j < pieces.size();) {
      if (i != j && pieces[i].closed.contains(pieces[j].closed)) {
        erase(j, i);
      } else {
        ++j;
      }
    }
  }
}

ContactState state_of(signed char normal, signed char tangent, const std::vector<VectorXd>& corners,
                      int tangent_index) {
  if (normal > 0) return ContactState::kSeparating;
  if (tangent == kAny) {
    // no friction: the sign of the tangential velocity in the middle of the piece
    double middle = 0;
    for (const VectorXd& c : corners) middle += c[tangent_index];
    tangent = static_cast<signed char>(middle > 0 ? 1 : middle < 0 ? -1 : 0);
  }
  return tangent > 0   ? ContactState::kSlidingPositive
         : tangent < 0 ? ContactState::kSlidingNegative
                       : ContactState::kSticking;
}

}  // namespace

std::string_view to_string(ExactStatus status) {
  switch (status) {
    case ExactStatus::kExact:
      return "exact";
    case ExactStatus::kOuter:
      return "outer";
    case ExactStatus::kJammed:
      return "jammed";
  }
  return "unknown";
}

ExactResult exact(const ImpactProblem& problem, const ExactOptions& options) {
  validate(problem);
  if (problem.tangents != 1)
    throw std::invalid_argument("exact: only planar problems (tangents = 1)");
  if (!(options.precision > 0 && options.precision < 1e-3))
    throw std::invalid_argument("exact: precision must be between 0 and 1e-3");
  if (options.max_polyhedra < 1)
    throw std::invalid_argument("exact: max_polyhedra must be positive");
  if (!(options.max_seconds > 0))
    throw std::invalid_argument("exact: max_seconds must be positive");
  const auto began = std::chrono::steady_clock::now();
  const int m = problem.contacts();
  ExactResult result;
  const auto finish = [&] {
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
  };

  // jamming: impulses that cancel would let the flow stand still or run forever
  const Automaton automaton(problem, options.precision);
  if (!automaton.pointed()) {
    result.status = ExactStatus::kJammed;
    return finish();
  }

  // the exact fixed point, or else one over widened hulls, or else what energy and the friction
  // cone allow
  const ppl::Constraint_System bounds = automaton.box(energy_bound(problem));
  Reachability reach(automaton, bounds);
  std::vector<Piece> pieces;
  bool ended = reach.run(options.max_polyhedra, options.max_seconds, false);
  if (!ended) {
    result.status = ExactStatus::kOuter;
    ended = reach.run(options.max_polyhedra, options.max_seconds, true);
  }
  result.cells = reach.cells();
  result.polyhedra = reach.polyhedra();
  if (ended) {
    for (const auto& [cell, list] : reach.final()) {
      for (const Polyhedron& p : list) pieces.push_back({cell, closed(p)});
    }
  } else {
    Polyhedron anything = automaton.start();
    anything.time_elapse_assign(automaton.flow(automaton.anywhere()));
    for (int i = 0; i < m; ++i) anything.add_constraint(automaton.not_approaching(i));
    pieces.push_back({{}, closed(anything)});
  }
  // widening may have let a piece go to infinity, energy does not
  for (Piece& piece : pieces) {
    if (!piece.closed.is_bounded()) piece.closed.add_constraints(bounds);
  }
  simplify(pieces);

  for (const Piece& piece : pieces) {
    Polytope out;
    out.dimension = static_cast<int>(piece.closed.affine_dimension());
    for (const ppl::Generator& g : piece.closed.minimized_generators()) {
      if (g.is_point()) out.corners.push_back(automaton.velocity(g));
    }
    for (int i = 0; i < m && !piece.cell.empty(); ++i)
      out.modes.push_back(
          state_of(piece.cell[i], piece.cell[m + i], out.corners, problem.tangent(i)));
    result.pieces.push_back(std::move(out));
  }
  return finish();
}

}  // namespace routh
