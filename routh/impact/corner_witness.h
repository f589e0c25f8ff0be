#pragma once

#include <optional>
#include <vector>

#include "routh/impact/polytopes.h"
#include "routh/impact/witness.h"

namespace routh {

/// A corner of a set, and the witness that ends there.
struct CornerWitness {
  Eigen::VectorXd c;
  WitnessTarget target;                 ///< largest here, over the set or its piece
  std::optional<Witness> witness = {};  ///< nothing where no path to it was found
};

/// Paths to the corners of an exact set, each once. A corner of the hull of the set is where some
/// form is largest, and the search for that extreme ends there; others, inside of the hull, are
/// looked for by a form that is largest in their own piece, and found where nothing lies beyond.
std::vector<CornerWitness> corner_witnesses(const ImpactProblem& problem,
                                            const std::vector<Polytope>& pieces,
                                            const WitnessOptions& options = {});

}  // namespace routh
