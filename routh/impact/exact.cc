#include "routh/impact/exact.h"

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <stdexcept>

#include "routh/impact/automaton.h"

namespace routh {
namespace {

using Eigen::VectorXd;

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
      if (to != from && automaton_.possible(to) && enterable(from, to))
        open_.emplace_back(to, inside);
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
  if (problem.tangents == 2 && problem.contacts() > 2) {
    throw std::invalid_argument(
        "exact: in space sets of more than two contacts are out of reach (here are " +
        std::to_string(problem.contacts()) + "); the set law samples them");
  }
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
      out.modes.push_back(automaton.state(piece.cell, i, out.corners));
    result.pieces.push_back(std::move(out));
  }
  return finish();
}

}  // namespace routh
