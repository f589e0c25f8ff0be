#include "routh/io/device.h"

#include <fmt/format.h>

#include "routh/io/document.h"

namespace routh::io {

Device device_named(const std::string& name, const CudaDevice& cuda) {
  Device device{.name = name};
  if (name == "cpu") return device;
  if (name != "cuda") throw InputError(fmt::format("--device {}: must be cpu or cuda", name));
  if (!cuda)
    throw InputError(
        "--device cuda: this program was built without CUDA: install nvcc (NVIDIA's CUDA toolkit "
        "or apt-get install nvidia-cuda-toolkit), then make cuda; --device cpu works everywhere");
  try {
    device.walks = &cuda();
  } catch (const DeviceError& e) {
    device.trouble = e.what();
  }
  return device;
}

std::string device_text(const std::string& name, const std::string& trouble) {
  return fmt::format("--device {}: {}; the CPU takes its place, as with --device cpu", name,
                     trouble);
}

}  // namespace routh::io
