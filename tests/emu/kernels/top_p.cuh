// Top-p sampling: one block a row of logits. The nucleus is found without a sort: the weight of its
// last token is the largest threshold whose tokens weigh enough, and a bisection over the bits of
// positive floats, which are in the order of their values, finds it exactly. A scan over the
// nucleus in the order of the tokens then finds the one that a uniform random number points at.
//
// BlockOps gives max(x), sum(x) and scan(x, total) over the block, the results in every thread.
#pragma once

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

constexpr int kTopPThreads = 256;

// logits [gridDim.x, vocab]; uniform, token and kept [gridDim.x].
template <typename BlockOps>
__global__ void __launch_bounds__(kTopPThreads)
    TopPKernel(const float* logits, const float* uniform, float top_p, int vocab, int* token,
               int* kept) {
  extern __shared__ float weights[];  // of a thread's own tokens, so that no barrier is needed
  __shared__ typename BlockOps::Storage storage;
  __shared__ int first, last;
  BlockOps block(storage);
  const float* row = logits + static_cast<int64_t>(blockIdx.x) * vocab;
  if (threadIdx.x == 0) {
    first = vocab;
    last = 0;
  }

  float largest = -INFINITY;
  for (int i = threadIdx.x; i < vocab; i += kTopPThreads) largest = fmaxf(largest, row[i]);
  largest = block.max(largest);
  for (int i = threadIdx.x; i < vocab; i += kTopPThreads) weights[i] = __expf(row[i] - largest);
  auto mass_from = [&](float threshold) {
    float mass = 0.f;
    for (int i = threadIdx.x; i < vocab; i += kTopPThreads) {
      if (weights[i] >= threshold) mass += weights[i];
    }
    return block.sum(mass);
  };

  const float wanted = top_p * mass_from(0.f);
  unsigned low = 0, high = __float_as_uint(1.f) + 1;  // enough from `low` on, not from `high` on
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (mass_from(__uint_as_float(middle)) >= wanted ? low : high) = middle;
  }
  const float threshold = __uint_as_float(low);
  const float target = uniform[blockIdx.x] * mass_from(threshold);

  int count = 0;
  float before = 0.f;
  for (int start = 0; start < vocab; start += kTopPThreads) {
    const int i = start + threadIdx.x;
    const bool inside = i < vocab && weights[i] >= threshold;
    count += __syncthreads_count(inside);
    float total;
    const float here = before + block.scan(inside ? weights[i] : 0.f, total);
    if (inside) atomicMax(&last, i);
    if (inside && here > target) atomicMin(&first, i);
    before += total;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    // Where rounding has left the target beyond all of them, it is the last one.
    token[blockIdx.x] = min(first, last);
    kept[blockIdx.x] = count;
  }
}

template <typename BlockOps>
cudaError_t TopP(const float* logits, const float* uniform, float top_p, int rows, int vocab,
                 int* token, int* kept) {
  if (rows == 0) return cudaSuccess;
  if (vocab == 0 || !(top_p > 0.f && top_p <= 1.f)) return cudaErrorInvalidValue;
  const int bytes = vocab * sizeof(float);
  if (cudaFuncSetAttribute(TopPKernel<BlockOps>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           bytes) != cudaSuccess) {
    return cudaGetLastError();
  }
  TopPKernel<BlockOps><<<rows, kTopPThreads, bytes>>>(logits, uniform, top_p, vocab, token, kept);
  return cudaGetLastError();
}
