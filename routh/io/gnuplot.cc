#include "routh/io/gnuplot.h"

#include <fmt/format.h>

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

constexpr std::size_t kPoints = 4000;  // of one curve

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

/// A script whose sizes are pixels of SVG, for another terminal.
std::string sized(std::string script, const std::string& terminal) {
  const std::string begin = "set terminal " + terminal + " size ";
  const std::size_t at = script.find(begin);
  double width = 0, height = 0;
  if (at == script.npos || terminal == "svg" ||
      std::sscanf(script.c_str() + at + begin.size(), "%lf,%lf", &width, &height) != 2)
    return script;
  const std::size_t from = at + begin.size(), to = script.find_first_of(" \n", from);
  return script.replace(
      from, to - from,
      terminal == "pngcairo"
          ? fmt::format("{:.0f},{:.0f} fontscale {} linewidth {} pointscale {}", kPixels * width,
                        kPixels * height, kPixels, kPixels, kPixels)
          : fmt::format("{:.4f}in,{:.4f}in fontscale 1", width / kToAnInch, height / kToAnInch));
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
    write_file(written.back(), run_gnuplot(sized(script(terminal), terminal)));
  }
  return written;
}

std::string curve_block(const std::string& name, const Series& series) {
  std::string text = fmt::format("${} << EOD\n", name);
  const std::size_t stride = series.size() / kPoints + 1;
  for (std::size_t k = 0; k < series.size(); ++k) {
    const auto [x, y] = series[k];
    if (!std::isfinite(y)) {
      text += "\n";
    } else if (k % stride == 0 || k + 1 == series.size()) {
      text += fmt::format("{:.8g} {:.8g}\n", x, y + 0.0);
    }
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

}  // namespace routh::io
