// Quantization with a scale for every block of 16 or 32 adjacent elements of a row: mxfp8, nvfp4,
// mxfp4.
//
//   mxfp8   e4m3, blocks of 32, scale 2^k: the least that keeps the block's largest within 448
//   mxfp4   e2m1, blocks of 32, scale 2^k: the least that keeps it within 6
//   nvfp4   e2m1, blocks of 16, scale e4m3(largest / 6 * global), where a value is
//           e2m1 * scale / global
//
// Arithmetic is fp32, each step rounded to the nearest, so that any implementation gives the same
// bytes.
//
// Algorithm: a thread takes 16 adjacent elements at a time. They are a block, or half of one, of
// whose largest value two threads agree by a shuffle; both then know the scale, and one writes it.
//
// Traffic: values are read once and written once. A thread reads its 32 bytes by two loads, through
// L1 so that the sectors that both touch come from L2 once; adjacent threads hold adjacent
// elements, so that a warp reads 1 KB and writes 256 or 512 bytes in one piece. Scales are a byte a
// thread: those of four adjacent blocks share a word in every layout, and a warp's store makes one
// access of it.
//
// Tiling: a thread has the same 16 columns of two rows, whose 64 bytes it loads before it computes:
// 700 threads per SM then cover the latency of HBM, where registers admit 1536. A block is up to
// 256 threads along a row, in as many even parts as the row needs, or several short rows. Where
// there is no instruction for e2m1, before sm_100, its arithmetic takes some 16 issue slots a
// value, four fifths of the time that memory takes: hence the effort in e2m1.cuh, the two rows that
// share the arithmetic of addresses, and one formula for all layouts of scales.
//
// Rows and columns that only the padded scales have are threads as well: they write zeros.
#pragma once

#include <float.h>

#include <type_traits>

#include <fictl/device/convert.cuh>
#include <fictl/device/e2m1.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/quantization/scale_layout.cuh>

namespace fictl::quantization {

constexpr int kPartValues = 16;
constexpr int kRows = 2;  // a thread, a part of each
constexpr int kBlockScaledThreads = 256;

// The byte of a block's scale, and the factor of its values.
struct BlockScale {
  uint8_t byte;
  float factor;
};

// The second-level scale of nvfp4: one number, or with pitch 1 one a row; or its inverse.
struct GlobalScale {
  const float* data = nullptr;
  int64_t pitch = 0;
  bool inverse = false;
};

// The least power of two of which `most` is no less than a block's largest value.
struct PowerOfTwo {
  float most;

  __device__ BlockScale operator()(float largest) const {
    using Scale = device::Element<__nv_fp8_e8m0>;
    const __nv_fp8_e8m0 scale = Scale::from_float(largest * (1.0f / most));
    return {scale.__x, 1.0f / Scale::to_float(scale)};
  }
};

struct MxFp8 {
  static constexpr int kBlock = 32;
  static constexpr int kPartBytes = 16;

  static __device__ PowerOfTwo scale_of(const GlobalScale&, int, bool) { return {448.0f}; }

  static __device__ uint4 pack(const float (&x)[kPartValues], float factor) {
    float scaled[kPartValues];
#pragma unroll
    for (int i = 0; i < kPartValues; ++i) scaled[i] = x[i] * factor;
    auto packed = device::from_float<__nv_fp8_e4m3>(scaled);
    return packed.bits();
  }
};

struct Fp4 {
  static constexpr int kPartBytes = 8;

  static __device__ uint2 pack(const float (&x)[kPartValues], float factor) {
    const auto& halves = reinterpret_cast<const float (&)[2][kPartValues / 2]>(x);
    return make_uint2(device::to_e2m1(halves[0], factor), device::to_e2m1(halves[1], factor));
  }
};

struct MxFp4 : Fp4 {
  static constexpr int kBlock = 32;

  static __device__ PowerOfTwo scale_of(const GlobalScale&, int, bool) {
    return {device::kE2M1Most};
  }
};

struct NvFp4 : Fp4 {
  static constexpr int kBlock = 16;

  class Scale {
   public:
    __device__ explicit Scale(float global)
        : encode_(global * (1.0f / device::kE2M1Most)), decode_(1.0f / global) {}

    // Why the minimum: a block so small that its scale is 0 is to be zeros times that, not NaN.
    __device__ BlockScale operator()(float largest) const {
      using E4M3 = device::Element<__nv_fp8_e4m3>;
      const __nv_fp8_e4m3 scale = E4M3::from_float(largest * encode_);
      return {scale.__x, fminf(1.0f / (E4M3::to_float(scale) * decode_), FLT_MAX)};
    }

   private:
    float encode_;
    float decode_;
  };

  static __device__ Scale scale_of(const GlobalScale& global, int row, bool has_values) {
    if (!has_values) return Scale(1.0f);
    const float scale = __ldca(global.data + row * global.pitch);
    return Scale(global.inverse ? 1.0f / scale : scale);
  }
};

// Widths in parts; row strides (pitches) in elements of the input and in bytes of the output. An
// output row may have more values than an input row: they are zeros. `aligned` says that pointers
// and pitches are multiples of a thread's widest accesses.
struct BlockScaledShape {
  int rows;
  int input_parts;
  int output_parts;
  int64_t input_pitch;
  int64_t output_pitch;
  ScaleMatrix scales;
  bool aligned = false;
};

// Loads sixteen values; zeros beyond the end.
template <typename T>
class BlockPart {
 public:
  __device__ void load(const T* from, bool inside, bool aligned) {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) vecs_[i].bits() = make_uint4(0, 0, 0, 0);
    if (!inside) return;
    if (aligned) {
#pragma unroll
      for (int i = 0; i < kVecs; ++i) vecs_[i] = device::load_l1<kN>(from + i * kN);
    } else {
#pragma unroll
      for (int i = 0; i < kPartValues; ++i) vecs_[i / kN][i % kN] = from[i];
    }
  }

  // The largest magnitude; NaN if there is one.
  __device__ float largest() const {
    const auto* pairs = reinterpret_cast<const typename device::Pair<T>::type*>(vecs_);
    auto most = __habs2(pairs[0]);
#pragma unroll
    for (int i = 1; i < kPartValues / 2; ++i) most = __hmax2_nan(most, __habs2(pairs[i]));
    return device::Element<T>::to_float(__hmax_nan(most.x, most.y));
  }

  __device__ void to_float(float (&to)[kPartValues]) const {
    const auto* words = reinterpret_cast<const uint32_t*>(vecs_);
#pragma unroll
    for (int i = 0; i < kPartValues / 2; ++i) {
      if constexpr (std::is_same_v<T, __nv_bfloat16>) {
        // Why not the library's conversion: it takes three instructions for the two.
        to[2 * i] = __uint_as_float(words[i] << 16);
        to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000);
      } else {
        const float2 pair = __half22float2(reinterpret_cast<const __half2&>(words[i]));
        to[2 * i] = pair.x;
        to[2 * i + 1] = pair.y;
      }
    }
  }

 private:
  static constexpr int kN = device::kVecBytes / sizeof(T);
  static constexpr int kVecs = kPartValues / kN;
  device::Vec<T, kN> vecs_[kVecs];
};

template <typename Packed>
__device__ void store_part(uint8_t* to, const Packed& packed, bool aligned) {
  if (aligned) {
    __stcg(reinterpret_cast<Packed*>(to), packed);
  } else {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&packed);
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(Packed)); ++i) to[i] = bytes[i];
  }
}

// blockDim.y times kRows rows a block, whose parts lie along blockDim.x and the grid's y. kPlain
// says that all is aligned and that there is no global scale or one for all rows.
template <typename Format, typename T, bool kPlain>
__global__ void __launch_bounds__(kBlockScaledThreads)
    BlockQuantizeKernel(const T* input, GlobalScale global, uint8_t* output, uint8_t* scales,
                        BlockScaledShape shape) {
  constexpr int kThreadsABlock = Format::kBlock / kPartValues;
  const int row = (blockIdx.x * blockDim.y + threadIdx.y) * kRows;
  const int part = blockIdx.y * blockDim.x + threadIdx.x;
  const int block = part / kThreadsABlock;
  const int input_rows = part < shape.input_parts ? shape.rows - row : 0;
  const int output_rows = part < shape.output_parts ? shape.rows - row : 0;
  const bool has_scale = part % kThreadsABlock == 0 && block < shape.scales.cols();
  const int scale_rows = has_scale ? shape.scales.rows() - row : 0;
  const bool aligned = kPlain || shape.aligned;
  const T* from = input + row * shape.input_pitch + int64_t{part} * kPartValues;
  uint8_t* to = output + row * shape.output_pitch + int64_t{part} * Format::kPartBytes;
  uint8_t* scale_to = scales + shape.scales.at(row, block);
  BlockPart<T> parts[kRows];

  device::pdl_wait();
  device::pdl_trigger();
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    parts[i].load(from + i * shape.input_pitch, i < input_rows, aligned);
  }
  auto scale_of = Format::scale_of(global, row, row < shape.rows);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (!kPlain && i > 0) scale_of = Format::scale_of(global, row + i, row + i < shape.rows);
    const float largest = device::warp_reduce(device::Max(), parts[i].largest(), kThreadsABlock);
    const BlockScale scale = scale_of(largest);
    if (i < output_rows) {
      float x[kPartValues];
      parts[i].to_float(x);
      store_part(to + i * shape.output_pitch, Format::pack(x, scale.factor), aligned);
    }
    if (i < scale_rows) scale_to[i * shape.scales.next_row()] = i < input_rows ? scale.byte : 0;
  }
}

// Parts of rows over a grid.
inline void tile_rows(device::LaunchConfig& config, int rows, int parts) {
  const int64_t groups = device::ceil_div(rows, kRows);
  if (parts <= device::kWarpSize) {
    unsigned lanes = 2;
    while (lanes < parts) lanes *= 2;
    config.block = dim3(lanes, kBlockScaledThreads / lanes);
    config.grid = dim3(device::ceil_div(groups, config.block.y));
    return;
  }
  const int64_t blocks = device::ceil_div(parts, kBlockScaledThreads);
  const int64_t warps = device::ceil_div(parts, blocks * device::kWarpSize);
  config.block = dim3(warps * device::kWarpSize);
  config.grid = dim3(groups, device::ceil_div(parts, config.block.x));
}

// `output` has bytes of the format's values, `scales` shape.scales.size() bytes. `pdl`: use
// programmatic dependent launch where the GPU supports it.
template <typename Format, typename T>
cudaError_t BlockQuantize(const T* input, const GlobalScale& global, uint8_t* output,
                          uint8_t* scales, BlockScaledShape shape, cudaStream_t stream = nullptr,
                          bool pdl = false) {
  constexpr int64_t kN = device::kVecBytes / sizeof(T);
  const int scale_parts = shape.scales.cols() * (Format::kBlock / kPartValues);
  const int parts = scale_parts > shape.output_parts ? scale_parts : shape.output_parts;
  if (shape.scales.rows() == 0 || parts == 0) return cudaSuccess;
  shape.aligned = device::vec_aligned(input) && shape.input_pitch % kN == 0 &&
                  reinterpret_cast<uintptr_t>(output) % Format::kPartBytes == 0 &&
                  shape.output_pitch % Format::kPartBytes == 0;

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  tile_rows(config, shape.scales.rows(), parts);
  if (shape.aligned && global.pitch == 0) {
    return device::launch<BlockQuantizeKernel<Format, T, true>>(config, input, global, output,
                                                                scales, shape);
  }
  return device::launch<BlockQuantizeKernel<Format, T, false>>(config, input, global, output,
                                                               scales, shape);
}

}  // namespace fictl::quantization
