#pragma once

#include "routh/impact/walk_device.h"

namespace routh {

/// The first GPU that CUDA finds, an optional component (ROUTH_CUDA). Throws DeviceError where
/// there is none, or its driver is too old.
WalkDevice& cuda_device();

/// Time of the last kernel of the calling thread [s], by the device's own clock.
double cuda_kernel_seconds();

}  // namespace routh
