#include "event_selected.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "routh/event_selected/integrate.h"
#include "routh/event_selected/systems.h"
#include "routh/io/document.h"
#include "routh/simulate/selected_motion.h"
#include "routh/simulate/spring_contacts.h"

namespace routh::app {
namespace {

using namespace event_selected;
using Eigen::Vector2d;
using Eigen::VectorXd;

Options options_of(const EventSelectedArguments& a) {
  return {.eps = a.eps,
          .exact = a.exact,
          .t_end = a.end,
          .sample_every = a.every > 0 ? a.every : a.end / 500};
}

void name_contacts(io::Scenario& scenario, const std::vector<std::string>& names) {
  scenario.terms.contacts.clear();
  for (const std::string& name : names) {
    scenario.terms.contacts.emplace_back();
    scenario.terms.contacts.back().name = name;
  }
}

Trajectory run_order_test(io::Scenario& scenario, const std::map<std::string, double>& p,
                          const EventSelectedArguments& a) {
  OrderTest system;
  scenario.coordinates = scenario.velocities = {"x", "y", "z"};
  name_contacts(scenario, {"x", "y", "z"});
  const SelectedView<OrderTest::State> view{
      .q = [](const OrderTest::State& x) { return VectorXd(x); },
      .v =
          [&](const OrderTest::State& x, const Crossed& crossed) {
            OrderTest::State dx;
            system.field(x, crossed, dx);
            return VectorXd(dx);
          }};
  const OrderTest::State start(p.at("x"), p.at("y"), p.at("z"));
  return simulate_selected(system, start, options_of(a), view);
}

Trajectory run_hopper(io::Scenario& scenario, const std::map<std::string, double>& p,
                      const EventSelectedArguments& a) {
  Hopper hopper{.stiffness_over_mass = p.at("stiffness_over_mass"),
                .length = p.at("length"),
                .height = p.at("height"),
                .gravity = p.at("g")};
  if (!(hopper.stiffness_over_mass > 0))
    throw io::InputError("--set stiffness_over_mass: must be positive");
  // a picture: the mass on its leg, above the ground
  PlanarMechanism picture;
  const double r = 0.12 * hopper.length;
  const int ground = picture.add(
      Body{.name = "ground",
           .joint = Joint::kFixed,
           .shapes = {{.name = "line",
                       .vertices = {Vector2d(-hopper.length, 0), Vector2d(hopper.length, 0)}}}});
  (void)ground;
  picture.add(
      Body{.name = "mass",
           .joint = Joint::kPrismatic,
           .axis = Vector2d::UnitY(),
           .mass = 1,
           .inertia = 1,
           .shapes = {{.name = "body", .vertices = {Vector2d(0, r)}, .radius = r},
                      {.name = "leg", .vertices = {Vector2d(0, 0), Vector2d(0, -hopper.length)}}}});
  scenario.mechanism = std::move(picture);
  scenario.coordinates = scenario.velocities = {"z"};
  name_contacts(scenario, {"leg"});
  Options options = options_of(a);
  options.reset = Hopper::reset();
  const SelectedView<Hopper::State> view{
      .q = [](const Hopper::State& x) { return VectorXd(x.head<1>()); },
      .v = [](const Hopper::State& x, const Crossed&) { return VectorXd(x.tail<1>()); },
      .energy = [&](const Hopper::State& x) { return hopper.energy(x); },
      .contacts = 1};
  return simulate_selected(hopper, hopper.start(), options, view);
}

Trajectory run_plate(io::Scenario& scenario, const std::map<std::string, double>& p,
                     const EventSelectedArguments& a) {
  const double springs = p.at("springs");
  if (springs != std::floor(springs) || springs < 1 || springs > 1e6)
    throw io::InputError("--set springs: must be a whole number from 1 to 1000000");
  const int n = static_cast<int>(springs);
  Plate plate({.springs = n,
               .stiffness = p.at("stiffness"),
               .damping = p.at("damping"),
               .mass = p.at("mass"),
               .inertia = p.at("inertia"),
               .length = p.at("length"),
               .half_width = p.at("half_width"),
               .height = p.at("height"),
               .angle = p.at("angle"),
               .gravity = p.at("g")});
  // a picture: the plate above the springs without load
  PlanarMechanism picture;
  const double w = p.at("half_width"), L = p.at("length");
  picture.add(Body{
      .name = "plate",
      .mass = p.at("mass"),
      .inertia = p.at("inertia"),
      .shapes = {{.name = "line", .vertices = {Vector2d(-1.2 * w, 0), Vector2d(1.2 * w, 0)}}}});
  Body bed{
      .name = "bed",
      .joint = Joint::kFixed,
      .shapes = {{.name = "floor", .vertices = {Vector2d(-1.2 * w, 0), Vector2d(1.2 * w, 0)}}}};
  for (int i = 0; i < n; i += std::max(1, n / 50))
    bed.shapes.push_back(
        {.name = fmt::format("spring{}", i),
         .vertices = {Vector2d(plate.spring_at(i), 0), Vector2d(plate.spring_at(i), L)}});
  picture.add(std::move(bed));
  scenario.mechanism = std::move(picture);
  scenario.coordinates = scenario.velocities = {"x", "z", "angle"};
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back(fmt::format("spring {}", i));
  name_contacts(scenario, names);
  Options options = options_of(a);
  options.reset = plate.reset();
  Eigen::VectorXd h;
  const SelectedView<Plate::State> view{
      .q = [](const Plate::State& x) { return VectorXd(x.head<3>()); },
      .v = [](const Plate::State& x, const Crossed&) { return VectorXd(x.tail<3>()); },
      .energy =
          [&](const Plate::State& x) {
            plate.guards(x, h);
            return plate.energy(x, h.array() >= 0);
          },
      .contacts = n};
  return simulate_selected(plate, plate.start(), options, view);
}

}  // namespace

Trajectory run_event_selected(io::Scenario& scenario, const EventSelectedArguments& a) {
  std::map<std::string, double> p;
  for (const io::Parameter& parameter : scenario.parameters) p[parameter.name] = parameter.value;
  try {
    if (scenario.system == "order-test") return run_order_test(scenario, p, a);
    if (scenario.system == "hopper") return run_hopper(scenario, p, a);
    if (scenario.system == "plate") return run_plate(scenario, p, a);
  } catch (const std::out_of_range&) {
    throw io::InputError(
        fmt::format("{}: system '{}' lacks one of its parameters; scenarios/{}.yaml has them all",
                    scenario.name, scenario.system, scenario.system));
  }
  if (scenario.terms.contacts.empty())
    throw io::InputError(
        fmt::format("--method event-selected: {} has no contacts, so nothing happens to it that "
                    "could select events; use another method",
                    scenario.name));
  return simulate(*scenario.mechanism, {0, scenario.q, scenario.v},
                  {.stiffness = VectorXd::Constant(1, a.stiffness),
                   .damping = VectorXd::Constant(1, a.contact_damping),
                   .integration = options_of(a)});
}

std::string describe_event_selected(const io::Scenario& scenario, const Trajectory& t) {
  std::string text =
      fmt::format("{}\nevent-selected: {} events and {} steps to {:.6g} s in {:.3g} ms\n",
                  scenario.title, t.events.size(), t.steps, t.final.time, 1e3 * t.seconds);
  if (!t.events.empty()) text += "\n    time [s]  event     guard\n";
  constexpr std::size_t kShown = 16;
  for (std::size_t k = 0; k < t.events.size() && k < kShown; ++k)
    text += fmt::format("    {:<9.6f} {:<9} {}\n", t.events[k].time, to_string(t.events[k].kind),
                        scenario.terms.contacts[t.events[k].contacts[0]].name);
  if (t.events.size() > kShown)
    text += fmt::format("    .. {} more; --json has them all\n", t.events.size() - kShown);
  text += fmt::format("\n    at {:.6g} s   position      velocity\n", t.final.time);
  for (std::size_t i = 0; i < scenario.coordinates.size() && i < 12; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    text += fmt::format("    {:<14} {:>12.6g} {:>13.6g}\n", scenario.coordinates[i],
                        t.final.q[k] + 0.0, t.final.v[k] + 0.0);
  }
  if (!t.energy.empty())
    text += fmt::format("\n    energy {:.8g} -> {:.8g} J\n", t.energy.front(), t.energy.back());
  return text;
}

}  // namespace routh::app
