#pragma once

#include <functional>

#include "routh/impact/set_valued.h"
#include "routh/io/pieces.h"
#include "routh/io/results.h"
#include "routh/io/table.h"

namespace routh::io {

std::vector<SetSample> unpacked(const PackedSamples& samples);
/// The table of to_csv() of samples that ended, some at a time; `first` is the number of the first.
Table table_of(const ImpactCase& impact, std::uint64_t first, const PackedSamples& samples);

/// Samples of the set law in pieces: in several processes, with a checkpoint, and with more samples
/// kept than memory holds. Totals, and samples that are kept, have the same bits as of
/// set_valued(). SetOptions::keep alone is heeded, not `pack` and `paths`: `each` gets what is to
/// be kept, in order, and SetResult::kept stays empty. In processes that only help the result is
/// empty.
SetResult set_in_pieces(const ImpactProblem& problem, const SetOptions& options,
                        const PieceRun& how, const std::function<void(const PackedSamples&)>& each);

}  // namespace routh::io
