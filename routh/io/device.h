#pragma once

#include <functional>
#include <string>

#include "routh/impact/walk_device.h"

/// What samples: the CPU or a device beside it, by name. docs/gpu.md.
namespace routh::io {

/// cuda_device() of routh/impact/cuda.h, an optional component; none: it was left out.
using CudaDevice = std::function<WalkDevice&()>;

struct Device {
  std::string name = "cpu";     ///< what was asked for: cpu or cuda
  WalkDevice* walks = nullptr;  ///< null: the CPU
  std::string trouble;          ///< why it is the CPU though a device was asked for
};

/// Throws InputError where there is no such name, or where the component was left out. A device
/// that is not there is no error: the CPU gives the same samples.
Device device_named(const std::string& name, const CudaDevice& cuda);

/// For a person who asked for a device and got the CPU, wholly or in part.
std::string device_text(const std::string& name, const std::string& trouble);

}  // namespace routh::io
