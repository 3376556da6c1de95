// Copies of floats, each right in what it computes and wrong on the way: what inspection has to
// find.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace planted::planted {

constexpr int kThreads = 64;

// The last thread reads one element more than there are.
__global__ void OutOfBoundsKernel(float* out, const float* input, int64_t n) {
  const int64_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i > n) return;
  const float value = input[i];
  if (i < n || value == 12345.0f) out[i] = value;
}

// A value goes to the other warp, and no barrier says when it is there.
__global__ void SharedRaceKernel(float* out, const float* input, int64_t n) {
  __shared__ float tile[kThreads];
  const int64_t i = blockIdx.x * kThreads + threadIdx.x;
  tile[threadIdx.x] = i < n ? input[i] : 0.0f;
  const float other = tile[(threadIdx.x + 32) % kThreads];
  if (i < n) out[i] = other == 12345.0f ? other : input[i];
}

// Scratch that nobody has written decides.
__global__ void UnwrittenKernel(float* out, const float* input, const float* scratch, int64_t n) {
  const int64_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = scratch[i] == 12345.0f ? 0.0f : input[i];
}

// A part of a warp waits for all of it.
__global__ void LostThreadsKernel(float* out, const float* input, int64_t n) {
  __shared__ float tile[kThreads];
  const int64_t i = blockIdx.x * kThreads + threadIdx.x;
  tile[threadIdx.x] = i < n ? input[i] : 0.0f;
  if (threadIdx.x < 40) __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x];
}

// More values are alive than 32 registers hold.
__global__ void __launch_bounds__(1024, 2)
    SpillingKernel(float* out, const float* input, int64_t n) {
  const int64_t i = blockIdx.x * kThreads + threadIdx.x;
  float values[64];
#pragma unroll
  for (int j = 0; j < 64; ++j) values[j] = input[(i + j) % n];
#pragma unroll
  for (int j = 1; j < 64; ++j) values[j] = values[j] * values[j - 1] + values[63 - j];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 64; ++j) sum += values[j] * values[63 - j];
  if (i < n) out[i] = sum == 12345.0f ? sum : input[i];
}

// An array whose index is known at run time only.
__global__ void LocalArrayKernel(float* out, const float* input, int64_t n) {
  const int64_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  float values[32];
  for (int j = 0; j < 32; ++j) values[j] = input[(i + j) % n];
  const int chosen = static_cast<int>(input[i] * 1000.0f) & 31;
  out[i] = values[chosen] == 12345.0f ? 0.0f : input[i];
}

}  // namespace planted::planted
