// The rotation of rotary position embeddings, in registers: every pair of values (a, b) by its
// angle.
//
// Which values are a pair, of a row of rotary_dim values:
//   halves        a row's i-th value and the one rotary_dim / 2 further on (NeoX, Llama)
//   interleaved   two adjacent elements (GPT-J)
// cos and sin have one value a pair.
#pragma once

#include <cuda_runtime.h>

namespace fictl::rope {

// `a` from the first half, `b` from the same places of the second.
template <int N>
__device__ void rotate_halves(float (&a)[N], float (&b)[N], const float (&cos)[N],
                              const float (&sin)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const float x = a[i], y = b[i];
    a[i] = x * cos[i] - y * sin[i];
    b[i] = y * cos[i] + x * sin[i];
  }
}

// Rotates kPairs adjacent pairs.
template <int kPairs>
__device__ void rotate_interleaved(float (&x)[2 * kPairs], const float (&cos)[kPairs],
                                   const float (&sin)[kPairs]) {
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    x[2 * i] = a * cos[i] - b * sin[i];
    x[2 * i + 1] = b * cos[i] + a * sin[i];
  }
}

}  // namespace fictl::rope
