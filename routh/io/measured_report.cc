#include <fmt/format.h>

#include <algorithm>

#include "routh/io/document.h"
#include "routh/io/gnuplot.h"
#include "routh/io/measured.h"
#include "routh/simulate/laws.h"

namespace routh::io {
namespace {

constexpr std::size_t kNamedRows = 12;  // rows that are named on the screen
constexpr std::size_t kFewImpacts = 10;
constexpr const char* kSetColour = "#2a8c4a";

std::string lines_of(const std::vector<std::string>& lines) {
  const std::vector<std::string> some(lines.begin(),
                                      lines.begin() + std::min(lines.size(), kNamedRows));
  return join(some) + (lines.size() > kNamedRows ? ", .." : "");
}

}  // namespace

std::string describe(const MeasuredTable& table, const MeasuredStudy& study) {
  std::string text = fmt::format("{}: {} rows, {} impacts; {} flagged", table.file, table.rows,
                                 table.impacts.size(), table.flagged);
  text += table.grows.empty()
              ? "\n"
              : fmt::format(", {} left out because energy grows (line{} {})\n", table.grows.size(),
                            table.grows.size() > 1 ? "s" : "", lines_of(table.grows));
  if (table.body) {
    text += "body, fitted to the training half: I/m";
    for (const double g : table.body->gyration) text += fmt::format(" {:.4g}", g);
    text += " m²";
    if (table.kind == "box")
      text += fmt::format(
          ", corners at ±{:.4g} m swept by {:.4g} m, centre of mass {:.4f} {:.4f} "
          "{:.4f} m",
          table.body->half, table.body->radius, table.body->centre.x(), table.body->centre.y(),
          table.body->centre.z());
    text += fmt::format("; {:.3g} rad/s of the balance are left\n", table.body->balance);
  }
  text += fmt::format(
      "\nfriction and restitution of one contact, from {} impacts, held against {} "
      "others\n",
      study.fitted, study.held_out);
  for (const StudyFit& f : study.fits)
    text += fmt::format("    {:<8} mu {:.3f}  e {:.3f}   {:.4f} m/s, held out {:.4f} m/s\n",
                        to_string(f.fit.parameters.restitution), f.fit.parameters.mu,
                        f.fit.parameters.e, f.fit.distance, f.held_out);
  text +=
      "\ndistances of what was held out, medians [m/s]\n"
      "    contacts impacts  noise   no law  law            first    nearest  control  nearer than "
      "control\n";
  for (const MeasuredSummary& s : summaries(table, study)) {
    text +=
        fmt::format("    {:8} {:7}  {:.4f}  {:.4f}  {:<13}  {:.4f}   {:.4f}   {:.4f}   {} of {}",
                    s.contacts, s.impacts, s.noise, s.unexplained, s.law, s.first, s.nearest,
                    s.control, s.closer, s.impacts - s.ties);
    if (s.contacts > 1 && s.impacts > s.ties)
      text += fmt::format(", p = {:.2g}", sign_test(s.closer, s.impacts - s.ties));
    if (s.contacts > 1 && s.says > 0)
      text += fmt::format("; lowest first in {} of {}", s.begins, s.says);
    text += '\n';
  }
  text +=
      "    no law: what no impulses at the contacts can make; control: the same errors in random "
      "directions\n";
  return text;
}

Json to_json(const MeasuredTable& table, const MeasuredStudy& study) {
  Json j{{"file", table.file},       {"kind", table.kind},
         {"rows", table.rows},       {"impacts", table.impacts.size()},
         {"flagged", table.flagged}, {"energy_grows", table.grows}};
  if (table.body) {
    j["body"] = {{"gyration", list(table.body->gyration)}, {"balance", table.body->balance}};
    if (table.kind == "box")
      j["body"].update({{"half", table.body->half},
                        {"radius", table.body->radius},
                        {"centre", list(table.body->centre)}});
  }
  j["fitted"] = study.fitted, j["held_out"] = study.held_out;
  j["fits"] = Json::array();
  for (const StudyFit& f : study.fits)
    j["fits"].push_back({{"meaning", std::string(to_string(f.fit.parameters.restitution))},
                         {"mu", f.fit.parameters.mu},
                         {"e", f.fit.parameters.e},
                         {"distance", f.fit.distance},
                         {"held_out", number_or_null(f.held_out)}});
  j["laws"] = Json::array();
  for (const MeasuredSummary& s : summaries(table, study))
    j["laws"].push_back({{"contacts", s.contacts},
                         {"impacts", s.impacts},
                         {"law", s.law},
                         {"noise", s.noise},
                         {"unexplained", s.unexplained},
                         {"first", number_or_null(s.first)},
                         {"nearest", number_or_null(s.nearest)},
                         {"control", number_or_null(s.control)},
                         {"closer", s.closer},
                         {"ties", s.ties},
                         {"lowest_first", s.begins},
                         {"orders", s.says}});
  j["incomplete"] = !study.complete;
  return j;
}

std::string to_csv(const MeasuredTable& table, const MeasuredStudy& study) {
  std::string text = "line,group,contacts,noise,unexplained";
  for (const std::string& law : study.laws)
    text += fmt::format(",{0}_first,{0}_nearest,{0}_control,{0}_outcomes", law);
  text += '\n';
  for (const StudyRow& row : study.rows) {
    const MeasuredImpact& impact = table.impacts[row.impact];
    text += fmt::format("{},{},{},{:.6g},{:.6g}", impact.name, impact.group, impact.contacts,
                        row.noise, row.unexplained);
    for (const MeasuredDistance& d : row.laws)
      text += fmt::format(",{:.6g},{:.6g},{:.6g},{}", d.first, d.nearest, d.control, d.outcomes);
    text += '\n';
  }
  return text;
}

std::vector<std::string> draw(const MeasuredTable& table, const MeasuredStudy& study,
                              const std::string& name, const std::string& folder) {
  // sorted distances of each law: how many impacts are explained to within x
  std::map<int, std::vector<const StudyRow*>> by_contacts;
  for (const StudyRow& row : study.rows)
    by_contacts[table.impacts[row.impact].contacts].push_back(&row);
  // few impacts make no curve, unless there are no others
  const bool some = std::any_of(by_contacts.begin(), by_contacts.end(),
                                [](const auto& of) { return of.second.size() >= kFewImpacts; });
  if (some)
    std::erase_if(by_contacts, [](const auto& of) { return of.second.size() < kFewImpacts; });
  return render(folder, name, [&](const std::string& terminal) {
    const auto panels = static_cast<int>(by_contacts.size());
    const int width = 120 + std::max(480, 330 * panels);
    // one key for all panels, below them
    std::string script = fmt::format(
        "set terminal {} size {},470 noenhanced\nset multiplot layout 1,{} margins "
        "screen {:.4f},0.985,0.33,0.91 spacing screen 0.015\nset key off\nset grid lc rgb "
        "'#dddddd' lt 1\nset border lw 0.8\nset tics nomirror scale 0.6\nset logscale x\nset "
        "format "
        "x '%g'\nset xtics (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)\nset yrange [0:1]\nset "
        "xrange [0.002:0.6]\nset xlabel 'distance [m/s]'\nset ylabel 'part of the impacts'\n",
        terminal, width, panels, 70.0 / width);
    bool first = true;
    for (const auto& [contacts, of_them] : by_contacts) {
      const std::vector<const StudyRow*>& rows = of_them;
      std::string plot, key;
      const auto curve = [&](const std::string& block, const std::string& style,
                             const auto& value) {
        std::vector<double> x, y;
        for (const StudyRow* row : rows) x.push_back(std::max(value(*row), 0.002));
        std::sort(x.begin(), x.end());
        x.insert(x.begin(), x.front());
        for (std::size_t i = 0; i < x.size(); ++i)
          y.push_back(static_cast<double>(i) / static_cast<double>(x.size() - 1));
        script += curve_block(block, x, y);
        plot += fmt::format("{}${} using 1:2 with fsteps {} notitle", plot.empty() ? "" : ", ",
                            block, style);
      };
      const auto explain = [&](const std::string& style, const std::string& title) {
        key += fmt::format(", NaN with lines {} title {}", style, gnuplot_text(title));
      };
      for (std::size_t k = 0; k < study.laws.size(); ++k) {
        const std::vector<std::string>& own = law_named(study.laws[k]).colours;
        const std::string colour = own.empty() ? kSetColour : own.front();
        const std::string line = fmt::format("lw 2 lc rgb '{}'", colour),
                          dashes = fmt::format("lw 1.2 dt (6,4) lc rgb '{}'", colour);
        // a law with one outcome is as far from its controls
        const bool chooses = study.laws[k] == "sequential" || study.laws[k] == "set";
        if (contacts > 1 && chooses)
          curve(fmt::format("control{}_{}", contacts, k), dashes,
                [k](const StudyRow& row) { return row.laws[k].control; });
        curve(fmt::format("near{}_{}", contacts, k), line,
              [k](const StudyRow& row) { return row.laws[k].nearest; });
        explain(line, study.laws[k]);
        if (chooses) explain(dashes, study.laws[k] + ", control");
      }
      const std::string grey = "lw 1.2 lc rgb '#777777'", dots = "lw 1.5 dt (2,3) lc rgb '#000000'";
      curve(fmt::format("none{}", contacts), grey,
            [](const StudyRow& row) { return row.unexplained; });
      explain(grey, "no law");
      explain(dots, "noise");
      std::vector<double> noise;
      for (const StudyRow* row : rows) noise.push_back(row->noise);
      script += fmt::format(
          "unset arrow\nset arrow from {0:.6g},graph 0 to {0:.6g},graph 1 nohead {1}\nset title "
          "{2}\n",
          std::clamp(median(noise), 0.002, 0.6), dots,
          gnuplot_text(fmt::format("{} contact{}, {} impacts", contacts, contacts > 1 ? "s" : "",
                                   rows.size())));
      if (first)
        script += "set key at screen 0.5,0.02 center bottom horizontal maxrows 2 samplen 3\n";
      script += fmt::format("plot {}{}\nset key off\nset ylabel ''\nset format y ''\n", plot,
                            first ? key : "");
      first = false;
    }
    return script + "unset multiplot\n";
  });
}

}  // namespace routh::io
