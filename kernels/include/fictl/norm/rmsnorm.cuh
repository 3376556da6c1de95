// rmsnorm: output = input / sqrt(mean(input^2) + eps) * weight, row by row, rounded once from fp32.
//
// Algorithm: the threads of a row add up its squares, agree on the sum, and scale what they hold.
//
// Traffic: a row is read once and written once; between the two it waits in registers. The weight
// is read by every row, from L1. The loads of a thread, its weights too, are all issued before the
// first value is used, so that the memory's latency is paid once. The limit is its bandwidth.
//
// Tiling, by the vectors of 16 bytes in a row (512 for 4096 values of bf16):
//   up to 32     A vector a thread. Several rows share a warp, the next power of two of lanes each:
//                a block a row would leave most lanes of a head of 64 or 128 without work. No
//                shared memory, no barrier.
//   up to 4096   Four vectors a thread and a block a row. With 64 bytes in flight a thread, 400
//                threads per SM cover the latency of HBM, where registers admit 1024. Small blocks,
//                as the barrier of the sum holds up a whole one: while it waits, others load.
//   more         A block of 1024 threads walks the row twice; L2 has most of it the second time.
// There are as many blocks as rows ask for: the GPU starts one as another ends, and its loads
// overlap the barriers and stores of its neighbours.
//
// The choice sees the row, never how many rows there are: a row's result is the same, bit by bit,
// whatever is batched with it.
//
// Where a pointer, a pitch or the hidden size is not aligned to 16 bytes, a vector is one element.
//
// output may be input: the thread that writes an element is the one that has read it, and has read
// it for the last time.
#pragma once

#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::norm {

constexpr int kRMSNormVecs = 4;           // a thread of a row that has a block
constexpr int kRMSNormRowsThreads = 128;  // a block of rows that share warps

// Distances in elements: from a row to the next of its group, and from group to group.
struct RMSNormPitch {
  int64_t row;
  int64_t group;
};

// Rows in groups, as heads in tokens; rows that lie at one pitch are one group.
struct RMSNormShape {
  int64_t rows;
  int64_t hidden;
  int64_t rows_per_group;
  RMSNormPitch input;
  RMSNormPitch output;
};

// A row by the number of its group and its own within it.
struct RMSNormRow {
  int64_t group;
  int64_t row;

  __device__ RMSNormRow(int64_t index, const RMSNormShape& shape)
      : group(index < shape.rows_per_group ? 0 : index / shape.rows_per_group),
        row(index - group * shape.rows_per_group) {}

  __device__ int64_t start(const RMSNormPitch& pitch) const {
    return group * pitch.group + row * pitch.row;
  }
};

// 1 / sqrt(mean(x^2) + eps) from the squares that each of a row's blockDim.x threads has added up.
__device__ inline float rmsnorm_scale(float squares, int64_t hidden, float eps) {
  __shared__ device::BlockSum::Storage storage;
  const bool shares_warps = blockDim.x <= device::kWarpSize;
  const float sum =
      shares_warps ? device::warp_sum(squares, blockDim.x) : device::BlockSum(storage)(squares);
  return rsqrtf(sum / static_cast<float>(hidden) + eps);
}

// What a thread holds of `size` elements of a row that blockDim.x threads share: every
// blockDim.x-th vector, up to kVecs of them, and the weights that belong to them.
template <typename T, int N, int kVecs>
class RMSNormPart {
 public:
  using Vec = device::Vec<T, N>;

  __device__ explicit RMSNormPart(int size) : size_(size) {}

  __device__ void load(const T* from) {
    each([&](int i, int at) { x_[i] = device::load_l2<N>(from + at); });
  }

  // By way of L1, where the weights stay from row to row.
  // Why not __ldg: under programmatic dependent launch L1 may hold weights of before the kernel
  // that this one waited for, and only an ordinary load is sure to see that kernel's.
  __device__ void load_weights(const T* from) {
    each([&](int i, int at) {
      weights_[i].bits() = __ldca(reinterpret_cast<const typename Vec::Bits*>(from + at));
    });
  }

  __device__ float squares() {
    float sum = 0.0f;
    each([&](int i, int) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const float x = Element::to_float(x_[i][j]);
        sum += x * x;
      }
    });
    return sum;
  }

  __device__ void store(T* to, float scale) {
    each([&](int i, int at) {
      keep_packed(x_[i]);
      keep_packed(weights_[i]);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const float x = Element::to_float(x_[i][j]);
        x_[i][j] = Element::from_float(x * scale * Element::to_float(weights_[i][j]));
      }
      device::store_l2(to + at, x_[i]);
    });
  }

 private:
  using Element = device::Element<T>;

  // Calls body(i, where vector i starts) for those that there are.
  template <typename Body>
  __device__ void each(Body body) {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int at = (i * blockDim.x + threadIdx.x) * N;
      if (at < size_) body(i, at);
    }
  }

  // Why: without it the compiler holds 16-bit values as fp32 while the row waits for its sum, which
  // takes twice the registers and spills.
  __device__ static void keep_packed(Vec& vec) {
    if constexpr (sizeof(Vec) == device::kVecBytes) {
      uint4& words = vec.bits();
      asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    }
  }

  int size_;
  Vec x_[kVecs];
  Vec weights_[kVecs];
};

// blockDim.y rows a block, of blockDim.x threads each, which hold all of them. Pointers, pitches
// and hidden size are multiples of N.
template <typename T, int N, int kVecs>
__global__ void __launch_bounds__(device::kMaxThreads)
    RMSNormKernel(const T* input, const T* weight, T* output, float eps, RMSNormShape shape) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const RMSNormRow row(index, shape);
  const T* from = input + row.start(shape.input);
  T* to = output + row.start(shape.output);
  // Why not return beyond the last row: the other rows' lanes need these for their sum.
  RMSNormPart<T, N, kVecs> part(index < shape.rows ? static_cast<int>(shape.hidden) : 0);

  device::pdl_wait();
  device::pdl_trigger();
  part.load(from);
  part.load_weights(weight);
  part.store(to, rmsnorm_scale(part.squares(), shape.hidden, eps));
}

// A row a block, of any length. Pointers, pitches and hidden size are multiples of N.
template <typename T, int N, int kVecs>
__global__ void __launch_bounds__(device::kMaxThreads)
    RMSNormLongKernel(const T* input, const T* weight, T* output, float eps, RMSNormShape shape) {
  using Part = RMSNormPart<T, N, kVecs>;
  const RMSNormRow row(blockIdx.x, shape);
  const T* from = input + row.start(shape.input);
  T* to = output + row.start(shape.output);
  const int step = blockDim.x * N * kVecs;
  const auto size = [&](int64_t at) {
    return shape.hidden - at < step ? static_cast<int>(shape.hidden - at) : step;
  };

  device::pdl_wait();
  device::pdl_trigger();
  float squares = 0.0f;
  for (int64_t at = 0; at < shape.hidden; at += step) {
    Part part(size(at));
    part.load(from + at);
    squares += part.squares();
  }
  const float scale = rmsnorm_scale(squares, shape.hidden, eps);
  for (int64_t at = 0; at < shape.hidden; at += step) {
    Part part(size(at));
    part.load(from + at);
    part.load_weights(weight + at);
    part.store(to + at, scale);
  }
}

template <typename T, int N>
cudaError_t LaunchRMSNorm(device::LaunchConfig config, const T* input, const T* weight, T* output,
                          float eps, const RMSNormShape& shape) {
  const int64_t vecs = shape.hidden / N;
  if (vecs <= device::kWarpSize) {
    unsigned lanes = 1;
    while (lanes < vecs) lanes *= 2;
    config.block = dim3(lanes, kRMSNormRowsThreads / lanes);
    config.grid = dim3(device::ceil_div(shape.rows, config.block.y));
    return device::launch<RMSNormKernel<T, N, 1>>(config, input, weight, output, eps, shape);
  }
  config.grid = dim3(shape.rows);
  if (vecs <= kRMSNormVecs * device::kMaxThreads) {
    const int64_t warps = device::ceil_div(vecs, kRMSNormVecs * device::kWarpSize);
    config.block = dim3(warps * device::kWarpSize);
    return device::launch<RMSNormKernel<T, N, kRMSNormVecs>>(config, input, weight, output, eps,
                                                             shape);
  }
  config.block = dim3(device::kMaxThreads);
  return device::launch<RMSNormLongKernel<T, N, kRMSNormVecs>>(config, input, weight, output, eps,
                                                               shape);
}

template <int N>
bool multiples_of(const RMSNormShape& shape) {
  return shape.hidden % N == 0 && shape.input.row % N == 0 && shape.input.group % N == 0 &&
         shape.output.row % N == 0 && shape.output.group % N == 0;
}

// weight: [hidden]. With `pdl` the kernel starts while its predecessor on the stream ends, where
// the GPU can.
template <typename T>
cudaError_t RMSNorm(const T* input, const T* weight, T* output, float eps,
                    const RMSNormShape& shape, cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.hidden == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  const bool pointers_aligned =
      device::vec_aligned(input) && device::vec_aligned(weight) && device::vec_aligned(output);

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (pointers_aligned && multiples_of<N>(shape)) {
    return LaunchRMSNorm<T, N>(config, input, weight, output, eps, shape);
  }
  return LaunchRMSNorm<T, 1>(config, input, weight, output, eps, shape);
}

}  // namespace fictl::norm
