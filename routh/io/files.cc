#include "routh/io/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "routh/io/document.h"

namespace routh::io {

namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (fs::is_directory(path) || !in) {
    throw InputError(fmt::format("cannot read '{}': {}", path,
                                 fs::is_directory(path) ? "it is a folder" : std::strerror(errno)));
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_writable_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    throw InputError(fmt::format("cannot make folder '{}': {}", folder,
                                 error ? error.message() : "a file has that name"));
  }
  if (::access(folder.c_str(), W_OK) != 0)
    throw InputError(
        fmt::format("cannot write into folder '{}': {}", folder, std::strerror(errno)));
}

void check_writable(const std::string& path) {
  if (fs::is_directory(path))
    throw InputError(fmt::format("cannot write '{}': it is a folder", path));
  const fs::path folder = fs::path(path).parent_path();
  check_writable_folder(folder.empty() ? "." : folder.string());
}

void write_file(const std::string& path, const std::string& content) {
  check_writable(path);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    out << content;
    out.close();
    if (!out) {
      const std::string why = std::strerror(errno);
      std::remove(temporary.c_str());
      throw InputError(fmt::format("cannot write '{}': {}", path, why));
    }
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    std::remove(temporary.c_str());
    throw InputError(fmt::format("cannot write '{}': {}", path, error.message()));
  }
}

}  // namespace routh::io
