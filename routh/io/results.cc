#include "routh/io/results.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "routh/io/document.h"
#include "routh/io/model.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

using Eigen::VectorXd;

/// Normals of an array ordered as c, and one list of tangentials per contact.
Json normals(const ImpactProblem& p, const VectorXd& c) { return list(c.head(p.contacts())); }
Json tangentials(const ImpactProblem& p, const VectorXd& c) {
  Json all = Json::array();
  for (int i = 0; i < p.contacts(); ++i) all.push_back(list(c.segment(p.tangent(i), p.tangents)));
  return all;
}

Json modes_json(const std::vector<ContactState>& modes) {
  Json names = Json::array();
  for (const ContactState s : modes) names.push_back(std::string(to_string(s)));
  return names;
}

Json row_json(const ImpactCase& impact, const OutcomeRow& row, bool name_law) {
  const ImpactProblem& p = impact.problem();
  Json j;
  if (name_law) j["law"] = row.law;
  j["velocity"] = list(row.velocity);
  j["normal"] = normals(p, row.outcome.c_plus);
  j["tangential"] = tangentials(p, row.outcome.c_plus);
  j["modes"] = modes_json(row.modes);
  j["impulse"] = list(row.outcome.impulse);
  j["energy"] = row.energy;
  j["residual"] = row.outcome.residual;
  if (row.order) {
    j["order"] = Json::array();
    for (const int i : *row.order) j["order"].push_back(impact.names[i]);
  }
  if (!row.segments.empty()) {
    j["path"] = Json::array();
    for (const auto& [state, impulse] : row.segments)
      j["path"].push_back({{"state", std::string(to_string(state))}, {"normal_impulse", impulse}});
  }
  return j;
}

/// "slip of B"
std::string violated(const ImpactCase& impact, const Violation& violation) {
  return violation.contact < 0
             ? std::string(to_string(violation.of))
             : fmt::format("{} of {}", to_string(violation.of), impact.names[violation.contact]);
}

/// Titles of columns ordered as c; in space a contact has two tangents.
std::string contact_columns(const ImpactCase& impact, const std::string& normal,
                            const std::string& tangential) {
  std::string titles;
  const auto add = [&](const std::string& of, const std::string& name) {
    titles += fmt::format(",{}", csv_cell(fmt::format("{}.{}", of, name)));
  };
  for (const std::string& name : impact.names) add(normal, name);
  for (const std::string& name : impact.names) {
    if (impact.problem().tangents == 1) {
      add(tangential, name);
    } else {
      add(tangential + "1", name), add(tangential + "2", name);
    }
  }
  return titles;
}

/// One row per corner of a set.
std::string corners_csv(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                        const std::string& velocities) {
  std::string csv = "piece,dimension" + velocities;
  csv += contact_columns(impact, "normal", "tangential") + '\n';
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    for (const VectorXd& c : pieces[k].corners) {
      csv += fmt::format("{},{}", k, pieces[k].dimension);
      for (const double x : lift_velocity(impact, c)) csv += fmt::format(",{}", x);
      for (const double x : c) csv += fmt::format(",{}", x);
      csv += '\n';
    }
  }
  return csv;
}

constexpr std::size_t kHasty = 2000;  // outcomes that are written while one waits for the end

/// Texts of all outcomes, one after the other; of the first few once `stop` says so.
template <class Write>
std::size_t write_outcomes(const std::vector<OutcomeRow>& rows, const std::function<bool()>& stop,
                           std::string& text, Write&& write) {
  std::size_t few = std::string::npos;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k == kHasty) few = text.size();
    if (k >= kHasty && stop && stop()) {
      text.resize(few);
      return kHasty;
    }
    write(k, rows[k]);
  }
  return rows.size();
}

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
  return reduced;
}

double worst_residual(const std::vector<OutcomeRow>& rows) {
  double worst = 0;
  for (const OutcomeRow& row : rows) worst = std::max(worst, row.outcome.residual);
  return worst;
}

}  // namespace

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
                    s.model() ? "; lift the model, use --drop, or allow it with --touching" : ""));
  }
  for (const Contact& contact : s.terms.contacts) impact.apart.push_back(contact.name);
  for (const int i : impact.reduced.contacts) {
    const std::string& name = s.terms.contacts[i].name;
    impact.names.push_back(name);
    impact.apart.erase(std::find(impact.apart.begin(), impact.apart.end(), name));
  }
  if (impact.names.empty()) {
    throw InputError(
        s.model()
            ? fmt::format("{}: no contact touches at this state; {}. Move it, or use --drop HEIGHT",
                          s.name, nearest_gaps(s))
            : fmt::format("{}: no contact touches at the start; close a gap first", s.name));
  }
  if (s.model() && !impact.approaching()) {
    throw InputError(
        fmt::format("{}: no contact approaches, there is no impact; {}", s.name, nearest_gaps(s)));
  }
  ImpactProblem& p = impact.reduced.problem;
  p.edges = s.run.edges.value_or(0);
  if (s.run.impact.step <= 0) {
    impact.scenario.run.impact.step =
        impact.approaching() ? -p.normal().minCoeff() / p.G.diagonal().head(p.contacts()).mean()
                             : 1;
  }
  return impact;
}

OutcomeRow outcome_row(const ImpactCase& impact, const std::string& law, const Outcome& outcome) {
  OutcomeRow row{.law = law, .outcome = outcome};
  row.velocity = impact.reduced.lift(impact.scenario.v, outcome.impulse);
  row.energy = kinetic_energy(impact.scenario.terms, row.velocity);
  row.modes = contact_states(impact.problem(), outcome.c_plus);
  return row;
}

ImpactReport report_simultaneous(const ImpactCase& impact, const SimultaneousOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  const SimultaneousResult result = simultaneous(impact.problem(), options);
  ImpactReport report{.law = "simultaneous"};
  for (const Outcome& outcome : result.outcomes) {
    report.outcomes.push_back(outcome_row(impact, report.law, outcome));
    report.outcomes.back().path = {impact.problem().c, outcome.c_plus};
  }
  for (const Outcome& outcome : result.borderline)
    report.borderline.push_back(outcome_row(impact, report.law, outcome));
  report.nothing = result.nothing;
  report.complete = !result.outcomes.empty();
  report.summary = {{"outcomes", result.outcomes.size()},
                    {"borderline", result.borderline.size()},
                    {"enumerated", result.enumerated && !result.stopped},
                    {"continua", result.continua},
                    {"max_residual", worst_residual(report.outcomes)},
                    {"seconds", since(began)}};
  return report;
}

ImpactReport report_sequential(const ImpactCase& impact, const SequentialOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  const SequentialResult result = sequential(impact.problem(), options);
  ImpactReport report{.law = "sequential"};
  const auto rows = [&](const std::vector<SequentialOutcome>& from, std::vector<OutcomeRow>& to) {
    for (const SequentialOutcome& s : from) {
      to.push_back(outcome_row(impact, report.law, s.outcome));
      to.back().order = s.order;
      to.back().path = s.path;
    }
  };
  rows(result.outcomes, report.outcomes);
  rows(result.unfinished, report.unfinished);
  report.complete = !result.outcomes.empty();
  report.summary = {{"outcomes", result.outcomes.size()},
                    {"unfinished", result.unfinished.size()},
                    {"all_orders", options.order.empty() && result.complete},
                    {"orders_left", options.order.empty() && !result.complete},
                    {"states", result.states},
                    {"max_residual", worst_residual(report.outcomes)},
                    {"seconds", since(began)}};
  return report;
}

ImpactReport report_all(const ImpactCase& impact, const ImpactReport& at_once,
                        const ImpactReport& in_turn) {
  ImpactReport report{.law = "all", .outcomes = at_once.outcomes, .unfinished = in_turn.unfinished};
  report.borderline = at_once.borderline;
  report.nothing = at_once.nothing;
  const double same = 1000 * velocity_tolerance(impact.problem());
  for (const OutcomeRow& row : in_turn.outcomes) {
    const auto known =
        std::find_if(report.outcomes.begin(), report.outcomes.end(), [&](const OutcomeRow& r) {
          return (r.outcome.c_plus - row.outcome.c_plus).lpNorm<Eigen::Infinity>() <= same;
        });
    if (known == report.outcomes.end()) {
      report.outcomes.push_back(row);
    } else if (!known->order) {
      known->law += ", sequential";
      known->order = row.order;
    }
  }
  report.complete = !report.outcomes.empty();
  report.summary = {{"outcomes", report.outcomes.size()},
                    {"simultaneous", at_once.summary},
                    {"sequential", in_turn.summary},
                    {"max_residual", worst_residual(report.outcomes)}};
  return report;
}

std::vector<OutcomeRow> law_paths(const ImpactCase& impact) {
  std::vector<OutcomeRow> rows = report_simultaneous(impact).outcomes;
  const ImpactReport in_turn = report_sequential(impact);
  rows.insert(rows.end(), in_turn.outcomes.begin(), in_turn.outcomes.end());
  return rows;
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
  report.complete = !report.outcomes.empty();
  report.summary = {{"outcomes", report.outcomes.size()},
                    {"max_residual", worst_residual(report.outcomes)},
                    {"seconds", since(began)}};
  return report;
}

ImpactReport report_set(const ImpactCase& impact, const SetResult& result) {
  const ImpactProblem& p = impact.problem();
  ImpactReport report{.law = "set"};
  for (const SetSample& sample : result.kept) {
    if (sample.terminated)
      report.outcomes.push_back(outcome_row(impact, report.law, sample.outcome));
  }
  const bool any = result.terminated > 0;
  const auto per_sample = [&](std::uint64_t n) {
    return result.samples ? static_cast<double>(n) / static_cast<double>(result.samples) : 0;
  };
  report.complete = !result.stopped && any && result.unsolved == 0;
  report.summary = {
      {"samples", result.samples},
      {"terminated", result.terminated},
      {"unsolved", result.unsolved},
      {"incomplete", result.stopped},
      {"lcps_per_sample", per_sample(result.steps)},
      {"most_lcps", result.most_steps},
      {"ambiguous_steps", result.ambiguous_steps},
      {"ambiguous_samples", result.ambiguous_samples},
      {"fallback_steps", result.fallback_steps},
      {"branches_enumerated", result.enumerated},
      {"max_residual", result.max_residual},
      {"normal_min", any ? normals(p, result.c_min) : Json()},
      {"normal_max", any ? normals(p, result.c_max) : Json()},
      {"tangential_min", any ? tangentials(p, result.c_min) : Json()},
      {"tangential_max", any ? tangentials(p, result.c_max) : Json()},
      {"seconds", result.seconds},
      {"samples_per_second",
       result.seconds > 0 ? static_cast<double>(result.samples) / result.seconds : 0}};
  return report;
}

Json to_json(const ImpactCase& impact, const ImpactReport& report) {
  const ImpactProblem& p = impact.problem();
  Json j;
  j["scenario"] = impact.scenario.name;
  j["law"] = report.law;
  Json parameters = Json::object();
  for (const Parameter& parameter : impact.scenario.parameters)
    parameters[parameter.name] = parameter.value;
  j["parameters"] = parameters;
  j["contacts"] = impact.names;
  j["velocities"] = impact.scenario.velocities;
  if (p.tangents == 2) j["cone"] = p.circular() ? "circular" : "polygon";
  if (p.tangents == 2 && !p.circular()) j["edges"] = p.edges;
  const auto* model = std::get_if<Model>(&impact.scenario.what);
  if (model && !model->notes.empty()) j["notes"] = model->notes;
  j["before"] = {{"velocity", list(impact.scenario.v)},
                 {"normal", normals(p, p.c)},
                 {"tangential", tangentials(p, p.c)},
                 {"modes", modes_json(contact_states(p, p.c))},
                 {"energy", kinetic_energy(impact.scenario.terms, impact.scenario.v)}};
  if (report.set) j["set"] = pieces_json(impact, *report.set);
  j["outcomes"] = Json::array();
  for (const OutcomeRow& row : report.outcomes)
    j["outcomes"].push_back(row_json(impact, row, report.law == "all"));
  if (!report.unfinished.empty()) {
    j["unfinished"] = Json::array();
    for (const OutcomeRow& row : report.unfinished)
      j["unfinished"].push_back(row_json(impact, row, false));
  }
  if (!report.borderline.empty()) {
    j["borderline"] = Json::array();
    for (const OutcomeRow& row : report.borderline)
      j["borderline"].push_back(row_json(impact, row, false));
  }
  if (report.nothing) {
    const auto& [best, violation, exists] = *report.nothing;
    j["nothing_found"] = {
        {"closest", row_json(impact, outcome_row(impact, report.law, best), false)},
        {"violation", violation.size},
        {"violates", violated(impact, violation)},
        {"existence_guaranteed", exists}};
  }
  j.update(report.answers);
  j["summary"] = report.summary;
  return j;
}

std::string json_text(const ImpactCase& impact, const ImpactReport& report,
                      const std::function<bool()>& stop) {
  std::string rows;
  const std::size_t written =
      write_outcomes(report.outcomes, stop, rows, [&](std::size_t k, const OutcomeRow& row) {
        rows += k ? ",\n    " : "\n    ";
        for (const char c : json_text(row_json(impact, row, report.law == "all"), 2)) {
          rows += c;
          if (c == '\n') rows += "    ";
        }
      });
  ImpactReport rest = report;
  rest.outcomes.clear();
  if (written < report.outcomes.size()) rest.summary["incomplete"] = true;
  if (rest.summary.contains("kept")) rest.summary["kept"] = written;
  std::string text = json_text(to_json(impact, rest), 2);
  constexpr std::string_view kEmpty = "\n  \"outcomes\": []";
  if (written > 0) text.insert(text.find(kEmpty) + kEmpty.size() - 1, rows + "\n  ");
  return text;
}

std::string nothing_text(const ImpactCase& impact, const ImpactReport& report) {
  std::string text = "no outcome was found";
  if (!report.nothing) return text;
  const auto& [best, violation, exists] = *report.nothing;
  text += fmt::format(": what comes closest violates the {} by {:.2g} of the largest velocity; {}",
                      violated(impact, violation), violation.size,
                      exists ? "one exists, since the friction cone is pointed"
                             : "none need exist, since the friction cone is not pointed");
  if (!report.borderline.empty())
    text += fmt::format(
        "; {} that rounding can neither confirm nor refute",
        report.borderline.size() == 1 ? "there is a candidate" : "there are candidates");
  return text;
}

Eigen::VectorXd lift_velocity(const ImpactCase& impact, const VectorXd& c_plus) {
  // any impulse that makes the change will do: what G does not see does not move the mechanism
  // either
  const ImpactProblem& p = impact.problem();
  const VectorXd impulse = p.G.completeOrthogonalDecomposition().solve(c_plus - p.c);
  return impact.reduced.lift(impact.scenario.v, impulse);
}

Json pieces_json(const ImpactCase& impact, const std::vector<Polytope>& pieces) {
  const ImpactProblem& p = impact.problem();
  Json set = Json::array();
  for (const Polytope& piece : pieces) {
    Json vertices = Json::array();
    for (const VectorXd& c : piece.corners) {
      vertices.push_back({{"velocity", list(lift_velocity(impact, c))},
                          {"normal", normals(p, c)},
                          {"tangential", tangentials(p, c)}});
    }
    set.push_back({{"dimension", piece.dimension},
                   {"vertices", vertices},
                   {"modes", modes_json(piece.modes)}});
  }
  return set;
}

Objective parse_objective(const ImpactCase& impact, const std::string& option,
                          const std::string& text) {
  if (text == "energy") return {text, -1};
  const std::size_t dot = text.find('.');
  const std::string kind = text.substr(0, dot);
  const std::string name = dot == std::string::npos ? "" : text.substr(dot + 1);
  const auto contact = std::find(impact.names.begin(), impact.names.end(), name);
  const bool space = impact.problem().tangents == 2;
  const std::vector<std::string> kinds =
      space ? std::vector<std::string>{"normal", "tangential1", "tangential2"}
            : std::vector<std::string>{"normal", "tangential"};
  const auto which = std::find(kinds.begin(), kinds.end(), kind);
  if (which == kinds.end() || contact == impact.names.end()) {
    throw InputError(fmt::format(
        "{} {}: must be energy, normal.NAME or {} with a contact of {}", option, text,
        space ? "tangential1.NAME, tangential2.NAME" : "tangential.NAME", join(impact.names)));
  }
  const int i = static_cast<int>(contact - impact.names.begin());
  const int k = static_cast<int>(which - kinds.begin());
  return {text, k == 0 ? i : impact.problem().tangent(i) + k - 1};
}

Extreme maximize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective) {
  // linear functions and the convex energy are largest at corners
  Extreme best{-HUGE_VAL, {}};
  for (const Polytope& piece : pieces) {
    for (const VectorXd& c : piece.corners) {
      const double value = objective.index >= 0
                               ? c[objective.index]
                               : kinetic_energy(impact.scenario.terms, lift_velocity(impact, c));
      if (value > best.value) best = {value, c};
    }
  }
  return best;
}

Extreme minimize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective) {
  Extreme best{HUGE_VAL, {}};
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> M(impact.scenario.terms.M);
  const Eigen::MatrixXd root =
      M.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() * M.eigenvectors().transpose();
  for (const Polytope& piece : pieces) {
    if (objective.index >= 0) {
      for (const VectorXd& c : piece.corners) {
        if (c[objective.index] < best.value) best = {c[objective.index], c};
      }
      continue;
    }
    // energy is least where √M v is nearest to the origin
    std::vector<VectorXd> points;
    for (const VectorXd& c : piece.corners) points.push_back(root * lift_velocity(impact, c));
    const VectorXd weights = min_norm_weights(points);
    VectorXd c = VectorXd::Zero(piece.corners[0].size()), point = VectorXd::Zero(points[0].size());
    for (std::size_t k = 0; k < points.size(); ++k) {
      c += weights[k] * piece.corners[k];
      point += weights[k] * points[k];
    }
    if (0.5 * point.squaredNorm() < best.value) best = {0.5 * point.squaredNorm(), c};
  }
  return best;
}

std::string to_csv(const ImpactCase& impact, const ImpactReport& report,
                   const std::function<bool()>& stop) {
  std::string velocities;
  for (const std::string& name : impact.scenario.velocities)
    velocities += fmt::format(",{}", csv_cell("v." + name));
  if (report.set) return corners_csv(impact, *report.set, velocities);

  std::string csv = "outcome,law,order,energy,residual" + velocities;
  csv += contact_columns(impact, "normal", "tangential");
  for (const std::string& name : impact.names) csv += fmt::format(",{}", csv_cell("mode." + name));
  csv += contact_columns(impact, "impulse_normal", "impulse_tangential") + '\n';
  const int m = impact.problem().contacts();
  write_outcomes(report.outcomes, stop, csv, [&](std::size_t k, const OutcomeRow& row) {
    csv += fmt::format("{},{},{},{},{}", k, csv_cell(row.law),
                       row.order ? csv_cell(order_text(impact, *row.order)) : "", row.energy,
                       row.outcome.residual);
    for (const double x : row.velocity) csv += fmt::format(",{}", x);
    for (const double x : row.outcome.c_plus) csv += fmt::format(",{}", x);
    for (int i = 0; i < m; ++i) csv += fmt::format(",{}", to_string(row.modes[i]));
    for (const double x : row.outcome.impulse) csv += fmt::format(",{}", x);
    csv += '\n';
  });
  return csv;
}

std::string order_text(const ImpactCase& impact, const std::vector<int>& order) {
  std::vector<std::string> names;
  for (const int i : order) names.push_back(impact.names[i]);
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace routh::io
