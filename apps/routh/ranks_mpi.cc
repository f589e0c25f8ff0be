#include <mpi.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "ranks.h"

namespace routh::app {
namespace {

enum Tag { kIdle = 1, kDone, kWork, kEnd };

using Bytes = std::string;

/// Waits without taking a core from who works: the first process has nothing to do meanwhile.
MPI_Status wait_for_any() {
  MPI_Status status;
  for (int there = 0, waits = 0;; ++waits) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (there) return status;
    std::this_thread::sleep_for(std::chrono::microseconds(waits < 100 ? 10 : 500));
  }
}

Bytes receive(const MPI_Status& status) {
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Bytes bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return bytes;
}

void send(int to, Tag tag, const void* bytes = nullptr, std::size_t size = 0) {
  if (size > 0x7fffffff) throw std::runtime_error("a piece is too large to be sent");
  MPI_Send(bytes, static_cast<int>(size), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

/// The first process: a piece to each that has nothing to do, until there are none.
void hand_out(const std::vector<std::uint64_t>& pieces, int workers,
              const std::function<void(std::uint64_t, const std::string&)>& take) {
  std::vector<std::uint64_t> of(static_cast<std::size_t>(workers) + 1);  // what each is at
  std::size_t next = 0;
  while (workers > 0) {
    const MPI_Status status = wait_for_any();
    const Bytes bytes = receive(status);
    if (status.MPI_TAG == kDone) take(of[status.MPI_SOURCE], bytes);
    if (next < pieces.size()) {
      of[status.MPI_SOURCE] = pieces[next++];
      send(status.MPI_SOURCE, kWork, &of[status.MPI_SOURCE], sizeof(std::uint64_t));
    } else {
      send(status.MPI_SOURCE, kEnd);
      --workers;
    }
  }
}

/// The others: ask, do, send back.
void do_work(const std::function<std::string(std::uint64_t)>& work) {
  send(0, kIdle);
  while (true) {
    MPI_Status status;
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    const Bytes bytes = receive(status);
    if (status.MPI_TAG == kEnd) return;
    std::uint64_t piece = 0;
    bytes.copy(reinterpret_cast<char*>(&piece), sizeof(piece));
    const Bytes done = work(piece);
    send(0, kDone, done.data(), done.size());
  }
}

}  // namespace

io::SharePieces share_pieces() {
  if (processes() < 2) return {};
  return [](const std::vector<std::uint64_t>& pieces,
            const std::function<std::string(std::uint64_t)>& work,
            const std::function<void(std::uint64_t, const std::string&)>& take) {
    int provided = 0, size = 1, own = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    // who fails leaves without a farewell, and the launcher ends the others
    if (own == 0)
      hand_out(pieces, size - 1, take);
    else
      do_work(work);
    MPI_Finalize();
  };
}

}  // namespace routh::app
