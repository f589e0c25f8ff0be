#pragma once

#include <string>
#include <vector>

#include "routh/io/json.h"

/// Where results go: the screen, files and figures. Every file is announced, on standard error
/// where standard output carries JSON or a table.
namespace routh::app {

/// Files that a command was asked for.
struct Places {
  std::string json, csv, plot, animate;

  /// Standard output carries JSON or a table, and nothing else.
  bool quiet() const { return json == "-" || csv == "-"; }
  /// Everything that can be wrong is found before the work begins.
  void check() const;

  /// JSON or the text for people on the screen, and JSON into its file.
  void show(const std::string& text, const io::Json& result, int indent = -1) const;
  /// Into a file, or to standard output with "-".
  void write(const std::string& path, const std::string& content) const;
  void announce(const std::vector<std::string>& written) const;
  /// The folder of figures, made and said where it is missing.
  void make_folder() const;
};

/// On standard error, whatever would steer a terminal made harmless. Nobody is there to tell where
/// that fails.
void warn(const std::string& text);

/// Descriptors that nobody opened must not become those of files; a reader that leaves is a failed
/// write instead of the end.
void prepare_standard_files();
/// Has all that was shown arrived? Says so where not, except to a reader that left.
bool all_shown();

}  // namespace routh::app
