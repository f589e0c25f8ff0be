#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.h"
#include "output.h"
#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/text.h"
#include "routh/version.h"
#include "terminal.h"

/// Results repeat themselves: the command that a JSON file names is run again, its answer goes
/// nowhere but into a comparison. A file is input like any other and may say anything.
namespace routh::app {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr int kDeepest = 32;  // of brackets in brackets
constexpr std::size_t kMostArguments = 1000, kLongestArgument = 1 << 16, kDifferencesShown = 12;

struct RerunArguments {
  std::string file;
  double tolerance = 0;
  Places places;
};

/// The result of a file, and the command it stores. Throws InputError naming the file.
struct Stored {
  io::Json result;
  std::vector<std::string> command;
};

Stored read_stored(const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw io::InputError(fmt::format("rerun {}: {}", file, why));
  };
  const std::string text = io::read_file(file == "-" ? "/dev/stdin" : file, kMostBytes);
  Stored stored;
  try {
    stored.result = io::Json::parse(text, [&](int depth, io::Json::parse_event_t, io::Json&) {
      if (depth > kDeepest) refuse(fmt::format("has more than {} brackets in brackets", kDeepest));
      return true;
    });
  } catch (const io::Json::exception& e) {
    refuse(fmt::format("is not JSON: {}", e.what()));
  }
  const io::Json& j = stored.result;
  if (!j.is_object() || !j.contains("schema"))
    refuse("is no result of routh: it has no schema at its top");
  if (!j.contains("command"))
    refuse("has no command at its top, so it cannot be run again; results of Python have none");
  if (!j["schema"].is_number_integer() || j["schema"] < 1)
    refuse("schema must be a whole number above zero");
  if (j["schema"] > io::kSchema)
    refuse(fmt::format("has schema {}, this is routh {} with schema {}; take a newer routh",
                       j["schema"].dump(), kVersion, io::kSchema));

  if (!j["command"].is_array()) refuse("command must be a list of words");
  if (j["command"].size() > kMostArguments)
    refuse(fmt::format("command has more than {} words", kMostArguments));
  for (const io::Json& word : j["command"]) {
    if (!word.is_string()) refuse("command must be a list of words");
    stored.command.push_back(word.get<std::string>());
    const std::string& last = stored.command.back();
    if (last.size() > kLongestArgument || last.find('\0') != std::string::npos)
      refuse("command has a word that is none");
  }
  if (stored.command.size() < 2 || stored.command[0] != "routh")
    refuse("command must begin with \"routh\" and one of its commands");
  return stored;
}

/// Runs it and returns its JSON. The files it names stay unknown to it (Places::add_to).
io::Json run_again(const std::string& file, const std::vector<std::string>& command) {
  const auto refuse = [&](const std::string& why) {
    throw io::InputError(fmt::format("rerun {}: command: {}", file, why));
  };
  std::string answer;
  Session session{.command = command, .quiet = true, .again = &answer};
  CLI::App app;
  define(app, session);
  const std::vector<CLI::App*> commands = app.get_subcommands({});
  if (std::none_of(commands.begin(), commands.end(), [&](const CLI::App* c) {
        return c->get_name() == command[1] && c->get_option_no_throw("--json");
      }))
    refuse(fmt::format("'{}' is no command that writes JSON", command[1]));
  try {
    obey(app, session);
  } catch (const CLI::ParseError& e) {
    refuse(e.get_exit_code() == 0 ? "it asks for help" : e.what());
  } catch (const io::InputError& e) {
    refuse(e.what());
  } catch (const std::invalid_argument& e) {
    refuse(e.what());
  }
  if (answer.empty()) throw std::runtime_error("rerun: the command gave no answer");
  return io::Json::parse(answer);
}

/// Answers beside each other: which differ, and where.
class Comparison {
 public:
  Comparison(double tolerance, bool same_version)
      : tolerance_(tolerance), same_version_(same_version) {}

  void compare(const std::string& path, const io::Json& was, const io::Json& is) {
    if (was.is_object() && is.is_object()) {
      for (const auto& [key, value] : was.items()) {
        if (about_the_run(path, key)) continue;
        if (is.contains(key))
          compare(path + "." + key, value, is[key]);
        else
          differ(path + "." + key, shortly(value), "missing");
      }
      // a newer version may say more
      for (const auto& [key, value] : is.items()) {
        if (same_version_ && !was.contains(key) && !about_the_run(path, key))
          differ(path + "." + key, "missing", shortly(value));
      }
    } else if (was.is_array() && is.is_array() && was.size() == is.size()) {
      for (std::size_t i = 0; i < was.size(); ++i)
        compare(fmt::format("{}[{}]", path, i), was[i], is[i]);
    } else {
      ++compared_;
      if (!same(was, is)) differ(path, shortly(was), shortly(is));
    }
  }

  bool same() const { return differences_ == 0; }
  bool nothing() const { return compared_ == 0 && differences_ == 0; }
  std::string text() const {
    if (same()) return fmt::format("{}: {} values\n", toned(Tone::kGood, "the same"), compared_);
    std::string text =
        fmt::format("{} in {} of {} values; stored, then now\n", toned(Tone::kBad, "different"),
                    differences_, std::max(compared_, differences_)) +
        shown_;
    if (differences_ > kDifferencesShown)
      text += fmt::format("    .. {} more\n", differences_ - kDifferencesShown);
    if (largest_ > 0)
      text += fmt::format("numbers differ by up to {:.1e}; --tolerance lets them\n", largest_);
    return text;
  }

 private:
  /// Times, rates, threads and what the top says of the program are no part of the answer.
  static bool about_the_run(const std::string& path, const std::string& key) {
    if (path == "$")
      return key == "schema" || key == "version" || key == "command" || key == "features" ||
             key.starts_with("device");
    if (path == "$.options") return key == "threads";
    return path.starts_with("$.summary") &&
           (key.starts_with("device") || key == "seconds" || key.ends_with("_per_second"));
  }

  bool same(const io::Json& was, const io::Json& is) {
    if (!was.is_number() || !is.is_number()) return was == is;
    if (was == is) return true;
    const double a = was.get<double>(), b = is.get<double>();
    const double apart = std::abs(a - b) / std::max({1.0, std::abs(a), std::abs(b)});
    if (apart <= tolerance_) return true;
    largest_ = std::max(largest_, apart);
    return false;
  }

  void differ(const std::string& path, const std::string& was, const std::string& is) {
    if (differences_++ < kDifferencesShown)
      shown_ += fmt::format("    {}: {} -> {}\n", io::without_controls(path), was, is);
  }

  static std::string shortly(const io::Json& value) {
    if (value.is_array()) return fmt::format("{} entries", value.size());
    if (value.is_object()) return "an object";
    const std::string text = io::without_controls(io::json_text(value));
    return text.size() > 60 ? io::valid_utf8(text.substr(0, 57)) + ".." : text;
  }

  double tolerance_;
  bool same_version_;
  std::size_t compared_ = 0, differences_ = 0;
  double largest_ = 0;
  std::string shown_;
};

int run_rerun(const RerunArguments& a) {
  const Stored stored = read_stored(a.file);
  const io::Json version = stored.result.value("version", io::Json());
  if (version != kVersion)
    warn(fmt::format("routh: it was made by version {}, this is {}\n", io::json_text(version),
                     kVersion));
  const io::Json now = run_again(a.file, stored.command);
  if (interrupted()) {
    warn("routh: stopped: not compared\n");
    return kUnfinished;
  }
  Comparison comparison(a.tolerance, version == kVersion);
  comparison.compare("$", stored.result, now);
  if (comparison.nothing())
    throw io::InputError(fmt::format("{}: has no answer to compare with", a.file));
  if (!a.places.quiet()) fmt::print("{}", comparison.text());
  return comparison.same() ? kDone : kUnfinished;
}

}  // namespace

void add_rerun(CLI::App& app, Session& session) {
  auto a = std::make_shared<RerunArguments>();
  CLI::App* c = app.add_subcommand(
      "rerun", "run the command of a JSON result again: 0 when the answer is the same, 3 when not");
  c->add_option("result", a->file, "what --json wrote; - is standard input")
      ->type_name("FILE")
      ->required();
  c->add_option(
       "--tolerance", a->tolerance,
       "numbers may differ by this, relative to the larger of them and 1; other processors "
       "round differently")
      ->check(not_negative("a number"))
      ->capture_default_str();
  a->places.add_to(*c, session, {});
  c->callback([a, &session] { session.code = run_rerun(*a); });
}

}  // namespace routh::app
