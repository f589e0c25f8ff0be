#pragma once

#include <vector>

#include "routh/io/document.h"
#include "routh/model/limb.h"
#include "routh/model/planar.h"

namespace routh::io {

struct LoadedMechanism {
  PlanarMechanism mechanism;
  std::vector<Limb> limbs;  ///< coordinates without mass, and what they do in the air
  Eigen::VectorXd q, v;     ///< what the bodies say about their start, zero otherwise
};

/// The `mechanism` of a scenario file, docs/scenarios.md. `values` holds the parameters that
/// expressions may use. Throws InputError.
LoadedMechanism read_mechanism(const Field& field, Values& values);

}  // namespace routh::io
