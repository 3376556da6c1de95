// fused_add_rmsnorm_fp8_block_quant: residual += input; normed = residual / sqrt(mean(residual^2) +
// eps) * weight, from the sum in fp32 and rounded once; out = normed / scale in fp8, with a scale
// for each block of 128 values of the rounded normed: what a block-scaled matrix product takes.
//
// Algorithm: the threads of a row add up its squares, agree on the sum, and normalize what they
// hold. The largest magnitude of a block is found on the bits of the rounded numbers, two an
// instruction, as quantization/fp8.cuh does it, so that out is what a quantization of normed gives.
//
// Traffic: a row is read once, with its residual, and residual, normed (if it is asked for) and out
// are written once: 9 bytes a value of 16 bits, where a norm and a quantization after it move 11.
// Between the two a row waits in registers. The limit is the memory's bandwidth.
//
// Tiling: up to 16384 values, a block a row, two vectors of 16 bytes a thread and as many of the
// residual: 64 bytes in flight a thread, and 1500 threads per SM by their registers, are more than
// the latency of HBM asks for; four vectors would not fit the registers of 1024 threads. 16
// adjacent lanes have a block of 128 values and agree on its scale by shuffles: no shared memory
// but for the row's sum. Longer rows are walked twice by a block of 1024 threads; L2 has most of
// them the second time. How many threads a row has follows from its size alone: its result is the
// same, bit by bit, whatever is batched with it.
//
// Scales of a block's number are adjacent for adjacent rows, in columns of their own, as the
// product's loads want them; a row writes one number to each column, and L2 merges those of
// neighbours. The last row writes zeros to the padding behind it.
//
// Where a pointer or a pitch is not aligned to a vector, its elements are loaded one by one.
#pragma once

#include <fictl/device/convert.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/quantization/fp8.cuh>

namespace fictl::norm {

constexpr int kBlockQuantVecs = 2;       // a thread
constexpr int kQuantBlock = 128;         // values with one scale
constexpr float kQuantBlockEps = 1e-4f;  // what the largest magnitude of a block is at least

// Sizes and pitches in elements.
struct BlockQuantShape {
  int64_t rows;
  int64_t hidden;  // a multiple of kQuantBlock
  int64_t input_pitch;
  int64_t residual_pitch;
  int64_t normed_pitch;
  int64_t out_pitch;
  int64_t scale_pitch;  // from a block's column of scales to the next one's
  int64_t scale_rows;   // of a column, with the padding
};

template <typename T>
struct BlockQuantTensors {
  const T* input;
  T* residual;  // becomes the sum
  const T* weight;
  T* normed;  // null: not written
  __nv_fp8_e4m3* out;
  float* scales;
  float eps;

  __device__ BlockQuantTensors from_row(const BlockQuantShape& shape, int64_t row) const {
    BlockQuantTensors tensors = *this;
    tensors.input += row * shape.input_pitch;
    tensors.residual += row * shape.residual_pitch;
    if (normed != nullptr) tensors.normed += row * shape.normed_pitch;
    tensors.out += row * shape.out_pitch;
    tensors.scales += row;
    return tensors;
  }
};

// Loads N elements, at once if they are aligned.
template <bool kAligned, int N, typename T>
__device__ device::Vec<T, N> load_elements(const T* from) {
  if constexpr (kAligned) {
    return device::load_l2<N>(from);
  } else {
    device::Vec<T, N> vec;
#pragma unroll
    for (int i = 0; i < N; ++i) vec[i] = device::load_l2<1>(from + i)[0];
    return vec;
  }
}

template <bool kAligned, typename T, int N>
__device__ void store_elements(T* to, device::Vec<T, N> vec) {
  if constexpr (kAligned) {
    device::store_l2(to, vec);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) device::store_l2(to + i, device::Vec<T, 1>{{vec[i]}});
  }
}

// The vectors of a row that a thread holds: every blockDim.x-th from `start` on, kVecs of them.
template <typename T, bool kAligned>
class BlockQuantPart {
 public:
  static constexpr int N = device::kVecBytes / sizeof(T);
  static constexpr int kVecs = kBlockQuantVecs;
  static constexpr int kLanes = kQuantBlock / N;  // of a block of values

  __device__ BlockQuantPart(int64_t start, int64_t hidden)
      : first_(start + static_cast<int64_t>(threadIdx.x) * N), hidden_(hidden) {}

  __device__ void load(const BlockQuantTensors<T>& row) {
    each([&](int i, int64_t at) {
      input_[i] = load_elements<kAligned, N>(row.input + at);
      residual_[i] = load_elements<kAligned, N>(row.residual + at);
    });
  }

  __device__ void load_weights(const T* weight) {
    each([&](int i, int64_t at) {
      if constexpr (kAligned) {
        weight_[i] = device::load_l1<N>(weight + at);
      } else {
        weight_[i] = load_elements<false, N>(weight + at);
      }
    });
  }

  __device__ float squares() const {
    float sum = 0.0f;
    each([&](int i, int64_t) {
      float x[N];
      values(i, x);
#pragma unroll
      for (int j = 0; j < N; ++j) sum += x[j] * x[j];
    });
    return sum;
  }

  __device__ void store_residual(const BlockQuantTensors<T>& row) const {
    each([&](int i, int64_t at) {
      float x[N];
      values(i, x);
      store_elements<kAligned>(row.residual + at, device::from_float<T>(x));
    });
  }

  // `padding`: zeros that follow the scales of this row.
  __device__ void store(const BlockQuantTensors<T>& row, float factor, int64_t scale_pitch,
                        int padding) {
    using Magnitudes = quantization::Magnitudes<T>;
    normalize(factor);
    unsigned largest[kVecs / 2];
#pragma unroll
    for (int i = 0; i < kVecs; i += 2) {
      largest[i / 2] = Magnitudes::join(Magnitudes::of(input_[i]), Magnitudes::of(input_[i + 1]));
#pragma unroll
      for (int lane = 1; lane < kLanes; lane *= 2) {
        largest[i / 2] =
            Magnitudes::larger(largest[i / 2], __shfl_xor_sync(0xffffffff, largest[i / 2], lane));
      }
    }
    each([&](int i, int64_t at) {
      const float scale = quantization::scale_of<__nv_fp8_e4m3>(
          Magnitudes::at(largest[i / 2], i % 2), kQuantBlockEps);
      if (row.normed != nullptr) store_elements<kAligned>(row.normed + at, input_[i]);
      const float inverse = device::fast_divide(1.0f, scale);
      store_elements<kAligned>(row.out + at,
                               quantization::quantized<__nv_fp8_e4m3>(input_[i], inverse));
      if (threadIdx.x % kLanes == 0) {
        float* const to = row.scales + at / kQuantBlock * scale_pitch;
        *to = scale;
        for (int j = 1; j <= padding; ++j) to[j] = 0.0f;
      }
    });
  }

 private:
  // Calls body(i, where vector i starts) for those that the row has.
  template <typename Body>
  __device__ void each(Body body) const {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int64_t at = first_ + static_cast<int64_t>(i) * blockDim.x * N;
      if (at < hidden_) body(i, at);
    }
  }

  __device__ void values(int i, float (&x)[N]) const {
    float added[N];
    device::to_float(input_[i], x);
    device::to_float(residual_[i], added);
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] += added[j];
  }

  // Replaces what was loaded by the rounded normed values; zeros where the row has none.
  __device__ void normalize(float factor) {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      device::keep_packed(input_[i]);
      device::keep_packed(residual_[i]);
      device::keep_packed(weight_[i]);
      float x[N], weight[N];
      values(i, x);
      device::to_float(weight_[i], weight);
#pragma unroll
      for (int j = 0; j < N; ++j) x[j] = x[j] * factor * weight[j];
      input_[i] = device::from_float<T>(x);
    }
  }

  int64_t first_;
  int64_t hidden_;
  device::Vec<T, N> input_[kVecs] = {};
  device::Vec<T, N> residual_[kVecs] = {};
  device::Vec<T, N> weight_[kVecs] = {};
};

// The zeros behind the scales of this block's row: of the last row alone.
__device__ inline int padding_of(const BlockQuantShape& shape) {
  return blockIdx.x + 1 == shape.rows ? static_cast<int>(shape.scale_rows - shape.rows) : 0;
}

// A block per row, whose threads hold all of it.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(device::kMaxThreads)
    BlockQuantKernel(BlockQuantTensors<T> tensors, BlockQuantShape shape, float inverse_hidden) {
  const auto row = tensors.from_row(shape, blockIdx.x);
  BlockQuantPart<T, kAligned> part(0, shape.hidden);
  device::pdl_wait();
  device::pdl_trigger();
  part.load(row);
  part.load_weights(row.weight);
  // Why: ptxas would move loads behind the arithmetic of earlier ones.
  __syncwarp();

  __shared__ device::BlockSum::Storage storage;
  part.store_residual(row);
  const float squares = device::BlockSum(storage)(part.squares());
  part.store(row, rsqrtf(squares * inverse_hidden + row.eps), shape.scale_pitch, padding_of(shape));
}

// A block per row of any length.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(device::kMaxThreads)
    BlockQuantLongKernel(BlockQuantTensors<T> tensors, BlockQuantShape shape,
                         float inverse_hidden) {
  using Part = BlockQuantPart<T, kAligned>;
  const auto row = tensors.from_row(shape, blockIdx.x);
  const int64_t step = static_cast<int64_t>(blockDim.x) * Part::N * Part::kVecs;
  device::pdl_wait();
  device::pdl_trigger();
  float squares = 0.0f;
  for (int64_t start = 0; start < shape.hidden; start += step) {
    Part part(start, shape.hidden);
    part.load(row);
    squares += part.squares();
  }
  __shared__ device::BlockSum::Storage storage;
  squares = device::BlockSum(storage)(squares);
  const float factor = rsqrtf(squares * inverse_hidden + row.eps);
  for (int64_t start = 0; start < shape.hidden; start += step) {
    Part part(start, shape.hidden);
    part.load(row);
    part.load_weights(row.weight);
    part.store_residual(row);
    part.store(row, factor, shape.scale_pitch, padding_of(shape));
  }
}

template <typename T, bool kAligned>
cudaError_t LaunchBlockQuant(device::LaunchConfig config, const BlockQuantTensors<T>& tensors,
                             const BlockQuantShape& shape) {
  constexpr int N = device::kVecBytes / sizeof(T);
  const float inverse_hidden = 1.0f / static_cast<float>(shape.hidden);
  const int64_t warps = device::ceil_div(shape.hidden, N * kBlockQuantVecs * device::kWarpSize);
  const int64_t threads = warps * device::kWarpSize;
  config.grid = dim3(shape.rows);
  if (threads <= device::kMaxThreads) {
    config.block = dim3(threads);
    return device::launch<BlockQuantKernel<T, kAligned>>(config, tensors, shape, inverse_hidden);
  }
  config.block = dim3(device::kMaxThreads);
  return device::launch<BlockQuantLongKernel<T, kAligned>>(config, tensors, shape, inverse_hidden);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t RMSNormBlockQuant(const BlockQuantTensors<T>& tensors, const BlockQuantShape& shape,
                              cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.hidden == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  const bool aligned =
      device::vec_aligned(tensors.input) && device::vec_aligned(tensors.residual) &&
      device::vec_aligned(tensors.weight) && device::vec_aligned(tensors.normed) &&
      reinterpret_cast<uintptr_t>(tensors.out) % N == 0 &&
      (shape.input_pitch | shape.residual_pitch | shape.normed_pitch | shape.out_pitch) % N == 0;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? LaunchBlockQuant<T, true>(config, tensors, shape)
                 : LaunchBlockQuant<T, false>(config, tensors, shape);
}

}  // namespace fictl::norm
