#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "output.h"
#include "routh/io/document.h"
#include "routh/io/scenario.h"

namespace routh::app {
namespace {

std::string text_of(const io::Scenario& s) {
  std::string text = fmt::format("{}\n    {}\n", toned(Tone::kTitle, s.name), s.title);
  for (const io::Parameter& p : s.parameters)
    text += fmt::format("      {:<20} {:>8.5g} {:<8} {}\n", p.name, p.value, p.unit, p.about);
  if (const auto* model = std::get_if<io::Model>(&s.what); model && !model->states.empty())
    text += fmt::format("      --state {}\n", fmt::join(model->states, ", "));
  return text;
}

io::Json json_of(const io::Scenario& s) {
  io::Json parameters = io::Json::array();
  for (const io::Parameter& p : s.parameters)
    parameters.push_back(
        {{"name", p.name}, {"value", p.value}, {"unit", p.unit}, {"about", p.about}});
  const auto* model = std::get_if<io::Model>(&s.what);
  return {{"name", s.name},
          {"title", s.title},
          {"kind", model           ? "model"
                   : s.mechanism() ? "mechanism"
                   : s.selected()  ? "event-selected system"
                                   : "matrices"},
          {"parameters", parameters},
          {"states", model ? model->states : std::vector<std::string>()}};
}

}  // namespace

void add_list(CLI::App& app, Session& session) {
  struct Arguments {
    std::string name;
    Places places;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("list", "show the built-in scenarios and their parameters");
  command->add_option("scenario", a->name, "only this one; a file will do as well");
  a->places.add_to(*command, session,
                   {{"--json", "write them as JSON; without FILE to standard output"}});
  command->callback([a] {
    a->places.check();
    std::vector<std::string> names = io::scenario_names();
    if (!a->name.empty()) names = {a->name};
    std::string text;
    io::Json all = io::Json::array();
    for (const std::string& name : names) {
      if (a->name.empty() && io::is_model(name) && !io::has_models()) continue;
      const io::Scenario s = io::load_scenario(name);
      text += text_of(s);
      all.push_back(json_of(s));
    }
    if (!io::has_models()) text += fmt::format("\n{}\n", io::kModelsMissing);
    a->places.show(text, {{"scenarios", all}}, 2);
  });
}

void add_show(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "show", "print the file of a built-in scenario, to read or to begin one's own with");
  command->add_option("scenario", *name, "a built-in scenario (see 'routh list')")->required();
  command->callback([name] {
    const std::vector<std::string> names = io::scenario_names();
    if (std::find(names.begin(), names.end(), *name) == names.end() &&
        std::filesystem::exists(*name))
      throw io::InputError(
          fmt::format("'{}' is a file of your own; show prints built-in ones", *name));
    fmt::print("{}", io::scenario_text(*name));
  });
}

}  // namespace routh::app
