#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "routh/impact/orders.h"
#include "routh/lcp/double_description.h"

/// What the flow of P1 (39) reaches, location by location: the half of exact.cc that knows
/// mechanics. From a polytope E in a location L it reaches (E ⊕ cone of L) ∩ L, and enters another
/// location through what both share. Everything is closed; states where no closed contact
/// approaches are final and do not continue.
namespace routh {

/// A convex piece of the final states.
struct FinalPiece {
  std::vector<ContactState> modes;  ///< inside of it; empty where unknown
  lcp::Cone hull;                   ///< over (w, w y)
};

class Reachability {
 public:
  /// With `merging` all that is reached in a location is replaced by its convex hull and, if that
  /// keeps growing, widened to what energy allows: more than the truth, but it comes to an end.
  /// `pause` is asked wherever work may be long, and throws to abandon it, after which there is
  /// nothing more to be had.
  Reachability(const OrderSpace& space, bool merging, lcp::Pause pause);

  /// P1 Assumption 2, exactly: no convex combination of the edges of the friction cone moves
  /// nothing.
  bool pointed();

  /// Follows the flow until nothing new is found; false when so many polyhedra were computed
  /// before, from where it can go on.
  bool run(int max_polyhedra);
  /// What was reached, each piece in one mode.
  std::vector<FinalPiece> final_pieces();
  /// All that energy and the friction cone allow.
  std::vector<FinalPiece> anything();

  int locations() const { return static_cast<int>(reached_.size()); }
  int polyhedra() const { return polyhedra_; }
  /// Contact velocity of a corner.
  Eigen::VectorXd velocity(const lcp::IntegerRow& corner) const;

 private:
  using Rows = std::vector<lcp::IntegerRow>;
  struct Entry {
    Location location;
    lcp::Cone from;
    std::pair<std::size_t, int> rank;  ///< ways to push, dimension
  };
  /// A change of one contact's label that may lead somewhere.
  struct Change {
    int to;
    bool shrinks;  ///< pushes less than before
  };

  void enter(const Location& location, const lcp::Cone& from);
  void follow(const Entry& entry);
  void leave(const Location& location, const lcp::Cone& reached);
  bool colliding(const Location& location, const lcp::Cone& states) const;
  /// Can the flow of a location bring a state where a form is zero to where it has this sign?
  bool can_move(const Location& location, int form, int sense) const;
  Rows flow(const Location& location) const;
  void cut_to(lcp::Cone& cone, const ContactLabel& label);
  lcp::Cone within_energy(lcp::Cone cone);
  void widen(lcp::Cone& reached, const lcp::Cone& before, const Location& location);
  void split(const Location& location, lcp::Cone cone, std::vector<FinalPiece>& pieces);

  const OrderSpace& space_;
  bool merging_;
  lcp::Pause pause_;
  int size_;    // of rows: one more than y
  Rows forms_;  // of the space
  std::vector<lcp::IntegerRow> edges_;
  std::vector<std::vector<signed char>> rates_;            // [form][edge]: sign
  std::vector<std::vector<std::vector<Change>>> changes_;  // [contact][label]
  std::vector<Entry> open_;
  std::map<Location, std::vector<lcp::Cone>> reached_;
  std::map<Location, int> merged_;
  std::optional<lcp::IntegerRow> guide_;  ///< a form that is positive along every edge
  int polyhedra_ = 0;
};

}  // namespace routh
