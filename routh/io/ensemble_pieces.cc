#include "routh/io/ensemble_pieces.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace routh::io {
namespace {

PieceWriter& operator<<(PieceWriter& to, const EnsembleRun& run) {
  to << run.index << run.status << run.final.time;
  to.list(run.final.q).list(run.final.v) << run.word << run.final_mode << run.message;
  return to << run.impacts << run.energy_start << run.energy_end << run.largest_gain;
}

PieceReader& operator>>(PieceReader& from, EnsembleRun& run) {
  run.finished = true;
  from >> run.index >> run.status >> run.final.time;
  from.list(run.final.q).list(run.final.v) >> run.word >> run.final_mode >> run.message;
  return from >> run.impacts >> run.energy_start >> run.energy_end >> run.largest_gain;
}

PieceWriter& operator<<(PieceWriter& to, const ModeGraph& graph) {
  to << graph.motions << graph.nodes.size() << graph.edges.size();
  for (const ModeGraph::Node& n : graph.nodes)
    to << n.name << n.visits << n.starts << n.ends << n.time;
  for (const ModeGraph::Edge& e : graph.edges)
    to << e.from << e.to << e.kind << e.count << e.first << e.last;
  return to;
}

PieceReader& operator>>(PieceReader& from, ModeGraph& graph) {
  std::size_t nodes = 0, edges = 0;
  from >> graph.motions >> nodes >> edges;
  while (from.good() && graph.nodes.size() < nodes) {
    ModeGraph::Node& n = graph.nodes.emplace_back();
    from >> n.name >> n.visits >> n.starts >> n.ends >> n.time;
  }
  while (from.good() && graph.edges.size() < edges) {
    ModeGraph::Edge& e = graph.edges.emplace_back();
    from >> e.from >> e.to >> e.kind >> e.count >> e.first >> e.last;
  }
  return from;
}

}  // namespace

EnsembleResult ensemble_in_pieces(const System& system, const State& start,
                                  const MotionByLaw& motion, const EnsembleOptions& options,
                                  const PieceRun& how) {
  if (!how.checkpoint && !how.share) return ensemble(system, start, motion, options);
  if (options.runs == 0) throw std::invalid_argument("runs must be at least 1");
  const auto began = std::chrono::steady_clock::now();
  EnsembleResult result;
  bool stopped = false;
  const auto tell = [&](std::uint64_t more) {
    if (options.progress && !options.progress(result.runs.size() + more)) stopped = true;
    return !stopped;
  };
  const auto count_of = [&](std::uint64_t piece) {
    return std::min(kEnsembleBlock, options.runs - piece * kEnsembleBlock);
  };
  EnsembleOptions alone = options;
  alone.keep = 0;
  alone.progress = tell;
  const auto work = [&](std::uint64_t piece) -> Piece {
    EnsemblePart part;
    if (tell(0))
      part = ensemble_part(system, start, motion, alone, piece * kEnsembleBlock, count_of(piece));
    PieceWriter bytes;
    bytes << part.runs.size();
    for (const EnsembleRun& run : part.runs) bytes << run;
    bytes << part.graph;
    return {std::move(bytes).bytes(), part.runs.size() == count_of(piece)};
  };
  const auto take = [&](std::uint64_t, const Piece& made) {
    PieceReader bytes(made.bytes);
    std::size_t count = 0;
    bytes >> count;
    std::vector<EnsembleRun> runs;
    while (bytes.good() && runs.size() < count) bytes >> runs.emplace_back();
    ModeGraph graph;
    bytes >> graph;
    if (!bytes.whole()) return false;
    std::move(runs.begin(), runs.end(), std::back_inserter(result.runs));
    result.graph.add(graph);
    if (how.share) tell(0);
    return true;
  };
  in_pieces((options.runs + kEnsembleBlock - 1) / kEnsembleBlock, how, work, take,
            [&] { return stopped; });
  if (result.runs.empty()) return result;

  // what stands in no piece is made again: few motions, and why all runs failed
  if (all_failed(result.runs)) {
    const EnsemblePart first =
        ensemble_part(system, start, motion, alone, result.runs.front().index, 1);
    if (first.failure) std::rethrow_exception(first.failure);
  }
  alone.keep = std::min<std::uint64_t>(options.keep, result.runs.size());
  if (alone.keep > 0 && !stopped)
    result.kept = ensemble_part(system, start, motion, alone, 0, alone.keep).kept;
  sum_up(options, result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace routh::io
