#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "routh/impact/rational_impact.h"
#include "routh/lcp/pivot.h"

/// Orders of an impact, and the linear program of one order: the half of witness.cc that knows
/// mechanics.
///
/// A *location* says of every contact whether it is open (cn ≥ 0, it does not push) or closed
/// (cn ≤ 0), and of a closed one which edges of the friction cone brake its slip: one where it
/// slides, two where two brake alike (in space), all where it rests. Locations are closed and
/// convex, and in each the flow of P1 (39) is the cone of the edges that push. So all paths through
/// an *order* of locations L_1 .. L_K, with breakpoints p_k = c⁻ + Σ_{j ≤ k} D α_j, are the
/// polytope
///
///   α_k ≥ 0 per edge that pushes in L_k,   p_k ∈ L_k,   p_k ∈ L_k+1 and Σ_{closed} cn(p_k) ≤ -tiny
///   for k < K (the impact has not ended),   cn_i(p_K) = 0 for i closed in L_K,
///
/// and the largest q · p_K is a linear program.
namespace routh {

/// One way a contact can be. An open contact has no edges.
struct ContactLabel {
  struct Row {
    int form;   ///< of OrderSpace
    int sense;  ///< 1: form ≥ 0; -1: form ≤ 0; 0: form = 0
  };
  ContactState state = ContactState::kSeparating;
  std::vector<int> edges = {};
  std::vector<Row> rows = {};

  bool closed() const { return !edges.empty(); }
};

using Location = std::vector<std::uint8_t>;  ///< the label of each contact
using Order = std::vector<Location>;

/// What all orders share. Forms are the normal velocities, then what the labels ask for; both edges
/// and forms are scaled by powers of two to be of order one.
struct OrderSpace {
  explicit OrderSpace(RationalImpact impact);

  RationalImpact exact;
  std::vector<std::vector<ContactLabel>> labels;  ///< [contact]; the first is open
  /// A direction that a contact can push in: an edge of its friction cone, or its axis, which keeps
  /// the amounts of a contact at rest of order one however large friction is.
  struct Edge {
    int contact, edge;  ///< kAxis: the axis
    int scale;          ///< a unit of α is 2^scale units of normal impulse
  };
  static constexpr int kAxis = -1;
  std::vector<Edge> edges;
  RationalMatrix exact_forms;  ///< over y
  Eigen::MatrixXd over_c;      ///< the same over contact velocities in their own units
  RationalMatrix exact_rates;  ///< [form][edge]
  RationalVector exact_start;  ///< of the forms
  Rational exact_tiny;         ///< an impact is over where contacts approach by less
  Eigen::MatrixXd rates;       ///< the same in floating point
  Eigen::VectorXd start;
  double tiny = 0;

  int contacts() const { return exact.contacts; }
  const RationalVector& direction(const Edge& edge) const {
    return edge.edge == kAxis ? exact.normal[edge.contact]
                              : exact.direction[edge.contact][edge.edge];
  }
  /// Impulse of a unit of α, ordered as c, in own units.
  RationalVector impulse(const Edge& edge) const;
  /// Rates of a form over y along the edges.
  RationalVector along_edges(const RationalVector& form) const;
  const ContactLabel& label(const Location& location, int contact) const {
    return labels[contact][location[contact]];
  }
  /// Does a contact with these velocities fit a label?
  bool fits(const ContactLabel& label, const Eigen::VectorXd& forms, double tolerance) const;
};

/// Where the last phase has to end.
enum class OrderEnd {
  kFinal,  ///< with no approaching contact
  kOpen,   ///< anywhere in its location: a path that is still to be continued
};

/// What the end of a phase has to obey: a form ≥ 0, ≤ 0 or = 0; or kProgress, the row of what has
/// not ended, -tiny - Σ_{closed} cn ≥ 0.
struct OrderRow {
  static constexpr int kProgress = -1;
  int phase, form, sense;
};
std::vector<OrderRow> order_rows(const OrderSpace& space, const Order& order, OrderEnd end);

/// What makes a corner of the polytope of an order: the amounts that are not zero and as many rows
/// that are tight. Phases count from 0.
struct OrderBasis {
  struct Item {
    int phase, index;  ///< an edge, or a form; kProgress: the row of what has not ended
    bool operator==(const Item&) const = default;
  };
  static constexpr int kProgress = OrderRow::kProgress;
  std::vector<Item> pushes, tight;
};

/// A path through an order.
struct OrderPath {
  Order order;
  OrderBasis basis;
  std::vector<double> multipliers;  ///< of basis.tight
  /// Corners that the path mixes, with their weights; none: it is a corner itself.
  std::vector<std::pair<double, OrderBasis>> mixture;
  std::vector<Eigen::VectorXd> alpha;  ///< [phase]: per edge
  std::vector<Eigen::VectorXd> forms;  ///< [phase]: at its end
};

enum class OrderStatus { kOptimal, kInfeasible, kUnbounded, kUndecided };

/// Linear programs of orders, one after the other in the same memory; for use by one thread.
template <class Real>
class OrderProgram {
 public:
  /// `stop` is asked now and then; true leaves programs undecided.
  explicit OrderProgram(const OrderSpace& space, std::function<bool()> stop = {});

  /// The largest Σ q α over the paths of `path.order`, beginning with `path.basis`, which need not
  /// be feasible; `path` receives the answer. q is a gain per edge, the same in all phases.
  OrderStatus solve(OrderPath& path, const Eigen::VectorXd& q, OrderEnd end);
  /// The same for one phase that begins where the forms have these values.
  OrderStatus step(OrderPath& path, const Eigen::VectorXd& q, const Eigen::VectorXd& forms);

 private:
  void build(const Order& order, OrderEnd end);
  void crash(const OrderBasis& basis);
  void price(const Eigen::VectorXd& q);
  bool make_feasible();
  OrderStatus improve();
  void pivot(int row, int column);
  void read(OrderPath& path) const;
  /// Does a path computed from its amounts keep the rows? Many pivots add up their rounding.
  bool holds(const OrderPath& path) const;

  /// Of the dictionary: basic = value + Σ at(basic, column) nonbasic.
  Real& at(int r, int column) {
    return dictionary_[static_cast<std::size_t>(column) * stride_ + r];
  }
  const Real& at(int r, int column) const {
    return dictionary_[static_cast<std::size_t>(column) * stride_ + r];
  }
  Real& value(int r) { return at(r, columns_); }
  const Real& value(int r) const { return at(r, columns_); }
  bool fixed(int variable) const {
    return variable >= columns_ && rows_[variable - columns_].sense == 0;
  }

  /// Asked at every pivot; the answer is looked for at some.
  /// Asked now and then; with many digits every step takes long.
  bool stopped(int steps) const {
    return (sizeof(Real) > sizeof(double) || steps % 16 == 15) && stop_ && stop_();
  }

  const OrderSpace& space_;
  std::function<bool()> stop_;
  lcp::PivotKernel kernel_;
  std::vector<Real> rates_, start_;  // of the space
  std::vector<OrderBasis::Item> pushes_;
  std::vector<OrderRow> rows_;
  int columns_ = 0, stride_ = 0;
  std::vector<Real> dictionary_;  // by columns, the last one the values; the last row the objective
  std::vector<int> basic_;        // [row]: its variable; amounts first, then the slacks of rows_
  std::vector<int> nonbasic_;     // [column]
  std::vector<int> first_column_;  // [phase]
  std::vector<Real> gain_;
};

}  // namespace routh
