#include "reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "exact_law.h"
#include "measured.h"
#include "options.h"
#include "output.h"
#include "routh/io/document.h"
#include "routh/io/figures.h"
#include "routh/io/files.h"
#include "routh/io/gnuplot.h"
#include "terminal.h"

namespace routh::app {
namespace {

/// A figure of the papers: the scenario it shows.
struct PaperFigure {
  const char *item, *scenario;
  double mass = 0;  ///< [kg] of its bodies; 0: as the scenario has it
};
/// P1 Fig. 14 was drawn with disks of 5 kg, its Table 8 says 1 kg: both.
constexpr PaperFigure kFigures[] = {
    {"p1-fig9", "rocking-block"}, {"p1-fig10", "compass-gait"}, {"p1-fig11", "box-and-wall"},
    {"p1-fig13", "ramone"},       {"p1-fig14", "disk-stack"},   {"p1-fig14", "disk-stack", 5},
    {"p2-fig3", "rimless-wheel"}, {"p2-fig4", "pushing"},
};

/// P1 Table 3 as printed. The disk stack's 9.04 belongs to disks of 5 kg, though Table 8 says 1 kg.
struct PaperRow {
  const char *title, *scenario;
  std::vector<io::Override> overrides;
  double lcps, seconds;
  std::uint64_t samples;  ///< ours; P1 takes the same number except for the disks (2^20)
};
const std::vector<PaperRow>& table3() {
  static const std::vector<PaperRow> rows{
      {"Rocking Block", "rocking-block", {}, 2.67, 2.1e-3, 1 << 14},
      {"Compass Gait", "compass-gait", {}, 2.27, 1.9e-3, 1 << 20},
      {"Box and Wall", "box-and-wall", {}, 1.97, 1.6e-3, 1 << 18},
      {"RAMone", "ramone", {}, 3.20, 2.2e-3, 1 << 20},
      {"Disk Stacking (1 kg)", "disk-stack", {}, 9.04, 1.1e-2, 1 << 14},
      {"Disk Stacking (5 kg)", "disk-stack", {{"mass", 5}}, 9.04, 1.1e-2, 1 << 14},
  };
  return rows;
}

/// What the text of P1 says about outcomes, with the numbers that follow from its tables.
struct Claim {
  const char *scenario, *text;
};
constexpr Claim kClaims[] = {
    {"rocking-block", "rest, or pivoting about either corner (Fig. 1)"},
    {"compass-gait", "leading foot sticks; trailing foot sticks, slides or lifts (Fig. 4)"},
    {"box-and-wall", "rest, or sliding on the floor and lifting off the wall (Fig. 5)"},
    {"ramone", "leading foot sticks; trailing foot sticks, slides or lifts (Fig. 13)"},
    {"disk-stack", "simultaneous law: rest (Fig. 14)"},
};

struct ReproduceArguments {
  std::vector<std::string> items;
  std::string out = "results", samples, data;
  int threads = 0;
  const CLI::App* command = nullptr;
  Places places;
};

std::vector<ReproduceItem> other_items() {
  std::vector<ReproduceItem> items;
  for (const auto& some : {p1_items(), p3_items(), p4_items(), p5_items()})
    items.insert(items.end(), some.begin(), some.end());
  return items;
}

std::vector<std::string> all_items() {
  std::vector<std::string> items{"p1-table3", "p1-outcomes"};
  for (const PaperFigure& f : kFigures) {
    if (items.back() != f.item) items.emplace_back(f.item);
  }
  for (const ReproduceItem& item : other_items()) items.push_back(item.name);
  return items;
}

/// Needs data that are not part of the project.
constexpr const char* kMeasured = "measured";

SetResult sample(const io::ImpactCase& impact, std::uint64_t samples, const ReproduceArguments& a,
                 bool for_figure) {
  SetOptions options;
  options.samples = a.samples.empty() ? samples : parse_count("--samples", a.samples);
  options.step = impact.scenario.run.impact.step;
  options.limit = impact.scenario.run.impact.limit;
  options.threads = a.threads;
  options.keep = for_figure ? 20'000 : 0;
  options.paths = for_figure ? 5'000 : 0;
  options.progress = progress(options.samples, impact.scenario.name);
  SetResult result = set_valued(impact.problem(), options);
  clear_progress();
  return result;
}

void reproduce_table3(const ReproduceArguments& a) {
  std::string markdown =
      "# P1 Table 3: sampling the set of outcomes\n\n"
      "Printed values were measured by the authors with the PATH solver in MATLAB on another "
      "machine. Ours finds all\n"
      "solutions of every step instead of one. Times are of all threads together.\n\n"
      "| example | samples | LCPs / sample, printed | measured | ratio | time / sample, printed | "
      "measured | ratio | "
      "ambiguous samples | largest residual |\n|---|---|---|---|---|---|---|---|---|---|\n";
  std::string csv =
      "example,samples,lcps_printed,lcps_measured,seconds_printed,seconds_measured,ambiguous_"
      "samples,max_residual\n";
  fmt::print("\nP1 Table 3{:>20}{:>14}{:>12}{:>8}{:>14}{:>14}{:>10}\n", "samples", "LCPs printed",
             "measured", "ratio", "time printed", "measured", "ratio");
  for (const PaperRow& row : table3()) {
    const io::ImpactCase impact = io::impact_case(io::load_scenario(row.scenario, row.overrides));
    const SetResult r = sample(impact, row.samples, a, false);
    if (interrupted()) return;  // half a row is none
    const double samples = static_cast<double>(std::max<std::uint64_t>(1, r.samples));
    const double lcps = static_cast<double>(r.steps) / samples, seconds = r.seconds / samples;
    fmt::print("{:<22}{:>8}{:>14.2f}{:>12.2f}{:>8.2f}{:>12.1e} s{:>12.1e} s{:>10.0f}\n", row.title,
               r.samples, row.lcps, lcps, lcps / row.lcps, row.seconds, seconds,
               row.seconds / seconds);
    markdown += fmt::format(
        "| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.1e} s | {:.1e} s | {:.0f} times faster | {:.1f} "
        "% | {:.0e} |\n",
        row.title, r.samples, row.lcps, lcps, lcps / row.lcps, row.seconds, seconds,
        row.seconds / seconds, 100 * static_cast<double>(r.ambiguous_samples) / samples,
        r.max_residual);
    csv +=
        fmt::format("{},{},{},{},{},{},{},{}\n", row.title, r.samples, row.lcps, lcps, row.seconds,
                    seconds, static_cast<double>(r.ambiguous_samples) / samples, r.max_residual);
  }
  save(a.out, "p1-table3.md", markdown);
  save(a.out, "p1-table3.csv", csv);
}

void reproduce_outcomes(const ReproduceArguments& a) {
  std::string markdown =
      "# Outcomes of P1's examples\n\nVelocities in m/s as (normal, tangential).\n\n| example | P1 "
      "says | law | ";
  markdown += "contacts | energy kept |\n|---|---|---|---|---|\n";
  fmt::print("\nOutcomes of P1's examples, (normal, tangential) velocities in m/s\n");
  for (const Claim& claim : kClaims) {
    const io::ImpactCase impact = io::impact_case(io::load_scenario(claim.scenario));
    const io::ImpactReport report = io::report_all(impact);
    const double before = kinetic_energy(impact.scenario.terms, impact.scenario.v);
    fmt::print("{}: {}\n", claim.scenario, claim.text);
    for (const io::OutcomeRow& row : report.outcomes) {
      std::string contacts;
      for (std::size_t i = 0; i < impact.names.size(); ++i) {
        contacts +=
            fmt::format("{}{} {} ({:.4f}, {:.4f})", i ? "; " : "", impact.names[i],
                        to_string(row.modes[i]), row.outcome.c_plus[i] + 0.0,
                        row.outcome.c_plus[impact.problem().tangent(static_cast<int>(i))] + 0.0);
      }
      fmt::print("    {:<26} {}\n", row.law(), contacts);
      markdown += fmt::format("| {} | {} | {} | {} | {:.1f} % |\n", claim.scenario, claim.text,
                              row.law(), contacts, 100 * row.energy / before);
    }
  }
  save(a.out, "p1-outcomes.md", markdown);
}

void reproduce_figure(const PaperFigure& f, const ReproduceArguments& a) {
  std::vector<io::Override> overrides;
  if (f.mass > 0) overrides.push_back({"mass", f.mass});
  const io::ImpactCase impact = io::impact_case(io::load_scenario(f.scenario, overrides));
  const SetResult set = sample(impact, 20'000, a, true);
  if (interrupted()) return;
  // the exact set under the samples, where it is quick to have
  std::vector<Polytope> pieces;
  if (impact.names.size() <= 3) pieces = exact_set(impact).pieces;
  std::string name = fmt::format("{}-{}", f.item, f.scenario), title = impact.scenario.title;
  if (f.mass > 0) {
    name += fmt::format("-{}kg", f.mass);
    title += fmt::format(", {} kg", f.mass);
  }
  const io::ImpactFigure figure{
      .name = name, .title = title, .laws = io::law_paths(impact), .set = &set, .exact = pieces};
  fmt::print("{}: {}\n", f.item, io::join(io::draw(impact, figure, a.out)));
}

int run_reproduce(const ReproduceArguments& a) {
  // names first, so that nothing is half done when one is wrong
  std::vector<std::string> items;
  const std::vector<std::string> known = all_items();
  for (const std::string& item : a.items) {
    if (item == "all") {
      items = known;
    } else if (item == kMeasured || std::find(known.begin(), known.end(), item) != known.end()) {
      items.push_back(item);
    } else {
      const std::string close = io::nearest(item, known);
      throw io::InputError(fmt::format("reproduce {}: there is no such item; {}", item,
                                       close.empty() ? "known are all, measured, " + io::join(known)
                                                     : "did you mean '" + close + "'?"));
    }
  }
  if (!a.samples.empty() && parse_count("--samples", a.samples) == 0)
    throw io::InputError("--samples 0: there must be at least one");
  refuse_foreign(*a.command, "item", items);
  if (a.data.empty() && std::find(items.begin(), items.end(), kMeasured) != items.end())
    throw io::InputError(
        "reproduce measured: needs --data FOLDER with ellipse-impacts.csv and cube-impacts.csv; "
        "docs/measured.md says where they come from");
  const bool measured = std::find(items.begin(), items.end(), kMeasured) != items.end();
  const std::vector<PublicData> data =
      measured ? read_public_data(a.data) : std::vector<PublicData>{};
  io::require_gnuplot();
  // tables are shown where they are made
  if (a.places.quiet() && !std::freopen("/dev/null", "w", stdout)) return kUnfinished;
  if (io::make_folder(a.out)) fmt::print("made folder {}\n", a.out);

  for (const std::string& item : items) {
    if (interrupted()) break;
    if (item == kMeasured) reproduce_measured(data, a.out);
    if (item == "p1-table3") reproduce_table3(a);
    if (item == "p1-outcomes") reproduce_outcomes(a);
    for (const PaperFigure& f : kFigures) {
      if (item == f.item) reproduce_figure(f, a);
    }
    for (const ReproduceItem& other : other_items()) {
      if (item == other.name) other.make(a.out);
    }
  }
  if (interrupted()) {
    warn(fmt::format("routh: stopped; what was finished until then is in {}\n", a.out));
    return kUnfinished;
  }
  fmt::print("results are in {}\n", a.out);
  return kDone;
}

}  // namespace

void save(const std::string& folder, const std::string& name, const std::string& content) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  io::write_file(path, content);
  fmt::print("    {}\n", path);
}

void add_reproduce(CLI::App& app, Session& session) {
  auto a = std::make_shared<ReproduceArguments>();
  CLI::App* c = app.add_subcommand(
      "reproduce", "make the papers' tables and figures beside the printed numbers");
  a->command = c;
  std::string items = "{all";
  for (const std::string& item : all_items()) items += "," + item;
  items += std::string(",") + kMeasured;
  c->add_option("items", a->items, "what to make")->type_name(items + "}")->required();
  c->add_option("--out", a->out, "folder for the results")->capture_default_str();
  c->add_option("--data", a->data, "folder of measured impacts, for measured");
  c->add_option("--samples", a->samples, "samples of each set, such as 2^16 (default: by item)");
  c->add_option("--threads", a->threads, "threads (default: all cores)")
      ->check(CLI::Range(1, 1024));
  a->places.add_to(*c, session, {});
  c->callback([a, &session] { session.code = run_reproduce(*a); });
}

}  // namespace routh::app
