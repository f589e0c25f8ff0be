#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "routh/impact/walk_device.h"

/// Calls of CUDA that throw, and memory of a GPU. For the CUDA component alone.
namespace routh::cuda {

/// Throws DeviceError: what it means, and what CUDA says.
inline void check(cudaError_t status, const char* meaning) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // it is told here
  throw DeviceError(std::string(meaning) + " (CUDA: " + cudaGetErrorString(status) + ")");
}

/// A piece of its memory, kept from call to call and grown when more is asked for.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { (void)cudaFree(at_); }

  /// Room for `count` of them, of no particular content.
  template <class T>
  T* room(std::size_t count) {
    const std::size_t bytes = sizeof(T) * (count > 0 ? count : 1);
    if (bytes > bytes_) {
      (void)cudaFree(at_);
      at_ = nullptr, bytes_ = 0;
      check(cudaMalloc(&at_, bytes),
            ("the GPU has no " + std::to_string((bytes >> 20) + 1) + " MB of memory left").c_str());
      bytes_ = bytes;
    }
    return static_cast<T*>(at_);
  }
  /// A copy of them.
  template <class T>
  T* hold(const T* from, std::size_t count) {
    T* to = room<T>(count);
    check(cudaMemcpy(to, from, sizeof(T) * count, cudaMemcpyHostToDevice), "the GPU failed");
    return to;
  }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace routh::cuda
