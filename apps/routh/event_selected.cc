#include "event_selected.h"

#include <fmt/format.h>

#include "numbers.h"
#include "routh/event_selected/integrate.h"
#include "routh/event_selected/systems.h"
#include "routh/io/document.h"
#include "routh/simulate/selected_motion.h"
#include "routh/simulate/spring_contacts.h"

namespace routh::app {
namespace {

using namespace event_selected;
using Eigen::VectorXd;

Options options_of(const EventSelectedArguments& a) {
  return {.eps = a.eps,
          .exact = a.exact,
          .t_end = a.end,
          .sample_every = a.every > 0 ? a.every : a.end / 500};
}

Trajectory move(OrderTest system, const VectorXd& start, const Options& options) {
  return simulate_selected(
      system, OrderTest::State(start), options,
      SelectedView<OrderTest::State>{.q = [](const OrderTest::State& x) { return VectorXd(x); },
                                     .v =
                                         [&](const OrderTest::State& x, const Crossed& crossed) {
                                           OrderTest::State dx;
                                           system.field(x, crossed, dx);
                                           return VectorXd(dx);
                                         }});
}

Trajectory move(Hopper hopper, const VectorXd& start, Options options) {
  options.reset = Hopper::reset();
  return simulate_selected(
      hopper, Hopper::State(start), options,
      SelectedView<Hopper::State>{
          .q = [](const Hopper::State& x) { return VectorXd(x.head<1>()); },
          .v = [](const Hopper::State& x, const Crossed&) { return VectorXd(x.tail<1>()); },
          .energy = [&](const Hopper::State& x) { return hopper.energy(x); },
          .contacts = 1});
}

Trajectory move(Plate plate, const VectorXd& start, Options options) {
  options.reset = plate.reset();
  VectorXd h;
  return simulate_selected(
      plate, Plate::State(start), options,
      SelectedView<Plate::State>{
          .q = [](const Plate::State& x) { return VectorXd(x.head<3>()); },
          .v = [](const Plate::State& x, const Crossed&) { return VectorXd(x.tail<3>()); },
          .energy =
              [&](const Plate::State& x) {
                plate.guards(x, h);
                return plate.energy(x, h.array() >= 0);
              },
          .contacts = plate.parameters().springs});
}

}  // namespace

Trajectory run_event_selected(const io::Scenario& scenario, const EventSelectedArguments& a) {
  if (const io::SelectedSystem* selected = scenario.selected()) {
    const auto moves = [&](const auto& system) {
      return move(system, selected->start, options_of(a));
    };
    return std::visit(moves, selected->system);
  }
  if (scenario.terms.contacts.empty())
    throw io::InputError(
        fmt::format("--method event-selected: {} has no contacts, so nothing happens to it that "
                    "could select events; use another method",
                    scenario.name));
  return simulate(*scenario.mechanism(), {0, scenario.q, scenario.v},
                  {.stiffness = VectorXd::Constant(1, a.stiffness),
                   .damping = VectorXd::Constant(1, a.contact_damping),
                   .integration = options_of(a)});
}

std::string describe_event_selected(const io::Scenario& scenario, const Trajectory& t) {
  std::string text =
      fmt::format("{}\nevent-selected: {} events and {} steps to {:.6g} s in {}\n", scenario.title,
                  t.events.size(), t.steps, t.final.time, duration(t.seconds));
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
                        rounded(t.final.q[k], largest_of(t.final.q)),
                        rounded(t.final.v[k], largest_of(t.final.v)));
  }
  if (!t.energy.empty())
    text += fmt::format("\n    energy {:.8g} -> {:.8g} J\n", t.energy.front(), t.energy.back());
  return text;
}

}  // namespace routh::app
