#include "routh/io/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/program.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

constexpr std::size_t kColumns = 1000;  // of one curve, more than a picture has

}  // namespace

std::string gnuplot_text(std::string_view text) {
  std::string out = "\"";
  bool escaped = false;  // gnuplot reads digits after an escape as part of it
  for (const char c : valid_utf8(without_controls(text))) {
    // SVG may hold "]]>" nowhere but at the end of CDATA, and gnuplot copies it
    if (c == '>' && out.ends_with("]]")) out += ' ';
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        std::isalpha(byte) || byte >= 0x80 || std::strchr(" .,:;()[]+-=/", c) != nullptr;
    escaped = !plain && (escaped || !std::isdigit(byte));
    out += escaped ? fmt::format("\\{:03o}", byte) : std::string(1, c);
  }
  return out + "\"";
}

void require_gnuplot() { require_program("gnuplot", "figures", "gnuplot-nox"); }

std::string run_gnuplot(const std::string& script) {
  // by name, for a script on its terminal it reads byte by byte; -d: no settings of the user's
  return run_program("gnuplot", {"-d", "/dev/stdin"}, script);
}

namespace {

constexpr double kPixels = 2;     // of PNG for one of SVG: 300 dpi and more in a column
constexpr double kToAnInch = 72;  // pixels of SVG in PDF: fonts have their size in points

/// What holds in all figures: signs of minus are as long as those of plus, and numbers have no room
/// for a sign that they do not have, which would shift them.
constexpr const char* kBegin = "set minussign\nset format '%g'\n";

/// A script whose sizes are pixels of SVG, for a terminal.
std::string sized(std::string script, const std::string& terminal) {
  const std::string begin = "set terminal " + terminal + " size ";
  const std::size_t at = script.find(begin);
  double width = 0, height = 0;
  if (at == script.npos ||
      std::sscanf(script.c_str() + at + begin.size(), "%lf,%lf", &width, &height) != 2)
    return script;
  script.insert(std::min(script.find('\n', at), script.size() - 1) + 1, kBegin);
  const std::size_t from = at + begin.size(), to = script.find_first_of(" \n", from);
  const std::string size =
      terminal == "svg" ? fmt::format("{:.0f},{:.0f}", width, height)
      : terminal == "pngcairo"
          ? fmt::format("{:.0f},{:.0f} fontscale {} linewidth {} pointscale {}", kPixels * width,
                        kPixels * height, kPixels, kPixels, kPixels)
          : fmt::format("{:.4f}in,{:.4f}in fontscale 1", width / kToAnInch, height / kToAnInch);
  return script.replace(from, to - from, size + " rounded");
}

/// Numbers alone, as "1.5 -2e-3"?
bool is_row(std::string_view line) {
  return line.find_first_not_of("0123456789+-.eE \t") == line.npos;
}

}  // namespace

std::vector<std::string> render(
    const std::string& folder, const std::string& name,
    const std::function<std::string(const std::string& terminal)>& script) {
  require_gnuplot();
  make_folder(folder);
  std::vector<std::string> written;
  for (const auto& [ending, terminal] :
       {std::pair{"png", "pngcairo"}, {"svg", "svg"}, {"pdf", "pdfcairo"}}) {
    written.push_back((std::filesystem::path(folder) / (name + "." + ending)).string());
    const std::string text = script(terminal);
    write_file(written.back(), run_gnuplot(sized(text, terminal)));
    if (terminal != std::string_view("svg")) continue;
    const std::string data = pgfplots_data(text);
    if (data.empty()) continue;
    written.push_back((std::filesystem::path(folder) / (name + "-data.tex")).string());
    write_file(written.back(), data);
  }
  return written;
}

std::string pgfplots_data(const std::string& script) {
  std::string text;
  for (std::size_t at = 0; at < script.size();) {
    const std::size_t end = std::min(script.find('\n', at), script.size());
    const std::string_view line(script.data() + at, end - at);
    at = end + 1;
    const std::size_t mark = line.find(" << EOD");
    if (!line.starts_with('$') || mark == line.npos) continue;
    // the rows up to the end of the block
    std::vector<std::string_view> rows;
    bool numbers = true;
    while (at < script.size()) {
      const std::size_t to = std::min(script.find('\n', at), script.size());
      const std::string_view row(script.data() + at, to - at);
      at = to + 1;
      if (row == "EOD") break;
      numbers = numbers && is_row(row);
      rows.push_back(row);
    }
    while (!rows.empty() && rows.back().empty()) rows.pop_back();
    if (rows.empty() || !numbers) continue;
    const auto columns = [](std::string_view row) {
      return 1 + std::count(row.begin(), row.end(), ' ');
    };
    constexpr const char* kNames[] = {"x", "y", "z"};
    const auto width = columns(rows.front());
    if (width > 3) continue;
    std::string name;
    for (const char c : line.substr(1, mark - 1))
      name += std::isdigit(static_cast<unsigned char>(c)) ? static_cast<char>('a' + (c - '0')) : c;
    std::string head, gap;
    for (int k = 0; k < width; ++k)
      head.append(k ? " " : "").append(kNames[k]), gap.append(k ? " nan" : "nan");
    text += "\\pgfplotstableread{\n" + head + "\n";
    for (const std::string_view row : rows) text.append(row.empty() ? gap : row) += '\n';
    text += "}{\\routh" + name + "}\n";
  }
  return text;
}

namespace {

/// Which of a curve's points are drawn, in order.
std::vector<char> drawn_points(const Series& series) {
  std::vector<char> drawn(series.size(), series.size() <= 4 * kColumns);
  if (series.size() <= 4 * kColumns) return drawn;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& [x, y] : series) low = std::min(low, x), high = std::max(high, x);
  const auto column = [&](std::size_t k) {
    return high > low ? static_cast<long>(kColumns * (series[k].first - low) / (high - low)) : 0;
  };
  for (std::size_t k = 0; k < series.size();) {
    std::size_t end = k, least = k, most = k;
    for (; end < series.size() && column(end) == column(k); ++end) {
      const double y = series[end].second;
      if (!std::isfinite(y)) {
        drawn[end] = 1;
        continue;
      }
      if (!(series[least].second <= y)) least = end;
      if (!(series[most].second >= y)) most = end;
    }
    for (const std::size_t i : {k, least, most, end - 1}) drawn[i] = 1;
    k = end;
  }
  return drawn;
}

}  // namespace

std::string curve_block(const std::string& name, const Series& series) {
  std::string text = fmt::format("${} << EOD\n", name);
  const std::vector<char> drawn = drawn_points(series);
  for (std::size_t k = 0; k < series.size(); ++k) {
    const auto [x, y] = series[k];
    if (!drawn[k]) continue;
    text += std::isfinite(y) ? fmt::format("{:.8g} {:.8g}\n", x, y + 0.0) : "\n";
  }
  return text + "EOD\n";
}

std::string curve_block(const std::string& name, const std::vector<double>& x,
                        const std::vector<double>& y) {
  Series series;
  for (std::size_t k = 0; k < x.size(); ++k) series.emplace_back(x[k], y[k]);
  return curve_block(name, series);
}

double tick(double low, double high) {
  const double rough = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  return power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
}

double tick(double low, double high, double pixels, bool across) {
  constexpr double kLetter = 7.3, kBetween = 18, kLine = 22;  // of a font of 12 points
  double step = tick(low, high);
  const auto room = [&] {
    if (!across) return kLine;
    std::size_t longest = 0;
    for (const double end : {low, high}) {
      const double label = step * std::trunc(end / step);
      longest = std::max({longest, fmt::format("{:.6g}", label).size(),
                          fmt::format("{:.6g}", label - std::copysign(step, label)).size()});
    }
    return kLetter * static_cast<double>(longest) + kBetween;
  };
  while (step < high - low && pixels * step / (high - low) < room()) {
    const double first = std::round(step / std::pow(10, std::floor(std::log10(step) + 1e-9)));
    step *= first == 2 ? 2.5 : 2;
  }
  return step;
}

}  // namespace routh::io
