#include "routh/io/results.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "routh/impact/same_outcome.h"
#include "routh/impact/usual_step.h"
#include "routh/io/document.h"
#include "routh/linear/decompose.h"

namespace routh::io {
namespace {

using Eigen::VectorXd;

constexpr double kRounding = 1e-9;          // of an energy, relative
constexpr std::size_t kMostContacts = 400;  // of an impact: laws take minutes beyond

double since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// What reduce() makes of other scenarios, as it was given.
ReducedImpact in_contact_space(const Scenario& s, std::vector<int> contacts) {
  const Eigen::Index n = s.v.size(), m = static_cast<Eigen::Index>(contacts.size());
  ReducedImpact reduced{.problem = {.G = s.contact_space()->G, .c = s.v, .mu = VectorXd(m)},
                        .J = Eigen::MatrixXd::Identity(n, n),
                        .Mdag = s.contact_space()->G,
                        .W = s.contact_space()->G,
                        .contacts = std::move(contacts)};
  reduced.problem.tangents = static_cast<int>(n / m) - 1;
  for (Eigen::Index i = 0; i < m; ++i) reduced.problem.mu[i] = s.terms.contacts[i].mu;
  reduced.problem.e = restitutions(s.terms, reduced.contacts);
  return reduced;
}

OutcomeRow sequence_row(const ImpactCase& impact, const SequentialOutcome& s) {
  OutcomeRow row = outcome_row(impact, "sequential", s.outcome);
  row.order = s.order;
  row.zeno = s.zeno;
  row.path = s.path;
  return row;
}

/// What the finite laws found, beyond the outcomes that a law calls its own.
void add_found(const ImpactCase& impact, ImpactReport& report) {
  if (const auto& at_once = report.known.simultaneous) {
    for (const Outcome& outcome : at_once->outcomes) {
      report.paths.push_back(outcome_row(impact, "simultaneous", outcome));
      report.paths.back().path = {impact.problem().c, outcome.c_plus};
    }
    for (const Outcome& outcome : at_once->borderline)
      report.borderline.push_back(outcome_row(impact, "simultaneous", outcome));
  }
  if (const auto& in_turn = report.known.sequential) {
    for (const SequentialOutcome& s : in_turn->outcomes)
      report.paths.push_back(sequence_row(impact, s));
    for (const SequentialOutcome& s : in_turn->unfinished)
      report.unfinished.push_back(sequence_row(impact, s));
  }
}

}  // namespace

std::string OutcomeRow::law() const { return join(laws); }

double ImpactReport::max_residual() const {
  double worst = 0;
  for (const OutcomeRow& row : outcomes) worst = std::max(worst, row.outcome.residual);
  return worst;
}

bool ImpactCase::approaching() const { return colliding(problem(), problem().c); }

ImpactCase impact_case(Scenario scenario) {
  ImpactCase impact{.scenario = std::move(scenario)};
  const Scenario& s = impact.scenario;
  if (s.selected())
    throw InputError(
        fmt::format("{}: an event-selected system has no impacts; 'routh simulate {}' moves it",
                    s.name, s.name));
  try {
    std::vector<int> contacts = touching_contacts(s.terms, s.run.touching);
    if (s.run.extreme_points) contacts = extreme_points(s.terms, contacts);
    impact.reduced = s.contact_space() ? in_contact_space(s, std::move(contacts))
                                       : reduce(s.terms, s.v, std::move(contacts));
  } catch (const std::invalid_argument& e) {
    throw InputError(
        fmt::format("{}: {}{}", s.name, e.what(),
                    s.model() ? "; lift the model, use --drop, or allow it with --touching"
                    : s.mechanism() && !s.limbs().empty()
                        ? "; limbs without mass collide in 'routh simulate --method hybrid'"
                        : ""));
  }
  for (const Contact& contact : s.terms.contacts) impact.apart.push_back(contact.name);
  for (const int i : impact.reduced.contacts) {
    const std::string& name = s.terms.contacts[i].name;
    impact.names.push_back(name);
    impact.apart.erase(std::find(impact.apart.begin(), impact.apart.end(), name));
  }
  if (impact.names.empty() && !s.model())
    throw InputError(fmt::format("{}: no contact touches at the start; close a gap first", s.name));
  if (s.model() && (impact.names.empty() || !impact.approaching())) {
    throw NoImpact(fmt::format("{}: {}; {}; {}", s.name,
                               impact.names.empty() ? "no contact touches at this state"
                                                    : "no contact approaches, there is no impact",
                               nearest_gaps(s), what_to_add(s)));
  }
  if (impact.names.size() > kMostContacts)
    throw InputError(
        fmt::format("{}: {} contacts take part in the impact, of which at most {} can be judged; "
                    "{}'routh simulate' moves them all",
                    s.name, impact.names.size(), kMostContacts,
                    s.model() ? "--extreme-points leaves the corners of each patch, a smaller "
                                "--touching fewer contacts, "
                              : ""));
  ImpactProblem& p = impact.reduced.problem;
  p.edges = s.run.edges.value_or(0);
  p.restitution = s.run.restitution;
  if (s.run.impact.step <= 0)
    impact.scenario.run.impact.step = impact.approaching() ? stopping_impulse(p) : 1;
  return impact;
}

Eigen::MatrixXd lift_velocities(const ImpactCase& impact, const Eigen::MatrixXd& impulses) {
  Eigen::MatrixXd velocities(impact.scenario.v.size(), impulses.cols());
  velocities.noalias() = impact.reduced.W * impulses;
  velocities.colwise() += impact.scenario.v;
  return velocities;
}

OutcomeRow outcome_row(const ImpactCase& impact, const std::string& law, const Outcome& outcome) {
  OutcomeRow row{.laws = {law}, .outcome = outcome};
  row.velocity = impact.reduced.lift(impact.scenario.v, outcome.impulse);
  row.energy = kinetic_energy(impact.scenario.terms, row.velocity);
  row.modes = contact_states(impact.problem(), outcome.c_plus);
  if (energy_gain(impact.problem(), outcome) > kRounding)
    row.gained = row.energy - kinetic_energy(impact.scenario.terms, impact.scenario.v);
  return row;
}

Eigen::VectorXd lift_velocity(const ImpactCase& impact, const VectorXd& c_plus) {
  // any impulse that makes the change will do: what G does not see does not move the mechanism
  // either
  const ImpactProblem& p = impact.problem();
  const VectorXd impulse = linear::least_squares(p.G, VectorXd(c_plus - p.c));
  return impact.reduced.lift(impact.scenario.v, impulse);
}

ImpactReport report_law(const ImpactCase& impact, const Law& law,
                        const std::function<bool()>& stop) {
  ImpactReport report{.law = law.name};
  Listed listed = law.outcomes(impact.problem(), stop);
  report.known.listed = std::move(listed.outcomes);
  report.known.all_listed = listed.all;
  report.known.stopped = stop && stop();
  for (const Outcome& outcome : report.known.listed) {
    report.paths.push_back(outcome_row(impact, law.name, outcome));
    report.paths.back().path = {impact.problem().c, outcome.c_plus};
  }
  report.known = judged(impact.problem(), std::move(report.known));
  report.outcomes = report.paths;
  report.complete = !report.outcomes.empty();
  return report;
}

ImpactReport report_simultaneous(const ImpactCase& impact, const SimultaneousOptions& options) {
  ImpactReport report{.law = "simultaneous"};
  report.known.simultaneous = simultaneous(impact.problem(), options);
  report.known = judged(impact.problem(), std::move(report.known));
  add_found(impact, report);
  report.outcomes = report.paths;
  report.complete = !report.outcomes.empty();
  return report;
}

ImpactReport report_sequential(const ImpactCase& impact, const SequentialOptions& options) {
  ImpactReport report{.law = "sequential"};
  report.known.sequential = sequential(impact.problem(), options);
  report.known.one_order = !options.order.empty();
  report.known = judged(impact.problem(), std::move(report.known));
  add_found(impact, report);
  report.outcomes = report.paths;
  report.complete = !report.outcomes.empty();
  return report;
}

ImpactReport report_all(const ImpactCase& impact, const AmbiguityOptions& options) {
  ImpactReport report{.law = "all"};
  report.known = ambiguity(impact.problem(), options);
  add_found(impact, report);
  for (const FoundOutcome& found : report.known.outcomes) {
    OutcomeRow row = outcome_row(impact, "", found);
    row.laws.clear();
    if (found.simultaneous) row.laws.push_back("simultaneous");
    if (found.sequential) {
      row.laws.push_back("sequential");
      row.order = report.known.sequential->outcomes[*found.sequential].order;
    }
    if (found.sample) row.laws.push_back("set");
    report.outcomes.push_back(std::move(row));
  }
  report.complete = !report.outcomes.empty();
  return report;
}

std::vector<OutcomeRow> law_paths(const ImpactCase& impact) {
  ImpactReport report;
  if (impact.problem().restitution != Restitution::kStronge || !impact.problem().bounces())
    report.known.simultaneous = simultaneous(impact.problem());
  report.known.sequential = sequential(impact.problem());
  add_found(impact, report);
  return report.paths;
}

ImpactReport report_lzb(const ImpactCase& impact, const LzbOptions& options) {
  ImpactReport report{.law = "lzb"};
  LzbResult result = lzb(impact.problem(), options, true);
  OutcomeRow row = outcome_row(impact, report.law, result.outcome);
  row.path = std::move(result.path);
  if (result.finished) {
    report.known.listed = {result.outcome};
    report.known = judged(impact.problem(), std::move(report.known));
    report.paths = {std::move(row)};
  } else {
    report.unfinished = {std::move(row)};
  }
  report.outcomes = report.paths;
  report.complete = result.finished;
  return report;
}

ImpactReport report_single(const ImpactCase& impact, std::optional<int> contact) {
  const auto began = std::chrono::steady_clock::now();
  const ImpactProblem& p = impact.problem();
  ImpactReport report{.law = "single"};
  for (int i = 0; i < p.contacts(); ++i) {
    if (contact ? i != *contact : p.c[i] >= -velocity_tolerance(p)) continue;
    const SingleResult result = single(p, i);
    OutcomeRow row =
        outcome_row(impact, report.law, {result.impulse, result.c_plus, result.residual});
    row.order = std::vector<int>{i};
    row.segments = result.path;
    (result.finished ? report.outcomes : report.unfinished).push_back(std::move(row));
  }
  if (!contact && !impact.approaching()) {
    const auto n = p.c.size();
    report.outcomes.push_back(outcome_row(impact, report.law, {VectorXd::Zero(n), p.c, 0}));
  }
  report.complete = !report.outcomes.empty();
  report.seconds = since(began);
  return report;
}

ImpactReport report_set(const ImpactCase& impact, SetResult result, const SetOptions& options,
                        std::size_t keep) {
  ImpactReport report{.law = "set"};
  for (const SetSample& sample : result.kept) {
    if (report.outcomes.size() == keep) break;
    if (sample.terminated)
      report.outcomes.push_back(outcome_row(impact, report.law, sample.outcome));
  }
  report.complete = !result.stopped && result.terminated > 0 && result.unsolved == 0;
  report.incomplete = result.stopped;
  // what few samples miss, and what is the size of their steps
  if (!result.stopped) report.known.whole = quick_set(impact.problem());
  report.known.coarse =
      !result.stopped && !report.known.whole && differ_by_step(impact.problem(), result, options);
  report.known.step = options.step;
  report.known.set = std::move(result);
  report.known = judged(impact.problem(), std::move(report.known));
  return report;
}

ImpactReport report_exact(const ImpactCase& impact, ExactResult result, const Questions& questions,
                          std::optional<WitnessResult> found,
                          const std::vector<std::optional<ImpulseRange>>& impulses) {
  ImpactReport report{.law = "exact"};
  const bool asks = !questions.maximize.empty() || !questions.minimize.empty();
  const bool answered =
      asks && found && found->status == WitnessStatus::kFound && questions.contains.empty();
  report.complete = !result.pieces.empty() || answered;
  report.incomplete = !report.complete || (found && found->stopped && !answered);
  if (report.complete)
    report.answers = answers(impact, result.pieces, result.status == ExactStatus::kExact, questions,
                             found, impulses);
  report.found = std::move(found);
  report.known.exact = std::move(result);
  report.known = judged(impact.problem(), std::move(report.known));
  return report;
}

ImpactReport report_witnesses(const ImpactCase& impact, const Questions& questions,
                              WitnessResult found) {
  ImpactReport report{.law = "witnesses"};
  const ImpactProblem& p = impact.problem();
  report.complete = found.status == WitnessStatus::kFound;
  report.incomplete = found.stopped;
  report.known.colliding = colliding(p, p.c);
  report.known.stopped = found.stopped;
  VectorXd low, high;
  const auto add = [&](const Witness& witness) {
    const VectorXd& c = witness.outcome.c_plus;
    if (c.size() == 0) return;
    low = low.size() ? VectorXd(low.cwiseMin(c)) : c;
    high = high.size() ? VectorXd(high.cwiseMax(c)) : c;
    for (const FoundOutcome& known : report.known.outcomes) {
      if (same_outcome(p, known.c_plus, c)) return;
    }
    report.known.outcomes.push_back({witness.outcome});
    report.outcomes.push_back(outcome_row(impact, report.law, witness.outcome));
    report.outcomes.back().path = {p.c};
    for (const WitnessPhase& phase : witness.phases) report.outcomes.back().path.push_back(phase.c);
  };
  for (const Witness& witness : found.best) add(witness);
  for (const Witness& witness : found.others) add(witness);
  if (low.size()) report.known.spread = (high - low).lpNorm<Eigen::Infinity>();
  report.answers = answers(impact, {}, false, questions, found);
  report.found = std::move(found);
  return report;
}

namespace {

/// How far the nearest outcome of a law is from a contact velocity.
double distance_to(const ImpactReport& report, const VectorXd& c) {
  if (report.known.exact) return nearest_point(report.known.exact->pieces, c).distance;
  double nearest = HUGE_VAL;
  for (const OutcomeRow& row : report.outcomes)
    nearest = std::min(nearest, (row.outcome.c_plus - c).norm());
  for (std::size_t k = 0; report.set() && k < report.set()->kept.size(); ++k) {
    const SetSample& sample = report.set()->kept[k];
    if (sample.terminated) nearest = std::min(nearest, (sample.outcome.c_plus - c).norm());
  }
  return nearest;
}

}  // namespace

Comparison compare_with_mujoco(const ImpactCase& impact, const ImpactReport& report) {
  const auto compared = [&](std::optional<double> time_constant) {
    MujocoCompared c{mujoco_outcome(impact.scenario, impact.reduced.contacts, time_constant)};
    c.distance = distance_to(report, c.own.contact);
    return c;
  };
  Comparison comparison;
  comparison.soft = compared({});
  comparison.stiff = compared(comparison.time_constant);
  return comparison;
}

}  // namespace routh::io
