#pragma once

#include <optional>

#include "commands.h"
#include "routh/io/pieces.h"

/// Several processes that do one command's work, as MPI's launchers start them. An optional
/// component: ranks_mpi.cc, or ranks_alone.cc where it is left out.
namespace routh::app {

/// How many processes a launcher started, and which of them this is; 1 and 0 without one. From the
/// environment, which says it before MPI begins.
int processes();
int rank();

/// The same for all commands: throws InputError where several processes would each do all of it.
void check_processes(const std::string& command);

/// How the processes share pieces; none: there is only this one. The first hands them out by number
/// and takes what comes back, the others do the work; what comes out has the same bits for any
/// number of them. Ends MPI: it is to be called once. Throws InputError where MPI was left out.
io::SharePieces share_pieces();
inline constexpr const char* kProcessesMissing =
    "several processes need MPI, which this program was built without: make mpi, or start it "
    "without mpirun";

/// A process that cannot go on takes the others with it, as they would wait for it.
void end_processes(int code);

/// Work that several processes may share and that a folder may keep: --checkpoint.
class Sharing {
 public:
  void add_to(CLI::App& command, Session& session);

  bool wanted() const { return processes() > 1 || !folder_.empty(); }
  /// How the pieces are done; of several processes the first keeps them. To be called once,
  /// when all that can be wrong has been found. Throws InputError where the folder is of another
  /// command, another file of this scenario, or another version.
  io::PieceRun begin(const std::string& scenario);
  /// Of each process; 0: all cores.
  static int threads(int given) { return given > 0 ? given : processes() > 1 ? 1 : 0; }
  /// The first process writes and speaks.
  static bool helps() { return rank() > 0; }

 private:
  std::string folder_;
  const Session* session_ = nullptr;
  std::optional<io::Checkpoint> checkpoint_;
};

}  // namespace routh::app
