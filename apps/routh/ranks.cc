#include "ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "routh/io/document.h"
#include "routh/version.h"

namespace routh::app {
namespace {

/// The first of these that is set: Open MPI's own, then what Slurm and MPICH say.
int number_in(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* name : variables) {
    const char* text = std::getenv(name);
    char* end = nullptr;
    const long value = text ? std::strtol(text, &end, 10) : -1;
    if (text && end != text && *end == '\0' && value >= 0 && value < 1 << 24)
      return static_cast<int>(value);
  }
  return otherwise;
}

/// The command without what its answer does not depend on, and the file that it reads: what a
/// checkpoint is of.
io::Json work_of(const Session& session, const std::string& scenario) {
  constexpr const char* kElsewhere[] = {"--quiet", "-q", "--threads"};
  std::vector<std::string> words;
  const std::vector<std::string>& given = session.command;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const std::string option = given[k].substr(0, given[k].find('='));
    const bool elsewhere =
        names_output(option) ||
        std::find(std::begin(kElsewhere), std::end(kElsewhere), option) != std::end(kElsewhere);
    if (!elsewhere)
      words.push_back(given[k]);
    else if (option == given[k] && option != "--quiet" && option != "-q")
      ++k;  // its value
  }
  return {{"version", kVersion},
          {"command", words},
          {"scenario", scenario == "-" ? "" : io::scenario_text(scenario)}};
}

}  // namespace

int processes() { return number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1); }
int rank() { return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0); }

void check_processes(const std::string& command) {
  if (processes() < 2) return;
  (void)share_pieces();
  constexpr std::array kShared{"map", "ensemble", "impact"};
  if (std::find(kShared.begin(), kShared.end(), command) == kShared.end())
    throw io::InputError(fmt::format(
        "{} is not for several processes: each would do all of it; map shares its cells, ensemble "
        "its runs, impact --law set its samples",
        command));
}

void Sharing::add_to(CLI::App& command, Session& session) {
  session_ = &session;
  constexpr const char* kAbout =
      "keep what is done in this folder: the same command goes on there, whatever ended it";
  // of a command that is run again files stay unknown
  (session.again ? command.add_option_function<std::string>(
                       "--checkpoint", [](const std::string&) {}, kAbout)
                 : command.add_option("--checkpoint", folder_, kAbout))
      ->type_name("FOLDER")
      ->group(kResults);
}

io::PieceRun Sharing::begin(const std::string& scenario) {
  io::PieceRun run{.share = share_pieces()};
  if (folder_.empty() || helps()) return run;
  checkpoint_.emplace(folder_, work_of(*session_, scenario));
  run.checkpoint = &*checkpoint_;
  return run;
}

}  // namespace routh::app
