// quantize_rows: float8_e4m3fn with a scale for each group of adjacent elements of a row:
// q = x / scale, rounded once, and scale = the largest |x| of the group / 448.
//
// Algorithm: the threads of a group load all of it, agree on the largest magnitude, and write what
// they hold, scaled. A NaN makes NaN of its group's scale, so that it is not lost.
//
// Traffic: x is read once, and q, a byte an element, is written once. Groups of more than 16 KiB
// are read twice, the second time from L2. The limit is the bandwidth of the memory.
//
// Tiling, by the vectors of 16 bytes in a group (16 for 128 values of bf16):
//   up to 32     A vector a thread. Several groups share a warp, the next power of two of lanes
//                each, and agree by shuffles: no shared memory, no barrier.
//   up to 1024   Four vectors a thread and a block a group, all loads before the first use.
//   more         The same, but every walk over the group loads it again.
//
// Where a pointer, a pitch or the length of a group is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <math.h>

#include <fictl/device/convert.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>

namespace my_kernels::quantize {

namespace device = fictl::device;

using QuantizeRowsTo = __nv_fp8_e4m3;

constexpr float kQuantizeRowsLargest = 448.0f;
constexpr float kQuantizeRowsLeast = 1e-10f;  // that a group's largest counts as
constexpr int kQuantizeRowsThreads = 256;
constexpr int kQuantizeRowsVecs = 4;  // a thread

// The arguments of a launch. Row strides (pitches) in elements; a row has `groups`.
template <typename T>
struct QuantizeRowsArgs {
  QuantizeRowsTo* q;
  float* scales;
  const T* x;
  int64_t rows;
  int64_t groups;
  int64_t group_size;
  int64_t q_pitch;
  int64_t x_pitch;
};

// The scale of a group. For one that is a power of two, round it up here, and in trace.py.
__device__ inline float QuantizeRowsScale(float largest) {
  if (largest < kQuantizeRowsLeast) largest = kQuantizeRowsLeast;
  return largest * (1.0f / kQuantizeRowsLargest);
}

template <typename T, int N>
__device__ device::Vec<QuantizeRowsTo, N> QuantizeRowsVec(const device::Vec<T, N>& vec,
                                                          float inverse) {
  float values[N];
  device::to_float(vec, values);
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] *= inverse;
  return device::from_float<QuantizeRowsTo>(values);
}

// blockDim.y groups a block, of blockDim.x threads each. A thread has every blockDim.x-th vector,
// kVecs of them at a time; if kHeld, these are all and are loaded once. Pointers, pitches and
// groups are multiples of N.
template <typename T, int N, int kVecs, bool kHeld>
__global__ void __launch_bounds__(kQuantizeRowsThreads)
    QuantizeRowsKernel(QuantizeRowsArgs<T> args) {
  __shared__ typename device::BlockReduce<float>::Storage storage;
  device::BlockReduce<float> over_block(storage);
  const int64_t group = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const int64_t row = group / args.groups;
  const int64_t start = (group - row * args.groups) * args.group_size;
  // Why not nothing at all beyond the last group: the others' lanes need these to agree.
  const int64_t size = row < args.rows ? args.group_size : 0;
  const T* x = args.x + row * args.x_pitch + start;
  QuantizeRowsTo* q = args.q + row * args.q_pitch + start;
  const int64_t step = static_cast<int64_t>(blockDim.x) * N;

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> vecs[kVecs];
  const auto load = [&](int64_t from) {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int64_t at = from + i * step;
      if (at < size) vecs[i] = device::load_l2<N>(x + at);
    }
  };
  float largest = 0.0f;
  for (int64_t from = threadIdx.x * N; from < size; from += kVecs * step) {
    load(from);
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      if (from + i * step >= size) continue;
      float values[N];
      device::to_float(vecs[i], values);
#pragma unroll
      for (int j = 0; j < N; ++j) largest = device::Max()(largest, fabsf(values[j]));
    }
  }
  largest = blockDim.x > device::kWarpSize
                ? over_block(device::Max(), largest)
                : device::warp_reduce(device::Max(), largest, blockDim.x);
  const float scale = QuantizeRowsScale(largest);
  if (size > 0 && threadIdx.x == 0) args.scales[group] = scale;
  const float inverse = 1.0f / scale;
  for (int64_t from = threadIdx.x * N; from < size; from += kVecs * step) {
    if constexpr (!kHeld) load(from);
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int64_t at = from + i * step;
      if (at < size) device::store_l2(q + at, QuantizeRowsVec(vecs[i], inverse));
    }
  }
}

template <typename T, int N>
cudaError_t LaunchQuantizeRows(device::LaunchConfig config, const QuantizeRowsArgs<T>& args) {
  constexpr int kSharedThreads = 128;  // a block of groups that share warps
  constexpr int kHeldVecs = kQuantizeRowsThreads * kQuantizeRowsVecs;
  const int64_t vecs = args.group_size / N;
  unsigned lanes = 1;
  while (lanes < vecs && lanes < device::kWarpSize) lanes *= 2;
  if (vecs <= device::kWarpSize) {
    config.block = dim3(lanes, kSharedThreads / lanes);
  } else {
    const int64_t warps = device::ceil_div(vecs, device::kWarpSize * kQuantizeRowsVecs);
    const int64_t threads = warps * device::kWarpSize;
    config.block = dim3(threads < kQuantizeRowsThreads ? threads : kQuantizeRowsThreads);
  }
  config.grid = dim3(device::ceil_div(args.rows * args.groups, config.block.y));
  constexpr int kVecs = kQuantizeRowsVecs;
  if (vecs <= device::kWarpSize) {
    return device::launch<QuantizeRowsKernel<T, N, 1, true>>(config, args);
  }
  return vecs <= kHeldVecs ? device::launch<QuantizeRowsKernel<T, N, kVecs, true>>(config, args)
                           : device::launch<QuantizeRowsKernel<T, N, kVecs, false>>(config, args);
}

// `scales` has rows of `groups`, one after the other. `pdl`: use programmatic dependent launch
// where the GPU supports it.
template <typename T>
cudaError_t QuantizeRows(const QuantizeRowsArgs<T>& args, cudaStream_t stream = nullptr,
                         bool pdl = false) {
  if (args.rows == 0 || args.groups == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.group_size % N == 0;
  aligned &= device::vec_aligned(args.x) && args.x_pitch % N == 0;
  aligned &= device::vec_aligned(args.q) && args.q_pitch % N == 0;

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? LaunchQuantizeRows<T, N>(config, args) : LaunchQuantizeRows<T, 1>(config, args);
}

}  // namespace my_kernels::quantize
