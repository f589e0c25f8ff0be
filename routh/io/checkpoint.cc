#include "routh/io/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargest = std::size_t{1} << 31;  // of a piece [bytes]

/// FNV-1a, 64 bits: finds torn and mixed files; it is no protection from people.
std::string checksum(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

std::string head_of(const std::string& key, std::uint64_t piece, const std::string& content) {
  return fmt::format("routh checkpoint {} {} {}\n", key, piece, checksum(content));
}

}  // namespace

Checkpoint::Checkpoint(std::string folder, const Json& of) : folder_(std::move(folder)) {
  const std::string text = json_text(of, 2) + "\n";
  key_ = checksum(text);
  check_folder(folder_);
  make_folder(folder_);
  const std::string manifest = (fs::path(folder_) / "checkpoint.json").string();
  if (!fs::exists(manifest)) {
    if (!fs::is_empty(folder_))
      throw InputError(fmt::format(
          "--checkpoint {}: the folder holds something else; name an empty or a new one", folder_));
    write_file(manifest, text);
    return;
  }
  const std::string there = read_file(manifest);
  if (there == text) return;
  const Json other = Json::parse(there, nullptr, false);
  std::string differs;
  if (other.is_object()) {
    for (const auto& [key, value] : of.items()) {
      if (!other.contains(key) || other[key] != value)
        differs += (differs.empty() ? "" : ", ") + key;
    }
  }
  throw InputError(fmt::format(
      "--checkpoint {}: it is of another command ({}); give that command again, or name another "
      "folder",
      folder_, differs.empty() ? "its checkpoint.json is not readable" : "differs: " + differs));
}

std::string Checkpoint::path(std::uint64_t piece) const {
  return (fs::path(folder_) / fmt::format("{:010}.part", piece)).string();
}

std::optional<std::string> Checkpoint::read(std::uint64_t piece) const {
  const std::string file = path(piece);
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const std::string text = read_file(file, kLargest);
  const std::size_t end = text.find('\n');
  if (end == text.npos) return {};
  std::string content = text.substr(end + 1);
  if (text.substr(0, end + 1) != head_of(key_, piece, content)) return {};
  return content;
}

void Checkpoint::write(std::uint64_t piece, const std::string& content) const {
  try {
    write_file(path(piece), head_of(key_, piece, content) + content);
  } catch (const InputError& e) {
    throw OutputError(e.what());  // the folder was there in the beginning
  }
}

}  // namespace routh::io
