#include <fmt/format.h>

#include <algorithm>

#include "routh/io/document.h"
#include "routh/io/gnuplot.h"
#include "routh/io/measured.h"

namespace routh::io {
namespace {

constexpr std::size_t kNamedRows = 12;  // rows that are named on the screen
const std::vector<std::string> kMeasuredColours{"#1f5fbf", "#c8281e", "#2a8c4a"};

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
                    s.control, s.closer, s.impacts);
    if (s.contacts > 1 && s.law != "simultaneous")
      text += fmt::format(", p = {:.2g}", sign_test(s.closer, s.impacts));
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
  return render(folder, name, [&](const std::string& terminal) {
    const auto panels = static_cast<int>(by_contacts.size());
    std::string script = fmt::format(
        "set terminal {} size {},420 noenhanced\nset multiplot layout 1,{}\nset key top left "
        "font ',9'\nset grid\nset logscale x\nset yrange [0:1]\nset xrange [0.002:1]\nset xlabel "
        "'distance [m/s]'\n",
        terminal, std::max(500, 420 * panels), panels);
    for (const auto& [contacts, of_them] : by_contacts) {
      const std::vector<const StudyRow*>& rows = of_them;
      std::string plot;
      const auto curve = [&](const std::string& block, const std::string& title,
                             const std::string& style, const auto& value) {
        std::vector<double> x, y;
        for (const StudyRow* row : rows) x.push_back(value(*row));
        std::sort(x.begin(), x.end());
        for (std::size_t i = 0; i < x.size(); ++i)
          y.push_back(static_cast<double>(i + 1) / static_cast<double>(x.size()));
        script += curve_block(block, x, y);
        plot += fmt::format("{}${} using 1:2 with steps {} title {}", plot.empty() ? "" : ", ",
                            block, style, gnuplot_text(title));
      };
      for (std::size_t k = 0; k < study.laws.size(); ++k) {
        curve(fmt::format("near{}_{}", contacts, k), study.laws[k] + ", nearest",
              fmt::format("lw 2 lc rgb '{}'", kMeasuredColours[k % kMeasuredColours.size()]),
              [k](const StudyRow& row) { return row.laws[k].nearest; });
        if (contacts > 1 && k > 0)
          curve(fmt::format("control{}_{}", contacts, k), study.laws[k] + ", control",
                fmt::format("lw 1 dt 2 lc rgb '{}'", kMeasuredColours[k % kMeasuredColours.size()]),
                [k](const StudyRow& row) { return row.laws[k].control; });
      }
      curve(fmt::format("none{}", contacts), "no law", "lw 1 lc rgb '#888888'",
            [](const StudyRow& row) { return std::max(row.unexplained, 0.002); });
      script += fmt::format("set title {}\nplot {}\n",
                            gnuplot_text(fmt::format("{} contact{}, {} impacts", contacts,
                                                     contacts > 1 ? "s" : "", rows.size())),
                            plot);
    }
    return script + "unset multiplot\n";
  });
}

}  // namespace routh::io
