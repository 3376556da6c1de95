// The online softmax of a warpgroup's rows, on accumulators. A thread has two rows, and of each the
// scores of a quarter of the keys; the maximum is all four lanes', the sum its own until the end.
#pragma once

#include <math.h>

#include <fictl/device/functions.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/softmax.cuh>

namespace fictl::attention::sm90 {

// Factors of the sums so far, by row.
using Factors = float[2];

// How much the maximum, a base-2 logarithm, grows before sums are multiplied again. Weights are
// then up to 2^8, which types of 16 bits hold, and results are the same, since all weights and
// their sum have one maximum. Why: of the stages of a tile few raise it at all, and hardly one
// by so much.
constexpr float kSlack = 8.0f;

// The greatest base-2 logit whose weights bf16, and sums of them fp32, hold without a maximum.
constexpr float kBound = 80.0f;

class RowSoftmax {
 public:
  // Makes weights of scores. `scales`: of each row's scores, to base-2 logarithms. The greatest
  // weight is 2^kBits.
  template <int kBits = 0, int kCount>
  __device__ __forceinline__ void weigh(float (&scores)[kCount], const float (&scales)[2],
                                        Factors& factors) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float scale = scales[half];
      factors[half] = raise<kBits == 0>(states_[half], most(scores, half) * scale - kBits);
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

  // The same of scores whose logits have a bound that weights hold: they need no maximum, and no
  // factors. `bend(score)` is the logit over `scale`. If no score is masked, half of the
  // exponentials leave the unit for special functions, which bending keeps busy, to that for
  // multiplications.
  template <bool kMasked, int kCount, typename Bend>
  __device__ __forceinline__ void weigh_bounded(float (&scores)[kCount], float scale,
                                                Factors& factors, Bend bend) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      factors[half] = 1.0f;
      states_[half].max = 0.0f;
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < kCount / 4; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& score = scores[4 * j + 2 * half + i];
          const float logit = bend(score) * scale;
          score = !kMasked && i == 1 ? device::polynomial_exp2(logit) : device::fast_exp2(logit);
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
  template <bool kMayWait>
  __device__ static __forceinline__ float raise(device::SoftmaxState& state, float most) {
    constexpr float kMargin = kMayWait ? kSlack : 0.0f;
    return state.raise(most > state.max + kMargin ? most : state.max);
  }

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

}  // namespace fictl::attention::sm90
