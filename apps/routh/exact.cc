#include <algorithm>

#include "commands.h"
#include "exact_law.h"
#include "routh/io/document.h"
#include "terminal.h"

namespace routh::app {

io::Questions questions(const io::ImpactCase& impact, const ExactArguments& a) {
  io::Questions asked;
  for (const std::string& text : a.contains)
    asked.contains.push_back(io::parse_contact_velocity(impact, "--contains", text));
  for (const std::string& text : a.maximize)
    asked.maximize.push_back(io::parse_objective(impact, "--maximize", text));
  for (const std::string& text : a.minimize)
    asked.minimize.push_back(io::parse_objective(impact, "--minimize", text));
  if (!a.max_polyhedra.empty() && parse_count("--max-polyhedra", a.max_polyhedra) == 0)
    throw io::InputError("--max-polyhedra 0: there must be at least one");
  return asked;
}

ExactOptions exact_options(const ExactArguments& a) {
  ExactOptions options;
  if (!a.max_polyhedra.empty()) {
    const std::uint64_t most = parse_count("--max-polyhedra", a.max_polyhedra);
    options.max_polyhedra = static_cast<int>(std::min<std::uint64_t>(most, 1 << 30));
  }
  if (a.max_seconds > 0) options.max_seconds = a.max_seconds;
  return options;
}

ExactResult exact_set(const io::ImpactCase& impact) {
  return io::exact_set(impact, {.stop = interrupted});
}

}  // namespace routh::app
