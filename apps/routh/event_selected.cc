#include "event_selected.h"

#include <fmt/format.h>

#include "numbers.h"

namespace routh::app {

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
