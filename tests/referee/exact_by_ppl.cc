#include "referee/exact_by_ppl.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "referee/automaton.h"
#include "routh/impact/policy.h"
#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"

namespace routh {
namespace {

using Eigen::VectorXd;
using Clock = std::chrono::steady_clock;

/// An outcome of another law this near to the set, relative to the velocities, is in it.
constexpr double kContained = 1e-6;

/// Thrown out of the middle of a polyhedral operation.
struct Abandoned : ppl::Throwable {
  void throw_me() const override { throw *this; }
};

/// Ends polyhedral operations at a deadline, or when the caller says so: the library looks at a
/// global pointer inside of its long loops.
class Watch {
 public:
  explicit Watch(std::function<bool()> stop)
      : stop_(std::move(stop)), thread_([this] { look(); }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
    ppl::abandon_expensive_computations = nullptr;
  }

  void until(Clock::time_point deadline) {
    const std::lock_guard lock(mutex_);
    deadline_ = deadline;
    if (!stopped_) ppl::abandon_expensive_computations = nullptr;
  }
  bool stopped() const { return stopped_; }

 private:
  void look() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(5), [this] { return done_; })) {
      if (stop_ && !stopped_ && stop_()) stopped_ = true;
      if (stopped_ || Clock::now() >= deadline_) ppl::abandon_expensive_computations = &abandoned_;
    }
  }

  const Abandoned abandoned_;
  std::function<bool()> stop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool done_ = false;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

/// Reachability: a list of (cell, polyhedron from which it is entered) still to be followed, and
/// what was reached in each cell.
class Reachability {
 public:
  /// With `merging` all that is reached in a cell is replaced by its convex hull and, if that keeps
  /// growing, widened: more than the truth, but it comes to an end. Nothing that is reached lies
  /// outside of `bounds`.
  Reachability(const Automaton& automaton, ppl::Constraint_System bounds, bool merging)
      : automaton_(automaton), bounds_(std::move(bounds)), merging_(merging) {
    open_.push_back({automaton_.start_cell(), automaton_.start(), 0});
  }

  /// Follows the flow until nothing new is found; false when the budget is spent before.
  bool run(int max_polyhedra) {
    while (!open_.empty()) {
      if (polyhedra_ >= max_polyhedra) return false;
      // the largest first: it contains much of what comes later
      const auto largest =
          std::max_element(open_.begin(), open_.end(),
                           [](const Open& a, const Open& b) { return a.dimension < b.dimension; });
      std::list<Open> next;
      next.splice(next.begin(), open_, largest);
      follow(next.front().cell, next.front().entered);
    }
    return true;
  }

  const std::map<Cell, std::vector<Polyhedron>>& final() const { return final_; }
  int cells() const { return static_cast<int>(reached_.size() + final_.size()); }
  int polyhedra() const { return polyhedra_; }

 private:
  /// A cell, and from where it is entered.
  struct Open {
    Cell cell;
    Polyhedron entered;
    ppl::dimension_type dimension;
  };
  void open(const Cell& cell, const Polyhedron& entered) {
    open_.push_back({cell, entered, entered.affine_dimension()});
  }

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
    // what is entered once more leads nowhere new
    if (!merging_) {
      std::vector<Polyhedron>& before = entered_[cell];
      for (const Polyhedron& known : before) {
        if (known.contains(entered)) return;
      }
      before.push_back(entered);
    }
    // all that the flow reaches inside the cell; a hull may have made that more
    Polyhedron beyond = carried(entered, cell);
    std::vector<char> leaves = leaving(beyond, cell);
    Polyhedron inside = beyond;
    for (std::size_t i = 0; i < cell.size(); ++i) {
      if (leaves[i]) inside.add_constraint(automaton_.side(static_cast<int>(i), cell[i]));
    }
    if (inside.is_empty() || !insert(cell, inside, reached_[cell])) return;
    if (merging_) beyond = carried(inside, cell), leaves = leaving(beyond, cell);

    // onto the cell's faces: some velocities become zero
    leave_to_faces(cell, leaves, 0, cell, beyond);
    // into the cells around it: some velocities that were zero take a sign
    enter_around(cell, 0, cell, inside);
  }

  /// Which signs of a cell a polyhedron does not keep by itself.
  std::vector<char> leaving(const Polyhedron& p, const Cell& cell) const {
    std::vector<char> leaves(cell.size(), 0);
    for (std::size_t i = 0; i < cell.size(); ++i)
      leaves[i] = cell[i] != kAny && automaton_.leaves(p, static_cast<int>(i), cell[i]);
    return leaves;
  }

  /// Every way to make some of the nonzero signs from index i on zero; `there` obeys the signs
  /// before i.
  void leave_to_faces(const Cell& from, const std::vector<char>& leaves, std::size_t i,
                      const Cell& to, const Polyhedron& there) {
    ppl::maybe_abandon();  // there may be many ways
    while (i < from.size() && !leaves[i]) ++i;
    if (i == from.size()) {
      if (to != from && !there.is_empty()) open(to, there);
      return;
    }
    if (there.is_empty()) return;
    Polyhedron kept = there;
    kept.add_constraint(automaton_.side(static_cast<int>(i), from[i]));
    leave_to_faces(from, leaves, i + 1, to, kept);
    if (from[i] != 0 && automaton_.can_move(from, static_cast<int>(i), -from[i])) {
      Cell face = to;
      face[i] = 0;
      Polyhedron on_face = there;
      on_face.add_constraint(automaton_.side(static_cast<int>(i), 0));
      leave_to_faces(from, leaves, i + 1, face, on_face);
    }
  }

  /// Every way to give some of the zero signs from index i on a sign that the flow there can give
  /// them.
  void enter_around(const Cell& from, std::size_t i, const Cell& to, const Polyhedron& inside) {
    ppl::maybe_abandon();
    if (i == from.size()) {
      if (to != from && automaton_.possible(to) && enterable(from, to)) open(to, inside);
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
  bool merging_;
  std::list<Open> open_;
  std::map<Cell, std::vector<Polyhedron>> entered_, reached_, final_;
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

/// A simultaneous outcome in the plane whose impulse may be given evenly: all that pushes at the
/// end approaches, and slips the way friction says, from the beginning. Others need not be in the
/// set.
bool straight(const ImpactProblem& p, const Outcome& outcome) {
  for (int i = 0; i < p.contacts(); ++i) {
    const int t = p.tangent(i);
    const double load = outcome.impulse[i], friction = outcome.impulse[t];
    if (load <= 0) continue;
    const bool slips = p.c[t] != 0;
    if (p.c[i] >= 0 || (slips && friction != std::copysign(p.mu[i] * load, -p.c[t]))) return false;
  }
  return true;
}

/// Outcomes of other laws that the set must contain, as many as few steps find: a second opinion,
/// in the plane, where those laws have the same friction.
std::vector<VectorXd> known_outcomes(const ImpactProblem& p, const std::function<bool()>& stop) {
  std::vector<VectorXd> known;
  if (p.tangents > 1 || p.contacts() > policy::kSecondOpinion) return known;
  for (const SequentialOutcome& o :
       sequential(p, {.max_impacts = 200, .max_states = 100, .stop = stop}).outcomes)
    known.push_back(o.outcome.c_plus);
  for (const Outcome& o : simultaneous(p, {.stop = stop}).outcomes) {
    if (straight(p, o)) known.push_back(o.c_plus);
  }
  return known;
}

}  // namespace

ExactResult exact_by_ppl(const ImpactProblem& problem, const ExactOptions& options) {
  validate(problem);
  if (problem.bounces())
    throw std::invalid_argument("exact: e must be zero; set_valued() samples contacts that bounce");
  if (problem.tangents == 2 && problem.contacts() > policy::kExactInSpace) {
    throw std::invalid_argument(
        "exact: in space sets of more than two contacts are out of reach (here are " +
        std::to_string(problem.contacts()) + "); the set law samples them");
  }
  if (problem.contacts() > policy::kExact) {
    throw std::invalid_argument("exact: sets of more than " + std::to_string(policy::kExact) +
                                " contacts are out of reach (here are " +
                                std::to_string(problem.contacts()) + "); the set law samples them");
  }
  if (!(options.precision > 0 && options.precision < 1e-3))
    throw std::invalid_argument("exact: precision must be between 0 and 1e-3");
  if (options.max_polyhedra < 1)
    throw std::invalid_argument("exact: max_polyhedra must be positive");
  if (!(options.max_seconds > 0))
    throw std::invalid_argument("exact: max_seconds must be positive");
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const auto began = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  const int m = problem.contacts();
  ExactResult result;
  Watch watch(options.stop);
  // work within a share of the time that is left; false when it was abandoned or gave up
  const auto within = [&](double share, auto&& work) {
    const double seconds = std::min(share * std::max(0.0, options.max_seconds - spent()), 1e8);
    watch.until(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds)));
    try {
      return work();
    } catch (const Abandoned&) {
      return false;
    }
  };
  const auto finish = [&](ExactStatus status) {
    result.status = status;
    result.stopped = watch.stopped();
    result.seconds = spent();
    return result;
  };

  // jamming: impulses that cancel would let the flow stand still or run forever
  std::optional<Automaton> made;
  bool pointed = false;
  if (!within(1, [&] {
        made.emplace(problem, options.precision);
        return pointed = made->pointed(), true;
      }))
    return finish(ExactStatus::kIncomplete);
  const Automaton& automaton = *made;
  if (!automaton.decided()) {
    result.hidden = true;
    return finish(ExactStatus::kIncomplete);
  }
  if (!pointed) return finish(ExactStatus::kJammed);

  // the exact fixed point, or else one over widened hulls, or else what energy and the friction
  // cone allow; what was abandoned is not used any more
  const ppl::Constraint_System bounds = automaton.energy_bounds();
  std::vector<Piece> pieces;
  const auto fixed_point = [&](double share, bool merging) {
    Reachability reach(automaton, bounds, merging);
    const bool ended = within(share, [&] {
      if (!reach.run(options.max_polyhedra)) return false;
      for (const auto& [cell, list] : reach.final()) {
        for (const Polyhedron& p : list) pieces.push_back({cell, closed(p)});
      }
      return true;
    });
    if (!ended) pieces.clear();
    result.cells = std::max(result.cells, reach.cells());
    result.polyhedra += reach.polyhedra();
    return ended;
  };
  const auto anything = [&] {
    Polyhedron all = automaton.start();
    all.time_elapse_assign(automaton.flow(automaton.anywhere()));
    for (int i = 0; i < m; ++i) all.add_constraint(automaton.not_approaching(i));
    pieces.push_back({{}, closed(all)});
    return true;
  };
  // widening may have let a piece go to infinity, energy does not
  const auto bounded = [&] {
    for (Piece& piece : pieces) {
      if (!piece.closed.is_bounded()) piece.closed.add_constraints(bounds);
    }
    return true;
  };
  const bool exact = fixed_point(0.5, false) && within(0.6, bounded);
  const bool found = exact || (fixed_point(0.3, true) && within(0.6, bounded)) ||
                     within(0.9, [&] { return pieces.clear(), anything() && bounded(); });
  if (!found) return finish(ExactStatus::kIncomplete);

  // fewer pieces, where that can be done in time
  std::vector<Piece> fewer = pieces;
  if (within(0.6, [&] { return simplify(fewer), true; })) pieces = std::move(fewer);

  const bool listed = within(1, [&] {
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
    return true;
  });
  if (!listed) {
    result.pieces.clear();
    return finish(ExactStatus::kIncomplete);
  }
  const auto late = [&] { return watch.stopped() || spent() > options.max_seconds; };
  // contacts in units of their own: the other laws have one tolerance for all
  VectorXd unit = VectorXd::Ones(problem.c.size());
  for (int i = 0; i < m; ++i) {
    if (problem.G(i, i) > 0) unit[i] = std::exp2(-std::ilogb(problem.G(i, i)) / 2);
    unit.segment(problem.tangent(i), problem.tangents).setConstant(unit[i]);
  }
  ImpactProblem alike = problem;
  alike.G = unit.asDiagonal() * problem.G * unit.asDiagonal();
  alike.c = unit.cwiseProduct(problem.c);
  std::vector<Polytope> set = result.pieces;
  for (Polytope& piece : set) {
    for (VectorXd& corner : piece.corners) corner = unit.cwiseProduct(corner);
  }
  for (const VectorXd& c : known_outcomes(alike, late)) {
    const double size = std::max(alike.c.norm(), c.norm());
    result.hidden |= nearest_point(set, c).distance > kContained * size;
  }
  if (result.hidden) {
    result.pieces.clear();
    return finish(ExactStatus::kIncomplete);
  }
  return finish(exact ? ExactStatus::kExact : ExactStatus::kBracket);
}

}  // namespace routh
