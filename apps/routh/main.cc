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
  command.add_option("scenario", name, "a built-in scenario (see 'routh list') or a YAML file")
      ->required();
  command.add_option("--set", set, "change a parameter: name=value, may be repeated")
      ->type_name("NAME=VALUE");
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
  return io::load_scenario(name, overrides);
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
      const io::Scenario s = io::load_scenario(name);
      fmt::print("{}\n    {}\n", name, s.title);
      for (const io::Parameter& p : s.parameters)
        fmt::print("      {:<20} {:>8.5g} {:<8} {}\n", p.name, p.value, p.unit, p.about);
    }
  });
}

}  // namespace routh::app

int main(int argc, char** argv) {
  using namespace routh;
  CLI::App app("All outcomes of rigid bodies that collide at several frictional contacts at once.");
  app.name("routh");
  app.require_subcommand(1);
  app.set_version_flag("--version", app::has_exact()
                                        ? "routh 0.1.0, with exact sets"
                                        : "routh 0.1.0, without exact sets (apt-get install "
                                          "libppl-dev libgmp-dev, then make build)");
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
