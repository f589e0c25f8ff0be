#include "routh/impact/longest.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "routh/impact/policy.h"
#include "routh/impact/reachability.h"

namespace routh {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct OutOfBudget {};

/// The impact with a coordinate more, that no contact feels.
RationalImpact with_counter(const ImpactProblem& problem, const Eigen::VectorXd& load,
                            int& exponent) {
  RationalImpact impact(problem);
  // load · λ in a unit of its own: λ_i = 2^(2 speed - unit_i) λ'_i
  exponent = 0;
  Eigen::VectorXd by(load.size());
  for (Eigen::Index i = 0; i < load.size(); ++i)
    by[i] = std::ldexp(load[i], 2 * impact.speed - impact.unit[i]);
  if (by.any()) exponent = std::ilogb(by.lpNorm<Eigen::Infinity>());
  const auto counted = [&](int i, const RationalVector* friction) {
    Rational sum = Rational(std::ldexp(by[i], -exponent));
    for (int k = 0; friction && k < impact.tangents && !impact.frictionless[i]; ++k)
      sum += Rational(std::ldexp(by[impact.tangent(i) + k], -exponent)) * impact.mu[i] *
             (*friction)[k];
    return sum;
  };
  for (RationalVector& row : impact.T) row.emplace_back(0);
  impact.start.emplace_back(0);
  for (int i = 0; i < impact.contacts; ++i) {
    impact.normal[i].push_back(counted(i, nullptr));
    for (int e = 0; e < impact.edges; ++e)
      impact.direction[i][e].push_back(counted(i, &impact.D[e]));
  }
  ++impact.dimension;
  return impact;
}

}  // namespace

std::optional<ImpulseRange> impulse_range(const ImpactProblem& problem, const Eigen::VectorXd& load,
                                          const ExactOptions& options) {
  validate(problem);
  const int most_contacts = problem.tangents == 2 ? policy::kExactInSpace : policy::kExact;
  if (problem.bounces() || problem.circular() || problem.contacts() > most_contacts) return {};
  const auto deadline =
      SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                               std::chrono::duration<double>(std::min(options.max_seconds, 1e8)));
  const lcp::Pause pause = [&] {
    if ((options.stop && options.stop()) || SteadyClock::now() >= deadline) throw OutOfBudget{};
  };
  int exponent = 0;
  RationalImpact counted = with_counter(problem, load, exponent);
  if (!counted.decided) return {};
  const OrderSpace space(std::move(counted));
  try {
    Reachability reached(space, false, pause);
    if (!reached.pointed() || !reached.run(options.max_polyhedra)) return {};
    ImpulseRange range{HUGE_VAL, -HUGE_VAL};
    for (const FinalPiece& piece : reached.final_pieces()) {
      for (const lcp::IntegerRow& corner : piece.hull.rows()) {
        const double amount =
            std::ldexp(Rational(corner.x.back(), corner.x.front()).get_d(), exponent);
        range = {std::min(range.least, amount), std::max(range.most, amount)};
      }
    }
    if (!(range.least <= range.most)) return {};
    return range;
  } catch (const OutOfBudget&) {
    return {};
  }
}

}  // namespace routh
