// The angles of rotary position embeddings, exact at any position, as cosines and sines.
//
// Pair i of a row of rotary_dim values turns by theta^(-2 i / rotary_dim) / scale radians from one
// position to the next. In fp32 an angle at position 131072 would be off by up to 0.008, so that
// frequencies and angles are fp64, in turns, of which whole ones change nothing: what is left is
// small, and fp32 is as good as the result. That is some fifty instructions of fp64 a pair, while
// its position is on its way. Why not a table of the frequencies, which the host could make: as an
// argument of the kernel, 2 KiB of it take longer to launch than a small kernel takes.
#pragma once

#include <math.h>
#include <stdint.h>

#include <cuda_runtime.h>

namespace fictl::rope {

constexpr double kRadiansATurn = 2 * 3.14159265358979323846;

// The frequencies that the scale divides: all if the slope is 0. Llama 3.1 leaves fast ones as they
// are, divides slow ones, and mixes the two in between.
struct Smoothing {
  double slope = 0;
  double offset = 0;

  // `low_factor` and `high_factor` are turns in `old_context` positions.
  static Smoothing llama31(double low_factor, double high_factor, double old_context) {
    const double range = high_factor - low_factor;
    return {old_context / (kRadiansATurn * range), -low_factor / range};
  }
};

// Angles by position and pair.
class Frequencies {
 public:
  Frequencies(int rotary_dim, double scale, double theta, const Smoothing& smoothing)
      : log2_step_(-2 * log2(theta) / (rotary_dim == 0 ? 1 : rotary_dim)),
        divided_(1 / scale),
        smoothing_(smoothing) {}

  // (cos, sin)
  __device__ float2 operator()(int position, int pair) const { return at(position, turns(pair)); }

  // The same, from what turns() returned for the pair.
  __device__ static float2 at(int position, double turns) {
    const auto steps = static_cast<double>(position);
    const double part = fma(steps, turns, -rint(steps * turns));
    float2 result;
    sincospif(static_cast<float>(2 * part), &result.y, &result.x);
    return result;
  }

  // The turns of a pair from one position to the next.
  __device__ double turns(int pair) const {
    const double radians = exp2(pair * log2_step_);
    const double kept = fmin(fmax(radians * smoothing_.slope + smoothing_.offset, 0.0), 1.0);
    return radians * (1 / kRadiansATurn) * (divided_ + kept * (1 - divided_));
  }

 private:
  double log2_step_;
  double divided_;
  Smoothing smoothing_;
};

// The same from a table: a row of rotary_dim values a position, cosines then sines.
struct CosSinTable {
  const float* rows;
  int rotary_dim;

  __device__ float2 operator()(int position, int pair) const {
    const float* row = rows + static_cast<int64_t>(position) * rotary_dim;
    return {row[pair], row[pair + rotary_dim / 2]};
  }
};

}  // namespace fictl::rope
