#include "routh/impact/reachability.h"

#include <algorithm>
#include <cmath>

#include "routh/impact/polytopes.h"

namespace routh {

using lcp::Cone;
using lcp::hull;
using lcp::IntegerRow;

namespace {

constexpr int kMerges = 12;                  // of hulls in a location before they are widened
constexpr std::size_t kMostCorners = 10000;  // beyond them bounds of energy are left out
constexpr int kParts = 30;  // of a polytope, that are looked for in the union of those known

/// (w, x) over the common denominator of x; w is 1 of it, or 0 for a direction or a form.
IntegerRow row(const RationalVector& x, bool point) {
  mpz_class denominator = 1;
  for (const Rational& value : x)
    mpz_lcm(denominator.get_mpz_t(), denominator.get_mpz_t(), value.get_den_mpz_t());
  std::vector<mpz_class> entries{point ? denominator : mpz_class(0)};
  for (const Rational& value : x)
    entries.push_back(value.get_num() * (denominator / value.get_den()));
  return IntegerRow(std::move(entries));
}

bool subset(const std::vector<int>& a, const std::vector<int>& b) {
  return std::all_of(a.begin(), a.end(),
                     [&](int x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}

/// Does a convex piece keep to one side of a form, and does it leave it?
struct Sides {
  bool positive = false, negative = false;
};
Sides sides(const IntegerRow& form, const std::vector<lcp::CutCone::Ray>& corners) {
  Sides s;
  for (const lcp::CutCone::Ray& corner : corners) {
    const int sign = product_sign(form, corner.row);
    s.positive |= sign > 0, s.negative |= sign < 0;
  }
  return s;
}

}  // namespace

Reachability::Reachability(const OrderSpace& space, bool merging, lcp::Pause pause)
    : space_(space), merging_(merging), pause_(std::move(pause)), size_(space.exact.dimension + 1) {
  for (const RationalVector& form : space.exact_forms) forms_.push_back(row(form, false));
  for (const OrderSpace::Edge& edge : space.edges) {
    pause_();
    edges_.push_back(row(space.direction(edge), false));
  }
  for (const RationalVector& rates : space.exact_rates) {
    rates_.emplace_back();
    for (const Rational& rate : rates) rates_.back().push_back(static_cast<signed char>(sgn(rate)));
  }
  // One label at a time suffices, because a location may be passed in no time: first those that let
  // contacts push more, then those that let them push less, and of the slips only neighbours.
  for (const std::vector<ContactLabel>& labels : space.labels) {
    auto& list = changes_.emplace_back(labels.size());
    for (std::size_t a = 0; a < labels.size(); ++a) {
      for (std::size_t b = 0; b < labels.size(); ++b) {
        const bool shrinks = subset(labels[b].edges, labels[a].edges);
        // from open to one edge, from edges to more or fewer
        const bool grows = labels[a].closed() ? subset(labels[a].edges, labels[b].edges)
                                              : labels[b].edges.size() == 1;
        if (a != b && (shrinks || grows)) list[a].push_back({static_cast<int>(b), shrinks});
      }
    }
  }
  // of several locations that the start is in any one does, since the others are entered from there
  const IntegerRow start = row(space_.exact.start, true);
  Location location;
  for (int i = 0; i < space_.contacts(); ++i) {
    int fits = 0;  // open, or else the first of the others
    for (int k = static_cast<int>(space_.labels[i].size()) - 1; k > 0; --k) {
      const std::vector<ContactLabel::Row>& rows = space_.labels[i][k].rows;
      if (std::all_of(rows.begin(), rows.end(), [&](const ContactLabel::Row& r) {
            const int sign = product_sign(forms_[r.form], start);
            return r.sense == 0 ? sign == 0 : sign * r.sense >= 0;
          }))
        fits = k;
    }
    location.push_back(static_cast<std::uint8_t>(fits));
  }
  const Cone states = hull({start}, pause_);
  if (colliding(location, states)) {
    enter(location, states);
  } else {
    reached_[location].push_back(states);
  }
}

Reachability::Rows Reachability::flow(const Location& location) const {
  Rows rays;
  for (int i = 0; i < space_.contacts(); ++i) {
    for (const int e : space_.label(location, i).edges) {
      if (space_.edges[e].edge != OrderSpace::kAxis) rays.push_back(edges_[e]);
    }
  }
  return rays;
}

bool Reachability::pointed() {
  Rows all;
  std::vector<Eigen::VectorXd> images;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    if (space_.edges[e].edge == OrderSpace::kAxis) continue;
    all.push_back(edges_[e]);
    images.emplace_back(Eigen::Map<const Eigen::VectorXd>(edges_[e].image.data(), size_));
  }
  // a form that is positive along every edge proves it ..
  const Eigen::VectorXd nearest = nearest_in_hull(images, Eigen::VectorXd::Zero(size_)).offset;
  std::vector<mpz_class> form;
  for (const double x : nearest) form.emplace_back(std::ldexp(x, 60));
  const IntegerRow guess(std::move(form));
  if (std::all_of(all.begin(), all.end(),
                  [&](const IntegerRow& edge) { return product_sign(guess, edge) > 0; })) {
    guide_ = guess;
    return true;
  }
  // .. and if there is none, facets say which edges cancel
  lcp::CutCone polar = lcp::CutCone::everything(size_);
  for (const IntegerRow& edge : all) polar.cut(edge, false, pause_);
  return std::all_of(all.begin(), all.end(), [&](const IntegerRow& edge) {
    return std::any_of(polar.rays.begin(), polar.rays.end(), [&](const lcp::CutCone::Ray& ray) {
      return product_sign(ray.row, edge) > 0;
    });
  });
}

bool Reachability::colliding(const Location& location, const Cone& states) const {
  for (int i = 0; i < space_.contacts(); ++i) {
    if (space_.label(location, i).closed() && sides(forms_[i], states.rays()).negative) return true;
  }
  return false;
}

bool Reachability::can_move(const Location& location, int form, int sense) const {
  for (int i = 0; i < space_.contacts(); ++i) {
    const std::vector<int>& pushing = space_.label(location, i).edges;
    if (std::any_of(pushing.begin(), pushing.end(),
                    [&](int e) { return rates_[form][e] == sense; }))
      return true;
  }
  return false;
}

void Reachability::cut_to(Cone& cone, const ContactLabel& label) {
  for (const ContactLabel::Row& r : label.rows)
    cone.cut(r.sense < 0 ? negated(forms_[r.form]) : forms_[r.form], r.sense == 0, pause_);
}

void Reachability::enter(const Location& location, const Cone& from) {
  const auto known = reached_.find(location);
  const Rows corners = from.rows();
  if (known != reached_.end()) {
    for (const Cone& cone : known->second) {
      if (cone.contains(corners)) return;
    }
  }
  std::size_t ways = 0;
  for (int i = 0; i < space_.contacts(); ++i) ways += space_.label(location, i).edges.size();
  open_.push_back({location, lcp::minimal(from), {ways, lcp::rank(corners)}});
}

bool Reachability::run(int max_polyhedra) {
  while (!open_.empty()) {
    if (polyhedra_ >= max_polyhedra) return false;
    // where contacts push in most ways first, then the largest: they contain much of what comes
    // later, and the limits of what turns round and round
    const auto largest = std::max_element(
        open_.begin(), open_.end(), [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
    const Entry next = std::move(*largest);
    open_.erase(largest);
    follow(next);
  }
  return true;
}

void Reachability::follow(const Entry& entry) {
  pause_();
  const auto [place, fresh] = reached_.try_emplace(entry.location);
  std::vector<Cone>& list = place->second;
  if (covered(entry.from, list, kParts, pause_)) return;
  ++polyhedra_;
  const Rows flows = flow(entry.location);
  const auto within = [&](const Cone& from) {
    Cone cone = extended(from, flows, pause_);
    for (int i = 0; i < space_.contacts(); ++i) cut_to(cone, space_.label(entry.location, i));
    return lcp::minimal(cone);
  };
  Cone reached = within(entry.from);
  if (merging_ && !list.empty()) {
    Cone both = extended(list.front(), reached.rows(), pause_);
    if (++merged_[entry.location] > kMerges) widen(both, list.front(), entry.location);
    reached = within(lcp::minimal(both));
  }
  std::erase_if(list, [&](const Cone& known) { return reached.contains(known.rows()); });
  // where two make one
  for (std::size_t k = 0; k < list.size() && !merging_;) {
    std::optional<Cone> both = convex_union(list[k], reached, pause_);
    if (!both) {
      ++k;
      continue;
    }
    reached = std::move(*both);
    std::erase_if(list, [&](const Cone& known) { return reached.contains(known.rows()); });
    k = 0;
  }
  list.push_back(reached);
  leave(entry.location, reached);
}

void Reachability::leave(const Location& location, const Cone& reached) {
  for (int i = 0; i < space_.contacts(); ++i) {
    for (const Change& change : changes_[i][location[i]]) {
      Location to = location;
      to[i] = static_cast<std::uint8_t>(change.to);
      const ContactLabel& label = space_.label(to, i);
      Cone shared = reached;
      cut_to(shared, label);
      if (shared.empty()) continue;
      // what pushes less matters only where it moves off
      if (change.shrinks && std::any_of(label.rows.begin(), label.rows.end(), [&](const auto& r) {
            if (r.sense == 0 || (r.form == i && label.closed())) return false;
            const Sides s = sides(forms_[r.form], shared.rays());
            return !s.positive && !s.negative && !can_move(to, r.form, r.sense);
          }))
        continue;
      if (colliding(to, shared)) enter(to, shared);
    }
  }
}

// Where corners become many, what is bounded stays as it is: wider, and still true.
Cone Reachability::within_energy(Cone cone) {
  for (std::size_t i = 0; i < space_.exact.T.size(); ++i) {
    const bool bounded =
        std::none_of(cone.rays().begin(), cone.rays().end(),
                     [](const lcp::CutCone::Ray& ray) { return ray.row.x[0] == 0; });
    if (bounded && cone.rays().size() > kMostCorners) break;
    const Rational limit(std::ceil(space_.exact.reach[static_cast<Eigen::Index>(i)] * 0x1p20) + 1);
    RationalVector c = space_.exact.T[i];
    for (Rational& x : c) x *= Rational(1 << 20);
    c.insert(c.begin(), limit);
    // limit ± c ≥ 0
    const auto whole = [&] {
      IntegerRow r = row(c, false);
      r.x.erase(r.x.begin());
      return IntegerRow(std::move(r.x));
    };
    cone.cut(whole(), false, pause_);
    for (std::size_t k = 1; k < c.size(); ++k) c[k] = -c[k];
    cone.cut(whole(), false, pause_);
  }
  return cone;
}

// What both have as facets (Cousot, Halbwachs), within what energy allows.
void Reachability::widen(Cone& reached, const Cone& before, const Location& location) {
  // a box that contains all energy allows, then its cuts
  const Rational far(std::ceil(space_.exact.reach.maxCoeff()) + 1);
  Rows box{row(RationalVector(size_ - 1), true)};
  for (int k = 0; k + 1 < size_; ++k) {
    Rows longer;
    for (const IntegerRow& corner : box) {
      for (const int sign : {-1, 1}) {
        std::vector<mpz_class> x = corner.x;
        x[k + 1] = sign * far.get_num();
        longer.emplace_back(std::move(x));
      }
    }
    box = std::move(longer);
  }
  Cone wide = within_energy(hull(box, pause_));
  for (const IntegerRow& e : reached.equalities) wide.cut(e, true, pause_);
  const Rows corners = reached.rows();
  for (const IntegerRow& f : before.facets) {
    if (std::all_of(corners.begin(), corners.end(),
                    [&](const IntegerRow& c) { return product_sign(f, c) >= 0; }))
      wide.cut(f, false, pause_);
  }
  for (int i = 0; i < space_.contacts(); ++i) cut_to(wide, space_.label(location, i));
  reached = std::move(wide);
}

void Reachability::split(const Location& location, Cone cone, std::vector<FinalPiece>& pieces) {
  if (cone.empty()) return;
  FinalPiece piece;
  for (int i = 0; i < space_.contacts(); ++i) {
    using enum ContactState;
    ContactState state = kSeparating;
    if (!sides(forms_[i], cone.rays()).positive) {
      const int t = space_.exact.tangent(i);
      const bool smooth = space_.exact.frictionless[i];
      Sides s;
      for (int k = 0; k < space_.exact.tangents; ++k) {
        const IntegerRow slip = row(space_.exact.T[t + k], false);
        const Sides one = sides(slip, cone.rays());
        if (space_.exact.tangents == 1 && one.positive && one.negative && !smooth) {
          // it slides both ways
          for (const bool back : {false, true}) {
            Cone half = cone;
            half.cut(back ? negated(slip) : slip, false, pause_);
            split(location, std::move(half), pieces);
          }
          return;
        }
        s.positive |= one.positive, s.negative |= one.negative;
      }
      if (s.positive && s.negative && space_.exact.tangents == 1) {
        // without friction it may: the way of the middle
        double middle = 0;
        for (const lcp::CutCone::Ray& corner : cone.rays()) middle += velocity(corner.row)[t];
        s = {.positive = middle > 0, .negative = middle < 0};
      }
      state = !s.positive && !s.negative  ? kSticking
              : space_.exact.tangents > 1 ? kSliding
              : s.positive                ? kSlidingPositive
                                          : kSlidingNegative;
    }
    piece.modes.push_back(state);
  }
  piece.hull = lcp::minimal(cone);
  pieces.push_back(std::move(piece));
}

std::vector<FinalPiece> Reachability::final_pieces() {
  std::vector<FinalPiece> pieces;
  for (const auto& [location, list] : reached_) {
    for (Cone cone : list) {
      for (int i = 0; i < space_.contacts(); ++i) {
        if (space_.label(location, i).closed()) cone.cut(forms_[i], true, pause_);
      }
      split(location, std::move(cone), pieces);
    }
  }
  return pieces;
}

std::vector<FinalPiece> Reachability::anything() {
  Rows rays;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    if (space_.edges[e].edge != OrderSpace::kAxis) rays.push_back(edges_[e]);
  }
  Cone all = extended(hull({row(space_.exact.start, true)}, pause_), rays, pause_);
  // a form that grows along every edge bounds all at once
  if (guide_) {
    Rational most = 1;
    for (int k = 1; k < size_; ++k) {
      // y_k is a velocity of its own, within what energy allows
      for (std::size_t i = 0; i < space_.exact.T.size(); ++i) {
        const RationalVector& t = space_.exact.T[i];
        const auto others = std::count_if(t.begin(), t.end(), [](auto& x) { return sgn(x) != 0; });
        if (others != 1 || t[k - 1] != 1) continue;
        most += abs(Rational(guide_->x[k])) *
                Rational(std::ceil(space_.exact.reach[static_cast<Eigen::Index>(i)] * 0x1p20) + 1) /
                Rational(1 << 20);
        break;
      }
    }
    std::vector<mpz_class> limit{most.get_num()};
    for (int k = 1; k < size_; ++k) limit.emplace_back(-guide_->x[k] * most.get_den());
    all.cut(IntegerRow(std::move(limit)), false, pause_);
  }
  for (int i = 0; i < space_.contacts(); ++i) all.cut(forms_[i], false, pause_);
  all = within_energy(std::move(all));
  if (all.empty()) return {};
  return {{{}, lcp::minimal(all)}};
}

Eigen::VectorXd Reachability::velocity(const IntegerRow& corner) const {
  RationalVector y;
  for (int k = 1; k < size_; ++k) {
    y.emplace_back(corner.x[k], corner.x[0]);
    y.back().canonicalize();
  }
  return space_.exact.velocity(y);
}

}  // namespace routh
