#include "routh/simulate/impact_derivative.h"

#include <algorithm>
#include <cmath>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kStep = 3e-6;    // of differences in q, relative to its unit
constexpr double kBroken = 1e-6;  // equations that fail by less are rounding and differences

/// v⁺ along a change of the impact, or NaN where the mode does not survive it.
VectorXd lifted(const ReducedImpact& reduced, const OutcomeDerivative& outcome, const VectorXd& dc,
                const MatrixXd& dG = {}, const VectorXd& dmu = {}) {
  const OutcomeChange change = outcome(dc, dG, dmu);
  if (change.broken > kBroken) return VectorXd::Constant(reduced.W.rows(), NAN);
  return reduced.W * change.impulse;
}

/// The same contacts at another configuration; nothing where one is not found.
std::optional<ReducedImpact> same_contacts(const System& system, const VectorXd& q,
                                           const VectorXd& v, const Terms& now,
                                           const ReducedImpact& reduced) {
  const Terms terms = system.terms(q, v);
  std::vector<int> contacts;
  for (const int i : reduced.contacts) {
    const Contact& wanted = now.contacts[i];
    const auto same =
        std::find_if(terms.contacts.begin(), terms.contacts.end(), [&](const Contact& c) {
          return c.id == wanted.id && (c.id >= 0 || c.name == wanted.name);
        });
    if (same == terms.contacts.end()) return {};
    contacts.push_back(static_cast<int>(same - terms.contacts.begin()));
  }
  return reduce(terms, v, std::move(contacts));
}

}  // namespace

ImpactDerivative derivative(const ReducedImpact& reduced, const Outcome& outcome) {
  const OutcomeDerivative of(reduced.problem, outcome);
  const Eigen::Index nv = reduced.W.rows(), m = reduced.problem.contacts();
  ImpactDerivative d{.corners = of.corners(), .determined = of.determined()};
  d.v = MatrixXd::Identity(nv, nv);
  for (Eigen::Index j = 0; j < nv; ++j) d.v.col(j) += lifted(reduced, of, reduced.J.col(j));
  d.friction.resize(nv, m);
  for (Eigen::Index i = 0; i < m; ++i)
    d.friction.col(i) = lifted(reduced, of, {}, {}, VectorXd::Unit(m, i));
  return d;
}

ImpactDerivative derivative(const System& system, const VectorXd& q, const VectorXd& v,
                            const ReducedImpact& reduced, const Outcome& outcome,
                            const Masses& masses) {
  const Terms terms = system.terms(q, v);
  ImpactDerivative d = derivative(reduced, outcome);
  const OutcomeDerivative of(reduced.problem, outcome);
  const Eigen::Index nv = v.size();

  // W and G with the inertia: dW = -M† dM W, dG = -Wᵀ dM W
  d.bodies = masses.bodies;
  d.mass.resize(nv, std::ssize(masses.bodies));
  for (Eigen::Index b = 0; const MassSlope& slope : mass_slopes(system, q, v, masses)) {
    const MatrixXd heavier = slope.dM * reduced.W;
    d.mass.col(b++) = lifted(reduced, of, {}, -reduced.W.transpose() * heavier) -
                      reduced.Mdag * (heavier * outcome.impulse);
  }

  // and with the configuration
  MatrixXd by_q(nv, nv);
  for (Eigen::Index j = 0; j < nv; ++j) {
    std::optional<ReducedImpact> beside[2];
    for (int k = 0; k < 2; ++k) {
      VectorXd moved = q;
      system.integrate(moved, VectorXd::Unit(nv, j), k ? -kStep : kStep);
      beside[k] = same_contacts(system, moved, v, terms, reduced);
      if (!beside[k]) return d;
    }
    const auto slope = [&](const auto& of_impact) {
      return MatrixXd((of_impact(*beside[0]) - of_impact(*beside[1])) / (2 * kStep));
    };
    const VectorXd dc = slope([](const ReducedImpact& r) { return r.problem.c; });
    const MatrixXd dG = slope([](const ReducedImpact& r) { return r.problem.G; });
    const MatrixXd dW = slope([](const ReducedImpact& r) { return r.W; });
    by_q.col(j) = lifted(reduced, of, dc, dG) + dW * outcome.impulse;
  }
  d.q = by_q;
  return d;
}

}  // namespace routh
