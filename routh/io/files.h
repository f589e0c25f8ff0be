#pragma once

#include <string>

namespace routh::io {

std::string read_file(const std::string& path);

/// Writes to a temporary name in the same folder and renames: readers see the whole file or none.
/// Missing folders are made. Throws InputError naming the path.
void write_file(const std::string& path, const std::string& content);

/// Fails early, before long work, when a file could not be written there.
void check_writable(const std::string& path);
void check_writable_folder(const std::string& folder);

}  // namespace routh::io
