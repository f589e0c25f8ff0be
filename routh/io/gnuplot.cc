#include "routh/io/gnuplot.h"

#include <fmt/format.h>

#include <cmath>
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

std::vector<std::string> render(
    const std::string& folder, const std::string& name,
    const std::function<std::string(const std::string& terminal)>& script) {
  require_gnuplot();
  make_folder(folder);
  std::vector<std::string> written;
  for (const auto& [ending, terminal] : {std::pair{"png", "pngcairo"}, {"svg", "svg"}}) {
    written.push_back((std::filesystem::path(folder) / (name + "." + ending)).string());
    write_file(written.back(), run_gnuplot(script(terminal)));
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
