#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

/// Files and folders. What a person names wrongly is an InputError; what the world refuses while
/// writing (a full disk, a reader that left) is an OutputError.
namespace routh::io {

/// Something was not written; the message names it.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Larger files are no scenarios [bytes].
inline constexpr std::size_t kLargestScenario = std::size_t{64} << 20;
/// Throws InputError when it cannot be read, or has more bytes than this.
std::string read_file(const std::string& path, std::size_t most = kLargestScenario);
/// The same from standard input; throws InputError where that is a terminal or empty.
std::string read_standard_input();

/// Regular files appear whole or not at all: a temporary beside them is renamed, with the owner and
/// permissions of the file that was there. Through a link its target is replaced and the link
/// stays; pipes, devices and /dev/stdout are written as they are. Throws OutputError.
void write_file(const std::string& path, const std::string& content);

/// Fails early, before long work, where a file could not be written; its folder must be there.
void check_writable(const std::string& path);
/// Do two names, through links and folders, lead to one file, be it there or not?
bool same_file(const std::string& a, const std::string& b);
/// The same as check_writable() of a folder that may have to be made.
void check_folder(const std::string& folder);
/// Makes a folder and those above it; false where it was there.
bool make_folder(const std::string& folder);

}  // namespace routh::io
