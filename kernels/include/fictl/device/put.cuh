// Copies numbers from the host to device memory through the arguments of a kernel.
//
// Why not cudaMemcpyAsync: a kernel that follows a copy starts when it has ended; one that follows
// a kernel starts while that ends, 1 to 7 us earlier (attention of one request on an H200). A
// launch has room for 4 KiB of arguments; it takes them at once, so that the host may go on with
// its memory, also where a graph is captured. The threads of a warp read different arguments, which
// the constant cache serves one after the other: less than a microsecond.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include <algorithm>

#include <fictl/device/launch.cuh>

namespace fictl::device {

template <int kMost>
struct PutNumbers {
  int32_t* to;
  int count;
  int32_t values[kMost];
};

template <int kMost>
__global__ void __launch_bounds__(256)
    PutKernel(const __grid_constant__ PutNumbers<kMost> numbers) {
  pdl_wait();
  pdl_trigger();
  for (int i = threadIdx.x; i < numbers.count; i += blockDim.x) {
    numbers.to[i] = numbers.values[i];
  }
}

// One kernel per 1000 numbers: beyond some thousands, cudaMemcpyAsync is faster.
inline cudaError_t put(int32_t* to, const int32_t* from, int64_t count, cudaStream_t stream,
                       bool pdl) {
  constexpr int kMost = 1000;
  LaunchConfig config{1, 256, stream};
  config.pdl = pdl;
  PutNumbers<kMost> numbers;
  for (int64_t done = 0; done < count; done += numbers.count) {
    numbers.to = to + done;
    numbers.count = static_cast<int>(std::min<int64_t>(count - done, kMost));
    std::copy_n(from + done, numbers.count, numbers.values);
    const cudaError_t status = launch<PutKernel<kMost>>(config, numbers);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace fictl::device
