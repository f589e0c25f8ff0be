#pragma once

#include <string>

namespace routh::io {

/// A file that comes in parts and appears whole or not at all, as of write_file(). Without finish()
/// nothing is left behind.
class FileWriter {
 public:
  /// Throws OutputError, as all of them do; "-" is standard output.
  explicit FileWriter(std::string path);
  FileWriter(const FileWriter&) = delete;
  ~FileWriter();

  void append(const std::string& text);
  void finish();
  /// Standard output, a pipe or a device: written as it is.
  static bool to_device(const std::string& path);
  /// For libraries that open files by name: where it is written. Empty for devices.
  const std::string& temporary() const { return temporary_; }

 private:
  std::string path_, target_, temporary_;
  int fd_ = -1;
  bool own_ = true;  // the descriptor
};

/// What the folder of a file still holds [bytes]; infinite where that is not known, and for what is
/// no regular file.
double room_for(const std::string& path);

}  // namespace routh::io
