#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/io/document.h"
#include "routh/io/gnuplot.h"
#include "routh/io/measured.h"
#include "routh/io/text.h"
#include "routh/simulate/laws.h"

namespace routh::io {
namespace {

constexpr std::size_t kNamedRows = 12;  // rows that are named on the screen
constexpr std::size_t kFewImpacts = 10;
constexpr const char* kSetColour = "#2a8c4a";
constexpr const char* kPeerColour = "#000000";  // of other simulators
constexpr int kKeyWidth = 165;                  // of figures [pixels]

std::string colour_of(const std::string& law, const MeasuredStudy& study) {
  if (index_of(study.laws, law) < 0) return kPeerColour;
  const std::vector<std::string>& own = law_named(law).colours;
  return own.empty() ? kSetColour : own.front();
}

/// Does one of the summaries say more than that all is a tie?
bool chooses(const MeasuredSummary& s) { return s.contacts > 1 && s.ranks.ties < s.impacts; }

/// Distances that a figure shows: of the laws and the noise, at most three powers of ten.
struct Range {
  double low, high;
  std::string tics() const {
    std::string text;
    const double wide = high / low;  // the wider, the fewer have room
    const std::vector<int> digits = wide > 200  ? std::vector{1}
                                    : wide > 30 ? std::vector{1, 3}
                                                : std::vector{1, 2, 5};
    for (int power = -320; power < 320; ++power) {
      for (const int digit : digits) {
        const double x = digit * std::pow(10.0, power);
        if (x > 1.2 * low && x <= high)
          text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", x);
      }
    }
    return text;
  }
};
Range range_of(const MeasuredStudy& study) {
  double low = HUGE_VAL, high = 0;
  const auto include = [&](double x) {
    if (!std::isfinite(x)) return;
    high = std::max(high, x);
    if (x > 0) low = std::min(low, x);
  };
  for (const StudyRow& row : study.rows) {
    include(row.noise);
    for (const MeasuredDistance& d : row.laws) include(d.nearest);
  }
  if (!(high > 0)) return {1e-3, 1};
  return {std::max(0.8 * low, 1e-3 * high), 1.2 * high};
}

std::string lines_of(const std::vector<std::string>& lines) {
  const std::vector<std::string> some(lines.begin(),
                                      lines.begin() + std::min(lines.size(), kNamedRows));
  return join(some) + (lines.size() > kNamedRows ? ", .." : "");
}

}  // namespace

std::vector<std::string> law_names(const MeasuredStudy& study) {
  std::vector<std::string> names = study.laws;
  for (const StudyPeer& peer : study.peers) names.push_back(peer.name);
  return names;
}

std::string describe(const MeasuredTable& table, const MeasuredStudy& study) {
  std::string text = fmt::format("{}: {} rows, {} impacts; {} flagged", table.file, table.rows,
                                 table.impacts.size(), table.flagged);
  const auto left_out = [&](const std::vector<std::string>& lines, const char* reason) {
    if (!lines.empty())
      text += fmt::format(", {} left out because {} (line{} {})", lines.size(), reason,
                          lines.size() > 1 ? "s" : "", lines_of(lines));
  };
  left_out(table.grows, "energy grows");
  left_out(table.apart, "nothing approaches");
  text += '\n';
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
      "\nfriction and restitution of {} contact{}, from {} impacts, held against {} "
      "others\n",
      study.fitted_contacts == 1 ? "one" : std::to_string(study.fitted_contacts),
      study.fitted_contacts == 1 ? "" : "s", study.fitted, study.held_out);
  const std::vector<MeasuredSummary> all = summaries(table, study);
  // as many digits as suit the speeds of the table
  double largest = 0;
  for (const MeasuredSummary& s : all) {
    if (std::isfinite(s.first)) largest = std::max({largest, s.first, s.noise});
  }
  const bool plain = largest == 0 || (largest >= 0.01 && largest < 1000);
  const auto speed = [&](double x) {
    return plain ? fmt::format("{:.4f}", x) : fmt::format("{:.1e}", x);
  };
  const auto fitted = [&](double distance, double held_out) {
    return fmt::format("{} m/s, held out {} m/s\n", speed(distance), speed(held_out));
  };
  for (const StudyFit& f : study.fits)
    text +=
        fmt::format("    {:<8} mu {:.3f}  e {:.3f}   {}", to_string(f.fit.parameters.restitution),
                    f.fit.parameters.mu, f.fit.parameters.e, fitted(f.fit.distance, f.held_out));
  for (const StudyPeer& peer : study.peers) {
    text += fmt::format("    {:<8}", peer.name);
    for (std::size_t i = 0; i < peer.parameters.size(); ++i)
      text += fmt::format(" {} {:.3g} ", peer.parameters[i], peer.fit.parameters[i]);
    text += "  " + fitted(peer.fit.distance, peer.held_out);
  }
  text +=
      "\ndistances of what was held out, medians [m/s]\n"
      "    contacts impacts  noise   no law  law            first    nearest  control  controls "
      "that "
      "are farther\n";
  for (const MeasuredSummary& s : all) {
    text +=
        fmt::format("    {:8} {:7}  {:<6}  {:<6}  {:<13}  {:<6}   {}", s.contacts, s.impacts,
                    speed(s.noise), speed(s.unexplained), s.law, speed(s.first), speed(s.nearest));
    if (chooses(s))
      text += fmt::format("   {}   {:.0f} %, p = {:.2g}", speed(s.control), 100 * s.ranks.farther,
                          s.ranks.chance);
    if (s.contacts > 1 && s.says > 0)
      text += fmt::format("; lowest first in {} ({:.0f}), fastest in {} ({:.0f}) of {}", s.begins,
                          s.begins_by_chance, s.fastest, s.fastest_by_chance, s.says);
    text += '\n';
  }
  text +=
      "    no law: what no impulses at the contacts can make; control: the same errors in random "
      "directions;\n    in parentheses: of the controls\n";
  return text;
}

Json to_json(const MeasuredTable& table, const MeasuredStudy& study) {
  Json j{{"file", table.file},
         {"kind", table.kind},
         {"rows", table.rows},
         {"impacts", table.impacts.size()},
         {"flagged", table.flagged},
         {"energy_grows", table.grows},
         {"nothing_approaches", table.apart}};
  if (table.body) {
    j["body"] = {{"gyration", list(table.body->gyration)}, {"balance", table.body->balance}};
    if (table.kind == "box")
      j["body"].update({{"half", table.body->half},
                        {"radius", table.body->radius},
                        {"centre", list(table.body->centre)}});
  }
  j["fitted"] = study.fitted, j["held_out"] = study.held_out;
  j["fitted_contacts"] = study.fitted_contacts;
  j["fits"] = Json::array();
  for (const StudyFit& f : study.fits)
    j["fits"].push_back({{"meaning", std::string(to_string(f.fit.parameters.restitution))},
                         {"mu", f.fit.parameters.mu},
                         {"e", f.fit.parameters.e},
                         {"distance", f.fit.distance},
                         {"held_out", number_or_null(f.held_out)}});
  j["peers"] = Json::array();
  for (const StudyPeer& peer : study.peers) {
    Json own{{"name", peer.name},
             {"distance", number_or_null(peer.fit.distance)},
             {"held_out", number_or_null(peer.held_out)}};
    for (std::size_t i = 0; i < peer.parameters.size(); ++i)
      own["parameters"][peer.parameters[i]] = number_or_null(peer.fit.parameters[i]);
    j["peers"].push_back(std::move(own));
  }
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
                         {"farther_controls", s.ranks.farther},
                         {"chance", s.ranks.chance},
                         {"ties", s.ranks.ties},
                         {"lowest_first", s.begins},
                         {"fastest_first", s.fastest},
                         {"lowest_first_controls", s.begins_by_chance},
                         {"fastest_first_controls", s.fastest_by_chance},
                         {"orders", s.says}});
  j["impacts_held_out"] = Json::array();
  const std::vector<std::string> names = law_names(study);
  for (const StudyRow& row : study.rows) {
    const MeasuredImpact& impact = table.impacts[row.impact];
    Json one{
        {"line", impact.name}, {"group", impact.group},          {"contacts", impact.contacts},
        {"noise", row.noise},  {"unexplained", row.unexplained}, {"v_plus", list(impact.v_plus)}};
    for (std::size_t k = 0; k < names.size(); ++k) {
      const MeasuredDistance& d = row.laws[k];
      one["laws"][names[k]] = {{"first", number_or_null(d.first)},
                               {"nearest", number_or_null(d.nearest)},
                               {"control", number_or_null(median(d.controls))},
                               {"outcomes", d.outcomes},
                               {"v_plus", list(d.prediction.v)}};
    }
    j["impacts_held_out"].push_back(std::move(one));
  }
  j["incomplete"] = !study.complete;
  return j;
}

std::string to_csv(const MeasuredTable& table, const MeasuredStudy& study) {
  std::string text = "line,group,contacts,noise,unexplained";
  for (const std::string& law : law_names(study))
    text += fmt::format(",{0}_first,{0}_nearest,{0}_control,{0}_outcomes", law);
  text += '\n';
  for (const StudyRow& row : study.rows) {
    const MeasuredImpact& impact = table.impacts[row.impact];
    text += fmt::format("{},{},{},{:.6g},{:.6g}", impact.name, impact.group, impact.contacts,
                        row.noise, row.unexplained);
    for (const MeasuredDistance& d : row.laws)
      text += fmt::format(",{:.6g},{:.6g},{:.6g},{}", d.first, d.nearest, median(d.controls),
                          d.outcomes);
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
  if (by_contacts.empty())
    throw std::invalid_argument(
        "measured: nothing was held against the laws, so there is nothing to draw");
  // few impacts make no curve, unless there are no others
  const bool some = std::any_of(by_contacts.begin(), by_contacts.end(),
                                [](const auto& of) { return of.second.size() >= kFewImpacts; });
  if (some)
    std::erase_if(by_contacts, [](const auto& of) { return of.second.size() < kFewImpacts; });
  const int most = by_contacts.rbegin()->first;
  const Range shown = range_of(study);
  return render(folder, name, [&](const std::string& terminal) {
    const auto panels = static_cast<int>(by_contacts.size());
    const int width = 87 + std::max(420, 300 * panels) + kKeyWidth;
    // one key for all panels, beside them
    std::string script = fmt::format(
        "set terminal {} size {},375 noenhanced\nset multiplot layout 1,{} margins "
        "screen {:.4f},{:.4f},0.15,0.9 spacing screen 0.015\nset key off\nset grid lc rgb "
        "'#dddddd' lt 1\nset border lw 0.8\nset tics nomirror scale 0.6\nset logscale x\nset "
        "format "
        "x '%g'\nset xtics ({})\nset yrange [0:1]\nset "
        "xrange [{:.6g}:{:.6g}]\nset xlabel 'distance [m/s]'\nset ylabel 'part of the impacts'\n",
        terminal, width, panels, 82.0 / width, 1 - static_cast<double>(kKeyWidth) / width,
        shown.tics(), shown.low, shown.high);
    bool first = true;
    for (const auto& [contacts, of_them] : by_contacts) {
      const std::vector<const StudyRow*>& rows = of_them;
      std::string plot, key;
      const auto curve = [&](const std::string& block, const std::string& style,
                             const auto& value) {
        std::vector<double> x, y;
        for (const StudyRow* row : rows)
          x.push_back(std::clamp(value(*row), shown.low, 2 * shown.high));
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
      const std::vector<std::string> names = law_names(study);
      for (std::size_t k = 0; k < names.size(); ++k) {
        const std::string colour = colour_of(names[k], study);
        const std::string line = fmt::format("lw 2 lc rgb '{}'", colour),
                          dashes = fmt::format("lw 1.2 dt (6,4) lc rgb '{}'", colour);
        // a law with one outcome is as far from its controls
        const bool controls = names[k] == "sequential" || names[k] == "set";
        if (contacts > 1 && controls)
          curve(fmt::format("control{}_{}", contacts, k), dashes, [k](const StudyRow& row) {
            const MeasuredDistance& d = row.laws[k];
            return d.controls.empty() ? d.first : median(d.controls);
          });
        curve(fmt::format("near{}_{}", contacts, k), line,
              [k](const StudyRow& row) { return row.laws[k].nearest; });
        explain(line, names[k]);
        if (controls && most > 1) explain(dashes, "its control");
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
          std::clamp(median(noise), shown.low, shown.high), dots,
          gnuplot_text(fmt::format("{} contact{}, {} impacts", contacts, contacts > 1 ? "s" : "",
                                   rows.size())));
      if (first)
        script +=
            "set key at screen 0.995,0.9 right top vertical maxcols 1 Left reverse samplen 2\n";
      script += fmt::format("plot {}{}\nset key off\nset ylabel ''\nset format y ''\n", plot,
                            first ? key : "");
      first = false;
    }
    return script + "unset multiplot\n";
  });
}

}  // namespace routh::io
