#include "routh/io/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "routh/io/document.h"
#include "routh/io/file_writer.h"

namespace routh::io {
namespace {

namespace fs = std::filesystem;

constexpr int kLinks = 40;  // followed, as the kernel does

/// Closes itself; close() says whether what was written has arrived.
struct Descriptor {
  int fd;
  explicit Descriptor(int number) : fd(number) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  bool close() { return ::close(std::exchange(fd, -1)) == 0; }
};

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  throw OutputError(fmt::format("cannot write '{}': {}", path, std::strerror(error)));
}

bool write_all(int fd, const std::string& content) {
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t n = ::write(fd, content.data() + at, content.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

/// "/dev/stdout", "/dev/fd/3": a descriptor that is open already. Opened by its name it would be
/// written from its beginning again.
std::optional<int> open_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string digits = path.rfind(folder, 0) == 0 ? path.substr(folder.size()) : "";
    if (!digits.empty() && digits.size() < 6 &&
        std::all_of(digits.begin(), digits.end(), ::isdigit))
      return std::stoi(digits);
  }
  return {};
}

/// Where links lead, one after the other; the last need not exist.
std::string follow_links(std::string path) {
  std::error_code error;
  for (int k = 0; k < kLinks && !open_descriptor(path) && fs::is_symlink(path, error); ++k) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = (fs::path(path).parent_path() / target).string();
  }
  return path;
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// All that a descriptor gives; `name` stands for it in messages.
std::string read_all(int fd, const std::string& name, std::size_t most) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("cannot read {}: {}", name, why));
  };
  if (fd < 0) refuse(std::strerror(errno));
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const ssize_t n = ::read(fd, buffer.data(), buffer.size())) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(errno == EISDIR ? "it is a folder" : std::strerror(errno));
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > most) refuse(fmt::format("it has more than {} MiB", most >> 20));
  }
  return text;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t most) {
  const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return read_all(in.fd, fmt::format("'{}'", path), most);
}

std::string read_standard_input() {
  if (::isatty(STDIN_FILENO))
    throw InputError(
        "standard input is a terminal: send a scenario there (routh impact - < FILE), or name a "
        "file instead of -");
  const std::string text = read_all(STDIN_FILENO, "standard input", kLargestScenario);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError("standard input is empty: send a scenario there, or name a file instead of -");
  return text;
}

void check_folder(const std::string& folder) {
  // the nearest that is there
  std::error_code error;
  fs::path there = folder;
  while (!there.empty() && !fs::exists(fs::status(there, error))) there = there.parent_path();
  const std::string name = there.empty() ? "." : there.string();
  if (!fs::is_directory(name, error))
    throw InputError(
        fmt::format("cannot make folder '{}': '{}' is a file, not a folder", folder, name));
  if (::access(name.c_str(), W_OK | X_OK) != 0)
    throw InputError(fmt::format("cannot write into folder '{}': {}", name, std::strerror(errno)));
}

bool make_folder(const std::string& folder) {
  check_folder(folder);
  std::error_code error;
  if (fs::is_directory(folder, error)) return false;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder))
    throw OutputError(fmt::format("cannot make folder '{}': {}", folder, error.message()));
  return true;
}

void check_writable(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("cannot write '{}': {}", path, why));
  };
  const std::string target = follow_links(path);
  if (open_descriptor(target)) return;
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  // links in a circle, names too long, folders that may not be entered
  if (!fs::status_known(status)) refuse(error.message());
  if (fs::is_directory(status)) refuse("it is a folder");
  if (fs::exists(status) && ::access(target.c_str(), W_OK) != 0) refuse(std::strerror(errno));
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  const std::string folder = folder_of(target);
  const fs::file_status above = fs::status(folder, error);
  if (!fs::exists(above)) refuse(fmt::format("there is no folder '{}'; make it first", folder));
  if (!fs::is_directory(above)) refuse(fmt::format("'{}' is a file, not a folder", folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(fmt::format("folder '{}': {}", folder, std::strerror(errno)));
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto place = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(follow_links(path), error), error);
  };
  return a == b || place(a) == place(b) ||
         (fs::is_regular_file(a, error) && fs::equivalent(a, b, error));
}

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  if (path_ == "-") path_ = "/dev/stdout";
  check_writable(path_);
  target_ = follow_links(path_);
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  if (const std::optional<int> open = open_descriptor(target_)) {
    std::fflush(nullptr);  // what the screen was shown comes first
    fd_ = *open;
    own_ = false;
    return;
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail_to_write(path_, errno);
    return;
  }
  static int count = 0;
  temporary_ = (fs::path(folder_of(target_)) / fmt::format(".routh-{}-{}.tmp", ::getpid(), count++))
                   .string();
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    temporary_.clear();
    fail_to_write(path_, errno);
  }
  // whose it was and who may read it; only root can give files away
  struct stat before;
  if (::stat(target_.c_str(), &before) == 0) {
    [[maybe_unused]] const int given = ::fchown(fd_, before.st_uid, before.st_gid);
    ::fchmod(fd_, before.st_mode & 07777);
  }
}

FileWriter::~FileWriter() {
  if (own_ && fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileWriter::append(const std::string& text) {
  if (!write_all(fd_, text)) fail_to_write(path_, errno);
}

void FileWriter::finish() {
  if (own_ && ::close(std::exchange(fd_, -1)) != 0) fail_to_write(path_, errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_to_write(path_, errno);
  temporary_.clear();
}

void write_file(const std::string& path, const std::string& content) {
  FileWriter file(path);
  file.append(content);
  file.finish();
}

bool FileWriter::to_device(const std::string& path) {
  std::error_code error;
  const std::string target = path == "-" ? "/dev/stdout" : follow_links(path);
  const fs::file_status status = fs::status(target, error);
  return open_descriptor(target) || (fs::exists(status) && !fs::is_regular_file(status));
}

double room_for(const std::string& path) {
  if (FileWriter::to_device(path)) return HUGE_VAL;
  std::error_code error;
  const fs::space_info space = fs::space(folder_of(follow_links(path)), error);
  return error ? HUGE_VAL : static_cast<double>(space.available);
}

}  // namespace routh::io
