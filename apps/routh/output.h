#pragma once

#include <string>
#include <vector>

#include "session.h"

/// Where results go: the screen, files and figures. Every file is announced, on standard error
/// where standard output carries JSON or a table.
namespace routh::app {

/// Files that a command was asked for, and whether the screen is wanted.
struct Places {
  std::string json, csv, plot, animate, modes;
  Session* session = nullptr;
  const CLI::App* command = nullptr;  ///< whose options these are

  /// An option that says where results go, with what goes there.
  struct Wish {
    const char *option, *about;
  };
  /// These options and --quiet. Of a command that is run again the files stay unknown.
  void add_to(CLI::App& command, Session& session, const std::vector<Wish>& wishes);

  /// Nothing for people on standard output: it carries JSON or a table, or is not wanted.
  bool quiet() const { return session->quiet || json == "-" || csv == "-"; }
  /// Everything that can be wrong is found before the work begins.
  void check(bool in_space = false) const;

  /// JSON or the text for people on the screen, and JSON into its file. The options of a result
  /// move to its top.
  void show(const std::string& text, io::Json result, int indent = -1) const;
  /// The same for an object that is text already.
  std::string with_top(io::Json options, const std::string& result) const;
  /// Into a file, or to standard output with "-".
  void write(const std::string& path, const std::string& content) const;
  void announce(const std::vector<std::string>& written) const;
  /// The folder of figures, made and said where it is missing.
  void make_folder() const;

 private:
  void tell(const std::string& line) const;
};

/// Words that stand out on a terminal; anywhere else, and with NO_COLOR, they are as they were.
enum class Tone { kTitle, kGood, kBad, kWarning };
std::string toned(Tone tone, const std::string& words);

/// How files of figures begin: the scenario's name, for files with that of their folder, because
/// every robot has a scene.xml.
std::string figure_name(const std::string& scenario);

/// On standard error, whatever would steer a terminal made harmless. Nobody is there to tell where
/// that fails.
void warn(const std::string& text);

/// Descriptors that nobody opened must not become those of files; a reader that leaves is a failed
/// write instead of the end.
void prepare_standard_files();
/// Has all that was shown arrived? Says so where not, except to a reader that left.
bool all_shown();

}  // namespace routh::app
