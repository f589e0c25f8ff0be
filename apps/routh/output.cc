#include "output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/gnuplot.h"
#include "routh/io/motion.h"
#include "routh/io/text.h"

namespace routh::app {

void Places::add_to(CLI::App& to, Session& of, const std::vector<Wish>& wishes) {
  command = &to;
  session = &of;
  if (of.again) json = "-";
  for (const Wish& wish : wishes) {
    const std::string option = wish.option;
    std::string& path = option == "--json"    ? json
                        : option == "--csv"   ? csv
                        : option == "--plot"  ? plot
                        : option == "--modes" ? modes
                                              : animate;
    const auto take = [&path, option, again = of.again](const std::string& given) {
      // CLI11 lets it pass where an option may stand alone
      if (given.empty()) throw CLI::ValidationError(option, "must not be empty");
      if (!again) path = given;
    };
    CLI::Option* added = to.add_option_function<std::string>(option, take, wish.about);
    added->type_name(option == "--plot" ? "FOLDER" : "FILE")->group(kResults);
    // without a file: standard output
    if (option == "--json") added->expected(0, 1)->default_str("-");
  }
  to.add_flag("--quiet,-q", of.quiet, "nothing on the screen but warnings and what - asks for")
      ->group(kResults);
}

void Places::check(bool in_space) const {
  const auto in_words = [](const std::string& path) { return path == "-" ? "/dev/stdout" : path; };
  const std::vector<std::pair<std::string, std::string>> files{
      {"--json", json}, {"--csv", csv}, {"--animate", animate}, {"--modes", modes}};
  std::error_code missing;  // a name that is no file
  for (std::size_t k = 0; k < files.size(); ++k) {
    const auto& [option, path] = files[k];
    if (path.empty()) continue;
    if (path != "-") io::check_writable(path);
    // what the command reads is not to be lost in what it writes
    for (const CLI::Option* read : command->get_options()) {
      if (!read->get_positional() && read->get_name() != "--scenario") continue;
      for (const std::string& input : read->results()) {
        if (path != "-" && std::filesystem::is_regular_file(input, missing) &&
            io::same_file(input, path))
          throw io::InputError(
              fmt::format("{} names {}, which the command reads; results need a file of their own",
                          option, input));
      }
    }
    for (std::size_t i = 0; i < k; ++i) {
      if (!files[i].second.empty() && io::same_file(in_words(files[i].second), in_words(path)))
        throw io::InputError(
            fmt::format("{} and {} name the same file; they need two", files[i].first, option));
    }
  }
  if (!animate.empty()) io::check_animation(animate, in_space);
  if (!modes.empty() && !modes.ends_with(".svg"))
    throw io::InputError(fmt::format("--modes {}: the graph is an image; name it .svg", modes));
  if (!plot.empty()) {
    for (const auto& [option, path] : files) {
      if (!path.empty() && path != "-" && io::same_file(path, plot))
        throw io::InputError(
            fmt::format("{} and --plot name the same place; figures need a folder", option));
    }
    io::require_gnuplot();
    io::check_folder(plot);
  }
}

void Places::show(const std::string& text, io::Json result, int indent) const {
  if (!quiet()) fmt::print("{}", text);
  if (json.empty()) return;
  io::Json options = result.value("options", io::Json::object());
  result.erase("options");
  write(json, with_top(std::move(options), io::json_text(result, indent)) + "\n");
}

std::string Places::with_top(io::Json options, const std::string& result) const {
  const bool lines = result.size() > 1 && result[1] == '\n';
  std::string text = io::json_text(top(*session, *command, std::move(options)), lines ? 2 : -1);
  text.resize(text.size() - (lines ? 2 : 1));  // its end goes on with the result
  return text + "," + result.substr(1);
}

void Places::write(const std::string& path, const std::string& content) const {
  if (session->again) {
    *session->again = content;
  } else if (path == "-") {
    fmt::print("{}", content);
  } else {
    io::write_file(path, content);
    announce({path});
  }
}

void Places::announce(const std::vector<std::string>& written) const {
  for (const std::string& path : written) tell(fmt::format("wrote {}\n", path));
}

void Places::make_folder() const {
  if (io::make_folder(plot)) tell(fmt::format("made folder {}\n", plot));
}

void Places::tell(const std::string& line) const {
  if (session->quiet) return;
  if (quiet())
    warn(line);
  else
    fmt::print("{}", line);
}

namespace {

/// NO_COLOR: https://no-color.org.
bool coloured(int fd) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  return ::isatty(fd) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string with_colour(Tone tone, const std::string& words) {
  constexpr const char* kCodes[] = {"1", "1;32", "1;31", "1;33"};
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<int>(tone)], words);
}

}  // namespace

std::string toned(Tone tone, const std::string& words) {
  return coloured(STDOUT_FILENO) ? with_colour(tone, words) : words;
}

std::string figure_name(const std::string& scenario) {
  if (scenario == "-") return "stdin";
  const std::filesystem::path path = std::filesystem::path(scenario).lexically_normal();
  if (!path.has_parent_path()) return path.stem().string();
  const std::string folder =
      std::filesystem::absolute(path).lexically_normal().parent_path().filename().string();
  return folder.empty() ? path.stem().string() : folder + "-" + path.stem().string();
}

void warn(const std::string& text) {
  const bool colour = coloured(STDERR_FILENO);
  std::string line;
  for (std::istringstream lines(text); std::getline(lines, line);) {
    line = io::valid_utf8(io::without_controls(line)) + "\n";
    for (const auto& [start, tone] :
         {std::pair{"routh: warning:", Tone::kWarning}, std::pair{"routh:", Tone::kBad}}) {
      if (!colour || !line.starts_with(start)) continue;
      line = with_colour(tone, start) + line.substr(std::strlen(start));
      break;
    }
    std::fputs(line.c_str(), stderr);
  }
}

void prepare_standard_files() {
  // opened for reading: what is written there fails instead of vanishing
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) return;
  }
  std::signal(SIGPIPE, SIG_IGN);
}

bool all_shown() {
  const int error = std::fflush(stdout) == 0 ? 0 : errno;
  if (error == 0 && !std::ferror(stdout) && std::cout.flush()) return true;
  if (error != EPIPE)
    warn(fmt::format("routh: cannot write to standard output{}{}\n", error ? ": " : "",
                     error ? std::strerror(error) : ""));
  return false;
}

}  // namespace routh::app
