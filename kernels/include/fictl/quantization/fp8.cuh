// per_token_group_quant_8bit, per_tensor_quant_fp8: quantization to eight bits with a scale for
// every group of a row, or one for the whole tensor: out = x / scale, rounded once from fp32, and
// scale = max(largest |x|, eps) / largest number of out's type.
//
// Algorithm: the largest magnitude is found on the bits of the numbers without their sign, whose
// order as integers is that of magnitudes, and where NaN is above infinity, so that it is not lost.
// 16-bit numbers are compared two an instruction: element by element and with a division a group,
// the kernel would wait for its arithmetic, not for memory.
//
// Traffic: of groups, x is read once and out is written once, which is half as much; between the
// two a group waits in registers. The limit is the memory's bandwidth: 16384 x 7168 of bf16 take
// 84 us on an H200, as a copy of so many bytes does. Of a tensor, x is read twice, unless the scale
// is given.
//
// Tiling, of groups of up to 32 vectors of 16 bytes, as 128 values of bf16 are 16: a vector a lane
// and a group on adjacent lanes, which agree by shuffles; no shared memory, no barrier. A warp has
// kGroupVecs times 512 bytes of one row in flight, and a block has eight rows: eight scales in a
// column of the column-major ones, which L2 merges into one sector. Other groups, and those that
// are not aligned, have a block each, which walks over them twice; L1 or L2 has them the second
// time.
//
// Of a tensor: one wave of blocks leaves the largest magnitude of each, and in a second kernel
// every block looks through these, so that there is nothing to zero before and no block waits for
// another. It walks the tensor backwards: what the first kernel has read last is still in L2.
#pragma once

#include <limits.h>

#include <fictl/device/convert.cuh>
#include <fictl/device/divisor.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace fictl::quantization {

// The largest finite number of a type of eight bits; of int8, the one that has a negative.
template <typename Q>
constexpr float kLargest = 127.0f;
template <>
constexpr float kLargest<__nv_fp8_e4m3> = 448.0f;
template <>
constexpr float kLargest<__nv_fp8_e5m2> = 57344.0f;

// Clamps to the range.
template <typename Q, int N>
__device__ device::Vec<Q, N> narrow(const float (&values)[N]) {
  if constexpr (device::Element<Q>::kCode == device::Element<int8_t>::kCode) {
    device::Vec<Q, N> narrowed;
#pragma unroll
    for (int i = 0; i < N; ++i) narrowed[i] = device::narrow<Q>(values[i]);
    return narrowed;
  } else {
    return device::from_float<Q>(values);
  }
}

template <typename Q, typename T, int N>
__device__ device::Vec<Q, N> quantized(const device::Vec<T, N>& vec, float inverse) {
  float values[N];
  device::to_float(vec, values);
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] *= inverse;
  return narrow<Q>(values);
}

// Magnitudes of T by their bits, in a word: of a type of 16 bits there are two, which the GPU
// compares in one instruction.
template <typename T>
struct Magnitudes {
  static constexpr int kInWord = sizeof(unsigned) / sizeof(T);

  __device__ static unsigned larger(unsigned a, unsigned b) {
    if constexpr (kInWord == 2) return __vmaxu2(a, b);
    return a > b ? a : b;
  }

  // The largest of vec in each place of a word.
  template <int N>
  __device__ static unsigned of(device::Vec<T, N> vec) {
    constexpr unsigned kMask = kInWord == 2 ? 0x7fff7fffu : 0x7fffffffu;
    if constexpr (N < kInWord) {
      return vec.bits() & kMask;
    } else {
      const auto* words = reinterpret_cast<const unsigned*>(&vec.bits());
      unsigned largest = words[0] & kMask;
#pragma unroll
      for (int i = 1; i < N / kInWord; ++i) largest = larger(largest, words[i] & kMask);
      return largest;
    }
  }

  // The largest of a in the low place, that of b in the high one.
  __device__ static unsigned join(unsigned a, unsigned b) {
    return larger(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
  }

  // The magnitude in one place of a word.
  __device__ static float at(unsigned word, int place) {
    if constexpr (kInWord == 2) {
      const auto bits = static_cast<unsigned short>(place == 0 ? word : word >> 16);
      return device::Element<T>::to_float(reinterpret_cast<const T&>(bits));
    }
    return __uint_as_float(word);
  }

  // The bits of the largest one as fp32.
  __device__ static unsigned bits(unsigned word) {
    if constexpr (kInWord == 2) word = join(word, word);
    return __float_as_uint(at(word, 0));
  }
};

// The scale of a group or a tensor. Why not by a division: it would cost as much as the conversion
// of eight values, and differs by a unit of the last place at most.
template <typename Q>
__device__ float scale_of(float largest, float eps) {
  return (largest < eps ? eps : largest) * (1.0f / kLargest<Q>);
}

// The smallest power of two that is not less.
__device__ inline float power_of_two_above(float scale) {
  constexpr float kLeast = 1e-10f;  // what it is at least, as in the format's other implementations
  if (scale != scale) return scale;
  const unsigned bits = __float_as_uint(scale < kLeast ? kLeast : scale);
  return __uint_as_float((bits + 0x007fffffu) & 0x7f800000u);
}

// Magnitudes by their bits in fp32, in a block.
struct MaxBits {
  static constexpr float kNone = 0.0f;

  __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

constexpr int kGroupVecs = 4;  // a thread
constexpr int kGroupRows = 8;  // a block

// Strides in elements. Scales are in rows or in columns, at any stride.
struct GroupQuantShape {
  int64_t rows;
  int64_t hidden;
  int64_t group_size;
  int64_t x_pitch;
  int64_t out_pitch;
  int64_t scale_row;
  int64_t scale_group;
};

struct GroupQuantScale {
  float eps;
  bool power_of_two;
};

template <typename Q>
__device__ float group_scale(float largest, GroupQuantScale wanted) {
  if (!wanted.power_of_two) return scale_of<Q>(largest, wanted.eps);
  return power_of_two_above((largest < wanted.eps ? wanted.eps : largest) / kLargest<Q>);
}

// A group has 2^lane_bits vectors, up to 32. blockDim.y rows a block, of which a warp has kVecs
// vectors a lane; `tiles` of these make a row. Pointers and pitches are multiples of N.
template <typename T, typename Q, int N, int kVecs>
__global__ void __launch_bounds__(device::kWarpSize* kGroupRows)
    GroupQuantKernel(const T* x, Q* out, float* scales, GroupQuantScale wanted,
                     GroupQuantShape shape, device::Divisor tiles, int lane_bits) {
  using Magnitudes = Magnitudes<T>;
  constexpr int kInWord = Magnitudes::kInWord;
  constexpr int kStep = device::kWarpSize * N;
  const device::Divisor::Result tile = tiles.divide(blockIdx.x);
  const int64_t row = static_cast<int64_t>(tile.quotient) * kGroupRows + threadIdx.y;
  const int first_vec = tile.remainder * kVecs * device::kWarpSize + threadIdx.x;
  const int first = first_vec * N;
  const int size = row < shape.rows ? static_cast<int>(shape.hidden) - first : 0;
  const int lanes = 1 << lane_bits;
  x += row * shape.x_pitch + first;
  out += row * shape.out_pitch + first;
  scales += row * shape.scale_row + (first_vec >> lane_bits) * shape.scale_group;

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> vecs[kVecs] = {};
#pragma unroll
  for (int i = 0; i < kVecs; ++i) {
    if (i * kStep < size) vecs[i] = device::load_l2<N>(x + i * kStep);
  }
  unsigned largest[kVecs / kInWord];
#pragma unroll
  for (int i = 0; i < kVecs; i += kInWord) {
    largest[i / kInWord] = Magnitudes::of(vecs[i]);
    if constexpr (kInWord == 2) {
      largest[i / 2] = Magnitudes::join(largest[i / 2], Magnitudes::of(vecs[i + 1]));
    }
  }
#pragma unroll
  for (int lane = 1; lane < device::kWarpSize; lane *= 2) {
    if (lane >= lanes) break;
#pragma unroll
    for (unsigned& word : largest) {
      word = Magnitudes::larger(word, __shfl_xor_sync(0xffffffff, word, lane));
    }
  }
#pragma unroll
  for (int i = 0; i < kVecs; ++i) {
    if (i * kStep >= size) break;
    const float scale = group_scale<Q>(Magnitudes::at(largest[i / kInWord], i % kInWord), wanted);
    device::keep_packed(vecs[i]);
    device::store_l2(out + i * kStep, quantized<Q>(vecs[i], device::fast_divide(1.0f, scale)));
    if ((threadIdx.x & (lanes - 1)) == 0) *scales = scale;
    scales += (device::kWarpSize >> lane_bits) * shape.scale_group;
  }
}

// A group a block, of any size and any number of warps.
template <typename T, typename Q, int N>
__global__ void __launch_bounds__(device::kMaxThreads)
    GroupQuantLongKernel(const T* x, Q* out, float* scales, GroupQuantScale wanted,
                         GroupQuantShape shape) {
  __shared__ device::BlockReduce<unsigned>::Storage storage;
  const int64_t groups = shape.hidden / shape.group_size;
  const int64_t row = blockIdx.x / groups;
  const int64_t group = blockIdx.x - row * groups;
  const T* from = x + row * shape.x_pitch + group * shape.group_size;
  Q* to = out + row * shape.out_pitch + group * shape.group_size;

  device::pdl_wait();
  device::pdl_trigger();
  unsigned bits = 0;
  for (int64_t at = threadIdx.x * N; at < shape.group_size; at += blockDim.x * N) {
    const unsigned word = Magnitudes<T>::of(device::load_l2<N>(from + at));
    bits = MaxBits()(bits, Magnitudes<T>::bits(word));
  }
  bits = device::BlockReduce<unsigned>(storage)(MaxBits(), bits);
  const float scale = group_scale<Q>(__uint_as_float(bits), wanted);
  const float inverse = device::fast_divide(1.0f, scale);
  for (int64_t at = threadIdx.x * N; at < shape.group_size; at += blockDim.x * N) {
    device::store_l2(to + at, quantized<Q>(device::load_l2<N>(from + at), inverse));
  }
  if (threadIdx.x == 0) scales[row * shape.scale_row + group * shape.scale_group] = scale;
}

template <typename T, typename Q, int N>
cudaError_t LaunchGroupQuantLong(device::LaunchConfig config, const T* x, Q* out, float* scales,
                                 GroupQuantScale wanted, const GroupQuantShape& shape) {
  constexpr int kMostWarps = device::kMaxThreads / device::kWarpSize;
  const int64_t warps = device::ceil_div(shape.group_size, N * device::kWarpSize);
  config.block = dim3((warps < kMostWarps ? warps : kMostWarps) * device::kWarpSize);
  config.grid = dim3(shape.rows * (shape.hidden / shape.group_size));
  return device::launch<GroupQuantLongKernel<T, Q, N>>(config, x, out, scales, wanted, shape);
}

// hidden is a multiple of group_size. `pdl`: use programmatic dependent launch where the GPU
// supports it.
template <typename T, typename Q>
cudaError_t GroupQuant(const T* x, Q* out, float* scales, GroupQuantScale wanted,
                       const GroupQuantShape& shape, cudaStream_t stream = nullptr,
                       bool pdl = false) {
  if (shape.rows == 0 || shape.hidden == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  const bool aligned = device::vec_aligned(x) && reinterpret_cast<uintptr_t>(out) % N == 0 &&
                       shape.x_pitch % N == 0 && shape.out_pitch % N == 0 &&
                       shape.group_size % N == 0;
  const int64_t lanes = shape.group_size / N;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (aligned && lanes <= device::kWarpSize && (lanes & (lanes - 1)) == 0 &&
      shape.hidden <= INT_MAX / 2) {
    int lane_bits = 0;
    while (1 << lane_bits < lanes) ++lane_bits;
    const int64_t tiles = device::ceil_div(shape.hidden, N * device::kWarpSize * kGroupVecs);
    config.block = dim3(device::kWarpSize, kGroupRows);
    config.grid = dim3(device::ceil_div(shape.rows, kGroupRows) * tiles);
    return device::launch<GroupQuantKernel<T, Q, N, kGroupVecs>>(
        config, x, out, scales, wanted, shape, device::Divisor(static_cast<int>(tiles)), lane_bits);
  }
  if (aligned) return LaunchGroupQuantLong<T, Q, N>(config, x, out, scales, wanted, shape);
  return LaunchGroupQuantLong<T, Q, 1>(config, x, out, scales, wanted, shape);
}

constexpr int kLargestThreads = 512;
constexpr int kLargestBlocks = 1024;  // at most
constexpr int kLargestVecs = 4;       // a thread at a time
constexpr int kTensorThreads = 256;
constexpr int kTensorVecs = 2;  // a thread
constexpr float kTensorEps = 1e-10f;

// Leaves the largest magnitude that a block finds among n elements in partials[blockIdx.x].
template <typename T, int N>
__global__ void __launch_bounds__(kLargestThreads)
    LargestKernel(const T* x, float* partials, int64_t n) {
  __shared__ device::BlockReduce<unsigned>::Storage storage;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kLargestThreads + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * kLargestThreads;
  const int64_t vecs = n / N;

  device::pdl_wait();
  device::pdl_trigger();
  unsigned word = 0;
  for (int64_t next = thread; next < vecs; next += threads * kLargestVecs) {
    device::Vec<T, N> loaded[kLargestVecs];
#pragma unroll
    for (int i = 0; i < kLargestVecs; ++i) {
      const int64_t vec = next + i * threads;
      if (vec < vecs) loaded[i] = device::load_l2<N>(x + vec * N);
    }
#pragma unroll
    for (int i = 0; i < kLargestVecs; ++i) {
      if (next + i * threads >= vecs) break;
      word = Magnitudes<T>::larger(word, Magnitudes<T>::of(loaded[i]));
    }
  }
  const int64_t last = vecs * N + thread;
  if (last < n) {
    word = Magnitudes<T>::larger(word, Magnitudes<T>::of(device::load_l2<1>(x + last)));
  }
  unsigned bits = Magnitudes<T>::bits(word);
  bits = device::BlockReduce<unsigned>(storage)(MaxBits(), bits);
  if (threadIdx.x == 0) partials[blockIdx.x] = __uint_as_float(bits);
}

// The scale by which a tensor is divided: it is given, or follows from what LargestKernel left.
struct TensorScale {
  const float* given;     // null: by the partials
  const float* partials;  // `count` of them
  int count;
  float* out;  // where it is written; null: nowhere
};

template <typename Q>
__device__ float tensor_scale(const TensorScale& scale) {
  __shared__ device::BlockReduce<unsigned>::Storage storage;
  if (scale.given != nullptr) return *scale.given;
  unsigned bits = 0;
  for (int at = threadIdx.x; at < scale.count; at += kTensorThreads) {
    bits = MaxBits()(bits, __float_as_uint(scale.partials[at]));
  }
  bits = device::BlockReduce<unsigned>(storage)(MaxBits(), bits);
  return scale_of<Q>(__uint_as_float(bits), kTensorEps);
}

// n elements, at pointers that are aligned to N of them. The last of them first.
template <typename T, typename Q, int N>
__global__ void __launch_bounds__(kTensorThreads)
    TensorQuantKernel(const T* x, Q* out, TensorScale scale, int64_t n) {
  const int64_t block = static_cast<int64_t>(gridDim.x) - 1 - blockIdx.x;
  const int64_t first = (block * kTensorThreads * kTensorVecs + threadIdx.x) * N;
  constexpr int kStep = kTensorThreads * N;

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> vecs[kTensorVecs];
#pragma unroll
  for (int i = 0; i < kTensorVecs; ++i) {
    const int64_t at = first + i * kStep;
    if (at + N <= n) vecs[i] = device::load_l2<N>(x + at);
  }
  const float factor = tensor_scale<Q>(scale);
  const float inverse = device::fast_divide(1.0f, factor);
#pragma unroll
  for (int i = 0; i < kTensorVecs; ++i) {
    const int64_t at = first + i * kStep;
    if (at + N <= n) {
      device::store_l2(out + at, quantized<Q>(vecs[i], inverse));
      continue;
    }
#pragma unroll 1
    for (int64_t j = at; j < n; ++j) {
      device::store_l2(out + j, quantized<Q>(device::load_l2<1>(x + j), inverse));
    }
  }
  if (block == 0 && threadIdx.x == 0 && scale.out != nullptr) *scale.out = factor;
}

template <typename T, typename Q, int N>
cudaError_t LaunchTensorQuant(device::LaunchConfig config, const T* x, Q* out,
                              const TensorScale& scale, int64_t n) {
  const int64_t blocks = device::ceil_div(n, N * kTensorThreads * kTensorVecs);
  config.block = dim3(kTensorThreads);
  config.grid = dim3(blocks > 0 ? blocks : 1);
  return device::launch<TensorQuantKernel<T, Q, N>>(config, x, out, scale, n);
}

// One wave of blocks, or as many as there is work for; how many are in `blocks`.
template <typename T, int N>
cudaError_t LaunchLargest(device::LaunchConfig config, const T* x, float* partials, int64_t n,
                          int sm_count, int* blocks) {
  constexpr int kBlocksPerSm = 4;
  const int64_t wanted = device::ceil_div(n, static_cast<int64_t>(N) * kLargestThreads);
  const int64_t most =
      kBlocksPerSm * sm_count < kLargestBlocks ? kBlocksPerSm * sm_count : kLargestBlocks;
  *blocks = static_cast<int>(wanted < most ? wanted : most);
  config.block = dim3(kLargestThreads);
  config.grid = dim3(*blocks);
  return device::launch<LargestKernel<T, N>>(config, x, partials, n);
}

// Runs the first pass only if the scale is to be computed.
template <typename T, typename Q, int N>
cudaError_t LaunchTensorPasses(const device::LaunchConfig& config, const T* x, Q* out,
                               float* partials, TensorScale scale, int64_t n, int sm_count) {
  if (scale.given == nullptr && n > 0) {
    const cudaError_t status = LaunchLargest<T, N>(config, x, partials, n, sm_count, &scale.count);
    if (status != cudaSuccess) return status;
  }
  return LaunchTensorQuant<T, Q, N>(config, x, out, scale, n);
}

// n contiguous elements. `given` is the scale; if it is null, the scale is computed, and `partials`
// has room for kLargestBlocks numbers. scale_out, which may be null, takes the scale.
template <typename T, typename Q>
cudaError_t TensorQuant(const T* x, Q* out, const float* given, float* scale_out, float* partials,
                        int64_t n, int sm_count, cudaStream_t stream = nullptr, bool pdl = false) {
  if (n == 0 && scale_out == nullptr) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  const TensorScale scale{given, partials, 0, scale_out};
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (device::vec_aligned(x) && reinterpret_cast<uintptr_t>(out) % N == 0) {
    return LaunchTensorPasses<T, Q, N>(config, x, out, partials, scale, n, sm_count);
  }
  return LaunchTensorPasses<T, Q, 1>(config, x, out, partials, scale, n, sm_count);
}

}  // namespace fictl::quantization
