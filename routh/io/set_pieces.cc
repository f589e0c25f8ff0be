#include "routh/io/set_pieces.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace routh::io {
namespace {

constexpr std::uint64_t kFewestSamples = 256, kMostInPiece = 1 << 16;  // samples of a piece
constexpr std::uint64_t kFinePieces = 256;      // pieces that work is cut into while they are small
constexpr std::uint64_t kMostPieces = 1 << 16;  // pieces there are at the most, by larger ones
constexpr double kHeldNumbers = 1 << 22;        // of the samples of a piece, where these are kept

/// Samples of a piece: a function of the options alone, as a checkpoint has to know it.
std::uint64_t samples_in_piece(const ImpactProblem& problem, const SetOptions& options) {
  const std::uint64_t few = std::clamp(options.samples / kFinePieces, kFewestSamples, kMostInPiece);
  const double each = static_cast<double>(2 * problem.c.size() + 4);
  const auto held = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kHeldNumbers / each));
  return options.keep > kMostInPiece ? std::min(few, held)
                                     : std::max(few, options.samples / kMostPieces);
}

PieceWriter& operator<<(PieceWriter& to, const SetTotals& t) {
  to << t.samples << t.terminated << t.unsolved << t.steps << t.ambiguous_steps
     << t.ambiguous_samples << t.fallback_steps << t.most_steps << t.max_residual;
  return to.list(t.c_min).list(t.c_max);
}

PieceReader& operator>>(PieceReader& from, SetTotals& t) {
  from >> t.samples >> t.terminated >> t.unsolved >> t.steps >> t.ambiguous_steps >>
      t.ambiguous_samples >> t.fallback_steps >> t.most_steps >> t.max_residual;
  return from.list(t.c_min).list(t.c_max);
}

/// A matrix by its columns.
PieceReader& read(PieceReader& from, Eigen::Index rows, Eigen::Index columns, Eigen::MatrixXd& to) {
  Eigen::VectorXd all;
  from.list(all);
  to = all.size() == rows * columns ? Eigen::MatrixXd(all.reshaped(rows, columns))
                                    : Eigen::MatrixXd::Zero(rows, columns);
  return from;
}

PieceWriter& operator<<(PieceWriter& to, const PackedSamples& p) {
  return to.list(p.index)
      .list(p.steps)
      .list(p.terminated)
      .list(p.residual)
      .list(p.impulse)
      .list(p.c_plus);
}

}  // namespace

std::vector<SetSample> unpacked(const PackedSamples& samples) {
  std::vector<SetSample> all;
  for (std::size_t k = 0; k < samples.index.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    all.push_back({{samples.impulse.col(column), samples.c_plus.col(column), samples.residual[k]},
                   samples.index[k],
                   samples.steps[k],
                   samples.terminated[k] != 0});
  }
  return all;
}

SetResult set_in_pieces(const ImpactProblem& problem, const SetOptions& given, const PieceRun& how,
                        const std::function<void(const PackedSamples&)>& each) {
  const auto began = std::chrono::steady_clock::now();
  const std::uint64_t size = samples_in_piece(problem, given);
  SetResult result;
  bool stopped = false;
  const auto tell = [&](std::uint64_t more) {
    if (given.progress && !given.progress(result.samples + more)) stopped = true;
    return !stopped;
  };
  SetOptions options = given;
  options.keep = options.paths = 0;
  options.pack = std::min(given.keep, given.samples);
  if (given.progress) options.progress = tell;
  std::optional<SetSampler> sampler;  // made by who works
  const auto count_of = [&](std::uint64_t piece) {
    return std::min(size, given.samples - piece * size);
  };
  const auto work = [&](std::uint64_t piece) -> Piece {
    SetResult part;
    if (tell(0)) {
      if (!sampler) sampler.emplace(problem, options);
      part = sampler->samples(piece * size, count_of(piece));
    }
    PieceWriter bytes;
    bytes << static_cast<const SetTotals&>(part) << part.enumerated << part.packed;
    return {std::move(bytes).bytes(), part.samples == count_of(piece)};
  };
  const Eigen::Index rows = problem.c.size();
  const auto take = [&](std::uint64_t, const Piece& made) {
    PieceReader bytes(made.bytes);
    SetTotals totals;
    bool enumerated = true;
    PackedSamples kept;
    bytes >> totals >> enumerated;
    bytes.list(kept.index).list(kept.steps).list(kept.terminated).list(kept.residual);
    const auto columns = static_cast<Eigen::Index>(kept.index.size());
    read(bytes, rows, columns, kept.impulse);
    read(bytes, rows, columns, kept.c_plus);
    if (!bytes.whole() || kept.steps.size() != kept.index.size()) return false;
    result.SetTotals::add(totals);
    result.enumerated = result.enumerated && enumerated;
    if (columns > 0) each(kept);
    if (how.share) tell(0);
    return true;
  };
  in_pieces((given.samples + size - 1) / size, how, work, take, [&] { return stopped; });
  result.stopped = result.samples < given.samples;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh::io
