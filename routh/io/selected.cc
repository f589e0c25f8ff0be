#include "routh/io/selected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "routh/io/text.h"

namespace routh::io {
namespace {

using namespace event_selected;
using Eigen::Vector2d;

/// The mass on its leg, above the ground.
PlanarMechanism picture_of(const Hopper& hopper) {
  PlanarMechanism picture;
  const double r = 0.12 * hopper.length;
  picture.add(
      Body{.name = "ground",
           .joint = Joint::kFixed,
           .shapes = {{.name = "line",
                       .vertices = {Vector2d(-hopper.length, 0), Vector2d(hopper.length, 0)}}}});
  picture.add(
      Body{.name = "mass",
           .joint = Joint::kPrismatic,
           .axis = Vector2d::UnitY(),
           .mass = 1,
           .inertia = 1,
           .shapes = {{.name = "body", .vertices = {Vector2d(0, r)}, .radius = r},
                      {.name = "leg", .vertices = {Vector2d(0, 0), Vector2d(0, -hopper.length)}}}});
  return picture;
}

/// The plate above its springs without load, some fifty of them.
PlanarMechanism picture_of(const Plate& plate) {
  const PlateParameters& p = plate.parameters();
  const double w = 1.2 * p.half_width;
  PlanarMechanism picture;
  picture.add(Body{.name = "plate",
                   .mass = p.mass,
                   .inertia = p.inertia,
                   .shapes = {{.name = "line", .vertices = {Vector2d(-w, 0), Vector2d(w, 0)}}}});
  Body bed{.name = "bed",
           .joint = Joint::kFixed,
           .shapes = {{.name = "floor", .vertices = {Vector2d(-w, 0), Vector2d(w, 0)}}}};
  for (int i = 0; i < p.springs; i += std::max(1, p.springs / 50)) {
    const double x = plate.spring_at(i);
    bed.shapes.push_back(
        {.name = fmt::format("spring{}", i), .vertices = {Vector2d(x, 0), Vector2d(x, p.length)}});
  }
  picture.add(std::move(bed));
  return picture;
}

void name_contacts(Scenario& scenario, const std::vector<std::string>& names) {
  for (const std::string& name : names) scenario.terms.contacts.emplace_back().name = name;
}

/// states: {z: 2, ..}, field: {z: speed, ..}, guards: {touch: {rises: 1 - z, rearms: [leave]}, ..}
void read_written(const Field& field, const Values& values, Scenario& scenario) {
  field.allow_keys({"states", "field", "guards"});
  const std::vector<std::string> states = field["states"].keys();
  if (states.empty()) field["states"].fail("must name at least one state, with its start");
  const std::vector<std::string> guards =
      field.has("guards") ? field["guards"].keys() : std::vector<std::string>{};
  std::vector<std::string> variables = states;
  for (const std::string& guard : guards) {
    if (std::find(variables.begin(), variables.end(), guard) != variables.end())
      field["guards"][guard].fail("is the name of a state as well");
    variables.push_back(guard);
  }
  for (const std::string& name : variables) {
    const bool state = std::find(states.begin(), states.end(), name) != states.end();
    if (values.contains(name))
      field[state ? "states" : "guards"][name].fail("is the name of a parameter as well");
  }

  Eigen::VectorXd start(states.size());
  std::vector<WrittenSystem::Formula> rates;
  field["field"].allow_keys(states);
  for (std::size_t k = 0; k < states.size(); ++k) {
    start[static_cast<Eigen::Index>(k)] = field["states"][states[k]].number();
    rates.push_back(field["field"][states[k]].script(variables));
  }
  std::vector<WrittenSystem::Guard> all;
  for (const std::string& name : guards) {
    const Field guard = field["guards"][name];
    guard.allow_keys({"rises", "rearms"});
    std::vector<int> rearms;
    for (std::size_t k = 0; guard.has("rearms") && k < guard["rearms"].size(); ++k) {
      const Field other = guard["rearms"][k];
      const auto known = std::find(guards.begin(), guards.end(), other.text());
      if (known == guards.end())
        other.fail("there is no guard '" + other.text() + "'; known are " + join(guards));
      rearms.push_back(static_cast<int>(known - guards.begin()));
    }
    all.push_back({name, guard["rises"].script(states), std::move(rearms)});
  }
  scenario.coordinates = scenario.velocities = states;
  name_contacts(scenario, guards);
  scenario.what =
      SelectedSystem{"written", WrittenSystem(states, std::move(rates), std::move(all)), start, {}};
}

}  // namespace

void read_selected(const Field& field, const Values& values, Scenario& scenario) {
  if (field.is_map()) {
    read_written(field, values, scenario);
    return;
  }
  const std::string name = field.text();
  const auto value = [&](const std::string& wanted) {
    for (const Parameter& p : scenario.parameters)
      if (p.name == wanted) return p.value;
    field.fail(fmt::format("lacks its parameter {}; 'routh show {}' has them all", wanted, name));
  };
  const auto coordinates = [&](const std::vector<std::string>& names) {
    scenario.coordinates = scenario.velocities = names;
  };
  if (name == "order-test") {
    coordinates({"x", "y", "z"});
    name_contacts(scenario, {"x", "y", "z"});
    scenario.what =
        SelectedSystem{name, OrderTest(), Eigen::Vector3d(value("x"), value("y"), value("z")), {}};
  } else if (name == "hopper") {
    const Hopper hopper{.stiffness_over_mass = value("stiffness_over_mass"),
                        .length = value("length"),
                        .height = value("height"),
                        .gravity = value("g")};
    if (!(hopper.stiffness_over_mass > 0))
      throw InputError("--set stiffness_over_mass: must be positive");
    coordinates({"z"});
    name_contacts(scenario, {"leg"});
    scenario.what = SelectedSystem{name, hopper, hopper.start(), picture_of(hopper)};
  } else if (name == "plate") {
    const double springs = value("springs");
    if (springs != std::floor(springs) || springs < 1 || springs > 1e6)
      throw InputError("--set springs: must be a whole number from 1 to 1000000");
    const PlateParameters parameters{.springs = static_cast<int>(springs),
                                     .stiffness = value("stiffness"),
                                     .damping = value("damping"),
                                     .mass = value("mass"),
                                     .inertia = value("inertia"),
                                     .length = value("length"),
                                     .half_width = value("half_width"),
                                     .height = value("height"),
                                     .angle = value("angle"),
                                     .gravity = value("g")};
    try {
      const Plate plate(parameters);
      scenario.what = SelectedSystem{name, plate, plate.start(), picture_of(plate)};
    } catch (const std::invalid_argument& e) {
      throw InputError(fmt::format("{}: {}", scenario.name, e.what()));
    }
    coordinates({"x", "z", "angle"});
    std::vector<std::string> names;
    for (int i = 0; i < parameters.springs; ++i) names.push_back(fmt::format("spring {}", i));
    name_contacts(scenario, names);
  } else {
    field.fail("must be one of order-test, hopper, plate, or a map with states, field and guards");
  }
}

}  // namespace routh::io
