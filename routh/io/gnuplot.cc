#include "routh/io/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/text.h"

extern char** environ;

namespace routh::io {
namespace {

constexpr std::size_t kPoints = 4000;  // of one curve

/// A file in memory, gone with the object.
class Memory {
 public:
  Memory() : fd_(::memfd_create("routh", MFD_CLOEXEC)) {
    if (fd_ < 0) throw OutputError(fmt::format("cannot draw: {}", std::strerror(errno)));
  }
  Memory(const Memory&) = delete;
  ~Memory() { ::close(fd_); }

  int fd() const { return fd_; }
  void fill(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = ::write(fd_, text.data() + at, text.size() - at);
      if (n < 0) throw OutputError(fmt::format("cannot draw: {}", std::strerror(errno)));
      at += static_cast<std::size_t>(n);
    }
    ::lseek(fd_, 0, SEEK_SET);
  }
  std::string content() const {
    std::string text;
    ::lseek(fd_, 0, SEEK_SET);
    std::array<char, 1 << 16> buffer;
    for (ssize_t n = 0; (n = ::read(fd_, buffer.data(), buffer.size())) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(n));
    return text;
  }

 private:
  int fd_;
};

/// Exit status of gnuplot, or -1 when there is none to run. It reads no settings of the user's.
int spawn_gnuplot(int in, int out, int log) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, log, STDERR_FILENO);
  // signals that we ignore are none of its business
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  // by name, for a script on its terminal it reads byte by byte
  std::string program = "gnuplot", plainly = "-d", script = "/dev/stdin";
  char* arguments[] = {program.data(), plainly.data(), script.data(), nullptr};
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

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

void require_gnuplot() {
  const char* path = std::getenv("PATH");
  const std::string folders = path ? path : "/usr/bin:/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const auto program = std::filesystem::path(folders.substr(at, end - at)) / "gnuplot";
    if (::access(program.c_str(), X_OK) == 0) return;
    at = end + 1;
  }
  throw InputError("figures need gnuplot, which is not installed: apt-get install gnuplot-nox");
}

std::string run_gnuplot(const std::string& script) {
  const Memory in, out, log;
  in.fill(script);
  if (spawn_gnuplot(in.fd(), out.fd(), log.fd()) != 0)
    throw std::runtime_error("gnuplot failed: " + log.content());
  return out.content();
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
