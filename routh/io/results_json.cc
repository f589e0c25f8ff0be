#include <fmt/format.h>

#include <cmath>

#include "routh/io/hasty.h"
#include "routh/io/results.h"
#include "routh/io/text.h"
#include "routh/version.h"

namespace routh::io {

Json top(const std::vector<std::string>& command, Json options, bool cuda) {
  Json j{{"schema", kSchema}, {"version", kVersion}};
  if (!command.empty()) j["command"] = command;
  j["options"] = options.is_null() ? Json::object() : std::move(options);
  j["features"] = {{"exact", true},
                   {"mujoco", has_models() ? Json(models_version()) : Json(false)},
                   {"cuda", cuda}};
  return j;
}

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

Json derivative_json(const ImpactCase& impact, const ImpactDerivative& d) {
  Json j{{"smooth", d.smooth()},
         {"corners", Json::array()},
         {"determined", d.determined},
         {"velocity", rows(d.v)},
         {"friction", rows(d.friction)}};
  for (const int i : d.corners) j["corners"].push_back(impact.names[i]);
  if (!d.bodies.empty()) j["mass"] = rows(d.mass), j["bodies"] = d.bodies;
  if (d.q) j["configuration"] = rows(*d.q);
  return j;
}

Json row_json(const ImpactCase& impact, const OutcomeRow& row, bool name_law) {
  const ImpactProblem& p = impact.problem();
  Json j;
  if (name_law) j["law"] = row.law();
  j["velocity"] = list(row.velocity);
  j["normal"] = normals(p, row.outcome.c_plus);
  j["tangential"] = tangentials(p, row.outcome.c_plus);
  j["modes"] = modes_json(row.modes);
  j["impulse"] = list(row.outcome.impulse);
  j["energy"] = row.energy;
  j["residual"] = row.outcome.residual;
  if (row.gained > 0) j["energy_gain"] = row.gained;
  if (row.zeno > 0) j["zeno"] = row.zeno;
  if (row.order) {
    j["order"] = Json::array();
    for (const int i : *row.order) j["order"].push_back(impact.names[i]);
  }
  if (row.derivative) j["derivative"] = derivative_json(impact, *row.derivative);
  if (!row.segments.empty()) {
    j["path"] = Json::array();
    for (const auto& [state, impulse, restitution] : row.segments) {
      j["path"].push_back({{"state", std::string(to_string(state))}, {"normal_impulse", impulse}});
      if (p.bounces()) j["path"].back()["phase"] = restitution ? "restitution" : "compression";
    }
  }
  return j;
}

Json rows_json(const ImpactCase& impact, const std::vector<OutcomeRow>& rows) {
  Json all = Json::array();
  for (const OutcomeRow& row : rows) all.push_back(row_json(impact, row, false));
  return all;
}

/// One number a parameter, or one row a velocity and column a parameter; null where not smooth.
Json moves_json(const ImpactCase& impact, const PathSensitivity& s) {
  Json j{{"smooth", s.smooth()}};
  Json& kinks = j["not_smooth"] = Json::array();
  const auto name = [&](const std::string& kind, const std::vector<std::string>& names,
                        const Eigen::MatrixXd& moves) {
    for (Eigen::Index k = 0; k < moves.cols(); ++k) {
      if (!moves.col(k).allFinite()) kinks.push_back(kind + names[static_cast<std::size_t>(k)]);
    }
  };
  name("velocity.", impact.scenario.velocities, s.v.c_plus);
  name("friction.", impact.names, s.friction.c_plus);
  name("mass.", s.bodies, s.mass.c_plus);
  if (!s.bodies.empty()) j["bodies"] = s.bodies;
  if (s.mixed) return j;
  j["contact_velocity"] = {{"velocity", rows(s.v.c_plus)},
                           {"friction", rows(s.friction.c_plus)},
                           {"mass", rows(s.mass.c_plus)}};
  return j;
}

Json sensitivity_json(const ImpactCase& impact, const Sensitivity& s) {
  Json j = moves_json(impact, s.path);
  const auto numbers = [](const VectorXd& slopes) {
    Json all = Json::array();
    for (const double x : slopes) all.push_back(number_or_null(x));
    return all;
  };
  j["value"] = {{"velocity", numbers(s.velocity)},
                {"friction", numbers(s.friction)},
                {"mass", numbers(s.mass)}};
  return j;
}

/// A set of outcomes as convex pieces, with the generalised velocity of each corner.
Json pieces_json(const ImpactCase& impact, const ImpactReport& report) {
  const std::vector<Polytope>& pieces = report.known.exact->pieces;
  const ImpactProblem& p = impact.problem();
  Json set = Json::array();
  for (const Polytope& piece : pieces) {
    Json vertices = Json::array();
    for (const VectorXd& c : piece.corners) {
      vertices.push_back({{"velocity", list(lift_velocity(impact, c))},
                          {"normal", normals(p, c)},
                          {"tangential", tangentials(p, c)}});
      if (report.corners.empty()) continue;
      const PathSensitivity* moves = moves_of(impact, report, c);
      vertices.back()["sensitivity"] = moves ? moves_json(impact, *moves) : Json();
    }
    set.push_back({{"dimension", piece.dimension},
                   {"vertices", vertices},
                   {"modes", modes_json(piece.modes)}});
  }
  return set;
}

template <class Outcomes>
double worst_residual(const Outcomes& outcomes) {
  double worst = 0;
  for (const auto& o : outcomes) worst = std::max(worst, o.residual);
  return worst;
}

Json summary_of(const SimultaneousResult& r) {
  return {{"outcomes", r.outcomes.size()},
          {"borderline", r.borderline.size()},
          {"enumerated", r.enumerated && !r.stopped},
          {"continua", r.continua},
          {"max_residual", worst_residual(r.outcomes)},
          {"seconds", r.seconds}};
}

Json summary_of(const SequentialResult& r, bool one_order) {
  std::vector<Outcome> outcomes;
  for (const SequentialOutcome& s : r.outcomes) outcomes.push_back(s.outcome);
  return {{"outcomes", r.outcomes.size()},
          {"unfinished", r.unfinished.size()},
          {"all_orders", !one_order && r.complete},
          {"orders_left", !one_order && !r.complete},
          {"states", r.states},
          {"max_residual", worst_residual(outcomes)},
          {"seconds", r.seconds}};
}

Json summary_of(const ImpactProblem& p, const SetResult& r) {
  const bool any = r.terminated > 0;
  const auto samples = static_cast<double>(r.samples);
  Json j{{"samples", r.samples},
         {"terminated", r.terminated},
         {"unsolved", r.unsolved},
         {"lcps_per_sample", r.samples ? static_cast<double>(r.steps) / samples : 0},
         {"most_lcps", r.most_steps},
         {"ambiguous_steps", r.ambiguous_steps},
         {"ambiguous_samples", r.ambiguous_samples},
         {"fallback_steps", r.fallback_steps},
         {"branches_enumerated", r.enumerated},
         {"max_residual", r.max_residual},
         {"normal_min", any ? normals(p, r.c_min) : Json()},
         {"normal_max", any ? normals(p, r.c_max) : Json()},
         {"tangential_min", any ? tangentials(p, r.c_min) : Json()},
         {"tangential_max", any ? tangentials(p, r.c_max) : Json()},
         {"seconds", r.seconds},
         {"samples_per_second", r.seconds > 0 ? samples / r.seconds : 0}};
  if (!r.device.empty() || !r.device_trouble.empty())
    j["device"] = r.device.empty() ? "cpu" : r.device;
  if (!r.device_trouble.empty()) j["device_trouble"] = r.device_trouble;
  return j;
}

Json summary_of(const ExactResult& r) {
  return {{"status", to_string(r.status)},
          {"cells", r.cells},
          {"polyhedra", r.polyhedra},
          {"pieces", r.pieces.size()},
          {"seconds", r.seconds}};
}

Json summary_of(const ImpactCase& impact, const ImpactReport& report, std::size_t written) {
  const Ambiguity& known = report.known;
  Json j;
  if (report.law == "simultaneous") {
    j = summary_of(*known.simultaneous);
  } else if (report.law == "sequential") {
    j = summary_of(*known.sequential, known.one_order);
  } else if (report.law == "set") {
    j = summary_of(impact.problem(), *known.set);
    j["kept"] = written;
  } else if (report.law == "exact") {
    j = summary_of(*known.exact);
  } else if (report.law == "witnesses") {
    j["outcomes"] = report.outcomes.size();
    j["max_residual"] = report.max_residual();
  } else {
    j["outcomes"] = report.outcomes.size();
    if (known.simultaneous) j["simultaneous"] = summary_of(*known.simultaneous);
    if (known.sequential) j["sequential"] = summary_of(*known.sequential, known.one_order);
    if (known.set) j["set"] = summary_of(impact.problem(), *known.set);
    j["max_residual"] = report.max_residual();
    if (report.law == "single") j["seconds"] = report.seconds;
  }
  if (report.found)
    j["search"] = {{"programs", report.found->programs},
                   {"rounds", report.found->rounds},
                   {"stopped", report.found->stopped},
                   {"seconds", report.found->seconds}};
  j["pointed"] = report.pointed;
  j["incomplete"] = report.incomplete || written < report.outcomes.size();
  return j;
}

/// How an extreme is reached, and what proves it.
void add_witness(const ImpactCase& impact, const Witness& witness, Json& j) {
  j["order"] = Json::array();
  j["path"] = Json::array();
  for (const WitnessPhase& phase : witness.phases) {
    j["order"].push_back(phase_text(impact, phase));
    j["path"].push_back({{"contact_velocity", list(phase.c)}, {"impulse", list(phase.impulse)}});
  }
  Json corners = Json::array();
  for (const WitnessCertificate::Corner& corner : witness.certificate.corners)
    corners.push_back(
        {{"weight", corner.weight}, {"pushes", corner.pushes}, {"tight", corner.tight}});
  j["certificate"] = {{"confirmed", true},
                      {"replay_residual", witness.outcome.residual},
                      {"locations", witness.certificate.locations},
                      {"corners", corners}};
}

void add_answers(const ImpactCase& impact, const Answers& answers, Json& j) {
  const auto extremes = [&](const char* what, const char* bound,
                            const std::vector<Extreme>& list_of) {
    for (const Extreme& extreme : list_of) {
      if (extreme.c.size() == 0) continue;
      Json& one = j[what][extreme.name] = {{"value", extreme.value},
                                           {"contact_velocity", list(extreme.c)},
                                           {"velocity", list(lift_velocity(impact, extreme.c))}};
      if (extreme.bound) {
        one[bound] = *extreme.bound;
        one["gap"] = std::abs(*extreme.bound - extreme.value);
      }
      if (extreme.witness) add_witness(impact, *extreme.witness, one);
      if (extreme.sensitivity) one["sensitivity"] = sensitivity_json(impact, *extreme.sensitivity);
    }
  };
  extremes("maximize", "at_most", answers.maximize);
  extremes("minimize", "at_least", answers.minimize);
  for (const Contained& answer : answers.contains)
    j["contains"].push_back({{"contact_velocity", list(answer.c)},
                             {"reachable", answer.reachable},
                             {"distance", answer.nearest.distance},
                             {"nearest", list(answer.nearest.point)}});
}

/// What Theorem 9 says of the samples.
Json certificate_json(const ImpactCase& impact, const ImpactReport& report) {
  const SamplerCertificate& c = *report.certificate;
  const ImpactProblem& p = impact.problem();
  Json j{{"holds", c.holds(static_cast<double>(report.set()->samples))},
         {"assumption_6", std::string(to_string(c.uniqueness.status))},
         {"epsilon", c.epsilon},
         {"delta", c.delta},
         {"steps", c.steps},
         {"final_step", c.final_step},
         {"log10_samples", number_or_null(c.log10_samples)},
         {"lipschitz", c.lipschitz > 0 ? Json(c.lipschitz) : Json()},
         {"most_impulse", c.most_impulse},
         {"impulse_per_speed", c.impulse_per_speed}};
  if (!c.uniqueness.why.empty()) j["why"] = c.uniqueness.why;
  if (const std::optional<AmbiguousStep>& step = c.uniqueness.example) {
    const auto solution = [&](const Outcome& o) {
      return Json{{"normal", normals(p, o.c_plus)},
                  {"tangential", tangentials(p, o.c_plus)},
                  {"impulse", list(o.impulse)},
                  {"residual", o.residual}};
    };
    j["ambiguous_step"] = {{"contact_velocity", list(step->c)},
                           {"lambda_max", list(step->lambda_max)},
                           {"solutions", {solution(step->first), solution(step->second)}}};
  }
  return j;
}

Json compared_json(const MujocoCompared& c) {
  return {{"reached", c.own.reached},
          {"velocity", list(c.own.velocity)},
          {"contact_velocity", list(c.own.contact)},
          {"energy", c.own.energy},
          {"energy_gained", c.own.gained},
          {"rebound_velocity", list(c.own.rebound)},
          {"stop_time", c.own.stop_time},
          {"duration", c.own.duration},
          {"penetration", c.own.penetration},
          {"steps", c.own.steps},
          {"distance", number_or_null(c.distance)}};
}

/// Everything; `rows` of the outcomes stand for all of them.
Json report_json(const ImpactCase& impact, const ImpactReport& report, Json rows,
                 std::size_t written) {
  const ImpactProblem& p = impact.problem();
  const Ambiguity& known = report.known;
  Json j;
  j["scenario"] = impact.scenario.name;
  j["law"] = report.law;
  j["verdict"] = verdict(impact, report);
  j["unique"] = known.unique() ? Json(*known.unique()) : Json();
  j["spread"] = number_or_null(known.spread);
  Json parameters = Json::object();
  for (const Parameter& parameter : impact.scenario.parameters)
    parameters[parameter.name] = parameter.value;
  j["parameters"] = parameters;
  j["contacts"] = impact.names;
  j["velocities"] = impact.scenario.velocities;
  if (p.tangents == 2) j["cone"] = p.circular() ? "circular" : "polygon";
  if (p.tangents == 2 && !p.circular()) j["edges"] = p.edges;
  if (p.bounces())
    j["restitution"] = {{"e", list(p.e)}, {"meaning", std::string(to_string(p.restitution))}};
  add_notes(impact.scenario, j);
  j["before"] = {{"velocity", list(impact.scenario.v)},
                 {"normal", normals(p, p.c)},
                 {"tangential", tangentials(p, p.c)},
                 {"modes", modes_json(contact_states(p, p.c))},
                 {"energy", kinetic_energy(impact.scenario.terms, impact.scenario.v)}};
  if (known.exact) j["set"] = pieces_json(impact, report);
  j["outcomes"] = std::move(rows);
  if (!report.unfinished.empty()) j["unfinished"] = rows_json(impact, report.unfinished);
  if (!report.borderline.empty()) j["borderline"] = rows_json(impact, report.borderline);
  if (known.simultaneous && known.simultaneous->nothing) {
    const auto& [best, violation, exists] = *known.simultaneous->nothing;
    j["nothing_found"] = {
        {"closest", row_json(impact, outcome_row(impact, report.law, best), false)},
        {"violation", violation.size},
        {"violates", violated(impact, violation)},
        {"existence_guaranteed", exists}};
  }
  add_answers(impact, report.answers, j);
  if (report.certificate) j["certificate"] = certificate_json(impact, report);
  if (report.coverage) {
    std::size_t samples = 0;
    for (const SetSample& sample : known.set->kept) samples += sample.terminated;
    j["coverage"] = {{"hausdorff", report.coverage->hausdorff()},
                     {"outside", report.coverage->outside},
                     {"missed", report.coverage->missed},
                     {"resolution", report.coverage->resolution},
                     {"samples", samples}};
  }
  if (report.comparison) {
    j["compare"] = compared_json(report.comparison->soft);
    j["compare"]["simulator"] = "mujoco";
    j["compare"]["stiff"] = compared_json(report.comparison->stiff);
    j["compare"]["spread"] = number_or_null(known.spread);
  }
  j["summary"] = summary_of(impact, report, written);
  return j;
}

}  // namespace

Json to_json(const ImpactCase& impact, const ImpactReport& report) {
  Json rows = Json::array();
  for (const OutcomeRow& row : report.outcomes)
    rows.push_back(row_json(impact, row, report.law == "all"));
  return report_json(impact, report, std::move(rows), report.outcomes.size());
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
  std::string text = json_text(report_json(impact, report, Json::array(), written), 2);
  constexpr std::string_view kEmpty = "\n  \"outcomes\": []";
  if (written > 0) text.insert(text.find(kEmpty) + kEmpty.size() - 1, rows + "\n  ");
  return text;
}

void add_notes(const Scenario& scenario, Json& json) {
  const auto* model = std::get_if<Model>(&scenario.what);
  if (!model) return;
  if (!model->notes.empty()) json["notes"] = model->notes;
  if (!model->moved.empty()) json["moved"] = model->moved;
}

}  // namespace routh::io
