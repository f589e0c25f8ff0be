#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "routh/io/checkpoint.h"

/// Long work in pieces by number: done here or in other processes, kept in a checkpoint, taken in
/// order, so that what comes of it has the same bits however it was shared.
namespace routh::io {

struct Piece {
  std::string bytes;
  bool whole = true;  ///< false: stopped before its end, not to be kept
};

using WorkOnPiece = std::function<Piece(std::uint64_t piece)>;
using TakePiece = std::function<void(std::uint64_t piece, Piece made)>;

/// Does `work` for each of these pieces in other processes, and hands over what came of it, in any
/// order. Returns in those too, when there is nothing more to do.
using SharePieces = std::function<void(const std::vector<std::uint64_t>& pieces,
                                       const WorkOnPiece& work, const TakePiece& take)>;

/// How pieces are done.
struct PieceRun {
  const Checkpoint* checkpoint = nullptr;  ///< where those that are done are kept
  SharePieces share = {};                  ///< none: here, one after the other
};

/// Pieces 0 .. count - 1. `take` gets them in order and says whether the bytes are a piece; what a
/// checkpoint has is not done again, unless it is none. After `stop` what is left comes as pieces
/// that are not whole, or not at all. Throws OutputError where the checkpoint cannot be written.
void in_pieces(std::uint64_t count, const PieceRun& how, const WorkOnPiece& work,
               const std::function<bool(std::uint64_t piece, const Piece& made)>& take,
               const std::function<bool()>& stop);

/// Numbers and texts as bytes of this machine.
class PieceWriter {
 public:
  template <class Number>
  PieceWriter& operator<<(const Number& number) {
    static_assert(std::is_trivially_copyable_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  PieceWriter& operator<<(const std::string& text) {
    *this << static_cast<std::uint64_t>(text.size());
    bytes_ += text;
    return *this;
  }
  /// A vector or matrix of Eigen, or a standard vector of numbers.
  template <class List>
  PieceWriter& list(const List& list) {
    *this << static_cast<std::uint64_t>(list.size());
    bytes_.append(reinterpret_cast<const char*>(list.data()),
                  static_cast<std::size_t>(list.size()) * sizeof(*list.data()));
    return *this;
  }
  std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// The same back. Bytes that end too early or too late are no piece: whole() is false, and what was
/// read is zero or empty.
class PieceReader {
 public:
  explicit PieceReader(const std::string& bytes) : bytes_(bytes) {}

  template <class Number>
  PieceReader& operator>>(Number& number) {
    static_assert(std::is_trivially_copyable_v<Number>);
    if (has(sizeof(number)))
      bytes_.copy(reinterpret_cast<char*>(&number), sizeof(number), at_), at_ += sizeof(number);
    return *this;
  }
  PieceReader& operator>>(std::string& text) {
    const std::uint64_t size = length(1);
    text = bytes_.substr(at_, size);
    at_ += size;
    return *this;
  }
  template <class List>
  PieceReader& list(List& list) {
    using Number = std::remove_reference_t<decltype(*list.data())>;
    const std::uint64_t size = length(sizeof(Number));
    list.resize(static_cast<decltype(list.size())>(size));
    bytes_.copy(reinterpret_cast<char*>(list.data()), size * sizeof(Number), at_);
    at_ += size * sizeof(Number);
    return *this;
  }
  bool good() const { return good_; }
  bool whole() const { return good_ && at_ == bytes_.size(); }

 private:
  bool has(std::uint64_t size) { return good_ = good_ && size <= bytes_.size() - at_; }
  std::uint64_t length(std::uint64_t each) {
    std::uint64_t size = 0;
    *this >> size;
    good_ = good_ && size <= (bytes_.size() - at_) / each;
    return good_ ? size : 0;
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace routh::io
