#include "simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "describe.h"
#include "event_selected.h"
#include "numbers.h"
#include "options.h"
#include "routh/io/document.h"
#include "routh/io/mode_graph.h"
#include "routh/io/motion.h"
#include "terminal.h"

namespace routh::app {
namespace {

constexpr double kNothing = 1e-15;  // of a gap, in the largest coordinate: rounding

/// What is small against the whole motion is rounding.
double largest_over(const std::vector<Eigen::VectorXd>& states, const Eigen::VectorXd& last) {
  double largest = largest_of(last);
  for (const Eigen::VectorXd& state : states) largest = std::max(largest, largest_of(state));
  return largest;
}

/// Coordinates and velocities, side by side where they belong together.
std::string describe_state(const io::Scenario& scenario, const State& state, double far,
                           double fast) {
  const std::vector<std::string>&q = scenario.coordinates, &v = scenario.velocities;
  constexpr std::size_t kShown = 12;
  const auto position = [&](std::size_t i) { return rounded(state.q[i], far); };
  const auto velocity = [&](std::size_t i) { return rounded(state.v[i], fast); };
  std::string text;
  if (q == v) {
    text =
        fmt::format("\n    at {:.6g} s   position [m, rad]   velocity [m/s, rad/s]\n", state.time);
    for (std::size_t i = 0; i < q.size() && i < kShown; ++i) {
      text += fmt::format("    {:<14} {:>16.6g} {:>23.6g}\n", q[i], position(i), velocity(i));
    }
  } else {
    text = fmt::format(
        "\n    at {:.6g} s    position [m, rad]               velocity [m/s, rad/s]\n", state.time);
    for (std::size_t i = 0; i < std::max(q.size(), v.size()) && i < kShown; ++i) {
      text += i < q.size() ? fmt::format("    {:<16} {:>12.6g}", q[i], position(i))
                           : std::string(33, ' ');
      if (i < v.size()) text += fmt::format("    {:<16} {:>12.6g}", v[i], velocity(i));
      text += '\n';
    }
  }
  if (q.size() > kShown) text += fmt::format("    .. {} more coordinates\n", q.size() - kShown);
  return text;
}

std::string describe(const io::Motion& motion) {
  const Trajectory& t = motion.trajectory;
  std::string text =
      fmt::format("{}\n{}: {} steps to {:.6g} s in {}, {} a step\n", motion.scenario.title,
                  motion.method, t.steps, t.final.time, duration(t.seconds),
                  duration(t.seconds / static_cast<double>(std::max(1L, t.steps))));
  text += describe_notes(motion.scenario);
  if (!t.events.empty()) text += "\n    time [s]  event     contacts\n";
  constexpr std::size_t kShown = 16;
  for (std::size_t k = 0; k < t.events.size() && k < kShown; ++k) {
    const Event& e = t.events[k];
    std::string names;
    for (std::size_t i = 0; i < e.contacts.size() && i < 6; ++i)
      names += (i ? ", " : "") + motion.contact_name(e.contacts[i]);
    if (e.contacts.size() > 6) names += fmt::format(" and {} more", e.contacts.size() - 6);
    if (!e.continuations.empty()) {
      names += "   could be: ";
      for (std::size_t i = 0; i < e.continuations.size(); ++i)
        names += (i ? ", " : "") +
                 to_string(e.continuations[i], e.mode_before, motion.scenario.terms.contacts);
      names += "; the first was taken";
    } else if (e.outcomes > 1) {
      names += fmt::format("   ({} outcomes, the first was taken)", e.outcomes);
    }
    text += fmt::format("    {:<9.6f} {:<9} {}\n", e.time, to_string(e.kind), names);
  }
  if (t.events.size() > kShown)
    text += fmt::format("    .. {} more; --json has them all\n", t.events.size() - kShown);
  text += describe_modes(motion.scenario, t);
  const double far = largest_over(t.q, t.final.q), fast = largest_over(t.v, t.final.v);
  text += describe_state(motion.scenario, t.final, far, fast);
  text += fmt::format(
      "\n    energy {:.6g} -> {:.6g} J; deepest penetration {:.2g} m, joints open by {:.2g} m\n",
      t.energy.front(), t.energy.back(), rounded(t.max_penetration, far, kNothing),
      rounded(t.max_joint_error, far, kNothing));
  if (const double gain = motion.largest_gain(); gain > 0)
    text += fmt::format(
        "    an impact adds {:.3g} J of energy: the meaning of its coefficients of restitution "
        "allows "
        "it\n",
        gain);
  if (const TimeSteppingExtras* stepping = t.stepping())
    text += fmt::format("    {} complementarity problems, largest residual {:.1e}\n",
                        stepping->lcps, stepping->max_residual);
  if (const HybridExtras* hybrid = t.hybrid())
    text += fmt::format("    {} complementarity problems\n", hybrid->lcps);
  return text;
}

/// Everything that was asked for, from a finished simulation.
int report(const SimulateArguments& a, const io::Motion& motion, std::string text,
           const InclusionTolerance& tolerance) {
  const Places& places = a.places;
  finishing();
  std::optional<InclusionPath> path;
  if (a.domain == "s" && !interrupted()) {
    path = inclusion(*motion.scenario.mechanism(), motion.trajectory);
    const InclusionResidual residual =
        inclusion_residual(*motion.scenario.mechanism(), *path, tolerance);
    text += fmt::format(
        "\n    as a solution of P1 (53): s ends at {:.6g}, residual {:.1e}, at most {:.1e}",
        path->s.back(), residual.mean, residual.largest);
    text += path->zeno < 0 ? "\n" : fmt::format("; impacts accumulate at s = {:.6g}\n", path->zeno);
  }
  io::Json json;
  if (!places.json.empty()) {
    json = io::to_json(motion, a.raw);
    if (path) json["inclusion"] = io::to_json(*path);
  }
  ModeGraph graph;
  if (!places.modes.empty()) {
    graph.add(motion.trajectory, motion.scenario.terms.contacts);
    if (!places.json.empty()) json["mode_graph"] = io::to_json(graph);
  }
  places.show(text, json);
  if (!places.csv.empty()) places.write(places.csv, io::to_csv(motion));
  drawing();
  if (!places.plot.empty() && !interrupted()) {
    places.make_folder();
    const std::string name = figure_name(a.scenario.name) + "-" + motion.method;
    places.announce(io::draw(motion, name, places.plot));
    if (path) places.announce(io::draw(motion.scenario, *path, name + "-s", places.plot));
  }
  if (!places.modes.empty()) places.write(places.modes, io::to_svg(graph, motion.scenario.title));
  if (!places.animate.empty() && !interrupted()) {
    io::animate(motion, places.animate);
    places.announce({places.animate});
  }
  const Trajectory& t = motion.trajectory;
  if (t.status == SimulationStatus::kInaccurate) {
    warn(
        fmt::format("routh: warning: {} of {} complementarity problems were not solved to the "
                    "tolerance (largest residual {:.1e})\n",
                    t.stepping()->inaccurate, t.stepping()->lcps, t.stepping()->max_residual));
  }
  if (t.status == SimulationStatus::kInterrupted)
    warn(fmt::format("routh: stopped at {:.6g} s; what was written is marked incomplete\n",
                     t.final.time));
  else if (t.stopped())
    warn(fmt::format("routh: {}; what was written is marked incomplete\n", t.message));
  return t.stopped() || interrupted() ? kUnfinished : kDone;
}

/// Options of other methods are refused.
void check_arguments(const std::string& method, const SimulateArguments& a, bool inputs) {
  const CLI::App& command = *a.scenario.command;
  refuse_foreign(command, "--method",
                 {method, a.exact ? "" : method + " without --exact", inputs ? kInputs : ""});
  const std::string own = method == "hybrid" ? "plastic" : "simultaneous";
  refuse_foreign(command, "--law", {a.law.empty() ? own : a.law, inputs ? kInputs : ""});
  refuse_foreign(
      command, "way",
      {a.places.json.empty() ? "" : "--json", a.at_start ? "" : "motions without --at-start"});
}

int run_simulate(const SimulateArguments& a) {
  // everything that can be wrong is found before the work begins
  a.places.check(io::is_model(a.scenario.name));
  io::Scenario scenario = a.scenario.load();
  io::Course course = a;
  course.seed = parse_count("--seed", a.seed_text);
  io::draw_inputs(scenario, course.seed);
  course.impulses = a.domain == "s";
  const io::Method& way = io::method_of(scenario, course);
  const std::string& method = way.name;
  if (a.domain == "s") io::check_inclusion(scenario, way);
  if (scenario.model() && a.at_start)
    throw io::InputError(
        fmt::format("--at-start: {} is a model in space; only --method hybrid of planar mechanisms "
                    "knows the forces at an instant",
                    a.scenario.name));
  if (method == "event-selected" && !a.places.animate.empty() && !scenario.picture())
    throw io::InputError("--animate: this system has no picture");
  check_arguments(method, a, io::has_inputs(scenario));
  State start;
  if (!way.systems) {
    start = io::start_of(scenario, a.project);
    if (const double rate = a.project ? 0 : io::joint_rate(scenario, start); rate > 0)
      warn(fmt::format(
          "routh: warning: the velocity at the start violates the joints by {:.3g} m/s; --project "
          "removes that part\n",
          rate));
  }
  if (a.at_start) {
    print_at_start(scenario, start, a);
    return kDone;
  }
  const double end = a.end != 0 ? a.end : scenario.run.simulation.end;
  const auto shown = progress(1000, "simulating");
  course.progress = [&](double time) {
    return shown(static_cast<std::uint64_t>(1000 * std::min(1.0, time / end)));
  };
  const io::Simulated done = io::simulate(scenario, start, course);
  clear_progress();
  const io::Motion motion{scenario, method, done.options, done.trajectory,
                          done.derivative ? &*done.derivative : nullptr};
  std::string text = method == "event-selected" ? describe_event_selected(scenario, done.trajectory)
                                                : describe(motion);
  if (motion.derivative) text += describe_derivative(motion);
  return report(a, motion, std::move(text), done.inclusion);
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  auto a = std::make_shared<SimulateArguments>();
  CLI::App* c = app.add_subcommand("simulate", "move a mechanism through time and its impacts");
  a->scenario.add_to(*c);
  a->scenario.add_restitution(*c);
  std::string choices, about;
  for (const io::Method& method : io::methods()) {
    choices += (choices.empty() ? "{" : ",") + method.name;
    about += fmt::format("{}: {}; ", method.name, method.about);
  }
  c->add_option("--method", a->method, about + "default: the scenario's")->type_name(choices + "}");
  c->add_option("--end", a->end, "simulate until this time [s] (default: the scenario's)")
      ->check(positive("a number of seconds"));
  add_time_stepping_options(*c, *a);
  std::vector<std::string> laws = impact_law_names();
  laws.emplace_back("plastic");
  c->add_option("--law", a->law,
                "how impacts are resolved (default: simultaneous and plastic, P4 (23))")
      ->check(CLI::IsMember(laws));
  c->add_option("--seed", a->seed_text,
                "of --law set, and of what hybrid executions draw where nothing persists")
      ->capture_default_str();
  add_hybrid_options(*c, *a);
  c->add_flag("--at-start", a->at_start,
              "only the mode, the accelerations and the contact forces at the start");
  add_event_selected_options(*c, *a);
  c->add_option("--stiffness,--contact-stiffness", a->stiffness,
                "of each contact [N/m] (default: 1e4 and 1e6)")
      ->check(positive("a stiffness"));
  add_compliant_options(*c, *a);
  c->add_flag(
      "--derivative", a->derivative,
      "how the end depends on the start: through every event, the B-derivative and its "
      "saltation matrices; by time-stepping through every step, on friction and masses too");
  c->add_option("--domain", a->domain,
                "t: over time; s: also over time and impulse, where impacts are paths, P1 (53)")
      ->check(CLI::IsMember({"t", "s"}))
      ->capture_default_str();
  c->add_flag("--project", a->project, "close the joints at the start");
  c->add_option("--every", a->every,
                "record at these intervals [s] (default: every step and impact)")
      ->check(positive("a number of seconds"));
  c->add_flag("--raw", a->raw,
              "with --json: also the unweighted velocity v^h of P3 (4.11), as v_raw");
  a->places.add_to(*c, session,
                   {{"--json", "write the trajectory as JSON; without FILE to standard output"},
                    {"--csv", "write one row per recorded state; - is standard output"},
                    {"--plot", "draw figures and an animation into this folder"},
                    {"--modes", "draw the modes visited and their transitions, .svg"},
                    {"--animate", "write an animation, .svg, .gif, or with ffmpeg .mp4 or .webm"}});
  group_by_scopes(*c);
  c->callback([a, &session] { session.code = run_simulate(*a); });
}

}  // namespace routh::app
