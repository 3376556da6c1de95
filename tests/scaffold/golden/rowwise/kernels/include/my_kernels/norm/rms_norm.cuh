// rms_norm: out = x * rsqrt(mean(x * x) + eps) * weight, row by row, computed in fp32 and rounded
// once.
//
// Algorithm: the threads of a row agree on mean_square, and store what follows from it and from
// what they hold.
//
// Traffic: a row is read once and written once; between the two it waits in registers.
// weight is read by every row, from L1.
// The loads of a thread are all issued before the first value is used, so that the memory's latency
// is paid once. The limit is its bandwidth.
//
// Tiling, by the vectors of 16 bytes in a row (512 for 4096 values of bf16):
//   up to 32     A vector a thread. Several rows share a warp, the next power of two of lanes each:
//                a block a row would leave most lanes of a short row without work. No shared
//                memory, no barrier.
//   up to 4096   Four vectors a thread and a block a row. What all threads of an SM have in
//                flight covers the latency of HBM. Small blocks, as the barrier of a reduction
//                holds up a whole one: while it waits, others load.
//   more         A block of 1024 threads walks the row once for each reduction and once to store;
//                L2 has much of it from the second time on.
// There are as many blocks as rows ask for: the GPU starts one as another ends, and its loads
// overlap the barriers and stores of other blocks.
//
// The choice sees the row, never how many rows there are: a row's result is the same, bit by bit,
// whatever is batched with it.
//
// Where a pointer, a pitch or the length of a row is not aligned to 16 bytes, a vector is one
// element.
//
// out may be x: the thread that writes an element is the one that has read it, and has read it for
// the last time.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace my_kernels::norm {

namespace device = fictl::device;

// The arguments of a launch. Row strides (pitches) in elements.
template <typename T>
struct RmsNormArgs {
  T* out;
  const T* x;
  const T* weight;
  float eps;
  int64_t rows;
  int64_t cols;
  int64_t out_pitch;
  int64_t x_pitch;
};

// The part that a thread has of a row shared by blockDim.x threads: every blockDim.x-th vector,
// kVecs of them at a time. If kHeld, these are all and are loaded once; else every walk over the
// row loads them again. Pointers and the length of the row are multiples of N.
template <typename T, int N, int kVecs, bool kHeld>
class RmsNormRow {
 public:
  using Args = RmsNormArgs<T>;
  using Storage = typename device::BlockReduce<float>::Storage;

  __device__ RmsNormRow(const Args& args, int64_t index, Storage& storage) : over_block_(storage) {
    // Why not nothing at all beyond the last row: the other rows' lanes need these to reduce.
    size_ = index < args.rows ? args.cols : 0;
    out_ = args.out + index * args.out_pitch;
    x_ = args.x + index * args.x_pitch;
    weight_ = args.weight;
  }

  // Loads what is held, or the part of the row from `start` on.
  __device__ void load(int64_t start = 0) {
    each(start, [&](int i, int64_t at) {
      x_vec_[i] = device::load_l2<N>(x_ + at);
      weight_vec_[i] = load_l1(weight_ + at);
    });
  }

  template <typename Value>
  __device__ float sum(Value value) {
    return reduce(device::Sum(), value);
  }

  template <typename Value>
  __device__ float mean(Value value) {
    return sum(value) / static_cast<float>(size_);
  }

  template <typename Value>
  __device__ void store(Value value) {
    walk([&](int i, int64_t at) {
      Vec result;
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const float x = device::widen(x_vec_[i][j]);
        const float weight = device::widen(weight_vec_[i][j]);
        result[j] = device::narrow<T>(value(x, weight));
      }
      device::store_l2(out_ + at, result);
    });
  }

 private:
  using Vec = device::Vec<T, N>;

  template <typename Op, typename Value>
  __device__ float reduce(Op op, Value value) {
    return share(op, combine(op, value));
  }

  // Combines the values of this thread, in their order in the row.
  template <typename Op, typename Value>
  __device__ float combine(Op op, Value value) {
    float result = Op::kNone;
    walk([&](int i, int64_t) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const float x = device::widen(x_vec_[i][j]);
        const float weight = device::widen(weight_vec_[i][j]);
        result = op(result, value(x, weight));
      }
    });
    return result;
  }

  // Combines the results of the row's threads.
  template <typename Op>
  __device__ float share(Op op, float mine) {
    return blockDim.x <= device::kWarpSize ? device::warp_reduce(op, mine, blockDim.x)
                                           : over_block_(op, mine);
  }

  // Calls body(i, where it starts) for each vector of this thread, `start` elements into the row.
  template <typename Body>
  __device__ void each(int64_t start, Body body) {
    const int64_t left = size_ - start;
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int at = (i * blockDim.x + threadIdx.x) * N;
      if (at < left) body(i, start + at);
    }
  }

  // The same for the whole row, with the vectors at hand.
  template <typename Body>
  __device__ void walk(Body body) {
    const auto visit = [&](int i, int64_t at) {
      keep_packed(x_vec_[i]);
      keep_packed(weight_vec_[i]);
      body(i, at);
    };
    if constexpr (kHeld) {
      each(0, visit);
    } else {
      for (int64_t start = 0; start < size_; start += blockDim.x * N * kVecs) {
        load(start);
        each(start, visit);
      }
    }
  }

  // Loads data that stays in L1 from row to row. Why not __ldg: under programmatic dependent launch
  // L1 may hold values of before the kernel that this one waited for, and only an ordinary load is
  // sure to see that kernel's.
  __device__ static Vec load_l1(const T* from) {
    Vec vec;
    vec.bits() = __ldca(reinterpret_cast<const typename Vec::Bits*>(from));
    return vec;
  }

  // Why: without it the compiler holds 16-bit values as fp32 while the row waits for the others,
  // which takes twice the registers and spills.
  __device__ static void keep_packed(Vec& vec) {
    if constexpr (sizeof(Vec) == device::kVecBytes) {
      uint4& words = vec.bits();
      asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    }
  }

  int64_t size_;
  T* out_;
  const T* x_;
  const T* weight_;
  Vec x_vec_[kVecs];
  Vec weight_vec_[kVecs];
  device::BlockReduce<float> over_block_;
};

// blockDim.y rows a block, of blockDim.x threads each.
template <typename T, int N, int kVecs, bool kHeld>
__global__ void __launch_bounds__(device::kMaxThreads) RmsNormKernel(RmsNormArgs<T> args) {
  using Row = RmsNormRow<T, N, kVecs, kHeld>;
  __shared__ typename Row::Storage storage;
  Row row(args, static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y, storage);
  const float eps = args.eps;

  device::pdl_wait();
  device::pdl_trigger();
  if constexpr (kHeld) row.load();
  const float mean_square = row.mean([&](float x, float) { return x * x; });
  row.store([&](float x, float weight) { return x * rsqrt(mean_square + eps) * weight; });
}

template <typename T, int N>
cudaError_t LaunchRmsNorm(device::LaunchConfig config, const RmsNormArgs<T>& args) {
  constexpr int kVecs = 4;             // a thread of a row that has a block
  constexpr int kSharedThreads = 128;  // a block of rows that share warps
  const int64_t vecs = args.cols / N;
  if (vecs <= device::kWarpSize) {
    unsigned lanes = 1;
    while (lanes < vecs) lanes *= 2;
    config.block = dim3(lanes, kSharedThreads / lanes);
    config.grid = dim3(device::ceil_div(args.rows, config.block.y));
    return device::launch<RmsNormKernel<T, N, 1, true>>(config, args);
  }
  config.grid = dim3(args.rows);
  if (vecs <= kVecs * device::kMaxThreads) {
    const int64_t warps = device::ceil_div(vecs, kVecs * device::kWarpSize);
    config.block = dim3(warps * device::kWarpSize);
    return device::launch<RmsNormKernel<T, N, kVecs, true>>(config, args);
  }
  config.block = dim3(device::kMaxThreads);
  return device::launch<RmsNormKernel<T, N, kVecs, false>>(config, args);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t RmsNorm(const RmsNormArgs<T>& args, cudaStream_t stream = nullptr, bool pdl = false) {
  if (args.rows == 0 || args.cols == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.cols % N == 0;
  aligned &= device::vec_aligned(args.out) && args.out_pitch % N == 0;
  aligned &= device::vec_aligned(args.x) && args.x_pitch % N == 0;
  aligned &= device::vec_aligned(args.weight);

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? LaunchRmsNorm<T, N>(config, args) : LaunchRmsNorm<T, 1>(config, args);
}

}  // namespace my_kernels::norm
