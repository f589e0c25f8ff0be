#include "options.h"

#include <fmt/format.h>

#include <algorithm>

#include "routh/io/document.h"
#include "routh/simulate/laws.h"

namespace routh::app {
namespace {

constexpr const char *kLaw = "--law", *kMethod = "--method", *kScenario = "scenario", *kWay = "way",
                     *kItem = "item";
constexpr const char *kPlane = "mechanisms in the plane", *kModel = "models of MuJoCo",
                     *kMatrices = "plain matrices in the plane",
                     *kSpace = "plain matrices in space", *kSystem = "event-selected systems";

struct Scope {
  std::string command, by;
  std::vector<std::string> options, of;
};

/// What the laws themselves say: a row for all options that are of the same laws.
std::vector<Scope> scopes_of_laws() {
  std::vector<std::pair<std::string, std::vector<std::string>>> laws_of;
  // `all`, which takes options of the others, comes last
  std::vector<Law> in_turn = laws();
  std::rotate(in_turn.begin(), in_turn.begin() + 1, in_turn.end());
  for (const Law& law : in_turn) {
    for (const std::string& option : law.options) {
      auto known = std::find_if(laws_of.begin(), laws_of.end(),
                                [&](const auto& one) { return one.first == option; });
      if (known == laws_of.end()) known = laws_of.insert(laws_of.end(), {option, {}});
      known->second.push_back(law.name);
    }
  }
  std::vector<Scope> rows;
  for (const auto& entry : laws_of) {
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Scope& one) { return one.of == entry.second; });
    if (row == rows.end()) row = rows.insert(rows.end(), {"impact", kLaw, {}, entry.second});
    row->options.push_back("--" + entry.first);
  }
  return rows;
}

std::vector<Scope> all_scopes() {
  std::vector<Scope> table = scopes_of_laws();
  const std::vector<Scope> others{
      {"impact", kLaw, {"--max-polyhedra"}, {"exact", "set --coverage"}},
      {"impact", kLaw, {"--hdf5", "--checkpoint"}, {"set"}},
      {"impact", kLaw, {"--derivative"}, {"all", "simultaneous"}},
      {"impact", kLaw, {"--max-seconds"}, {"exact", "witnesses", "set --coverage"}},

      {"simulate",
       kMethod,
       {"--step", "--alpha", "--gamma", "--jacobians", "--detection", "--no-detection",
        "--no-stabilise", "--raw"},
       {"time-stepping"}},
      {"simulate", kMethod, {"--law", "--restitution"}, {"time-stepping", "hybrid"}},
      {"simulate", kMethod, {"--seed"}, {"time-stepping", "hybrid", kInputs}},
      {"simulate",
       kMethod,
       {"--pseudo-impulse", "--friction", "--rtol", "--strict", "--at-start", "--modes"},
       {"hybrid"}},
      {"simulate", kMethod, {"--exact", "--contact-damping"}, {"event-selected"}},
      {"simulate", kMethod, {"--eps"}, {"event-selected without --exact"}},
      {"simulate", kMethod, {"--derivative"}, {"time-stepping", "hybrid", "event-selected"}},
      {"simulate", kMethod, {"--stiffness"}, {"event-selected", "compliant"}},
      {"simulate", kMethod, {"--ratio", "--damping-ratio", "--impact-only"}, {"compliant"}},
      {"simulate", kMethod, {"--project"}, {"time-stepping", "hybrid", "compliant"}},
      {"simulate", kLaw, {"--seed"}, {"set", "plastic", kInputs}},
      {"simulate", kWay, {"--raw"}, {"--json"}},
      {"simulate",
       kWay,
       {"--end", "--every", "--domain", "--csv", "--modes", "--plot", "--animate"},
       {"motions without --at-start"}},
      {"simulate", kScenario, {"--stiffness", "--contact-damping"}, {kPlane}},

      {"ensemble", kLaw, {"--seed"}, {"set", kInputs}},
      {"ensemble", kMethod, {"--step"}, {"time-stepping"}},
      {"ensemble",
       kMethod,
       {"--pseudo-impulse", "--friction", "--rtol", "--strict", "--modes"},
       {"hybrid"}},
      {"ensemble",
       kWay,
       {"--law", "--runs", "--seed", "--threads", "--every", "--csv", "--hdf5", "--modes", "--plot",
        "--checkpoint"},
       {"ensembles without --branch"}},

      {"map", kLaw, {"--step", "--limit", "--device"}, {"set"}},
      {"map", kLaw, {"--samples", "--draws"}, {"set", "all"}},
      {"map",
       kWay,
       {"--samples", "--draws", "--step", "--limit", "--device", "--touching", "--extreme-points"},
       {"maps of impacts, without --runs"}},
      {"map", kWay, {"--end", "--method"}, {"maps of motions, with --runs"}},

      {"reproduce",
       kItem,
       {"--samples", "--threads"},
       {"p1-table3", "p1-fig9", "p1-fig10", "p1-fig11", "p1-fig13", "p1-fig14", "p2-fig3",
        "p2-fig4"}},

      {"reproduce", kItem, {"--data"}, {"measured"}},

      {"", kScenario, {"--cone", "--edges"}, {kModel, kSpace}},
      {"", kScenario, {"--touching"}, {kPlane, kModel}},
      {"", kScenario, {"--extreme-points"}, {kModel}},
  };
  table.insert(table.end(), others.begin(), others.end());
  return table;
}

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> table = all_scopes();
  return table;
}

bool given(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found && found->count() > 0;
}

void refuse(const CLI::App& command, const std::string& by, const std::vector<std::string>& chosen,
            const std::string& instead) {
  for (const Scope& scope : scopes()) {
    if (scope.by != by || (!scope.command.empty() && scope.command != command.get_name())) continue;
    if (std::any_of(scope.of.begin(), scope.of.end(), [&](const std::string& name) {
          return std::find(chosen.begin(), chosen.end(), name) != chosen.end();
        }))
      continue;
    for (const std::string& option : scope.options) {
      if (!given(command, option)) continue;
      throw io::InputError(
          fmt::format("{} belongs to {}{}; {}", option, by[0] == '-' ? by + " " : "",
                      fmt::join(scope.of, by[0] == '-' ? " and " + by + " " : ", "), instead));
    }
  }
}

}  // namespace

void group_by_scopes(CLI::App& command) {
  for (const Scope& scope : scopes()) {
    if (scope.command != command.get_name() || scope.by[0] != '-') continue;
    for (const std::string& name : scope.options) {
      CLI::Option* option = command.get_option(name);
      if (option->get_group() == "Options")
        option->group(fmt::format("Of {} {}", scope.by, fmt::join(scope.of, " or ")));
    }
  }
}

void refuse_foreign(const CLI::App& command, const std::string& by,
                    const std::vector<std::string>& chosen) {
  refuse(command, by, chosen,
         by[0] == '-' ? fmt::format("this is {} {}", by, chosen.front())
                      : "it has no meaning here: leave it out");
}

void refuse_foreign(const CLI::App& command, const io::Scenario& scenario) {
  const bool space = !scenario.terms.contacts.empty() && scenario.terms.contacts[0].Jt.rows() == 2;
  const std::string kind = scenario.model()       ? kModel
                           : scenario.selected()  ? kSystem
                           : scenario.mechanism() ? kPlane
                           : space                ? kSpace
                                                  : kMatrices;
  refuse(command, kScenario, {kind}, fmt::format("{} is one of {}", scenario.name, kind));
}

}  // namespace routh::app
