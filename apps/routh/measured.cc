#include "measured.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "output.h"
#include "routh/io/document.h"
#include "routh/io/measured.h"
#include "terminal.h"

namespace routh::app {
namespace {

struct MeasuredArguments {
  std::string file, scenario, compare, samples = "300", seed = "1", most = "100";
  std::vector<double> centre;
  double touching = 2e-3;
  Places places;
};

StudyOptions study_options(const MeasuredArguments& a) {
  StudyOptions options;
  options.samples = parse_count("--samples", a.samples, 1e6);
  options.most = parse_count("--most", a.most, 1e6);
  options.seed = parse_count("--seed", a.seed);
  if (options.samples == 0) throw io::InputError("--samples 0: there must be at least one");
  if (options.most == 0) throw io::InputError("--most 0: there must be at least one");
  const auto shown = progress(1000, "measured");
  options.progress = [shown](double done) {
    return shown(static_cast<std::uint64_t>(1000 * done)) && !interrupted();
  };
  return options;
}

int run_measured(const MeasuredArguments& a) {
  a.places.check();
  StudyOptions options = study_options(a);
  std::optional<io::Scenario> scenario;
  io::MeasuredOptions reading{.touching = a.touching};
  if (!a.centre.empty()) {
    if (a.centre.size() != 3) throw io::InputError("--centre: must be three numbers: X,Y,Z");
    reading.centre = Eigen::Vector3d(a.centre[0], a.centre[1], a.centre[2]);
    if (!reading.centre.allFinite()) throw io::InputError("--centre: must be finite");
  }
  if (!a.scenario.empty()) {
    if (!a.centre.empty())
      throw io::InputError("--centre belongs to boxes; a scenario knows where its mass is");
    scenario = io::load_scenario(a.scenario);
    if (!scenario->moving())
      throw io::InputError(
          fmt::format("--scenario {}: must be a mechanism or a model", a.scenario));
    reading.scenario = &*scenario;
  }
  const io::MeasuredTable table = io::read_measured(a.file, reading);
  if (!a.compare.empty()) options.peers = {io::measured_peer(a.compare, table, reading)};
  const MeasuredStudy result = study(table.impacts, options);
  clear_progress();
  finishing();
  io::Json json = io::to_json(table, result);
  json["options"] = {{"samples", options.samples}, {"seed", options.seed}, {"most", options.most}};
  a.places.show(io::describe(table, result), std::move(json), 2);
  if (!a.places.csv.empty()) a.places.write(a.places.csv, io::to_csv(table, result));
  drawing();
  if (!a.places.plot.empty() && !interrupted()) {
    a.places.make_folder();
    a.places.announce(io::draw(table, result, "measured-" + table.kind, a.places.plot));
  }
  return result.complete ? kDone : kUnfinished;
}

}  // namespace

std::vector<PublicData> read_public_data(const std::string& folder) {
  std::vector<PublicData> data{
      {.name = "ellipse-impacts", .reading = {}, .table = {}},
      {.name = "cube-impacts", .reading = {.centre = Eigen::Vector3d(0, 0, 0.0057)}, .table = {}}};
  for (PublicData& of : data) {
    of.table = io::read_measured(folder + "/" + of.name + ".csv", of.reading);
    of.table.file = of.name + ".csv";  // wherever it is
  }
  return data;
}

void reproduce_measured(const std::vector<PublicData>& data, const std::string& folder) {
  for (const auto& [name, reading, table] : data) {
    if (interrupted()) return;
    StudyOptions options;
    if (io::has_models()) options.peers = {io::measured_peer("mujoco", table, reading)};
    options.progress = [](double) { return !interrupted(); };
    const MeasuredStudy result = study(table.impacts, options);
    const std::string text = io::describe(table, result);
    fmt::print("{}\n", text);
    save(folder, "measured-" + name + ".md", "# " + name + "\n\n```\n" + text + "```\n");
    save(folder, "measured-" + name + ".csv", io::to_csv(table, result));
    if (!result.complete) return;
    fmt::print("measured: {}\n", io::join(io::draw(table, result, "measured-" + name, folder)));
  }
}

void add_measured(CLI::App& app, Session& session) {
  auto a = std::make_shared<MeasuredArguments>();
  CLI::App* c =
      app.add_subcommand("measured", "hold measured impacts against the laws and the set");
  c->add_option("file", a->file, "table of impacts (CSV): docs/measured.md has the columns")
      ->required();
  c->add_option("--scenario", a->scenario,
                "mechanism or model whose coordinates are columns of the table")
      ->type_name("NAME");
  c->add_option("--centre", a->centre,
                "of a box: the centre of mass that x, y, z are of, from the box's centre [m]")
      ->delimiter(',')
      ->type_name("X,Y,Z");
  c->add_option(
       "--compare", a->compare,
       "hold this simulator against the same impacts, its parameters fitted as those of the "
       "laws are")
      ->check(CLI::IsMember({"mujoco"}));
  c->add_option("--touching", a->touching,
                "contacts at most this much higher than the lowest take part [m]")
      ->check(positive("a length"))
      ->capture_default_str();
  c->add_option("--samples", a->samples, "samples of the set at each impact")
      ->capture_default_str();
  c->add_option("--seed", a->seed, "of samples and controls")->capture_default_str();
  c->add_option("--most", a->most, "impacts of each number of contacts that are reported")
      ->capture_default_str();
  a->places.add_to(
      *c, session,
      {{"--json", "write the result as JSON; without FILE to standard output"},
       {"--csv", "write the distances as a table; - is standard output"},
       {"--plot", "draw figures (PNG, SVG, PDF, data for pgfplots) into this folder"}});
  c->callback([a, &session] { session.code = run_measured(*a); });
}

}  // namespace routh::app
