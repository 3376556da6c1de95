// Converts values of blocks with scales to fp32: value * (scale * global), each product rounded
// once.
//
// Traffic: half a byte or a byte a value is read, four are written, so that stores decide. A thread
// has four values at a time, which are one store of 16 bytes; adjacent threads store adjacent
// vectors. It does so four times, a block's width apart, so that its loads overlap.
//
// global may be null, which is 1. Scales are e4m3, or the exponents of powers of two (e8m0).
#pragma once

#include <fictl/device/convert.cuh>
#include <fictl/device/e2m1.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/quantization/scale_layout.cuh>

namespace fictl::quantization {

constexpr int kQuad = 4;          // values of one store
constexpr int kQuadsAThread = 4;  // of one row
constexpr int kDequantizeThreads = 128;

struct E2M1Values {
  static constexpr int kQuadBytes = 2;

  static __device__ float4 unpack(uint32_t quad) {
    return make_float4(device::from_e2m1(quad), device::from_e2m1(quad >> 4),
                       device::from_e2m1(quad >> 8), device::from_e2m1(quad >> 12));
  }
};

struct E4M3Values {
  static constexpr int kQuadBytes = 4;

  static __device__ float4 unpack(uint32_t quad) {
    device::Vec<__nv_fp8_e4m3, kQuad> vec;
    vec.bits() = quad;
    float values[kQuad];
    device::to_float(vec, values);
    return make_float4(values[0], values[1], values[2], values[3]);
  }
};

// Row strides (pitches) in bytes of the values and in elements of the output; a block has
// 2^block_shift values.
struct BlockDequantizeShape {
  int rows;
  int quads;
  int64_t values_pitch;
  int64_t output_pitch;
  int block_shift;
  bool e4m3_scales;
  ScaleMatrix scales;
};

__device__ inline float decode_scale(uint8_t byte, bool e4m3) {
  if (e4m3) {
    __nv_fp8_e4m3 scale;
    scale.__x = byte;
    return device::Element<__nv_fp8_e4m3>::to_float(scale);
  }
  __nv_fp8_e8m0 scale;
  scale.__x = byte;
  return device::Element<__nv_fp8_e8m0>::to_float(scale);
}

template <int kBytes, bool kAligned>
__device__ uint32_t load_quad(const uint8_t* from) {
  if constexpr (kAligned) {
    return __ldcg(reinterpret_cast<const typename device::Word<kBytes>::type*>(from));
  } else {
    uint32_t quad = 0;
#pragma unroll
    for (int i = 0; i < kBytes; ++i) quad |= static_cast<uint32_t>(from[i]) << (8 * i);
    return quad;
  }
}

template <bool kAligned>
__device__ void store_quad(float* to, float4 quad, float scale) {
  quad = make_float4(quad.x * scale, quad.y * scale, quad.z * scale, quad.w * scale);
  if constexpr (kAligned) {
    __stcg(reinterpret_cast<float4*>(to), quad);
  } else {
    to[0] = quad.x;
    to[1] = quad.y;
    to[2] = quad.z;
    to[3] = quad.w;
  }
}

// blockDim.y rows a block; quads of a row along blockDim.x, then along the grid's y.
template <typename Values, bool kAligned>
__global__ void __launch_bounds__(kDequantizeThreads)
    BlockDequantizeKernel(const uint8_t* values, const uint8_t* scales, const float* global,
                          float* output, BlockDequantizeShape shape) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const int first = blockIdx.y * blockDim.x * kQuadsAThread + threadIdx.x;
  if (row >= shape.rows) return;
  const uint8_t* from = values + row * shape.values_pitch;
  float* to = output + row * shape.output_pitch;
  uint32_t quads[kQuadsAThread];
  uint8_t bytes[kQuadsAThread];

  device::pdl_wait();
  device::pdl_trigger();
#pragma unroll
  for (int i = 0; i < kQuadsAThread; ++i) {
    const int quad = first + i * blockDim.x;
    if (quad >= shape.quads) continue;
    const int block = static_cast<int>(int64_t{quad} * kQuad >> shape.block_shift);
    quads[i] = load_quad<Values::kQuadBytes, kAligned>(from + int64_t{quad} * Values::kQuadBytes);
    bytes[i] = __ldca(scales + shape.scales.at(row, block));
  }
  const float of_all = global == nullptr ? 1.0f : __ldca(global);
#pragma unroll
  for (int i = 0; i < kQuadsAThread; ++i) {
    const int quad = first + i * blockDim.x;
    if (quad >= shape.quads) continue;
    const float scale = decode_scale(bytes[i], shape.e4m3_scales) * of_all;
    store_quad<kAligned>(to + int64_t{quad} * kQuad, Values::unpack(quads[i]), scale);
  }
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename Values>
cudaError_t BlockDequantize(const uint8_t* values, const uint8_t* scales, const float* global,
                            float* output, const BlockDequantizeShape& shape,
                            cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.quads == 0) return cudaSuccess;
  const bool aligned = reinterpret_cast<uintptr_t>(values) % Values::kQuadBytes == 0 &&
                       shape.values_pitch % Values::kQuadBytes == 0 &&
                       device::vec_aligned(output) && shape.output_pitch % kQuad == 0;
  const int64_t threads = device::ceil_div(shape.quads, kQuadsAThread);
  unsigned lanes = 1;
  while (lanes < threads && lanes < kDequantizeThreads) lanes *= 2;

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.block = dim3(lanes, kDequantizeThreads / lanes);
  config.grid =
      dim3(device::ceil_div(shape.rows, config.block.y), device::ceil_div(threads, lanes));
  if (aligned) {
    return device::launch<BlockDequantizeKernel<Values, true>>(config, values, scales, global,
                                                               output, shape);
  }
  return device::launch<BlockDequantizeKernel<Values, false>>(config, values, scales, global,
                                                              output, shape);
}

}  // namespace fictl::quantization
