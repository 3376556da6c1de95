// Memory on the GPU that calls of attention keep their work list and their parts in, and the words
// for the last call that was refused.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>

#include <string>
#include <utility>

namespace fictl::attention {

// Calls on one stream share one; calls on several streams do not, for each call writes to it.
class Workspace {
 public:
  // Grows with cudaMalloc as calls need, and is freed at the end.
  Workspace() = default;
  // Memory of the caller's, at a multiple of 16 bytes, that does not grow.
  Workspace(void* data, size_t bytes) : data_(data), bytes_(bytes), is_own_(false) {}
  ~Workspace() {
    if (is_own_) cudaFree(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Room for this many bytes. What was in it is lost if it grows, which it cannot do while `stream`
  // captures a graph: make the same call before, or reserve() what bytes() was then.
  cudaError_t reserve(size_t bytes, cudaStream_t stream = nullptr) {
    if (bytes <= bytes_) return cudaSuccess;
    const std::string seen =
        std::to_string(bytes) + " bytes are needed, there are " + std::to_string(bytes_);
    if (!is_own_) return refuse(cudaErrorMemoryAllocation, "workspace: " + seen);
    cudaStreamCaptureStatus capture;
    cudaError_t status = cudaStreamIsCapturing(stream, &capture);
    if (status != cudaSuccess) return status;
    if (capture != cudaStreamCaptureStatusNone) {
      return refuse(cudaErrorStreamCaptureUnsupported,
                    "workspace: " + seen + ", and it cannot grow while a graph is captured");
    }
    status = cudaFree(data_);  // Waits for kernels that still use it.
    data_ = nullptr;
    bytes_ = 0;
    if (status == cudaSuccess) status = cudaMalloc(&data_, bytes);
    if (status != cudaSuccess) return refuse(status, "workspace: " + seen);
    bytes_ = bytes;
    return cudaSuccess;
  }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  // Why the last call that returned an error was refused; empty where CUDA itself returned it.
  const std::string& problem() const { return problem_; }
  void clear_problem() { problem_.clear(); }
  cudaError_t refuse(cudaError_t status, std::string problem) {
    problem_ = std::move(problem);
    return status;
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  bool is_own_ = true;
  std::string problem_;
};

}  // namespace fictl::attention
