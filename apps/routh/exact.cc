#include <fmt/format.h>

#include <cmath>

#include "commands.h"
#include "exact_law.h"
#include "routh/io/document.h"
#include "terminal.h"

namespace routh::app {
namespace {

constexpr double kFastest = 1e50;  // velocities that can be asked for

/// "0,0.1,0,-0.2": normals, then tangentials.
Eigen::VectorXd parse_velocity(const io::ImpactCase& impact, const std::string& text) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    try {
      numbers.push_back(io::evaluate(text.substr(at, end - at)));
    } catch (const io::InputError& e) {
      throw io::InputError(fmt::format("--contains {}: {}", text, e.what()));
    }
    at = end + 1;
  }
  const std::size_t wanted = impact.problem().c.size();
  if (numbers.size() != wanted) {
    throw io::InputError(fmt::format(
        "--contains {}: has {} numbers; {} contacts need {} (normals, then tangentials)", text,
        numbers.size(), impact.names.size(), wanted));
  }
  for (const double x : numbers) {
    if (!(std::abs(x) <= kFastest))
      throw io::InputError(
          fmt::format("--contains {}: velocities must be numbers up to {:.0e}", text, kFastest));
  }
  return Eigen::Map<Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(wanted));
}

std::vector<double> list(const Eigen::VectorXd& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace

bool has_exact() {
#ifdef ROUTH_HAS_EXACT
  return true;
#else
  return false;
#endif
}

void check_questions(const io::ImpactCase& impact, const ExactArguments& a) {
  for (const std::string& text : a.contains) (void)parse_velocity(impact, text);
  for (const std::string& text : a.maximize) (void)io::parse_objective(impact, "--maximize", text);
  for (const std::string& text : a.minimize) (void)io::parse_objective(impact, "--minimize", text);
  if (!a.max_polyhedra.empty() && parse_count("--max-polyhedra", a.max_polyhedra) == 0)
    throw io::InputError("--max-polyhedra 0: there must be at least one");
}

ExactOptions exact_options(const ExactArguments& a) {
  ExactOptions options;
  if (!a.max_polyhedra.empty()) {
    const std::uint64_t most = parse_count("--max-polyhedra", a.max_polyhedra);
    options.max_polyhedra = static_cast<int>(std::min<std::uint64_t>(most, 1 << 30));
  }
  if (a.max_seconds > 0) options.max_seconds = a.max_seconds;
  options.stop = interrupted;
  return options;
}

ExactResult exact_set([[maybe_unused]] const io::ImpactCase& impact,
                      [[maybe_unused]] const ExactArguments& a) {
#ifdef ROUTH_HAS_EXACT
  return exact(impact.problem(), exact_options(a));
#else
  throw io::InputError(
      "exact sets need the Parma Polyhedra Library, which this program was built without: "
      "apt-get install libppl-dev libgmp-dev, then make build");
#endif
}

io::ImpactReport report_exact(const io::ImpactCase& impact, const ExactResult& result,
                              const ExactArguments& a) {
  io::ImpactReport report{.law = "exact"};
  report.set = result.pieces;
  report.complete = !result.pieces.empty();
  report.summary = {{"status", to_string(result.status)},
                    {"incomplete", result.pieces.empty()},
                    {"cells", result.cells},
                    {"polyhedra", result.polyhedra},
                    {"pieces", result.pieces.size()},
                    {"seconds", result.seconds}};
  if (result.pieces.empty()) return report;  // nothing can be said
  const auto extremes = [&](const std::string& what, const std::vector<std::string>& wanted,
                            auto find) {
    for (const std::string& text : wanted) {
      const io::Objective objective = io::parse_objective(impact, "--" + what, text);
      const io::Extreme extreme = find(impact, result.pieces, objective);
      report.answers[what][text] = {{"value", extreme.value},
                                    {"contact_velocity", list(extreme.c)},
                                    {"velocity", list(io::lift_velocity(impact, extreme.c))}};
    }
  };
  extremes("maximize", a.maximize, io::maximize);
  extremes("minimize", a.minimize, io::minimize);
  for (const std::string& text : a.contains) {
    const Eigen::VectorXd c = parse_velocity(impact, text);
    const Nearest nearest = nearest_point(result.pieces, c);
    report.answers["contains"].push_back(
        {{"contact_velocity", list(c)},
         {"reachable", nearest.distance <= same_velocity(impact.problem())},
         {"distance", nearest.distance},
         {"nearest", list(nearest.point)}});
  }
  return report;
}

std::string describe_exact(const io::ImpactCase& impact, const io::ImpactReport& report,
                           const ExactResult& result) {
  if (result.status == ExactStatus::kJammed) return "\nno set: the contacts can jam\n";
  if (result.status == ExactStatus::kIncomplete) {
    if (result.hidden) return "\nno set: bodies differ so much in mass that rounding hides it\n";
    return fmt::format(
        "\nno set: {} after {:.3g} s, {} cells and {} polyhedra, before even an outer set was "
        "complete\n",
        result.stopped ? "stopped" : "the time was spent", result.seconds, result.cells,
        result.polyhedra);
  }
  std::string text = fmt::format(
      "\n{} set of outcomes: {} piece{}, {} cells visited, {} polyhedra, {:.3g} ms\n",
      result.status == ExactStatus::kExact ? "exact" : "outer (budget spent: it contains the set)",
      result.pieces.size(), result.pieces.size() == 1 ? "" : "s", result.cells, result.polyhedra,
      1e3 * result.seconds);
  const char* kinds[] = {"point", "segment", "polygon"};
  for (std::size_t k = 0; k < result.pieces.size() && k < 40; ++k) {
    const Polytope& piece = result.pieces[k];
    std::string modes;
    for (std::size_t i = 0; i < piece.modes.size(); ++i)
      modes += fmt::format("{}{} {}", i ? ", " : "", impact.names[i], to_string(piece.modes[i]));
    text +=
        fmt::format("\npiece {}: {}{}{}\n", k + 1,
                    piece.dimension <= 2 ? kinds[piece.dimension]
                                         : fmt::format("{}-dimensional polytope", piece.dimension),
                    modes.empty() ? "" : ", ", modes);
    text += "    corners, (normal, tangential) velocities in m/s\n";
    for (std::size_t c = 0; c < piece.corners.size() && c < 24; ++c) {
      std::string line = "   ";
      for (std::size_t i = 0; i < impact.names.size(); ++i) {
        const ImpactProblem& p = impact.problem();
        line += fmt::format(" {} ({:.5f}", impact.names[i], piece.corners[c][i] + 0.0);
        for (int t = 0; t < p.tangents; ++t)
          line +=
              fmt::format(", {:.5f}", piece.corners[c][p.tangent(static_cast<int>(i)) + t] + 0.0);
        line += ")";
      }
      text += line + "\n";
    }
    if (piece.corners.size() > 24)
      text += fmt::format("    .. and {} more\n", piece.corners.size() - 24);
  }
  if (result.pieces.size() > 40)
    text += fmt::format("\n.. and {} more pieces\n", result.pieces.size() - 40);

  for (const char* what : {"maximize", "minimize"}) {
    if (!report.answers.contains(what)) continue;
    for (const auto& [name, answer] : report.answers[what].items())
      text += fmt::format("\n{} {}: {:.6g} {}", what, name, answer["value"].get<double>(),
                          name == "energy" ? "J" : "m/s");
    text += "\n";
  }
  if (report.answers.contains("contains")) {
    for (const auto& answer : report.answers["contains"]) {
      text += fmt::format(
          "\n{}: {}\n", answer["contact_velocity"].dump(),
          answer["reachable"].get<bool>()
              ? std::string("reachable")
              : fmt::format("not reachable, {:.3g} m/s from the set at {}",
                            answer["distance"].get<double>(), answer["nearest"].dump()));
    }
  }
  return text;
}

}  // namespace routh::app
