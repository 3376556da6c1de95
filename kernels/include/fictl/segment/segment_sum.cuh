// segment_sum: output[s] = sum of the rows of segment s, rounded once from fp32.
//
// Algorithm: a segment is cut into pieces of at most kSegmentSumPieceRows rows, counted from its
// own start. A thread adds up a few adjacent columns of a piece, row after row. The sum of a
// segment of one piece is the output; those of longer segments go to a workspace, and a second
// kernel adds them up in an order that depends only on how many they are. There are no atomics: the
// sum of a segment is the same, bit by bit, whatever is batched with it and however wide the loads
// are.
//
// Traffic: a row is read once, a segment written once. A longer segment's partial sums add 4 bytes
// a column for every 64 rows, 3 % of a bf16 input. The input passes through L2 marked as first to
// go, so that they are still there when the second kernel comes. The limit is HBM's bandwidth.
//
// Tiling: pieces follow one another in the input as their rows do. A walker has as many threads as
// cover a tile of columns. It takes a stretch of pieces with about as many rows and sums as any
// other, and has 8 rows in flight whatever the lengths of the segments. Were a segment a walker's,
// one of a single row would have one row in flight. With 128 bytes a thread, 300 threads per SM
// cover the latency of HBM, where registers admit 768. The plan cuts stretches of 16 rows and sums,
// so that a few rows fill many SMs. A walker takes up to four stretches, as each starts with loads
// that depend on one another, as long as there are threads for all SMs; their number may be tuned
// instead. Narrow rows share a block, wide ones have one for 128 vectors. The second kernel has 16
// warps for 32 columns of a segment, as a long segment has many pieces.
//
// Where a pointer, a pitch or the number of columns is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/profiler.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::segment {

constexpr int kSegmentSumPieceRows = 64;  // as plan.py cuts them
constexpr int kSegmentSumUnit = 16;       // as plan.py cuts them
constexpr int kSegmentSumMostUnits = kSegmentSumPieceRows / kSegmentSumUnit;  // a walker
constexpr int kSegmentSumDepth = 8;                                           // rows in flight
constexpr int kSegmentSumThreads = 128;
constexpr int kSegmentSumBlocks = 6;  // on an SM
constexpr int kSegmentSumMergeWarps = 16;

// Rows from `row` up to where the next piece starts. `target` is the row of the output, or ~row of
// the workspace.
struct alignas(8) SegmentSumPiece {
  int32_t row;
  int32_t target;
};

// The pieces of a segment that has several: rows of the workspace from `first` up to where the next
// merge starts. Those without rows are at the end, and stand for nothing.
struct alignas(8) SegmentSumMerge {
  int32_t first;
  int32_t segment;
};

// The plan, in device memory. Unit i is the pieces from units[i] up to units[i + 1]. Each of the
// three arrays has one more entry, its end. The pieces have another after it, as a walker reads one
// piece ahead.
struct SegmentSumPlan {
  const SegmentSumPiece* pieces;
  const int32_t* units;
  const SegmentSumMerge* merges;
  int64_t unit_count;
  int64_t merge_count;
};

// Sizes in elements; a row of the workspace has `dim`.
struct SegmentSumShape {
  int64_t dim;
  int64_t input_pitch;
  int64_t output_pitch;
};

// The sum of N adjacent columns, of one thread.
template <typename T, int N>
class SegmentSumColumns {
 public:
  using Vec = device::Vec<T, N>;

  // Why evict-first: a row is read once, the workspace is to stay in L2.
  __device__ static Vec load(const T* from) {
    Vec vec;
    vec.bits() = __ldcs(reinterpret_cast<const typename Vec::Bits*>(from));
    return vec;
  }

  __device__ void add(Vec x) {
    keep_packed(x);
#pragma unroll
    for (int i = 0; i < N; ++i) sum_[i] += Element::to_float(x[i]);
  }

  // Starts the next sum.
  __device__ void store(T* to) {
    Vec vec;
#pragma unroll
    for (int i = 0; i < N; ++i) vec[i] = Element::from_float(take(i));
    device::store_l2(to, vec);
  }

  __device__ void store_partial(float* to) {
    constexpr int kWide = N % 4 == 0 ? 4 : 1;
#pragma unroll
    for (int i = 0; i < N; i += kWide) {
      device::Vec<float, kWide> vec;
#pragma unroll
      for (int j = 0; j < kWide; ++j) vec[j] = take(i + j);
      device::store_l2(to + i, vec);
    }
  }

 private:
  using Element = device::Element<T>;

  // Why: without it the compiler converts the rows in flight ahead of their turn, which takes twice
  // the registers and spills.
  __device__ static void keep_packed(Vec& vec) {
    if constexpr (sizeof(Vec) == device::kVecBytes) {
      uint4& words = vec.bits();
      asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    }
  }

  __device__ float take(int i) {
    const float sum = sum_[i];
    sum_[i] = 0.0f;
    return sum;
  }

  float sum_[N] = {};
};

// blockDim.y walkers a block, each of blockDim.x threads with N columns; `tiles` blocks cover the
// columns. Pointers, pitches and dim are multiples of N.
template <typename T, int N>
__global__ void __launch_bounds__(kSegmentSumThreads, kSegmentSumBlocks)
    SegmentSumKernel(const T* input, SegmentSumPlan plan, T* output, float* workspace,
                     SegmentSumShape shape, int tiles, int units) {
  FICTL_KERNEL("segment_sum");
  using Columns = SegmentSumColumns<T, N>;
  const int64_t walker = static_cast<int64_t>(blockIdx.x / tiles) * blockDim.y + threadIdx.y;
  const int64_t column = (static_cast<int64_t>(blockIdx.x % tiles) * blockDim.x + threadIdx.x) * N;
  const int64_t unit = walker * units;
  if (unit >= plan.unit_count || column >= shape.dim) return;

  device::pdl_wait();
  device::pdl_trigger();
  FICTL_BEGIN("plan");
  const int64_t next_unit = unit + units;
  int32_t at = plan.units[unit];
  const int32_t last = plan.units[next_unit < plan.unit_count ? next_unit : plan.unit_count];
  if (at == last) return;
  SegmentSumPiece piece = plan.pieces[at];
  SegmentSumPiece next = plan.pieces[at + 1];
  const int32_t end = plan.pieces[last].row;
  FICTL_END("plan", end);

  Columns columns;
  const auto close = [&] {
    if (piece.target >= 0) {
      columns.store(output + piece.target * shape.output_pitch + column);
    } else {
      columns.store_partial(workspace + ~piece.target * shape.dim + column);
    }
    piece = next;
    next = plan.pieces[++at + 1];
  };
  FICTL_SCOPE("rows");
  const T* from = input + piece.row * shape.input_pitch + column;
  for (int32_t row = piece.row; row < end; row += kSegmentSumDepth) {
    typename Columns::Vec x[kSegmentSumDepth];
#pragma unroll
    for (int i = 0; i < kSegmentSumDepth; ++i) {
      if (row + i < end) x[i] = Columns::load(from + i * shape.input_pitch);
    }
    from += kSegmentSumDepth * shape.input_pitch;
#pragma unroll
    for (int i = 0; i < kSegmentSumDepth; ++i) {
      if (row + i < end) {
        while (row + i == next.row) close();
        columns.add(x[i]);
      }
    }
  }
  while (at < last) close();
}

// A warp's lanes have a column each, its kSegmentSumMergeWarps warps in turn.
template <typename T>
__global__ void __launch_bounds__(kSegmentSumMergeWarps* device::kWarpSize)
    SegmentSumMergeKernel(const float* workspace, SegmentSumPlan plan, T* output,
                          SegmentSumShape shape, int tiles) {
  FICTL_KERNEL("segment_sum_merge");
  __shared__ float sums[kSegmentSumMergeWarps][device::kWarpSize];
  device::pdl_wait();
  device::pdl_trigger();
  for (int64_t i = blockIdx.x; i < plan.merge_count * tiles; i += gridDim.x) {
    FICTL_SCOPE("merge");
    const SegmentSumMerge merge = plan.merges[i / tiles];
    const int32_t last = plan.merges[i / tiles + 1].first;
    if (merge.first == last) return;
    const int64_t column = i % tiles * device::kWarpSize + threadIdx.x;
    const bool inside = column < shape.dim;
    float sum = 0.0f;
    if (inside) {
#pragma unroll 8
      for (int32_t at = merge.first + threadIdx.y; at < last; at += kSegmentSumMergeWarps) {
        sum += __ldcg(workspace + at * shape.dim + column);
      }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && inside) {
      for (int warp = 1; warp < kSegmentSumMergeWarps; ++warp) sum += sums[warp][threadIdx.x];
      output[merge.segment * shape.output_pitch + column] = device::Element<T>::from_float(sum);
    }
    __syncthreads();  // Why: the next sums go to the same place.
  }
}

template <typename T, int N>
cudaError_t LaunchSegmentSum(device::LaunchConfig config, const T* input,
                             const SegmentSumPlan& plan, T* output, float* workspace,
                             const SegmentSumShape& shape, int sm_count, int units) {
  const int64_t vecs = shape.dim / N;
  unsigned lanes = 1;
  while (lanes < vecs && lanes < kSegmentSumThreads) lanes *= 2;
  const int64_t tiles = device::ceil_div(vecs, lanes);
  if (units == 0) {
    const int64_t fill = int64_t{sm_count} * kSegmentSumBlocks * kSegmentSumThreads;
    units = 1;
    while (units < kSegmentSumMostUnits && plan.unit_count * vecs / (2 * units) > fill) units *= 2;
  }
  config.block = dim3(lanes, kSegmentSumThreads / lanes);
  const int64_t walkers = device::ceil_div(plan.unit_count, units);
  config.grid = dim3(device::ceil_div(walkers, config.block.y) * tiles);
  return device::launch<SegmentSumKernel<T, N>>(config, input, plan, output, workspace, shape,
                                                static_cast<int>(tiles), units);
}

template <typename T>
cudaError_t LaunchSegmentSumMerge(device::LaunchConfig config, const SegmentSumPlan& plan,
                                  T* output, const float* workspace, const SegmentSumShape& shape,
                                  int sm_count) {
  constexpr int kBlocks = 4;  // on an SM
  const int64_t tiles = device::ceil_div(shape.dim, device::kWarpSize);
  const int64_t most = int64_t{sm_count} * kBlocks;
  const int64_t wanted = plan.merge_count * tiles;
  config.block = dim3(device::kWarpSize, kSegmentSumMergeWarps);
  config.grid = dim3(wanted < most ? wanted : most);
  return device::launch<SegmentSumMergeKernel<T>>(config, workspace, plan, output, shape,
                                                  static_cast<int>(tiles));
}

// workspace: a row of dim for every partial sum of the plan. A walker takes `units` stretches of
// it, or the default number if that is 0; the sums are the same. `pdl`: use programmatic dependent
// launch where the GPU supports it.
template <typename T>
cudaError_t SegmentSum(const T* input, const SegmentSumPlan& plan, T* output, float* workspace,
                       const SegmentSumShape& shape, int sm_count, cudaStream_t stream = nullptr,
                       bool pdl = false, int units = 0) {
  if (plan.unit_count == 0 || shape.dim == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  const bool aligned = device::vec_aligned(input) && device::vec_aligned(output) &&
                       device::vec_aligned(workspace) && shape.dim % N == 0 &&
                       shape.input_pitch % N == 0 && shape.output_pitch % N == 0;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  const auto launch = aligned ? LaunchSegmentSum<T, N> : LaunchSegmentSum<T, 1>;
  const cudaError_t status = launch(config, input, plan, output, workspace, shape, sm_count, units);
  if (status != cudaSuccess || plan.merge_count == 0) return status;
  return LaunchSegmentSumMerge(config, plan, output, workspace, shape, sm_count);
}

}  // namespace fictl::segment
