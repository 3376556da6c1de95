// rmsnorm: output = x / sqrt(mean(x^2) + eps) * (weight + weight_bias) of every row x, rounded once
// from fp32. x is the input, or the sum of input and residual, which then replaces the residual. An
// 8-bit output is divided by a scale and saturates.
//
// Algorithm: the threads of a row add up its squares, agree on the sum, and scale what they hold.
//
// Traffic: a row is read once and written once; between the two it waits in registers. The weight
// is read by every row, from L1. The loads of a thread, its weights too, are all issued before the
// first value is used, so that the memory's latency is paid once. The limit is its bandwidth.
//
// Tiling, by the vectors of 16 bytes in a row (512 for 4096 values of bf16):
//   up to 32     Rows share a warp, the next power of two of lanes each: a block a row would leave
//                most lanes of a head of 64 or 128 without work. A lane has a vector of each of two
//                rows, so that as many bytes are in flight as with long rows. No shared memory, no
//                barrier.
//   up to 2048   A block a row, two vectors a thread: with 32 bytes in flight a thread, 800 threads
//                per SM cover the latency of HBM, where registers admit 1536. Four are no faster,
//                and take longer where rows are few.
//                With a residual and an output as wide, they are faster (2 % on an H200), four and
//                the four of the residual; so are rows of up to 4096 vectors held. Where rows are
//                few, two adjacent lanes share the four.
//   more         A block of 1024 threads walks the row twice; L2 has most of it the second time.
// There are as many blocks as rows ask for: the GPU starts one as another ends, and its loads
// overlap the barriers and stores of other blocks.
//
// A row's result is the same, bit by bit, whatever is batched with it: lanes that share the vectors
// of one thread add them up in the same order.
//
// Where a pointer, a pitch or the hidden size is not aligned to 16 bytes, a vector is one element
// and a row is walked twice.
//
// output may be input: the thread that writes an element is the one that has read it, and has read
// it for the last time.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/profiler.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/norm/rmsnorm_part.cuh>

namespace fictl::norm {

constexpr int kRMSNormShortThreads = 128;        // a block of rows that share warps
constexpr int kRMSNormShortRows = 2;             // a thread of it
constexpr int kRMSNormVecs = 2;                  // a thread of a row that has a block
constexpr int64_t kRMSNormFewThreads = 1 << 17;  // of all rows; more keep a GPU busy

// Rows of up to a warp of vectors: blockDim.x lanes each, blockDim.y rows side by side in a block,
// kRMSNormShortRows of these a thread.
template <typename T, int N>
__global__ void __launch_bounds__(kRMSNormShortThreads)
    RMSNormShortKernel(RMSNormTensors<T> tensors, RMSNormShape shape, float inverse_hidden) {
  constexpr int kRows = kRMSNormShortRows;
  const unsigned first = blockIdx.x * kRows * blockDim.y + threadIdx.y;
  const int at = threadIdx.x * N;
  RMSNormTensors<T> rows[kRows];
  RMSNormVec<T, N, false> vecs[kRows];
  device::Vec<T, N> weights;
  const auto each_row = [&](auto body) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (first + i * blockDim.y < shape.rows && at < shape.hidden) body(i);
    }
  };
#pragma unroll
  for (int i = 0; i < kRows; ++i) rows[i] = from_row(tensors, shape, first + i * blockDim.y);

  device::pdl_wait();
  device::pdl_trigger();
  each_row([&](int i) { vecs[i].load(rows[i], at); });
  if (at < shape.hidden) weights = device::load_l1<N>(tensors.weight + at);
  const RMSNormFactor<T, T> factor(tensors, inverse_hidden);
  issue_loads();

  float sums[kRows] = {};
  each_row([&](int i) { sums[i] = vecs[i].squares(); });
  for (int lane = 1; lane < blockDim.x; lane *= 2) {
#pragma unroll
    for (float& sum : sums) sum += __shfl_xor_sync(0xffffffff, sum, lane);
  }
  each_row([&](int i) { vecs[i].store(rows[i], at, weights, factor(sums[i])); });
}

// A block per row, whose threads hold all of it: kVecs vectors each; kLanes adjacent threads share
// what one would hold.
template <typename T, typename Out, int N, bool kAdds, int kVecs, int kLanes>
__global__ void __launch_bounds__(device::kMaxThreads, 1)
    RMSNormKernel(RMSNormTensors<T, Out> tensors, RMSNormShape shape, float inverse_hidden) {
  FICTL_KERNEL("rmsnorm");
  // Why: while there are other rows to load, the memory does better with all writes in one go.
  constexpr bool kStoresTogether = kVecs > kRMSNormVecs;
  const int step = blockDim.x / kLanes;
  const int first = threadIdx.x / kLanes + threadIdx.x % kLanes * kVecs * step;
  const int hidden = static_cast<int>(shape.hidden);
  const auto row = from_row(tensors, shape, blockIdx.x);
  RMSNormPart<T, N, kAdds, kVecs> part(first * N, step * N, hidden);

  device::pdl_wait();
  FICTL_BEGIN("load");
  device::pdl_trigger();
  part.load(row);
  part.load_weights(row.weight);
  const RMSNormFactor<T, Out> factor(tensors, inverse_hidden);
  issue_loads();

  __shared__ device::BlockSum::Storage storage;
  const float squares = part.squares();
  FICTL_END("load", squares);
  if (!kStoresTogether) part.store_residual(row);
  FICTL_BEGIN("reduce");
  const float by = factor(device::BlockSum(storage)(squares));
  FICTL_END("reduce", by);
  FICTL_SCOPE("store");
  if (kStoresTogether) part.store_residual(row);
  part.store(row, by);
}

// A block per row of any length.
template <typename T, typename Out, int N, bool kAdds>
__global__ void __launch_bounds__(device::kMaxThreads)
    RMSNormLongKernel(RMSNormTensors<T, Out> tensors, RMSNormShape shape, float inverse_hidden) {
  constexpr int kVecs = kRMSNormVecs;
  const auto row = from_row(tensors, shape, blockIdx.x);
  const auto each_part = [&](auto body) {
    const int step = blockDim.x * N;
    for (int64_t at = 0; at < shape.hidden; at += kVecs * step) {
      const auto from = from_element(row, at);
      const int64_t left = shape.hidden - at;
      const int size = left < kVecs * step ? static_cast<int>(left) : kVecs * step;
      RMSNormPart<T, N, kAdds, kVecs> part(threadIdx.x * N, step, size);
      part.load(from);
      body(part, from);
    }
  };

  device::pdl_wait();
  device::pdl_trigger();
  const RMSNormFactor<T, Out> factor(tensors, inverse_hidden);
  float squares = 0.0f;
  each_part([&](const auto& part, const auto&) { squares += part.squares(); });

  __shared__ device::BlockSum::Storage storage;
  const float by = factor(device::BlockSum(storage)(squares));
  each_part([&](auto& part, const auto& from) {
    part.load_weights(from.weight);
    part.store_residual(from);
    part.store(from, by);
  });
}

// The number of threads that hold kVecs vectors each, or 0 if a block cannot have as many.
template <int kVecs>
int64_t threads_of_row(int64_t vecs) {
  const int64_t warps = device::ceil_div(vecs, kVecs * device::kWarpSize);
  return warps * device::kWarpSize <= device::kMaxThreads ? warps * device::kWarpSize : 0;
}

template <typename T, typename Out, int N, bool kAdds>
cudaError_t LaunchRMSNorm(device::LaunchConfig config, const RMSNormTensors<T, Out>& tensors,
                          const RMSNormShape& shape) {
  constexpr int kVecs = kRMSNormVecs;
  constexpr bool kQuantizes = !std::is_same_v<T, Out>;
  const int64_t vecs = shape.hidden / N;
  const float inverse_hidden = 1.0f / static_cast<float>(shape.hidden);
  if constexpr (N > 1 && !kAdds && !kQuantizes) {
    if (vecs <= device::kWarpSize) {
      unsigned lanes = 1;
      while (lanes < vecs) lanes *= 2;
      config.block = dim3(lanes, kRMSNormShortThreads / lanes);
      config.grid = dim3(device::ceil_div(shape.rows, kRMSNormShortRows * config.block.y));
      return device::launch<RMSNormShortKernel<T, N>>(config, tensors, shape, inverse_hidden);
    }
  }
  config.grid = dim3(shape.rows);
  if constexpr (N > 1 && kAdds && !kQuantizes) {
    const int64_t threads = threads_of_row<2 * kVecs>(vecs);
    if (0 < threads && 2 * threads <= device::kMaxThreads &&
        2 * threads * shape.rows <= kRMSNormFewThreads) {
      config.block = dim3(2 * threads);
      return device::launch<RMSNormKernel<T, Out, N, kAdds, kVecs, 2>>(config, tensors, shape,
                                                                       inverse_hidden);
    }
    if (0 < threads) {
      config.block = dim3(threads);
      return device::launch<RMSNormKernel<T, Out, N, kAdds, 2 * kVecs, 1>>(config, tensors, shape,
                                                                           inverse_hidden);
    }
  } else if constexpr (N > 1) {
    const int64_t threads = threads_of_row<kVecs>(vecs);
    if (0 < threads) {
      config.block = dim3(threads);
      return device::launch<RMSNormKernel<T, Out, N, kAdds, kVecs, 1>>(config, tensors, shape,
                                                                       inverse_hidden);
    }
  }
  const int64_t threads = threads_of_row<kVecs>(vecs);
  config.block = dim3(0 < threads ? threads : device::kMaxThreads);
  return device::launch<RMSNormLongKernel<T, Out, N, kAdds>>(config, tensors, shape,
                                                             inverse_hidden);
}

template <int N>
bool multiples_of(const RMSNormShape& shape) {
  int64_t remainders = shape.hidden % N;
  for (const RMSNormPitch& pitch : {shape.input, shape.output, shape.residual}) {
    remainders |= pitch.row % N | pitch.group % N;
  }
  return remainders == 0;
}

template <typename T, typename Out, bool kAdds>
cudaError_t LaunchRMSNorm(const device::LaunchConfig& config, const RMSNormTensors<T, Out>& tensors,
                          const RMSNormShape& shape) {
  constexpr int N = device::kVecBytes / sizeof(T);
  const bool pointers_aligned =
      device::vec_aligned(tensors.input) && device::vec_aligned(tensors.weight) &&
      device::vec_aligned(tensors.residual) &&
      reinterpret_cast<uintptr_t>(tensors.output) % (N * sizeof(Out)) == 0;
  if (pointers_aligned && multiples_of<N>(shape)) {
    return LaunchRMSNorm<T, Out, N, kAdds>(config, tensors, shape);
  }
  return LaunchRMSNorm<T, Out, 1, kAdds>(config, tensors, shape);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T, typename Out>
cudaError_t RMSNorm(const RMSNormTensors<T, Out>& tensors, const RMSNormShape& shape,
                    cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.hidden == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return tensors.residual == nullptr ? LaunchRMSNorm<T, Out, false>(config, tensors, shape)
                                     : LaunchRMSNorm<T, Out, true>(config, tensors, shape);
}

}  // namespace fictl::norm
