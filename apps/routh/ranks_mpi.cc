#include <mpi.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

#include "ranks.h"

namespace routh::app {
namespace {

enum Tag { kIdle = 1, kDone, kWork, kEnd };

using Bytes = std::string;

constexpr std::size_t kAhead = 16;  // pieces of each process
constexpr char kWhole = 1, kPart = 0;

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

/// The first process: a piece to each that has nothing to do, until there are none. No one is sent
/// far ahead of the slowest: what came early waits in memory for its turn.
void hand_out(const std::vector<std::uint64_t>& pieces, int workers, const io::TakePiece& take) {
  const std::size_t ahead = kAhead * static_cast<std::size_t>(workers);
  std::vector<std::size_t> at(static_cast<std::size_t>(workers) + 1);  // what each is at
  std::set<std::size_t> under_way;
  std::vector<int> idle;
  std::size_t next = 0;
  while (workers > 0) {
    const MPI_Status status = wait_for_any();
    Bytes bytes = receive(status);
    idle.push_back(status.MPI_SOURCE);
    if (status.MPI_TAG == kDone) {
      const std::size_t done = at[static_cast<std::size_t>(status.MPI_SOURCE)];
      under_way.erase(done);
      const bool whole = !bytes.empty() && bytes.back() == kWhole;
      if (!bytes.empty()) bytes.pop_back();
      take(pieces[done], {std::move(bytes), whole});
    }
    while (!idle.empty() &&
           (next == pieces.size() || under_way.empty() || next < *under_way.begin() + ahead)) {
      const int who = idle.back();
      idle.pop_back();
      if (next == pieces.size()) {
        send(who, kEnd);
        --workers;
        continue;
      }
      send(who, kWork, &pieces[next], sizeof(std::uint64_t));
      under_way.insert(next);
      at[static_cast<std::size_t>(who)] = next++;
    }
  }
}

/// The others: ask, do, send back.
void do_work(const io::WorkOnPiece& work) {
  send(0, kIdle);
  while (true) {
    MPI_Status status;
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    const Bytes bytes = receive(status);
    if (status.MPI_TAG == kEnd) return;
    std::uint64_t piece = 0;
    bytes.copy(reinterpret_cast<char*>(&piece), sizeof(piece));
    io::Piece done = work(piece);
    done.bytes += done.whole ? kWhole : kPart;
    send(0, kDone, done.bytes.data(), done.bytes.size());
  }
}

}  // namespace

io::SharePieces share_pieces() {
  if (processes() < 2) return {};
  return [](const std::vector<std::uint64_t>& pieces, const io::WorkOnPiece& work,
            const io::TakePiece& take) {
    int provided = 0, size = 1, own = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    // who is killed leaves without a farewell, and the launcher ends the others
    if (own == 0)
      hand_out(pieces, size - 1, take);
    else
      do_work(work);
    MPI_Finalize();
  };
}

void end_processes(int code) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun && !ended) MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace routh::app
