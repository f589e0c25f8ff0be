#include <fmt/format.h>

#include "simulate.h"

namespace routh::app {
void print_at_start(const io::Scenario& scenario, const State& start, const SimulateArguments& a) {
  const Instant now = instant(*scenario.mechanism(), start, io::hybrid_options(scenario, a, 1));
  const std::vector<Contact>& contacts = scenario.terms.contacts;
  const std::vector<std::string>& names = scenario.mechanism()->coordinates();
  io::Json json{{"scenario", scenario.name}, {"mode", mode_names(now.mode, contacts)}};
  std::string text = fmt::format("{}\nmode {} at {:.6g} s\n\n    {:<16} {:>14} {:>14} {:>16}\n",
                                 scenario.title, to_string(now.mode, contacts), start.time,
                                 "coordinate", "position", "velocity", "acceleration");
  json["acceleration"] = io::Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    json["acceleration"][names[i]] = now.acceleration[i];
    text += fmt::format("    {:<16} {:>14.8g} {:>14.8g} {:>16.10g}\n", names[i], start.q[i],
                        start.v[i], now.acceleration[i] + 0.0);
  }
  text += fmt::format("\n    {:<16} {:>14} {:>18}\n", "contact", "normal [N]", "tangential [N]");
  json["contacts"] = io::Json::array();
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    json["contacts"].push_back(
        {{"name", contacts[k].name}, {"normal", now.normal[k]}, {"tangential", now.tangential[k]}});
    text += fmt::format("    {:<16} {:>14.10g} {:>18.10g}\n", contacts[k].name, now.normal[k] + 0.0,
                        now.tangential[k] + 0.0);
  }
  a.places.show(text, json);
}

std::string describe_modes(const io::Scenario& scenario, const Trajectory& t) {
  if (!t.hybrid()) return "";
  const std::vector<Mode>& modes = t.hybrid()->modes;
  constexpr std::size_t kShown = 24;
  std::string text = "\n    word";
  for (std::size_t k = 0; k < modes.size() && k < kShown; ++k)
    text += " " + to_string(modes[k], scenario.terms.contacts);
  if (modes.size() > kShown) text += fmt::format(" .. {} more", modes.size() - kShown);
  text += "\n";
  for (const ZenoPoint& z : t.hybrid()->zeno) {
    text += fmt::format(
        "    Zeno: impacts accumulate at {:.9g} s (error {:.1e} s), each {:.4g} of the time after "
        "the one before\n",
        z.state.time, z.error, z.ratio);
  }
  return text;
}

}  // namespace routh::app
