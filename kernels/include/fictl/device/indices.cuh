// Numbers of a tensor of one dimension that are indices, as of tokens, requests and pages.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

// int32, or int64 of which the lower halves are read: what they count fits those. `step` is from
// one to the next, in halves.
struct Indices {
  const int32_t* data = nullptr;
  int64_t step = 1;

  __device__ int operator[](int64_t i) const { return data[i * step]; }
};

}  // namespace fictl::device
