#include <fmt/format.h>

#include "routh/io/document.h"
#include "simulate.h"
#include "terminal.h"

namespace routh::app {
namespace {

HybridOptions options_of(const io::Scenario& scenario, const SimulateArguments& a) {
  HybridOptions o = hybrid_options(scenario, a.hybrid, a.end, a.every, 1000);
  if (!a.law.empty() && a.law != "plastic")
    o.law = impact_law(a.law, parse_count("--seed", a.seed));
  if (a.law == "plastic" && scenario.moving()->bounces())
    throw io::InputError(
        "--law plastic: contacts of the scenario bounce; set their restitution to 0, or take "
        "another law");
  if (scenario.run.restitution != Restitution::kByLaw)
    o.law = with_restitution(o.law ? o.law : impact_law("simultaneous"), scenario.run.restitution);
  return o;
}

}  // namespace

HybridOptions hybrid_options(const io::Scenario& scenario, const HybridArguments& a, double end,
                             double every, int records) {
  HybridOptions o;
  o.end = end != 0 ? end : scenario.run.simulation.end;
  o.every = every != 0 ? every : o.end / records;
  o.dt_pseudo = a.pseudo_impulse;
  o.limbs = scenario.limbs();
  o.strict = a.strict;
  o.friction = a.friction == "p4"        ? FrictionModel::kPaper
               : a.friction == "coulomb" ? FrictionModel::kCoulomb
                                         : FrictionModel::kAuto;
  if (a.rtol != 0) o.rtol = a.rtol, o.atol = 1e-2 * a.rtol;
  return o;
}

void add_hybrid_options(CLI::App& command, HybridArguments& a) {
  command
      .add_option("--pseudo-impulse", a.pseudo_impulse,
                  "forces of this duration [s] help contacts through an impact, P4 (56)")
      ->check(not_negative("a number of seconds"))
      ->capture_default_str();
  command
      .add_option("--friction", a.friction,
                  "p4 ends with the first slip, coulomb goes on; auto takes p4 on limbs "
                  "without mass")
      ->check(CLI::IsMember({"auto", "coulomb", "p4"}))
      ->capture_default_str();
  command.add_option("--rtol", a.rtol, "relative error of a step (default 1e-9)")
      ->check(positive("a number"));
  command.add_flag("--strict", a.strict,
                   "stop where several modes are consistent, even when contacts that "
                   "persist select one");
}

Simulated simulate_hybrid(const io::Scenario& scenario, const State& start,
                          const SimulateArguments& a) {
  HybridOptions options = options_of(scenario, a);
  const auto shown = progress(1000, "simulating");
  options.progress = [&](double time) {
    return shown(static_cast<std::uint64_t>(1000 * time / options.end));
  };
  Simulated done{simulate(*scenario.mechanism(), start, options), {}};
  clear_progress();
  done.options = {{"end", options.end},
                  {"every", options.every},
                  {"pseudo_impulse", options.dt_pseudo},
                  {"friction", a.hybrid.friction},
                  {"law", a.law.empty() ? "plastic" : a.law},
                  {"rtol", options.rtol},
                  {"atol", options.atol},
                  {"strict", options.strict}};
  if (a.law == "set") done.options["seed"] = parse_count("--seed", a.seed);
  return done;
}

void print_at_start(const io::Scenario& scenario, const State& start, const SimulateArguments& a) {
  const Instant now = instant(*scenario.mechanism(), start, options_of(scenario, a));
  const std::vector<Contact>& contacts = scenario.terms.contacts;
  const std::vector<std::string>& names = scenario.mechanism()->coordinates();
  io::Json json{{"scenario", scenario.name}, {"mode", mode_names(now.mode, contacts)}};
  std::string text = fmt::format("{}\nmode {} at {:.6g} s\n\n    {:<16} {:>14} {:>14} {:>16}\n",
                                 scenario.title, to_string(now.mode, contacts), start.time,
                                 "coordinate", "position", "velocity", "acceleration");
  json["acceleration"] = io::Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    json["acceleration"][names[i]] = now.acceleration[i];
    text += fmt::format("    {:<16} {:>14.8g} {:>14.8g} {:>16.10g}\n", names[i], start.q[i],
                        start.v[i], now.acceleration[i] + 0.0);
  }
  text += fmt::format("\n    {:<16} {:>14} {:>18}\n", "contact", "normal [N]", "tangential [N]");
  json["contacts"] = io::Json::array();
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    json["contacts"].push_back(
        {{"name", contacts[k].name}, {"normal", now.normal[k]}, {"tangential", now.tangential[k]}});
    text += fmt::format("    {:<16} {:>14.10g} {:>18.10g}\n", contacts[k].name, now.normal[k] + 0.0,
                        now.tangential[k] + 0.0);
  }
  a.places.show(text, json);
}

std::string describe_modes(const io::Scenario& scenario, const Trajectory& t) {
  if (!t.hybrid()) return "";
  const std::vector<Mode>& modes = t.hybrid()->modes;
  constexpr std::size_t kShown = 24;
  std::string text = "\n    word";
  for (std::size_t k = 0; k < modes.size() && k < kShown; ++k)
    text += " " + to_string(modes[k], scenario.terms.contacts);
  if (modes.size() > kShown) text += fmt::format(" .. {} more", modes.size() - kShown);
  text += "\n";
  for (const ZenoPoint& z : t.hybrid()->zeno) {
    text += fmt::format(
        "    Zeno: impacts accumulate at {:.9g} s (error {:.1e} s), each {:.4g} of the time after "
        "the one before\n",
        z.state.time, z.error, z.ratio);
  }
  return text;
}

}  // namespace routh::app
