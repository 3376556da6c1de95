// The running state of a softmax: one read of the scores, whose largest one is not known before.
//
// Scores are logarithms to the base 2: natural ones times log2(e). What has been summed up, and
// what a caller has added up with the same weights, is scaled each time that the largest score
// grows. A score of -inf weighs nothing. A NaN makes the sum NaN.
#pragma once

#include <float.h>
#include <math.h>

#include <fictl/device/functions.cuh>

namespace fictl::device {

// sum * 2^max is meant. A part of the scores whose logarithm of the sum is known is like one score.
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
  // Of nothing at all. Why not -inf: a difference from -inf is NaN. From this number, the weight of
  // -inf is 0, and what is scaled before any score is 0 anyway.
  static constexpr float kLeastMax = -FLT_MAX;

  float max = kLeastMax;
  float sum = 0.0f;

  // Gets ready for scores of up to `most`. Returns what to multiply with whatever has been added up
  // before, which is done with the sum.
  __device__ float raise(float most) {
    const float before = max;
    max = fmaxf(max, most);
    const float factor = fast_exp2(before - max);
    sum *= factor;
    return factor;
  }

  // Of a score that is not above max.
  __device__ float weight(float score) const { return fast_exp2(score - max); }

  // One more score, or part; returns what raise() does.
  __device__ float add(float score) {
    const float factor = raise(score);
    sum += weight(score);
    return factor;
  }

  // All scores of another one; returns what raise() does. The other's are to be multiplied with
  // weight(other.max).
  __device__ float add(const SoftmaxState& other) {
    const float factor = raise(other.max);
    sum += other.sum * weight(other.max);
    return factor;
  }

  // What to multiply with what has been added up: 0 where there is nothing.
  __device__ float normalizer() const { return sum == 0.0f ? 0.0f : fast_divide(1.0f, sum); }

  // The logarithm to the base 2 of the sum of 2^score: -inf where there is nothing.
  __device__ float lse() const { return max + log2f(sum); }
};

}  // namespace fictl::device
