#include "ranks.h"

#include <fmt/format.h>

#include <cstdlib>

#include "routh/io/document.h"

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

}  // namespace

int processes() { return number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1); }
int rank() { return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0); }

void check_processes(const std::string& command) {
  if (processes() < 2) return;
  (void)share_pieces();
  if (command != "map")
    throw io::InputError(fmt::format(
        "{} is not for several processes: each would do all of it; map shares its cells", command));
}

}  // namespace routh::app
