// ordered_sum: the sum over the rows of a matrix, from the first to the last.
//
// Traffic: every element is read once, every sum written once.
//
// Tiling: a thread for each column. The order of a sum is that of the rows, whatever the grid.
#pragma once

#include <cstdint>

namespace ranked::comm {

constexpr int kThreads = 256;

__global__ void OrderedSumKernel(float* out, const float* rows, int64_t count, int64_t n) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= n) return;
  float sum = 0.0f;
  for (int64_t row = 0; row < count; ++row) sum += rows[row * n + at];
  out[at] = sum;
}

inline cudaError_t OrderedSum(float* out, const float* rows, int64_t count, int64_t n,
                              cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const int64_t blocks = (n + kThreads - 1) / kThreads;
  OrderedSumKernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(out, rows, count, n);
  return cudaGetLastError();
}

}  // namespace ranked::comm
