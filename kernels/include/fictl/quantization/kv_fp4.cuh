// nvfp4 of KV caches: e2m1, and for each block of 16 adjacent values of a head an e4m3 scale, in
// linear layout. A value is e2m1 * scale * a global scale, which here multiplies, unlike in
// block_scaled.cuh.
//
// The scale is the block's largest value over 6 * global, rounded to e4m3: at most 448. A block so
// small that its scale is 0 is zeros. A NaN makes its block NaN by the scale; a global scale that
// is not positive and finite does so to all blocks.
#pragma once

#include <fictl/quantization/block_scaled.cuh>

namespace fictl::quantization {

// The global scale: a number, or one in memory that the kernel reads.
struct KvGlobal {
  const float* data = nullptr;
  float value = 1.0f;

  __device__ float get() const { return data == nullptr ? value : __ldca(data); }
};

// The scale of a block, and the factor of its values. Each step is rounded to the nearest, so that
// any implementation gives the same bytes.
class KvScale {
 public:
  // Why the minimum: a reciprocal beyond the range is to make zeros of zeros, not NaN.
  __device__ explicit KvScale(float global)
      : encode_(fminf(1.0f / (device::kE2M1Most * global), FLT_MAX)), decode_(global) {
    if (!(global > 0.0f && global <= FLT_MAX)) encode_ = nanf("");
  }

  __device__ BlockScale operator()(float largest) const {
    using E4M3 = device::Element<__nv_fp8_e4m3>;
    const __nv_fp8_e4m3 scale = E4M3::from_float(largest * encode_);
    const float rounded = E4M3::to_float(scale);
    return {scale.__x, rounded > 0.0f ? fminf(1.0f / (rounded * decode_), FLT_MAX) : 0.0f};
  }

 private:
  float encode_;
  float decode_;
};

// A format of BlockQuantize.
struct KvFp4 : Fp4 {
  static constexpr int kBlock = 16;

  static __device__ KvScale scale_of(const GlobalScale& global, int, bool has_values) {
    return KvScale(has_values ? __ldca(global.data) : 1.0f);
  }
};

}  // namespace fictl::quantization
