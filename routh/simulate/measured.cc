#include "routh/simulate/measured.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "routh/impact/lzb.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"

namespace routh {

using Eigen::VectorXd;

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

namespace {

/// Velocity per impulse, M⁻¹ Jᵀ.
Eigen::MatrixXd response(const MeasuredImpact& impact) {
  return impact.M.ldlt().solve(impact.J.transpose());
}

/// The part of a change of velocity that impulses at the contacts can make.
VectorXd possible(const MeasuredImpact& impact, const VectorXd& change) {
  const Eigen::MatrixXd root = impact.M.llt().matrixU();
  const VectorXd impulse =
      (root * response(impact)).completeOrthogonalDecomposition().solve(root * change);
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

ContactFit fit_contact(const std::vector<MeasuredImpact>& impacts, const MeasuredLaw& law,
                       Restitution restitution, int refinements) {
  const auto mean_distance = [&](double mu, double e) {
    double sum = 0;
    for (const MeasuredImpact& impact : impacts) {
      double nearest = kinetic_distance(impact, impact.v_minus, impact.v_plus);
      for (const PredictedOutcome& o : law.predict(impact, {mu, e, restitution}))
        nearest = std::min(nearest, kinetic_distance(impact, o.v, impact.v_plus));
      sum += nearest;
    }
    return sum / std::max<double>(1, static_cast<double>(impacts.size()));
  };
  ContactFit best{.parameters = {0.5, 0.5, restitution}, .distance = HUGE_VAL};
  double step_mu = 0.25, step_e = 0.125;
  double low_mu = 0, high_mu = 2, low_e = 0, high_e = 1;
  for (int round = 0; round < refinements; ++round) {
    for (double mu = low_mu; mu <= high_mu + 1e-12; mu += step_mu) {
      for (double e = low_e; e <= high_e + 1e-12; e += step_e) {
        const double distance = mean_distance(mu, e);
        if (distance < best.distance) best = {{mu, e, restitution}, distance};
      }
    }
    const ContactParameters at = best.parameters;
    low_mu = std::max(0.0, at.mu - step_mu), high_mu = at.mu + step_mu;
    low_e = std::max(0.0, at.e - step_e), high_e = std::min(1.0, at.e + step_e);
    step_mu /= 3, step_e /= 3;
  }
  return best;
}

MeasuredDistance measure(const MeasuredImpact& impact,
                         const std::vector<PredictedOutcome>& outcomes, std::uint64_t seed) {
  MeasuredDistance d{.outcomes = static_cast<int>(outcomes.size())};
  if (outcomes.empty()) return {HUGE_VAL, HUGE_VAL, HUGE_VAL, 0};
  const VectorXd& first = outcomes.front().v;
  const auto nearest_to = [&](const VectorXd& v, int* begins = nullptr) {
    double nearest = HUGE_VAL;
    for (const PredictedOutcome& outcome : outcomes) {
      const double distance = kinetic_distance(impact, outcome.v, v);
      if (distance >= nearest) continue;
      nearest = distance;
      if (begins) *begins = outcome.begins;
    }
    return nearest;
  };
  d.first = kinetic_distance(impact, first, impact.v_plus);
  d.nearest = nearest_to(impact.v_plus, &d.begins);

  // the same error in random directions of those that contacts can push to; what they cannot make
  // stays as it is
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const VectorXd error = impact.v_plus - first, inside = possible(impact, error);
  const Eigen::MatrixXd root = impact.M.llt().matrixU();
  std::vector<double> controls;
  for (int k = 0; k < kControls; ++k) {
    const VectorXd draw = VectorXd::NullaryExpr(error.size(), [&] { return normal(random); });
    VectorXd other = possible(impact, root.triangularView<Eigen::Upper>().solve(draw));
    const double length = std::sqrt(other.dot(impact.M * other));
    if (length > 0) other *= std::sqrt(inside.dot(impact.M * inside)) / length;
    controls.push_back(nearest_to(first + (error - inside) + other));
  }
  d.control = median(controls);
  return d;
}

namespace {

/// Of the sum of so many squares of unit normal numbers (Wilson, Hilferty).
double chi_square_median(double count) { return count * std::pow(1 - 2 / (9 * count), 3); }

}  // namespace

MeasuredStudy study(const std::vector<MeasuredImpact>& impacts, const StudyOptions& options) {
  MeasuredStudy s;
  const std::vector<MeasuredLaw> laws = measured_laws(options.samples, options.seed);
  for (const MeasuredLaw& law : laws) s.laws.push_back(law.name);
  const auto stopped = [&](double done) {
    if (options.progress && !options.progress(done)) s.complete = false;
    return !s.complete;
  };

  // one contact: every law but that of all at once is the same path
  const MeasuredLaw& path = laws[1];
  std::vector<MeasuredImpact> training, others;
  for (const MeasuredImpact& impact : impacts) {
    if (impact.contacts != 1) continue;
    std::vector<MeasuredImpact>& side = trains(impact) ? training : others;
    if (side.size() < options.fitted) side.push_back(impact);
  }
  s.fitted = training.size(), s.held_out = others.size();
  for (const Restitution meaning :
       {Restitution::kStronge, Restitution::kPoisson, Restitution::kNewton}) {
    if (stopped(0.1 * static_cast<double>(s.fits.size()))) return s;
    StudyFit fit{.fit = fit_contact(training, path, meaning)};
    std::vector<double> distances;
    for (const MeasuredImpact& impact : others)
      distances.push_back(
          measure(impact, path.predict(impact, fit.fit.parameters), options.seed).nearest);
    fit.held_out = median(distances);
    s.fits.push_back(fit);
  }

  // errors that are not known are as large, in each direction, as what no impulses can make
  std::vector<double> squares;
  for (const MeasuredImpact& impact : training) {
    const double free = static_cast<double>(impact.v_plus.size() - impact.J.rows());
    if (free > 0) squares.push_back(std::pow(unexplained(impact), 2) / chi_square_median(free));
  }
  s.error = squares.empty() ? 0 : std::sqrt(median(squares));

  // every law beside what was held out
  ContactParameters parameters = s.fits.front().fit.parameters;
  parameters.restitution = Restitution::kByLaw;
  std::map<int, std::size_t> taken;
  for (std::size_t k = 0; k < impacts.size(); ++k) {
    const MeasuredImpact& impact = impacts[k];
    if (trains(impact) || taken[impact.contacts] >= options.most) continue;
    ++taken[impact.contacts];
    if (stopped(0.3 + 0.7 * static_cast<double>(k) / static_cast<double>(impacts.size()))) break;
    StudyRow row{.impact = k, .noise = noise_of(impact), .unexplained = unexplained(impact)};
    if (impact.sigma.size() == 0)
      row.noise = s.error * std::sqrt(static_cast<double>(impact.v_plus.size()));
    for (const MeasuredLaw& law : laws)
      row.laws.push_back(measure(impact, law.predict(impact, parameters), options.seed + k));
    s.rows.push_back(std::move(row));
  }
  return s;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double sign_test(int heads, int of) {
  double sum = 0;
  for (int k = heads; k <= of; ++k)
    sum += std::exp(std::lgamma(of + 1.0) - std::lgamma(k + 1.0) - std::lgamma(of - k + 1.0) -
                    of * std::log(2.0));
  return std::min(1.0, sum);
}

}  // namespace routh
