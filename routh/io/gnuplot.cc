#include "routh/io/gnuplot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "routh/io/document.h"
#include "routh/io/files.h"

namespace routh::io {

void require_gnuplot() {
  if (std::system("command -v gnuplot > /dev/null 2>&1") != 0)
    throw InputError("figures need gnuplot, which is not installed: apt-get install gnuplot-nox");
}

void run_gnuplot(const std::string& script) {
  const std::string base =
      (std::filesystem::temp_directory_path() / fmt::format("routh-{}", ::getpid())).string();
  write_file(base + ".gp", script);
  const int status = std::system(fmt::format("gnuplot '{0}.gp' > '{0}.log' 2>&1", base).c_str());
  const std::string log = read_file(base + ".log");
  std::filesystem::remove(base + ".gp");
  std::filesystem::remove(base + ".log");
  if (status != 0) throw std::runtime_error("gnuplot failed: " + log);
}

std::vector<std::string> render(
    const std::string& folder, const std::string& name,
    const std::function<std::string(const std::string& terminal, const std::string& output)>&
        script) {
  require_gnuplot();
  check_writable_folder(folder);
  std::vector<std::string> written;
  for (const auto& [ending, terminal] : {std::pair{"png", "pngcairo"}, {"svg", "svg"}}) {
    const std::string path = (std::filesystem::path(folder) / (name + "." + ending)).string();
    const std::string temporary = path + ".tmp";
    run_gnuplot(script(terminal, temporary));
    std::filesystem::rename(temporary, path);
    written.push_back(path);
  }
  return written;
}

double tick(double low, double high) {
  const double rough = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  return power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
}

}  // namespace routh::io
