// A one-dimensional tensor of indices: of tokens, requests or pages.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

// int32, or int64 of which only the lower halves are read, which hold every index. `step` is the
// stride in int32.
struct Indices {
  const int32_t* data = nullptr;
  int64_t step = 1;

  __device__ int operator[](int64_t i) const { return data[i * step]; }
};

}  // namespace fictl::device
