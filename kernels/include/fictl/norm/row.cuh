// Rows of a matrix, shared by threads: the part of a row that a thread holds, and sums over a row.
//
// A row has blockDim.x threads, a block blockDim.y rows. Where a row is held in registers, kLanes
// adjacent threads have its next kLanes * kVecs vectors, 128 contiguous bytes or more at a time.
// Why not every blockDim.x-th vector: that stride is not a constant, and eight addresses a tensor
// would take more registers than the row.
#pragma once

#include <fictl/device/convert.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::norm {

constexpr int kSharedBlockThreads = 128;  // of rows that share a block

// Sizes and row strides (pitches) in elements.
struct RowShape {
  int64_t rows;
  int64_t hidden;
  int64_t input_pitch;
  int64_t output_pitch;
};

// The block for rows of a number of threads: a power of two of lanes per row, kLanes at least, or
// whole warps.
template <int kLanes>
dim3 row_block(int64_t threads) {
  if (threads >= device::kMaxThreads) return dim3(device::kMaxThreads);
  if (threads > device::kWarpSize) {
    return dim3(device::ceil_div(threads, device::kWarpSize) * device::kWarpSize);
  }
  unsigned lanes = kLanes;
  while (lanes < threads) lanes *= 2;
  return dim3(lanes, kSharedBlockThreads / lanes);
}

// The row of this thread.
__device__ inline int64_t row_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
}

// The vectors of N elements of a row that a thread holds, kVecs at most: from its first one on,
// every kLanes-th that begins before `size`. kSpread adjacent threads share what else one would
// hold.
template <int N, int kVecs, int kLanes, int kSpread = 1>
class RowPart {
 public:
  static constexpr int64_t threads(int64_t hidden) {
    return device::ceil_div(hidden, kGroup) * (kLanes * kSpread);
  }

  __device__ explicit RowPart(int size)
      : first_(threadIdx.x / (kLanes * kSpread) * kGroup +
               threadIdx.x % kSpread * (kLanes * kVecs * N) + threadIdx.x / kSpread % kLanes * N),
        left_(size - first_) {}

  // Where the first one starts, and how far from there the i-th does: a constant, so that all share
  // the registers of an address.
  __device__ int first() const { return first_; }
  static __device__ constexpr int offset(int i) { return i * (kLanes * N); }
  __device__ bool has(int i) const { return offset(i) < left_; }

  // Calls body(i) for those that the row has.
  template <typename Body>
  __device__ void each(Body body) const {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      if (has(i)) body(i);
    }
  }

  // The sum of value(i) of those that the row has: pairs of them first, then pairs of pairs, and so
  // on through the lanes in device::warp_reduce: how far they are spread does not change the sum.
  template <typename Value>
  __device__ float sum(Value value) const {
    float sums[kVecs];
#pragma unroll
    for (int i = 0; i < kVecs; ++i) sums[i] = has(i) ? value(i) : 0.0f;
#pragma unroll
    for (int step = 1; step < kVecs; step *= 2) {
#pragma unroll
      for (int i = 0; i < kVecs; i += 2 * step) sums[i] += sums[i + step];
    }
    return sums[0];
  }

 private:
  static constexpr int kGroup = kLanes * kVecs * kSpread * N;

  int first_;
  int left_;
};

// Returns the same pointer. Why: before every access that depends on a condition, the compiler
// would compute the address anew, in more instructions than the arithmetic takes.
template <typename T>
__device__ T* computed(T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

// Converts to fp32, for values that are used again.
template <typename T, int N>
__device__ void unpack(device::Vec<T, N>& vec, float (&to)[N]) {
  if constexpr (sizeof(T) < sizeof(float)) device::keep_packed(vec);
  device::to_float(vec, to);
}

// The sum over a row's threads, in all of them. Called by the whole block.
class RowSum {
 public:
  __device__ explicit RowSum(device::BlockSum::Storage& storage) : over_block_(storage) {}

  __device__ float operator()(float x) {
    return blockDim.x <= device::kWarpSize ? device::warp_sum(x, blockDim.x) : over_block_(x);
  }

 private:
  device::BlockSum over_block_;
};

// True if vectors of N elements are aligned here, and at every multiple of `pitch` from here.
template <int N, typename T>
bool vecs_aligned(const T* start, int64_t pitch = 0) {
  return reinterpret_cast<uintptr_t>(start) % (N * sizeof(T)) == 0 && pitch % N == 0;
}

}  // namespace fictl::norm
