#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routh/impact/polytopes.h"
#include "routh/impact/sequential.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/single.h"
#include "routh/io/json.h"
#include "routh/io/scenario.h"
#include "routh/simulate/reduce.h"

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
/// contact.
ImpactCase impact_case(Scenario scenario);

/// One outcome in generalised and contact velocities, with its energy.
struct OutcomeRow {
  std::string law;
  Outcome outcome;
  Eigen::VectorXd velocity;
  double energy = 0;
  std::vector<ContactState> modes;
  std::optional<std::vector<int>> order;     ///< sequential
  std::vector<SingleSegment> segments = {};  ///< single
  std::vector<Eigen::VectorXd> path = {};    ///< contact velocities on the way, for figures
};

struct ImpactReport {
  std::string law;
  std::vector<OutcomeRow> outcomes;
  std::vector<OutcomeRow> unfinished;        ///< sequences given up
  std::vector<OutcomeRow> borderline;        ///< candidates that rounding cannot decide
  std::optional<NothingFound> nothing;       ///< simultaneous, where there is no outcome
  std::optional<std::vector<Polytope>> set;  ///< exact
  Json answers = Json::object();             ///< to questions about a set
  Json summary = Json::object();
  bool complete = true;  ///< false: stopped early, or the law could not finish
};

OutcomeRow outcome_row(const ImpactCase& impact, const std::string& law, const Outcome& outcome);

/// Laws applied to a case, as reports. `all` merges simultaneous and sequential: every outcome
/// once.
ImpactReport report_simultaneous(const ImpactCase& impact, const SimultaneousOptions& options = {});
ImpactReport report_sequential(const ImpactCase& impact, const SequentialOptions& options = {});
ImpactReport report_all(const ImpactCase& impact, const ImpactReport& simultaneous,
                        const ImpactReport& sequential);
/// Outcomes of simultaneous and sequential with their paths, for figures: an outcome of both stands
/// there twice.
std::vector<OutcomeRow> law_paths(const ImpactCase& impact);
/// Routh's law at one contact, or at each approaching contact in turn.
ImpactReport report_single(const ImpactCase& impact, std::optional<int> contact = {});
ImpactReport report_set(const ImpactCase& impact, const SetResult& result);

Json to_json(const ImpactCase& impact, const ImpactReport& report);
/// The same as text, row by row. Once `stop` says so the first few outcomes have to do, and the
/// summary calls them incomplete.
std::string json_text(const ImpactCase& impact, const ImpactReport& report,
                      const std::function<bool()>& stop = {});
/// What is known where no outcome was found, in a sentence or two.
std::string nothing_text(const ImpactCase& impact, const ImpactReport& report);

/// A set of outcomes as convex pieces, with the generalised velocity of each corner.
Json pieces_json(const ImpactCase& impact, const std::vector<Polytope>& pieces);
/// The generalised velocity after the impact that has this contact velocity.
Eigen::VectorXd lift_velocity(const ImpactCase& impact, const Eigen::VectorXd& c_plus);

/// A number to make large or small over a set: "normal.A", "tangential.B" or "energy".
struct Objective {
  std::string name;
  int index = -1;  ///< into c; -1: energy
};
/// Throws InputError naming the option.
Objective parse_objective(const ImpactCase& impact, const std::string& option,
                          const std::string& text);
struct Extreme {
  double value = 0;
  Eigen::VectorXd c;  ///< the contact velocity where it is taken
};
Extreme maximize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective);
Extreme minimize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective);

/// One row per outcome: energy, residual, velocities, contact velocities, impulses; of an exact set
/// one row per corner.
std::string to_csv(const ImpactCase& impact, const ImpactReport& report,
                   const std::function<bool()>& stop = {});

/// Names of the contacts of an order: "A B A".
std::string order_text(const ImpactCase& impact, const std::vector<int>& order);

}  // namespace routh::io
