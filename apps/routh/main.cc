#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <exception>

#include "commands.h"
#include "exact_law.h"
#include "routh/io/document.h"
#include "routh/io/scenario.h"
#include "terminal.h"

namespace routh::app {

void ScenarioArguments::add_to(CLI::App& command) {
  command
      .add_option(
          "scenario", name,
          "a built-in scenario (see 'routh list'), a YAML file, or a model of MuJoCo (.xml, "
          ".urdf)")
      ->required();
  command.add_option("--set", set, "change a parameter: name=value, may be repeated")
      ->type_name("NAME=VALUE");
  command.add_option("--state", start.state, "model: begin at this keyframe (default: the first)")
      ->type_name("KEYFRAME");
  command.add_option("--qpos", start.qpos, "model: coordinates instead of those of the keyframe")
      ->delimiter(',')
      ->type_name("Q,..");
  command.add_option("--qvel", start.qvel, "model: velocities instead of those of the keyframe")
      ->delimiter(',')
      ->type_name("V,..");
  command
      .add_option("--drop", start.drop,
                  "model: lift it to this height above the ground [m] and let it fall until it "
                  "touches")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--edges", edges, "in space: edges of the friction cone (default: 8)")
      ->check(CLI::Range(3, 64));
}

void ScenarioArguments::add_contact_options(CLI::App& command) {
  command
      .add_option("--touching", touching,
                  "contacts with a gap up to this take part [m] (default: 1e-6, models 1e-4)")
      ->check(positive("a length"));
  command.add_flag("--extreme-points", patches,
                   "in space: of contacts side by side in one plane keep the outermost");
}

io::Scenario ScenarioArguments::load() const {
  std::vector<io::Override> overrides;
  for (const std::string& text : set) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      throw io::InputError(fmt::format("--set {}: write name=value", text));
    try {
      overrides.push_back({text.substr(0, at), io::evaluate(text.substr(at + 1))});
    } catch (const io::InputError& e) {
      throw io::InputError(fmt::format("--set {}: {}", text, e.what()));
    }
  }
  io::Scenario scenario = io::load_scenario(name, overrides, start);
  if (edges > 0) scenario.edges = edges;
  if (touching > 0) scenario.touching = touching;
  scenario.extreme_points = patches;
  return scenario;
}

CLI::Validator positive(const std::string& what) {
  return CLI::Validator(
      [what](const std::string& text) {
        double value = 0;
        const bool fine =
            CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
        return fine ? std::string{} : fmt::format("'{}' must be {} above zero", text, what);
      },
      "POSITIVE");
}

CLI::Validator within(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        double value = 0;
        const bool fine = CLI::detail::lexical_cast(text, value) && value > low && value <= high;
        return fine ? std::string{}
                    : fmt::format("'{}' must be above {} and at most {}", text, low, high);
      },
      fmt::format("({}, {}]", low, high));
}

std::uint64_t parse_count(const std::string& option, const std::string& text) {
  double value = 0;
  try {
    value = io::evaluate(text);
  } catch (const io::InputError& e) {
    throw io::InputError(fmt::format("{}: {}", option, e.what()));
  }
  if (value != std::floor(value) || value < 0 || value > 0x1p63)
    throw io::InputError(fmt::format(
        "{} {}: must be a whole number that is not negative, such as 4096 or 2^20", option, text));
  return static_cast<std::uint64_t>(value);
}

void add_list(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("list", "show the built-in scenarios and their parameters");
  command->callback([] {
    for (const std::string& name : io::scenario_names()) {
      if (io::is_model(name) && !io::has_models()) continue;
      const io::Scenario s = io::load_scenario(name);
      fmt::print("{}\n    {}\n", name, s.title);
      for (const io::Parameter& p : s.parameters)
        fmt::print("      {:<20} {:>8.5g} {:<8} {}\n", p.name, p.value, p.unit, p.about);
      if (!s.states.empty()) fmt::print("      --state {}\n", fmt::join(s.states, ", "));
    }
    if (!io::has_models()) fmt::print("\n{}\n", io::kModelsMissing);
  });
}

}  // namespace routh::app

int routh::app::run(int argc, char** argv) {
  CLI::App app("All outcomes of rigid bodies that collide at several frictional contacts at once.");
  app.name("routh");
  app.require_subcommand(1);
  app.set_version_flag(
      "--version",
      fmt::format(
          "routh 0.1.0, {}, {}",
          app::has_exact() ? "with exact sets"
                           : "without exact sets (apt-get install libppl-dev libgmp-dev, "
                             "then make build)",
          io::has_models()
              ? "with models of MuJoCo"
              : "without models of MuJoCo (apt-get install libmujoco-dev, then make build)"));
  int code = app::kDone;
  try {
    app::catch_interrupt();
    app::add_list(app);
    app::add_impact(app, code);
    app::add_check(app, code);
    app::add_simulate(app, code);
    app::add_ensemble(app, code);
    app::add_reproduce(app, code);
    app.parse(argc, argv);
    return code;
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    app.exit(e);
    return app::kBadInput;
  } catch (const io::InputError& e) {
    fmt::print(stderr, "routh: {}\n", e.what());
    return app::kBadInput;
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "routh: {}\n", e.what());
    return app::kBadInput;
  } catch (const std::exception& e) {
    fmt::print(stderr, "routh: {}\n", e.what());
    return app::kUnfinished;
  }
}
