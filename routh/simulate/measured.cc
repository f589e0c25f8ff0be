#include "routh/simulate/measured.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "routh/impact/lzb.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/linear/decompose.h"

namespace routh {

using Eigen::VectorXd;

namespace {
constexpr int kControlDraws = 400;  // for kControls that are possible
}  // namespace

double kinetic_distance(const MeasuredImpact& impact, const VectorXd& v, const VectorXd& other) {
  const VectorXd by = v - other;
  return std::sqrt(std::max(0.0, by.dot(impact.M * by)) / impact.M(0, 0));
}

double noise_of(const MeasuredImpact& impact) {
  if (impact.sigma.size() == 0) return 0;
  return std::sqrt(impact.M.diagonal().dot(impact.sigma.cwiseAbs2()) / impact.M(0, 0));
}

double energy_kept(const MeasuredImpact& impact) {
  return impact.v_plus.dot(impact.M * impact.v_plus) /
         impact.v_minus.dot(impact.M * impact.v_minus);
}

bool approaches(const MeasuredImpact& impact) {
  return (impact.J.topRows(impact.contacts) * impact.v_minus).minCoeff() < 0;
}

namespace {

/// Velocity per impulse, M⁻¹ Jᵀ.
Eigen::MatrixXd response(const MeasuredImpact& impact) {
  return impact.M.ldlt().solve(impact.J.transpose());
}

/// The part of a change of velocity that impulses at the contacts can make.
VectorXd possible(const MeasuredImpact& impact, const VectorXd& change) {
  const Eigen::MatrixXd root = impact.M.llt().matrixU();
  const VectorXd impulse = linear::least_squares(root * response(impact), VectorXd(root * change));
  return response(impact) * impulse;
}

}  // namespace

double unexplained(const MeasuredImpact& impact) {
  const VectorXd change = impact.v_plus - impact.v_minus;
  return kinetic_distance(impact, change, possible(impact, change));
}

ImpactProblem problem_of(const MeasuredImpact& impact, const ContactParameters& parameters) {
  ImpactProblem p{.G = impact.J * response(impact),
                  .c = impact.J * impact.v_minus,
                  .mu = VectorXd::Constant(impact.contacts, parameters.mu),
                  .tangents = impact.tangents,
                  .edges = 0,
                  .e = VectorXd::Constant(impact.contacts, parameters.e),
                  .restitution = parameters.restitution};
  p.G = (0.5 * (p.G + p.G.transpose())).eval();
  return p;
}

namespace {

VectorXd lifted(const MeasuredImpact& impact, const VectorXd& impulse) {
  return impact.v_minus + response(impact) * impulse;
}

std::vector<PredictedOutcome> at_once(const MeasuredImpact& impact,
                                      const ContactParameters& parameters) {
  ImpactProblem p = problem_of(impact, parameters);
  if (p.contacts() > 1 && p.circular()) p.edges = kEdges;
  std::vector<PredictedOutcome> all;
  for (const Outcome& o :
       simultaneous(p, {.max_modes = 1200, .max_programs = 200, .attempts = 2}).outcomes)
    all.push_back({lifted(impact, o.impulse)});
  return all;
}

std::vector<PredictedOutcome> one_by_one(const MeasuredImpact& impact,
                                         const ContactParameters& parameters) {
  std::vector<PredictedOutcome> all;
  const SequentialOptions options{.max_impacts = 60, .max_states = 300};
  for (const SequentialOutcome& s : sequential(problem_of(impact, parameters), options).outcomes)
    all.push_back({lifted(impact, s.outcome.impulse), s.order.empty() ? -1 : s.order[0]});
  return all;
}

std::vector<PredictedOutcome> algebraic(const MeasuredImpact& impact,
                                        const ContactParameters& parameters) {
  std::vector<PredictedOutcome> all;
  const SequentialOptions options{
      .single = SingleLaw::kImpulseSpace, .max_impacts = 60, .max_states = 300};
  for (const SequentialOutcome& s : sequential(problem_of(impact, parameters), options).outcomes)
    all.push_back({lifted(impact, s.outcome.impulse), s.order.empty() ? -1 : s.order[0]});
  return all;
}

std::vector<PredictedOutcome> distributed(const MeasuredImpact& impact,
                                          const ContactParameters& parameters) {
  const LzbResult r = lzb(problem_of(impact, parameters), {.steps = 30, .max_steps = 20'000});
  if (!r.finished) return {};
  return {{lifted(impact, r.outcome.impulse)}};
}

std::vector<PredictedOutcome> sampled(const MeasuredImpact& impact,
                                      const ContactParameters& parameters, std::uint64_t samples,
                                      std::uint64_t seed) {
  ImpactProblem p = problem_of(impact, parameters);
  if (!p.bounces() && p.circular()) p.edges = kEdges;
  std::vector<PredictedOutcome> all;
  if (!colliding(p, p.c)) return {{impact.v_minus}};
  const double step = 0.25 * -p.normal().minCoeff() / p.G.diagonal().head(p.contacts()).mean();
  // half of them favour extreme orders
  for (const Draws draws : {Draws::kUniform, Draws::kCorners}) {
    const std::uint64_t half = std::max<std::uint64_t>(1, samples / 2);
    const SetResult set = set_valued(p, {.samples = half,
                                         .step = step,
                                         .limit = 200,
                                         .draws = draws,
                                         .seed = seed,
                                         .threads = 1,
                                         .keep = half});
    for (const SetSample& s : set.kept) {
      if (s.terminated) all.push_back({lifted(impact, s.outcome.impulse)});
    }
  }
  return all;
}

}  // namespace

std::vector<MeasuredLaw> measured_laws(std::uint64_t samples, std::uint64_t seed) {
  return {{"simultaneous", at_once},
          {"sequential", one_by_one},
          {"set",
           [=](const MeasuredImpact& impact, const ContactParameters& parameters) {
             return sampled(impact, parameters, samples, seed);
           }},
          {"binary", algebraic},
          {"lzb", distributed}};
}

MeasuredDistance measure(const MeasuredImpact& impact,
                         const std::vector<PredictedOutcome>& outcomes, std::uint64_t seed) {
  MeasuredDistance d{.outcomes = static_cast<int>(outcomes.size())};
  if (outcomes.empty()) return {HUGE_VAL, HUGE_VAL};
  const VectorXd& first = outcomes.front().v;
  const auto distance_of = [&](const PredictedOutcome& outcome, const VectorXd& v) {
    return kinetic_distance(impact, outcome.v, v);
  };
  const auto nearest_to = [&](const VectorXd& v) -> const PredictedOutcome& {
    return *std::min_element(outcomes.begin(), outcomes.end(), [&](const auto& a, const auto& b) {
      return distance_of(a, v) < distance_of(b, v);
    });
  };
  d.first = kinetic_distance(impact, first, impact.v_plus);
  d.prediction = nearest_to(impact.v_plus);
  d.nearest = distance_of(d.prediction, impact.v_plus);
  d.begins = d.prediction.begins;
  // where all begin alike, or orders that do not come to the same, that of the nearest says nothing
  if (std::all_of(outcomes.begin(), outcomes.end(),
                  [&](const PredictedOutcome& o) { return o.begins == outcomes[0].begins; }))
    d.begins = -1;

  // the same error in random directions; what impulses at the contacts cannot make stays as it is
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const VectorXd error = impact.v_plus - first, inside = possible(impact, error);
  const Eigen::MatrixXd root = impact.M.llt().matrixU();
  const auto energy = [&](const VectorXd& v) { return v.dot(impact.M * v); };
  const auto separation = [&](const VectorXd& v) {
    return (impact.J.topRows(impact.contacts) * v).minCoeff();
  };
  const double least = std::min(0.0, separation(impact.v_plus)),
               most = std::max(energy(impact.v_minus), energy(impact.v_plus));
  for (int k = 0; k < kControlDraws && static_cast<int>(d.controls.size()) < kControls; ++k) {
    const VectorXd draw = VectorXd::NullaryExpr(error.size(), [&] { return normal(random); });
    VectorXd other = possible(impact, root.triangularView<Eigen::Upper>().solve(draw));
    const double length = std::sqrt(energy(other));
    if (length > 0) other *= std::sqrt(energy(inside)) / length;
    const VectorXd v = first + (error - inside) + other;
    if (separation(v) < least || energy(v) > most) continue;
    const PredictedOutcome& nearest = nearest_to(v);
    d.controls.push_back(distance_of(nearest, v));
    if (d.begins >= 0) d.control_begins.push_back(nearest.begins);
  }
  return d;
}

RankTest rank_test(const std::vector<const MeasuredDistance*>& measured,
                   const std::function<bool(double, double)>& tie) {
  // Places count in halves: of n controls, 2 for each that is nearer and 1 for each tie. Given all
  // n + 1 distances, each of them is the measured one with the same chance.
  RankTest result;
  std::vector<double> chance{1};  // of each sum of places
  std::size_t sum = 0;
  double farther = 0;
  int count = 0;
  for (const MeasuredDistance* d : measured) {
    if (d->controls.empty() || !std::isfinite(d->nearest)) {
      ++result.ties;
      continue;
    }
    std::vector<double> all = d->controls;
    all.push_back(d->nearest);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t place = 0;
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (j == i) continue;
        place += tie(all[i], all[j]) ? 1 : all[j] < all[i] ? 2 : 0;
      }
      places.push_back(place);
    }
    const std::size_t n = d->controls.size();
    result.ties += std::all_of(all.begin(), all.end(), [&](double x) { return tie(x, all[0]); });
    sum += places.back();
    farther += 1 - 0.5 * static_cast<double>(places.back()) / static_cast<double>(n);
    ++count;
    std::vector<double> next(chance.size() + 2 * n, 0.0);
    for (std::size_t at = 0; at < chance.size(); ++at) {
      for (const std::size_t place : places)
        next[at + place] += chance[at] / static_cast<double>(n + 1);
    }
    chance = std::move(next);
  }
  if (count == 0) return result;
  result.farther = farther / count;
  result.chance = 0;
  for (std::size_t at = 0; at <= sum; ++at) result.chance += chance[at];
  result.chance = std::min(1.0, result.chance);
  return result;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 || !std::isfinite(*middle)) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace routh
