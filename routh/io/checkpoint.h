#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "routh/io/json.h"

/// Long work in pieces that survive the end of the program, however it comes. A folder holds
/// `checkpoint.json`, which says whose pieces these are, and a file for each piece with its
/// checksum. Every file appears whole or not at all.
namespace routh::io {

class Checkpoint {
 public:
  /// Makes the folder, or takes up what is in it. `of` says what the work is: the version of the
  /// program and all that its answer depends on. Throws InputError where the folder holds other
  /// work, naming what differs, or something else altogether.
  Checkpoint(std::string folder, const Json& of);

  /// A piece that is there, or nothing: it was not done, or its file is damaged.
  std::optional<std::string> read(std::uint64_t piece) const;
  /// Throws OutputError.
  void write(std::uint64_t piece, const std::string& content) const;

 private:
  std::string path(std::uint64_t piece) const;
  std::string folder_, key_;
};

}  // namespace routh::io
