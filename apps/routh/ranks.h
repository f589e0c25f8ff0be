#pragma once

#include "routh/io/map.h"

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

}  // namespace routh::app
