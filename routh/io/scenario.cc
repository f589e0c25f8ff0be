#include "routh/io/scenario.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "routh/io/builtin_scenarios.h"
#include "routh/io/document.h"
#include "routh/io/family.h"
#include "routh/io/files.h"
#include "routh/io/matrices.h"
#include "routh/io/mechanism.h"
#include "routh/io/model.h"
#include "routh/io/selected.h"
#include "routh/io/text.h"
#include "routh/simulate/choice.h"
#include "routh/simulate/reduce.h"

namespace routh::io {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The start of a mechanism: named coordinates, then conditions that determine the rest.
void read_start(const Field& field, Scenario& scenario) {
  field.allow_keys({"q", "v", "touch", "rest"});
  const PlanarMechanism& mechanism = *scenario.mechanism();
  const auto coordinate = [&](const Field& at, const std::string& name) {
    const int i = index_of(mechanism.coordinates(), name);
    if (i < 0)
      at.fail("there is no coordinate '" + name + "'; known are " + join(mechanism.coordinates()));
    return i;
  };
  const auto assign = [&](const std::string& key, VectorXd& x) {
    if (!field.has(key)) return;
    for (const std::string& name : field[key].keys())
      x[coordinate(field[key], name)] = field[key][name].number();
  };
  assign("q", scenario.q);
  assign("v", scenario.v);

  const auto contact = [&](const Field& at, const std::string& name) {
    std::vector<std::string> known;
    for (const ContactPair& c : mechanism.contacts()) known.push_back(c.name);
    const int i = index_of(known, name);
    if (i < 0) at.fail("there is no contact '" + name + "'; known are " + join(known));
    return i;
  };

  // touch: Newton on the named coordinates closes the named gaps
  if (field.has("touch")) {
    const Field touch = field["touch"];
    std::vector<int> which, by;
    for (const std::string& name : touch.keys()) {
      which.push_back(contact(touch, name));
      by.push_back(coordinate(touch[name], touch[name].text()));
    }
    double worst = 0;
    for (int iteration = 0; iteration < 50; ++iteration) {
      const Terms terms = mechanism.terms(scenario.q, scenario.v);
      VectorXd gap(which.size());
      MatrixXd slope(which.size(), by.size());
      for (std::size_t i = 0; i < which.size(); ++i) {
        gap[i] = terms.contacts[which[i]].phi;
        for (std::size_t k = 0; k < by.size(); ++k)
          slope(i, k) = terms.contacts[which[i]].Jn[by[k]];
      }
      worst = gap.lpNorm<Eigen::Infinity>();
      if (worst < 1e-14) break;
      scenario.q(by) -= slope.fullPivLu().solve(gap);
    }
    if (!(worst < 1e-9)) touch.fail("the contacts cannot be closed by these coordinates");
  }

  // rest: the named velocities make the named contacts stand still
  if (field.has("rest")) {
    const Field rest = field["rest"];
    const Terms terms = mechanism.terms(scenario.q, scenario.v);
    for (const std::string& name : rest.keys()) {
      const Contact& at = terms.contacts[contact(rest, name)];
      std::vector<int> by;
      for (std::size_t i = 0; i < rest[name].size(); ++i)
        by.push_back(coordinate(rest[name][i], rest[name][i].text()));
      MatrixXd rows(2, mechanism.nv());
      rows << at.Jn, at.Jt;
      VectorXd others = scenario.v;
      others(by).setZero();
      const Eigen::FullPivLU<MatrixXd> lu(rows(Eigen::all, by));
      if (by.size() != 2 || !lu.isInvertible())
        rest[name].fail("must be two coordinates whose velocities move the contact");
      scenario.v(by) = lu.solve(-rows * others);
    }
  }
}

/// Declared parameters with the overrides put in; their values become known to all expressions.
void read_parameters(const Field& root, const std::vector<Override>& overrides, Values& values,
                     Scenario& scenario) {
  std::vector<std::string> known;
  if (root.has("parameters")) known = root["parameters"].keys();
  for (const Override& o : overrides) {
    if (index_of(known, o.name) >= 0) continue;
    const std::string close = nearest(o.name, known);
    throw InputError(fmt::format("--set {}: {} has no such parameter; {}", o.name, scenario.name,
                                 !close.empty()  ? "did you mean '" + close + "'?"
                                 : known.empty() ? "it has none"
                                                 : "known are " + join(known)));
  }
  for (const std::string& name : known) {
    const Field f = root["parameters"][name];
    f.allow_keys({"value", "unit", "about"});
    Parameter parameter{name, 0, f.words_or("unit", ""), f.words_or("about", "")};
    const auto given = std::find_if(overrides.rbegin(), overrides.rend(),
                                    [&](const Override& o) { return o.name == name; });
    parameter.value = given != overrides.rend() ? given->value : f["value"].number();
    values[name] = parameter.value;
    scenario.parameters.push_back(std::move(parameter));
  }
}

}  // namespace

const std::vector<Limb>& Scenario::limbs() const {
  static const std::vector<Limb> none;
  const auto* m = std::get_if<Mechanism>(&what);
  return m ? m->limbs : none;
}

const PlanarMechanism* Scenario::picture() const {
  if (const SelectedSystem* s = selected()) return s->picture ? &*s->picture : nullptr;
  return mechanism();
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const BuiltinScenario& s : builtin_scenarios()) names.emplace_back(s.name);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

/// Velocities whose energy is no number have no outcome that can be told.
Scenario with_finite_energy(Scenario scenario) {
  if (scenario.v.size() > 0 && !std::isfinite(kinetic_energy(scenario.terms, scenario.v)))
    throw InputError(
        fmt::format("{}: v: the kinetic energy at the start is too large for a number; take "
                    "smaller velocities or other units",
                    scenario.name));
  return scenario;
}

/// False also for names that no file can have.
bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

/// By its name, or by that of its file where there is none of that name here.
const BuiltinScenario* builtin(const std::string& name_or_path) {
  for (const BuiltinScenario& s : builtin_scenarios()) {
    if (name_or_path == s.name) return &s;
    if (name_or_path == std::filesystem::path(s.file).filename() && !exists(name_or_path))
      return &s;
  }
  return nullptr;
}

/// As messages name it.
std::string file_of(const std::string& name_or_path) {
  const BuiltinScenario* own = builtin(name_or_path);
  return own ? own->file : name_or_path == "-" ? "standard input" : name_or_path;
}

}  // namespace

bool is_model(const std::string& name_or_path) {
  const BuiltinScenario* own = builtin(name_or_path);
  const std::string ending =
      std::filesystem::path(own ? own->file : name_or_path).extension().string();
  return ending == ".xml" || ending == ".mjcf" || ending == ".urdf";
}

std::string scenario_text(const std::string& name_or_path) {
  if (const BuiltinScenario* own = builtin(name_or_path)) return own->text;
  if (name_or_path == "-") return read_standard_input();
  if (exists(name_or_path)) return read_file(name_or_path);
  const std::string close = nearest(name_or_path, scenario_names());
  throw InputError(fmt::format(
      "there is no scenario or file '{}'; {}", name_or_path,
      close.empty() ? "'routh list' shows the scenarios" : "did you mean '" + close + "'?"));
}

ModelStart with_parameters(const std::string& name, ModelStart start,
                           const std::vector<Override>& overrides) {
  for (const Override& o : overrides) {
    if (o.name != "friction" && o.name != "restitution")
      throw InputError(fmt::format(
          "--set {}: a model of MuJoCo has no parameters but friction and restitution; edit {}",
          o.name, name));
    (o.name == "friction" ? start.friction : start.restitution) = o.value;
  }
  return start;
}

Scenario load_scenario(const std::string& name_or_path, const std::vector<Override>& overrides,
                       const ModelStart& start) {
  const BuiltinScenario* own = builtin(name_or_path);
  const std::string file = file_of(name_or_path);
  // MuJoCo reads the files of models by itself
  const bool by_itself = !own && is_model(name_or_path) && exists(name_or_path);
  const std::string text = by_itself ? "" : scenario_text(name_or_path);
  if (is_model(name_or_path)) {
    const ModelStart placed = with_parameters(name_or_path, start, overrides);
    return with_finite_energy(load_model(name_or_path, file, text, placed));
  }
  if (start.given()) {
    throw InputError(fmt::format(
        "{}: --state, --qpos, --qvel, --ctrl, --drop, --float, --floor and --as-is place models "
        "of MuJoCo; this is a scenario whose start is in its file",
        name_or_path));
  }
  return ScenarioFile(name_or_path, text).at(overrides);
}

struct ScenarioFile::Parsed {
  std::unique_ptr<Values> values;  ///< where `root` looks for them
  Field root;
};

ScenarioFile::ScenarioFile(std::string name, const std::string& text) : name_(std::move(name)) {
  const std::string file = file_of(name_);
  if (text.find_first_not_of(" \t\r\n") != std::string::npos &&
      text[text.find_first_not_of(" \t\r\n")] == '<')
    throw InputError(fmt::format(
        "{} looks like a model of MuJoCo: these are read from files that end in .xml or .urdf",
        file));
  auto values = std::make_unique<Values>();
  const Field root = parse(text, file, values.get());
  parsed_ = std::make_unique<Parsed>(Parsed{std::move(values), root});
}

ScenarioFile::~ScenarioFile() = default;

Scenario ScenarioFile::at(const std::vector<Override>& overrides) {
  Scenario scenario{.name = name_};
  Values& values = *parsed_->values;
  values.clear();
  const Field& root = parsed_->root;
  scenario.title = root.words_or("title", std::filesystem::path(file_of(name_)).stem().string());
  read_parameters(root, overrides, values, scenario);
  if (root.has("mechanism")) {
    root.allow_keys({"title", "parameters", "mechanism", "start", "impact", "simulate"});
    LoadedMechanism loaded = read_mechanism(root["mechanism"], values);
    scenario.what = Mechanism{std::move(loaded.mechanism), std::move(loaded.limbs)};
    scenario.q = loaded.q, scenario.v = loaded.v;
    if (root.has("start")) read_start(root["start"], scenario);
    scenario.terms = scenario.mechanism()->terms(scenario.q, scenario.v);
    scenario.coordinates = scenario.velocities = scenario.mechanism()->coordinates();
  } else if (root.has("system")) {
    root.allow_keys({"title", "parameters", "system", "simulate"});
    read_selected(root["system"], values, scenario);
    scenario.run.simulation.method = "event-selected";
  } else if (root.has("M")) {
    read_matrices(root, scenario);
  } else if (root.has("G")) {
    read_contact_space(root, scenario);
  } else {
    root.fail(
        "must have 'mechanism', 'system', the matrices M, Jn, Jt, mu, v or those of contact space, "
        "G, c, mu");
  }
  if (root.has("impact")) {
    const Field impact = root["impact"];
    impact.allow_keys({"step", "limit", "samples"});
    const auto whole = [&](const char* key, double otherwise, double most) {
      const double value = impact.number_or(key, otherwise);
      if (value != std::floor(value) || value < 1 || value > most)
        impact[key].fail(fmt::format("must be a whole number from 1 to {:.0f}", most));
      return value;
    };
    ImpactDefaults& defaults = scenario.run.impact;
    defaults.step = impact.number_or("step", defaults.step);
    defaults.limit = static_cast<int>(whole("limit", defaults.limit, 1e6));
    defaults.samples =
        static_cast<std::uint64_t>(whole("samples", static_cast<double>(defaults.samples), 0x1p40));
    if (impact.has("step") && !(defaults.step > 0)) impact["step"].fail("must be positive");
  }
  if (root.has("simulate")) {
    const Field simulate = root["simulate"];
    simulate.allow_keys({"method", "step", "end", "eps"});
    SimulationDefaults& defaults = scenario.run.simulation;
    defaults.method = simulate.text_or("method", defaults.method);
    defaults.step = simulate.number_or("step", defaults.step);
    defaults.end = simulate.number_or("end", defaults.end);
    defaults.eps = simulate.number_or("eps", defaults.eps);
    if (!(defaults.eps > 0)) simulate["eps"].fail("must be positive");
    if (!(defaults.step > 0)) simulate["step"].fail("must be positive");
    if (!(defaults.end > 0)) simulate["end"].fail("must be positive");
  }
  return with_finite_energy(std::move(scenario));
}

bool has_inputs(const Scenario& scenario) {
  return scenario.mechanism() && !scenario.mechanism()->inputs().empty();
}

void draw_inputs(Scenario& scenario, std::uint64_t seed) {
  if (!has_inputs(scenario)) return;
  PlanarMechanism& planar = std::get<Mechanism>(scenario.what).planar;
  const std::unique_ptr<System> drawn = with_drawn_inputs(planar, seed);
  planar = dynamic_cast<const PlanarMechanism&>(*drawn);
  scenario.terms = planar.terms(scenario.q, scenario.v);
}

}  // namespace routh::io
