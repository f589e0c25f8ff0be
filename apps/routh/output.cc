#include "output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/gnuplot.h"
#include "routh/io/text.h"

namespace routh::app {

void Places::check() const {
  const std::string file = quiet() ? "" : json;
  for (const std::string& path : {file, csv, animate}) {
    if (!path.empty()) io::check_writable(path);
  }
  std::error_code error;
  const auto same = [&](const std::string& a, const std::string& b) {
    return !a.empty() && (a == b || (std::filesystem::is_regular_file(a, error) &&
                                     std::filesystem::equivalent(a, b, error)));
  };
  if (same(file, csv)) throw io::InputError("--json and --csv name the same file");
  if (!animate.empty()) {
    const std::string ending = std::filesystem::path(animate).extension().string();
    if (ending != ".svg" && ending != ".gif")
      throw io::InputError(fmt::format("--animate {}: the name must end in .svg or .gif", animate));
    if (ending == ".gif") io::require_gnuplot();
  }
  if (!plot.empty()) {
    io::require_gnuplot();
    io::check_folder(plot);
  }
}

void Places::show(const std::string& text, const io::Json& result, int indent) const {
  const std::string as_json = json.empty() ? "" : io::json_text(result, indent) + "\n";
  fmt::print("{}", quiet() ? as_json : text);
  if (!quiet() && !json.empty()) write(json, as_json);
}

void Places::write(const std::string& path, const std::string& content) const {
  io::write_file(path, content);
  announce({path});
}

void Places::announce(const std::vector<std::string>& written) const {
  for (const std::string& path : written) {
    const std::string line = fmt::format("wrote {}\n", path);
    if (quiet())
      warn(line);
    else
      fmt::print("{}", line);
  }
}

void Places::make_folder() const {
  if (!io::make_folder(plot)) return;
  const std::string line = fmt::format("made folder {}\n", plot);
  if (quiet())
    warn(line);
  else
    fmt::print("{}", line);
}

void warn(const std::string& text) { std::fputs(text.c_str(), stderr); }

void prepare_standard_files() {
  // opened for reading: what is written there fails instead of vanishing
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) return;
  }
  std::signal(SIGPIPE, SIG_IGN);
}

bool all_shown() {
  const int error = std::fflush(stdout) == 0 ? 0 : errno;
  if (error == 0 && !std::ferror(stdout) && std::cout.flush()) return true;
  if (error != EPIPE)
    warn(fmt::format("routh: cannot write to standard output{}{}\n", error ? ": " : "",
                     error ? std::strerror(error) : ""));
  return false;
}

}  // namespace routh::app
