#include "routh/io/motion.h"

#include <fmt/format.h>

#include "routh/io/results.h"
#include "routh/io/text.h"
#include "routh/simulate/mode_kernel.h"
#include "routh/simulate/recorder.h"

namespace routh::io {
namespace {

Json lists(const std::vector<Eigen::VectorXd>& vs) {
  Json j = Json::array();
  for (const Eigen::VectorXd& v : vs) j.push_back(list(v));
  return j;
}

}  // namespace

double Motion::largest_gain() const {
  const System* const system = scenario.moving();
  return system && system->bounces() ? routh::largest_gain(*system, trajectory.events) : 0;
}

std::vector<std::string> Motion::state_names() const {
  std::vector<std::string> names = scenario.coordinates;
  const auto rows = static_cast<std::size_t>(derivative ? derivative->D.rows() : 0);
  if (scenario.model()) {  // along unit velocities, then of these
    names = scenario.velocities;
    for (const std::string& name : scenario.velocities) names.push_back("v." + name);
  }
  // a state of its own, or coordinates with their velocities, and time where contacts are springs
  if (names.size() < rows) {
    for (const std::string& name : scenario.coordinates) names.push_back("d/dt " + name);
  }
  if (names.size() < rows) names.emplace_back("t");
  return names;
}

static Json derivative_json(const Motion& motion) {
  const MotionDerivative& d = *motion.derivative;
  Json j{{"names", motion.state_names()},
         {"matrix", rows(d.D)},
         {"differentiable", d.differentiable},
         {"message", d.message},
         {"jumps", Json::array()}};
  if (motion.trajectory.stepping())
    j.update({{"friction", rows(d.friction)},
              {"contacts", d.contacts},
              {"mass", rows(d.mass)},
              {"bodies", d.bodies}});
  for (const MotionJump& jump : d.jumps) {
    Json of{{"time", jump.time},
            {"event", std::string(to_string(jump.kind))},
            {"contacts", Json::array()},
            {"saltation", rows(jump.matrix)}};
    for (const int i : jump.contacts) of["contacts"].push_back(motion.contact_name(i));
    j["jumps"].push_back(std::move(of));
  }
  return j;
}

Json to_json(const Motion& motion, bool raw) {
  const Trajectory& t = motion.trajectory;
  const std::vector<Contact>& contacts = motion.scenario.terms.contacts;
  Json j;
  j["scenario"] = motion.scenario.name;
  j["method"] = motion.method;
  j["parameters"] = Json::object();
  for (const Parameter& p : motion.scenario.parameters) j["parameters"][p.name] = p.value;
  j["options"] = motion.options;
  add_notes(motion.scenario, j);
  j["status"] = to_string(t.status);
  j["complete"] = !t.stopped();
  j["incomplete"] = t.stopped();
  if (!t.message.empty()) j["message"] = t.message;
  j["coordinates"] = motion.scenario.coordinates;
  j["velocities"] = motion.scenario.velocities;
  j["contacts"] = Json::array();
  if (motion.scenario.moving() && motion.scenario.moving()->contacts_vary()) {
    j["contacts"] = t.contact_names;
  } else {
    for (const Contact& contact : contacts) j["contacts"].push_back(contact.name);
  }
  j["time"] = t.time;
  j["q"] = lists(t.q);
  j["v"] = lists(t.v);
  if (raw && t.stepping()) j["v_raw"] = lists(t.stepping()->v_raw);
  if (!t.energy.empty()) j["energy"] = t.energy;
  j["events"] = Json::array();
  for (const Event& e : t.events) {
    Json names = Json::array();
    for (const int i : e.contacts) names.push_back(motion.contact_name(i));
    j["events"].push_back({{"time", e.time},
                           {"kind", to_string(e.kind)},
                           {"contacts", names},
                           {"v_minus", list(e.v_minus)},
                           {"v_plus", list(e.v_plus)},
                           {"impulse", list(e.impulse)},
                           {"outcomes", e.outcomes}});
    for (const Continuation& way : e.continuations) {
      j["events"].back()["continuations"].push_back(
          {{"way", to_string(way, e.mode_before, contacts)},
           {"mode", mode_names(way.mode, contacts)},
           {"impact", way.impact}});
    }
    if (e.mode_after.empty()) continue;
    j["events"].back()["mode_before"] = mode_names(e.mode_before, contacts);
    j["events"].back()["mode_after"] = mode_names(e.mode_after, contacts);
  }
  if (const HybridExtras* hybrid = t.hybrid()) {
    j["modes"] = Json::array();
    for (const Mode& mode : hybrid->modes) j["modes"].push_back(mode_names(mode, contacts));
    j["mode_at"] = hybrid->mode_at;
    j["zeno"] = Json::array();
    for (const ZenoPoint& z : hybrid->zeno) {
      j["zeno"].push_back({{"time", z.state.time},
                           {"q", list(z.state.q)},
                           {"v", list(z.state.v)},
                           {"ratio", z.ratio},
                           {"period", z.period},
                           {"error", z.error}});
    }
  }
  j["final"] = {{"time", t.final.time}, {"q", list(t.final.q)}, {"v", list(t.final.v)}};
  // the same keys for all methods; those without such problems solve none
  const TimeSteppingExtras stepping = t.stepping() ? *t.stepping() : TimeSteppingExtras();
  j["summary"] = {
      {"steps", t.steps},
      {"lcps", t.hybrid() ? t.hybrid()->lcps : stepping.lcps},
      {"events", t.events.size()},
      {"inaccurate", stepping.inaccurate},
      {"max_residual", stepping.max_residual},
      {"max_penetration", t.max_penetration},
      {"max_joint_error", t.max_joint_error},
      {"seconds", t.seconds},
      {"steps_per_second", t.seconds > 0 ? static_cast<double>(t.steps) / t.seconds : 0}};
  if (!t.energy.empty()) {
    j["summary"]["energy_start"] = t.energy.front();
    j["summary"]["energy_end"] = t.energy.back();
    if (const double gain = motion.largest_gain(); gain > 0) j["summary"]["largest_gain"] = gain;
  }
  if (const EventSelectedExtras* selected = t.selected()) {
    const event_selected::Counts& counts = selected->counts;
    j["summary"].update({{"projections", counts.projections},
                         {"located", counts.located},
                         {"out_of_order", counts.out_of_order},
                         {"rejected_steps", counts.rejected_steps},
                         {"field_evaluations", counts.field_evaluations},
                         {"guard_evaluations", counts.guard_evaluations}});
  }
  if (motion.derivative) j["derivative"] = derivative_json(motion);
  return j;
}

std::string to_csv(const Motion& motion) {
  const Trajectory& t = motion.trajectory;
  const std::vector<std::string>& names = motion.scenario.coordinates;
  std::string text = "time";
  for (const std::string& name : names) text += fmt::format(",{}", csv_cell(name));
  for (const std::string& name : motion.scenario.velocities)
    text += fmt::format(",{}", csv_cell((motion.scenario.model() ? "v." : "d/dt ") + name));
  text += t.energy.empty() ? "\n" : ",energy\n";
  for (std::size_t k = 0; k < t.time.size(); ++k) {
    text += fmt::format("{}", t.time[k]);
    for (const double x : t.q[k]) text += fmt::format(",{}", x);
    for (const double x : t.v[k]) text += fmt::format(",{}", x);
    text += t.energy.empty() ? "\n" : fmt::format(",{}\n", t.energy[k]);
  }
  return text;
}

}  // namespace routh::io
