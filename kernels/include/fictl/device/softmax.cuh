// Online softmax: one pass over scores whose maximum is not known in advance.
//
// Scores are logarithms to the base 2: natural ones times log2(e). The running sum, and whatever a
// caller accumulates with the same weights, is rescaled each time that the maximum grows. A score
// of -inf weighs nothing. A NaN makes the sum NaN.
#pragma once

#include <float.h>
#include <math.h>

#include <fictl/device/functions.cuh>

namespace fictl::device {

// Represents sum * 2^max. A part of the scores whose logarithm of the sum is known counts as one
// score.
//
//   SoftmaxState state;
//   for (each tile) {
//     out *= state.raise(most(tile));
//     for (each score) state.sum += p = state.weight(score), out += p * value;
//   }
//   out *= state.normalizer();
//
// Lanes with the same maximum may each sum up their own scores, and add up the sums in the end.
struct SoftmaxState {
  // The maximum of no scores. Why not -inf: a difference from -inf is NaN. From this number, the
  // weight of -inf is 0, and what is scaled before any score is 0 anyway.
  static constexpr float kLeastMax = -FLT_MAX;

  float max = kLeastMax;
  float sum = 0.0f;

  // Raises the maximum to at least `most`. Returns the factor for what the caller has accumulated;
  // the sum is rescaled here.
  __device__ float raise(float most) {
    const float before = max;
    max = fmaxf(max, most);
    const float factor = fast_exp2(before - max);
    sum *= factor;
    return factor;
  }

  // The weight of a score that is not above max.
  __device__ float weight(float score) const { return fast_exp2(score - max); }

  // Adds one score, or part; returns what raise() does.
  __device__ float add(float score) {
    const float factor = raise(score);
    sum += weight(score);
    return factor;
  }

  // Merges another state; returns what raise() does. The caller multiplies what the other
  // accumulated by weight(other.max).
  __device__ float add(const SoftmaxState& other) {
    const float factor = raise(other.max);
    sum += other.sum * weight(other.max);
    return factor;
  }

  // The factor that normalises what has been accumulated: 0 without scores.
  __device__ float normalizer() const { return sum == 0.0f ? 0.0f : fast_divide(1.0f, sum); }

  // The base-2 logarithm of the sum of 2^score: -inf without scores.
  __device__ float lse() const { return max + log2f(sum); }
};

}  // namespace fictl::device
