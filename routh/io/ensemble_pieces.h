#pragma once

#include "routh/io/pieces.h"
#include "routh/simulate/ensemble.h"

namespace routh::io {

/// ensemble() in pieces of kEnsembleBlock runs: in several processes, with a checkpoint, or both.
/// The same bits as of ensemble(). Motions that are kept are made again where the result is wanted,
/// as they are few; in processes that only help the result is empty.
EnsembleResult ensemble_in_pieces(const System& system, const State& start,
                                  const MotionByLaw& motion, const EnsembleOptions& options,
                                  const PieceRun& how);

}  // namespace routh::io
