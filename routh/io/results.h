#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "routh/impact/ambiguity.h"
#include "routh/impact/certificate.h"
#include "routh/impact/lzb.h"
#include "routh/impact/polytopes.h"
#include "routh/impact/single.h"
#include "routh/io/json.h"
#include "routh/io/model.h"
#include "routh/io/questions.h"
#include "routh/io/scenario.h"
#include "routh/simulate/impact_derivative.h"
#include "routh/simulate/laws.h"
#include "routh/simulate/reduce.h"

/// What laws make of a scenario at the instant of its impact. JSON, CSV, text and figures are
/// written from these types; nothing is read back from what was written.
namespace routh::io {

/// A scenario at the instant of impact, ready for any law.
struct ImpactCase {
  Scenario scenario;
  ReducedImpact reduced;
  std::vector<std::string> names;  ///< of the touching contacts
  std::vector<std::string> apart;  ///< of the contacts that do not touch

  const ImpactProblem& problem() const { return reduced.problem; }
  bool approaching() const;  ///< false: nothing to do
};

/// Throws InputError when the scenario cannot be an impact: penetration, bad inertia, no touching
/// contact; of models NoImpact when nothing touches or approaches.
ImpactCase impact_case(Scenario scenario);

/// What a model of MuJoCo has that is taken differently, and how its start was moved: the keys
/// notes and moved, where there is something to say.
void add_notes(const Scenario& scenario, Json& json);

/// The generalised velocity after the impact that has this contact velocity.
Eigen::VectorXd lift_velocity(const ImpactCase& impact, const Eigen::VectorXd& c_plus);

/// v⁺ of many impulses, one column each.
Eigen::MatrixXd lift_velocities(const ImpactCase& impact, const Eigen::MatrixXd& impulses);

/// One outcome in generalised and contact velocities, with its energy.
struct OutcomeRow {
  std::vector<std::string> laws;  ///< that have it
  Outcome outcome;
  Eigen::VectorXd velocity;
  double energy = 0;
  double gained = 0;  ///< energy that the law adds [J], where that is more than rounding
  std::vector<ContactState> modes;
  std::optional<std::vector<int>> order = {};  ///< sequential: of the contacts; single: the contact
  double zeno = 0;                             ///< sequential: ratio of rounds that never end
  std::vector<SingleSegment> segments = {};    ///< single
  std::vector<Eigen::VectorXd> path = {};      ///< contact velocities on the way, for figures
  /// Of outcomes of the simultaneous law, where it was asked for.
  std::optional<ImpactDerivative> derivative = {};

  std::string law() const;  ///< "simultaneous, sequential"
};
OutcomeRow outcome_row(const ImpactCase& impact, const std::string& law, const Outcome& outcome);

/// MuJoCo's one outcome beside those of a law.
struct MujocoCompared {
  MujocoOutcome own;
  double distance = 0;  ///< to the nearest outcome of the law [m/s]; infinite without any
};
struct Comparison {
  MujocoCompared soft;          ///< with the softness of the model
  double time_constant = 1e-4;  ///< [s] of contacts so stiff that nothing moves meanwhile
  MujocoCompared stiff;
};

/// A corner of an exact set, and how it moves; nothing where no path to it was found.
struct MovingCorner {
  Eigen::VectorXd c;
  std::optional<PathSensitivity> moves = {};
};

/// What a law made of a case.
struct ImpactReport {
  std::string law;
  Ambiguity known = {};  ///< the results of the laws that ran, and what they say of uniqueness
  std::vector<OutcomeRow> outcomes = {};
  std::vector<OutcomeRow> unfinished = {};  ///< sequences given up
  std::vector<OutcomeRow> borderline = {};  ///< candidates that rounding cannot decide
  std::vector<OutcomeRow> paths = {};       ///< of each finite law with their paths, for figures
  Answers answers = {};                     ///< exact, witnesses: to what was asked about the set
  std::optional<WitnessResult> found = {};  ///< the search for extremes
  std::vector<MovingCorner> corners = {};   ///< exact: where sensitivities were asked for
  bool covers = false;                      ///< set: samples were to be held against the exact set
  std::optional<SamplerCertificate> certificate = {};  ///< set: where it was asked for
  std::optional<Coverage> coverage = {};               ///< how they cover it; nothing without one
  std::vector<Polytope> covered = {};                  ///< that exact set
  std::optional<Comparison> comparison = {};
  bool pointed = true;      ///< is the friction cone?
  bool incomplete = false;  ///< more was to be done
  bool complete = true;     ///< false: stopped early, or the law could not finish
  double seconds = 0;       ///< of the law single

  const SetResult* set() const { return known.set ? &*known.set : nullptr; }
  double max_residual() const;  ///< of the outcomes
};

/// Laws applied to a case. The first is for any law that lists its outcomes.
ImpactReport report_law(const ImpactCase& impact, const Law& law,
                        const std::function<bool()>& stop = {});
ImpactReport report_simultaneous(const ImpactCase& impact, const SimultaneousOptions& options = {});
ImpactReport report_sequential(const ImpactCase& impact, const SequentialOptions& options = {});
ImpactReport report_lzb(const ImpactCase& impact, const LzbOptions& options = {});
/// Simultaneous and sequential, every outcome once; and samples, whose extremes join the outcomes
/// where the contacts are too many for all modes and orders.
ImpactReport report_all(const ImpactCase& impact, const AmbiguityOptions& options = {});
/// Routh's law at one contact, or at each approaching contact in turn.
ImpactReport report_single(const ImpactCase& impact, std::optional<int> contact = {});
/// Samples made with these options; at most `keep` of them become outcomes.
ImpactReport report_set(const ImpactCase& impact, SetResult result, const SetOptions& options,
                        std::size_t keep = -1);
/// With witnesses of the extremes asked for, where they were searched.
ImpactReport report_exact(const ImpactCase& impact, ExactResult result,
                          const Questions& questions = {}, std::optional<WitnessResult> found = {},
                          const std::vector<std::optional<ImpulseRange>>& impulses = {});
/// Extremes alone: every outcome that a witness reaches.
ImpactReport report_witnesses(const ImpactCase& impact, const Questions& questions,
                              WitnessResult found);
/// Outcomes of simultaneous and sequential with their paths, for figures: an outcome of both stands
/// there twice.
std::vector<OutcomeRow> law_paths(const ImpactCase& impact);

/// Bodies by whose mass a scenario is differentiated; none of matrices.
Masses masses_of(const Scenario& scenario);

/// How the outcomes of the simultaneous law among those of a report depend on velocities, friction
/// and masses, and on the configuration.
void add_derivatives(const ImpactCase& impact, ImpactReport& report);

/// How the extremes of a report move with velocities, friction and masses, and so the corners of
/// its exact set, paths to which are searched by `options`.
void add_sensitivities(const ImpactCase& impact, ImpactReport& report,
                       const WitnessOptions& options = {});
/// Of the corner of the set that is c, where it is known.
const PathSensitivity* moves_of(const ImpactCase& impact, const ImpactReport& report,
                                const Eigen::VectorXd& c);

/// MuJoCo steps through the impact; of a model.
Comparison compare_with_mujoco(const ImpactCase& impact, const ImpactReport& report);

/// One line that a person can act on, with the word unique in it.
std::string verdict(const ImpactCase& impact, const ImpactReport& report);
std::string verdict(const ImpactCase& impact, const Ambiguity& known);
/// "all contact modes, some orders, 512 samples"
std::string searched_text(const Ambiguity& known);
/// What is known where no outcome was found, in a sentence or two.
std::string nothing_text(const ImpactCase& impact, const ImpactReport& report);
/// "slip of B"
std::string violated(const ImpactCase& impact, const Violation& violation);
/// Names of the contacts of an order: "A B A".
std::string order_text(const ImpactCase& impact, const std::vector<int>& order);

Json to_json(const ImpactCase& impact, const ImpactReport& report);
/// The same as text, row by row. Once `stop` says so the first few outcomes have to do, and the
/// summary calls them incomplete.
std::string json_text(const ImpactCase& impact, const ImpactReport& report,
                      const std::function<bool()>& stop = {});
/// One row per outcome: energy, residual, velocities, contact velocities, impulses; of an exact set
/// one row per corner.
std::string to_csv(const ImpactCase& impact, const ImpactReport& report,
                   const std::function<bool()>& stop = {});

}  // namespace routh::io
