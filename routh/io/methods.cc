#include "routh/io/methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/methods_selected.h"
#include "routh/simulate/compliant.h"

namespace routh::io {
namespace {

constexpr double kLongest = 1e9;         // of a motion [s]
constexpr double kMostSteps = 1e10;      // of a motion
constexpr double kMostRecorded = 5e7;    // recorded of a motion
constexpr std::size_t kMostHybrid = 12;  // contacts of which modes may be tried one by one
constexpr int kHybridRecords = 1000;     // of a hybrid motion, unless said otherwise
constexpr int kRunRecords = 200;         // of a run of an ensemble
constexpr double kStiffness = 1e6;       // of compliant contacts [N/m]

double end_of(const Scenario& scenario, const Course& course) {
  return course.end != 0 ? course.end : scenario.run.simulation.end;
}

double fastest_of(const Trajectory& t) {
  double fastest = 0;
  for (const Eigen::VectorXd& v : t.v) fastest = std::max(fastest, v.lpNorm<Eigen::Infinity>());
  return fastest;
}

Simulated simulate_time_stepping(const Scenario& scenario, const State& start,
                                 const Course& course) {
  const TimeSteppingOptions options = time_stepping_options(scenario, course);
  const TimeSteppingOptions o = completed(*scenario.moving(), options);
  Simulated done{routh::simulate(*scenario.moving(), start, options),
                 {{"step", o.h},
                  {"alpha", *o.alpha},
                  {"gamma", *o.gamma},
                  {"end", o.end},
                  {"every", o.every},
                  {"jacobians", o.jacobians == Jacobians::kMidpoint ? "midpoint" : "start"},
                  {"detection", *o.detection},
                  {"stabilise", o.stabilise},
                  {"tolerance", o.tolerance},
                  {"law", course.law.empty() ? "simultaneous" : course.law}}};
  if (course.law == "set") done.options["seed"] = course.seed;
  if (course.derivative)
    done.derivative = derivative(*scenario.moving(), start, options, masses_of(scenario));
  // at the instant of a collision the other contacts are closed to the order of the scheme
  done.inclusion = {.gap = std::max(1e-6, 4 * o.h * o.h), .slow = o.h};
  return done;
}

Simulated simulate_hybrid(const Scenario& scenario, const State& start, const Course& course) {
  HybridOptions o = hybrid_options(scenario, course, kHybridRecords);
  if (course.every == 0) o.every = usual_every(scenario, o.end, kHybridRecords);
  Simulated done{routh::simulate(*scenario.moving(), start, o),
                 {{"end", o.end},
                  {"every", o.every},
                  {"pseudo_impulse", o.dt_pseudo},
                  {"friction", course.friction},
                  {"law", course.law.empty() ? "plastic" : course.law},
                  {"rtol", o.rtol},
                  {"atol", o.atol},
                  {"strict", o.strict}}};
  if (course.law == "set" || course.law.empty() || course.law == "plastic")
    done.options["seed"] = course.seed;
  // states within a step are interpolated
  done.inclusion.slow = 1e-7 * fastest_of(done.trajectory);
  if (course.derivative) {
    if (o.law)
      throw InputError(
          "--derivative: of hybrid executions with plastic impacts; leave out --law and set "
          "restitution to 0");
    done.derivative = derivative(*scenario.moving(), start, o);
  }
  return done;
}

/// What compliant contacts damp: all of a mechanism, else the trace of its inertia's largest block.
double mass_of(const Scenario& scenario) {
  double mass = 0;
  if (!scenario.mechanism()) return scenario.terms.M.diagonal().maxCoeff();
  for (const Body& body : scenario.mechanism()->bodies()) mass += body.mass;
  return mass;
}

Simulated simulate_compliant(const Scenario& scenario, const State& start, const Course& course) {
  CompliantOptions o;
  const double soft = course.stiffness != 0 ? course.stiffness : kStiffness;
  o.stiffness.assign(scenario.terms.contacts.size(), soft * std::max(1.0, 1 / course.ratio));
  if (!o.stiffness.empty()) o.stiffness.front() = soft * std::max(1.0, course.ratio);
  o.damping_ratio = course.damping_ratio;
  o.mass = mass_of(scenario);
  o.end = end_of(scenario, course);
  o.every = course.every;
  o.impulses = course.impulses;
  if (course.impact_only) o.resolved = 1e-3 * o.mass / soft;
  o.progress = course.progress;
  Simulated done{routh::simulate(*scenario.moving(), start, o),
                 {{"end", o.end},
                  {"every", o.every},
                  {"stiffness", o.stiffness},
                  {"damping_ratio", o.damping_ratio},
                  {"mass", o.mass},
                  {"eps", o.eps}}};
  // springs are pressed in, and throw back a little of the velocity: 1/(4 ζ²)
  const double fastest = fastest_of(done.trajectory);
  done.inclusion = {.gap = std::max(1e-8, done.trajectory.max_penetration),
                    .slow = fastest / std::max(1.0, 4 * o.damping_ratio * o.damping_ratio)};
  return done;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> list{
      {"time-stepping", "one complementarity problem a step, P3", simulate_time_stepping},
      {"hybrid", "contact modes and events, P4", simulate_hybrid},
      {"event-selected", "smooth pieces between guards, contacts as springs, P5",
       [](const Scenario& scenario, const State&, const Course& course) {
         return simulate_event_selected(scenario, course);
       },
       true, true},
      {"compliant", "stiff contacts with friction, P1 (88)-(90)", simulate_compliant, false, true},
  };
  return list;
}

const Method& method_of(const Scenario& scenario, const Course& course) {
  if (!scenario.moving() && !scenario.selected())
    throw InputError(fmt::format(
        "{}: plain matrices describe one instant; simulate needs a mechanism", scenario.name));
  const std::string& name = course.method.empty() ? scenario.run.simulation.method : course.method;
  const auto found = std::find_if(methods().begin(), methods().end(),
                                  [&](const Method& method) { return method.name == name; });
  if (found == methods().end()) {
    std::vector<std::string> known;
    for (const Method& method : methods()) known.push_back(method.name);
    const std::string close = nearest(name, known);
    throw InputError(
        fmt::format("--method {}: there is no such method; {}", name,
                    close.empty() ? "known are " + join(known) : "did you mean '" + close + "'?"));
  }
  if (scenario.model() && name != "time-stepping")
    throw InputError(
        fmt::format("{}: a model in space moves by --method time-stepping, over t", scenario.name));
  if (!found->systems && !scenario.moving())
    throw InputError(
        fmt::format("--method {}: {} is a system of --method event-selected", name, scenario.name));
  if (found->springs && scenario.moving() && scenario.moving()->bounces())
    throw InputError(
        fmt::format("--method {}: contacts of {} have coefficients of restitution, which are for "
                    "impacts; time-stepping and hybrid have those",
                    name, scenario.name));
  return *found;
}

void check_inclusion(const Scenario& scenario, const Method& method) {
  if (scenario.model())
    throw InputError(
        fmt::format("{}: a model in space moves by --method time-stepping, over t", scenario.name));
  if (method.systems)
    throw InputError(
        fmt::format("--domain s: the springs of --method {} bounce, P1 (53) does not; use another "
                    "method",
                    method.name));
}

State start_of(const Scenario& scenario, bool project) {
  State start{0, scenario.q, scenario.v};
  if (project) return project_joints(*scenario.moving(), start);
  const Terms& terms = scenario.terms;
  if (terms.A.rows() == 0) return start;
  const double open = terms.joint_gap.cwiseAbs().maxCoeff();
  if (open > 1e-6) {
    throw InputError(
        fmt::format("{}: the joints are open by {:.3g} m at the start; close them or add --project",
                    scenario.name, open));
  }
  return start;
}

double joint_rate(const Scenario& scenario, const State& start) {
  if (scenario.terms.A.rows() == 0) return 0;
  const double rate = (scenario.terms.A * start.v).cwiseAbs().maxCoeff();
  return rate > 1e-9 * (1 + start.v.cwiseAbs().maxCoeff()) ? rate : 0;
}

void check_budget(double end, double step, double every, double numbers) {
  if (end > kLongest)
    throw InputError(fmt::format("--end {:g}: a motion may last up to {:g} s", end, kLongest));
  if (step > 0 && end / step > kMostSteps) {
    throw InputError(
        fmt::format("--step {:g}: {:.2g} steps to {:g} s are too many; take at "
                    "least {:.1e} s, or an earlier --end",
                    step, end / step, end, end / kMostSteps));
  }
  const double interval = every > 0 ? every : step;
  const double least = end * numbers / kMostRecorded;
  if (interval > 0 && interval < least) {
    throw InputError(fmt::format(
        "--every {}: {:.2g} states to {:g} s are too many to record; take at least {:.1e} s",
        every > 0 ? fmt::format("{:g}", every) : "was not given", end / interval, end, least));
  }
}

double usual_every(const Scenario& scenario, double end, int records) {
  constexpr double kMostTimes = 40;
  const double own = scenario.run.simulation.end;
  return end / (records * std::clamp(own > 0 ? end / own : 1, 1.0, kMostTimes));
}

Simulated simulate(const Scenario& scenario, const State& start, const Course& course) {
  const Method& method = method_of(scenario, course);
  const double step = course.step != 0 ? course.step : scenario.run.simulation.step;
  check_budget(end_of(scenario, course), method.name == "time-stepping" ? step : 0, course.every,
               static_cast<double>(scenario.q.size() + 2 * scenario.v.size() + 4));
  Simulated done = method.run(scenario, start, course);
  done.options["method"] = method.name;
  if (const PlanarMechanism* m = scenario.mechanism(); m && !m->inputs().empty()) {
    done.options["seed"] = course.seed;
    for (std::size_t i = 0; i < m->inputs().size(); ++i)
      done.options["inputs"][m->inputs()[i].name] = m->input_values()[i];
  }
  return done;
}

HybridOptions hybrid_options(const Scenario& scenario, const Course& course, int records) {
  HybridOptions o;
  o.end = end_of(scenario, course);
  o.every = course.every != 0 ? course.every : o.end / records;
  o.dt_pseudo = course.pseudo_impulse;
  o.limbs = scenario.limbs();
  o.strict = course.strict;
  o.seed = course.seed;
  o.friction = course.friction == "p4"        ? FrictionModel::kPaper
               : course.friction == "coulomb" ? FrictionModel::kCoulomb
                                              : FrictionModel::kAuto;
  if (course.rtol != 0) o.rtol = course.rtol, o.atol = 1e-2 * course.rtol;
  if (!course.law.empty() && course.law != "plastic") o.law = impact_law(course.law, course.seed);
  if (course.law == "plastic" && scenario.moving()->bounces())
    throw InputError(
        "--law plastic: contacts of the scenario bounce; set their restitution to 0, or take "
        "another law");
  check_restitution(scenario, course.law.empty() ? "simultaneous" : course.law);
  if (scenario.run.restitution != Restitution::kByLaw)
    o.law = with_restitution(o.law ? o.law : impact_law("simultaneous"), scenario.run.restitution);
  o.progress = course.progress;
  return o;
}

TimeSteppingOptions time_stepping_options(const Scenario& scenario, const Course& course) {
  TimeSteppingOptions o;
  o.h = course.step != 0 ? course.step : scenario.run.simulation.step;
  o.alpha = course.alpha;
  o.gamma = course.gamma;
  o.end = end_of(scenario, course);
  o.every = course.every;
  o.jacobians = course.jacobians == "start"      ? Jacobians::kStart
                : course.jacobians == "midpoint" ? Jacobians::kMidpoint
                                                 : Jacobians::kDefault;
  if (!course.detection.empty()) o.detection = course.detection == "on";
  o.stabilise = !course.no_stabilise;
  o.edges = scenario.run.edges.value_or(0);
  o.touching = scenario.run.touching;
  o.impulses = course.impulses;
  if (course.law == "plastic") throw InputError("--law plastic: only --method hybrid has it");
  // in the plane it is the scheme's own law; in space impacts are found where a law is asked for
  if (!course.law.empty() && (course.law != "simultaneous" || scenario.moving()->contacts_vary())) {
    if (course.detection == "off")
      throw InputError("--law: needs the instants of impacts; leave out --detection off");
    o.law = impact_law(course.law, course.seed);
  }
  check_restitution(scenario, course.law.empty() ? "simultaneous" : course.law);
  if (scenario.run.restitution != Restitution::kByLaw)
    o.law = with_restitution(o.law ? o.law : impact_law("simultaneous"), scenario.run.restitution);
  o.progress = course.progress;
  return o;
}

std::string ensemble_method(const Scenario& scenario) {
  const bool many = scenario.terms.contacts.size() > kMostHybrid;
  return many || (scenario.moving() && scenario.moving()->contacts_vary()) ? "time-stepping"
                                                                           : "hybrid";
}

Moves moves_of(const Scenario& scenario, const State& start, const Course& course) {
  if (!scenario.moving())
    throw InputError(
        fmt::format("{}: an ensemble needs a mechanism or a model that moves", scenario.name));
  if (!scenario.limbs().empty())
    throw InputError(fmt::format(
        "{}: limbs without mass collide by P4's plastic map alone, which leaves nothing to draw; "
        "'routh simulate' moves it",
        scenario.name));
  const std::string method = course.method.empty() ? ensemble_method(scenario) : course.method;
  if (method != "hybrid" && method != "time-stepping")
    throw InputError(
        fmt::format("--method {}: an ensemble moves by hybrid or time-stepping", method));
  if (scenario.moving()->contacts_vary() && method == "hybrid")
    throw InputError("--method hybrid: models of MuJoCo are moved by time-stepping");
  Course each = course;
  each.law.clear(), each.progress = {};
  if (method == "hybrid") {
    const HybridOptions o = hybrid_options(scenario, each, kRunRecords);
    return {method,
            motion_by(*scenario.moving(), start, o),
            {{"end", o.end},
             {"every", o.every},
             {"pseudo_impulse", o.dt_pseudo},
             {"friction", course.friction},
             {"rtol", o.rtol},
             {"strict", o.strict},
             {"method", method}},
            o.end,
            o.every,
            0};
  }
  TimeSteppingOptions o = time_stepping_options(scenario, each);
  if (o.every == 0) o.every = o.end / kRunRecords;
  return {method,
          motion_by(*scenario.moving(), start, o),
          {{"step", o.h}, {"end", o.end}, {"every", o.every}, {"method", method}},
          o.end,
          o.every,
          o.h};
}

}  // namespace routh::io
