#include "device.h"

#include "output.h"
#ifdef ROUTH_HAS_CUDA
#include "routh/impact/cuda.h"
#endif

namespace routh::app {
namespace {

io::CudaDevice cuda() {
#ifdef ROUTH_HAS_CUDA
  return cuda_device;
#else
  return {};
#endif
}

}  // namespace

bool has_cuda() { return static_cast<bool>(cuda()); }

void add_device(CLI::App& command, std::string& name) {
  command
      .add_option("--device", name,
                  "what samples: cpu, or cuda for a GPU (planar contacts, the same samples up to "
                  "rounding); where there is no GPU the CPU does it")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
}

io::Device device_named(const std::string& name) { return io::device_named(name, cuda()); }

void warn_of_device(const std::string& name, const std::string& trouble) {
  if (!trouble.empty()) warn("routh: " + io::device_text(name, trouble) + "\n");
}

}  // namespace routh::app
