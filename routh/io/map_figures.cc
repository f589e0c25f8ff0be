#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "routh/io/gnuplot.h"
#include "routh/io/map.h"
#include "routh/io/measures.h"

namespace routh::io {
namespace {

constexpr std::size_t kPanels = 6;      // measures of one figure
constexpr std::size_t kLines = 1500;    // cells of parallel coordinates
constexpr std::size_t kMarks = 20'000;  // of cells
constexpr int kLevels = 7;              // contours
constexpr int kBins = 40;

/// Dark to light, in even steps to the eye, also without colours.
constexpr const char* kPalette =
    "set palette defined (0 '#30205f', 0.2 '#2f5c8f', 0.4 '#1f8a8c', 0.6 '#3fae73', 0.8 "
    "'#a8c845', 1 '#f6e36a')\n";

/// Statuses that a figure marks, how, and in which words.
struct Mark {
  CellStatus status;
  const char *style, *about;
};
constexpr Mark kMarked[] = {
    {CellStatus::kUndecided, "pt 2 lc rgb '#d02020'", "not decided"},
    {CellStatus::kNoImpact, "pt 1 lc rgb '#808080'", "no impact"},
    {CellStatus::kRefused, "pt 4 lc rgb '#404040'", "no such scenario"},
    {CellStatus::kNotDone, "pt 7 lc rgb '#c0c0c0'", "not done"},
};

/// Cells at one place of the ranges, taken together.
struct Place {
  std::vector<double> values;  ///< means of those there are
  std::set<CellStatus> statuses;
};

class Figure {
 public:
  explicit Figure(const MapResult& result)
      : result_(result), plan_(result.map->plan()), scenario_(result.map->scenario()) {
    const MeasureList list = measures_of(plan_, scenario_);
    measures_ = list.measures;
    for (std::size_t k = 0; k < plan_.vary.size(); ++k) {
      if (plan_.vary[k].count > 1) axes_.push_back(k);
    }
  }

  std::vector<std::string> draw(const std::string& name, const std::string& folder) const {
    if (axes_.size() == 1 || axes_.size() == 2)
      return render(folder, name, [&](const std::string& t) { return panels(t); });
    std::vector<std::string> written =
        render(folder, name, [&](const std::string& t) { return panels(t); });
    const std::vector<std::string> more =
        render(folder, name + "-parallel", [&](const std::string& t) { return parallel(t); });
    written.insert(written.end(), more.begin(), more.end());
    return written;
  }

 private:
  std::size_t shown() const { return std::min(kPanels, measures_.size()); }

  std::string label(const std::string& parameter) const {
    for (const Parameter& p : scenario_.parameters) {
      if (p.name == parameter && !p.unit.empty()) return parameter + " [" + p.unit + "]";
    }
    return parameter;
  }

  std::string head(const std::string& terminal, int width, int height) const {
    return fmt::format(
        "set terminal {} size {},{} font 'Helvetica,12' noenhanced\nset encoding utf8\n{}",
        terminal, width, height, kPalette);
  }
  std::string title() const {
    std::string law =
        plan_.runs > 0 ? fmt::format("{} runs by the law {}", plan_.runs, plan_.batch.law)
        : plan_.batch.law == "set" ? fmt::format("set law, {} samples", plan_.batch.samples)
                                   : "law " + plan_.batch.law;
    return gnuplot_text(scenario_.title.substr(0, scenario_.title.find(" (P")) + ": " + law);
  }

  /// The places of the ranges, the first fastest: gnuplot reads images row by row.
  std::vector<Place> places() const {
    std::vector<Place> all(result_.cells.size() / plan_.points);
    for (std::size_t p = 0; p < all.size(); ++p) {
      Place& place = all[p];
      place.values.assign(measures_.size(), 0);
      std::vector<int> counts(measures_.size(), 0);
      for (std::size_t i = 0; i < plan_.points; ++i) {
        const MapCell& cell = result_.cells[p * plan_.points + i];
        place.statuses.insert(cell.status);
        for (std::size_t k = 0; k < cell.values.size(); ++k) {
          if (std::isfinite(cell.values[k])) place.values[k] += cell.values[k], ++counts[k];
        }
      }
      for (std::size_t k = 0; k < counts.size(); ++k)
        place.values[k] = counts[k] ? place.values[k] / counts[k] : NAN;
    }
    return all;
  }

  /// What is marked, as data blocks; at x and y of a place.
  template <class At>
  std::string mark_blocks(const std::vector<Place>& all, const At& at) const {
    std::string text;
    for (const Mark& mark : kMarked) {
      std::size_t count = 0;
      std::string block;
      for (std::size_t p = 0; p < all.size() && count < kMarks; ++p) {
        if (!all[p].statuses.contains(mark.status)) continue;
        const auto [x, y] = at(p);
        block += fmt::format("{:.8g} {:.8g}\n", x, y);
        ++count;
      }
      text += fmt::format("$mark{} << EOD\n{}EOD\n", static_cast<int>(mark.status), block);
    }
    return text;
  }
  std::string mark_plots(double size) const {
    std::string text;
    for (const Mark& mark : kMarked) {
      if (result_.count(mark.status) == 0) continue;
      text += fmt::format(", $mark{} u 1:2 w p {} ps {} notitle", static_cast<int>(mark.status),
                          mark.style, size);
    }
    return text;
  }
  /// "x 12 not decided  + 3 no impact", below the panels.
  std::string marks_in_words() const {
    constexpr const char* kSigns[] = {"\xE2\x97\x8F", "", "\xC3\x97", "+", "\xE2\x96\xA1"};
    std::string words;
    for (const Mark& mark : kMarked) {
      const std::uint64_t count = result_.count(mark.status);
      if (count > 0)
        words += fmt::format("{}{} {}: {} of {} cells", words.empty() ? "" : "     ",
                             kSigns[static_cast<int>(mark.status)], mark.about, count,
                             result_.cells.size());
    }
    return words;
  }

  std::string panels(const std::string& terminal) const {
    const std::size_t count = shown();
    const int columns = static_cast<int>(count == 4 ? 2 : std::min<std::size_t>(3, count));
    const int rows = static_cast<int>((count + columns - 1) / columns);
    std::string text = head(terminal, 500 * columns + 20, 410 * rows + 60);
    const std::string words = marks_in_words();
    if (!words.empty())
      text += fmt::format("set label 1 {} at screen 0.5,screen 0.02 center tc rgb '#404040'\n",
                          gnuplot_text(words));
    const std::vector<Place> all = places();
    if (axes_.size() == 2) text += grid_blocks(all);
    // rooms between the panels, in pixels
    const double wide = 500 * columns + 20, tall = 410 * rows + 60;
    text += fmt::format(
        "set multiplot layout {},{} title {} font ',15' margins screen {},{},{},{} spacing screen "
        "{},{}\nset border 3 lw 1.2\nset tics nomirror\n",
        rows, columns, title(), 85 / wide, 1 - 95 / wide, 85 / tall, 1 - 80 / tall, 175 / wide,
        115 / tall);
    for (std::size_t k = 0; k < count; ++k) {
      text += axes_.size() == 2   ? heat_map(all, k)
              : axes_.size() == 1 ? curve(all, k)
                                  : histogram(k);
      if (k == 0) text += "unset label 1\n";
    }
    return text + "unset multiplot\n";
  }

  // two parameters

  const MapRange& axis(std::size_t k) const { return plan_.vary[axes_[k]]; }

  std::string grid_blocks(const std::vector<Place>& all) const {
    const MapRange &x = axis(0), &y = axis(1);
    std::string text;
    for (std::size_t k = 0; k < shown(); ++k) {
      text += fmt::format("$grid{} << EOD\n", k);
      // y fastest within a line of x, an empty line after each
      for (std::uint64_t i = 0; i < x.count; ++i) {
        for (std::uint64_t j = 0; j < y.count; ++j) {
          const double value = all[i * y.count + j].values[k];
          text += fmt::format("{:.8g} {:.8g} {}\n", x.at(i), y.at(j),
                              std::isfinite(value) ? fmt::format("{:.8g}", value) : "NaN");
        }
        text += "\n";
      }
      text += "EOD\n";
    }
    return text + mark_blocks(all, [&](std::size_t p) {
             return std::pair{x.at(p / y.count), y.at(p % y.count)};
           });
  }

  std::pair<double, double> range(const std::vector<Place>& all, std::size_t k) const {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const Place& place : all) {
      if (!std::isfinite(place.values[k])) continue;
      low = std::min(low, place.values[k]), high = std::max(high, place.values[k]);
    }
    return {low, high};
  }

  std::string heat_map(const std::vector<Place>& all, std::size_t k) const {
    const MapRange &x = axis(0), &y = axis(1);
    const auto [low, high] = range(all, k);
    const bool any = low <= high, flat = !(low < high);
    const double half_x = (x.to - x.from) / (2.0 * static_cast<double>(x.count - 1));
    const double half_y = (y.to - y.from) / (2.0 * static_cast<double>(y.count - 1));
    const bool counts = measures_[k].counts && plan_.points == 1;
    std::string text = fmt::format(
        "set title {} font ',12'\nset xlabel {}\nset ylabel {}\nset xrange [{}:{}]\nset yrange "
        "[{}:{}]\nset object 1 rectangle from graph 0,graph 0 to graph 1,graph 1 fc rgb '#d8d8d8' "
        "fs solid noborder behind\n",
        gnuplot_text(measures_[k].about), gnuplot_text(label(x.name)), gnuplot_text(label(y.name)),
        std::min(x.from, x.to) - std::abs(half_x), std::max(x.from, x.to) + std::abs(half_x),
        std::min(y.from, y.to) - std::abs(half_y), std::max(y.from, y.to) + std::abs(half_y));
    const double wide = any && !flat ? 0 : any ? std::max(1e-12, std::abs(low)) * 0.5 : 0.5;
    text += counts && any
                ? fmt::format("set cbrange [{}:{}]\nset palette maxcolors {}\nset cbtics 1\n",
                              low - 0.5, high + 0.5, std::clamp(high - low + 1, 2.0, 64.0))
                : fmt::format("set cbrange [{}:{}]\nset palette maxcolors 0\nset cbtics auto\n",
                              any ? low - wide : 0, any ? high + wide : 1);
    // contours are computed into a block of their own
    const bool contours = any && !flat && (!counts || high - low <= 12);
    if (contours) {
      text += "unset surface\nset contour base\nunset title\nset table $contour\n";
      text += counts ? fmt::format("set cntrparam levels incremental {},1,{}\n", low + 0.5, high)
                     : fmt::format("set cntrparam levels auto {}\n", kLevels);
      text += fmt::format(
          "splot $grid{} u 1:2:3\nunset table\nset surface\nunset contour\nset title {} font "
          "',12'\n",
          k, gnuplot_text(measures_[k].about));
    }
    text += fmt::format("plot $grid{} u 1:2:3 w image notitle", k);
    if (!any) text = text.substr(0, text.rfind("plot ")) + "plot NaN notitle";
    if (contours)
      text += fmt::format(", $contour u 1:2 w l lw {} lc rgb '{}' notitle", counts ? 1.6 : 1.0,
                          counts ? "#000000" : "#ffffff");
    const double most = static_cast<double>(std::max(x.count, y.count));
    return text + mark_plots(std::clamp(14 / most, 0.15, 1.0)) + "\nunset object 1\n";
  }

  // one parameter

  std::string curve(const std::vector<Place>& all, std::size_t k) const {
    const MapRange& x = axis(0);
    const auto [least, most] = range(all, k);
    const double low = least <= most ? least : 0, high = least <= most ? most : 1;
    const double room = high > low ? 0.06 * (high - low) : std::max(0.5, 0.1 * std::abs(high));
    Series series;
    for (std::size_t p = 0; p < all.size(); ++p) series.emplace_back(x.at(p), all[p].values[k]);
    std::string text = curve_block(fmt::format("curve{}", k), series);
    text += mark_blocks(all, [&](std::size_t p) {
      const double value = all[p].values[k];
      return std::pair{x.at(p), std::isfinite(value) ? value : low - room};
    });
    return text + fmt::format(
                      "set grid lc rgb '#e8e8e8'\nset xlabel {}\nset ylabel {}\nset xrange "
                      "[{}:{}]\nset yrange [{}:{}]\nplot $curve{} u 1:2 w {} lw 2 lc rgb '#1f5fbf' "
                      "notitle{}\n",
                      gnuplot_text(label(x.name)), gnuplot_text(measures_[k].about),
                      std::min(x.from, x.to), std::max(x.from, x.to), low - 1.5 * room, high + room,
                      k, measures_[k].counts && plan_.points == 1 ? "histeps" : "lines",
                      mark_plots(0.8));
  }

  // more

  std::string histogram(std::size_t k) const {
    std::vector<double> values;
    for (const MapCell& cell : result_.cells) {
      if (!cell.values.empty() && std::isfinite(cell.values[k])) values.push_back(cell.values[k]);
    }
    const auto [a, b] = std::minmax_element(values.begin(), values.end());
    const double low = values.empty() ? 0 : *a, high = values.empty() ? 1 : *b;
    const bool counts = measures_[k].counts && high - low < kBins;
    const int bins = counts ? static_cast<int>(high - low) + 1 : high > low ? kBins : 1;
    const double width = counts ? 1 : high > low ? (high - low) / bins : 1;
    std::vector<double> parts(static_cast<std::size_t>(bins), 0);
    for (const double value : values) {
      const int bin = std::clamp(static_cast<int>((value - low) / width), 0, bins - 1);
      parts[static_cast<std::size_t>(bin)] += 100.0 / static_cast<double>(values.size());
    }
    std::string text = fmt::format("$bins{} << EOD\n", k);
    for (int bin = 0; bin < bins; ++bin)
      text += fmt::format("{:.8g} {:.8g}\n", low + (counts ? bin : (bin + 0.5) * width),
                          parts[static_cast<std::size_t>(bin)]);
    text += fmt::format(
        "EOD\nset grid y lc rgb '#e8e8e8'\nset xlabel {}\nset ylabel 'cells [%]'\nset yrange "
        "[0:*]\nset xrange [{}:{}]\nset style fill solid 0.85 border lc rgb '#ffffff'\nset "
        "boxwidth {}\n",
        gnuplot_text(measures_[k].about), low - (counts ? 0.7 : 0.02 * (high - low) + 1e-12),
        low + bins * width - (counts ? 0.3 : 0) + 0.02 * (high - low) + 1e-12, width);
    if (counts) text += "set xtics 1\n";
    return text +
           fmt::format("plot $bins{} u 1:2 w boxes lc rgb '#1f5fbf' notitle\nset xtics auto\n", k);
  }

  /// Every cell a line through its parameters and measures, coloured by the first measure.
  std::string parallel(const std::string& terminal) const {
    const std::vector<std::string> names = plan_.names();
    const std::size_t columns = names.size() + shown();
    std::vector<std::vector<double>> rows;
    const std::size_t stride = result_.cells.size() / kLines + 1;
    for (std::size_t c = 0; c < result_.cells.size(); c += stride) {
      const MapCell& cell = result_.cells[c];
      if (cell.values.empty()) continue;
      std::vector<double> row = result_.map->parameters(c);
      row.insert(row.end(), cell.values.begin(),
                 cell.values.begin() + static_cast<std::ptrdiff_t>(shown()));
      if (std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); }))
        rows.push_back(std::move(row));
    }
    std::vector<double> low(columns, HUGE_VAL), high(columns, -HUGE_VAL);
    for (const std::vector<double>& row : rows) {
      for (std::size_t k = 0; k < columns; ++k)
        low[k] = std::min(low[k], row[k]), high[k] = std::max(high[k], row[k]);
    }
    const auto part = [&](std::size_t k, double x) {
      return high[k] > low[k] ? (x - low[k]) / (high[k] - low[k]) : 0.5;
    };
    std::string text = head(terminal, static_cast<int>(220 * columns + 160), 520);
    text += "$lines << EOD\n";
    for (const std::vector<double>& row : rows) {
      for (std::size_t k = 0; k < columns; ++k)
        text += fmt::format("{} {:.6g} {:.8g}\n", k, part(k, row[k]), row[names.size()]);
      text += "\n";
    }
    text += "EOD\n";
    text += fmt::format(
        "set title {} font ',15'\nset border 0\nunset ytics\nset yrange [-0.12:1.08]\nset xrange "
        "[-0.3:{}]\nset cblabel {}\nset tmargin 4\nset bmargin 4\nset xtics scale 0 (",
        title(), static_cast<double>(columns) - 0.7, gnuplot_text(measures_[0].about));
    for (std::size_t k = 0; k < columns; ++k)
      text += fmt::format(
          "{}{} {}", k ? ", " : "",
          gnuplot_text(k < names.size() ? label(names[k]) : measures_[k - names.size()].name), k);
    text += ")\n";
    for (std::size_t k = 0; k < columns && !rows.empty(); ++k) {
      text += fmt::format(
          "set arrow from {0},0 to {0},1 nohead lw 1.4 lc rgb '#404040' front\nset label "
          "'{1:.4g}' at {0},-0.05 center font ',10'\nset label '{2:.4g}' at {0},1.04 center font "
          "',10'\n",
          k, low[k], high[k]);
    }
    return text + (rows.empty() ? "plot NaN notitle\n"
                                : "plot $lines u 1:2:3 w l lw 0.8 lc palette notitle\n");
  }

  const MapResult& result_;
  const MapPlan& plan_;
  const Scenario& scenario_;
  std::vector<Measure> measures_;
  std::vector<std::size_t> axes_;  ///< ranges with more than one value
};

}  // namespace

std::vector<std::string> draw(const MapResult& result, const std::string& name,
                              const std::string& folder) {
  return Figure(result).draw(name, folder);
}

}  // namespace routh::io
