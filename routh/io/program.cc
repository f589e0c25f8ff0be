#include "routh/io/program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "routh/io/document.h"
#include "routh/io/files.h"

extern char** environ;

namespace routh::io {
namespace {

/// A file in memory, gone with the object.
class Memory {
 public:
  Memory() : fd_(::memfd_create("routh", MFD_CLOEXEC)) {
    if (fd_ < 0) throw OutputError(fmt::format("cannot run a program: {}", std::strerror(errno)));
  }
  Memory(const Memory&) = delete;
  ~Memory() { ::close(fd_); }

  int fd() const { return fd_; }
  void fill(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = ::write(fd_, text.data() + at, text.size() - at);
      if (n < 0) throw OutputError(fmt::format("cannot run a program: {}", std::strerror(errno)));
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

/// Exit status of the program, or -1 when there is none to run.
int spawn(const std::string& program, std::vector<std::string> words, int in, int out, int log) {
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

  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, program.c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void require_program(const std::string& program, const std::string& what,
                     const std::string& package) {
  const char* path = std::getenv("PATH");
  const std::string folders = path ? path : "/usr/bin:/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const auto candidate = std::filesystem::path(folders.substr(at, end - at)) / program;
    if (::access(candidate.c_str(), X_OK) == 0) return;
    at = end + 1;
  }
  throw InputError(fmt::format("{} need {}, which is not installed: apt-get install {}", what,
                               program, package));
}

std::string run_program(const std::string& program, std::vector<std::string> arguments,
                        const std::string& input) {
  const Memory in, out, log;
  in.fill(input);
  if (spawn(program, std::move(arguments), in.fd(), out.fd(), log.fd()) != 0)
    throw std::runtime_error(program + " failed: " + log.content());
  return out.content();
}

}  // namespace routh::io
