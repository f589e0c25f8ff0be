#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>
#include <thread>

#include "commands.h"
#include "device.h"
#include "exact_law.h"
#include "options.h"
#include "output.h"
#include "ranks.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/model.h"
#include "routh/io/scenario.h"
#include "routh/io/text.h"
#include "routh/simulate/laws.h"
#include "routh/version.h"
#include "terminal.h"

namespace routh::app {

void ScenarioArguments::add_to(CLI::App& of) {
  command = &of;
  of.add_option("scenario", name,
                "a built-in scenario (see 'routh list'), a YAML file, or a model of MuJoCo (.xml, "
                ".urdf)")
      ->required();
  of.add_option("--set", set, "change a parameter: name=value, may be repeated")
      ->type_name("NAME=VALUE")
      ->group(kStart);
  of.add_option("--state", start.state, "begin at this keyframe (default: the first)")
      ->type_name("KEYFRAME")
      ->group(kModels);
  of.add_option("--qpos", start.qpos, "coordinates instead of those of the keyframe")
      ->delimiter(',')
      ->type_name("Q,..")
      ->group(kModels);
  of.add_option("--qvel", start.qvel, "velocities instead of those of the keyframe")
      ->delimiter(',')
      ->type_name("V,..")
      ->group(kModels);
  of.add_option("--ctrl", start.ctrl,
                "inputs of the actuators instead of those of the keyframe; one number is for all")
      ->delimiter(',')
      ->type_name("U,..")
      ->group(kModels);
  of.add_option("--drop", start.drop,
                "lift it to this height above the ground [m] and let it fall until it touches")
      ->check(not_negative("a height"))
      ->group(kModels);
  of.add_flag("--float", start.floating, "put a free joint under the root of a model that has none")
      ->group(kModels);
  of.add_flag("--floor", start.floor, "add a plane at height zero")->group(kModels);
  of.add_flag("--as-is", start.as_is, "refuse a start that overlaps instead of moving it")
      ->group(kModels);
  std::vector<std::string> by_polygon;
  for (const Law& law : laws()) {
    if (law.polygon) by_polygon.push_back(law.name);
  }
  of.add_option("--cone", cone,
                fmt::format("in space: Coulomb's circular friction cone, or a polygon (default: "
                            "circular, but polygon for the laws {})",
                            io::join(by_polygon)))
      ->check(CLI::IsMember({"circular", "polygon"}))
      ->group(kStart);
  of.add_option("--edges", edges, "in space: edges of the polygon (default: 8)")
      ->check(CLI::Range(3, 64))
      ->group(kStart);
}

void ScenarioArguments::add_restitution(CLI::App& of) {
  of.add_option("--restitution", restitution,
                "what coefficients of restitution are ratios of: normal velocities (newton), "
                "normal impulses (poisson) or works (stronge) (default: poisson for the law "
                "simultaneous, stronge for the others)")
      ->check(CLI::IsMember({"newton", "poisson", "stronge"}))
      ->group(kStart);
}

void ScenarioArguments::add_contact_options(CLI::App& of) {
  of.add_option("--touching", touching,
                "contacts with a gap up to this take part [m] (default: 1e-6, models 1e-4)")
      ->check(positive("a length"))
      ->group(kStart);
  of.add_flag("--extreme-points", patches,
              "of contacts side by side in one plane keep the outermost")
      ->group(kModels);
}

std::vector<io::Override> ScenarioArguments::overrides() const {
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
  return overrides;
}

void ScenarioArguments::prepare(io::Scenario& scenario) const {
  if (cone == "circular" && edges > 0)
    throw io::InputError("--edges: a circular cone has none; leave it out or use --cone polygon");
  if (cone == "circular") scenario.run.edges = 0;
  if (edges > 0 || cone == "polygon") scenario.run.edges = edges > 0 ? edges : kEdges;
  if (touching > 0) scenario.run.touching = touching;
  scenario.run.extreme_points = patches;
  scenario.run.restitution = io::restitution_named(restitution);
}

io::Scenario ScenarioArguments::load() const {
  io::Scenario scenario = io::load_scenario(name, overrides(), start);
  refuse_foreign(*command, scenario);
  if (const auto* model = std::get_if<io::Model>(&scenario.what); model && !model->moved.empty())
    warn(fmt::format("routh: {}: {}\n", name, model->moved));
  prepare(scenario);
  return scenario;
}

io::Family ScenarioArguments::family(const std::string& option,
                                     const std::vector<std::string>& names) const {
  const auto refuse_both = [&](bool given, const std::string& what, const char* varied) {
    if (given && io::index_of(names, varied) >= 0)
      throw io::InputError(fmt::format("{} has no effect where {} is varied by {}; leave one out",
                                       what, varied, option));
  };
  for (const io::Override& one : overrides())
    refuse_both(true, "--set " + one.name, one.name.c_str());
  refuse_both(start.drop.has_value(), "--drop", "drop");
  refuse_both(!start.state.empty(), "--state", "keyframe");
  io::Family family(name, overrides(), start, option, names);
  refuse_foreign(*command, family.base());
  family.prepare_by([own = *this](io::Scenario& scenario) { own.prepare(scenario); });
  return family;
}

namespace {

/// A number that is fine, or else what it must be; nan and inf never are.
template <typename Fine>
CLI::Validator number(Fine fine, const std::string& must_be, const std::string& kind) {
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && std::isfinite(value) && fine(value)
                   ? std::string{}
                   : fmt::format("'{}' must be {}", text, must_be);
      },
      kind);
}

}  // namespace

CLI::Validator positive(const std::string& what) {
  return number([](double x) { return x > 0; }, what + " above zero", "POSITIVE");
}

CLI::Validator not_negative(const std::string& what) {
  return number([](double x) { return x >= 0; }, what + " that is not negative", "NONNEGATIVE");
}

CLI::Validator within(double low, double high) {
  return number([=](double x) { return x > low && x <= high; },
                fmt::format("above {} and at most {}", low, high),
                fmt::format("({}, {}]", low, high));
}

CLI::Validator from(double low, double high) {
  return number([=](double x) { return x >= low && x <= high; },
                fmt::format("from {} to {}", low, high), fmt::format("[{}, {}]", low, high));
}

std::uint64_t parse_count(const std::string& option, const std::string& text, double most) {
  double value = 0;
  try {
    value = io::evaluate(text);
  } catch (const io::InputError& e) {
    throw io::InputError(fmt::format("{}: {}", option, e.what()));
  }
  if (value > most)
    throw io::InputError(fmt::format("{} {}: at most {:g} are possible", option, text, most));
  if (value != std::floor(value) || value < 0)
    throw io::InputError(fmt::format(
        "{} {}: must be a whole number that is not negative, such as 4096 or 2^20", option, text));
  return static_cast<std::uint64_t>(value);
}

namespace {

/// No option has an empty value: it is a variable of the shell that was not set.
void refuse_empty(CLI::App& app) {
  const CLI::Validator filled(
      [](const std::string& text) { return text.empty() ? "must not be empty" : std::string{}; },
      "");
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() > 0) option->check(filled);
    }
  }
}

/// A first word that is no command; options are CLI11's matter.
void refuse_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  if (word.starts_with("-") || io::index_of(known, word) >= 0) return;
  const std::string close = io::nearest(word, known);
  throw io::InputError(
      fmt::format("there is no command '{}'; {}", word,
                  close.empty() ? "'routh --help' lists them" : "did you mean '" + close + "'?"));
}

/// Descriptions of options in lines that fit beside their names.
class Help : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    constexpr std::size_t kWidth = 68;
    std::istringstream words(option->get_description());
    std::string text, word;
    for (std::size_t length = 0; words >> word; length += word.size() + 1) {
      if (length > 0 && length + word.size() > kWidth) text += '\n', length = 0;
      text += (length > 0 ? " " : "") + word;
    }
    return text;
  }
};

/// What people begin with, below the options of a command.
void add_examples(CLI::App& app) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> examples{
      {"list", {"routh list", "routh list rocking-block", "routh list --json"}},
      {"show",
       {"routh show rocking-block > mine.yaml",
        "routh show pushing | routh impact - --set friction=0.2"}},
      {"impact",
       {"routh impact rocking-block", "routh impact compass-gait --law exact --maximize normal.B",
        "routh impact ramone --law set --samples 2^16 --seed 7 --json out.json"}},
      {"check", {"routh check compass-gait", "routh check box-and-wall --set friction=0.4"}},
      {"simulate",
       {"routh simulate domino-row", "routh simulate rocking-block-p4 --method hybrid",
        "routh simulate stick-slip --step 0.01 --end 10 --csv -"}},
      {"ensemble",
       {"routh ensemble compass-gait --runs 256 --end 1",
        "routh ensemble compass-gait --branch 2 --end 0.5"}},
      {"map",
       {"routh map compass-gait --vary friction=0.2:2:8 --vary rate=0.1:1:8",
        "routh map rocking-block --vary friction=0:1:21 --measure spread,worst.energy --csv -",
        "routh map pushing --draw 'friction=uniform(0.2,1)' --points 50 --law simultaneous"}},
      {"measured",
       {"routh measured impacts.csv --plot figures/",
        "routh measured impacts.csv --samples 1000 --csv distances.csv"}},
      {"reproduce", {"routh reproduce p1-outcomes --out results", "routh reproduce all"}},
      {"rerun",
       {"routh rerun out.json", "routh impact rocking-block --json - | routh rerun -",
        "routh rerun out.json --tolerance 1e-9"}},
  };
  for (const auto& [command, lines] : examples) {
    std::string text = "Examples:\n";
    for (const char* line : lines) text += fmt::format("  {}\n", line);
    app.get_subcommand(command)->footer(text + "\n" + kExitCodes);
  }
}

}  // namespace

void define(CLI::App& app, Session& session) {
  app.description(
      "All outcomes of rigid bodies that collide at several frictional contacts at once.");
  app.name("routh");
  app.footer(std::string("Begin with: routh list; routh impact rocking-block\n\n") + kExitCodes);
  app.formatter(std::make_shared<Help>());
  app.get_formatter()->column_width(32);
  app.require_subcommand(1);
  app.set_version_flag(
      "--version",
      fmt::format(
          "routh {}, with exact sets, {}, {}", kVersion,
          io::has_models()
              ? fmt::format("with models of MuJoCo {}", io::models_version())
              : std::string(
                    "without models of MuJoCo (apt-get install libmujoco-dev, then make build)"),
          has_cuda() ? "with CUDA" : "without CUDA (make cuda)"));
  add_list(app, session);
  add_show(app);
  add_impact(app, session);
  add_check(app, session);
  add_simulate(app, session);
  add_ensemble(app, session);
  add_map(app, session);
  add_measured(app, session);
  add_reproduce(app, session);
  add_rerun(app, session);
  refuse_empty(app);
  add_examples(app);
  add_manual(app);
}

void obey(CLI::App& app, const Session& session) {
  if (session.command.size() > 1) {
    refuse_unknown(app, session.command[1]);
    if (!session.command[1].starts_with("-")) check_processes(session.command[1]);
  }
  // CLI11 takes them from the end
  app.parse(std::vector<std::string>(session.command.rbegin(), session.command.rend() - 1));
}

int run(int argc, char** argv) {
  const auto complain = [](int code, const std::string& what) {
    // what is wrong with a command is wrong for all its processes: the first says it, before the
    // launcher ends them all because one has left
    if (code == kBadInput && rank() > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      return code;
    }
    const std::string who = rank() > 0 ? fmt::format("process {}: ", rank()) : "";
    warn(fmt::format("routh: {}{}\n", who, io::without_controls(what)));
    end_processes(code);
    return code;
  };
  Session session{.command = {"routh"}};
  session.command.insert(session.command.end(), argv + std::min(argc, 1), argv + argc);
  CLI::App app;
  try {
    catch_interrupt();
    define(app, session);
    obey(app, session);
    return session.code;
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    std::ostringstream shown, complaint;
    app.exit(e, shown, complaint);
    warn(complaint.str());
    return kBadInput;
  } catch (const io::InputError& e) {
    return complain(kBadInput, e.what());
  } catch (const std::invalid_argument& e) {
    return complain(kBadInput, e.what());
  } catch (const std::bad_alloc&) {
    return complain(kUnfinished, "there is not enough memory for this; ask for less");
  } catch (const std::filesystem::filesystem_error& e) {
    return complain(kUnfinished,
                    fmt::format("cannot use '{}': {}", e.path1().string(), e.code().message()));
  } catch (const std::system_error& e) {
    // a screen that takes nothing is told of at the end
    return std::ferror(stdout) ? kUnfinished : complain(kUnfinished, e.code().message());
  } catch (const std::exception& e) {
    return complain(kUnfinished, e.what());
  }
}

}  // namespace routh::app
