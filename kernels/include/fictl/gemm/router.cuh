// router: out[m][n] = a[m][k] b[n][k]^T + bias for few rows of a, such as the tokens of a decoding
// step: the scores of a mixture's experts, and other small projections. bf16, sums in fp32.
//
// Traffic: the weights b once from memory; a is read from L2 by every tile of 16 columns. With 256
// experts of 7168 the weights are 3.7 MB, less than a microsecond, so that latency counts: nothing
// is staged, and a warp has all of its loads in flight before its first product.
//
// Tiling: a tile is 16 rows and 16 columns. Its k is dealt to eight warps and, where tiles are
// fewer than SMs, to the up to eight blocks of a cluster. Their sums are added up in shared memory,
// in the order of k, so that results are the same bits in every run.
//
// Operands: mma.sync wants of each row two adjacent elements in a lane. The order of a sum's
// products is free, so a lane loads 16 adjacent bytes of a row instead and takes them for two
// products, with the same places of k in both operands.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::gemm {

// Strides in elements. Rows of a and b are contiguous and start at multiples of 16 bytes.
template <typename Out>
struct RouterProblem {
  const __nv_bfloat16* a;
  const __nv_bfloat16* b;
  const __nv_bfloat16* bias;  // [n], or null
  Out* out;
  int m;
  int n;
  int k;
  int64_t a_row;
  int64_t b_row;
  int64_t out_row;
};

struct RouterShape {
  static constexpr int kRows = 16;
  static constexpr int kColumns = 16;
  static constexpr int kTile = kRows * kColumns;
  static constexpr int kWarps = 8;
  static constexpr int kThreads = kWarps * 32;
  static constexpr int kChunk = 8;          // elements of a lane's load
  static constexpr int kUnit = 4 * kChunk;  // of k, which four lanes load of a row
  static constexpr int kAhead = 4;          // units in flight
  static constexpr int kLeastK = 256;       // of a block in a cluster
  static_assert(kTile == kThreads, "a thread has one output");
};

// Two rows of one operand, 8 apart, as a lane loads them. Rows and k that do not exist are zero.
class RouterRows {
 public:
  __device__ RouterRows(const __nv_bfloat16* from, int64_t stride, int first, int rows, int k)
      : k_(static_cast<int>(threadIdx.x) % 4 * RouterShape::kChunk), end_(k) {
    const int row = first + static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      exists_[i] = row + i * 8 < rows;
      rows_[i] = from + (row + i * 8) * stride;
    }
  }

  __device__ uint4 load(int i, int unit) const {
    const int at = unit * RouterShape::kUnit + k_;
    if (!exists_[i] || at >= end_) return {0, 0, 0, 0};
    return device::load_l2<RouterShape::kChunk>(rows_[i] + at).bits();
  }

 private:
  int k_;
  int end_;
  bool exists_[2];
  const __nv_bfloat16* rows_[2];
};

// The sums of one warp, over the units from `begin` to `end`.
__device__ inline void multiply_units(float (&sums)[2][4], const RouterRows& a, const RouterRows& b,
                                      int begin, int end) {
  using T = __nv_bfloat16;
  constexpr int kAhead = RouterShape::kAhead;
  for (int first = begin; first < end; first += kAhead) {
    uint4 left[kAhead][2];
    uint4 right[kAhead][2];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        const bool exists = first + i < end;
        right[i][row] = exists ? b.load(row, first + i) : uint4{0, 0, 0, 0};
        left[i][row] = exists ? a.load(row, first + i) : uint4{0, 0, 0, 0};
      }
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const uint4(&x)[2] = left[i];
#pragma unroll
      for (int column = 0; column < 2; ++column) {
        const uint4& y = right[i][column];
        device::mma_m16n8k16<T>(sums[column], {x[0].x, x[1].x, x[0].y, x[1].y}, y.x, y.y);
        device::mma_m16n8k16<T>(sums[column], {x[0].z, x[1].z, x[0].w, x[1].w}, y.z, y.w);
      }
    }
  }
}

// The tile's sum of this thread's element, complete in the threads for which it returns true.
__device__ inline bool sum_up(float& sum, const float (&sums)[2][4]) {
  using Shape = RouterShape;
  __shared__ float of_warps[Shape::kWarps][Shape::kTile];
  __shared__ float of_block[Shape::kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
#pragma unroll
  for (int column = 0; column < 2; ++column) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8;
      const int at = row * Shape::kColumns + column * 8 + lane % 4 * 2 + i % 2;
      of_warps[thread / 32][at] = sums[column][i];
    }
  }
  __syncthreads();
  sum = 0.0f;
#pragma unroll
  for (int warp = 0; warp < Shape::kWarps; ++warp) sum += of_warps[warp][thread];
  const int blocks = device::Cluster::size();
  if (blocks == 1) return true;
  of_block[thread] = sum;
  device::Cluster::sync();
  const bool mine = thread / (Shape::kThreads / blocks) == device::Cluster::rank();
  if (mine) {
    sum = 0.0f;
    for (int rank = 0; rank < blocks; ++rank) sum += *device::Cluster::at(&of_block[thread], rank);
  }
  device::Cluster::sync();  // Why: other blocks may still read of_block.
  return mine;
}

// A cluster has one tile: blockIdx.x numbers columns of tiles and the blocks of each, blockIdx.y
// rows of tiles.
template <typename Out>
__global__ void __launch_bounds__(RouterShape::kThreads)
    RouterKernel(const RouterProblem<Out> problem) {
  using Shape = RouterShape;
  const int thread = static_cast<int>(threadIdx.x);
  const int blocks = device::Cluster::size();
  const int first_column = static_cast<int>(blockIdx.x) / blocks * Shape::kColumns;
  const int first_row = static_cast<int>(blockIdx.y) * Shape::kRows;
  const int units = (problem.k + Shape::kUnit - 1) / Shape::kUnit;
  const int walkers = blocks * Shape::kWarps;
  const int share = (units + walkers - 1) / walkers;
  const int begin = (device::Cluster::rank() * Shape::kWarps + thread / 32) * share;

  const RouterRows a(problem.a, problem.a_row, first_row, problem.m, problem.k);
  const RouterRows b(problem.b, problem.b_row, first_column, problem.n, problem.k);
  device::pdl_wait();
  float sums[2][4] = {};
  multiply_units(sums, a, b, begin, min(begin + share, units));
  device::pdl_trigger();
  float sum;
  if (!sum_up(sum, sums)) return;
  const int row = first_row + thread / Shape::kColumns;
  const int column = first_column + thread % Shape::kColumns;
  if (row >= problem.m || column >= problem.n) return;
  if (problem.bias != nullptr) sum += __bfloat162float(problem.bias[column]);
  problem.out[row * problem.out_row + column] = device::Element<Out>::from_float(sum);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename Out>
cudaError_t Router(const RouterProblem<Out>& problem, int sm_count, cudaStream_t stream = nullptr,
                   bool pdl = false) {
  using Shape = RouterShape;
  if (problem.m == 0 || problem.n == 0) return cudaSuccess;
  const int64_t columns = device::ceil_div(problem.n, Shape::kColumns);
  const int64_t rows = device::ceil_div(problem.m, Shape::kRows);
  if (rows > 65535) return cudaErrorInvalidConfiguration;
  const int blocks =
      device::blocks_a_row<RouterKernel<Out>>(rows * columns, problem.k, Shape::kLeastK, sm_count);
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(columns * blocks), static_cast<unsigned>(rows));
  config.block = dim3(Shape::kThreads);
  config.cluster = dim3(blocks);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<RouterKernel<Out>>(config, problem);
}

}  // namespace fictl::gemm
