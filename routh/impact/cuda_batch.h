#pragma once

#include <vector>

#include "routh/impact/walk_device.h"

namespace routh::cuda {

/// WalkDevice::batch() of a GPU with so many processors; `seconds`: of its kernels.
std::vector<WalkRanges> batch(const WalkBatch& given, int processors, double& seconds);

}  // namespace routh::cuda
