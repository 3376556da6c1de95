// Moves every element to a higher place, and nothing keeps the last ones inside.
#pragma once

#include <cstdint>

namespace stray::elementwise {

__global__ void ShiftKernel(int* out, int64_t out_stride, const int* input, int64_t input_stride,
                            int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(i + by) * out_stride] = input[i * input_stride];
}

}  // namespace stray::elementwise
