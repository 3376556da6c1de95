// The online softmax of a warpgroup's rows, on accumulators. A thread has two rows, and of each the
// scores of a quarter of the keys; the maximum is all four lanes', the sum its own until the end.
#pragma once

#include <math.h>

#include <fictl/device/functions.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/softmax.cuh>

namespace fictl::attention::sm90 {

// What sums so far are to be multiplied with, by row.
using Factors = float[2];

class RowSoftmax {
 public:
  // Makes weights of scores. `scale`: of scores, to base-2 logarithms.
  template <int kCount>
  __device__ __forceinline__ void weigh(float (&scores)[kCount], float scale, Factors& factors) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      factors[half] = states_[half].raise(most(scores, half) * scale);
      const float most = states_[half].max;
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < kCount / 4; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& score = scores[4 * j + 2 * half + i];
          score = device::fast_exp2(fmaf(score, scale, -most));
          sum += score;
        }
      }
      states_[half].sum += sum;
    }
  }

  // Has the compiler compute the sums so far here.
  __device__ void pin() {
#pragma unroll
    for (auto& state : states_) asm volatile("" : "+f"(state.sum)::"memory");
  }

  // The row's maximum and sum, after all keys.
  __device__ device::SoftmaxState state(int half) const {
    device::SoftmaxState state = states_[half];
    state.sum += __shfl_xor_sync(~0u, state.sum, 1);
    state.sum += __shfl_xor_sync(~0u, state.sum, 2);
    return state;
  }

 private:
  // Two chains of maxima: one would wait for itself.
  template <int kCount>
  __device__ static __forceinline__ float most(const float (&scores)[kCount], int half) {
    float even = -INFINITY;
    float odd = -INFINITY;
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j) {
      even = fmaxf(even, scores[4 * j + 2 * half]);
      odd = fmaxf(odd, scores[4 * j + 2 * half + 1]);
    }
    float most = fmaxf(even, odd);
    most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
    return fmaxf(most, __shfl_xor_sync(~0u, most, 2));
  }

  device::SoftmaxState states_[2];
};

// Weights as the operand A of the product with the values: accumulators in their order.
template <typename T, int kCount>
__device__ __forceinline__ void pack(const float (&weights)[kCount],
                                     uint32_t (&packed)[kCount / 8][4]) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    packed[i / 4][i % 4] = device::packed<T>(weights[2 * i], weights[2 * i + 1]);
  }
}

template <int kCount>
__device__ __forceinline__ void multiply(float (&sums)[kCount], const Factors& factors) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) sums[i] *= factors[i / 2 % 2];
}

}  // namespace fictl::attention::sm90
