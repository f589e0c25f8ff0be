#include "routh/impact/exact.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "routh/impact/policy.h"
#include "routh/impact/reachability.h"
#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"

namespace routh {
namespace {

using Eigen::VectorXd;
using Clock = std::chrono::steady_clock;

/// An outcome of another law this near to the set, relative to the velocities, is in it.
constexpr double kContained = 1e-6;
/// Polyhedra before hulls are tried for the first time, and how many more of them than of hulls.
constexpr int kFirst = 40, kHullsFewer = 4;
/// Parts of a piece of hulls that are looked for in what was reached.
constexpr int kParts = 1000;

/// Thrown out of the middle of the work.
struct Abandoned {};

/// Ends work at a deadline, or when the caller says so.
class Watch {
 public:
  explicit Watch(std::function<bool()> stop) : stop_(std::move(stop)) {}

  void until(Clock::time_point deadline) { deadline_ = deadline; }
  bool stopped() const { return stopped_; }
  /// Throws where it is time to.
  void look() {
    const Clock::time_point now = Clock::now();
    if (stop_ && !stopped_ && now >= next_) stopped_ = stop_(), next_ = now + kBetween;
    if (stopped_ || now >= deadline_) throw Abandoned{};
  }

 private:
  static constexpr std::chrono::milliseconds kBetween{5};
  std::function<bool()> stop_;
  Clock::time_point deadline_ = Clock::time_point::max(), next_{};
  bool stopped_ = false;
};

/// Joins pieces of one mode whose union is convex, and drops what lies inside another piece.
void simplify(std::vector<FinalPiece>& pieces, const lcp::Pause& pause) {
  const auto drop_inner = [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::size_t j = 0; j < pieces.size();) {
        pause();
        if (i != j && pieces[i].hull.contains(pieces[j].hull.rows())) {
          pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(j));
          if (j < i) --i;
        } else {
          ++j;
        }
      }
    }
  };
  const auto join = [&](FinalPiece& a, const FinalPiece& b) {
    if (a.modes != b.modes) return false;
    std::optional<lcp::Cone> both = lcp::convex_union(a.hull, b.hull, pause);
    if (both) a.hull = std::move(*both);
    return both.has_value();
  };
  drop_inner();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t j = 0; j < pieces.size();) {
      if (i != j && join(pieces[i], pieces[j])) {
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(j));
        if (j < i) --i;
        j = 0;  // what did not fit before may fit now
      } else {
        ++j;
      }
    }
  }
  drop_inner();
}

bool all_covered(const std::vector<FinalPiece>& pieces, const std::vector<FinalPiece>& by,
                 const lcp::Pause& pause) {
  std::vector<lcp::Cone> cones;
  for (const FinalPiece& piece : by) cones.push_back(piece.hull);
  return std::all_of(pieces.begin(), pieces.end(), [&](const FinalPiece& piece) {
    return covered(piece.hull, cones, kParts, pause);
  });
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

ExactResult exact(const ImpactProblem& problem, const ExactOptions& options) {
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
  const lcp::Pause pause = [&] { watch.look(); };
  std::optional<OrderSpace> space;
  std::optional<Reachability> all, hulls;
  bool pointed = false;
  if (!within(1, [&] {
        space.emplace(RationalImpact(problem, options.precision));
        all.emplace(*space, false, pause);
        return pointed = !space->exact.decided || all->pointed(), true;
      }))
    return finish(ExactStatus::kIncomplete);
  if (!space->exact.decided) {
    result.hidden = true;
    return finish(ExactStatus::kIncomplete);
  }
  if (!pointed) return finish(ExactStatus::kJammed);

  // the exact fixed point. Where it is far, hulls often have one nearby; when what they contain has
  // all been reached, that is the set
  std::vector<FinalPiece> pieces, outer;
  bool exact = false, contained = false;
  // any of it may be abandoned: what is said to be found comes last
  const auto hull_all = [&](int most) {
    if (!hulls->run(most)) return;
    outer = hulls->final_pieces();
    contained = true;
    simplify(outer, pause);
  };
  (void)within(0.5, [&] {
    for (int most = std::min(kFirst, options.max_polyhedra);;) {
      const bool ended = all->run(most);
      if (!ended && !contained) {
        if (!hulls) hulls.emplace(*space, true, pause);
        hull_all(std::max(1, most / kHullsFewer));
      }
      if (ended || contained) {
        pieces = all->final_pieces();
        if (!ended) simplify(pieces, pause);
        exact = ended || all_covered(outer, pieces, pause);
      }
      if (exact || most >= options.max_polyhedra) return true;
      most = most > options.max_polyhedra / 2 ? options.max_polyhedra : 2 * most;
    }
  });
  result.cells = all->locations();
  result.polyhedra = all->polyhedra();
  // else hulls, or else what energy and the friction cone allow
  const bool found = exact || contained ||
                     within(0.3,
                            [&] {
                              hulls.emplace(*space, true, pause);
                              hull_all(options.max_polyhedra);
                              return contained;
                            }) ||
                     within(0.9, [&] { return outer = all->anything(), true; });
  if (hulls) result.polyhedra += hulls->polyhedra();
  if (!found) return finish(ExactStatus::kIncomplete);
  if (!exact) pieces = std::move(outer);

  // fewer pieces, where that can be done in time
  std::vector<FinalPiece> fewer = pieces;
  if (within(0.6, [&] { return simplify(fewer, pause), true; })) pieces = std::move(fewer);

  const bool listed = within(1, [&] {
    for (const FinalPiece& piece : pieces) {
      Polytope out;
      out.dimension = piece.hull.dimension();
      for (const lcp::IntegerRow& corner : piece.hull.rows()) {
        pause();
        out.corners.push_back(all->velocity(corner));
      }
      out.modes = piece.modes;
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
