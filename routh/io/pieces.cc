#include "routh/io/pieces.h"

#include <map>
#include <stdexcept>

namespace routh::io {
namespace {

using TakeInOrder = std::function<bool(std::uint64_t, const Piece&)>;

void must_be(bool piece) {
  if (!piece) throw std::runtime_error("a piece of the work came back damaged");
}

void do_here(std::uint64_t count, const Checkpoint* checkpoint, const WorkOnPiece& work,
             const TakeInOrder& take, const std::function<bool()>& stop) {
  for (std::uint64_t piece = 0; piece < count && !stop(); ++piece) {
    if (checkpoint) {
      if (std::optional<std::string> there = checkpoint->read(piece);
          there && take(piece, {std::move(*there)}))
        continue;
    }
    const Piece made = work(piece);
    if (checkpoint && made.whole) checkpoint->write(piece, made.bytes);
    must_be(take(piece, made));
  }
}

/// Other processes are done with pieces in any order: those whose turn has not come wait in the
/// checkpoint, or in memory.
void do_elsewhere(std::uint64_t count, const PieceRun& how, const WorkOnPiece& work,
                  const TakeInOrder& take) {
  std::vector<bool> kept(count);
  std::vector<std::uint64_t> todo;
  for (std::uint64_t piece = 0; piece < count; ++piece) {
    kept[piece] = how.checkpoint && how.checkpoint->read(piece);
    if (!kept[piece]) todo.push_back(piece);
  }
  std::map<std::uint64_t, Piece> waiting;
  std::uint64_t turn = 0;
  const auto go_on = [&] {
    for (; turn < count; ++turn) {
      if (const auto next = waiting.find(turn); next != waiting.end()) {
        must_be(take(turn, next->second));
        waiting.erase(next);
      } else if (kept[turn]) {
        std::optional<std::string> there = how.checkpoint->read(turn);
        must_be(there && take(turn, {std::move(*there)}));
      } else {
        return;
      }
    }
  };
  how.share(todo, work, [&](std::uint64_t piece, Piece made) {
    if (how.checkpoint && made.whole) how.checkpoint->write(piece, made.bytes);
    if (how.checkpoint && made.whole && piece != turn)
      kept[piece] = true;
    else
      waiting.emplace(piece, std::move(made));
    go_on();
  });
  go_on();
}

}  // namespace

void in_pieces(std::uint64_t count, const PieceRun& how, const WorkOnPiece& work,
               const TakeInOrder& take, const std::function<bool()>& stop) {
  if (how.share)
    do_elsewhere(count, how, work, take);
  else
    do_here(count, how.checkpoint, work, take, stop);
}

}  // namespace routh::io
